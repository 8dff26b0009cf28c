//! Which segments meet a stretch of sectors. A few are found by a scan; for many there is a grid by address.
use super::grid::Grid;
use super::segments::SegmentIndex;
use alloc::vec::Vec;
use drivelab_units::Lba;

/// The part of a segment that a scan needs: no sector outside is in it. An empty place has `start` after
/// `limit`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub start: u64,
    pub limit: u64,
}

pub const EMPTY: Bounds = Bounds { start: u64::MAX, limit: 0 };

/// With more segments than this a grid is faster than a scan.
const FEW: u32 = 64;

pub struct SegmentRanges {
    bounds: Vec<Bounds>,
    grid: Option<Grid>,
}

impl SegmentRanges {
    /// An index for at most `most` segments.
    pub fn new(most: u32) -> Self {
        SegmentRanges { bounds: Vec::new(), grid: (most > FEW).then(Grid::default) }
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

    /// Collects each segment that holds one of the sectors `first .. end`, or ends just before `first`: from
    /// the scan in order of their places, from the grid those that begin lowest first.
    #[inline]
    pub fn meeting(&self, first: Lba, end: Lba, found: &mut Vec<SegmentIndex>) {
        let (first, end) = (first.get(), end.get());
        found.clear();
        match &self.grid {
            Some(grid) => self.meeting_of_many(grid, first, end, found),
            None => {
                // Which comparison holds is unpredictable: no branch. As a rule no segment meets them.
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
