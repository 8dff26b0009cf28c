//! Aged shortest positioning time first: positioning time minus a share of the command's age, so that a far
//! command does not starve.
//!
//! The bound on waiting: let P be the longest positioning time as the queue computes it (remaining firmware
//! time, data before the arm, the longest movement with its settling, a revolution, a write's margin and
//! handicap) and w the weight. When A goes before the older B, w times their difference in age is at most B's
//! positioning time minus A's, so at most P. So no command goes before one that is older by more than (P + 1
//! ns) / w, the nanosecond being that of rounding: a command that has reached this age waits only for those
//! already waiting beside it, at most the depth minus one.
//! Source: D. M. Jacobson, J. Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7 (ASPTF).
use super::{CostIs, Order, Rule, Unit, Weighs, sptf};
use crate::storage::drive::queue::outward::Cost;
use crate::storage::drive::queue::params::AgeWeight;
use crate::storage::drive::queue::{Entry, SlotIndex, Slots, View, aged};

/// The default, in millionths: 6 ms for a second of waiting.
const CREDIT: u64 = 6_000;

pub const USUAL: Order = Order::AgedSptf(AgeWeight::of(CREDIT));

const WEIGHS: Weighs = Weighs {
    key: "age_weight",
    unit: Unit::Share { most: 1_000 },
    usual: CREDIT,
    none_is_idle: true,
    order: |credit| Order::AgedSptf(AgeWeight::of(credit)),
};

fn weight(view: &View<'_>) -> AgeWeight {
    let Order::AgedSptf(weight) = view.params.order else { unreachable!("asked by this order alone") };
    weight
}

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    AgedSptf(weight(view)).of(entry, view)
}

/// For the search.
struct AgedSptf(AgeWeight);

impl Cost for AgedSptf {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        view.positioning(entry) as i64 - self.0.credit(entry.age(view.now)) as i64
    }
}

/// The same for a drive that treats reads and writes alike: no entry is tested for differences.
struct Plain(AgeWeight);

impl Cost for Plain {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        view.plain_positioning(entry) as i64 - self.0.credit(entry.age(view.now)) as i64
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let weight = weight(view);
    if weight.is_zero() {
        return sptf::pick(slots, view);
    }
    if view.is_plain() {
        pick_by(&Plain(weight), weight, slots, view)
    } else {
        pick_by(&AgedSptf(weight), weight, slots, view)
    }
}

#[inline(never)]
fn pick_by<C: Cost>(cost: &C, weight: AgeWeight, slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    aged::least(cost, slots, view, |seek, age| seek as i64 - weight.credit(age) as i64)
}

pub const RULE: Rule = Rule {
    name: "aged-sptf",
    summary: "sptf less a credit for the time waited",
    weighs: Some(WEIGHS),
    cost_is: CostIs::PositioningAndMore,
    counts_rotation: true,
    keeps_writes_apart: false,
    cost,
    pick,
};
