//! The drives' own counters over the measured window: the difference between their values at its end and at
//! its beginning.
use drivelab_core::storage::Target;
use drivelab_core::storage::drive::Turns;
use drivelab_units::Instant;

/// The values at the beginning of the window.
#[derive(Clone, Copy)]
pub struct Before {
    /// The number of commands that the drives held, integrated over time.
    in_drives_ns: Option<u128>,
    turns: Option<Turns>,
}

impl Before {
    pub fn of(target: &Target, start: Instant) -> Self {
        Before { in_drives_ns: target.in_drives_ns(start), turns: target.turns() }
    }

    /// The number of commands that the drives held in the window, integrated over time.
    pub fn in_drives_ns(&self, target: &Target, end: Instant) -> Option<u128> {
        let all = target.in_drives_ns(end).zip(self.in_drives_ns);
        all.map(|(after, before)| after.saturating_sub(before))
    }

    /// Movements subject to scatter, and those that cost a revolution, in the window.
    pub fn turns(&self, target: &Target) -> Option<Turns> {
        target.turns().zip(self.turns).map(|(after, before)| after.since(before))
    }
}
