//! Drive-managed shingled recording: where the host's sectors lie on media whose tracks overlap in bands.
//!
//! Random writes are appended to a media cache, a part of the media that the host does not address, and its [`map`] knows
//! where they are; the rest is in its band, at its own address. Each append is followed by its record for the map. When
//! the drive is idle, or the map or the media cache is full, the firmware cleans: see [`cleaning`]. It does so in slices,
//! between which the host's commands are served; while the map is full, one write is accepted after each. A stream that
//! begins with a band goes straight to it, if it is that of the oldest written data; there are eight at most.
//!
//! What was written is kept through a power cut: data and record of an append are on the media before the host is told so,
//! and a band is written anew without losing its old contents. What is under way at the cut is lost as data, but counts as
//! written in the map: times after it may differ by that. The space of the media cache is counted, not placed: the log goes
//! round, whatever lies there.
//!
//! Sources: A. Aghayev, P. Desnoyers, "Skylight - a window on shingled disk operation", FAST 2015, for the parts; the
//! times follow from the mechanism. Start reading at [`Shingled::read_fragment`], then `shingling.rs` of the drive.
mod cleaning;
mod map;
pub mod params;

use crate::command::Access;
use alloc::vec::Vec;
use cleaning::Cleaning;
use drivelab_units::{Instant, Lba, Sectors};
use map::{Extent, Fragment, Map};
use params::{RECORDS, ShingledParams};

/// Bands that streams may be writing at a time. A choice of the model: no source gives it.
const OPEN_MOST: usize = 8;
/// Extents that writes past the cache may add to a full map: a queue of them. A choice of the model.
const OVERFULL: u32 = 64;
/// Sectors of a record of an append.
const RECORD: u64 = 8;

/// What the arm does for the translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Nothing.
    None,
    /// Data go to the media cache or to their band.
    Destage,
    /// A slice of cleaning.
    Clean,
}

/// A band that a stream is writing.
#[derive(Clone, Copy)]
struct Open {
    next: Lba,
    end: Lba,
}

/// The place of the next append.
#[derive(Clone, Copy)]
struct Log {
    first: u64,
    end: u64,
    next: u64,
    /// Appends so far.
    appends: u64,
}

impl Log {
    /// The place for this many sectors, behind the last append or at the begin again.
    fn place(&self, count: u64) -> u64 {
        if self.next + count <= self.end { self.next } else { self.first }
    }
}

/// The translation of a drive-managed shingled drive.
pub struct Shingled {
    params: ShingledParams,
    /// Sectors that the host can address.
    capacity: Lba,
    map: Map,
    log: Log,
    open: Vec<Open>,
    cleaning: Cleaning,
    pub(super) work: Work,
    /// The extents of the append under way.
    pub(super) extents: Vec<(Lba, Lba)>,
    /// Whether one write may be accepted although the map is full.
    admits_one: bool,
    idle: IdleSince,
}

/// Since when the host has asked for nothing: cleaning does not end it.
#[derive(Clone, Copy)]
struct IdleSince {
    since: Instant,
    cleaned_until: Instant,
}

impl Shingled {
    /// The translation of a new drive of this capacity whose zones hold `held` sectors: the media cache is empty.
    pub(super) fn new(params: ShingledParams, capacity: Sectors, held: Sectors) -> Self {
        let map = Map::new(capacity, params.band);
        let first = held.get() - params.cache.get() + RECORDS;
        Shingled {
            cleaning: Cleaning::new(capacity.get().div_ceil(params.band.get()) as usize),
            log: Log { first, end: held.get(), next: first, appends: 0 },
            capacity: Lba::new(capacity.get()),
            open: Vec::with_capacity(OPEN_MOST),
            map,
            params,
            work: Work::None,
            extents: Vec::new(),
            admits_one: false,
            idle: IdleSince { since: Instant::ZERO, cleaned_until: Instant::ZERO },
        }
    }

    /// Extents in the map, sectors of the media cache in use, and merges of bands so far.
    pub fn state(&self) -> (u32, Sectors, u64) {
        (self.map.entries(), self.map.takes(), self.cleaning.merges)
    }

    /// After a power cut the media hold what they held.
    pub(super) fn restore_after(&mut self, before: &Shingled) {
        self.map = before.map.clone();
        self.log = before.log;
        self.cleaning = before.cleaning.clone();
        self.open.clone_from(&before.open);
    }

    /// The part of a read that lies contiguously on the media from its first sector on.
    pub(super) fn read_fragment(&self, first: Lba, end: Lba) -> Fragment {
        self.map.fragment(first, end)
    }

    /// Whether any of these sectors is in the media cache.
    pub(super) fn is_cached(&self, first: Lba, end: Lba) -> bool {
        let end = end.min(self.capacity);
        if first >= end {
            return false;
        }
        let fragment = self.map.fragment(first, end);
        fragment.cached || fragment.count < end - first
    }
}

/// Appends.
impl Shingled {
    /// How many extents an append may have now; zero where the map or the media cache is full.
    pub(super) fn room(&self) -> u32 {
        let free = self.params.cache.get().saturating_sub(self.map.takes().get() + RECORDS);
        if free < self.params.append() {
            return 0;
        }
        self.params.append_extents.min(self.params.map_entries.saturating_sub(self.map.entries()))
    }

    /// Whether writes past the cache have filled the map beyond its size, so that none may go before cleaning.
    pub(super) fn is_overfull(&self) -> bool {
        self.map.entries() > self.params.map_entries + OVERFULL
    }

    /// Whether a write may be accepted while `runs` extents wait in the cache.
    pub(super) fn admits(&self, runs: u32) -> bool {
        self.admits_one || self.map.entries().saturating_add(runs) < self.params.map_entries
    }

