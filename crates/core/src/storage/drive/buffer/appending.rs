//! Written data as a shingled drive takes them to the media: several runs in one append, and streams to their bands.
use super::super::cache::segment::Motion;
use super::super::shingled::Shingled;
use super::{Buffer, filing};
use crate::storage::drive::cache::dirty::Dirty;
use crate::storage::tree::Slot;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba};

impl Buffer {
    /// Runs of written data that wait for the arm.
    pub fn waiting_runs(&self) -> u32 {
        self.dirty().map_or(0, |dirty| dirty.taken().0 - dirty.flying_runs())
    }

    /// The written data that go straight to a band: a piece, and where its band ends. They are those at which an open stream
    /// goes on, unless a FLUSH waits for others; else those in the run of the oldest piece that begin a band, if as much as
    /// an append takes follows them.
    pub fn stream(&mut self, shingled: &Shingled, motion: Motion<'_>) -> Option<(Slot, Lba)> {
        let dirty = self.cache.as_mut()?.dirty.as_mut()?;
        for (next, end) in shingled.streams() {
            if let Some(slot) =
                dirty.at(next).filter(|&slot| self.waiting.may_destage(dirty.piece(slot).sequence))
            {
                dirty.cut(end, &mut filing(motion));
                return Some((dirty.at(next).unwrap_or(slot), end));
            }
        }
        let (begin, end) = Self::begun_band(dirty, shingled)?;
        for border in [begin, end] {
            dirty.cut(border, &mut filing(motion));
        }
        dirty.at(begin).map(|slot| (slot, end))
    }

    fn begun_band(dirty: &Dirty, shingled: &Shingled) -> Option<(Lba, Lba)> {
        let oldest = dirty.oldest()?;
        let begins = dirty.first_of_run(oldest);
        let (least, first) = (shingled.append_most(), dirty.piece(begins).first);
        let (begin, end) = shingled.band_in(first, dirty.run_end(begins, first + least))?;
        let is_long = dirty.run_end(begins, begin + least) >= (begin + least).min(end);
        (is_long && shingled.may_open(end)).then_some((begin, end))
    }

    /// The arm starts to append the oldest written data, as many extents as the map takes. None crosses the border of a band,
    /// for what begins there may be a stream. Lists them in `extents`, and returns from when on their data are there; `None`
    /// if nothing waits.
    pub fn launch_append(
        &mut self,
        shingled: &Shingled,
        motion: Motion<'_>,
        extents: &mut Vec<(Lba, Lba)>,
        (now, idle): (Instant, bool),
    ) -> Option<Instant> {
        let dirty = self.cache.as_mut()?.dirty.as_mut()?;
        let (first, there) = (dirty.piece(dirty.oldest()?).first, dirty.piece(dirty.oldest()?).there);
        for border in [shingled.band_end(first), first + shingled.append_most()] {
            dirty.cut(border, &mut filing(motion));
        }
        self.take_arm(idle);
        extents.clear();
        let cache = self.cache.as_mut()?;
        let (most, border) = ((shingled.room(), shingled.append_most()), |first| shingled.band_end(first));
        cache.dirty.as_mut()?.launch_oldest(most, now, border, |first, end| extents.push((first, end)));
        cache.share();
        Some(there.max(now))
    }

    /// The arm starts to clean: the host has the next turn.
    pub fn lend_arm(&mut self) {
        self.turn = super::Turn::Host;
    }
}
