//! The search for orders whose cost falls with age: outward from the arm and down from the oldest at once.
//!
//! What neither walk has come to lies at least so far out and is at most so old, which bounds its cost from below; when
//! that is above the best cost found, the best is found. Far fewer are looked at than either walk alone would need: of
//! n entries whose place and age have nothing to do with each other, about the root of n at most.
//! Source: R. Fagin, A. Lotem, M. Naor, "Optimal aggregation algorithms for middleware", PODS 2001 (the threshold
//! algorithm).
use super::outward::{Best, Side, sides};
use super::{Entry, Kind, SlotIndex, Slots, View};

/// The entry with the least (cost, sequence), of all in the main lane.
///
/// `bound(seek, age)` must be no higher than the cost of any entry that takes at least `seek` to reach and is at most
/// `age` old.
#[inline]
pub fn least(
    slots: &Slots,
    view: &View<'_>,
    bound: impl Fn(u64, u64) -> i64,
    cost: impl Fn(&Entry) -> i64,
) -> Option<SlotIndex> {
    let (mut above, mut below) = sides(slots, Kind::Main, view);
    let mut aged = slots.oldest_of(Kind::Main);
    let mut best = Best::NONE;
    while let Some(oldest) = aged {
        let age = view.now - slots.entry(oldest).arrived;
        let open = |side: &Side| side.slot.filter(|_| bound(side.floor as u64, age) <= best.cost);
        let (up, down) = (open(&above), open(&below));
        if up.is_none() && down.is_none() {
            break;
        }
        if let Some(slot) = up {
            best.offer(slot, slots.entry(slot), cost(slots.entry(slot)));
            above = Side::new(slots.above(slot), slots, view);
        }
        if let Some(slot) = down {
            best.offer(slot, slots.entry(slot), cost(slots.entry(slot)));
            below = Side::new(slots.below(slot), slots, view);
        }
        best.offer(oldest, slots.entry(oldest), cost(slots.entry(oldest)));
        aged = slots.younger(oldest);
    }
    best.slot
}
