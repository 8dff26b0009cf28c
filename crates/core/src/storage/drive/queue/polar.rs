//! The entries of a deep queue by angle and cylinder: slices of a revolution, each divided into bands of
//! cylinders.
//!
//! A search visits the slices in the order in which they pass the head. In each it scans only the bands that
//! the arm can have reached by then: an entry elsewhere is missed in this revolution and costs one more. The
//! slice under the head bounds the cost of everything not scanned yet, so the search ends soon after the
//! first entry that is met: of 2 000 entries about ten are scanned, where a walk outward along the cylinders
//! scans a hundred. Nothing allocates.
use super::View;
use super::slots::{Entry, NONE, SlotIndex};
use alloc::vec;
use alloc::vec::Vec;

/// Slices of a revolution, minimum and maximum: in between, one for each 128 entries of a full queue.
const SLICES: (u32, u32) = (64, 512);
/// Bands of cylinders: the bits of a word.
const BANDS: u32 = u64::BITS;

/// Minimum number of arrivals before the bands are refitted.
const FIT_FROM: u32 = 256;

/// Bands of `1 << shift` cylinders from `base` on. All cylinders below belong to the first, all above to the last.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Bands {
    base: u32,
    shift: u32,
}

impl Bands {
    /// The narrowest bands that cover these cylinders.
    fn over(lowest: u32, highest: u32) -> Self {
        let mut shift = 0;
        while (highest - lowest) >> shift >= BANDS {
            shift += 1;
        }
        Bands { base: lowest, shift }
    }

    #[inline]
    fn of(self, cylinder: u32) -> u32 {
        (cylinder.saturating_sub(self.base) >> self.shift).min(BANDS - 1)
    }

    /// The lowest cylinder of any band but the first, or the end of the last.
    #[inline]
    fn lowest(self, band: u32) -> u64 {
        u64::from(self.base) + (u64::from(band) << self.shift)
    }
}

/// Neighbours in a cell.
#[derive(Clone, Copy)]
struct Links {
    previous: SlotIndex,
    next: SlotIndex,
}

/// Cells of a slice and a band, each an unordered linked list through the slots.
pub struct Polar {
    /// The first entry of each cell, slice by slice.
    cells: Vec<SlotIndex>,
    /// By slot; separate from the entries, which are closer together for a shallow queue in this way.
    links: Vec<Links>,
    /// Which bands of each slice have entries.
    filled: Vec<u64>,
    bands: Bands,
    /// Number of its entries, and arrivals until the bands are refitted to them.
    len: u32,
    unfitted: u32,
    /// A slice lasts `1 << slice_shift` nanoseconds.
    slice_shift: u32,
    /// The least of all `longest_wait` values so far: an upper bound of a necessary wait for rotation.
    least_wait: u32,
}

impl Polar {
    pub(super) fn new(depth: u32, cylinders: u32, period: u64) -> Self {
        let slices = (depth / 128).next_power_of_two().clamp(SLICES.0, SLICES.1);
        let mut slice_shift = 0;
        while (period - 1) >> slice_shift >= slices.into() {
            slice_shift += 1;
        }
        Polar {
            cells: vec![NONE; (slices * BANDS) as usize],
            links: vec![Links { previous: NONE, next: NONE }; depth as usize],
            filled: vec![0; slices as usize],
            bands: Bands::over(0, cylinders.max(1) - 1),
            len: 0,
            unfitted: FIT_FROM,
            slice_shift,
            least_wait: u32::MAX,
        }
    }

    pub(super) fn reach(&mut self, slot: SlotIndex) {
        while self.links.len() <= slot as usize {
            self.links.push(Links { previous: NONE, next: NONE });
        }
    }

    /// The slice and the band in which an entry is.
    #[inline]
    fn place(&self, entry: &Entry) -> (usize, u32) {
        ((entry.start >> self.slice_shift) as usize, self.bands.of(entry.cylinder))
    }

    #[inline]
    fn cell(slice: usize, band: u32) -> usize {
        slice * BANDS as usize + band as usize
    }

    pub(super) fn insert(&mut self, slot: SlotIndex, entry: &Entry) {
        self.least_wait = self.least_wait.min(entry.longest_wait);
        (self.len, self.unfitted) = (self.len + 1, self.unfitted.saturating_sub(1));
        self.file(slot, entry);
    }

    fn file(&mut self, slot: SlotIndex, entry: &Entry) {
        let (slice, band) = self.place(entry);
        let cell = Self::cell(slice, band);
        let next = self.cells[cell];
        self.links[slot as usize] = Links { previous: NONE, next };
        if next != NONE {
            self.links[next as usize].previous = slot;
        }
        self.cells[cell] = slot;
        self.filled[slice] |= 1 << band;
    }

    pub(super) fn remove(&mut self, slot: SlotIndex, entry: &Entry) {
        self.len -= 1;
        let Links { previous, next } = self.links[slot as usize];
        if previous == NONE {
            let (slice, band) = self.place(entry);
            self.cells[Self::cell(slice, band)] = next;
            if next == NONE {
                self.filled[slice] &= !(1 << band);
            }
        } else {
            self.links[previous as usize].next = next;
        }
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
    }

    /// The number of entries, if so many have arrived that the bands may no longer fit.
    #[inline]
    pub(super) fn unfitted(&self) -> Option<u32> {
        (self.unfitted == 0).then_some(self.len)
    }

