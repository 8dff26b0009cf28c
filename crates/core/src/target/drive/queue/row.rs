//! The entries of a shallow queue in order of cylinder, those of one cylinder in order of arrival: one sorted array.
//!
//! It is searched by halving; what comes and goes moves those behind it. For a few hundred entries both take less than
//! following links, and what lies outward from the arm lies side by side.
use super::slots::{NONE, SlotIndex};
use alloc::vec::Vec;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    pub cylinder: u32,
    pub slot: SlotIndex,
}

pub struct Row(Vec<Item>);

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
        let at = self.0.partition_point(|item| item.cylinder <= cylinder);
        self.0.insert(at, Item { cylinder, slot });
    }

    pub fn remove(&mut self, cylinder: u32, slot: SlotIndex) {
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
