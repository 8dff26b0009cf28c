//! VSCAN(R): the command at the least distance in cylinders, where R times the total number of cylinders is
//! added to the distance of one against the present direction. R = 0 is the shortest distance, R = 1 is LOOK.
//! Commands on the arm's own cylinder belong to both directions and are served in order of arrival.
//!
//! The bound on waiting: the arm does not turn round while a command is ahead of it within R times the total
//! number of cylinders; it reaches that one after at most as many changes of cylinder as its distance, unless
//! commands for the arm's own cylinder keep arriving. One further out has no bound while R < 1: arrivals
//! close by can keep the arm turning.
//! Source: R. Geist, S. Daniel, "A continuum of disk scheduling algorithms", ACM TOCS 5(1), 1987.
use super::{CostIs, Order, Rule, Unit, Weighs, look};
use crate::storage::drive::queue::params::ScanWeight;
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View};

/// Share of all cylinders, in millionths: the value that its authors recommend.
const RECOMMENDED: u64 = 200_000;

pub const USUAL: Order = Order::VScan(ScanWeight::of_millionths(RECOMMENDED));

fn weight(view: &View<'_>) -> ScanWeight {
    let Order::VScan(weight) = view.params.order else { unreachable!("asked by this order alone") };
    weight
}

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    let ahead = i64::from(entry.cylinder) - i64::from(view.arm.cylinder);
    let ahead = if view.upward { ahead } else { -ahead };
    let turning = weight(view).of(view.mechanism.seek.cylinders());
    if ahead >= 0 { ahead } else { i64::from(turning) - ahead }
}

/// The better of the nearest entries on both sides.
pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let above = slots.at_or_above(Kind::Main, view.arm.cylinder);
    let below = look::highest_at_or_below(slots, view.arm.cylinder);
    let key = |slot: &SlotIndex| {
        let entry = slots.entry(*slot);
        (cost(entry, view), entry.sequence)
    };
    above.into_iter().chain(below).min_by_key(key)
}

pub const RULE: Rule = Rule {
    name: "vscan",
    summary: "the nearest, where turning round counts `scan_weight` of all cylinders",
    weighs: Some(Weighs {
        key: "scan_weight",
        unit: Unit::Share { most: 1 },
        usual: RECOMMENDED,
        none_is_idle: false,
        order: |weight| Order::VScan(ScanWeight::of_millionths(weight)),
    }),
    cost_is: CostIs::NoTime,
    counts_rotation: false,
    keeps_writes_apart: false,
    cost,
    pick,
};
