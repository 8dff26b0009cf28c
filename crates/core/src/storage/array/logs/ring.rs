//! A log as a ring: records one after another, wrapping around at the end; none is overwritten before it is
//! free.
//!
//! Positions increase without bound; the position modulo the capacity gives the place on the drive. The tail
//! advances as the oldest records become free, in order: a record that is done behind one that is not must
//! wait for it, as in any log.
//!
//! Room is reused oldest first, whatever records are begun or taken back: an empty ring continues at its
//! head. That does not define the order in which records reach the media: recovery must ignore what it still
//! finds of a free record, and each log has its own way to record which one is the first valid.
use alloc::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordState {
    /// It, or the writes that it covers, are under way.
    Needed,
    /// The writes that it covers have been answered by all members, whose volatile caches may still lose
    /// them.
    Answered,
    /// No longer needed.
    Free,
}

#[derive(Clone, Copy)]
struct Record {
    number: u64,
    begin: u64,
    state: RecordState,
}

pub struct Ring {
    /// Where on the drive the ring begins, and its sectors.
    base: u64,
    capacity: u64,
    head: u64,
    tail: u64,
    records: VecDeque<Record>,
    /// How many of the oldest records are not needed.
    done: usize,
    /// Records that are needed.
    needed: u32,
}

impl Ring {
    pub fn new(base: u64, capacity: u64) -> Self {
        Ring { base, capacity, head: 0, tail: 0, records: VecDeque::new(), done: 0, needed: 0 }
    }

    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Sectors that belong to no record.
    pub fn free(&self) -> u64 {
        self.capacity - (self.head - self.tail)
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Records that are needed.
    pub fn needed(&self) -> u32 {
        self.needed
    }

    /// Where on the drive the next record begins.
    pub fn head(&self) -> u64 {
        self.base + self.head % self.capacity
    }

    /// Sectors from there to the end of the ring.
    pub fn before_end(&self) -> u64 {
        self.capacity - self.head % self.capacity
    }

    /// The number of the oldest record that is not free.
    pub fn oldest(&self) -> Option<u64> {
        self.records.front().map(|record| record.number)
    }

    /// Takes up to `count` sectors for a record, no further than the end of the ring, or none where there is
    /// no room for that: the caller takes the rest from the beginning on. Returns where on the drive they
    /// begin, and how many they are. Sectors that a record takes later belong to it as well.
    pub fn take(&mut self, number: u64, count: u64) -> Option<(u64, u64)> {
        let inside = self.head % self.capacity;
        let count = count.min(self.capacity - inside);
        if count > self.free() {
            return None;
        }
        if self.records.back().is_none_or(|last| last.number != number) {
            self.records.push_back(Record { number, begin: self.head, state: RecordState::Needed });
            self.needed += 1;
        }
        self.head += count;
        Some((self.base + inside, count))
    }

    /// The record that was begun last is not written after all.
    pub fn take_back(&mut self, number: u64) {
        if let Some(&last) = self.records.back().filter(|last| last.number == number) {
            self.records.pop_back();
            self.head = last.begin;
            self.needed -= 1;
        }
    }

    /// Sets the state of a record. Returns whether it is one of the ring's.
    pub fn set(&mut self, number: u64, state: RecordState) -> bool {
        let Ok(at) = self.records.binary_search_by_key(&number, |record| record.number) else { return false };
        let record = &mut self.records[at];
        if record.state == RecordState::Needed && state != RecordState::Needed {
            self.needed -= 1;
        }
        record.state = state;
        while self.records.get(self.done).is_some_and(|record| record.state != RecordState::Needed) {
            self.done += 1;
        }
        true
    }

    /// The number of sectors of the oldest records that are no longer needed, and the number of the first
    /// record that is, or `next`.
    pub fn done(&self, next: u64) -> (u64, u64) {
        let first = self.records.get(self.done);
        first.map_or((self.head - self.tail, next), |record| (record.begin - self.tail, record.number))
    }

    /// All records below this number are free.
    pub fn free_below(&mut self, number: u64) {
        for record in self.records.iter_mut().take_while(|record| record.number < number) {
            record.state = RecordState::Free;
        }
        self.advance();
    }

    /// Advances the tail over the oldest records that are free.
    pub fn advance(&mut self) {
        while self.records.front().is_some_and(|record| record.state == RecordState::Free) {
            self.records.pop_front();
            self.done -= 1;
        }
        self.tail = self.records.front().map_or(self.head, |first| first.begin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    /// Takes `count` sectors, wrapping around at the end; takes none where there is no room for all of them.
    fn take_all(ring: &mut Ring, number: u64, count: u64) -> Option<Vec<u64>> {
        let mut places = Vec::new();
        while (places.len() as u64) < count {
            let Some((at, part)) = ring.take(number, count - places.len() as u64) else {
                ring.take_back(number);
                return None;
            };
            places.extend(at..at + part);
        }
        Some(places)
    }

    proptest! {
        /// What is needed is never given to another record, what is free is reused, and what is left of the
        /// records that were written is never older than one that was overwritten.
        #[test]
        fn the_oldest_is_overwritten_first_and_nothing_that_is_needed(
            capacity in 8u64..60,
            steps in prop::collection::vec((0u8..4, 1u64..12, any::<prop::sample::Index>()), 1..200),
        ) {
            let (mut ring, mut number, mut gone) = (Ring::new(100, capacity), 0, 0);
            let mut held: Vec<(u64, Vec<u64>)> = Vec::new();
            // By sector: the last record that had it, or zero.
            let mut media = vec![0; capacity as usize];
            for (what, count, which) in steps {
                match what {
                    0 | 1 => {
                        number += 1;
                        let count = count.min(capacity);
                        let has_room = ring.free() >= count;
                        let taken = take_all(&mut ring, number, count);
                        prop_assert_eq!(taken.is_some(), has_room);
                        prop_assert!(has_room || !held.is_empty(), "whatever fits at all fits an empty ring");
                        let Some(places) = taken else { continue };
                        for &at in &places {
                            prop_assert!(held.iter().all(|(_, other)| !other.contains(&at)));
                            let old = core::mem::replace(&mut media[(at - 100) as usize], number);
                            prop_assert!(old < number);
                            gone = gone.max(old);
                        }
                        prop_assert!(media.iter().all(|&left| left == 0 || left >= gone));
                        held.push((number, places));
                    }
                    2 if !held.is_empty() => {
                        let (number, _) = held.remove(which.index(held.len()));
                        prop_assert!(ring.set(number, RecordState::Free));
                        ring.advance();
                    }
                    _ => {
                        prop_assert_eq!(ring.needed() as usize, held.len());
                        prop_assert_eq!(ring.is_empty(), held.is_empty());
                    }
                }
            }
        }
    }
}
