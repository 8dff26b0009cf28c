//! Reads before writes, each by shortest positioning time. Writes are served while no read waits, and a write older
//! than its deadline goes before the reads, the oldest such write first.
//!
//! The bound on waiting: a write past its deadline waits for older writes only. A read has no bound: reads
//! with shorter positioning go before it, and so do overdue writes when more writes arrive than the drive can
//! serve between reads; an age limit or a pass limit bounds that.
//! Source: Linux block layer, block/mq-deadline.c and Documentation/block/deadline-iosched.rst: read preference and
//! write deadline (J. Axboe, 2002), here with positioning time in place of its order by address.
use super::{CostIs, Order, Rule, Unit, Weighs, sptf};
use crate::storage::drive::queue::{Entry, Kind, SlotIndex, Slots, View};
use drivelab_units::Span;

/// The default: that of Linux's deadline schedulers.
const DEADLINE: Span = Span::from_s(5);

pub const USUAL: Order = Order::ReadFirstSptf(DEADLINE);

/// Above any positioning time.
const WRITE: i64 = 1 << 60;
/// Below any cost that is a time, for the earliest arrival too.
const OVERDUE: i64 = -(1 << 62);

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    if is_overdue(entry, view) {
        return OVERDUE + entry.arrived as i64;
    }
    sptf::cost(entry, view) + if entry.write { WRITE } else { 0 }
}

fn is_overdue(entry: &Entry, view: &View<'_>) -> bool {
    let Order::ReadFirstSptf(deadline) = view.params.order else { unreachable!("asked by this order alone") };
    entry.write && entry.age(view.now) >= deadline.as_ns()
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let write = slots.oldest_of(Kind::Writes);
    if let Some(write) = write.filter(|&write| is_overdue(slots.entry(write), view)) {
        return Some(write);
    }
    sptf::pick_from(slots, Kind::Main, view).or_else(|| sptf::pick_from(slots, Kind::Writes, view))
}

pub const RULE: Rule = Rule {
    name: "read-first-sptf",
    summary: "reads by sptf, then writes by sptf; writes past `write_deadline` first",
    weighs: Some(Weighs {
        key: "write_deadline",
        unit: Unit::Time,
        usual: DEADLINE.as_ns(),
        none_is_idle: false,
        order: |deadline| Order::ReadFirstSptf(Span::from_ns(deadline)),
    }),
    cost_is: CostIs::NoTime,
    counts_rotation: true,
    keeps_writes_apart: true,
    cost,
    pick,
};
