//! A log as a ring: records one behind the other, round at the end, none of which is overwritten before it is free.
//!
//! Places count on for ever; where on the drive one lies is its remainder. The tail goes on as the oldest records become
//! free, in their order: a record that is done behind one that is not must wait for it, as in any log.
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

    /// Takes so many sectors for a record, in one piece; returns where on the drive they begin, or nothing where there is no
    /// room. What a record takes later belongs to it as well.
    pub fn take(&mut self, number: u64, count: u64) -> Option<u64> {
        let inside = self.head % self.capacity;
        let skipped = if inside + count > self.capacity { self.capacity - inside } else { 0 };
        if skipped + count > self.free() {
            return None;
        }
        if self.records.back().is_none_or(|last| last.number != number) {
            self.records.push_back(Record { number, begin: self.head, fate: Fate::Needed });
            self.needed += 1;
        }
        let at = self.head + skipped;
        self.head = at + count;
        Some(self.base + at % self.capacity)
    }

    /// Takes so many sectors for a record, which may go on at the beginning, or nothing where there is no room. Returns
    /// where on the drive they begin, and how many lie there in one piece.
    pub fn take_part(&mut self, number: u64, count: u64) -> Option<(u64, u64)> {
        let count = count.min(self.capacity - self.head % self.capacity);
        self.take(number, count).map(|at| (at, count))
    }

    /// A record that was begun last is not written after all.
    pub fn take_back(&mut self, number: u64) {
        if let Some(&last) = self.records.back().filter(|last| last.number == number) {
            self.records.pop_back();
            self.head = last.begin;
            self.needed -= 1;
        }
        if self.records.is_empty() {
            // Whatever fits at all fits from the beginning on.
            (self.head, self.tail) = (0, 0);
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

    proptest! {
        /// What is needed is never given to another record, and what is free is given again.
        #[test]
        fn nothing_that_is_needed_is_overwritten(
            capacity in 8u64..60,
            steps in prop::collection::vec((0u8..4, 1u64..12, any::<prop::sample::Index>()), 1..200),
        ) {
            let (mut ring, mut number) = (Ring::new(100, capacity), 0);
            let mut held: Vec<(u64, Vec<(u64, u64)>)> = Vec::new();
            for (what, count, which) in steps {
                match what {
                    0 | 1 => {
                        number += 1;
                        let count = count.min(capacity);
                        let mut taken = ring.take(number, count);
                        if taken.is_none() {
                            ring.take_back(number);
                            // From the beginning on an empty ring has room for whatever fits at all.
                            taken = if held.is_empty() { ring.take(number, count) } else { None };
                            prop_assert_eq!(taken.is_some(), held.is_empty());
                        }
                        let Some(at) = taken else { continue };
                        prop_assert!(at >= 100 && at + count <= 100 + capacity);
                        for &(other, length) in held.iter().flat_map(|(_, parts)| parts) {
                            prop_assert!(at + count <= other || other + length <= at);
                        }
                        held.push((number, vec![(at, count)]));
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
