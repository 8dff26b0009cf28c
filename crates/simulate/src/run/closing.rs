//! The end of a run: its accounts are closed and compared, and its record is made.
use super::Clock;
use crate::counters::Before;
use crate::error::RunError;
use drivelab_core::Setup;
use drivelab_core::storage::TargetParams;
use drivelab_record::point::{Closing, Ended, Point};
use drivelab_record::{ArrayRecord, Log, Platter};
use drivelab_units::Instant;

impl Clock {
    /// The record of a run that has ended at an instant, for this reason.
    pub(super) fn close(mut self, setup: &Setup, ended: Instant, why: Ended) -> Result<Point, RunError> {
        let depth_asked = self.host.depth_asked();
        let accounts = self.collector.close(ended);
        if !accounts.agree() {
            return Err(RunError::Accounts(format!("{accounts:?}")));
        }
        let window = ended.since(Instant::ZERO + setup.warmup);
        let digest = self.target.digest().value();
        let replay = self.feeding.as_mut().and_then(|feeding| feeding.close(&self.host, ended));
        let oldest_unfinished = self.host.oldest_unfinished().map(|intended| ended.since(intended));
        let before = self.before.unwrap_or_else(|| Before::of(&self.target, self.start));
        let (in_drives_ns, turns) = (before.in_drives_ns(&self.target, ended), before.turns(&self.target));
        let closing = Closing {
            window,
            ended: why,
            oldest_unfinished,
            accounts,
            depth_asked,
            in_drives_ns,
            turns,
            digest,
        };
        let point = Point::new(&self.collector, &closing);
        let sampled = self.sampled.map(|sampled| sampled.close());
        let array = self.array.and_then(|array| Some(array.close(self.target.array()?, ended)));
        let array = array.map(|array| ArrayRecord { sampled, ..array });
        let given_up = self.target.system().filter(|_| has_memory(&setup.target));
        let given_up = given_up.map(|system| self.given_up.close(system));
        let log = self.log.map(|mut log| Log {
            logged_from_ns: setup.warmup.as_ns(),
            platter: platter(&setup.target),
            member_commands: array.is_some().then(|| log.members()),
            commands: log.records(),
        });
        let series = self.collector.into_series(ended);
        let (data, power_cut) = match self.checker {
            Some(checker) if why == Ended::PowerCut => {
                let (data, cut) = checker.cut(self.target, ended)?;
                (Some(data), Some(Some(cut)))
            }
            Some(checker) => {
                let data = checker.close(self.target, ended)?;
                (Some(data), setup.power_cut.map(|_| None))
            }
            None => (None, None),
        };
        let injections = self.injections.close();
        Ok(Point { series, array, given_up, replay, data, injections, power_cut, log, ..point })
    }
}

/// Whether there is a memory before the target.
fn has_memory(target: &TargetParams) -> bool {
    matches!(target, TargetParams::System(system) if system.host_cache.or(system.controller.cache).is_some())
}

fn platter(target: &TargetParams) -> Option<Platter> {
    let model = match target {
        TargetParams::Server(_) => return None,
        TargetParams::Drive(model) | TargetParams::Wire(model) => model,
        TargetParams::System(system) => &system.drives[0],
    };
    if model.medium.flash().is_some() {
        return None;
    }
    let cylinders = model.mechanism.geometry.cylinders();
    Some(Platter { rotation_ns: model.period.as_ns(), cylinders })
}
