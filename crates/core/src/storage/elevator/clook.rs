//! C-LOOK over block addresses, reads and writes alike: upward from where the last request ended, then again
//! from the lowest. The host does not know cylinders. Desktop and server systems sorted like this before
//! drives had queues.
//! Sources: B. L. Worthington, G. R. Ganger, Y. N. Patt, "Scheduling algorithms for modern disk drives", 1994; M. K.
//! McKusick et al., "The Design and Implementation of the 4.4BSD Operating System", 1996 (the disksort routine).
use super::Policy;
use super::requests::{Slot, Table};
use super::sorted::{Sorted, Sweep};
use drivelab_units::Instant;

pub(super) struct CLook {
    sorted: Sorted,
    sweep: Sweep,
}

impl CLook {
    pub fn new() -> Self {
        CLook { sorted: Sorted::new(), sweep: Sweep::NEW }
    }
}

impl Policy for CLook {
    fn insert(&mut self, table: &Table, slot: Slot, _: Instant) {
        self.sweep.insert(&mut self.sorted, table, slot);
    }

    fn remove(&mut self, _: &Table, slot: Slot) {
        self.sweep.remove(&mut self.sorted, slot);
    }

    fn moved(&mut self, table: &Table, slot: Slot) {
        self.sweep.remove(&mut self.sorted, slot);
        self.sweep.insert(&mut self.sorted, table, slot);
    }

    fn pick(&mut self, table: &Table, _: Instant) -> Option<Slot> {
        let slot = self.sweep.next(&self.sorted)?;
        self.sweep.take(&mut self.sorted, table, slot);
        Some(slot)
    }
}
