//! The slot table of the queue: entries in order of arrival, and in order of cylinder under a two-level bitmap.
//!
//! Both orders are linked lists through the slots. The bitmap over buckets of neighbouring cylinders leads to a place in
//! the second list by counting zero bits; from there on, outward is along the links. Nothing allocates.
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Lba;

/// Which slot of the queue. Slots are numbered from zero up to the depth.
pub type SlotIndex = u16;

const NONE: SlotIndex = SlotIndex::MAX;
/// Buckets: one word of summary over 64 words of 64 bits.
const BUCKETS: usize = 64 * 64;

/// What choosing needs to know of one waiting command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// The order of arrival, for ties; set by the table.
    pub sequence: u64,
    /// When it arrived, in nanoseconds.
    pub arrived: u64,
    /// When the firmware has taken it up, in nanoseconds.
    pub ready: u64,
    /// Nanoseconds before the arm may start, because the data must come first.
    pub lead: u64,
    /// Its first block.
    pub first: Lba,
    pub cylinder: u32,
    pub head: u32,
    /// Time into the revolution at which it begins.
    pub start: u32,
    /// The longest wait that rotation can cost.
    pub longest_wait: u32,
    pub write: bool,
}

#[derive(Clone, Copy)]
struct Links {
    older: SlotIndex,
    younger: SlotIndex,
    /// Neighbours in order of cylinder, entries of one cylinder in order of arrival.
    below: SlotIndex,
    above: SlotIndex,
}

/// One slot: together a cache line.
#[derive(Clone, Copy)]
struct Place {
    entry: Entry,
    links: Links,
}

const UNLINKED: Links = Links { older: NONE, younger: NONE, below: NONE, above: NONE };

pub struct Slots {
    places: Vec<Place>,
    oldest: SlotIndex,
    youngest: SlotIndex,
    highest: SlotIndex,
    len: usize,
    /// The lowest entry of each bucket.
    buckets: Vec<SlotIndex>,
    words: [u64; 64],
    summary: u64,
    /// A bucket holds `1 << shift` cylinders.
    shift: u32,
    sequence: u64,
}

