//! What must wait because it overlaps something older.
//!
//! The index holds every command that is not done, reads and writes apart, by first address; each subtree knows how far
//! its commands reach and how old they are. A command that must wait is held by one command, the youngest of those that
//! it waits for, and looks again when that one is done. So each pair of overlapping commands costs one search at most.
use super::tree::{NONE, Slot, Summary, Tree};
use drivelab_units::Lba;

/// Of a group of commands: how far they reach, and the orders of arrival of the oldest and the youngest.
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

/// The addresses of a command, and its place in the order of arrival.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub write: bool,
    pub first: Lba,
    pub end: Lba,
    pub age: u64,
}

pub struct Overlaps {
    /// By first address, then by age.
    tree: Tree<(u64, u64), Extent>,
    reads: Slot,
    writes: Slot,
}

impl Default for Overlaps {
    fn default() -> Self {
        Self::new()
    }
}

impl Overlaps {
    pub fn new() -> Self {
        Overlaps { tree: Tree::new(), reads: NONE, writes: NONE }
    }

    fn root(&mut self, write: bool) -> (&mut Tree<(u64, u64), Extent>, &mut Slot) {
        (&mut self.tree, if write { &mut self.writes } else { &mut self.reads })
    }

    pub fn insert(&mut self, slot: Slot, claim: &Claim) {
        let &Claim { write, first, end, age } = claim;
        let extent = Extent { end: end.get(), oldest: age, youngest: age };
        let (tree, root) = self.root(write);
        tree.insert(root, slot, (first.get(), age), extent);
    }

    pub fn remove(&mut self, slot: Slot, write: bool) {
        let (tree, root) = self.root(write);
        tree.remove(root, slot);
    }

    /// The youngest command that this one must wait for: older than it, with addresses in common, a write if it is none.
    pub fn blocker(&self, claim: &Claim) -> Option<Slot> {
        let mut best = None;
        self.search(self.writes, claim, &mut best);
        if claim.write {
            self.search(self.reads, claim, &mut best);
        }
        best.map(|(_, slot)| slot)
    }

    /// Looks for an older overlapping command that is younger than the best so far.
    fn search(&self, at: Slot, sought: &Claim, best: &mut Option<(u64, Slot)>) {
        if at == NONE {
            return;
        }
        let node = self.tree.node(at);
        let better = |youngest| best.is_none_or(|(found, _)| youngest > found);
        if node.all.end <= sought.first.get() || node.all.oldest >= sought.age || !better(node.all.youngest) {
            return;
        }
        let begins_before = node.key.0 < sought.end.get();
        let age = node.own.youngest;
        if begins_before && node.own.end > sought.first.get() && age < sought.age && better(age) {
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
