//! The search outward from the arm: the least cost without looking at entries that are too far out to win.
//!
//! On each side entries are visited by their distance, together with the least that any seek so far out can take: the
//! seek curve's suffix minimum (measured curves are not monotone) less a negative write settle. A side ends when that,
//! less the largest age credit, is above the best cost found.
use super::{Entry, SlotIndex, Slots, View};

/// The entry with the least (cost, sequence).
///
/// `credit` is the most that age takes off any entry's cost.
#[inline]
pub fn least(slots: &Slots, view: &View<'_>, credit: u64, cost: impl Fn(&Entry) -> i64) -> Option<SlotIndex> {
    let credit = credit as i64;
    let first = slots.at_or_above(view.arm.cylinder);
    let mut above = Side::new(first, slots, view);
    let mut below = Side::new(first.map_or_else(|| slots.highest(), |slot| slots.below(slot)), slots, view);
    let mut best = Best { cost: i64::MAX, sequence: u64::MAX, slot: None };
    // Both sides in turn: a direction that depends on the data would be mispredicted half of the time.
    loop {
        let (mut open, bound) = (false, best.cost.saturating_add(credit));
        if let Some(slot) = above.slot.filter(|_| above.floor <= bound) {
            open = true;
            let entry = slots.entry(slot);
            best.offer(slot, entry, cost(entry));
            above = Side::new(slots.above(slot), slots, view);
        }
        if let Some(slot) = below.slot.filter(|_| below.floor <= bound) {
            open = true;
            let entry = slots.entry(slot);
            best.offer(slot, entry, cost(entry));
            below = Side::new(slots.below(slot), slots, view);
        }
        if !open {
            return best.slot;
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
