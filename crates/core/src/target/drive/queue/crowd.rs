//! One side of the search in a deep queue, cylinder by cylinder: where many crowd on a cylinder, it does not look at all.
//!
//! Where rotation counts, entries of a crowd are visited in the order in which their slices pass once the arm is there,
//! until the next slice comes too late to win. Where it does not, all entries of a cylinder cost nearly the same: they
//! are visited oldest first until one costs no more than the seek, which no younger one there can better.
use super::outward::{Best, Side};
use super::{Entry, Kind, SlotIndex, Slots, View};

/// More entries than this on a cylinder are a crowd: then it pays to look at it slice by slice.
const CROWD: u32 = 16;

/// A lane of a deep queue and what is looked for in it: `bound(time)` is no higher than the cost of any entry that takes
/// at least that long to reach.
pub struct Search<'a, B, C> {
    pub slots: &'a Slots,
    pub kind: Kind,
    pub view: &'a View<'a>,
    pub bound: B,
    pub cost: C,
}

impl<B: Fn(u64) -> i64, C: Fn(&Entry) -> i64> Search<'_, B, C> {
    /// Whether something on this side or behind it can still win.
    #[inline]
    pub fn is_open(&self, side: &Side, best: &Best) -> bool {
        side.slot.is_some() && (self.bound)(side.floor as u64) <= best.cost
    }

    /// Looks at the side's next cylinder, and goes on to the one behind it. Returns how many it has looked at, a crowd as
    /// its first few.
    pub fn visit(&self, side: &mut Side, upward: bool, best: &mut Best) -> u32 {
        let Some(first) = side.slot else { return 0 };
        let cylinder = self.slots.entry(first).cylinder;
        let (mut next, mut seen) = (Some(first), 0);
        while let Some(slot) = next.filter(|&slot| self.slots.entry(slot).cylinder == cylinder) {
            if seen == CROWD {
                self.visit_crowd(cylinder, side.floor as u64, best);
                next = self.behind(cylinder, upward);
                break;
            }
            self.offer(slot, best);
            seen += 1;
            next = if upward { self.slots.above(slot) } else { self.slots.below(slot) };
        }
        *side = Side::new(next, self.slots, self.view);
        seen
    }

    fn offer(&self, slot: SlotIndex, best: &mut Best) {
        let entry = self.slots.entry(slot);
        best.offer(slot, entry, (self.cost)(entry));
    }

    fn visit_crowd(&self, cylinder: u32, seek: u64, best: &mut Best) {
        let View { turned, period, .. } = *self.view;
        match self.slots.angles(self.kind) {
            Some(angles) => {
                for (wait, first) in angles.from(cylinder, (turned + seek) % period, period) {
                    if (self.bound)(seek + wait) > best.cost {
                        break;
                    }
                    let mut next = first;
                    while let Some(slot) = next {
                        if self.slots.entry(slot).cylinder == cylinder {
                            self.offer(slot, best);
                        }
                        next = angles.next(slot);
                    }
                }
            }
            None => {
                let mut next = self.slots.at_or_above(self.kind, cylinder);
                while let Some(slot) = next.filter(|&slot| self.slots.entry(slot).cylinder == cylinder) {
                    self.offer(slot, best);
                    if best.cost <= (self.bound)(seek) && best.sequence <= self.slots.entry(slot).sequence {
                        break;
                    }
                    next = self.slots.above(slot);
                }
            }
        }
    }

    /// The nearest entry behind this cylinder.
    fn behind(&self, cylinder: u32, upward: bool) -> Option<SlotIndex> {
        if upward {
            return self.slots.at_or_above(self.kind, cylinder + 1);
        }
        self.slots.at_or_above(self.kind, cylinder).and_then(|oldest| self.slots.below(oldest))
    }
}
