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
const CROWD: u32 = 16;

/// A list of a deep queue and the search in it: `bound(time)` is no higher than the cost of any entry that
/// takes at least that long to reach.
pub struct Search<'a, B, C> {
    slots: &'a Slots,
    kind: Kind,
    view: &'a View<'a>,
    bound: B,
    cost: &'a C,
    /// The entries of a shallow queue.
    row: Option<&'a Row>,
}

impl<'a, B: Fn(u64) -> i64, C: Cost> Search<'a, B, C> {
    #[inline]
    pub fn new(cost: &'a C, slots: &'a Slots, kind: Kind, view: &'a View<'a>, bound: B) -> Self {
        Search { slots, kind, view, bound, cost, row: slots.row(kind) }
    }

    /// Examines the next cylinder on each side on which an entry can still win. Returns the number of entries
    /// examined; `None` once there is no such side.
    #[inline(always)]
    pub fn step(&self, (above, below): &mut (Side, Side), best: &mut Best) -> Option<u32> {
        let (up, down) = (self.is_open(above, best), self.is_open(below, best));
        let mut seen = 0;
        if up {
            seen += self.visit(above, true, best);
        }
        if down {
            seen += self.visit(below, false, best);
        }
        (up || down).then_some(seen)
    }

    /// Whether an entry on this side or further out can still win.
    #[inline]
    fn is_open(&self, side: &Side, best: &Best) -> bool {
        side.slot.is_some() && (self.bound)(side.floor as u64) <= best.cost
    }

    /// Examines the side's next cylinder, and moves on to the one after it. Returns the number of entries
    /// examined, on a crowded cylinder the first few.
    #[inline]
    fn visit(&self, side: &mut Side, upward: bool, best: &mut Best) -> u32 {
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
    fn offer(&self, slot: SlotIndex, best: &mut Best) {
        let entry = self.slots.entry(slot);
        best.offer(slot, entry, self.cost.of(entry, self.view));
    }

    fn visit_crowd(&self, cylinder: u32, seek: u64, best: &mut Best) {
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
    fn behind(&self, cylinder: u32, upward: bool) -> Cursor {
        if upward {
            self.slots.first_from(self.kind, cylinder + 1)
        } else {
            self.slots.last_below(self.kind, cylinder)
        }
    }
}
