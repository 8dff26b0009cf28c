//! An ordered index over slots: finds the nearest to an address, without a full scan.
//!
//! One [`Tree`] holds the nodes of any number of ordered sets; a set is identified by its root. A slot is in
//! at most one set. Every subtree may carry a summary of its contents. The trees are treaps: ordered by key,
//! and heaps by a fixed pseudo-random number of each slot. Searching, inserting and removing take O(log n)
//! steps whatever the order of arrival. Nodes are allocated only when a slot is used for the first time.
//! Source: C. R. Aragon, R. G. Seidel, "Randomized search trees", 1989.
use alloc::vec::Vec;

/// Index of a slot in the table that the tree indexes.
pub type Slot = u32;

pub const NONE: Slot = Slot::MAX;

/// What is known of a subtree without searching it.
pub trait Summary: Copy {
    /// Whether the summary must be maintained.
    const IS_KEPT: bool = true;

    /// The summary of two groups of entries together, independent of the order of joining.
    fn join(self, other: Self) -> Self;
}

impl Summary for () {
    const IS_KEPT: bool = false;

    #[inline]
    fn join(self, (): ()) {}
}

#[derive(Clone, Copy)]
pub struct Node<K, S> {
    pub key: K,
    pub left: Slot,
    pub right: Slot,
    /// The summary of this entry.
    pub own: S,
    /// The summary of the whole subtree.
    pub all: S,
}

#[derive(Clone)]
pub struct Tree<K, S = ()> {
    nodes: Vec<Node<K, S>>,
    /// Nodes whose summaries are to be updated, from the top down.
    path: Vec<Slot>,
}

/// Where a subtree is attached: one side of a node, or the root.
#[derive(Clone, Copy)]
enum Link {
    Root,
    Left(Slot),
    Right(Slot),
}

impl<K: Ord + Copy, S: Summary> Default for Tree<K, S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Ord + Copy, S: Summary> Tree<K, S> {
    pub fn new() -> Self {
        Tree { nodes: Vec::new(), path: Vec::new() }
    }

    #[inline]
    pub fn node(&self, slot: Slot) -> &Node<K, S> {
        &self.nodes[slot as usize]
    }

    #[inline]
    fn node_mut(&mut self, slot: Slot) -> &mut Node<K, S> {
        &mut self.nodes[slot as usize]
    }

    /// Inserts a slot under a key that is not in the set yet.
    pub fn insert(&mut self, root: &mut Slot, slot: Slot, key: K, own: S) {
        let node = Node { key, left: NONE, right: NONE, own, all: own };
        if slot as usize >= self.nodes.len() {
            self.nodes.resize(slot as usize + 1, node);
        }
        self.nodes[slot as usize] = node;
        let rank_of_slot = rank(slot);
        let (mut at, mut link) = (*root, Link::Root);
        while at != NONE && rank(at) > rank_of_slot {
            let node = self.node_mut(at);
            if S::IS_KEPT {
                node.all = node.all.join(own);
            }
            (link, at) =
                if key < node.key { (Link::Left(at), node.left) } else { (Link::Right(at), node.right) };
        }
        self.attach(root, link, slot);
        self.split(root, at, slot);
    }

    /// Splits a subtree at a slot's key: lower keys go to the slot's left, the rest to its right.
    fn split(&mut self, root: &mut Slot, mut at: Slot, slot: Slot) {
        let key = self.node(slot).key;
        let (mut low, mut high) = (Link::Left(slot), Link::Right(slot));
        self.note(slot);
        while at != NONE {
            self.note(at);
            let Node { key: own, left, right, .. } = *self.node(at);
            if own < key {
                self.attach(root, low, at);
                (low, at) = (Link::Right(at), right);
            } else {
                self.attach(root, high, at);
                (high, at) = (Link::Left(at), left);
            }
        }
        self.attach(root, low, NONE);
        self.attach(root, high, NONE);
        self.sum_up();
    }

    /// Removes a slot from its set.
    pub fn remove(&mut self, root: &mut Slot, slot: Slot) {
        let key = self.node(slot).key;
        let (mut at, mut link) = (*root, Link::Root);
        while at != slot {
            assert!(at != NONE, "the slot is in this set");
            self.note(at);
            let node = self.node(at);
            (link, at) =
                if key < node.key { (Link::Left(at), node.left) } else { (Link::Right(at), node.right) };
        }
        let Node { left, right, .. } = *self.node(slot);
        self.join(root, link, left, right);
    }

    /// Joins two subtrees into one; every key of the first is below every key of the second.
    fn join(&mut self, root: &mut Slot, mut link: Link, mut low: Slot, mut high: Slot) {
        while low != NONE && high != NONE {
            if rank(low) > rank(high) {
                self.note(low);
                self.attach(root, link, low);
                (link, low) = (Link::Right(low), self.node(low).right);
            } else {
                self.note(high);
                self.attach(root, link, high);
                (link, high) = (Link::Left(high), self.node(high).left);
            }
        }
        self.attach(root, link, if low == NONE { high } else { low });
        self.sum_up();
    }

    #[inline]
    fn attach(&mut self, root: &mut Slot, link: Link, slot: Slot) {
        match link {
            Link::Root => *root = slot,
            Link::Left(at) => self.node_mut(at).left = slot,
            Link::Right(at) => self.node_mut(at).right = slot,
        }
    }

    /// The summary of this node is to be updated once everything below it has been.
    #[inline]
    fn note(&mut self, at: Slot) {
        if S::IS_KEPT {
            self.path.push(at);
        }
    }

    #[inline]
    fn sum_up(&mut self) {
        if S::IS_KEPT {
            while let Some(at) = self.path.pop() {
                self.sum(at);
            }
        }
    }

    fn sum(&mut self, at: Slot) {
        let Node { left, right, own, .. } = *self.node(at);
        let mut all = own;
        for child in [left, right] {
            if child != NONE {
                all = all.join(self.node(child).all);
            }
        }
        self.node_mut(at).all = all;
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
}

/// A slot's rank in the heap: no two are equal. The last step of MurmurHash3, which is invertible.
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
