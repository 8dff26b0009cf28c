//! The drive's queue: which of the waiting commands goes to the mechanism next.
//!
//! [`slots`] keeps the entries, in order of arrival and by cylinder. Each policy is one file that opens with its rule,
//! defines a cost (the lowest wins, ties go to the older command) and finds the winner without looking at everything.
//! The rules that hold for every policy, starvation bound and window, are in [`choose`].
pub mod aged_sptf;
pub mod choose;
pub mod clook;
pub mod fcfs;
pub mod look;
pub mod outward;
pub mod params;
pub mod slots;
pub mod sptf;
pub mod sstf;
#[cfg(test)]
mod tests;

pub use choose::choose;
pub use params::{AgeWeight, Chooses, Joins, Knows, Order, QueueParams};
pub use slots::{Entry, SlotIndex, Slots};

use super::mechanism::{Arm, Mechanism};
use crate::command::Access;

/// What the drive knows at the moment of choosing.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub mechanism: &'a Mechanism,
    pub params: &'a QueueParams,
    pub arm: Arm,
    /// Towards higher cylinders (LOOK).
    pub upward: bool,
    /// Nanoseconds since the run began.
    pub now: u64,
    /// Nanoseconds into the present revolution.
    pub turned: u64,
    /// Nanoseconds of a revolution.
    pub period: u64,
}

impl View<'_> {
    /// Nanoseconds of seek, settling and head switch to the entry's first track.
    #[inline]
    fn seek(&self, entry: &Entry) -> u64 {
        let access = if entry.write { Access::Write } else { Access::Read };
        self.mechanism.positioning(self.arm, entry.cylinder, entry.head, access)
    }

    /// What the policy adds to a write's cost so that reads go first.
    #[inline]
    fn handicap(&self, entry: &Entry) -> u64 {
        if entry.write { self.params.write_handicap.as_ns() } else { 0 }
    }

    /// Nanoseconds from now until the entry's first sector is under the head, or until the arm is there when the
    /// drive knows distance alone; what the firmware still needs and a write's lead, margin and handicap included.
    #[inline]
    fn positioning(&self, entry: &Entry) -> u64 {
        self.positioning_within(entry, u64::MAX)
    }

    /// The same; but when it exceeds `limit` and that shows before the seek is looked up, any number above the limit.
    #[inline]
    fn positioning_within(&self, entry: &Entry, limit: u64) -> u64 {
        if self.params.knows == Knows::Distance {
            return self.moved(entry) + self.handicap(entry);
        }
        // Whatever the seek takes, the first sector must come round.
        let passes = self.passes_in(entry);
        if passes > limit && u64::from(entry.longest_wait) == self.period {
            return u64::MAX;
        }
        let moved = self.moved(entry);
        let planned = if entry.write { moved + self.params.write_margin.as_ns() } else { moved };
        let mut rotated = passes;
        // A seek rarely lasts longer than two turns: adding beats dividing.
        while rotated < planned {
            rotated += self.period;
        }
        moved + (rotated - moved).min(entry.longest_wait.into()) + self.handicap(entry)
    }

    /// Nanoseconds from now until the arm is there.
    #[inline]
    fn moved(&self, entry: &Entry) -> u64 {
        entry.ready.saturating_sub(self.now) + u64::from(entry.lead) + self.seek(entry)
    }

    /// Nanoseconds until the entry's first sector next passes the head's angle, wherever the arm is.
    #[inline]
    fn passes_in(&self, entry: &Entry) -> u64 {
        let start = u64::from(entry.start);
        if start >= self.turned { start - self.turned } else { start + self.period - self.turned }
    }

    /// No entry whose cylinder lies `distance` or farther out costs less than this, age apart.
    #[inline]
    fn floor_beyond(&self, distance: u32) -> u64 {
        let settle = self.mechanism.settle.write_settle_ns.min(0);
        u64::from(self.mechanism.seek.floor_beyond(distance)).saturating_add_signed(settle)
    }
}
