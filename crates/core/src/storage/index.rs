//! An ordered index of a very large number of slots: finds the nearest to a key, with few cache misses.
//!
//! A B+ tree: nodes of [`WIDTH`] keys, all entries in the leaves, leaves chained in order. Each set is a
//! separate tree. The leaf that was found last is tried first: what follows is often next to it. A full leaf is
//! split in halves; at the upper end of the set it stays full, so that ascending keys fill their leaves. A nearly
//! empty leaf is joined with a neighbour. Nodes are allocated only while there are more than ever before.
//! For few entries, or where subtrees must carry summaries, see [`tree`](super::tree).
//! Source: D. Comer, "The ubiquitous B-tree", ACM Computing Surveys 11(2), 1979.
use super::tree::{NONE, Slot};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

/// Keys of a node.
const WIDTH: usize = 32;
/// A leaf with fewer entries is joined with a neighbour if both together leave room.
const FEW: usize = WIDTH / 4;
const ROOMY: usize = WIDTH * 3 / 4;
/// Maximum levels above the leaves: more than any set of [`Slot`]s needs, although inner nodes need not be
/// full.
const LEVELS: usize = 16;

struct Leaf {
    len: usize,
    before: u32,
    behind: u32,
    keys: [u64; WIDTH],
    slots: [Slot; WIDTH],
}

struct Inner {
    len: usize,
    /// Lower bounds of the children; that of the first is unused.
    keys: [u64; WIDTH],
    children: [u32; WIDTH],
}

/// The path down to a leaf: at each level the inner node and the index of the child.
type Path = [(u32, usize); LEVELS];

pub struct Index {
    leaves: Vec<Leaf>,
    free_leaves: Vec<u32>,
    inners: Vec<Inner>,
    free_inners: Vec<u32>,
    root: u32,
    /// Levels of inner nodes; with none the root is a leaf.
    levels: usize,
    /// The leaf that was found last: a hint, which is checked. Atomic so that a search may set it.
    last: AtomicU32,
}

/// Inserts an item at an index of the first `len`.
#[inline]
fn put<T: Copy>(items: &mut [T; WIDTH], len: usize, at: usize, item: T) {
    items.copy_within(at..len, at + 1);
    items[at] = item;
}

/// Removes the item at an index of the first `len`.
#[inline]
fn cut<T: Copy>(items: &mut [T; WIDTH], len: usize, at: usize) {
    items.copy_within(at + 1..len, at);
}

impl Index {
    pub fn new() -> Self {
        let mut index = Index {
            leaves: Vec::new(),
            free_leaves: Vec::new(),
            inners: Vec::new(),
            free_inners: Vec::new(),
            root: 0,
            levels: 0,
            last: AtomicU32::new(0),
        };
        index.root = index.add_leaf();
        index
    }

