//! Aged shortest positioning time first: positioning time less a share of the command's age, so that a far command
//! does not wait for ever.
//! Source: D. M. Jacobson, J. Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7 (ASPTF).
use super::{Entry, SlotIndex, Slots, View, outward};

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    view.positioning(entry) as i64 - credit(entry, view) as i64
}

fn credit(entry: &Entry, view: &View<'_>) -> u64 {
    view.params.age_weight.credit(view.now - entry.arrived)
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let most = credit(slots.entry(slots.oldest()?), view);
    outward::least(slots, view, most, |entry| cost(entry, view))
}
