//! The drive's cache: segments that reads leave and find, and written data on their way to the media.
//!
//! [`segments`] holds what may be read (`index` finds it; [`grid`] does where there is much), [`segment`] is
//! one stretch of it with the head that may still be reading on behind it, [`dirty`] what is not on the media
//! yet. What the drive does with them is in `destaging` and `service`.
pub mod dirty;
mod filter;
pub(crate) mod grid;
mod index;
pub mod params;
mod recency;
pub(crate) mod segment;
pub(crate) mod segments;

use super::mechanism::Mechanism;
use dirty::Dirty;
use drivelab_units::{Instant, Lba};
use params::CacheParams;
use segment::{Cover, Motion};
use segments::{SegmentIndex, Segments};

/// A drive's cache: segments that keep read data, and written data that wait for the media.
pub struct Cache {
    /// The parameters that it was built with.
    pub params: CacheParams,
    /// The read buffer.
    pub segments: Segments,
    /// Written data; `None` with write-through.
    pub dirty: Option<Dirty>,
}

impl Cache {
    /// The cache of a drive with this mechanism.
    pub fn new(params: &CacheParams, mechanism: &Mechanism, period: u64) -> Self {
        let cylinders = mechanism.geometry.cylinders();
        let write_back = params.for_writes();
        let dirty = write_back.map(|write_back| Dirty::new(&write_back, cylinders, period));
        Cache { params: *params, segments: Segments::new(params), dirty }
    }

    /// What the cache has for a read at `now`, and the segment that has it: the newest data first.
    #[inline]
    pub fn cover(&mut self, first: Lba, end: Lba, now: Instant, motion: Motion<'_>) -> (Cover, SegmentIndex) {
        let written = self.written(first, end, now);
        if written >= end {
            return (Cover::Hit, crate::storage::tree::NONE);
        }
        let found = self.segments.cover(written, end, now, motion);
        if written > first && found.0 == Cover::Miss {
            return (Cover::Partial(written), crate::storage::tree::NONE);
        }
        found
    }

    /// The sector up to which a read is answered by written data that wait.
    #[inline]
    pub fn written(&self, first: Lba, end: Lba, now: Instant) -> Lba {
        match &self.dirty {
            Some(dirty) if !self.params.separate_writes => dirty.held_from(first, end, now),
            _ => first,
        }
    }

    /// Adjusts the room for reads to what written data take.
    #[inline]
    pub fn share(&mut self) {
        if let Some(dirty) = &self.dirty {
            let (segments, sectors) = dirty.taken();
            self.segments.make_room(segments, sectors);
        }
    }
}
