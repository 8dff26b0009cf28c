//! Cleaning: extents of the media cache are merged into their band, which is read and written as a whole.
//!
//! The band that has waited longest is next. A merge first gathers up to so many of the band's extents from the media
//! cache, in the order of their places there, then reads the band and writes it with them; only then does the map drop
//! those that the host has not replaced meanwhile. A band that was begun by a stream and left is closed the same way: its
//! rest is read and written.
use super::map::{Extent, Map};
use super::params::ShingledParams;
use crate::command::Access;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

/// Sectors of a band that are read or written at a time: between two of them a slice may end. A choice of the model.
const CHUNK: Sectors = Sectors::new(4_096);

/// What a merge does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Reads this one of the extents gathered.
    Gather(usize),
    /// Reads the band from this sector on.
    Read(Lba),
    /// Writes the band from this sector on.
    Write(Lba),
}

/// A band in work.
#[derive(Clone, Copy)]
struct Merge {
    first: Lba,
    end: Lba,
    step: Step,
}

/// The bands that wait, and the one in work.
#[derive(Clone)]
pub struct Cleaning {
    /// Bands that something of is in the media cache, in the order in which they began to have that. One that was
    /// overwritten since keeps its place until its turn comes.
    waiting: VecDeque<u32>,
    is_waiting: Box<[bool]>,
    merge: Option<Merge>,
    /// The extents that the merge takes, in the order of their places.
    gathered: Vec<Extent>,
    /// Merges of bands since the start.
    pub merges: u64,
}

impl Cleaning {
    pub fn new(bands: usize) -> Self {
        let is_waiting = alloc::vec![false; bands].into();
        Cleaning { waiting: VecDeque::new(), is_waiting, merge: None, gathered: Vec::new(), merges: 0 }
    }

    /// Something of this band is now in the media cache.
    pub fn note(&mut self, band: u32) {
        if !core::mem::replace(&mut self.is_waiting[band as usize], true) {
            self.waiting.push_back(band);
        }
    }

    /// Whether a band is in work.
    pub fn is_at_work(&self) -> bool {
        self.merge.is_some()
    }

    /// Takes up the next band. Returns whether there is one.
    pub fn begin(&mut self, map: &Map, params: &ShingledParams, capacity: Lba) -> bool {
        while let Some(&band) = self.waiting.front() {
            if map.is_clean(band) {
                self.waiting.pop_front();
                self.is_waiting[band as usize] = false;
                continue;
            }
            let (first, end) = map.range(band);
            self.gathered.clear();
            self.gathered.extend(map.of_band(first).take(params.merged_extents as usize));
            self.gathered.sort_unstable_by_key(|extent| extent.at);
            self.take_up(Lba::new(first), Lba::new(end).min(capacity), Step::Gather(0));
            return true;
        }
        false
    }

    /// Takes up the rest of a band that a stream has left at `first`.
    pub fn close(&mut self, first: Lba, end: Lba) {
        self.gathered.clear();
        self.take_up(first, end, Step::Read(first));
    }

    fn take_up(&mut self, first: Lba, end: Lba, step: Step) {
        self.merge = Some(Merge { first, end, step });
        self.merges += 1;
    }

    /// Whether the band that ends here is in work.
    pub fn works_on(&self, band_end: Lba) -> bool {
        self.merge.is_some_and(|merge| merge.end == band_end)
    }

    /// The next access of the band in work, on the media. `None` when all are done.
    pub fn next_access(&mut self) -> Option<(Lba, Lba, Access)> {
        let Merge { first, end, step } = self.merge.as_mut()?;
        if let Step::Gather(next) = step {
            if let Some(extent) = self.gathered.get(*next) {
                *next += 1;
                let (at, count) = (Lba::new(extent.at), Sectors::new(extent.end - extent.first));
                return Some((at, at + count, Access::Read));
            }
            *step = Step::Read(*first);
        }
        if *step == Step::Read(*end) {
            *step = Step::Write(*first);
        }
        let (from, access) = match step {
            Step::Read(from) => (from, Access::Read),
            Step::Write(from) if from < end => (from, Access::Write),
            Step::Gather(_) | Step::Write(_) => return None,
        };
        let begun = *from;
        *from = (begun + CHUNK).min(*end);
        Some((begun, *from, access))
    }

    /// When all accesses of a merge are done, the map drops what was merged.
    pub fn end_if_done(&mut self, map: &mut Map) {
        if self.merge.is_some_and(|merge| merge.step == Step::Write(merge.end)) {
            self.merge = None;
            self.gathered.iter().for_each(|extent| map.remove_unchanged(extent.first, extent.end, extent.at));
        }
    }
}
