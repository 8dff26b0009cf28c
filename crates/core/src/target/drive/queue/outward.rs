//! The search outward from the arm: the least cost without looking at entries that are too far out to win.
//!
//! On each side entries are visited by their distance, together with the least that any seek so far out can take: the
//! seek curve's suffix minimum (measured curves are not monotone) less a negative write settle. A side ends when that
//! is above the best cost found.
use super::crowd::Search;
use super::{Entry, Kind, SlotIndex, Slots, View};

/// The entry of this lane with the least (cost, sequence). No cost is below the entry's seek.
#[inline]
pub fn least(slots: &Slots, kind: Kind, view: &View<'_>, cost: impl Fn(&Entry) -> i64) -> Option<SlotIndex> {
    if slots.is_deep() {
        return least_of_many(slots, kind, view, cost);
    }
    let (mut above, mut below) = sides(slots, kind, view);
    let mut best = Best::NONE;
    // Both sides in turn: a direction that depends on the data would be mispredicted half of the time.
    loop {
        let (mut open, bound) = (false, best.cost);
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

/// The same in a deep queue. Apart, so that what a shallow one does stays in one piece.
#[inline(never)]
fn least_of_many(
    slots: &Slots,
    kind: Kind,
    view: &View<'_>,
    cost: impl Fn(&Entry) -> i64,
) -> Option<SlotIndex> {
    let (mut above, mut below) = sides(slots, kind, view);
    let mut best = Best::NONE;
    let search = Search { slots, kind, view, bound: |seek| seek as i64, cost };
    loop {
        let (up, down) = (search.is_open(&above, &best), search.is_open(&below, &best));
        if up {
            search.visit(&mut above, true, &mut best);
        }
        if down {
            search.visit(&mut below, false, &mut best);
        }
        if !up && !down {
            return best.slot;
        }
    }
}

/// The nearest entries at or above the arm and below it.
#[inline(always)]
pub fn sides(slots: &Slots, kind: Kind, view: &View<'_>) -> (Side, Side) {
    let first = slots.at_or_above(kind, view.arm.cylinder);
    let below = first.map_or_else(|| slots.highest(kind), |slot| slots.below(slot));
    (Side::new(first, slots, view), Side::new(below, slots, view))
}

/// The next entry on one side of the arm, and the least that reaching it or any beyond it can take.
#[derive(Clone, Copy)]
pub struct Side {
    pub slot: Option<SlotIndex>,
    pub floor: i64,
}

impl Side {
    #[inline]
    pub fn new(slot: Option<SlotIndex>, slots: &Slots, view: &View<'_>) -> Self {
        let floor = slot.map_or(i64::MAX, |slot| {
            let distance = slots.entry(slot).cylinder.abs_diff(view.arm.cylinder);
            view.floor_beyond(distance) as i64
        });
        Side { slot, floor }
    }
}

/// The least found so far.
pub struct Best {
    pub cost: i64,
    pub sequence: u64,
    pub slot: Option<SlotIndex>,
}

// Entries that searches of this thread have looked at.
#[cfg(test)]
std::thread_local! { pub static LOOKED_AT: core::cell::Cell<u32> = const { core::cell::Cell::new(0) }; }

impl Best {
    pub const NONE: Best = Best { cost: i64::MAX, sequence: u64::MAX, slot: None };

    #[inline]
    pub fn offer(&mut self, slot: SlotIndex, entry: &Entry, cost: i64) {
        #[cfg(test)]
        LOOKED_AT.set(LOOKED_AT.get() + 1);
        if cost < self.cost || (cost == self.cost && entry.sequence < self.sequence) {
            *self = Best { cost, sequence: entry.sequence, slot: Some(slot) };
        }
    }
}
