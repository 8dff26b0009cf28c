//! First come, first served: the oldest command goes next. No reordering; what a drive without a queue does.
use super::{CostIs, Rule};
use crate::storage::drive::queue::{Entry, SlotIndex, Slots, View};

pub fn cost(entry: &Entry, _: &View<'_>) -> i64 {
    entry.sequence as i64
}

pub fn pick(slots: &Slots, _: &View<'_>) -> Option<SlotIndex> {
    slots.oldest()
}

pub const RULE: Rule = Rule {
    name: "fcfs",
    summary: "first come, first served",
    weighs: None,
    cost_is: CostIs::NoTime,
    counts_rotation: false,
    keeps_writes_apart: false,
    cost,
    pick,
};
