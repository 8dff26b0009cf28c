//! Stretches of sectors by address: finds those that meet others, in a time independent of their number.
//!
//! A stretch is filed by its length: its level is the power of two above it, and the addresses are divided
//! into granules of that size. It is in a hash table under its first sector's granule, so that insertion and
//! removal cost a link each. A stretch that meets some sectors begins in one of their granules or in the one
//! before, at each level that is in use. Most sectors are far from every stretch: a table of how many stretches there
//! are in each 2^16 sectors (filter.rs) says so before any level is searched.
//! Source: the hierarchical hash grid of collision detection: B. Mirtich, "Efficient algorithms for two-phase collision
//! detection", TR-97-23, Mitsubishi Electric Research Laboratory, 1997.
use super::filter::Filter;
use crate::storage::tree::{NONE, Slot};
use alloc::vec;
use alloc::vec::Vec;

/// The smallest granule: most commands then fall into one or a few levels.
const LEAST_LEVEL: u32 = 4;
/// The level of a slot that is not filed.
const FREE: u32 = u32::MAX;

/// A stretch: no sector before `start`, or at or after `limit`, is in it.
#[derive(Clone, Copy)]
struct Node {
    start: u64,
    limit: u64,
    level: u32,
    /// The next in the same bucket of the table.
    next: Slot,
}

pub struct Grid {
    nodes: Vec<Node>,
    /// The first stretch of each bucket; a power of two of buckets.
    places: Vec<Slot>,
    /// The number of stretches of each level; and a bit for each level in use.
    counts: [u32; 65],
    levels: u64,
    len: u32,
    filter: Filter,
}

impl Default for Grid {
    fn default() -> Self {
        let (nodes, places, filter) = (Vec::new(), vec![NONE; 16], Filter::default());
        Grid { nodes, places, counts: [0; 65], levels: 0, len: 0, filter }
    }
}

/// The level of a stretch of this length: its start is less than a granule before any sector in it, and before
/// its limit.
#[inline]
fn level_of(length: u64) -> u32 {
    (u64::BITS - length.leading_zeros()).max(LEAST_LEVEL)
}

impl Grid {
    /// Stretches that are filed.
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Multiplicative hashing (D. E. Knuth, "The art of computer programming", volume 3, 6.4).
    #[inline]
    fn place(&self, granule: u64, level: u32) -> usize {
        let mixed = (granule ^ u64::from(level) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.places.len() - 1)
    }

    #[inline]
    fn place_of(&self, node: &Node) -> usize {
        self.place(granule(node.start, node.level), node.level)
    }

    /// Files a stretch under a slot that has none.
    // Not inlined, so that the code for a cache with few segments stays compact.
    #[inline(never)]
    pub fn insert(&mut self, slot: Slot, start: u64, limit: u64) {
        let free = Node { start: 0, limit: 0, level: FREE, next: NONE };
        while self.nodes.len() <= slot as usize {
            self.nodes.push(free);
        }
        let level = level_of(limit.saturating_sub(start));
        self.nodes[slot as usize] = Node { start, limit, level, next: NONE };
        self.counts[level as usize] += 1;
        self.levels |= 1 << (level - LEAST_LEVEL);
        self.len += 1;
        self.filter.add(start, limit);
        if self.len as usize > self.places.len() {
            return self.grow();
        }
        self.link(slot);
    }

    fn link(&mut self, slot: Slot) {
        let place = self.place_of(&self.nodes[slot as usize]);
        self.nodes[slot as usize].next = self.places[place];
        self.places[place] = slot;
    }

    /// Doubles the buckets, and files all stretches anew.
    #[cold]
    fn grow(&mut self) {
        self.places = vec![NONE; self.places.len() * 2];
        for slot in 0..self.nodes.len() as Slot {
            if self.nodes[slot as usize].level != FREE {
                self.link(slot);
            }
        }
    }

    /// Removes a stretch.
    ///
    /// # Panics
    /// When the slot has none.
    #[inline(never)]
    pub fn remove(&mut self, slot: Slot) {
        let node = self.nodes[slot as usize];
        assert!(node.level != FREE, "the stretch is filed");
        let place = self.place_of(&node);
        if self.places[place] == slot {
            self.places[place] = node.next;
        } else {
            let mut at = self.places[place];
            while self.nodes[at as usize].next != slot {
                at = self.nodes[at as usize].next;
            }
            self.nodes[at as usize].next = node.next;
        }
        self.nodes[slot as usize].level = FREE;
        self.len -= 1;
        self.filter.remove(node.start, node.limit);
        self.counts[node.level as usize] -= 1;
        if self.counts[node.level as usize] == 0 {
            self.levels &= !(1 << (node.level - LEAST_LEVEL));
        }
    }

    /// Calls `visit` with each slot whose stretch begins before `end` and reaches at least up to `first`, and
    /// with its start and limit; in no particular order.
    #[inline]
    pub fn meeting(&self, first: u64, end: u64, mut visit: impl FnMut(Slot, u64, u64)) {
        let Some(last) = end.checked_sub(1) else { return };
        if !self.filter.may_meet(first, last) {
            return;
        }
        for level in self.levels() {
            let from = first.saturating_sub(longest(level));
            self.find(level, from, last, |slot, node| {
                if node.start < end && node.limit >= first {
                    visit(slot, node.start, node.limit);
                }
                false
            });
        }
    }

