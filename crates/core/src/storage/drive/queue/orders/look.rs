//! LOOK: onward in the present direction to the next command's cylinder; when none is left there, turn round.
//! Commands on the arm's own cylinder belong to both directions and are served in order of arrival.
//! Source: A. G. Merten, "Some quantitative techniques for file organization", 1970 (the SCAN that looks ahead).
use super::{CostIs, Rule};
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View};

/// Above any distance in cylinders.
const BEHIND: i64 = 1 << 32;

/// Cylinders to travel in the present direction; commands behind the arm come after all of those ahead.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    let ahead = i64::from(entry.cylinder) - i64::from(view.arm.cylinder);
    let ahead = if view.upward { ahead } else { -ahead };
    if ahead >= 0 { ahead } else { BEHIND - ahead }
}

/// The direction after a movement from one cylinder to another: whether it is upward.
pub fn upward_after(from: u32, to: u32, upward: bool) -> bool {
    (to > from) | (upward & (to == from))
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let up = || slots.at_or_above(Kind::Main, view.arm.cylinder);
    let down = || highest_at_or_below(slots, view.arm.cylinder);
    if view.upward { up().or_else(down) } else { down().or_else(up) }
}

/// The oldest entry on the highest cylinder at or below this one.
pub fn highest_at_or_below(slots: &Slots, cylinder: u32) -> Option<SlotIndex> {
    let below = slots.last_below(Kind::Main, cylinder.saturating_add(1));
    let youngest = slots.slot_at(slots.row(Kind::Main), below)?;
    slots.at_or_above(Kind::Main, slots.entry(youngest).cylinder)
}

pub const RULE: Rule = Rule {
    name: "look",
    summary: "up and down over the cylinders, like a lift",
    weighs: None,
    cost_is: CostIs::NoTime,
    counts_rotation: false,
    keeps_writes_apart: false,
    cost,
    pick,
};
