//! A flash drive: dies that read and program independently of each other, and the buffer for written data before them.
//!
//! This is a model of first order. The die of a read follows from its address alone, as if data had been written at random
//! places; programs go to the dies in turn. A die serves one after the other what it is given. Nothing is known here of wear,
//! of the collection of garbage, or of programs that are suspended for a read.
//!
//! Instants are given in and out; the drive's paths of commands are in `../flashing.rs`.
pub mod params;
mod placement;
mod read_ahead;
mod write_buffer;

use super::cache::dirty::DirtyPiece;
use crate::command::{Access, Command};
use crate::rng::Stream;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
use params::FlashParams;
use placement::{Page, Placement};
use read_ahead::ReadAhead;
use write_buffer::WriteBuffer;

#[derive(Clone, Copy, Default)]
struct Die {
    /// When it has done everything that it was given.
    free: Instant,
    /// When the last of its programs has ended.
    programs_until: Instant,
}

/// When the dies have read what a command asks for, and how long the die took that was last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DiesRead {
    pub done: Instant,
    pub own: Span,
}

impl DiesRead {
    #[inline]
    fn waits_for(&mut self, done: Instant, own: Span) {
        if done > self.done {
            *self = DiesRead { done, own };
        }
    }
}

/// The dies of a flash drive, and what stands before them.
pub(super) struct Flash {
    pub params: FlashParams,
    capacity: Sectors,
    placement: Placement,
    dies: Vec<Die>,
    /// The die of the next program.
    next_die: usize,
    /// When the last program has ended, and with it all before.
    committed: Instant,
    /// Sectors in the fast part of the cells.
    in_slc: u64,
    read_ahead: ReadAhead,
    pub writes: WriteBuffer,
    /// Whether data have come to the dies, or are safe, since the last time the map was saved.
    map_is_dirty: bool,
    /// When the map is saved for which a FLUSH has asked last.
    map_saved: Instant,
}

impl Flash {
    /// The dies of the drive with this index; pages are placed by the stream `drive/<index>/dies`.
    pub fn new(params: FlashParams, capacity: Sectors, index: u16, seed: u64) -> Self {
        let key = Stream::named(seed, &format!("drive/{index}/dies")).bits();
        Flash {
            params,
            capacity,
            placement: Placement::new(&params, key),
            dies: vec![Die::default(); params.dies as usize],
            next_die: 0,
            committed: Instant::ZERO,
            in_slc: 0,
            read_ahead: ReadAhead::new(&params),
            writes: WriteBuffer::new(params.buffer),
            map_is_dirty: false,
            map_saved: Instant::ZERO,
        }
    }

    /// Whether all of these sectors can be had without a die: written data, or pages of a stream.
    pub fn holds(&self, first: Lba, end: Lba) -> bool {
        if self.is_written(first, end) {
            return true;
        }
        let mut all = !self.read_ahead.is_off();
        if all {
            self.placement.pages(first, end, |page| all &= self.read_ahead.there(page).is_some());
        }
        all
    }

    #[inline]
    fn is_written(&self, first: Lba, end: Lba) -> bool {
        !self.writes.is_empty() && self.writes.covers(first, end)
    }

    /// The dies read these sectors, from this instant on; from the dies alone if `from_media` and the buffer does not count as
    /// such.
    #[inline]
    pub fn read(&mut self, (first, end): (Lba, Lba), from: Instant, from_media: bool) -> DiesRead {
        let mut read = DiesRead { done: from, own: Span::ZERO };
        let skips_buffer = from_media && !self.params.is_protected;
        if !skips_buffer && !self.writes.is_empty() {
            // What is still on its way over the link.
            read.done = from.max(self.writes.there(first, end));
            if self.is_written(first, end) {
                return read;
            }
        }
        let Flash { params, placement, dies, read_ahead, capacity, .. } = self;
        if read_ahead.is_off() || from_media {
            placement.pages(first, end, |page| {
                let (there, own) = book(dies, params, page, from);
                read.waits_for(there, own);
            });
            return read;
        }
        let continues = read_ahead.continues(first, end);
        let mut misses = false;
        let mut fetch = |page: Page| {
            if let Some(there) = read_ahead.there(page) {
                return (there, Span::ZERO);
            }
            misses = true;
            let (there, own) = book(dies, params, page, from);
            if continues {
                read_ahead.keep(page, there);
            }
            (there, own)
        };
        placement.pages(first, end, |page| {
            let (there, own) = fetch(page);
            read.waits_for(there, own);
        });
        // Only a read that finds too little reads on: what it fetches then serves those behind it.
        let ahead = (first + params.read_ahead).min(Lba::new(capacity.get()));
        if misses && continues && ahead > end {
            placement.pages(end, ahead, |page| {
                if read_ahead.there(page).is_none() {
                    let (there, _) = book(dies, params, page, from);
                    read_ahead.keep(page, there);
                }
            });
        }
        read
    }

