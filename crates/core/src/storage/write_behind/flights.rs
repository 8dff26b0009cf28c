//! The flushes at the device, and where the next one upward begins.
use crate::storage::tree::Slot;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

pub struct FlushesInFlight {
    slots: Vec<Slot>,
    /// Sectors in all of them.
    sectors: u64,
    /// The address after the last flush.
    hand: Lba,
}

impl FlushesInFlight {
    /// With capacity for `outstanding` flushes.
    pub fn with_capacity(outstanding: u32) -> Self {
        FlushesInFlight { slots: Vec::with_capacity(outstanding as usize), sectors: 0, hand: Lba::ZERO }
    }

    /// A flush of these sectors goes to the device.
    pub fn begin(&mut self, flush: Slot, first: Lba, end: Lba) {
        self.slots.push(flush);
        self.sectors += (end - first).get();
        self.hand = end;
    }

    /// A flush of `count` sectors is done, or has failed.
    pub fn end(&mut self, flush: Slot, count: Sectors) {
        self.slots.retain(|&flight| flight != flush);
        self.sectors -= count.get();
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// In the order in which they were sent.
    pub fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slots.iter().copied()
    }

    /// Sectors in all of them.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The address after the last flush.
    pub fn position(&self) -> Lba {
        self.hand
    }
}
