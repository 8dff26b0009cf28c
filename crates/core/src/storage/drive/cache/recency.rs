//! The order in which the segments of the cache were used: a linked list of their places.
use super::segments::SegmentIndex;
use crate::storage::tree::NONE;
use alloc::vec::Vec;

/// The neighbours of a place in order of use.
#[derive(Clone, Copy)]
struct Links {
    older: SegmentIndex,
    younger: SegmentIndex,
}

/// The places in use, from the least to the most recently used.
pub struct Recency {
    links: Vec<Links>,
    oldest: SegmentIndex,
    youngest: SegmentIndex,
}

impl Default for Recency {
    fn default() -> Self {
        Recency { links: Vec::new(), oldest: NONE, youngest: NONE }
    }
}

impl Recency {
    /// The least recently used place; [`NONE`] where none is in use.
    #[inline]
    pub fn oldest(&self) -> SegmentIndex {
        self.oldest
    }

    /// Adds a place that is not in use yet.
    pub fn add_place(&mut self) {
        self.links.push(Links { older: NONE, younger: NONE });
    }

    /// A place comes into use, as the most recent.
    #[inline]
    pub fn link(&mut self, place: SegmentIndex) {
        let older = self.youngest;
        self.links[place as usize] = Links { older, younger: NONE };
        if older == NONE {
            self.oldest = place;
        } else {
            self.links[older as usize].younger = place;
        }
        self.youngest = place;
    }

    /// A place goes out of use.
    #[inline]
    pub fn unlink(&mut self, place: SegmentIndex) {
        let Links { older, younger } = self.links[place as usize];
        if older == NONE {
            self.oldest = younger;
        } else {
            self.links[older as usize].younger = younger;
        }
        if younger == NONE {
            self.youngest = older;
        } else {
            self.links[younger as usize].older = older;
        }
    }

    /// A place in use has just been used.
    #[inline]
    pub fn touch(&mut self, place: SegmentIndex) {
        if self.youngest != place {
            self.unlink(place);
            self.link(place);
        }
    }
}
