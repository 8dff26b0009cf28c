//! The entries of a shallow queue in order of cylinder, those of one cylinder in order of arrival: one sorted array.
//!
//! It is searched by halving; what comes and goes moves those behind it. For a few hundred entries both take less than
//! following links, and what lies outward from the arm lies side by side. Very few are all gone through, in the same way
//! whatever comes or goes: a branch that is mispredicted takes longer than that.
use super::slots::{NONE, SlotIndex};
use alloc::vec::Vec;
use core::hint::select_unpredictable;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    pub cylinder: u32,
    pub slot: SlotIndex,
}

pub struct Row(Vec<Item>);

/// No more entries than this are very few.
const VERY_FEW: usize = 8;

impl Row {
    /// For so many entries without growing.
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

    /// Files the youngest entry.
    pub fn insert(&mut self, cylinder: u32, slot: SlotIndex) {
        let mut carried = Item { cylinder, slot };
        if self.0.len() < VERY_FEW {
            self.0.push(carried);
            for at in (1..self.0.len()).rev() {
                // Of the two the one on the higher cylinder, or the younger, stays behind.
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

    /// Which of the items an entry is.
    ///
    /// # Panics
    /// When it is none of them.
    pub fn find(&self, cylinder: u32, slot: SlotIndex) -> usize {
        let mut at = self.below(cylinder);
        while self.0[at].slot != slot {
            at += 1;
        }
        at
    }

    /// The entry at this place; none behind the last, nor before the first.
    #[inline]
    pub fn slot(&self, at: usize) -> SlotIndex {
        self.0.get(at).map_or(NONE, |item| item.slot)
    }
}
