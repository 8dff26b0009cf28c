//! What must wait because it overlaps an older command.
//!
//! The rule: of two commands that share an address, at least one of them a write, the older is done before the younger
//! goes to the device. The device may then reorder as it likes, and a read still finds what was written before it, and
//! the last of several writes stays. An operating system leaves this to its page cache and its file system; here it is
//! the elevator's guarantee, for every policy. Only a command that is to go ahead of all (head of queue) is exempt from
//! waiting itself. Addresses are places on the device: who asks, and through which logical unit, does not matter.
//!
//! The index holds every request that is not done, reads and writes apart, by first address; each subtree knows how far
//! its requests reach and how old they are. A command that must wait is held by one request, the youngest of those that
//! it waits for, and looks again when that one is done. So each pair of overlapping commands costs one search at most.
use super::requests::{NONE, Slot, Table};
use crate::command::Access;
use crate::target::tree::{Summary, Tree};

/// Of a group of requests: how far they reach, and the orders of arrival of the oldest and the youngest.
#[derive(Clone, Copy)]
struct Extent {
    end: u64,
    oldest: u64,
    youngest: u64,
}

impl Summary for Extent {
    #[inline]
    fn join(self, other: Self) -> Self {
        Extent {
            end: self.end.max(other.end),
            oldest: self.oldest.min(other.oldest),
            youngest: self.youngest.max(other.youngest),
        }
    }
}

/// The addresses of a command, and when it came.
#[derive(Clone, Copy)]
struct Sought {
    first: u64,
    end: u64,
    sequence: u64,
}

pub struct Overlaps {
    /// By first address, then by age.
    tree: Tree<(u64, u64), Extent>,
    reads: Slot,
    writes: Slot,
}

impl Overlaps {
    pub fn new() -> Self {
        Overlaps { tree: Tree::new(), reads: NONE, writes: NONE }
    }

    fn root(&mut self, access: Access) -> (&mut Tree<(u64, u64), Extent>, &mut Slot) {
        match access {
            Access::Read => (&mut self.tree, &mut self.reads),
            Access::Write | Access::Flush => (&mut self.tree, &mut self.writes),
        }
    }

    /// A merged request counts as old as its oldest command. That names no wrong pair: a command that shares addresses
    /// with an older one, a write among them, is held and so not merged before that one is done.
    pub fn insert(&mut self, table: &Table, slot: Slot) {
        let (request, age) = (table.request(slot), table.age(slot));
        let extent = Extent { end: request.end.get(), oldest: age, youngest: age };
        let (tree, root) = self.root(request.access);
        tree.insert(root, slot, (request.first.get(), age), extent);
    }

    pub fn remove(&mut self, table: &Table, slot: Slot) {
        let (tree, root) = self.root(table.request(slot).access);
        tree.remove(root, slot);
    }

    /// The youngest request that this one must wait for.
    pub fn blocker(&self, table: &Table, slot: Slot) -> Option<Slot> {
        let request = table.request(slot);
        let (first, end) = (request.first.get(), request.end.get());
        let sought = Sought { first, end, sequence: table.age(slot) };
        let mut best = None;
        self.search(self.writes, &sought, &mut best);
        if request.access == Access::Write {
            self.search(self.reads, &sought, &mut best);
        }
        best.map(|(_, slot)| slot)
    }

    /// Looks for an older overlapping request that is younger than the best so far.
    fn search(&self, at: Slot, sought: &Sought, best: &mut Option<(u64, Slot)>) {
        if at == NONE {
            return;
        }
        let node = self.tree.node(at);
        let better = |youngest| best.is_none_or(|(found, _)| youngest > found);
        if node.all.end <= sought.first || node.all.oldest >= sought.sequence || !better(node.all.youngest) {
            return;
        }
        let begins_before = node.key.0 < sought.end;
        let age = node.own.youngest;
        if begins_before && node.own.end > sought.first && age < sought.sequence && better(age) {
            *best = Some((age, at));
        }
        // What begins at or above this node's address is to the right.
        let right = if begins_before { node.right } else { NONE };
        // The younger side first: the other one is then often not worth a look.
        let youngest = |slot: Slot| if slot == NONE { 0 } else { self.tree.node(slot).all.youngest };
        let (one, other) =
            if youngest(right) > youngest(node.left) { (right, node.left) } else { (node.left, right) };
        self.search(one, sought, best);
        self.search(other, sought, best);
    }
}