    /// A write was accepted.
    pub(super) fn admitted(&mut self) {
        self.admits_one = false;
    }

    /// Maximum of data that an append writes.
    pub(super) fn append_most(&self) -> Sectors {
        self.params.append_most
    }

    /// Where an append of this much data lies, its overhead included; `None` of more than the media cache holds, which goes
    /// to its bands.
    pub(super) fn append_at(&self, data: Sectors) -> Option<(Lba, Lba)> {
        let count = data.get() + self.params.append_overhead.get();
        let at = self.log.place(count);
        (at + count <= self.log.end).then(|| (Lba::new(at), Lba::new(at + count)))
    }

    /// The place of the record of the last append.
    pub(super) fn record(&self) -> (Lba, Lba) {
        let at = Lba::new(self.log.first - RECORDS + self.log.appends * RECORD % RECORDS);
        (at, at + Sectors::new(RECORD))
    }

    /// These extents are written at the place that [`Self::append_at`] gave. Returns whether that is in the media cache.
    pub(super) fn append(&mut self, extents: &[(Lba, Lba)]) -> bool {
        let data: u64 = extents.iter().map(|&(first, end)| (end - first).get()).sum();
        let Some((at, end)) = self.append_at(Sectors::new(data)) else {
            extents.iter().for_each(|&(first, end)| self.map.remove(first.get(), end.get()));
            return false;
        };
        let mut at = at.get();
        let share = self.params.append_overhead.get() / extents.len().max(1) as u64;
        for &(first, end) in extents {
            let (first, end) = (first.get(), end.get());
            self.map.insert(Extent { first, end, at, takes: end - first + share });
            (self.map.band_of(first)..=self.map.band_of(end - 1)).for_each(|band| self.cleaning.note(band));
            at += end - first;
        }
        self.log.next = end.get();
        self.log.appends += 1;
        true
    }
}

/// Streams.
impl Shingled {
    /// The places at which streams go on, but for the band that is being cleaned.
    pub(super) fn streams(&self) -> impl Iterator<Item = (Lba, Lba)> + '_ {
        let free = self.open.iter().filter(|open| !self.cleaning.works_on(open.end));
        free.map(|open| (open.next, open.end))
    }

    /// The end of a sector's band.
    pub(super) fn band_end(&self, lba: Lba) -> Lba {
        Lba::new(self.map.range(self.map.band_of(lba.get())).1)
    }

    /// Where the band that begins in these sectors begins, and ends: the first one if there are several.
    pub(super) fn band_in(&self, first: Lba, end: Lba) -> Option<(Lba, Lba)> {
        let band = first.get().div_ceil(self.params.band.get());
        let begin = band * self.params.band.get();
        let ends = Lba::new(begin) + self.params.band;
        (begin < end.get()).then_some((Lba::new(begin), ends.min(self.capacity)))
    }

    /// A stream writes these sectors of its band: they are no longer in the media cache.
    pub(super) fn write_stream(&mut self, first: Lba, end: Lba, band_end: Lba) {
        self.map.remove(first.get(), end.get());
        // A band has one stream: what begins it anew takes its place.
        self.open.retain(|open| open.end != band_end);
        if end < band_end {
            self.open.push(Open { next: end, end: band_end });
        }
    }

    /// Whether a further stream may begin, in the band that ends here.
    pub(super) fn may_open(&self, band_end: Lba) -> bool {
        self.open.len() < OPEN_MOST && !self.cleaning.works_on(band_end)
    }
}

/// Cleaning.
impl Shingled {
    /// The arm has done its work. Returns whether data of the cache are now on the media.
    pub(super) fn has_destaged(&mut self) -> bool {
        let work = core::mem::replace(&mut self.work, Work::None);
        self.admits_one |= work == Work::Clean;
        work == Work::Destage
    }

    /// Whether there is anything to clean.
    pub(super) fn is_unclean(&self) -> bool {
        self.cleaning.is_at_work() || self.map.entries() > 0 || !self.open.is_empty()
    }

    /// From when on the drive cleans, where it has had nothing else to do since `quiet` and was asked for nothing since
    /// `asked`.
    pub(super) fn cleans_from(&self, quiet: Instant, asked: Instant) -> Option<Instant> {
        let since = if quiet == self.idle.cleaned_until { self.idle.since } else { quiet };
        self.is_unclean().then(|| since.max(asked) + self.params.idle)
    }

    /// Cleans from `started` on for a slice or until a band is done, with accesses that `access` carries out and whose end it
    /// returns; `idle` when the drive has nothing else to do. Returns the end of the last; `None` if there is nothing to
    /// clean.
    pub(super) fn clean(
        &mut self,
        started: Instant,
        quiet: Instant,
        idle: bool,
        mut access: impl FnMut(Lba, Lba, Access, Instant) -> Instant,
    ) -> Option<Instant> {
        if !self.cleaning.is_at_work() && !self.begin(idle) {
            return None;
        }
        let mut at = started;
        while at.since(started) < self.params.slice
            && let Some((first, end, kind)) = self.cleaning.next_access()
        {
            at = access(first, end, kind, at);
        }
        self.cleaning.end_if_done(&mut self.map);
        if quiet != self.idle.cleaned_until {
            self.idle.since = quiet;
        }
        self.idle.cleaned_until = at;
        self.work = Work::Clean;
        Some(at)
    }

    /// Takes up a band. One that a stream has left is closed when the drive is idle, or when there are too many of them.
    fn begin(&mut self, idle: bool) -> bool {
        if self.open.len() == OPEN_MOST || idle && !self.open.is_empty() {
            let Open { next, end } = self.open.remove(0);
            self.cleaning.close(next, end);
            return true;
        }
        self.cleaning.begin(&self.map, &self.params, self.capacity)
    }
}
