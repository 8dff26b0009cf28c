//! No order but that of arrival; adjacent requests are still merged.
//! Source: the Linux kernel, Documentation/block/switching-sched.rst ("none", formerly "noop").
use super::Policy;
use super::fifo::Fifos;
use super::requests::{Slot, Table};
use drivelab_units::Instant;

pub(super) struct Noop {
    fifo: Fifos<1>,
}

impl Noop {
    pub fn new() -> Self {
        Noop { fifo: Fifos::new() }
    }
}

impl Policy for Noop {
    fn insert(&mut self, _: &Table, slot: Slot, _: Instant) {
        self.fifo.push(0, slot);
    }

    fn remove(&mut self, _: &Table, slot: Slot) {
        self.fifo.remove(0, slot);
    }

    fn moved(&mut self, _: &Table, _: Slot) {}

    fn pick(&mut self, _: &Table, _: Instant) -> Option<Slot> {
        let slot = self.fifo.oldest(0)?;
        self.fifo.remove(0, slot);
        Some(slot)
    }
}
