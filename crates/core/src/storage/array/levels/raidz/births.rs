//! Which places of a pool were written since a new member is there: what was has its column on that member already, and
//! nobody need go over it.
//!
//! Time is counted in new members. OpenZFS counts it in transaction groups: of a block that was born after a disk was put
//! in, nothing is missing there. Source: OpenZFS, vdev.c (dirty time logs) and vdev_raidz.c (`vdev_dtl_contains`).
use super::pages::{PAGE, Pages};
use alloc::vec;
use alloc::vec::Vec;

pub struct Births {
    /// New members so far.
    joins: u16,
    /// By slot: which of them is there now.
    joined: Vec<u16>,
    /// By place: how many there were when it was last taken.
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

    /// A place is taken by what is written to all members that there are now.
    pub fn take(&mut self, place: u64) {
        if self.joins > 0 {
            let page = self.born.get_or_make(place / PAGE, || [0; PAGE as usize]);
            page[(place % PAGE) as usize] = self.joins;
        }
    }

    /// Whether a place was taken since the member in a slot came.
    #[inline]
    pub fn knows(&self, place: u64, slot: u16) -> bool {
        let born = self.born.get(place / PAGE).map_or(0, |page| page[(place % PAGE) as usize]);
        born >= self.joined[usize::from(slot)]
    }
}
