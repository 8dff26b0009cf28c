//! Weighted shortest positioning time first: positioning time scaled by the remaining share of a maximum age
//! M, that is by (M - age) / M. A command of that age goes first, the oldest of several.
//!
//! The aged order subtracts the same credit for the same age from any positioning time, so a little age
//! already outweighs a little rotation. Here age scales the positioning time: it has no effect on a new
//! command, and near M any positioning time is short.
//!
//! The bound on waiting: from age M on, only older commands go before a command, as with an age limit of M.
//! Source: M. Seltzer, P. Chen, J. Ousterhout, "Disk scheduling revisited", USENIX 1990 (WSTF).
use super::{CostIs, Order, Rule, Unit, Weighs};
use crate::storage::drive::queue::outward::Cost;
use crate::storage::drive::queue::params::AgeFull;
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View, aged};
use drivelab_units::Span;

/// The default.
const FULL: Span = Span::from_s(1);

pub const USUAL: Order = Order::WeightedSptf(AgeFull::new(FULL));

fn full(view: &View<'_>) -> AgeFull {
    let Order::WeightedSptf(full) = view.params.order else { unreachable!("asked by this order alone") };
    full
}

/// Zero from the maximum age on: among such commands, as always on a tie, the oldest goes first.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    WeightedSptf(full(view)).of(entry, view)
}

/// For the search.
struct WeightedSptf(AgeFull);

impl Cost for WeightedSptf {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        self.0.scale(view.positioning(entry), entry.age(view.now)) as i64
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let (full, oldest) = (full(view), slots.oldest_of(Kind::Main)?);
    if full.is_reached(slots.entry(oldest).age(view.now)) {
        return Some(oldest);
    }
    aged::least(&WeightedSptf(full), slots, view, |seek, age| full.scale(seek, age) as i64)
}

pub const RULE: Rule = Rule {
    name: "weighted-sptf",
    summary: "sptf scaled down with the time waited, to nothing at `age_full`",
    weighs: Some(Weighs {
        key: "age_full",
        unit: Unit::Time,
        usual: FULL.as_ns(),
        none_is_idle: false,
        order: |full| Order::WeightedSptf(AgeFull::new(Span::from_ns(full))),
    }),
    cost_is: CostIs::Time,
    counts_rotation: true,
    keeps_writes_apart: false,
    cost,
    pick,
};
