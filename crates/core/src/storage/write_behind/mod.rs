//! Memory in front of a device that accepts writes and passes them on later: the page cache of a host before
//! its I/O scheduler, or the cache of a RAID controller behind it.
//!
//! - A **write** waits until there is room for it below the limit, first come first served, is copied to
//!   memory, and is done. It replaces older waiting data that it covers and inherits their age.
//! - A **read** whose sectors are all in memory is copied from there. Any other goes to the device as a whole;
//!   the parts that memory has at its arrival are taken from memory, because the device may not have them.
//! - **Flushes** take data to the device, upward by address or the oldest first, adjacent data together. Data
//!   are flushed while more than the background level waits, when they have waited long enough, and while a
//!   command waits for room or for them. Data that are rewritten during their flush stay dirty, and are
//!   flushed again once the older data have arrived.
//! - Commands that must not stay in memory go **through**: `direct` ones past a host's cache, those with
//!   force unit access unless a battery keeps the data, and writes larger than the limit. A read that goes
//!   through first has its sectors flushed. A write that goes through replaces waiting data of its sectors,
//!   once it is done; no two flushes or such writes at the device ever overlap. Memory may also pass every
//!   write through, and keep only what is read.
//! - Before an array with parity flushes are collected by **row** of stripe units: see `collect.rs`. With read-ahead, reads
//!   that are not in memory are fetched by **lines**, and so is what lies ahead of streams: see `lines.rs`.
//! - A **FLUSH** waits until everything that memory accepted before it has been flushed, and goes on to the
//!   device; with a battery memory answers it.
//!
//! Attributes and priorities apply to commands that go through or read past memory; what memory answers is
//! answered in the order of its copies. A failed flush is retried; data that the device never accepts are
//! given up, which is reported, and from then on writes go through: see `failures.rs`. Start reading at
//! [`WriteBehind::submit`], then `flush.rs`.
//! Sources: the Linux kernel, Documentation/admin-guide/sysctl/vm.rst (dirty_bytes, dirty_background_bytes,
//! dirty_expire_centisecs), for the levels; INCITS, "SCSI Block Commands-3" (T10/1799-D), 4.11, for what FUA
//! and SYNCHRONIZE CACHE require of a volatile and a non-volatile cache.
mod ages;
mod buffer_refs;
mod collect;
mod data_ops;
mod extents;
mod failures;
mod flights;
mod flush;
mod lines;
mod memory;
mod own;
pub mod params;
mod pieces;
mod reads;
mod rows;
mod streams;
mod table;
#[cfg(test)]
mod tests;

use super::overlap::Overlaps;
use super::tree::Slot;
use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use alloc::collections::VecDeque;
use data_ops::Data;
use drivelab_units::{Instant, Lba, Sectors};
use extents::{Extent, Extents, Set, State};
use failures::Failures;
pub use failures::GivenUp;
use flights::FlushesInFlight;
use flush::Barriers;
use lines::Lines;
use memory::Memory;
use own::Own;
use params::WriteBehindParams;
pub use pieces::Piece;
use pieces::Pieces;
use table::{CommandEntry, Table};

/// Among the ids that no host uses: buffers that belong to no command.
const COPIES: u64 = 1 << 50;

/// Maximum number of extents in memory: a limit on everything. The tests of this room reach it sooner.
const EXTENTS_MAX: usize = if cfg!(test) { 64 } else { 1 << 22 };

/// Where the memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the host with this number, before its I/O scheduler.
    Host(u16),
    /// On the controller, behind the schedulers of all hosts.
    Controller,
}

/// What the memory answers to above.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answer {
    /// The answer to the command.
    pub completion: Completion,
    /// The command, if memory has answered it and nothing was sent below.
    pub in_memory: Option<Command>,
}

