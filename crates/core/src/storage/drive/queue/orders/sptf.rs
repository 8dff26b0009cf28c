//! Shortest positioning time first: seek, settling and rotation together; the command whose first sector can
//! be under the head soonest. For a drive that knows distance only it is equal to the shortest seek time.
//! Source: M. Seltzer, P. Chen, J. Ousterhout, "Disk scheduling revisited", USENIX 1990;
//! D. M. Jacobson, J. Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7.
use super::{CostIs, Rule};
use crate::storage::drive::queue::outward::{self, Cost};
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View};

// Inlined into the search, like everything it calls.
#[inline(always)]
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    view.positioning(entry) as i64
}

/// For the search.
pub struct Sptf;

impl Cost for Sptf {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        cost(entry, view)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    pick_from(slots, Kind::Main, view)
}

/// The same for a drive that treats reads and writes alike: no entry is tested for differences.
struct Plain;

impl Cost for Plain {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        view.plain_positioning(entry) as i64
    }
}

/// The entry of one list with the least cost.
pub fn pick_from(slots: &Slots, kind: Kind, view: &View<'_>) -> Option<SlotIndex> {
    if view.is_plain() { pick_plain(slots, kind, view) } else { outward::least(&Sptf, slots, kind, view) }
}

#[inline(never)]
fn pick_plain(slots: &Slots, kind: Kind, view: &View<'_>) -> Option<SlotIndex> {
    outward::least(&Plain, slots, kind, view)
}

pub const RULE: Rule = Rule {
    name: "sptf",
    summary: "shortest positioning time first: seek and rotation together",
    weighs: None,
    cost_is: CostIs::PositioningAndMore,
    counts_rotation: true,
    keeps_writes_apart: false,
    cost,
    pick,
};
