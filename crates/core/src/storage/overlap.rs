//! Finds the commands that must wait because they overlap older ones.
//!
//! The index holds every command that is not done, reads and writes separately, by first address; each
//! subtree records how far its commands extend and how old they are. A command that must wait is held by one
//! command, the youngest of those that it waits for, and is re-checked when that one is done. So each pair of
//! overlapping commands costs at most one search.
use super::tree::{NONE, Slot, Summary, Tree};
use drivelab_units::Lba;

/// For a group of commands: how far they extend, and the arrival numbers of the oldest and the youngest.
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

/// The addresses of a command, and its arrival number.
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

    /// The youngest command that this one must wait for: older, overlapping, and at least one of the two a
    /// write.
    pub fn blocker(&self, claim: &Claim) -> Option<Slot> {
        let mut best = None;
        self.search(self.writes, claim, &mut best);
        if claim.write {
            self.search(self.reads, claim, &mut best);
        }
        best.map(|(_, slot)| slot)
    }

    /// Searches for an older overlapping command that is younger than the best so far.
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
        // Commands that begin at or above this node's address are to the right.
        let right = if begins_before { node.right } else { NONE };
        // The younger side first: the other one then often need not be searched.
        let youngest = |slot: Slot| if slot == NONE { 0 } else { self.tree.node(slot).all.youngest };
        let (one, other) =
            if youngest(right) > youngest(node.left) { (right, node.left) } else { (node.left, right) };
        self.search(one, sought, best);
        self.search(other, sought, best);
    }
}
