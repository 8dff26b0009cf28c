//! The waiting requests with which a command can be merged.
//!
//! A command joins a request of its own kind that ends where it begins, or else one that begins where it
//! ends, unless the two together are larger than the limit. When it closes the gap between two requests, they
//! become one. The kind is what must be equal: access, what a write puts there, initiator, logical unit,
//! priority, force unit access, and the policy's queue. Only simple commands are merged. On either side only
//! the nearest request of the kind is examined, by first address and then by order of admission; so among
//! overlapping reads a neighbour can remain hidden behind another.
//! Source: the Linux kernel, Documentation/block/deadline-iosched.rst, "front_merges", for the two ways to merge.
use super::requests::{NONE, Slot, Table};
use crate::command::{Access, Attribute, Command, Content, Priority};
use crate::storage::tree::Tree;
use drivelab_units::Sectors;

/// What must be equal for two requests to become one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MergeKey {
    queue: u32,
    initiator: u16,
    logical_unit: u16,
    write: bool,
    content: Content,
    force_unit_access: bool,
    /// Its rank, and the nanoseconds of an isochronous one.
    priority: (u8, u64),
}

impl MergeKey {
    fn of(command: &Command, queue: u32) -> Self {
        MergeKey {
            queue,
            initiator: command.initiator,
            logical_unit: command.logical_unit,
            write: command.access == Access::Write,
            content: command.content,
            force_unit_access: command.force_unit_access,
            priority: match command.priority {
                Priority::Normal => (0, 0),
                Priority::Isochronous(within) => (1, within.as_ns()),
                Priority::High => (2, 0),
                Priority::Limited(index) => (3, index.into()),
            },
        }
    }
}

/// The waiting requests of each kind by address.
pub struct Merges {
    limit: Option<Sectors>,
    /// By kind, first address and order of admission.
    tree: Tree<(MergeKey, u64, u64)>,
    root: Slot,
}

impl Merges {
    pub fn new(limit: Option<Sectors>) -> Self {
        Merges { limit, tree: Tree::new(), root: NONE }
    }

    fn mergeable(&self, command: &Command) -> bool {
        self.limit.is_some() && command.attribute == Attribute::Simple
    }

    fn kind(table: &Table, slot: Slot) -> MergeKey {
        MergeKey::of(&table.entry(slot).command, table.request(slot).queue)
    }

    pub fn insert(&mut self, table: &Table, slot: Slot) {
        if self.mergeable(&table.entry(slot).command) {
            let request = table.request(slot);
            let key = (Self::kind(table, slot), request.first.get(), request.admitted);
            self.tree.insert(&mut self.root, slot, key, ());
        }
    }

    pub fn remove(&mut self, table: &Table, slot: Slot) {
        if self.mergeable(&table.entry(slot).command) {
            self.tree.remove(&mut self.root, slot);
        }
    }

    /// The waiting request that ends where this one begins and has room for it.
    pub fn below(&self, table: &Table, slot: Slot) -> Option<Slot> {
        if !self.mergeable(&table.entry(slot).command) {
            return None;
        }
        let (kind, first) = (Self::kind(table, slot), table.request(slot).first);
        let below = self.tree.below(self.root, &(kind, first.get(), 0))?;
        let same = self.tree.node(below).key.0 == kind;
        (same && table.request(below).end == first && self.fits(table, below, slot)).then_some(below)
    }

    /// The waiting request that begins where this one ends and has room for it.
    pub fn above(&self, table: &Table, slot: Slot) -> Option<Slot> {
        if !self.mergeable(&table.entry(slot).command) {
            return None;
        }
        let (kind, end) = (Self::kind(table, slot), table.request(slot).end);
        let above = self.tree.at_or_above(self.root, &(kind, end.get(), 0))?;
        let same = self.tree.node(above).key.0 == kind;
        (same && table.request(above).first == end && self.fits(table, above, slot)).then_some(above)
    }

    fn fits(&self, table: &Table, one: Slot, other: Slot) -> bool {
        let together = table.request(one).size().get() + table.request(other).size().get();
        self.limit.is_some_and(|limit| together <= limit.get())
    }
}