    /// Whether it is empty.
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.levels == 0 && self.leaves[self.root as usize].len == 0
    }

    fn add_leaf(&mut self) -> u32 {
        let leaf = Leaf { len: 0, before: NONE, behind: NONE, keys: [0; WIDTH], slots: [NONE; WIDTH] };
        if let Some(at) = self.free_leaves.pop() {
            self.leaves[at as usize] = leaf;
            return at;
        }
        self.leaves.push(leaf);
        self.leaves.len() as u32 - 1
    }

    fn add_inner(&mut self) -> u32 {
        let inner = Inner { len: 0, keys: [0; WIDTH], children: [NONE; WIDTH] };
        if let Some(at) = self.free_inners.pop() {
            self.inners[at as usize] = inner;
            return at;
        }
        self.inners.push(inner);
        self.inners.len() as u32 - 1
    }

    /// The leaf in which a key is or would be.
    #[inline]
    fn leaf_of(&self, key: u64) -> u32 {
        let last = self.last.load(Ordering::Relaxed);
        let Leaf { len, behind, ref keys, .. } = self.leaves[last as usize];
        // Between two keys of a leaf, or above one of the last leaf.
        let is_there = len > 0 && keys[0] <= key && (behind == NONE || key <= keys[len - 1]);
        if is_there { last } else { self.find_leaf(key) }
    }

    #[inline(never)]
    fn find_leaf(&self, key: u64) -> u32 {
        let mut at = self.root;
        for _ in 0..self.levels {
            let inner = &self.inners[at as usize];
            at = inner.children[inner.keys[1..inner.len].partition_point(|bound| *bound <= key)];
        }
        self.last.store(at, Ordering::Relaxed);
        at
    }

    /// The path to that leaf.
    #[cold]
    fn path_to(&self, key: u64) -> Path {
        let (mut at, mut path) = (self.root, [(NONE, 0); LEVELS]);
        for step in &mut path[..self.levels] {
            let inner = &self.inners[at as usize];
            let child = inner.keys[1..inner.len].partition_point(|bound| *bound <= key);
            *step = (at, child);
            at = inner.children[child];
        }
        path
    }

    /// Inserts a slot under a key that is not in the set yet.
    pub fn insert(&mut self, key: u64, slot: Slot) {
        let at = self.leaf_of(key);
        let leaf = &mut self.leaves[at as usize];
        let place = leaf.keys[..leaf.len].partition_point(|other| *other < key);
        debug_assert!(place == leaf.len || leaf.keys[place] != key, "nothing has this key");
        if leaf.len < WIDTH {
            put(&mut leaf.keys, leaf.len, place, key);
            put(&mut leaf.slots, leaf.len, place, slot);
            leaf.len += 1;
            return;
        }
        let path = self.path_to(key);
        let is_last = self.leaves[at as usize].behind == NONE;
        let stay = if is_last && place == WIDTH { WIDTH } else { WIDTH / 2 };
        let new = self.split_leaf(at, stay);
        let (into, place) =
            if place >= stay && stay < WIDTH || stay == WIDTH { (new, place - stay) } else { (at, place) };
        let leaf = &mut self.leaves[into as usize];
        put(&mut leaf.keys, leaf.len, place, key);
        put(&mut leaf.slots, leaf.len, place, slot);
        leaf.len += 1;
        let bound = self.leaves[new as usize].keys[0];
        self.add_child(&path, self.levels, bound, new);
    }

    /// Moves all but the first `stay` entries of a leaf to a new one after it.
    fn split_leaf(&mut self, at: u32, stay: usize) -> u32 {
        let new = self.add_leaf();
        let old = &mut self.leaves[at as usize];
        let (keys, slots, behind, moved) = (old.keys, old.slots, old.behind, old.len - stay);
        (old.len, old.behind) = (stay, new);
        let leaf = &mut self.leaves[new as usize];
        leaf.keys[..moved].copy_from_slice(&keys[stay..stay + moved]);
        leaf.slots[..moved].copy_from_slice(&slots[stay..stay + moved]);
        (leaf.len, leaf.before, leaf.behind) = (moved, at, behind);
        if behind != NONE {
            self.leaves[behind as usize].before = new;
        }
        new
    }

    /// A node has a new one after it: the inner node above `level` on the path gets it as a child.
    fn add_child(&mut self, path: &Path, level: usize, bound: u64, child: u32) {
        if level == 0 {
            let (old, root) = (self.root, self.add_inner());
            let inner = &mut self.inners[root as usize];
            (inner.len, inner.children[0]) = (2, old);
            (inner.keys[1], inner.children[1]) = (bound, child);
            self.root = root;
            self.levels += 1;
            assert!(self.levels < LEVELS, "no set of slots is so high");
            return;
        }
        let (at, place) = (path[level - 1].0, path[level - 1].1 + 1);
        let inner = &mut self.inners[at as usize];
        if inner.len < WIDTH {
            put(&mut inner.keys, inner.len, place, bound);
            put(&mut inner.children, inner.len, place, child);
            inner.len += 1;
            return;
        }
        let stay = if place == WIDTH { WIDTH } else { WIDTH / 2 };
        let new = self.add_inner();
        let old = &mut self.inners[at as usize];
        let (keys, children, moved) = (old.keys, old.children, old.len - stay);
        old.len = stay;
        let inner = &mut self.inners[new as usize];
        inner.keys[..moved].copy_from_slice(&keys[stay..stay + moved]);
        inner.children[..moved].copy_from_slice(&children[stay..stay + moved]);
        inner.len = moved;
        let (into, place) = if place >= stay { (new, place - stay) } else { (at, place) };
        let inner = &mut self.inners[into as usize];
        put(&mut inner.keys, inner.len, place, bound);
        put(&mut inner.children, inner.len, place, child);
        inner.len += 1;
        let lowest = self.inners[new as usize].keys[0];
        self.add_child(path, level - 1, lowest, new);
    }

    /// Removes the entry with this key.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&mut self, key: u64) {
        let at = self.leaf_of(key);
        let leaf = &mut self.leaves[at as usize];
        let place = leaf.keys[..leaf.len].partition_point(|other| *other < key);
        assert!(place < leaf.len && leaf.keys[place] == key, "the key is in this set");
        cut(&mut leaf.keys, leaf.len, place);
        cut(&mut leaf.slots, leaf.len, place);
        leaf.len -= 1;
        if leaf.len >= FEW || self.levels == 0 {
            return;
        }
        let path = self.path_to(key);
        let (above, child) = path[self.levels - 1];
        let inner = &self.inners[above as usize];
        let (len, left, right) = (inner.len, child.checked_sub(1), child + 1);
        let joined = |index: &Self, other: usize| {
            let other = &index.leaves[index.inners[above as usize].children[other] as usize];
            other.len + index.leaves[at as usize].len <= ROOMY
        };
        if right < len && joined(self, right) {
            self.join(above, child, right);
            self.drop_child(&path, self.levels, right);
        } else if let Some(left) = left.filter(|&left| joined(self, left)) {
            self.join(above, left, child);
            self.drop_child(&path, self.levels, child);
        } else if self.leaves[at as usize].len == 0 {
            self.unlink(at);
            self.drop_child(&path, self.levels, child);
        }
    }

    /// Moves the entries of one leaf of an inner node to the end of its left neighbour.
    fn join(&mut self, above: u32, left: usize, right: usize) {
        let inner = &self.inners[above as usize];
        let (left, right) = (inner.children[left], inner.children[right]);
        let from = &self.leaves[right as usize];
        let (keys, slots, moved) = (from.keys, from.slots, from.len);
        let to = &mut self.leaves[left as usize];
        to.keys[to.len..to.len + moved].copy_from_slice(&keys[..moved]);
        to.slots[to.len..to.len + moved].copy_from_slice(&slots[..moved]);
        to.len += moved;
        self.unlink(right);
    }

    /// Removes a leaf from the chain and frees its place.
    fn unlink(&mut self, at: u32) {
        let leaf = &mut self.leaves[at as usize];
        let (before, behind) = (leaf.before, leaf.behind);
        leaf.len = 0;
        if before != NONE {
            self.leaves[before as usize].behind = behind;
        }
        if behind != NONE {
            self.leaves[behind as usize].before = before;
        }
        self.free_leaves.push(at);
    }

    /// A child of the inner node above `level` has been removed.
    fn drop_child(&mut self, path: &Path, level: usize, child: usize) {
        let at = path[level - 1].0;
        let inner = &mut self.inners[at as usize];
        cut(&mut inner.keys, inner.len, child);
        cut(&mut inner.children, inner.len, child);
        inner.len -= 1;
        if inner.len == 0 {
            self.free_inners.push(at);
            // The root has at least two children.
            return self.drop_child(path, level - 1, path[level - 2].1);
        }
        while self.levels > 0 && self.inners[self.root as usize].len == 1 {
            let only = self.inners[self.root as usize].children[0];
            self.free_inners.push(self.root);
            (self.root, self.levels) = (only, self.levels - 1);
        }
    }

    /// The slot with the lowest key.
    #[inline]
    pub fn first(&self) -> Option<Slot> {
        let mut at = self.root;
        for _ in 0..self.levels {
            at = self.inners[at as usize].children[0];
        }
        let leaf = &self.leaves[at as usize];
        (leaf.len > 0).then(|| leaf.slots[0])
    }

    /// The slot with the lowest key that is not below this one.
    #[inline]
    pub fn at_or_above(&self, key: u64) -> Option<Slot> {
        let leaf = &self.leaves[self.leaf_of(key) as usize];
        let place = leaf.keys[..leaf.len].partition_point(|other| *other < key);
        if place < leaf.len {
            return Some(leaf.slots[place]);
        }
        // Among several leaves none is empty.
        (leaf.behind != NONE).then(|| self.leaves[leaf.behind as usize].slots[0])
    }

    /// The slot with the highest key below this one.
    #[inline]
    pub fn below(&self, key: u64) -> Option<Slot> {
        let leaf = &self.leaves[self.leaf_of(key) as usize];
        let place = leaf.keys[..leaf.len].partition_point(|other| *other < key);
        if place > 0 {
            return Some(leaf.slots[place - 1]);
        }
        let before = (leaf.before != NONE).then(|| &self.leaves[leaf.before as usize])?;
        Some(before.slots[before.len - 1])
    }

    /// Maximum number of leaves ever used at once.
    #[cfg(test)]
    fn leaves(&self) -> usize {
        self.leaves.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    /// Compares the answers of both about everything near a key.
    fn agree(index: &Index, map: &BTreeMap<u64, Slot>, key: u64) {
        assert_eq!(index.is_empty(), map.is_empty());
        assert_eq!(index.first(), map.values().next().copied());
        assert_eq!(index.at_or_above(key), map.range(key..).next().map(|(_, &slot)| slot));
        assert_eq!(index.below(key), map.range(..key).next_back().map(|(_, &slot)| slot));
    }

    proptest! {
        /// Keys from a few ranges, so that the same ones are inserted and removed again and again.
        #[test]
        fn it_is_an_ordered_map(
            steps in proptest::collection::vec((0u64..3, 0u64..400, any::<u64>()), 1..4_000),
            drains in any::<bool>(),
        ) {
            let (mut index, mut map) = (Index::new(), BTreeMap::new());
            for (at, &(kind, key, probe)) in steps.iter().enumerate() {
                match (map.contains_key(&key), kind) {
                    (true, 1..) => {
                        index.remove(key);
                        map.remove(&key);
                    }
                    (false, ..2) => {
                        index.insert(key, at as Slot);
                        map.insert(key, at as Slot);
                    }
                    _ => {}
                }
                agree(&index, &map, probe % 402);
                agree(&index, &map, key);
            }
            if drains {
                for key in map.keys().copied().collect::<Vec<_>>() {
                    index.remove(key);
                    map.remove(&key);
                    agree(&index, &map, key);
                }
            }
        }
    }

    #[test]
    fn a_large_one_is_an_ordered_map_in_every_order_of_arrival() {
        let count = 60_000u64;
        for step in [1, count - 1, 7_919, 30_011] {
            let keys = || (0..count).map(move |i| i * step % count);
            let (mut index, mut map) = (Index::new(), BTreeMap::new());
            for key in keys() {
                index.insert(key, key as Slot);
                map.insert(key, key as Slot);
                agree(&index, &map, key * 31 % count);
            }
            for key in keys().filter(|key| key % 3 != 1) {
                index.remove(key);
                map.remove(&key);
                agree(&index, &map, key * 17 % count);
            }
            for key in keys().filter(|key| key % 3 == 1) {
                index.remove(key);
                map.remove(&key);
                agree(&index, &map, key);
            }
            assert_eq!((index.levels, index.is_empty()), (0, true));
        }
    }

    #[test]
    fn keys_in_order_fill_their_leaves_and_those_that_go_give_them_back() {
        let mut index = Index::new();
        let window = 3_200u64;
        for key in 0..100_000u64 {
            index.insert(key, key as Slot);
            if key >= window {
                index.remove(key - window);
            }
        }
        assert!(index.leaves() <= window as usize / WIDTH + 3, "{} leaves", index.leaves());
        assert_eq!(index.first(), Some(100_000 - window as Slot));
    }
}