    /// The buffer accepts a write; `dropped` is called for older data that will reach no die.
    pub fn accept(&mut self, piece: DirtyPiece, dropped: impl FnMut(u64, Lba, Sectors)) {
        self.read_ahead.forget(self.placement, piece.first, piece.end);
        self.map_is_dirty |= self.params.is_protected;
        self.writes.accept(piece, dropped);
    }

    /// What a command must wait for, which goes to the media itself: everything accepted before the sequence number that is
    /// returned. `None` if there is nothing to wait for.
    pub fn writes_before(&self, command: &Command) -> Option<u64> {
        let waits = match command.access {
            _ if self.params.is_protected => false,
            Access::Flush => !self.writes.is_empty(),
            Access::Read => command.force_unit_access && self.writes.touches(command.first, command.end()),
            Access::Write => false,
        };
        waits.then(|| self.writes.accepted())
    }

    /// When data that wait are programmed even if they do not fill a program; `None` if none wait.
    pub fn programs_from(&self) -> Option<Instant> {
        self.writes.oldest().map(|piece| piece.since + self.params.idle)
    }

    /// Whether a program may begin: the next die has none, and there are data enough, or they are to go now.
    pub fn may_program(&self, now: Instant, presses: bool) -> bool {
        let waiting = self.writes.waiting();
        let is_due = || self.programs_from().is_some_and(|from| from <= now);
        self.dies[self.next_die].programs_until <= now
            && (waiting >= self.params.program_size.get() || waiting > 0 && (presses || is_due()))
    }

    /// A program begins. Returns when it has ended, and all before it.
    pub fn program(&mut self, now: Instant) -> Instant {
        let (there, sectors) = self.writes.launch(self.params.program_size);
        let took = self.program_time(now, sectors);
        let die = &mut self.dies[self.next_die];
        die.free = die.free.max(now).max(there) + took;
        die.programs_until = die.free;
        self.committed = self.committed.max(die.free);
        self.next_die = (self.next_die + 1) % self.dies.len();
        self.committed
    }

    /// The time of a program of so many sectors: that of the fast part while it has room. An idle drive moves what is there to
    /// the other cells, as fast as its dies program.
    fn program_time(&mut self, now: Instant, sectors: u64) -> Span {
        let Some(slc) = self.params.slc else { return self.params.program };
        let idle = now.since(self.committed);
        if idle >= self.params.idle {
            let whole = u128::from(self.params.program_size.get()) * u128::from(self.params.dies);
            let moved = u128::from(idle.as_ns()) * whole / u128::from(self.params.program.as_ns());
            self.in_slc -= moved.min(u128::from(self.in_slc)) as u64;
        }
        if self.in_slc + sectors > slc.size.get() {
            return self.params.program;
        }
        self.in_slc += sectors;
        slc.program
    }

    /// The oldest program has ended: `persisted` is called for what it has written.
    pub fn land(&mut self, mut persisted: impl FnMut(&DirtyPiece)) {
        let Flash { writes, read_ahead, placement, .. } = self;
        self.map_is_dirty = true;
        writes.land(|piece| {
            // A read beside the program may have kept what was on the die before.
            read_ahead.forget(*placement, piece.first, piece.end);
            persisted(piece);
        });
    }

    /// When the map is saved for a FLUSH that asks for it now: at once if it is as it was, or when it is saved for another.
    pub fn save_map(&mut self, now: Instant) -> Instant {
        if core::mem::take(&mut self.map_is_dirty) {
            self.map_saved = now + self.params.flush;
        }
        now.max(self.map_saved)
    }

    /// After a power cut: the cells hold what they held.
    pub fn restore_after(&mut self, before: &Flash) {
        self.in_slc = before.in_slc;
    }

    /// What a power cut would lose now.
    pub fn volatile(&self) -> impl Iterator<Item = DirtyPiece> + '_ {
        self.writes.pieces().filter(|_| !self.params.is_protected)
    }
}

/// One read of a die: when it is done, and how long it takes.
#[inline]
fn book(dies: &mut [Die], params: &FlashParams, page: Page, from: Instant) -> (Instant, Span) {
    let die = &mut dies[page.die as usize];
    let own = params.read.of(page.kind);
    die.free = die.free.max(from) + own;
    (die.free, own)
}
