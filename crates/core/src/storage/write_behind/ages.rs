//! Slots by age, of which only the oldest is ever asked for.
//!
//! Nearly all arrive in order of age and wait in a queue; the few that inherit an older age wait in a heap. An
//! entry that is removed becomes stale where it is, which costs nothing. Stale entries are dropped when they come
//! to the front, and all of them when an insertion finds that they outnumber the others. Whether an entry is
//! stale follows from its slot: the caller decides.
use crate::storage::tree::Slot;
use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;

/// An age, an address among several of one age, and the slot that has both.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Aged {
    pub age: u64,
    pub place: u64,
    pub slot: Slot,
}

/// Number of stale entries that are always tolerated.
const FEW: usize = 64;

#[derive(Default)]
pub struct Ages {
    /// Ascending. The front is not stale.
    queue: VecDeque<Aged>,
    /// Entries that were not younger than the youngest of the queue. The top is not stale.
    late: BinaryHeap<Reverse<Aged>>,
    /// Number of entries that are not stale.
    live: usize,
}

impl Ages {
    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// The slot with the least age, and of several with the least address.
    #[inline]
    pub fn oldest(&self) -> Option<Slot> {
        match (self.queue.front(), self.late.peek()) {
            (Some(front), Some(Reverse(late))) => Some(front.min(late).slot),
            (Some(front), None) => Some(front.slot),
            (None, late) => late.map(|late| late.0.slot),
        }
    }

    /// Adds an entry. `is_live` must already be true of it.
    #[inline]
    pub fn insert(&mut self, entry: Aged, is_live: impl Fn(&Aged) -> bool) {
        self.live += 1;
        if self.queue.back().is_none_or(|back| *back < entry) {
            self.queue.push_back(entry);
        } else {
            self.late.push(Reverse(entry));
        }
        if self.queue.len() + self.late.len() > 2 * self.live + FEW {
            self.drop_stale(is_live);
        }
    }

    /// Removes an entry. `is_live` may still be true of it.
    #[inline]
    pub fn remove(&mut self, entry: Aged, is_live: impl Fn(&Aged) -> bool) {
        self.live -= 1;
        let is_stale = |other: &Aged| *other == entry || !is_live(other);
        if self.queue.front() == Some(&entry) {
            while self.queue.front().is_some_and(is_stale) {
                self.queue.pop_front();
            }
        }
        if self.late.peek().is_some_and(|late| late.0 == entry) {
            while self.late.peek().is_some_and(|late| is_stale(&late.0)) {
                self.late.pop();
            }
        }
    }

    #[cold]
    fn drop_stale(&mut self, is_live: impl Fn(&Aged) -> bool) {
        self.queue.extend(self.late.drain().map(|late| late.0));
        self.queue.make_contiguous().sort_unstable();
        // One that was removed and added again is here twice.
        let mut before = None;
        self.queue.retain(|entry| is_live(entry) && before.replace(*entry) != Some(*entry));
        debug_assert_eq!(self.queue.len(), self.live);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use proptest::prelude::*;
    use std::vec;

    proptest! {
        /// Ages that mostly ascend, entries that go in any order and come back under the same age.
        #[test]
        fn the_oldest_is_that_of_a_sorted_set(
            steps in prop::collection::vec((0u64..4, any::<u64>(), 0u64..3), 1..2_000),
        ) {
            let (mut ages, mut set, mut of_slot) = (Ages::default(), BTreeSet::new(), vec![None; 40]);
            for (now, (kind, drawn, back)) in (1u64..).zip(steps) {
                let slot = (drawn % 40) as usize;
                match of_slot[slot] {
                    Some((entry, true)) if kind > 0 => {
                        let is_live = |other: &Aged| of_slot[other.slot as usize] == Some((*other, true));
                        ages.remove(entry, is_live);
                        of_slot[slot] = Some((entry, false));
                        set.remove(&entry);
                    }
                    Some((_, true)) => {}
                    known => {
                        let age = now.saturating_sub([0, 0, drawn >> 32 & 63][back as usize]);
                        let new = Aged { age, place: drawn >> 40, slot: slot as Slot };
                        let entry = known.filter(|_| kind == 3).map_or(new, |(entry, _)| entry);
                        of_slot[slot] = Some((entry, true));
                        ages.insert(entry, |other| of_slot[other.slot as usize] == Some((*other, true)));
                        set.insert(entry);
                    }
                }
                prop_assert_eq!(ages.is_empty(), set.is_empty());
                prop_assert_eq!(ages.oldest(), set.first().map(|first| first.slot));
                prop_assert!(ages.queue.len() + ages.late.len() <= 2 * (set.len() + 40) + FEW);
            }
        }
    }

    #[test]
    fn one_that_is_rewritten_again_and_again_leaves_no_trail() {
        let mut ages = Ages::default();
        let old = Aged { age: 1, place: 0, slot: 0 };
        ages.insert(old, |_| true);
        for age in 2..100_000 {
            let entry = Aged { age, place: 0, slot: 1 };
            let is_live = |other: &Aged| *other == old || *other == entry;
            ages.insert(entry, is_live);
            ages.remove(entry, is_live);
        }
        assert_eq!(ages.oldest(), Some(0));
        assert!(ages.queue.len() + ages.late.len() <= FEW + 4, "{} entries", ages.queue.len());
    }
}
