//! What an array does about its members before it serves anybody after a power cut.
//!
//! The same that its timing is simulated for, done to the data at once: a resync computes parity from data and copies the
//! first copy over the others; a bitmap limits that to the regions that were marked.
use super::buffers::Buffers;
use super::consistent::{parity_of, stripes};
use super::media::Media;
use drivelab_core::target::array::Array;
use drivelab_core::target::array::layout::{Held, Layout, Spot};
use drivelab_core::target::array::params::{ArrayParams, Cure};
use std::ops::Range;

/// What there is to recover from, as the power went.
pub struct Cut<'a> {
    pub array: &'a Array,
    /// The data of commands that were under way: what a log has of them.
    pub buffers: &'a Buffers,
    /// With the drives' numbers of before.
    pub media: &'a Media,
}

/// A way of recovery.
pub trait Recovery {
    /// Takes what it needs of what was there when the power went.
    fn look(&mut self, _cut: &Cut<'_>) {}

    /// Puts the members right. `drives` names the drive of each slot that has one.
    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media);
}

/// Whatever is there is taken as it is.
pub struct Nothing;

impl Recovery for Nothing {
    fn recover(&mut self, _: &Layout, _: &[Option<u16>], _: &mut Media) {}
}

/// Everything is made consistent, or of each member only what lies in these sectors.
pub struct Resync {
    pub regions: Option<Vec<Range<u64>>>,
}

impl Resync {
    pub fn all() -> Self {
        Resync { regions: None }
    }

    fn covers(&self, at: u64) -> bool {
        self.regions.as_ref().is_none_or(|regions| regions.iter().any(|region| region.contains(&at)))
    }
}

impl Recovery for Resync {
    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media) {
        match layout {
            Layout::Copied(copied) => {
                for (slot, drive) in (0..).zip(drives) {
                    let Some(drive) = *drive else { continue };
                    for at in media.touched(drive).into_iter().filter(|&at| self.covers(at)) {
                        let (Held::Data { first, .. }, _) = copied.held(Spot { slot, at }) else { continue };
                        let piece = copied.piece(first, first + 1);
                        let spots = (0..copied.copies()).map(|copy| copied.spot(&piece, copy));
                        let there: Vec<(u16, u64)> = spots
                            .filter_map(|spot| Some((drives[usize::from(spot.slot)]?, spot.at)))
                            .collect();
                        let right = media.get(there[0].0, there[0].1);
                        there[1..].iter().for_each(|&(drive, at)| media.set(drive, at, right));
                    }
                }
            }
            Layout::Rows(rows) => {
                for stripe in stripes(rows, drives, media).iter().filter(|stripe| self.covers(stripe.at)) {
                    for which in 0..rows.parities() {
                        let Some(drive) = drives[usize::from(rows.parity(stripe.row, which))] else {
                            continue;
                        };
                        if let Some(right) = parity_of(rows, stripe, which, drives, media) {
                            media.set(drive, stripe.at, right);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether the last drive is a journal.
pub fn has_journal(params: &ArrayParams) -> bool {
    params.cure == Cure::Journal
}