impl Slots {
    /// A table of `depth` slots for a drive with so many cylinders.
    pub fn new(depth: u16, cylinders: u32) -> Self {
        let depth = usize::from(depth);
        let mut shift = 0;
        while (cylinders.saturating_sub(1) as usize) >> shift >= BUCKETS {
            shift += 1;
        }
        Slots {
            places: vec![Place { entry: Entry::default(), links: UNLINKED }; depth],
            oldest: NONE,
            youngest: NONE,
            highest: NONE,
            len: 0,
            buckets: vec![NONE; BUCKETS],
            words: [0; 64],
            summary: 0,
            shift,
            sequence: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn entry(&self, slot: SlotIndex) -> &Entry {
        &self.places[usize::from(slot)].entry
    }

    /// Files an arrival. The slot must be free; the entry's `sequence` is set here.
    pub fn insert(&mut self, slot: SlotIndex, entry: Entry) {
        let (below, above) = self.neighbours(entry.cylinder);
        let links = Links { older: self.youngest, younger: NONE, below, above };
        let entry = Entry { sequence: self.sequence, ..entry };
        self.places[usize::from(slot)] = Place { entry, links };
        self.sequence += 1;
        match above {
            NONE => self.highest = slot,
            above => self.places[usize::from(above)].links.below = slot,
        }
        if below != NONE {
            self.places[usize::from(below)].links.above = slot;
        }
        let bucket = self.bucket_of(entry.cylinder);
        if !self.is_in(below, bucket) {
            self.buckets[bucket] = slot;
            self.words[bucket / 64] |= 1 << (bucket % 64);
            self.summary |= 1 << (bucket / 64);
        }
        match self.youngest {
            NONE => self.oldest = slot,
            youngest => self.places[usize::from(youngest)].links.younger = slot,
        }
        self.youngest = slot;
        self.len += 1;
    }

    /// Takes an entry out.
    pub fn remove(&mut self, slot: SlotIndex) {
        let Links { older, younger, below, above } = self.places[usize::from(slot)].links;
        match older {
            NONE => self.oldest = younger,
            older => self.places[usize::from(older)].links.younger = younger,
        }
        match younger {
            NONE => self.youngest = older,
            younger => self.places[usize::from(younger)].links.older = older,
        }
        match above {
            NONE => self.highest = below,
            above => self.places[usize::from(above)].links.below = below,
        }
        if below != NONE {
            self.places[usize::from(below)].links.above = above;
        }
        let bucket = self.bucket_of(self.entry(slot).cylinder);
        if self.buckets[bucket] == slot {
            if self.is_in(above, bucket) {
                self.buckets[bucket] = above;
            } else {
                self.buckets[bucket] = NONE;
                self.words[bucket / 64] &= !(1 << (bucket % 64));
                if self.words[bucket / 64] == 0 {
                    self.summary &= !(1 << (bucket / 64));
                }
            }
        }
        self.len -= 1;
    }

    /// The entries between which an arrival for this cylinder belongs.
    fn neighbours(&self, cylinder: u32) -> (SlotIndex, SlotIndex) {
        let mut above = self.lowest_from(self.bucket_of(cylinder) + 1);
        let mut below =
            if above == NONE { self.highest } else { self.places[usize::from(above)].links.below };
        while below != NONE && self.entry(below).cylinder > cylinder {
            (above, below) = (below, self.places[usize::from(below)].links.below);
        }
        (below, above)
    }

    fn is_in(&self, slot: SlotIndex, bucket: usize) -> bool {
        slot != NONE && self.bucket_of(self.entry(slot).cylinder) == bucket
    }

    /// The lowest entry of this bucket or of a higher one.
    #[inline]
    fn lowest_from(&self, bucket: usize) -> SlotIndex {
        if bucket >= BUCKETS {
            return NONE;
        }
        let here = self.words[bucket / 64] >> (bucket % 64);
        if here != 0 {
            return self.buckets[bucket + here.trailing_zeros() as usize];
        }
        // Shifted in two steps: by 64 at once is no shift.
        let higher = (self.summary >> (bucket / 64)) >> 1;
        if higher == 0 {
            return NONE;
        }
        let word = bucket / 64 + 1 + higher.trailing_zeros() as usize;
        self.buckets[word * 64 + self.words[word].trailing_zeros() as usize]
    }

    /// The entry that has waited longest.
    pub fn oldest(&self) -> Option<SlotIndex> {
        some(self.oldest)
    }

    /// The next younger entry.
    pub fn younger(&self, slot: SlotIndex) -> Option<SlotIndex> {
        some(self.places[usize::from(slot)].links.younger)
    }

    /// The entries, oldest first.
    pub fn by_age(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        core::iter::successors(self.oldest(), |&slot| self.younger(slot))
    }

    /// The oldest entry on the lowest cylinder at or above this one.
    #[inline]
    pub fn at_or_above(&self, cylinder: u32) -> Option<SlotIndex> {
        let mut slot = self.lowest_from(self.bucket_of(cylinder));
        while slot != NONE && self.entry(slot).cylinder < cylinder {
            slot = self.places[usize::from(slot)].links.above;
        }
        some(slot)
    }

    /// The next entry upward, in order of cylinder and then of arrival.
    #[inline]
    pub fn above(&self, slot: SlotIndex) -> Option<SlotIndex> {
        some(self.places[usize::from(slot)].links.above)
    }

    /// The next entry downward.
    #[inline]
    pub fn below(&self, slot: SlotIndex) -> Option<SlotIndex> {
        some(self.places[usize::from(slot)].links.below)
    }

    /// The entry on the highest cylinder, the youngest of several.
    pub fn highest(&self) -> Option<SlotIndex> {
        some(self.highest)
    }

    #[inline]
    fn bucket_of(&self, cylinder: u32) -> usize {
        (cylinder >> self.shift) as usize
    }
}

fn some(slot: SlotIndex) -> Option<SlotIndex> {
    (slot != NONE).then_some(slot)
}
