//! The slot table of the queue: entries linked in order of arrival, and by cylinder in buckets under a two-level bitmap.
//!
//! Insertion and removal take constant time and allocate nothing. A bucket holds neighbouring cylinders; walking
//! outward from any cylinder skips empty buckets by counting zero bits.
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
    /// Its first block.
    pub first: Lba,
    pub cylinder: u32,
    pub head: u32,
    /// Time into the revolution at which it begins.
    pub start: u32,
    /// The longest wait that rotation can cost.
    pub longest_wait: u32,
    /// Nanoseconds before the arm may start, because the data must come first.
    pub lead: u32,
    pub write: bool,
}

#[derive(Clone, Copy)]
struct Links {
    older: SlotIndex,
    younger: SlotIndex,
    previous: SlotIndex,
    next: SlotIndex,
}

const UNLINKED: Links = Links { older: NONE, younger: NONE, previous: NONE, next: NONE };

pub struct Slots {
    entries: Vec<Entry>,
    links: Vec<Links>,
    oldest: SlotIndex,
    youngest: SlotIndex,
    len: usize,
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
        while (cylinders as usize) >> shift > BUCKETS {
            shift += 1;
        }
        Slots {
            entries: vec![Entry::default(); depth],
            links: vec![UNLINKED; depth],
            oldest: NONE,
            youngest: NONE,
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
        &self.entries[usize::from(slot)]
    }

    /// Files an arrival. The slot must be free; the entry's `sequence` is set here.
    pub fn insert(&mut self, slot: SlotIndex, entry: Entry) {
        let (i, bucket) = (usize::from(slot), self.bucket_of(entry.cylinder));
        self.entries[i] = Entry { sequence: self.sequence, ..entry };
        self.sequence += 1;
        let next = self.buckets[bucket];
        self.links[i] = Links { older: self.youngest, younger: NONE, previous: NONE, next };
        if next != NONE {
            self.links[usize::from(next)].previous = slot;
        }
        self.buckets[bucket] = slot;
        self.words[bucket / 64] |= 1 << (bucket % 64);
        self.summary |= 1 << (bucket / 64);
        if self.youngest == NONE {
            self.oldest = slot;
        } else {
            self.links[usize::from(self.youngest)].younger = slot;
        }
        self.youngest = slot;
        self.len += 1;
    }

    /// Takes an entry out.
    pub fn remove(&mut self, slot: SlotIndex) {
        let Links { older, younger, previous, next } = self.links[usize::from(slot)];
        match older {
            NONE => self.oldest = younger,
            older => self.links[usize::from(older)].younger = younger,
        }
        match younger {
            NONE => self.youngest = older,
            younger => self.links[usize::from(younger)].older = older,
        }
        if next != NONE {
            self.links[usize::from(next)].previous = previous;
        }
        if previous != NONE {
            self.links[usize::from(previous)].next = next;
        } else {
            let bucket = self.bucket_of(self.entry(slot).cylinder);
            self.buckets[bucket] = next;
            if next == NONE {
                self.words[bucket / 64] &= !(1 << (bucket % 64));
                if self.words[bucket / 64] == 0 {
                    self.summary &= !(1 << (bucket / 64));
                }
            }
        }
        self.len -= 1;
    }

    /// The entry that has waited longest.
    pub fn oldest(&self) -> Option<SlotIndex> {
        some(self.oldest)
    }

    /// The next younger entry.
    pub fn younger(&self, slot: SlotIndex) -> Option<SlotIndex> {
        some(self.links[usize::from(slot)].younger)
    }

    /// The entries, oldest first.
    pub fn by_age(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        core::iter::successors(self.oldest(), |&slot| self.younger(slot))
    }

    #[inline]
    pub fn bucket_of(&self, cylinder: u32) -> usize {
        (cylinder >> self.shift) as usize
    }

    /// The first cylinder of a bucket.
    #[inline]
    pub fn bucket_first(&self, bucket: usize) -> u32 {
        (bucket as u32) << self.shift
    }

    /// The last cylinder of a bucket.
    #[inline]
    pub fn bucket_last(&self, bucket: usize) -> u32 {
        self.bucket_first(bucket) + ((1 << self.shift) - 1)
    }

    /// The entries of a bucket, in no particular order.
    #[inline]
    pub fn in_bucket(&self, bucket: usize) -> impl Iterator<Item = SlotIndex> + '_ {
        let next = |&slot: &SlotIndex| some(self.links[usize::from(slot)].next);
        core::iter::successors(some(self.buckets[bucket]), next)
    }

    /// The lowest occupied bucket at or above `bucket`.
    #[inline]
    pub fn bucket_at_or_above(&self, bucket: usize) -> Option<usize> {
        if bucket >= BUCKETS {
            return None;
        }
        let here = self.words[bucket / 64] >> (bucket % 64);
        if here != 0 {
            return Some(bucket + here.trailing_zeros() as usize);
        }
        // Shifted in two steps: by 64 at once is no shift.
        let above = (self.summary >> (bucket / 64)) >> 1;
        if above == 0 {
            return None;
        }
        let word = bucket / 64 + 1 + above.trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// The highest occupied bucket at or below `bucket`.
    #[inline]
    pub fn bucket_at_or_below(&self, bucket: usize) -> Option<usize> {
        let here = self.words[bucket / 64] << (63 - bucket % 64);
        if here != 0 {
            return Some(bucket - here.leading_zeros() as usize);
        }
        let below = (self.summary << (63 - bucket / 64)) << 1;
        if below == 0 {
            return None;
        }
        let word = bucket / 64 - 1 - below.leading_zeros() as usize;
        Some(word * 64 + 63 - self.words[word].leading_zeros() as usize)
    }
}

fn some(slot: SlotIndex) -> Option<SlotIndex> {
    (slot != NONE).then_some(slot)
}