/// A write cache of the host or of a RAID controller: accepts writes at once, and flushes them later.
pub struct WriteBehind {
    params: WriteBehindParams,
    extents: Extents,
    table: Table,
    pieces: Pieces,
    memory: Memory,
    writes: Writes,
    barriers: Barriers,
    /// The sectors of flushes at the device, and of writes that are there or wait for it.
    claims: Overlaps,
    flights: FlushesInFlight,
    failures: Failures,
    lines: Lines,
    /// Incremented with each write that memory accepts and each that claims sectors.
    clock: u64,
    own: Own,
    out: Out,
    data: Data,
}

/// The writes that memory has not accepted yet.
struct Writes {
    /// Writes that wait for room.
    waiting: VecDeque<Slot>,
    /// Sectors of the writes that are being copied.
    reserved: u64,
}

/// The outputs in both directions.
struct Out {
    below: VecDeque<Command>,
    answers: VecDeque<Answer>,
}

impl WriteBehind {
    /// # Panics
    /// When the parameters contradict each other: see [`WriteBehindParams::check`].
    pub fn new(params: &WriteBehindParams, place: Place) -> Self {
        if let Err(error) = params.check() {
            panic!("{error}");
        }
        WriteBehind {
            params: *params,
            extents: Extents::new(params.stripe),
            table: Table::default(),
            pieces: Pieces::new(),
            memory: Memory::new(params),
            writes: Writes { waiting: VecDeque::with_capacity(64), reserved: 0 },
            barriers: Barriers::default(),
            claims: Overlaps::new(),
            flights: FlushesInFlight::with_capacity(params.outstanding),
            failures: Failures::default(),
            lines: Lines::new(params.read_ahead.as_ref()),
            // Age 0 is reserved for data that a command waits for: see `flush::DEMANDED`.
            clock: 1,
            own: Own::new(place),
            out: Out { below: VecDeque::with_capacity(64), answers: VecDeque::with_capacity(64) },
            data: Data::new(own::first_copy(place)),
        }
    }

    /// Accepts a command from above.
    pub fn submit(&mut self, now: Instant, command: &Command) {
        let slot = self.table.add(CommandEntry::new(command, now));
        match command.access {
            Access::Flush if self.answers_flushes() => self.copy(now, slot),
            Access::Flush => self.wait_for_flushes(slot),
            Access::Read if self.bypasses(command) => self.read_through(slot),
            Access::Read => self.read(now, slot),
            Access::Write if self.bypasses(command) => self.write_through(slot),
            Access::Write => self.writes.waiting.push_back(slot),
        }
        self.pump(now);
    }

    fn bypasses(&self, command: &Command) -> bool {
        let WriteBehindParams { limit, write_through, .. } = self.params;
        let write_through = write_through || self.takes_no_writes();
        let past = command.direct && matches!(self.own.place(), Place::Host(_));
        let forced = command.force_unit_access && !self.answers_flushes();
        past || forced || command.access == Access::Write && (write_through || command.count > limit)
    }

    /// Whether memory itself answers FLUSHes: everything that it has answered survives a power cut.
    fn answers_flushes(&self) -> bool {
        self.keeps_data() && !self.takes_no_writes()
    }

    /// Whether what it has answered survives a power cut.
    fn keeps_data(&self) -> bool {
        self.params.battery && !self.params.write_through
    }

    /// To be called at each instant given by [`Self::next_copy`] and [`Self::next_flush`]; an extra call
    /// changes nothing.
    pub fn tick(&mut self, now: Instant) {
        while let Some(slot) = self.memory.done(now) {
            let entry = self.table.get(slot);
            if entry.parts > 0 {
                self.end_part(now, slot, 1);
                continue;
            }
            let access = entry.command.access;
            if access == Access::Write {
                self.take(now, slot);
            }
            match self.failures.take_flush_error(access == Access::Flush) {
                Some(outcome) => self.fail(now, slot, outcome),
                None => self.answer_from_memory(now, slot),
            }
        }
        self.pump(now);
    }

