//! The entries of a deep queue in order of cylinder, those of one cylinder in order of arrival: a list through the slots
//! under a bitmap of the cylinders that have any.
//!
//! The bitmap leads to a place in the list; from there on, outward is along the links. So filing takes the same time
//! however many wait, and wherever they crowd. Nothing allocates.
use super::angles::Angles;
use super::bitmap::Bitmap;
use super::params::QueueParams;
use super::slots::{NONE, SlotEntry, SlotIndex};
use alloc::vec;
use alloc::vec::Vec;

/// Neighbours in the list.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    pub below: SlotIndex,
    pub above: SlotIndex,
}

pub(super) struct Buckets {
    highest: SlotIndex,
    /// The oldest entry of each cylinder.
    first: Vec<SlotIndex>,
    filled: Bitmap,
    /// Where the order counts rotation.
    angles: Option<Angles>,
}

impl Buckets {
    pub fn new(params: &QueueParams, cylinders: u32, period: u64) -> Self {
        let count = cylinders.max(1) as usize;
        Buckets {
            highest: NONE,
            first: vec![NONE; count],
            filled: Bitmap::new(count),
            angles: params.reckons_rotation().then(|| Angles::new(params.depth, period)),
        }
    }

    pub fn angles(&self) -> Option<&Angles> {
        self.angles.as_ref()
    }

    pub fn highest(&self) -> SlotIndex {
        self.highest
    }

    pub fn reach(&mut self, slot: SlotIndex) {
        self.angles.iter_mut().for_each(|angles| angles.reach(slot));
    }

    /// Files the youngest entry.
    pub fn insert(&mut self, places: &mut [SlotEntry], slot: SlotIndex) {
        let cylinder = places[slot as usize].entry.cylinder;
        let above = self.at_or_above(cylinder + 1);
        let below = if above == NONE { self.highest } else { places[above as usize].by_cylinder.below };
        places[slot as usize].by_cylinder = Neighbours { below, above };
        match above {
            NONE => self.highest = slot,
            above => places[above as usize].by_cylinder.below = slot,
        }
        if below != NONE {
            places[below as usize].by_cylinder.above = slot;
        }
        if !is_on(places, below, cylinder) {
            self.first[cylinder as usize] = slot;
            self.filled.insert(cylinder as usize);
        }
        if let Some(angles) = &mut self.angles {
            angles.insert(slot, &places[slot as usize].entry);
        }
    }

    pub fn remove(&mut self, places: &mut [SlotEntry], slot: SlotIndex) {
        let SlotEntry { ref entry, by_cylinder: Neighbours { below, above } } = places[slot as usize];
        let cylinder = entry.cylinder;
        if let Some(angles) = &mut self.angles {
            angles.remove(slot, entry);
        }
        match above {
            NONE => self.highest = below,
            above => places[above as usize].by_cylinder.below = below,
        }
        if below != NONE {
            places[below as usize].by_cylinder.above = above;
        }
        if self.first[cylinder as usize] == slot {
            if is_on(places, above, cylinder) {
                self.first[cylinder as usize] = above;
            } else {
                self.first[cylinder as usize] = NONE;
                self.filled.remove(cylinder as usize);
            }
        }
    }

    /// The oldest entry on the lowest cylinder at or above this one.
    #[inline]
    pub fn at_or_above(&self, cylinder: u32) -> SlotIndex {
        self.filled.first_from(cylinder as usize).map_or(NONE, |cylinder| self.first[cylinder])
    }
}

fn is_on(places: &[SlotEntry], slot: SlotIndex, cylinder: u32) -> bool {
    slot != NONE && places[slot as usize].entry.cylinder == cylinder
}
