//! The agenda: what is due when. One per target, with a total order and no tie left to chance.
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use drivelab_units::Instant;

/// Which of several events at one instant runs first; lower runs earlier.
pub type Class = u8;

#[derive(Clone, Copy)]
struct Scheduled<E> {
    due: Instant,
    /// Class in the top byte, sequence number below: together with `due` this is the total order (due, class,
    /// sequence).
    rank: u64,
    event: E,
}

/// Both words as one: no branch between the comparisons.
#[inline]
fn key(due: Instant, rank: u64) -> u128 {
    u128::from(due.as_ns()) << 64 | u128::from(rank)
}

impl<E> Scheduled<E> {
    #[inline]
    fn key(&self) -> u128 {
        key(self.due, self.rank)
    }
}

impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<E> Eq for Scheduled<E> {}
impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// A queue of events ordered by (due instant, class, order of scheduling).
///
/// Few events are scheduled at a time where few drives are at work, so the next ones are in a sorted array,
/// whose last entry is the next event of all. Later events are in a heap.
pub struct Agenda<E> {
    /// The next events, the latest first: at most [`NEAR`].
    near: Vec<Scheduled<E>>,
    /// Events after all of those; empty until there are more than that.
    far: BinaryHeap<Reverse<Scheduled<E>>>,
    sequence: u64,
}

/// Number of events for which a sorted array is as fast as a heap.
const NEAR: usize = 32;

impl<E: Copy> Agenda<E> {
    pub fn with_capacity(events: usize) -> Self {
        let far = events.saturating_sub(NEAR);
        Agenda { near: Vec::with_capacity(NEAR), far: BinaryHeap::with_capacity(far), sequence: 0 }
    }

    // Always inlined, so that the event is built in place: to copy what was written in parts a moment ago is
    // slow.
    #[inline(always)]
    pub fn schedule(&mut self, due: Instant, class: Class, event: E) {
        debug_assert!(self.sequence < 1 << 56);
        let rank = (u64::from(class) << 56) | self.sequence;
        self.sequence += 1;
        if self.near.is_empty() {
            self.near.push(Scheduled { due, rank, event });
        } else if self.near.len() == NEAR || !self.far.is_empty() {
            self.insert_in_long(Scheduled { due, rank, event });
        } else {
            let at = self.make_place(due, rank);
            self.near[at] = Scheduled { due, rank, event };
        }
    }

    /// Makes a place among other events. Not inlined, so that the usual case of a single drive is inlined
    /// into the callers.
    #[inline(never)]
    fn make_place(&mut self, due: Instant, rank: u64) -> usize {
        let mut at = self.near.len();
        self.near.push(self.near[at - 1]);
        while at > 0 && self.near[at - 1].key() < key(due, rank) {
            self.near[at] = self.near[at - 1];
            at -= 1;
        }
        at
    }

    #[inline(never)]
    fn insert_in_long(&mut self, entry: Scheduled<E>) {
        if self.far.peek().is_some_and(|Reverse(far)| *far < entry) {
            return self.far.push(Reverse(entry));
        }
        let at = self.near.partition_point(|near| *near > entry);
        self.near.insert(at, entry);
        if self.near.len() > NEAR {
            self.far.extend(self.near.drain(..NEAR / 2).map(Reverse));
        }
    }

    /// The instant of the next event.
    #[inline]
    pub fn next_due(&self) -> Option<Instant> {
        self.near.last().map(|entry| entry.due)
    }

    /// Removes and returns the next event if it is due at or before `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, E)> {
        let next = self.near.pop_if(|next| next.due <= now)?;
        if self.near.is_empty() && !self.far.is_empty() {
            self.refill_near();
        }
        Some((next.due, next.event))
    }

    /// Keeps only the events for which this holds.
    pub fn retain(&mut self, mut holds: impl FnMut(&E) -> bool) {
        self.near.retain(|entry| holds(&entry.event));
        self.far.retain(|Reverse(entry)| holds(&entry.event));
        if self.near.is_empty() && !self.far.is_empty() {
            self.refill_near();
        }
    }

    /// Moves the next few events out of the heap.
    #[inline(never)]
    fn refill_near(&mut self) {
        let next = core::iter::from_fn(|| self.far.pop()).take(NEAR / 2);
        self.near.extend(next.map(|Reverse(entry)| entry));
        self.near.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// So many events at a time that both parts are in use, some taken out between.
        #[test]
        fn what_is_not_kept_never_leaves(dues in prop::collection::vec(0u64..300, 0..200), kept in 1u64..5) {
            let (mut agenda, mut waiting) = (Agenda::with_capacity(1), BTreeSet::new());
            for (i, due) in dues.into_iter().enumerate() {
                agenda.schedule(Instant::from_ns(due), 0, (due, i));
                waiting.insert((due, i));
            }
            agenda.retain(|(due, _)| due % 5 < kept);
            waiting.retain(|(due, _)| due % 5 < kept);
            prop_assert_eq!(agenda.next_due().map(Instant::as_ns), waiting.first().map(|first| first.0));
            while let Some((_, event)) = agenda.pop_due(Instant::from_ns(u64::MAX)) {
                prop_assert_eq!(Some(event), waiting.pop_first());
            }
            prop_assert!(waiting.is_empty());
        }

        #[test]
        fn events_leave_by_due_then_class_then_sequence(
            steps in prop::collection::vec((0u64..300, 0u8..3, 0u64..40), 0..300),
        ) {
            let (mut agenda, mut waiting, mut now) = (Agenda::with_capacity(1), BTreeSet::new(), 0);
            for (i, (ahead, class, step)) in steps.into_iter().enumerate() {
                let event = (now + ahead, class, i);
                agenda.schedule(Instant::from_ns(event.0), class, event);
                waiting.insert(event);
                // Seldom, so that many wait at times.
                now += step.saturating_sub(30);
                while let Some((due, event)) = agenda.pop_due(Instant::from_ns(now)) {
                    prop_assert_eq!((due.as_ns(), Some(event)), (event.0, waiting.pop_first()));
                }
                prop_assert!(waiting.first().is_none_or(|first| first.0 > now));
                prop_assert_eq!(agenda.next_due().map(Instant::as_ns), waiting.first().map(|first| first.0));
            }
            while let Some((_, event)) = agenda.pop_due(Instant::from_ns(u64::MAX)) {
                prop_assert_eq!(Some(event), waiting.pop_first());
            }
            prop_assert!(waiting.is_empty());
        }
    }

    #[test]
    fn nothing_leaves_before_it_is_due() {
        let mut agenda = Agenda::with_capacity(1);
        agenda.schedule(Instant::from_ns(5), 0, ());
        assert!(agenda.pop_due(Instant::from_ns(4)).is_none());
        assert!(agenda.pop_due(Instant::from_ns(5)).is_some());
        assert!(agenda.next_due().is_none());
    }
}
