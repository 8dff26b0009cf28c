//! Requests by address, and a sweep through them: upward from where the last one ended, then again from the
//! lowest. Several sweeps may share one index; each request is in one of them.
use super::requests::{NONE, Slot, Table};
use crate::storage::tree::Tree;

/// By first address, then in order of admission.
pub type Sorted = Tree<(u64, u64)>;

/// One set of requests, and how far upward it has been served.
#[derive(Clone, Copy)]
pub struct Sweep {
    root: Slot,
    /// The address after the last request that was taken.
    position: u64,
}

impl Sweep {
    pub const NEW: Sweep = Sweep { root: NONE, position: 0 };

    pub fn is_empty(&self) -> bool {
        self.root == NONE
    }

    pub fn insert(&mut self, sorted: &mut Sorted, table: &Table, slot: Slot) {
        let request = table.request(slot);
        sorted.insert(&mut self.root, slot, (request.first.get(), request.admitted), ());
    }

    pub fn remove(&mut self, sorted: &mut Sorted, slot: Slot) {
        sorted.remove(&mut self.root, slot);
    }

    /// Removes a request and continues from its end.
    pub fn take(&mut self, sorted: &mut Sorted, table: &Table, slot: Slot) {
        self.remove(sorted, slot);
        self.position = table.request(slot).end.get();
    }

    /// The next request upward.
    pub fn upward(&self, sorted: &Sorted) -> Option<Slot> {
        sorted.at_or_above(self.root, &(self.position, 0))
    }

    /// The next request upward, or the lowest when there is none.
    pub fn next(&self, sorted: &Sorted) -> Option<Slot> {
        self.upward(sorted).or_else(|| sorted.at_or_above(self.root, &(0, 0)))
    }
}
