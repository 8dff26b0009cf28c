//! Runs: waiting commands that continue one another. Only the first of a run is a candidate.
//!
//! A command that arrives while one waits that ends where it begins, of the same kind, waits behind that one, and becomes
//! a candidate when that one leaves the queue. So a sequential stream is served in the order of its addresses, whatever
//! the order of the queue: passing one of its commands over for a later one would cost a turn to come back for it, and
//! by then the next one of the stream would be nearer again.
//! Source: Conner, "Filepro CFP2105 series technical reference manual", chapter 3, "Tagged Command Queuing" and "Buffer
//! Management": queued reads or writes that are sequential are combined into a single operation, which also spares a
//! write the turn that a drive without a write cache loses.
//!
//! The commands are in a table by the sector at which they end, so that arrival and departure cost the same however
//! many wait.
use super::slots::{NONE, SlotIndex};
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Lba;

#[derive(Clone, Copy)]
struct Link {
    /// Where it ends, and whether it is a write.
    end: u64,
    /// The next in the same bucket of the table.
    next: SlotIndex,
    /// The one that it waits behind, and the one that waits behind it.
    before: SlotIndex,
    behind: SlotIndex,
}

const UNLINKED: Link = Link { end: 0, next: NONE, before: NONE, behind: NONE };

pub(super) struct Runs {
    links: Vec<Link>,
    /// The first entry of each bucket; a power of two of buckets.
    places: Vec<SlotIndex>,
}

/// What the departure of a command changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Departure {
    /// Whether it was a candidate.
    pub was_candidate: bool,
    /// The one that waited behind it, which is a candidate now.
    pub next: Option<SlotIndex>,
}

/// A place on the media for commands of one kind.
#[inline]
fn key(sector: Lba, write: bool) -> u64 {
    sector.get() << 1 | u64::from(write)
}

impl Runs {
    /// For `depth` slots.
    pub fn new(depth: u32) -> Self {
        let places = (2 * depth).next_power_of_two().clamp(16, 1 << 16) as usize;
        Runs { links: vec![UNLINKED; depth as usize], places: vec![NONE; places] }
    }

    /// Allocates slots up to this one.
    pub fn reach(&mut self, slot: SlotIndex) {
        while self.links.len() <= slot as usize {
            self.links.push(UNLINKED);
        }
    }

    /// Multiplicative hashing (D. E. Knuth, "The art of computer programming", volume 3, 6.4).
    #[inline]
    fn place(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.places.len() - 1)
    }

    /// Files an arrival of the sectors `first .. end`. Returns whether it waits behind another one.
    #[inline]
    pub fn insert(&mut self, slot: SlotIndex, (first, end): (Lba, Lba), write: bool) -> bool {
        let before = self.ending_at(key(first, write));
        if before != NONE {
            self.links[before as usize].behind = slot;
        }
        let end = key(end, write);
        let place = self.place(end);
        self.links[slot as usize] = Link { end, next: self.places[place], before, behind: NONE };
        self.places[place] = slot;
        before != NONE
    }

    /// A command that ends here and has none behind it.
    #[inline]
    fn ending_at(&self, end: u64) -> SlotIndex {
        let mut at = self.places[self.place(end)];
        while at != NONE {
            let link = &self.links[at as usize];
            if link.end == end && link.behind == NONE {
                break;
            }
            at = link.next;
        }
        at
    }

    /// Removes a command, which must be filed.
    #[inline]
    pub fn remove(&mut self, slot: SlotIndex) -> Departure {
        let Link { end, next, before, behind } = self.links[slot as usize];
        let place = self.place(end);
        if self.places[place] == slot {
            self.places[place] = next;
        } else {
            let mut at = self.places[place];
            while self.links[at as usize].next != slot {
                at = self.links[at as usize].next;
            }
            self.links[at as usize].next = next;
        }
        if before != NONE {
            self.links[before as usize].behind = NONE;
        }
        if behind != NONE {
            self.links[behind as usize].before = NONE;
        }
        Departure { was_candidate: before == NONE, next: super::slots::some(behind) }
    }

    /// The command that this one waits behind.
    #[inline]
    pub fn before(&self, slot: SlotIndex) -> Option<SlotIndex> {
        super::slots::some(self.links[slot as usize].before)
    }
}
