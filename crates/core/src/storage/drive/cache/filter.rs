//! How many stretches of sectors there are in each 2^16 of them: whether any can meet a command, at the cost of one look.
use alloc::vec;
use alloc::vec::Vec;

/// Sectors are counted in granules of this power of two: a stretch lies in one or two, and a drive has many more granules
/// than stretches.
const LEVEL: u32 = 16;
/// Counters, a power of two. Granules share them: a shared counter costs a search that finds nothing.
const COUNTERS: usize = 4096;
/// A stretch of more granules than this is not counted by granule: while there is one, any sector may meet it.
const GRANULES_MAX: u64 = 4;

pub struct Filter {
    counters: Vec<u32>,
    /// Stretches that are not counted by granule.
    long: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { counters: vec![0; COUNTERS], long: 0 }
    }
}

impl Filter {
    /// Counts a stretch from `start` up to `limit`, both included.
    #[inline]
    pub fn add(&mut self, start: u64, limit: u64) {
        match counters(start, limit) {
            Some(at) => at.for_each(|at| self.counters[at] += 1),
            None => self.long += 1,
        }
    }

    /// No longer counts it.
    #[inline]
    pub fn remove(&mut self, start: u64, limit: u64) {
        match counters(start, limit) {
            Some(at) => at.for_each(|at| self.counters[at] -= 1),
            None => self.long -= 1,
        }
    }

    /// Whether a stretch may have one of the sectors from `first` to `last`; false if none has.
    #[inline]
    pub fn may_meet(&self, first: u64, last: u64) -> bool {
        self.long > 0
            || counters(first, last).is_none_or(|at| at.fold(false, |any, at| any | (self.counters[at] > 0)))
    }
}

/// The counters of the sectors from `first` to `last`; none if they are of too many granules.
#[inline]
fn counters(first: u64, last: u64) -> Option<impl Iterator<Item = usize>> {
    let (from, to) = (first >> LEVEL, last.max(first) >> LEVEL);
    // Multiplicative hashing, as in the grid.
    let counter =
        |granule: u64| (granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (COUNTERS - 1);
    (to - from < GRANULES_MAX).then(|| (from..=to).map(counter))
}
