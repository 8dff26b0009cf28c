//! An ordered index over slots: what is nearest to an address, without looking at everything.
//!
//! One [`Tree`] holds the nodes of any number of ordered sets; a set is its root. A slot is in one set at most. Every
//! subtree may carry a summary of what is in it. The trees are treaps: ordered by key, and heaps by a number that each
//! slot is given once and for all, which looks random but is not. Searching, inserting and removing take O(log n) steps
//! whatever the order of arrival. Nodes are allocated only when a slot is used for the first time.
//! Source: C. R. Aragon, R. G. Seidel, "Randomized search trees", 1989.
use alloc::vec::Vec;

/// Which slot of the table that the tree is an index of.
pub type Slot = u32;

pub const NONE: Slot = Slot::MAX;

/// What a subtree says of itself without being searched.
pub trait Summary: Copy {
    /// The summary of two groups of entries together.
    fn join(self, other: Self) -> Self;
}

impl Summary for () {
    fn join(self, (): ()) {}
}

#[derive(Clone, Copy)]
pub struct Node<K, S> {
    pub key: K,
    pub left: Slot,
    pub right: Slot,
    /// Of this entry.
    pub own: S,
    /// Of the whole subtree.
    pub all: S,
}

pub struct Tree<K, S = ()> {
    nodes: Vec<Node<K, S>>,
}

impl<K: Ord + Copy, S: Summary> Default for Tree<K, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy, S: Summary> Tree<K, S> {
    pub fn new() -> Self {
        Tree { nodes: Vec::new() }
    }

    #[inline]
    pub fn node(&self, slot: Slot) -> &Node<K, S> {
        &self.nodes[slot as usize]
    }

    #[inline]
    fn node_mut(&mut self, slot: Slot) -> &mut Node<K, S> {
        &mut self.nodes[slot as usize]
    }

    /// Files a slot under a key that nothing in the set has.
    pub fn insert(&mut self, root: &mut Slot, slot: Slot, key: K, own: S) {
        let node = Node { key, left: NONE, right: NONE, own, all: own };
        if slot as usize >= self.nodes.len() {
            self.nodes.resize(slot as usize + 1, node);
        }
        self.nodes[slot as usize] = node;
        *root = self.insert_below(*root, slot);
    }

    /// Takes a slot out of the set that it is in.
    pub fn remove(&mut self, root: &mut Slot, slot: Slot) {
        let key = self.node(slot).key;
        *root = self.remove_below(*root, slot, &key);
    }

    /// The slot with the lowest key that is not below this one.
    #[inline]
    pub fn at_or_above(&self, root: Slot, key: &K) -> Option<Slot> {
        let (mut at, mut found) = (root, NONE);
        while at != NONE {
            let node = self.node(at);
            if node.key >= *key {
                (found, at) = (at, node.left);
            } else {
                at = node.right;
            }
        }
        some(found)
    }

    /// The slot with the highest key below this one.
    #[inline]
    pub fn below(&self, root: Slot, key: &K) -> Option<Slot> {
        let (mut at, mut found) = (root, NONE);
        while at != NONE {
            let node = self.node(at);
            if node.key < *key {
                (found, at) = (at, node.right);
            } else {
                at = node.left;
            }
        }
        some(found)
    }

    /// Returns the new root of the subtree.
    fn insert_below(&mut self, at: Slot, slot: Slot) -> Slot {
        if at == NONE {
            return slot;
        }
        let key = self.node(slot).key;
        if rank(slot) > rank(at) {
            let (left, right) = self.split(at, &key);
            let node = self.node_mut(slot);
            (node.left, node.right) = (left, right);
            return self.summed(slot);
        }
        if key < self.node(at).key {
            let left = self.insert_below(self.node(at).left, slot);
            self.node_mut(at).left = left;
        } else {
            let right = self.insert_below(self.node(at).right, slot);
            self.node_mut(at).right = right;
        }
        self.summed(at)
    }

    fn remove_below(&mut self, at: Slot, slot: Slot, key: &K) -> Slot {
        assert!(at != NONE, "the slot is in this set");
        let Node { left, right, .. } = *self.node(at);
        if at == slot {
            return self.join(left, right);
        }
        if *key < self.node(at).key {
            let left = self.remove_below(left, slot, key);
            self.node_mut(at).left = left;
        } else {
            let right = self.remove_below(right, slot, key);
            self.node_mut(at).right = right;
        }
        self.summed(at)
    }

    /// Cuts a subtree in two: what is below the key, and the rest.
    fn split(&mut self, at: Slot, key: &K) -> (Slot, Slot) {
        if at == NONE {
            return (NONE, NONE);
        }
        if self.node(at).key < *key {
            let (below, rest) = self.split(self.node(at).right, key);
            self.node_mut(at).right = below;
            (self.summed(at), rest)
        } else {
            let (below, rest) = self.split(self.node(at).left, key);
            self.node_mut(at).left = rest;
            (below, self.summed(at))
        }
    }

    /// Makes one subtree of two; every key of the first is below every key of the second.
    fn join(&mut self, low: Slot, high: Slot) -> Slot {
        if low == NONE {
            return high;
        }
        if high == NONE {
            return low;
        }
        if rank(low) > rank(high) {
            let right = self.join(self.node(low).right, high);
            self.node_mut(low).right = right;
            self.summed(low)
        } else {
            let left = self.join(low, self.node(high).left);
            self.node_mut(high).left = left;
            self.summed(high)
        }
    }

    /// Brings a node's summary up to date; returns the node.
    #[inline]
    fn summed(&mut self, at: Slot) -> Slot {
        let Node { left, right, own, .. } = *self.node(at);
        let mut all = own;
        for child in [left, right] {
            if child != NONE {
                all = all.join(self.node(child).all);
            }
        }
        self.node_mut(at).all = all;
        at
    }
}

/// A slot's place in the heap: no two have the same. The last step of MurmurHash3, which has an inverse.
#[inline]
fn rank(slot: Slot) -> u32 {
    let mut mixed = slot.wrapping_add(0x9e37_79b9);
    mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
    mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    mixed ^ (mixed >> 16)
}

#[inline]
pub fn some(slot: Slot) -> Option<Slot> {
    (slot != NONE).then_some(slot)
}
