//! The drive's queue: which of the waiting commands goes to the mechanism next.
//!
//! [`slots`] keeps the entries, in order of arrival and by cylinder. Each order is one file in [`orders`]
//! that opens with its rule, defines a cost (the lowest wins, ties go to the older command) and finds the
//! winner without a full scan. The rules common to all policies, starvation bounds and window, are in
//! [`mod@choose`]. Commands that continue one another are one candidate: [`runs`].
pub(crate) mod aged;
mod bitmap;
mod buckets;
pub mod choose;
pub(crate) mod crowd;
mod entry_list;
pub mod orders;
pub(crate) mod outward;
pub(crate) mod params;
mod polar;
pub(crate) mod row;
mod runs;
pub(crate) mod slots;
#[cfg(test)]
mod tests;

pub use choose::{choose, is_overdue};
pub use orders::Order;
pub use params::{
    AgeFull, AgeWeight, ChoiceTime, DEPTH_MAX, JoinsUntil, PositionKnowledge, QueueParams, ScanWeight,
};
pub use slots::{Entry, Kind, SlotIndex, Slots};

use super::mechanism::{Arm, Mechanism};
use crate::command::Access;
use core::hint::select_unpredictable;

/// What the drive knows at the moment of choosing.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Geometry and seek curve.
    pub mechanism: &'a Mechanism,
    /// Order, margins and limits.
    pub params: &'a QueueParams,
    /// Where the arm stands.
    pub arm: Arm,
    /// Whether the arm moves towards higher cylinders (LOOK, VSCAN).
    pub upward: bool,
    /// When the arm can start, in nanoseconds since the run began.
    pub now: u64,
    /// Nanoseconds into the present revolution.
    pub turned: u64,
    /// Nanoseconds of a revolution.
    pub period: u64,
    /// Commands that the drive holds and has not begun.
    pub waiting: u64,
}

impl View<'_> {
    /// Nanoseconds of seek, settling and head switch to the entry's first track.
    #[inline(always)]
    pub fn seek(&self, entry: &Entry) -> u64 {
        let access = if entry.write { Access::Write } else { Access::Read };
        self.mechanism.positioning(self.arm, entry.cylinder, entry.head, access)
    }

    /// What the policy adds to a write's cost so that reads go first.
    #[inline]
    fn write_penalty(&self, entry: &Entry) -> u64 {
        when(entry.write, self.params.write_handicap.as_ns())
    }

    /// Nanoseconds from now until the entry's first sector is under the head, or until the arm is there if
    /// the drive knows distance only; including the remaining firmware time and a write's lead, margin and
    /// handicap.
    // Always inlined into the search: it is all that a search does.
    #[inline(always)]
    pub fn positioning(&self, entry: &Entry) -> u64 {
        let seek = self.seek(entry);
        let moved = self.moved_after(entry, seek);
        let there = match self.params.knows {
            PositionKnowledge::Distance => moved,
            PositionKnowledge::Angle => {
                let QueueParams { read_margin, write_margin, seek_margin, .. } = self.params;
                let fixed = select_unpredictable(entry.write, write_margin.as_ns(), read_margin.as_ns());
                let margin = fixed + seek_margin.of(seek);
                // The skews leave room for a switch to the next track; only a seek can come late.
                let seeks = self.arm.cylinder.abs_diff(entry.cylinder) > 1;
                self.begins(moved, moved + when(seeks, margin), entry)
            }
        };
        there + self.write_penalty(entry)
    }

    /// Whether a drive knows the angle and treats reads and writes alike except for settling, as most do.
    #[inline]
    fn is_plain(&self) -> bool {
        let QueueParams { knows, read_margin, write_margin, seek_margin, write_handicap, .. } = self.params;
        let has_guard = !(read_margin.is_zero() && write_margin.is_zero() && seek_margin.is_none());
        *knows == PositionKnowledge::Angle && !has_guard && write_handicap.is_zero()
    }

    /// The same as [`Self::positioning`] where [`Self::is_plain`] holds.
    #[inline(always)]
    fn plain_positioning(&self, entry: &Entry) -> u64 {
        let moved = self.moved(entry);
        self.begins(moved, moved, entry)
    }

    /// A lower bound of [`Self::positioning`] that needs no seek: until the first sector passes the head, or the
    /// longest wait of an access that may begin in its middle, whichever is less. Zero where the drive knows
    /// distance only.
    #[inline(always)]
    fn least_positioning(&self, entry: &Entry) -> u64 {
        let passes = self.passes(entry).min(entry.longest_wait.into());
        when(self.params.knows == PositionKnowledge::Angle, passes)
    }

    /// When the entry's first sector next passes the head's angle, wherever the arm is.
    #[inline(always)]
    fn passes(&self, entry: &Entry) -> u64 {
        let start = u64::from(entry.start);
        start + when(start < self.turned, self.period) - self.turned
    }

    /// When the entry's first sector is under the head, in nanoseconds from now, if the arm takes `moved` and
    /// the drive plans with `planned`.
    #[inline(always)]
    fn begins(&self, moved: u64, planned: u64, entry: &Entry) -> u64 {
        let mut passes = self.passes(entry);
        // A seek rarely lasts longer than two turns: adding without a branch beats looping and dividing.
        passes += when(passes < planned, self.period);
        passes += when(passes < planned, self.period);
        if passes < planned {
            passes += (planned - passes).div_ceil(self.period) * self.period;
        }
        let longest = u64::from(entry.longest_wait);
        // Only an access that may begin on arrival waits less; with a margin a write may wait more than a turn.
        if longest < self.period { passes.min(moved + longest) } else { passes }
    }

    /// Nanoseconds from now until the arm is there.
    #[inline(always)]
    fn moved(&self, entry: &Entry) -> u64 {
        self.moved_after(entry, self.seek(entry))
    }

    /// The same with a seek of this many nanoseconds.
    #[inline(always)]
    fn moved_after(&self, entry: &Entry, seek: u64) -> u64 {
        entry.ready.saturating_sub(self.now) + entry.lead + seek
    }

    /// A lower bound of the cost of entries `distance` or more cylinders away, without age.
    #[inline]
    fn floor_beyond(&self, distance: u32) -> u64 {
        self.mechanism.seek.floor_beyond(distance).saturating_sub(self.least_settle()).into()
    }

    /// By how much settling may shorten a seek: the amount of a negative write settle.
    #[inline]
    fn least_settle(&self) -> u32 {
        let settle = self.mechanism.settle.write_settle_ns.min(0);
        settle.unsigned_abs().min(u32::MAX.into()) as u32
    }
}

/// `time` if the condition holds, else zero. Never a branch: half of these conditions are unpredictable, and
/// a misprediction costs more than everything else about an entry.
#[inline(always)]
fn when(holds: bool, time: u64) -> u64 {
    select_unpredictable(holds, time, 0)
}
