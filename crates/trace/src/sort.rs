//! Sorts requests by time within a window.
use crate::error::Place;
use crate::record::Record;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// The number of requests in the window: about 20 MB.
pub const WINDOW: usize = 1 << 17;

/// The requests that were read and not yet returned.
#[derive(Default)]
pub struct Window {
    heap: BinaryHeap<Reverse<Waiting>>,
    sequence: u64,
}

struct Waiting {
    sequence: u64,
    place: Place,
    record: Record,
}

impl Window {
    pub fn is_full(&self) -> bool {
        self.heap.len() >= WINDOW
    }

    pub fn push(&mut self, place: Place, record: Record) {
        self.heap.push(Reverse(Waiting { sequence: self.sequence, place, record }));
        self.sequence += 1;
    }

    /// The earliest request; among equal times, the one that was read first.
    pub fn pop(&mut self) -> Option<(Place, Record)> {
        self.heap.pop().map(|Reverse(waiting)| (waiting.place, waiting.record))
    }
}

impl Waiting {
    fn key(&self) -> (u64, u64) {
        (self.record.time_ns, self.sequence)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
