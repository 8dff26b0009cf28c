//! What the drives' own counters say of the measured window: what they say as it ends without what they said as it began.
use drivelab_core::storage::Target;
use drivelab_core::storage::drive::Turns;
use drivelab_units::Instant;

/// As the window begins.
#[derive(Clone, Copy)]
pub struct Before {
    /// Commands that they held, integrated over time.
    in_drives_ns: Option<u128>,
    turns: Option<Turns>,
}

impl Before {
    pub fn of(target: &Target, start: Instant) -> Self {
        Before { in_drives_ns: target.in_drives_ns(start), turns: target.turns() }
    }

    /// Commands that drives held meanwhile, integrated over time.
    pub fn in_drives_ns(&self, target: &Target, end: Instant) -> Option<u128> {
        let all = target.in_drives_ns(end).zip(self.in_drives_ns);
        all.map(|(after, before)| after.saturating_sub(before))
    }

    /// Movements of arms that scatter, and those that missed a turn, meanwhile.
    pub fn turns(&self, target: &Target) -> Option<Turns> {
        target.turns().zip(self.turns).map(|(after, before)| after.since(before))
    }
}
