//! The agenda: what is due when. One per target, with a total order and no tie left to chance.
use alloc::collections::BinaryHeap;
use core::cmp::{Ordering, Reverse};
use drivelab_units::Instant;

/// Which of several events at one instant runs first; lower runs earlier.
pub type Class = u8;

struct Entry<E> {
    due: Instant,
    /// Class in the top byte, sequence number below: together with `due` the total order (due, class, sequence).
    rank: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.rank).cmp(&(other.due, other.rank))
    }
}

/// A queue of events ordered by (due instant, class, order of scheduling).
pub struct Agenda<E> {
    /// The event that is due first, kept out of the heap: with one event at a time the heap is never touched.
    first: Option<Entry<E>>,
    /// On its way into the heap; empty between calls.
    arrived: Option<Entry<E>>,
    rest: BinaryHeap<Reverse<Entry<E>>>,
    sequence: u64,
}

impl<E> Agenda<E> {
    pub fn with_capacity(events: usize) -> Self {
        Agenda { first: None, arrived: None, rest: BinaryHeap::with_capacity(events), sequence: 0 }
    }

    #[inline]
    pub fn schedule(&mut self, due: Instant, class: Class, event: E) {
        debug_assert!(self.sequence < 1 << 56);
        let rank = (u64::from(class) << 56) | self.sequence;
        self.sequence += 1;
        let entry = Some(Entry { due, rank, event });
        if self.first.is_none() {
            self.first = entry;
        } else {
            self.arrived = entry;
            self.file();
        }
    }

    /// Files what has arrived beside other events. Without an argument, so that the usual case above becomes part of its
    /// callers and the entry is written once, where it stays.
    #[inline(never)]
    fn file(&mut self) {
        let (Some(first), Some(arrived)) = (&mut self.first, self.arrived.take()) else { return };
        let later = if arrived < *first { core::mem::replace(first, arrived) } else { arrived };
        self.rest.push(Reverse(later));
    }

    /// The instant of the next event.
    #[inline]
    pub fn next_due(&self) -> Option<Instant> {
        self.first.as_ref().map(|entry| entry.due)
    }

    /// Takes the next event if it is due at or before `now`.
    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, E)> {
        if self.next_due()? > now {
            return None;
        }
        let first = self.first.take();
        if !self.rest.is_empty() {
            self.first = self.rest.pop().map(|Reverse(entry)| entry);
        }
        first.map(|entry| (entry.due, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn events_leave_by_due_then_class_then_sequence(events in prop::collection::vec((0u64..4, 0u8..3), 0..40)) {
            let mut agenda = Agenda::with_capacity(1);
            for (i, (due, class)) in events.iter().enumerate() {
                agenda.schedule(Instant::from_ns(*due), *class, (*due, *class, i));
            }
            let mut expected: Vec<_> = events.iter().enumerate().map(|(i, (due, class))| (*due, *class, i)).collect();
            expected.sort_unstable();
            let mut left = Vec::new();
            while let Some((due, event)) = agenda.pop_due(Instant::from_ns(9)) {
                prop_assert_eq!(due.as_ns(), event.0);
                left.push(event);
            }
            prop_assert_eq!(left, expected);
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
