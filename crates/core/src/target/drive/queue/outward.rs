//! The search outward from the arm: the least cost without looking at entries that are too far out to win.
//!
//! Entries are visited in the order of the least that any seek so far out can take: the seek curve's suffix minimum at
//! their distance (measured curves are not monotone) less a negative write settle. The search ends when that, less the
//! largest age credit, is above the best cost found.
use super::{Entry, SlotIndex, Slots, View};

/// The entry with the least (cost, sequence).
///
/// `credit` is the most that age takes off any entry's cost. `cost` is told the best cost so far and may return any
/// number above it as soon as it sees that the entry's is above it.
#[inline]
pub fn least(
    slots: &Slots,
    view: &View<'_>,
    credit: u64,
    cost: impl Fn(&Entry, i64) -> i64,
) -> Option<SlotIndex> {
    let credit = credit as i64;
    let first = slots.at_or_above(view.arm.cylinder);
    let mut above = Side::new(first, slots, view);
    let mut below = Side::new(first.map_or_else(|| slots.highest(), |slot| slots.below(slot)), slots, view);
    let mut best = Best { cost: i64::MAX, sequence: u64::MAX, slot: None };
    loop {
        let upward = above.floor < below.floor;
        let side = if upward { above } else { below };
        let Some(slot) = side.slot else { return best.slot };
        if best.cost < side.floor.saturating_sub(credit) {
            return best.slot;
        }
        let entry = slots.entry(slot);
        best.offer(slot, entry, cost(entry, best.cost));
        if upward {
            above = Side::new(slots.above(slot), slots, view);
        } else {
            below = Side::new(slots.below(slot), slots, view);
        }
    }
}

/// The next entry on one side of the arm, and the least that reaching it or any beyond it can take.
#[derive(Clone, Copy)]
struct Side {
    slot: Option<SlotIndex>,
    floor: i64,
}

impl Side {
    #[inline]
    fn new(slot: Option<SlotIndex>, slots: &Slots, view: &View<'_>) -> Self {
        let floor = slot.map_or(i64::MAX, |slot| {
            let distance = slots.entry(slot).cylinder.abs_diff(view.arm.cylinder);
            view.floor_beyond(distance) as i64
        });
        Side { slot, floor }
    }
}

struct Best {
    cost: i64,
    sequence: u64,
    slot: Option<SlotIndex>,
}

impl Best {
    #[inline]
    fn offer(&mut self, slot: SlotIndex, entry: &Entry, cost: i64) {
        if cost < self.cost || (cost == self.cost && entry.sequence < self.sequence) {
            *self = Best { cost, sequence: entry.sequence, slot: Some(slot) };
        }
    }
}
