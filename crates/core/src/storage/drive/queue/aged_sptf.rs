//! Aged shortest positioning time first: positioning time less a share of the command's age, so that a far command
//! does not wait for ever.
//!
//! Who waits how long: let P be the longest positioning time by the queue's reckoning (what the firmware still needs,
//! data before the arm, the longest movement with its settling, a turn, a write's margin and handicap) and w the weight.
//! When A goes before the older B, w times their difference in age is at most B's positioning time less A's, so at most
//! P. So no command goes before one that is older by more than (P + 1 ns) / w, the nanosecond being that of rounding: a
//! command that has reached this age waits for those alone that wait beside it, at most the depth less one.
//!
//! The order `firmware` is this one under the name by which a measured drive is described: positioning time as far as the
//! drive knows it, less a credit for the time waited, among as many of the oldest entries as it looks at. Nothing is
//! implied: each property counts as far as it is set.
//! Source: B. L. Worthington, G. R. Ganger, Y. N. Patt, J. Wilkes, "On-line extraction of SCSI disk drive parameters",
//! SIGMETRICS 1995 (the properties by which drives differ);
//! D. M. Jacobson, J. Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7 (ASPTF).
use super::outward::Cost;
use super::{Entry, SlotIndex, Slots, View, aged, sptf};

// Part of the search, as all of it.
#[inline(always)]
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    view.positioning(entry) as i64 - credit(view.now - entry.arrived, view)
}

#[inline(always)]
fn credit(age: u64, view: &View<'_>) -> i64 {
    view.params.age_weight.credit(age) as i64
}

/// For the search.
pub struct AgedSptf;

impl Cost for AgedSptf {
    #[inline(always)]
    fn of(entry: &Entry, view: &View<'_>) -> i64 {
        cost(entry, view)
    }
}

/// The same for a drive that treats reads and writes alike: what it does not have is not asked of each entry.
struct Plain;

impl Cost for Plain {
    #[inline(always)]
    fn of(entry: &Entry, view: &View<'_>) -> i64 {
        view.plain_positioning(entry) as i64 - credit(view.now - entry.arrived, view)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    if view.params.age_weight.is_zero() {
        return sptf::pick(slots, view);
    }
    if view.is_plain() { pick_with::<Plain>(slots, view) } else { pick_with::<AgedSptf>(slots, view) }
}

#[inline(never)]
fn pick_with<C: Cost>(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    aged::least::<C>(slots, view, |seek, age| seek as i64 - credit(age, view))
}
