//! Which segments meet a stretch of blocks. A few are found by looking at each; of many, a tree by first block knows how
//! far each subtree reaches.
use super::segments::SegmentIndex;
use crate::storage::tree::{NONE, Slot, Summary, Tree};
use alloc::vec::Vec;
use drivelab_units::Lba;

/// What is looked at of a segment: nothing outside is in it. An empty place has `start` behind `limit`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub start: u64,
    pub limit: u64,
}

pub const EMPTY: Bounds = Bounds { start: u64::MAX, limit: 0 };

/// The farthest limit of a group of segments.
#[derive(Clone, Copy)]
struct Farthest(u64);

impl Summary for Farthest {
    fn join(self, other: Self) -> Self {
        Farthest(self.0.max(other.0))
    }
}

/// With more segments than this the tree is faster than looking at each.
const FEW: u32 = 64;

pub struct Index {
    bounds: Vec<Bounds>,
    tree: Option<Tree<(u64, SegmentIndex), Farthest>>,
    root: Slot,
}

impl Index {
    /// For so many segments at most.
    pub fn new(most: u32) -> Self {
        Index { bounds: Vec::new(), tree: (most > FEW).then(Tree::new), root: NONE }
    }

    #[inline]
    pub fn get(&self, place: SegmentIndex) -> Bounds {
        self.bounds[place as usize]
    }

    /// Sets what a place holds; returns what it held before.
    #[inline]
    pub fn set(&mut self, place: SegmentIndex, bounds: Bounds) -> Bounds {
        while self.bounds.len() <= place as usize {
            self.bounds.push(EMPTY);
        }
        let old = core::mem::replace(&mut self.bounds[place as usize], bounds);
        if old != bounds
            && let Some(tree) = &mut self.tree
        {
            if old != EMPTY {
                tree.remove(&mut self.root, place);
            }
            if bounds != EMPTY {
                tree.insert(&mut self.root, place, (bounds.start, place), Farthest(bounds.limit));
            }
        }
        old
    }

    /// Calls `visit` with each segment that holds one of the blocks `first .. end`, or reaches just up to `first`.
    #[inline]
    pub fn meeting(&self, first: Lba, end: Lba, mut visit: impl FnMut(SegmentIndex)) {
        let (first, end) = (first.get(), end.get());
        match &self.tree {
            Some(tree) => descend(tree, self.root, first, end, &mut visit),
            None => {
                for (place, bounds) in self.bounds.iter().enumerate() {
                    if bounds.start < end && bounds.limit >= first {
                        visit(place as SegmentIndex);
                    }
                }
            }
        }
    }
}

fn descend(
    tree: &Tree<(u64, SegmentIndex), Farthest>,
    at: Slot,
    first: u64,
    end: u64,
    visit: &mut impl FnMut(SegmentIndex),
) {
    if at == NONE {
        return;
    }
    let node = tree.node(at);
    if node.all.0 < first {
        return;
    }
    descend(tree, node.left, first, end, visit);
    if node.key.0 < end {
        if node.own.0 >= first {
            visit(at);
        }
        descend(tree, node.right, first, end, visit);
    }
}
