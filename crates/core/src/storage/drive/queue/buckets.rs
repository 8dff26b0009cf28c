//! The entries of a deep queue in order of cylinder, those of one cylinder in order of arrival: a list linked
//! through the slots, with a bitmap of the cylinders that have any.
//!
//! The bitmap gives a place in the list; from there the walk outward follows the links. So insertion takes
//! the same time however many entries wait, and wherever they cluster. Nothing allocates.
use super::bitmap::Bitmap;
use super::params::QueueParams;
use super::polar::Polar;
use super::slots::{Entry, NONE, SlotEntry, SlotIndex, some};
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
    /// For orders that count rotation.
    polar: Option<Polar>,
}

impl Buckets {
    pub fn new(params: &QueueParams, cylinders: u32, period: u64) -> Self {
        let count = cylinders.max(1) as usize;
        Buckets {
            highest: NONE,
            first: vec![NONE; count],
            filled: Bitmap::new(count),
            polar: params.counts_rotation().then(|| Polar::new(params.depth, count as u32, period)),
        }
    }

    pub fn polar(&self) -> Option<&Polar> {
        self.polar.as_ref()
    }

    pub fn highest(&self) -> SlotIndex {
        self.highest
    }

    pub fn reach(&mut self, slot: SlotIndex) {
        self.polar.iter_mut().for_each(|polar| polar.reach(slot));
    }

    /// Inserts an entry: as a rule the youngest, but a command that waited behind another one may be older.
    pub fn insert(&mut self, places: &mut [SlotEntry], slot: SlotIndex) {
        let Entry { cylinder, sequence, .. } = places[slot as usize].entry;
        let mut above = self.at_or_above(cylinder + 1);
        let mut below = if above == NONE { self.highest } else { places[above as usize].by_cylinder.below };
        while is_on(places, below, cylinder) && places[below as usize].entry.sequence > sequence {
            (above, below) = (below, places[below as usize].by_cylinder.below);
        }
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
        if let Some(polar) = &mut self.polar {
            polar.insert(slot, &places[slot as usize].entry);
            if let Some(count) = polar.unfitted() {
                let downward = Downward { places, next: self.highest };
                let end =
                    |index: u32| downward.clone().nth(index as usize).map_or(0, |(_, entry)| entry.cylinder);
                let few = count / 16;
                polar.fit((end(count - 1 - few), end(few)), downward.clone());
            }
        }
    }

    pub fn remove(&mut self, places: &mut [SlotEntry], slot: SlotIndex) {
        let SlotEntry { ref entry, by_cylinder: Neighbours { below, above } } = places[slot as usize];
        let cylinder = entry.cylinder;
        if let Some(polar) = &mut self.polar {
            polar.remove(slot, entry);
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

/// The entries in descending order of cylinder.
#[derive(Clone)]
struct Downward<'a> {
    places: &'a [SlotEntry],
    next: SlotIndex,
}

impl<'a> Iterator for Downward<'a> {
    type Item = (SlotIndex, &'a Entry);

    fn next(&mut self) -> Option<Self::Item> {
        let slot = some(self.next)?;
        let place = &self.places[slot as usize];
        self.next = place.by_cylinder.below;
        Some((slot, &place.entry))
    }
}

fn is_on(places: &[SlotEntry], slot: SlotIndex, cylinder: u32) -> bool {
    slot != NONE && places[slot as usize].entry.cylinder == cylinder
}
