//! One lane of the slot table: its entries in order of arrival, and in order of cylinder under a bitmap.
//!
//! Both orders are linked lists through the slots. The bitmap over buckets of neighbouring cylinders leads to a place in
//! the second list; from there on, outward is along the links. Nothing allocates.
use super::angles::Angles;
use super::bitmap::Bitmap;
use super::params::QueueParams;
use super::slots::{NONE, Place, SlotIndex, some};
use alloc::vec;
use alloc::vec::Vec;

/// Neighbours of an entry in its lane.
#[derive(Clone, Copy)]
pub(super) struct Links {
    pub older: SlotIndex,
    pub younger: SlotIndex,
    /// In order of cylinder, entries of one cylinder in order of arrival.
    pub below: SlotIndex,
    pub above: SlotIndex,
}

impl Links {
    pub const UNLINKED: Links = Links { older: NONE, younger: NONE, below: NONE, above: NONE };
}

/// Buckets of several cylinders, at most: few, so that they stay in the processor's cache, and a bitmap of two levels. In
/// a shallow queue a bucket is short however it is filled; in a deep one each cylinder has a bucket of its own, so that
/// filing takes the same time wherever the commands crowd.
const SHARED_BUCKETS: u32 = 64 * 64;

pub(super) struct Lane {
    oldest: SlotIndex,
    youngest: SlotIndex,
    highest: SlotIndex,
    /// The lowest entry of each bucket.
    buckets: Vec<SlotIndex>,
    filled: Bitmap,
    /// A bucket holds `1 << shift` cylinders.
    shift: u32,
    /// In a deep queue whose order counts rotation.
    angles: Option<Angles>,
}

impl Lane {
    pub fn new(params: &QueueParams, cylinders: u32, period: u64) -> Self {
        let last = cylinders.saturating_sub(1);
        let mut shift = 0;
        while !params.is_deep() && last >> shift >= SHARED_BUCKETS {
            shift += 1;
        }
        let count = (last >> shift) as usize + 1;
        Lane {
            oldest: NONE,
            youngest: NONE,
            highest: NONE,
            buckets: vec![NONE; count],
            filled: Bitmap::new(count),
            shift,
            angles: (params.is_deep() && params.reckons_rotation())
                .then(|| Angles::new(params.depth, period)),
        }
    }

    pub fn angles(&self) -> Option<&Angles> {
        self.angles.as_ref()
    }

    pub fn oldest(&self) -> Option<SlotIndex> {
        some(self.oldest)
    }

    pub fn highest(&self) -> Option<SlotIndex> {
        some(self.highest)
    }

    pub fn reach(&mut self, slot: SlotIndex) {
        self.angles.iter_mut().for_each(|angles| angles.reach(slot));
    }

    /// Links an entry, which is the youngest, into both orders.
    pub fn insert(&mut self, places: &mut [Place], slot: SlotIndex) {
        let cylinder = places[slot as usize].entry.cylinder;
        let (below, above) = self.neighbours(places, cylinder);
        places[slot as usize].links = Links { older: self.youngest, younger: NONE, below, above };
        match above {
            NONE => self.highest = slot,
            above => places[above as usize].links.below = slot,
        }
        if below != NONE {
            places[below as usize].links.above = slot;
        }
        let bucket = self.bucket_of(cylinder);
        if !self.is_in(places, below, bucket) {
            self.buckets[bucket] = slot;
            self.filled.insert(bucket);
        }
        match self.youngest {
            NONE => self.oldest = slot,
            youngest => places[youngest as usize].links.younger = slot,
        }
        self.youngest = slot;
        if let Some(angles) = &mut self.angles {
            angles.insert(slot, &places[slot as usize].entry);
        }
    }

    pub fn remove(&mut self, places: &mut [Place], slot: SlotIndex) {
        let Links { older, younger, below, above } = places[slot as usize].links;
        if let Some(angles) = &mut self.angles {
            angles.remove(slot, &places[slot as usize].entry);
        }
        match older {
            NONE => self.oldest = younger,
            older => places[older as usize].links.younger = younger,
        }
        match younger {
            NONE => self.youngest = older,
            younger => places[younger as usize].links.older = older,
        }
        match above {
            NONE => self.highest = below,
            above => places[above as usize].links.below = below,
        }
        if below != NONE {
            places[below as usize].links.above = above;
        }
        let bucket = self.bucket_of(places[slot as usize].entry.cylinder);
        if self.buckets[bucket] == slot {
            if self.is_in(places, above, bucket) {
                self.buckets[bucket] = above;
            } else {
                self.buckets[bucket] = NONE;
                self.filled.remove(bucket);
            }
        }
    }

    /// The oldest entry on the lowest cylinder at or above this one.
    #[inline]
    pub fn at_or_above(&self, places: &[Place], cylinder: u32) -> Option<SlotIndex> {
        let mut slot = self.lowest_from(self.bucket_of(cylinder));
        while slot != NONE && places[slot as usize].entry.cylinder < cylinder {
            slot = places[slot as usize].links.above;
        }
        some(slot)
    }

    /// The entries between which an arrival for this cylinder belongs.
    fn neighbours(&self, places: &[Place], cylinder: u32) -> (SlotIndex, SlotIndex) {
        let mut above = self.lowest_from(self.bucket_of(cylinder) + 1);
        let mut below = if above == NONE { self.highest } else { places[above as usize].links.below };
        while below != NONE && places[below as usize].entry.cylinder > cylinder {
            (above, below) = (below, places[below as usize].links.below);
        }
        (below, above)
    }

    /// The lowest entry of this bucket or of a higher one.
    #[inline]
    fn lowest_from(&self, bucket: usize) -> SlotIndex {
        self.filled.first_from(bucket).map_or(NONE, |bucket| self.buckets[bucket])
    }

    fn is_in(&self, places: &[Place], slot: SlotIndex, bucket: usize) -> bool {
        slot != NONE && self.bucket_of(places[slot as usize].entry.cylinder) == bucket
    }

    #[inline]
    fn bucket_of(&self, cylinder: u32) -> usize {
        (cylinder >> self.shift) as usize
    }
}
