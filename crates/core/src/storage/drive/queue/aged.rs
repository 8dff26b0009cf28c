//! The search for orders whose cost decreases with age: down from the oldest entry, by angle or outward from
//! the arm as well.
//!
//! An entry that a walk has not reached is at least a certain distance out or at most a certain age, which
//! bounds its cost from below; once that bound is above the best cost found, the search is over. Where age
//! outweighs distance in a long queue, the few oldest entries decide, and the walk is down from them. Else it
//! goes both ways at once: far fewer entries are examined than by either walk alone; of n entries whose place
//! and age are independent, about the square root of n at most. In a short queue the walk is down from the
//! oldest too, and most entries are rejected by the time at which their first sector passes the head, without
//! the seek curve. Where a command has been filed after younger ones, every entry is visited.
//! Source: R. Fagin, A. Lotem, M. Naor, "Optimal aggregation algorithms for middleware", PODS 2001 (the threshold
//! algorithm).
use super::crowd::Search;
use super::outward::{Best, Cost, by_angle, sides};
use super::polar::Walk;
use super::{Kind, SlotIndex, Slots, View};

/// With no more entries than this one walk through all of them is faster than two.
const FEW: usize = 64;

/// The entry with the least (cost, sequence), of all in the main list.
///
/// `bound(time, age)` must be no higher than the cost of any entry that takes at least `time` to reach and is at most
/// `age` old.
#[inline(always)]
pub fn least<C: Cost>(
    cost: &C,
    slots: &Slots,
    view: &View<'_>,
    bound: impl Fn(u64, u64) -> i64,
) -> Option<SlotIndex> {
    if slots.len() <= FEW || !slots.is_by_arrival() {
        return least_of_few(cost, slots, view, bound);
    }
    let oldest = slots.oldest_of(Kind::Main)?;
    let entry = slots.entry(oldest);
    let (mut best, age) = (Best::NONE, entry.age(view.now));
    best.offer(oldest, entry, cost.of(entry, view));
    // The oldest entry's possible gain on its cost, compared with what its age takes off: about this share of
    // all ages has a chance to win.
    let (lowest, share) = (bound(0, age), slots.len().isqrt() as i64 / 2);
    if lowest < 0 && -lowest >= (best.cost - lowest) * share {
        return least_by_age(cost, slots, view, oldest, best, bound);
    }
    if let Some(walk) = by_angle(slots, Kind::Main, view)
        && let Some(found) = least_by_angle(cost, slots, view, walk, best, &bound)
    {
        return Some(found);
    }
    least_of_many(cost, slots, view, best, bound)
}

/// Down from the oldest, up to one that is too young to win.
#[inline(always)]
fn least_of_few<C: Cost>(
    cost: &C,
    slots: &Slots,
    view: &View<'_>,
    bound: impl Fn(u64, u64) -> i64,
) -> Option<SlotIndex> {
    let (mut best, mut next) = (Best::NONE, slots.oldest_of(Kind::Main));
    while let Some(slot) = next {
        let entry = slots.entry(slot);
        let age = entry.age(view.now);
        if bound(0, age) > best.cost && slots.is_by_arrival() {
            break;
        }
        if bound(view.least_positioning(entry), age) <= best.cost {
            best.offer(slot, entry, cost.of(entry, view));
        }
        next = slots.younger(slot);
    }
    best.found()
}

/// In the order in which entries pass the head and down from the oldest at once; `None` when a revolution
/// decides nothing.
#[inline(always)]
fn least_by_angle<C: Cost>(
    cost: &C,
    slots: &Slots,
    view: &View<'_>,
    mut walk: Walk<'_>,
    mut best: Best,
    bound: impl Fn(u64, u64) -> i64,
) -> Option<SlotIndex> {
    let mut aged = slots.oldest_of(Kind::Main);
    loop {
        let Some(oldest) = aged else { return best.found() };
        if bound(walk.bound(), slots.entry(oldest).age(view.now)) > best.cost {
            return best.found();
        }
        if walk.is_over() {
            return None;
        }
        let seen = walk.scan(|slot| best.offer(slot, slots.entry(slot), cost.of(slots.entry(slot), view)));
        // As many steps in age as by angle: whichever walk ends first, the other has taken no more.
        for _ in 0..=seen {
            let Some(slot) = aged else { return best.found() };
            best.offer(slot, slots.entry(slot), cost.of(slots.entry(slot), view));
            aged = slots.younger(slot);
        }
    }
}

/// Down from the oldest alone.
#[inline(always)]
fn least_by_age<C: Cost>(
    cost: &C,
    slots: &Slots,
    view: &View<'_>,
    oldest: SlotIndex,
    mut best: Best,
    bound: impl Fn(u64, u64) -> i64,
) -> Option<SlotIndex> {
    let mut next = slots.younger(oldest);
    while let Some(slot) = next {
        let entry = slots.entry(slot);
        if bound(0, entry.age(view.now)) > best.cost {
            break;
        }
        best.offer(slot, entry, cost.of(entry, view));
        next = slots.younger(slot);
    }
    best.found()
}

/// Outward and down from the oldest at once.
#[inline(always)]
fn least_of_many<C: Cost>(
    cost: &C,
    slots: &Slots,
    view: &View<'_>,
    mut best: Best,
    bound: impl Fn(u64, u64) -> i64,
) -> Option<SlotIndex> {
    let mut sides = sides(slots, Kind::Main, view);
    let mut aged = slots.oldest_of(Kind::Main);
    // In a long queue the few oldest entries show how many of the others can win.
    let mut seen = if slots.is_deep() { slots.len().isqrt() as u32 } else { 0 };
    loop {
        // As many steps in age as outward: whichever walk ends first, the other has taken no more.
        for _ in 0..seen {
            let Some(slot) = aged else { return best.found() };
            best.offer(slot, slots.entry(slot), cost.of(slots.entry(slot), view));
            aged = slots.younger(slot);
        }
        let Some(oldest) = aged else { return best.found() };
        let age = slots.entry(oldest).age(view.now);
        let search = Search::new(cost, slots, Kind::Main, view, |seek| bound(seek, age));
        let Some(examined) = search.step(&mut sides, &mut best) else { return best.found() };
        seen = 1 + examined;
    }
}
