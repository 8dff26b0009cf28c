//! Share-aged shortest positioning time first: positioning time minus a share of the command's age, where the
//! share is divided among all waiting commands. A command that has waited as long as n others of a queue of n
//! would take is c positioning times ahead, whatever n is: so the ratio of the tail of the waiting times to
//! their mean stays the same at every depth.
//!
//! The credit of an age is (c / n) times it, where n is the number of commands that the drive holds and has
//! not begun at this choice. The bound on waiting: as in [`super::aged_sptf`] with a weight of at least c /
//! depth, so no command goes before one that is older by more than (P + 1 ns) depth / c.
//!
//! Measured on one drive: fio's sweep of a 22 TB drive of 7 200 rpm (cdl-tools, Western Digital) is
//! reproduced at seven depths within 3 % with c = 1.5, and its 99th percentile within 10 %; a constant weight
//! is off by 15 %.
use super::{CostIs, Order, Rule, Unit, Weighs};
use crate::storage::drive::queue::outward::Cost;
use crate::storage::drive::queue::params::AgeWeight;
use crate::storage::drive::queue::{Entry, SlotIndex, Slots, View, aged};

/// The default, in millionths: that of the 22 TB drive.
const SHARE: u64 = 1_500_000;

pub const USUAL: Order = Order::ShareAgedSptf(AgeWeight::of(SHARE));

/// The credit for each unit of age at this choice, in steps of 2^-32.
fn worth(view: &View<'_>) -> u64 {
    let Order::ShareAgedSptf(share) = view.params.order else { unreachable!("asked by this order alone") };
    share.shared_by(view.waiting)
}

#[inline(always)]
fn credit(age: u64, worth: u64) -> i64 {
    ((u128::from(age) * u128::from(worth)) >> 32) as i64
}

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    ShareAgedSptf(worth(view)).of(entry, view)
}

/// For the search.
struct ShareAgedSptf(u64);

impl Cost for ShareAgedSptf {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        view.positioning(entry) as i64 - credit(entry.age(view.now), self.0)
    }
}

/// The same for a drive that treats reads and writes alike.
struct Plain(u64);

impl Cost for Plain {
    #[inline(always)]
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64 {
        view.plain_positioning(entry) as i64 - credit(entry.age(view.now), self.0)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let worth = worth(view);
    if view.is_plain() {
        pick_by(&Plain(worth), worth, slots, view)
    } else {
        pick_by(&ShareAgedSptf(worth), worth, slots, view)
    }
}

#[inline(never)]
fn pick_by<C: Cost>(cost: &C, worth: u64, slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    aged::least(cost, slots, view, |seek, age| seek as i64 - credit(age, worth))
}

pub const RULE: Rule = Rule {
    name: "share-aged-sptf",
    summary: "sptf less a credit for the time waited that all who wait divide among them",
    weighs: Some(Weighs {
        key: "age_share",
        unit: Unit::Share { most: 1_000 },
        usual: SHARE,
        none_is_idle: true,
        order: |share| Order::ShareAgedSptf(AgeWeight::of(share)),
    }),
    cost_is: CostIs::PositioningAndMore,
    counts_rotation: true,
    keeps_writes_apart: false,
    cost,
    pick,
};