    /// When the next copy is done.
    pub fn next_copy(&self) -> Option<Instant> {
        self.memory.next_done()
    }

    /// The next command for the device. Its tag is the memory's own.
    pub fn poll_below(&mut self) -> Option<Command> {
        self.out.below.pop_front()
    }

    /// The next answer to above.
    pub fn poll_answer(&mut self) -> Option<Answer> {
        self.out.answers.pop_front()
    }

    /// The device has completed a command.
    pub fn completed(&mut self, now: Instant, completion: &Completion) {
        let slot = completion.tag;
        let (entry, outcome) = (self.table.get(slot), completion.outcome);
        let done = outcome == Outcome::Done;
        match entry.command.access {
            // A flush of another cache above this one carries none of this one's data.
            Access::Write if !entry.pieces.is_empty() => {
                self.land(now, slot, outcome);
                return self.pump(now);
            }
            Access::Write => self.written_through(slot, done),
            Access::Read if self.has_issued(entry.command.id) => {
                self.line_came(now, slot, completion);
                return self.pump(now);
            }
            Access::Read => self.read_done(slot, done),
            Access::Flush => {}
        }
        let entry = self.table.get(slot);
        let (submitted, Command { id, initiator, tag, .. }) = (entry.submitted, entry.command);
        let mut breakdown = completion.breakdown;
        breakdown.queue += completion.submitted - submitted;
        self.table.free(slot);
        let completion = Completion { id, initiator, tag, submitted, breakdown, ..*completion };
        self.out.answers.push_back(Answer { completion, in_memory: None });
        self.pump(now);
    }

    /// The copy of a command is done, and so is the command.
    fn answer_from_memory(&mut self, now: Instant, slot: Slot) {
        let entry = self.table.get(slot);
        let (command, submitted, overhead, way) = (entry.command, entry.submitted, entry.copy, entry.way);
        let Command { id, initiator, tag, .. } = command;
        let (outcome, completed) = (Outcome::Done, now);
        let mut breakdown = Breakdown { overhead, ..Breakdown::default() };
        breakdown.queue = (now - submitted) - overhead - way.total();
        breakdown.add(&way);
        self.table.free(slot);
        let completion = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
        self.out.answers.push_back(Answer { completion, in_memory: Some(command) });
    }

