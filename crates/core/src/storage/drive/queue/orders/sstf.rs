//! Shortest seek time first: the command that the arm reaches soonest, whatever its angle.
//! Source: P. J. Denning, "Effects of scheduling on file memory operations", AFIPS 1967.
use super::{CostIs, Rule};
use crate::storage::drive::queue::outward::{self, Cost};
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View};

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    (view.seek(entry) + view.write_penalty(entry)) as i64
}

/// For the search.
pub struct Sstf;

impl Cost for Sstf {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        cost(entry, view)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    outward::least(&Sstf, slots, Kind::Main, view)
}

pub const RULE: Rule = Rule {
    name: "sstf",
    summary: "shortest seek first",
    weighs: None,
    cost_is: CostIs::Time,
    counts_rotation: false,
    keeps_writes_apart: false,
    cost,
    pick,
};
