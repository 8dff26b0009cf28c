//! What whoever keeps the array does one thing after the other: answers that data are gone, and computes parity.
use drivelab_units::{Instant, Span};

#[derive(Default)]
pub struct Processors {
    /// Until when it is busy with answers that data are gone.
    refusing_until: Instant,
    /// Until when it is busy computing parity.
    computing_until: Instant,
}

impl Processors {
    /// Answers that data are gone, which takes so long. Returns when that is done.
    pub fn refuse(&mut self, now: Instant, time: Span) -> Instant {
        self.refusing_until = self.refusing_until.max(now) + time;
        self.refusing_until
    }

    /// Computes parity for so long. Returns when that is done.
    pub fn compute(&mut self, now: Instant, time: Span) -> Instant {
        self.computing_until = self.computing_until.max(now) + time;
        self.computing_until
    }
}
