//! Which places of a pool were written after a new member joined: their columns are on that member already,
//! and need no rebuild.
//!
//! Time is counted in new members. OpenZFS counts it in transaction groups: nothing is missing on a disk of a
//! block that was born after the disk was put in. Source: OpenZFS, vdev.c (dirty time logs) and vdev_raidz.c
//! (`vdev_dtl_contains`).
use super::pages::{PAGE, Pages};
use alloc::vec;
use alloc::vec::Vec;

pub struct Births {
    /// New members so far.
    joins: u16,
    /// By slot: the number of the new member that is in it now.
    joined: Vec<u16>,
    /// By place: how many new members there were when it was last taken.
    born: Pages<[u16; PAGE as usize]>,
}

impl Births {
    pub fn new(members: u64, places: u64) -> Self {
        Births { joins: 0, joined: vec![0; members as usize], born: Pages::new(places) }
    }

    /// A new member takes a slot.
    pub fn join(&mut self, slot: u16) {
        self.joins += 1;
        self.joined[usize::from(slot)] = self.joins;
    }

    /// A place is taken for a write to all members that are present now.
    pub fn take(&mut self, place: u64) {
        if self.joins > 0 {
            let page = self.born.get_or_make(place / PAGE, || [0; PAGE as usize]);
            page[(place % PAGE) as usize] = self.joins;
        }
    }

    /// Whether a place was taken after the member in a slot joined.
    #[inline]
    pub fn taken_after_join(&self, place: u64, slot: u16) -> bool {
        let born = self.born.get(place / PAGE).map_or(0, |page| page[(place % PAGE) as usize]);
        born >= self.joined[usize::from(slot)]
    }
}
