//! Which segments meet a stretch of blocks. A few are found by looking at each; many lie in a grid by address.
use super::grid::Grid;
use super::segments::SegmentIndex;
use alloc::vec::Vec;
use drivelab_units::Lba;

/// What is looked at of a segment: nothing outside is in it. An empty place has `start` behind `limit`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub start: u64,
    pub limit: u64,
}

pub const EMPTY: Bounds = Bounds { start: u64::MAX, limit: 0 };

/// With more segments than this a grid is faster than looking at each.
const FEW: u32 = 64;

pub struct Index {
    bounds: Vec<Bounds>,
    grid: Option<Grid>,
}

impl Index {
    /// For so many segments at most.
    pub fn new(most: u32) -> Self {
        Index { bounds: Vec::new(), grid: (most > FEW).then(Grid::default) }
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
            && let Some(grid) = &mut self.grid
        {
            if old != EMPTY {
                grid.remove(place);
            }
            if bounds != EMPTY {
                grid.insert(place, bounds.start, bounds.limit);
            }
        }
        old
    }

    /// Notes each segment that holds one of the blocks `first .. end`, or reaches just up to `first`: few in order of their
    /// places, of many those that begin lowest first.
    #[inline]
    pub fn meeting(&self, first: Lba, end: Lba, found: &mut Vec<SegmentIndex>) {
        let (first, end) = (first.get(), end.get());
        found.clear();
        match &self.grid {
            Some(grid) => self.meeting_of_many(grid, first, end, found),
            None => {
                // Whether one begins before comes out at random: no branch. As a rule none meets them.
                let meets = |bounds: &Bounds| (bounds.start < end) & (bounds.limit >= first);
                if self.bounds.iter().fold(false, |any, bounds| any | meets(bounds)) {
                    let places = (0..).zip(&self.bounds).filter(|(_, bounds)| meets(bounds));
                    found.extend(places.map(|(place, _)| place));
                }
            }
        }
    }

    #[inline(never)]
    fn meeting_of_many(&self, grid: &Grid, first: u64, end: u64, found: &mut Vec<SegmentIndex>) {
        grid.meeting(first, end, |place, _, _| found.push(place));
        if found.len() > 1 {
            found.sort_unstable_by_key(|&place| (self.get(place).start, place));
        }
    }
}
