//! First come, first served: the oldest command goes next. No reordering; what a drive without a queue does.
use super::{Entry, SlotIndex, Slots};

pub fn cost(entry: &Entry) -> i64 {
    entry.sequence as i64
}

pub fn pick(slots: &Slots) -> Option<SlotIndex> {
    slots.oldest()
}
