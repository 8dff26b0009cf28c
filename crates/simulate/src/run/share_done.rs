//! How far a run has come: whether it ends with its rebuild, and the share of it that is done.
use super::Clock;
use crate::error::RunError;
use drivelab_core::Limit;
use drivelab_core::setup::Until;
use drivelab_record::point::Ended;
use drivelab_units::Instant;

impl Clock {
    /// Why the run ends, where it is to end with a rebuild and has come to that.
    #[inline]
    pub(super) fn ends_with_rebuild(
        &mut self,
        now: Instant,
        limit: Limit,
    ) -> Result<Option<Ended>, RunError> {
        match limit.until {
            None => Ok(None),
            Some(Until::Rebuilt) => Ok(self.is_rebuilt(now)?.then_some(Ended::Rebuilt)),
            Some(Until::Sampled(_)) => Ok(self.sample(now).then_some(Ended::Sampled)),
        }
    }

    /// Passes an instant that matters to a rebuild that is sampled. Returns whether it was seen at all its places.
    fn sample(&mut self, now: Instant) -> bool {
        let Some(sampled) = self.sampled.as_mut().filter(|sampled| sampled.next_at() <= now) else {
            return false;
        };
        sampled.pass(now, &mut self.target, self.counted);
        sampled.is_over()
    }

    /// Whether the last rebuild has ended.
    fn is_rebuilt(&self, now: Instant) -> Result<bool, RunError> {
        let Some(array) = self.target.array() else { return Err(RunError::NoRebuild) };
        if array.awaits_rebuild(now) {
            return Ok(false);
        }
        if drivelab_record::array::progress(array).is_none() { Err(RunError::NoRebuild) } else { Ok(true) }
    }

    pub(super) fn share_done(&self, now: Instant, start: Instant, end: Option<Instant>, limit: Limit) -> f64 {
        let Limit { ios, until, .. } = limit;
        let ios = ios.unwrap_or(u64::MAX);
        let by_count = self.counted as f64 / ios as f64;
        let by_time =
            end.map_or(0.0, |end| now.since(start).as_ns() as f64 / end.since(start).as_ns().max(1) as f64);
        let rebuilt = self.target.array().and_then(drivelab_record::array::progress).unwrap_or(0.0);
        let of_rebuild = match (&self.sampled, until) {
            (Some(sampled), _) => sampled.share_done(),
            (None, Some(_)) => rebuilt,
            (None, None) => 0.0,
        };
        by_count.max(by_time).max(of_rebuild).min(1.0)
    }
}
