//! Shortest seek time first: the command that the arm reaches soonest, whatever its angle.
//! Source: P. J. Denning, "Effects of scheduling on file memory operations", AFIPS 1967.
use super::{Entry, Kind, SlotIndex, Slots, View, outward};

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    (view.seek(entry) + view.handicap(entry)) as i64
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    outward::least(slots, Kind::Main, view, |entry| cost(entry, view))
}
