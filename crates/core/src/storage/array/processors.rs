//! The work that the host's software or the controller does one item at a time: answers that data are lost,
//! and parity computation.
use drivelab_units::{Instant, Span};

#[derive(Default)]
pub struct Processors {
    /// When it will have sent all answers that data are lost.
    refusing_until: Instant,
    /// When it will have computed all parity.
    computing_until: Instant,
}

impl Processors {
    /// Queues an answer that data are lost, which takes `time`. Returns when it is done.
    pub fn refuse(&mut self, now: Instant, time: Span) -> Instant {
        self.refusing_until = self.refusing_until.max(now) + time;
        self.refusing_until
    }

    /// Queues a parity computation of `time`. Returns when it is done.
    pub fn compute(&mut self, now: Instant, time: Span) -> Instant {
        self.computing_until = self.computing_until.max(now) + time;
        self.computing_until
    }
}
