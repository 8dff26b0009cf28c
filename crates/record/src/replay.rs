//! The results of a replayed recording: how far the target kept up, and the recorded response times beside
//! the simulated ones.
use crate::latency::Latencies;
use crate::point::LatencySummary;
use drivelab_core::host::Io;
use drivelab_core::host::feed::Pace;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Span};
use serde::Serialize;

/// How the I/Os of a recording were begun, by the name of the key `workload.trace.pace`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PaceName {
    Open,
    Closed,
    Think,
}

impl From<Pace> for PaceName {
    fn from(pace: Pace) -> Self {
        match pace {
            Pace::ByTime => PaceName::Open,
            Pace::Depth(_) => PaceName::Closed,
            Pace::AfterPrevious => PaceName::Think,
        }
    }
}

/// Recorded response times of the I/Os in the window that have one, beside the simulated ones of the same I/Os.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    pub recorded_ns: LatencySummary,
    pub simulated_ns: LatencySummary,
}

/// The results of a replayed recording.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReplayRecord {
    pub pace: PaceName,
    /// Requests that had begun when the run ended, FLUSHes included.
    pub begun: u64,
    /// Requests that had finished.
    pub finished: u64,
    /// Whether the recording was replayed to its end.
    pub complete: bool,
    /// Requests for which the model has no command.
    pub discards_left_out: u64,
    /// From the first request to the last one that had begun, by the recording's times; null where these are
    /// ignored.
    pub span_ns: Option<u64>,
    /// From the first request to the end of the run.
    pub elapsed_ns: u64,
    /// Maximum number of requests that had arrived and were not finished, and when it was first reached.
    pub outstanding_max: u64,
    pub outstanding_max_at_ns: u64,
    /// Requests that were not finished when the last one arrived.
    pub outstanding_at_last: u64,
    /// From the arrival of the last request to the end of the run: how far the target had fallen behind.
    pub behind_ns: u64,
    /// Requests that began after their time because no more could be outstanding.
    pub begun_late: u64,
    /// Null where no request of the window has a recorded response time.
    pub read: Option<Compared>,
    pub write: Option<Compared>,
}

/// The collector for a replay.
#[derive(Debug)]
pub struct ReplayCollector {
    pace: Pace,
    begun: u64,
    finished: u64,
    begun_late: u64,
    first: Option<Instant>,
    last: Instant,
    outstanding_max: (u64, Instant),
    outstanding_at_last: u64,
    /// The instant of the last event; its number outstanding is counted once the instant is over.
    now: Instant,
    /// Of reads and of writes, recorded and simulated.
    compared: [[Latencies; 2]; 2],
}

impl ReplayCollector {
    pub fn new(pace: Pace) -> Self {
        ReplayCollector {
            pace,
            begun: 0,
            finished: 0,
            begun_late: 0,
            first: None,
            last: Instant::ZERO,
            outstanding_max: (0, Instant::ZERO),
            outstanding_at_last: 0,
            now: Instant::ZERO,
            compared: Default::default(),
        }
    }

    /// A request has begun at an instant, and was meant to begin at another.
    pub fn began(&mut self, at: Instant, intended: Instant) {
        self.pass_to(at);
        self.first.get_or_insert(intended);
        self.last = intended;
        self.begun += 1;
        self.begun_late += u64::from(intended < at);
    }

    /// Counts the requests outstanding at the end of the previous instant.
    fn pass_to(&mut self, at: Instant) {
        if at <= self.now {
            return;
        }
        let outstanding = self.begun - self.finished;
        if outstanding > self.outstanding_max.0 {
            self.outstanding_max = (outstanding, self.now);
        }
        if self.last >= self.now || self.begun_late > 0 {
            self.outstanding_at_last = outstanding;
        }
        self.now = at;
    }

    /// A request is finished, in the window or not.
    pub fn finished(&mut self, io: &Io, recorded: Option<Span>, is_in_window: bool) {
        self.pass_to(io.finished);
        self.finished += 1;
        let Some(recorded) = recorded.filter(|_| is_in_window && io.outcome == Outcome::Done) else { return };
        let kind = match io.access {
            Access::Read => 0,
            Access::Write => 1,
            Access::Flush => return,
        };
        self.compared[kind][0].record(recorded.as_ns());
        self.compared[kind][1].record((io.finished - io.intended).as_ns());
    }

    /// The record of a run that ended at this instant.
    pub fn close(&mut self, ended: Instant, complete: bool, discards_left_out: u64) -> ReplayRecord {
        self.pass_to(ended);
        let compared = |kind: usize| {
            let [recorded, simulated] = &self.compared[kind];
            (recorded.count() > 0)
                .then(|| Compared { recorded_ns: recorded.into(), simulated_ns: simulated.into() })
        };
        let first = self.first.unwrap_or(ended);
        ReplayRecord {
            pace: self.pace.into(),
            begun: self.begun,
            finished: self.finished,
            complete,
            discards_left_out,
            span_ns: (self.pace == Pace::ByTime).then(|| self.last.since(first).as_ns()),
            elapsed_ns: ended.since(first).as_ns(),
            outstanding_max: self.outstanding_max.0,
            outstanding_max_at_ns: self.outstanding_max.1.as_ns(),
            outstanding_at_last: self.outstanding_at_last,
            behind_ns: ended.since(self.last).as_ns(),
            begun_late: self.begun_late,
            read: compared(0),
            write: compared(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::Breakdown;
    use drivelab_units::Sectors;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns)
    }

    fn io(access: Access, intended: u64, finished: u64) -> Io {
        let (intended, finished) = (at(intended), at(finished));
        let (outcome, breakdown, count) = (Outcome::Done, Breakdown::default(), Sectors::new(8));
        Io { job: 0, access, priority: 0, count, outcome, intended, finished, breakdown }
    }

    #[test]
    fn what_is_left_when_the_last_arrives_is_how_far_behind_the_target_fell() {
        let mut replay = ReplayCollector::new(Pace::ByTime);
        for ns in [100, 200, 300] {
            replay.began(at(ns), at(ns));
        }
        replay.finished(&io(Access::Read, 100, 1_000), Some(Span::from_ns(50)), true);
        replay.finished(&io(Access::Write, 200, 2_000), None, true);
        replay.finished(&io(Access::Read, 300, 3_000), Some(Span::from_ns(70)), false);
        let found = replay.close(at(3_000), true, 4);
        assert_eq!((found.span_ns, found.elapsed_ns, found.behind_ns), (Some(200), 2_900, 2_700));
        assert_eq!((found.outstanding_max, found.outstanding_max_at_ns), (3, 300));
        assert_eq!((found.outstanding_at_last, found.begun_late, found.discards_left_out), (3, 0, 4));
        let read = found.read.unwrap();
        assert_eq!(
            (read.recorded_ns.n, read.recorded_ns.max, read.simulated_ns.max),
            (1, Some(50), Some(900))
        );
        assert_eq!(found.write, None);
    }

    #[test]
    fn a_request_that_begins_after_its_time_is_counted() {
        let mut replay = ReplayCollector::new(Pace::ByTime);
        replay.began(at(10), at(10));
        replay.began(at(30), at(20));
        assert_eq!(replay.close(at(40), false, 0).begun_late, 1);
    }
}