    /// The levels in use.
    #[inline(always)]
    fn levels(&self) -> impl Iterator<Item = u32> {
        let mut left = self.levels;
        core::iter::from_fn(move || {
            let level = (left != 0).then(|| left.trailing_zeros() + LEAST_LEVEL);
            left &= left.wrapping_sub(1);
            level
        })
    }

    /// A stretch for which `is_it` holds, among those of a level that begin in the granules of these two
    /// sectors or between.
    #[inline(always)]
    fn find(
        &self,
        level: u32,
        from: u64,
        to: u64,
        mut is_it: impl FnMut(Slot, &Node) -> bool,
    ) -> Option<Slot> {
        let (from, to) = (granule(from, level), granule(to, level));
        if to.saturating_sub(from) > u64::from(self.len) {
            // For so many sectors a scan of all stretches is cheaper than one of all granules.
            let mut all = (0..).zip(&self.nodes);
            return all.find(|&(slot, node)| node.level == level && is_it(slot, node)).map(|(slot, _)| slot);
        }
        for own in from..=to {
            let mut at = self.places[self.place(own, level)];
            while at != NONE {
                let node = &self.nodes[at as usize];
                // Other granules share the bucket.
                if node.level == level && granule(node.start, level) == own && is_it(at, node) {
                    return Some(at);
                }
                at = node.next;
            }
        }
        None
    }

    /// The stretch that begins first, among those that contain one of these sectors.
    #[inline]
    pub fn lowest(&self, first: u64, end: u64) -> Option<Slot> {
        let (mut found, mut lowest) = (None, u64::MAX);
        self.meeting(first, end, |slot, start, limit| {
            if limit > first && start < lowest {
                (found, lowest) = (Some(slot), start);
            }
        });
        found
    }

    /// A stretch, not empty, that ends just before this sector.
    // Not inlined, so that its callers stay small.
    #[inline(never)]
    pub fn ending_at(&self, address: u64) -> Option<Slot> {
        let last = address.checked_sub(1)?;
        if !self.filter.may_meet(address, address) {
            return None;
        }
        let mut levels = self.levels();
        levels.find_map(|level| {
            let from = address.saturating_sub(longest(level));
            self.find(level, from, last, |_, node| node.limit == address && node.start < address)
        })
    }

    /// A stretch that begins with this sector.
    #[inline(never)]
    pub fn beginning_at(&self, address: u64) -> Option<Slot> {
        if !self.filter.may_meet(address, address) {
            return None;
        }
        self.levels().find_map(|level| self.find(level, address, address, |_, node| node.start == address))
    }
}

/// The granule of a level that a sector lies in.
#[inline]
fn granule(address: u64, level: u32) -> u64 {
    address.checked_shr(level).unwrap_or(0)
}

/// The longest stretch of a level.
#[inline]
fn longest(level: u32) -> u64 {
    u64::MAX >> (u64::BITS - level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Close together and short, so that they meet; some far out and some long, a few too long for the filter.
    fn stretches() -> impl Strategy<Value = (u64, u64)> {
        let start =
            prop_oneof![0u64..300, 0u64..20_000, 0u64..1 << 20, 65_500u64..65_580, Just(u64::MAX - 400_000)];
        (start, prop_oneof![8 => 0u64..40, 8 => 0u64..3_000, 4 => 1u64..=32_768, 1 => 1u64..=400_000])
    }

    proptest! {
        #[test]
        fn a_grid_finds_what_looking_at_each_finds(
            steps in prop::collection::vec((0u32..120, stretches(), stretches()), 1..300),
        ) {
            let (mut grid, mut naive) = (Grid::default(), BTreeMap::new());
            for (slot, (start, length), (first, count)) in steps {
                if naive.remove(&slot).is_some() {
                    grid.remove(slot);
                } else {
                    naive.insert(slot, (start, start + length));
                    grid.insert(slot, start, start + length);
                }
                prop_assert_eq!(grid.len() as usize, naive.len());
                let end = first + count;
                let mut found = Vec::new();
                grid.meeting(first, end, |slot, start, limit| found.push((slot, start, limit)));
                found.sort_unstable();
                let meets = |(slot, &(start, limit)): (&u32, &(u64, u64))| {
                    (start < end && limit >= first).then_some((*slot, start, limit))
                };
                prop_assert_eq!(found, naive.iter().filter_map(meets).collect::<Vec<_>>());
                let overlapping = naive.values().filter(|&&(start, limit)| start < end && limit > first);
                let lowest = grid.lowest(first, end).map(|slot| naive[&slot].0);
                prop_assert_eq!(lowest, overlapping.map(|&(start, _)| start).min());
                let ends = grid.ending_at(first).map(|slot| naive[&slot]);
                let ends_there = |&(start, limit): &(u64, u64)| limit == first && start < limit;
                prop_assert!(ends.is_none_or(|found| ends_there(&found)));
                prop_assert_eq!(ends.is_some(), naive.values().any(ends_there));
                let begins = grid.beginning_at(first).map(|slot| naive[&slot].0);
                prop_assert_eq!(begins, naive.values().map(|&(start, _)| start).find(|&start| start == first));
            }
        }
    }
}