    /// A command ends without having been served.
    fn fail(&mut self, now: Instant, slot: Slot, outcome: Outcome) {
        let entry = self.table.get(slot);
        let (submitted, command) = (entry.submitted, entry.command);
        let Command { id, initiator, tag, .. } = command;
        let breakdown = Breakdown { queue: now - submitted, ..Breakdown::default() };
        self.table.free(slot);
        let completion = Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown };
        self.out.answers.push_back(Answer { completion, in_memory: Some(command) });
    }

    fn copy(&mut self, now: Instant, slot: Slot) {
        let count = self.table.get(slot).command.count;
        self.table.get_mut(slot).copy = self.memory.copy(now, slot, count);
    }

    /// A command goes to the device.
    fn send(&mut self, slot: Slot) {
        let command = self.table.get(slot).command;
        // A memory with a battery answers a FLUSH by itself, so data that it does not keep must not stay in a
        // cache below either.
        let WriteBehindParams { battery, force_unit_access, .. } = self.params;
        let forced = battery && force_unit_access && command.access == Access::Write;
        let force_unit_access = command.force_unit_access || forced;
        self.out.below.push_back(Command { tag: slot, force_unit_access, ..command });
    }

    /// Memory accepts a write's data.
    fn take(&mut self, now: Instant, slot: Slot) {
        let Command { id, first, count, .. } = self.table.get(slot).command;
        let (end, version) = (first + count, self.tick_clock());
        self.writes.reserved -= count.get();
        let (mut age, mut since) = (version, now);
        self.extents.carve(first, end, |extent| {
            if extent.state.is_unsent() {
                (age, since) = (age.min(extent.age), since.min(extent.since));
            }
            true
        });
        self.unblock(first, end);
        let (command, tries, mut first) = (id, 0, first);
        // An extent never crosses the boundary between two rows of an array.
        while first < end {
            let last = self.extents.row_end(first).min(end);
            let state = if self.is_claimed(first, last) { State::Behind } else { State::Dirty };
            self.extents.insert(Extent { first, end: last, command, version, age, since, tries, state });
            if let Some(rows) = self.extents.rows_mut() {
                rows.touch(first, now);
            }
            first = last;
        }
    }

    fn tick_clock(&mut self) -> u64 {
        let clock = self.clock;
        self.clock += 1;
        clock
    }

    /// Makes room for `count` sectors as one more extent, or one per row. Returns whether there is room.
    fn make_room(&mut self, count: u64) -> bool {
        let rows = self.params.stripe.map_or(0, |stripe| count / stripe.get() + 1);
        let fits = |cache: &Self| {
            // Accepting a write splits at most one extent, and a flush one more.
            let extents = cache.extents.held() + rows as usize + 3;
            cache.used().get() + count <= cache.params.size.get() && extents <= EXTENTS_MAX
        };
        while !fits(self) {
            let Some(oldest) = self.extents.oldest(Set::Clean) else { return false };
            self.extents.remove(oldest);
        }
        true
    }

    /// Data that memory has accepted and the device does not have, including those being flushed.
    pub fn dirty(&self) -> Sectors {
        Sectors::new(self.extents.unsent() + self.flights.sectors())
    }

    /// Memory in use, including the room reserved for data being copied in.
    pub fn used(&self) -> Sectors {
        Sectors::new(self.dirty().get() + self.writes.reserved + self.extents.kept())
    }

    /// Maximum number of places ever used at once, for commands, for extents, and for the pieces of flushes:
    /// this many are allocated.
    pub fn places(&self) -> [usize; 3] {
        [self.table.size(), self.extents.places(), self.pieces.places() + self.lines.places()]
    }

    /// Sectors of the rows by which flushes are collected, if they are.
    pub fn row_sectors(&self) -> Option<Sectors> {
        self.params.stripe
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        self.own.place()
    }

    /// Number of flushes at the device.
    pub fn flushing(&self) -> usize {
        self.flights.len()
    }

    /// What a power cut would lose here: data that memory has accepted and the device has not answered,
    /// whether unsent or being flushed.
    pub fn volatile(&self) -> impl Iterator<Item = Piece> + '_ {
        self.unsent().chain(self.sent()).filter(|_| !self.keeps_data())
    }

    fn unsent(&self) -> impl Iterator<Item = Piece> + '_ {
        self.extents.iter().filter(|extent| extent.state.is_unsent()).map(|extent| {
            let &Extent { command: write, first, .. } = extent;
            Piece { write, first, count: extent.count() }
        })
    }

    fn sent(&self) -> impl Iterator<Item = Piece> + '_ {
        self.flights.iter().flat_map(|slot| self.pieces.iter(self.table.get(slot).pieces))
    }

    /// The writes whose data the flush at the device under this tag carries, upward.
    pub fn carries(&self, tag: u32) -> impl Iterator<Item = Piece> + '_ {
        self.pieces.iter(self.table.get(tag).pieces)
    }

    /// What memory has of these sectors, upward; each piece with the command whose data it is, a write or a
    /// read.
    pub fn held_pieces(&self, first: Lba, end: Lba) -> impl Iterator<Item = Piece> + '_ {
        let there = |extent: &&Extent| !matches!(extent.state, State::Coming(_));
        let extents = self.extents.touching(first, end).map(|slot| self.extents.get(slot));
        extents.filter(there).map(move |extent| {
            let (from, to) = (extent.first.max(first), extent.end.min(end));
            Piece { write: extent.command, first: from, count: to - from }
        })
    }
}