    /// Fits the bands to entries that are between these cylinders except for a few, and files `all` anew if
    /// that changes the bands.
    pub(super) fn fit<'a>(&mut self, between: (u32, u32), all: impl Iterator<Item = (SlotIndex, &'a Entry)>) {
        self.unfitted = self.len.max(FIT_FROM);
        // An eighth wider, so that a few that arrive just outside are distinguished too.
        let (low, high) = between;
        let beside = (high - low) / 16;
        let bands = Bands::over(low.saturating_sub(beside), high + beside);
        let moved = bands.base.abs_diff(self.bands.base) >> bands.shift;
        if bands.shift == self.bands.shift && moved < BANDS / 8 {
            return;
        }
        self.bands = bands;
        self.cells.fill(NONE);
        self.filled.fill(0);
        all.for_each(|(slot, entry)| self.file(slot, entry));
    }

    /// A walk through the slices for one revolution, starting with the one that passes when the arm can first
    /// be at any entry, in `nearest` nanoseconds.
    #[inline]
    pub fn walk<'a>(&'a self, view: &'a View<'a>, nearest: u64) -> Walk<'a> {
        let View { turned, period, arm, .. } = *view;
        let from = turned + nearest;
        let (whole, part) = (from / period * period, from % period);
        let slice = (part >> self.slice_shift) as u32;
        let own = self.bands.of(arm.cylinder);
        let mut walk = Walk {
            polar: self,
            view,
            slice,
            begins: whole + (u64::from(slice) << self.slice_shift),
            left: ((period - 1) >> self.slice_shift) as u32 + 2,
            bands: 1 << own,
            above: Edge { band: own, floor: 0 },
            below: Edge { band: own, floor: 0 },
        };
        walk.above = walk.next_above(own);
        walk.below = walk.next_below(own);
        walk
    }
}

/// The next band on one side that the arm cannot have reached yet, and the least time of a seek to it.
#[derive(Clone, Copy)]
struct Edge {
    band: u32,
    floor: u64,
}

/// A walk through the slices in the order in which they pass.
pub struct Walk<'a> {
    polar: &'a Polar,
    view: &'a View<'a>,
    /// The next slice.
    slice: u32,
    /// When it begins to pass: nanoseconds since the present revolution began.
    begins: u64,
    /// Slices left in the revolution; the first, which is entered in its middle, comes twice.
    left: u32,
    /// The bands that the arm can have reached.
    bands: u64,
    above: Edge,
    below: Edge,
}

impl Walk<'_> {
    /// A lower bound of the time to reach any entry not scanned yet.
    #[inline(always)]
    pub fn bound(&self) -> u64 {
        self.passes().min(self.polar.least_wait.into())
    }

    /// Whether the walk ends undecided: after a revolution, or once an access may have begun in its middle,
    /// from where on the slice no longer bounds the rest.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.left == 0 || self.passes() > self.polar.least_wait.into()
    }

    /// When the next slice passes, relative to now.
    #[inline(always)]
    fn passes(&self) -> u64 {
        self.begins.saturating_sub(self.view.turned)
    }

    /// Scans the next slice; returns the number of its entries.
    #[inline(always)]
    pub fn scan(&mut self, mut offer: impl FnMut(SlotIndex)) -> u32 {
        let polar = self.polar;
        let lasts = 1 << polar.slice_shift;
        let ends = (self.begins + lasts).saturating_sub(self.view.turned);
        while self.above.floor <= ends {
            self.bands |= 1 << self.above.band;
            self.above = self.next_above(self.above.band);
        }
        while self.below.floor <= ends {
            self.bands |= 1 << self.below.band;
            self.below = self.next_below(self.below.band);
        }
        let mut seen = 0;
        let mut bands = polar.filled[self.slice as usize] & self.bands;
        while bands != 0 {
            let mut slot = polar.cells[Polar::cell(self.slice as usize, bands.trailing_zeros())];
            while slot != NONE {
                seen += 1;
                offer(slot);
                slot = polar.links[slot as usize].next;
            }
            bands &= bands - 1;
        }
        (self.slice, self.begins, self.left) = (self.slice + 1, self.begins + lasts, self.left - 1);
        if u64::from(self.slice) << polar.slice_shift >= self.view.period {
            // The last slice of a revolution is shorter.
            self.begins -= (u64::from(self.slice) << polar.slice_shift) - self.view.period;
            self.slice = 0;
        }
        seen
    }

    /// The band above this one.
    #[inline]
    fn next_above(&self, band: u32) -> Edge {
        let band = band + 1;
        if band == BANDS {
            return Edge { band, floor: u64::MAX };
        }
        let nearest = self.polar.bands.lowest(band);
        self.edge(band, nearest.saturating_sub(self.view.arm.cylinder.into()))
    }

    /// The band below this one.
    #[inline]
    fn next_below(&self, band: u32) -> Edge {
        let Some(below) = band.checked_sub(1) else { return Edge { band, floor: u64::MAX } };
        let nearest = self.polar.bands.lowest(band) - 1;
        self.edge(below, u64::from(self.view.arm.cylinder).saturating_sub(nearest))
    }

    #[inline]
    fn edge(&self, band: u32, distance: u64) -> Edge {
        let is_there = distance < self.view.mechanism.seek.cylinders().into();
        Edge { band, floor: if is_there { self.view.floor_beyond(distance as u32) } else { u64::MAX } }
    }
}
