//! The entries of a shallow queue in order of cylinder, those of one cylinder in order of arrival: one sorted array.
//!
//! It is searched by bisection; an insertion or removal moves the items behind it. For a few hundred entries
//! both are faster than following links, and the entries outward from the arm are contiguous. With very few,
//! all are always processed in the same way: a mispredicted branch would cost more than that.
use super::slots::{NONE, SlotEntry, SlotIndex};
use alloc::vec::Vec;
use core::hint::select_unpredictable;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    pub cylinder: u32,
    pub slot: SlotIndex,
}

pub struct Row(Vec<Item>);

/// Up to this number entries count as very few.
const VERY_FEW: usize = 8;

impl Row {
    /// With capacity for `depth` entries.
    pub fn new(depth: u32) -> Self {
        Row(Vec::with_capacity(depth as usize))
    }

    #[inline]
    pub fn items(&self) -> &[Item] {
        &self.0
    }

    /// How many entries lie on lower cylinders.
    #[inline]
    pub fn below(&self, cylinder: u32) -> usize {
        self.0.partition_point(|item| item.cylinder < cylinder)
    }

    /// Inserts the youngest entry.
    pub fn insert(&mut self, cylinder: u32, slot: SlotIndex) {
        let mut carried = Item { cylinder, slot };
        if self.0.len() < VERY_FEW {
            self.0.push(carried);
            for at in (1..self.0.len()).rev() {
                // Of the two, the one on the higher cylinder, or else the younger, moves back.
                let below = self.0[at - 1];
                let is_place = below.cylinder <= carried.cylinder;
                self.0[at] = select_unpredictable(is_place, carried, below);
                carried = select_unpredictable(is_place, below, carried);
            }
            self.0[0] = carried;
            return;
        }
        let at = self.0.partition_point(|item| item.cylinder <= cylinder);
        self.0.insert(at, carried);
    }

    /// Inserts an entry that may be older than others of its cylinder.
    pub(super) fn insert_by_age(&mut self, places: &[SlotEntry], slot: SlotIndex) {
        let entry = |slot: SlotIndex| &places[slot as usize].entry;
        let key = |item: &Item| (item.cylinder, entry(item.slot).sequence);
        let carried = Item { cylinder: entry(slot).cylinder, slot };
        let at = self.0.partition_point(|item| key(item) < key(&carried));
        self.0.insert(at, carried);
    }

    pub fn remove(&mut self, cylinder: u32, slot: SlotIndex) {
        if self.0.len() <= VERY_FEW {
            let mut kept = 0;
            for at in 0..self.0.len() {
                let item = self.0[at];
                self.0[kept] = item;
                kept += usize::from(item.slot != slot);
            }
            assert!(kept < self.0.len(), "the entry is there");
            return self.0.truncate(kept);
        }
        let at = self.find(cylinder, slot);
        self.0.remove(at);
    }

    /// The index of an entry's item.
    ///
    /// # Panics
    /// When it is not in the row.
    pub fn find(&self, cylinder: u32, slot: SlotIndex) -> usize {
        let mut at = self.below(cylinder);
        while self.0[at].slot != slot {
            at += 1;
        }
        at
    }

    /// The entry at this index; [`NONE`] out of range.
    #[inline]
    pub fn slot(&self, at: usize) -> SlotIndex {
        self.0.get(at).map_or(NONE, |item| item.slot)
    }
}
