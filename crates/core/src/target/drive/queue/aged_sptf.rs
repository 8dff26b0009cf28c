//! Aged shortest positioning time first: positioning time less a share of the command's age, so that a far command
//! does not wait for ever.
//!
//! Who waits how long: let P be the longest positioning time that a command can cost (what the firmware still needs,
//! data before the arm, the longest seek with its settling, a turn, a write's margin and handicap) and w the weight.
//! A goes before the older B only if w (age of B - age of A) <= cost of A's way - cost of B's way, in absolute value at
//! most P. So no command goes before one that came more than P / w before it (and 2^-16 for the rounding: (P + 1 ns) / w),
//! and from that age on a command has at most the rest of the queue before it.
//! Source: D. M. Jacobson, J. Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7 (ASPTF).
use super::{Entry, SlotIndex, Slots, View, aged, sptf};

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    view.positioning(entry) as i64 - credit(view.now - entry.arrived, view)
}

fn credit(age: u64, view: &View<'_>) -> i64 {
    view.params.age_weight.credit(age) as i64
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    if view.params.age_weight.is_zero() {
        return sptf::pick(slots, view);
    }
    aged::least(slots, view, |seek, age| seek as i64 - credit(age, view), |entry| cost(entry, view))
}
