//! One side of the search in a deep queue, cylinder by cylinder, without a full scan of crowded cylinders.
//!
//! Where rotation does not count, all entries of a cylinder cost nearly the same: they are scanned oldest
//! first until one costs no more than the seek, which no younger one there can beat. Where it counts, a deep
//! queue is searched by angle first (see [`super::polar`]), and this search runs only when that decides
//! nothing.
use super::entry_list::Cursor;
use super::outward::{Best, Cost, Side};
use super::row::Row;
use super::{Kind, SlotIndex, Slots, View};

/// Cylinders with more entries than this are scanned by age.
pub const CROWD: u32 = 16;

/// A list of a deep queue and the search in it: `bound(time)` is no higher than the cost of any entry that
/// takes at least that long to reach.
pub struct Search<'a, B, C> {
    pub slots: &'a Slots,
    pub kind: Kind,
    pub view: &'a View<'a>,
    pub bound: B,
    pub cost: &'a C,
    /// The entries of a shallow queue.
    row: Option<&'a Row>,
}

impl<'a, B: Fn(u64) -> i64, C: Cost> Search<'a, B, C> {
    #[inline]
    pub fn new(cost: &'a C, slots: &'a Slots, kind: Kind, view: &'a View<'a>, bound: B) -> Self {
        Search { slots, kind, view, bound, cost, row: slots.row(kind) }
    }

    /// Whether an entry on this side or further out can still win.
    #[inline]
    pub fn is_open(&self, side: &Side, best: &Best) -> bool {
        side.slot.is_some() && (self.bound)(side.floor as u64) <= best.cost
    }

    /// Examines the side's next cylinder, and moves on to the one after it. Returns the number of entries
    /// examined, on a crowded cylinder the first few.
    #[inline]
    pub fn visit(&self, side: &mut Side, upward: bool, best: &mut Best) -> u32 {
        let Some(first) = side.slot else { return 0 };
        let cylinder = self.slots.entry(first).cylinder;
        let (mut next, mut at, mut seen) = (Some(first), side.at, 0);
        while let Some(slot) = next.filter(|&slot| self.slots.entry(slot).cylinder == cylinder) {
            if seen == CROWD {
                self.visit_crowd(cylinder, side.floor as u64, best);
                at = self.behind(cylinder, upward);
                next = self.slots.slot_at(self.row, at);
                break;
            }
            self.offer(slot, best);
            seen += 1;
            at = self.slots.next(self.row, at, upward);
            next = self.slots.slot_at(self.row, at);
        }
        *side = Side::new(at, next, self.slots, self.view);
        seen
    }

    #[inline(always)]
    pub fn offer(&self, slot: SlotIndex, best: &mut Best) {
        let entry = self.slots.entry(slot);
        best.offer(slot, entry, self.cost.of(entry, self.view));
    }

    pub fn visit_crowd(&self, cylinder: u32, seek: u64, best: &mut Best) {
        let mut at = self.slots.first_from(self.kind, cylinder);
        let slot_at = |at| self.slots.slot_at(self.row, at);
        while let Some(slot) = slot_at(at).filter(|&slot| self.slots.entry(slot).cylinder == cylinder) {
            self.offer(slot, best);
            if best.cost <= (self.bound)(seek) && best.sequence <= self.slots.entry(slot).sequence {
                break;
            }
            at = self.slots.next(self.row, at, true);
        }
    }

    /// The nearest entry beyond this cylinder.
    pub fn behind(&self, cylinder: u32, upward: bool) -> Cursor {
        if upward {
            self.slots.first_from(self.kind, cylinder + 1)
        } else {
            self.slots.last_below(self.kind, cylinder)
        }
    }
}
