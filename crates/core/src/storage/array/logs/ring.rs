//! A log as a ring: records one behind the other, round at the end, none of which is overwritten before it is free.
//!
//! Places count on for ever; where on the drive one lies is its remainder. The tail goes on as the oldest records become
//! free, in their order: a record that is done behind one that is not must wait for it, as in any log.
//!
//! Room is given oldest first, whatever comes and whatever is taken back: a ring that is empty goes on where it is. That
//! says nothing of the order in which it comes to the media: what recovery may still find of a record that is free must
//! not count, and each log says in its own way from which record on they do.
use alloc::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Being written, or what it is for is.
    Needed,
    /// What it is for has been answered by all members. They may still forget it.
    Answered,
    /// Nobody needs it.
    Free,
}

#[derive(Clone, Copy)]
struct Record {
    number: u64,
    begin: u64,
    fate: Fate,
}

pub struct Ring {
    /// Where on the drive it begins, and its sectors.
    base: u64,
    capacity: u64,
    head: u64,
    tail: u64,
    records: VecDeque<Record>,
    /// How many of the oldest are not needed.
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

    /// Sectors that no record has.
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

    /// Takes sectors for a record, so many or as many as lie before the end, or nothing where there is no room: what is
    /// left is to be taken from the beginning on. Returns where on the drive they begin, and how many they are. What a
    /// record takes later belongs to it as well.
    pub fn take(&mut self, number: u64, count: u64) -> Option<(u64, u64)> {
        let inside = self.head % self.capacity;
        let count = count.min(self.capacity - inside);
        if count > self.free() {
            return None;
        }
        if self.records.back().is_none_or(|last| last.number != number) {
            self.records.push_back(Record { number, begin: self.head, fate: Fate::Needed });
            self.needed += 1;
        }
        self.head += count;
        Some((self.base + inside, count))
    }

    /// A record that was begun last is not written after all.
    pub fn take_back(&mut self, number: u64) {
        if let Some(&last) = self.records.back().filter(|last| last.number == number) {
            self.records.pop_back();
            self.head = last.begin;
            self.needed -= 1;
        }
    }

    /// What is known of a record. Returns whether it is one of the ring's.
    pub fn set(&mut self, number: u64, fate: Fate) -> bool {
        let Ok(at) = self.records.binary_search_by_key(&number, |record| record.number) else { return false };
        let record = &mut self.records[at];
        if record.fate == Fate::Needed && fate != Fate::Needed {
            self.needed -= 1;
        }
        record.fate = fate;
        while self.records.get(self.done).is_some_and(|record| record.fate != Fate::Needed) {
            self.done += 1;
        }
        true
    }

    /// How many sectors the oldest records have that are not needed any more, and the number of the first that is, or
    /// `next`.
    pub fn done(&self, next: u64) -> (u64, u64) {
        let first = self.records.get(self.done);
        first.map_or((self.head - self.tail, next), |record| (record.begin - self.tail, record.number))
    }

    /// All records below this number are free.
    pub fn free_below(&mut self, number: u64) {
        for record in self.records.iter_mut().take_while(|record| record.number < number) {
            record.fate = Fate::Free;
        }
        self.advance();
    }

    /// The tail goes on over the oldest records that are free.
    pub fn advance(&mut self) {
        while self.records.front().is_some_and(|record| record.fate == Fate::Free) {
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

    /// Takes so many sectors round the end; nothing is left of it where there is no room for all of it.
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
        /// What is needed is never given to another record, what is free is given again, and what is left of the records
        /// that were written is never older than one that was overwritten.
        #[test]
        fn the_oldest_is_overwritten_first_and_nothing_that_is_needed(
            capacity in 8u64..60,
            steps in prop::collection::vec((0u8..4, 1u64..12, any::<prop::sample::Index>()), 1..200),
        ) {
            let (mut ring, mut number, mut gone) = (Ring::new(100, capacity), 0, 0);
            let mut held: Vec<(u64, Vec<u64>)> = Vec::new();
            // By sector: whose it was last, or zero.
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
                        prop_assert!(ring.set(number, Fate::Free));
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
