//! C-LOOK: always upward to the next command's cylinder; after the last one back to the lowest. Commands on
//! the arm's own cylinder are served in order of arrival.
//! Source: B. L. Worthington, G. R. Ganger, Y. N. Patt, "Scheduling algorithms for modern disk drives", 1994.
use super::{CostIs, Rule};
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View};

/// Above any distance in cylinders.
const WRAPPED: i64 = 1 << 32;

/// Cylinders to travel upward; commands below come after all of those above, lowest first.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    let cylinder = entry.cylinder;
    if cylinder >= view.arm.cylinder {
        i64::from(cylinder - view.arm.cylinder)
    } else {
        WRAPPED + i64::from(cylinder)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    slots.at_or_above(Kind::Main, view.arm.cylinder).or_else(|| slots.at_or_above(Kind::Main, 0))
}

pub const RULE: Rule = Rule {
    name: "c-look",
    summary: "upward only, then back to the lowest",
    weighs: None,
    cost_is: CostIs::NoTime,
    counts_rotation: false,
    keeps_writes_apart: false,
    cost,
    pick,
};
