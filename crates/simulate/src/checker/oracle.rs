//! Which versions each sector of the target may hold, from the host's point of view only.
//!
//! A write takes effect at some instant between its submission and its answer, for each of its sectors
//! separately. So a read may return a version unless another write began after that version's answer and was
//! answered before the read began; of versions that were written concurrently any may be the last, but once a
//! read has returned one, it is that one. A version is *durable* when its own FUA write, or a FLUSH submitted
//! after its answer, has been answered, or when nothing between host and media is volatile: a power cut loses
//! what is not durable and nothing else. A memory whose device fails to write data that the memory has
//! answered gives these up, whatever was reported to hosts: then any version may come back, until the sector is
//! written again.
//!
//! The rules for a sector are in [`sector`](super::sector), those for all sectors in a power cut or at the
//! end in [`verdict`](super::verdict). When each write began and was answered is stored once for all of its
//! sectors. A command costs as many steps as the number of entries that it meets, split by other commands,
//! however many commands are under way and however they overlap.
use super::error::Found;
use super::extents::Extents;
use super::map::Map;
use super::sector::{Answered, INITIAL, NEVER, Reads, Sectors, Standing};
use drivelab_core::{Access, Command, Outcome};
use drivelab_data::stamp::{BLANK, stamp, write_of};
use std::collections::BTreeSet;

/// Memory of an entry of sectors and of a write, in bytes.
const EXTENT_BYTES: u64 = 160;
const WRITE_BYTES: u64 = 80;
/// With fewer writes there is no search for those that can no longer be found.
const SWEPT_FROM: usize = 1 << 12;

/// A write that is answered, or never will be.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub first: u64,
    pub end: u64,
    /// Positions in the order of submissions and answers: of its beginning, and of its answer if there was
    /// one.
    pub begun: u64,
    pub done: u64,
    pub is_forced: bool,
    /// The host whose FLUSH makes it durable.
    pub host: usize,
}

impl Write {
    fn unanswered(command: &Command, begun: u64) -> Self {
        let (first, end) = (command.first.get(), command.end().get());
        Write { first, end, begun, done: NEVER, is_forced: false, host: 0 }
    }
}

#[derive(Clone)]
pub struct Oracle {
    pub(super) sectors: Extents<Sectors>,
    /// Commands that are not answered, with their positions in the order.
    pub(super) outstanding: Map<(Command, u64)>,
    /// When the reads among them began, and when the last read of all began.
    pub(super) reads: BTreeSet<u64>,
    last_read: u64,
    /// Writes that are answered, or have failed: of the answered ones those that may still be found.
    pub(super) writes: Map<Write>,
    /// How many of them could be found at the last sweep.
    swept: usize,
    pub(super) clock: u64,
    /// Whether an answered write may still be lost to a power cut.
    pub(super) volatile: bool,
    /// Whether there may be a power cut, which may bring back any write.
    may_be_cut: bool,
    /// By host: everything answered before this has been flushed.
    pub(super) flushed: Vec<u64>,
    /// Whether hosts have their own caches, so that the FLUSH of one does not affect the data of another.
    has_host_caches: bool,
    /// For each sector the latest beginning of a durable write, once that was requested.
    pub(super) durable: Extents<u64>,
    /// Whether the array has lost members that it needs.
    pub(super) is_lost: bool,
    /// Number of entries and writes examined so far.
    steps: u64,
}

impl Oracle {
    pub fn new(volatile: bool) -> Self {
        Oracle {
            sectors: Extents::default(),
            outstanding: Map::default(),
            reads: BTreeSet::new(),
            last_read: 0,
            writes: Map::default(),
            swept: 0,
            clock: 1,
            volatile,
            may_be_cut: true,
            flushed: Vec::new(),
            has_host_caches: false,
            durable: Extents::default(),
            is_lost: false,
            steps: 0,
        }
    }

    /// For a target whose power is never cut.
    pub fn without_cuts(self) -> Self {
        Oracle { may_be_cut: false, ..self }
    }

    /// For hosts with their own caches.
    pub fn with_host_caches(self) -> Self {
        Oracle { has_host_caches: true, ..self }
    }

    fn host(&self, command: &Command) -> usize {
        if self.has_host_caches { command.initiator.into() } else { 0 }
    }

    pub(super) fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Whether the array has lost members that it needs, so that commands may fail.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// The array has lost members that it needs.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Commands that are not answered.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Approximate memory, in bytes.
    pub fn bytes(&self) -> u64 {
        let commands = self.outstanding.len() + self.writes.len();
        self.sectors.len() as u64 * EXTENT_BYTES + commands as u64 * WRITE_BYTES
    }

    /// Number of entries and writes examined so far: the cost of the check.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn reads(&self) -> Reads {
        Reads { oldest: self.reads.first().copied().unwrap_or(NEVER), newest: self.last_read }
    }

    /// A host issues a command, possibly with an id that was used before.
    pub fn submitted(&mut self, command: &Command) {
        let mut begun = self.tick();
        match command.access {
            Access::Read => {
                self.last_read = begun;
                self.reads.insert(begun);
            }
            Access::Write => begun = self.writes.remove(&command.id).map_or(begun, |before| before.begun),
            Access::Flush => {}
        }
        if let Some((Command { access: Access::Read, .. }, before)) =
            self.outstanding.insert(command.id, (*command, begun))
        {
            self.reads.remove(&before);
        }
    }

    /// The target has answered; `found` is what a read has delivered.
    pub fn completed(&mut self, id: u64, outcome: Outcome, found: &[u64]) -> Result<(), Found> {
        let now = self.tick();
        let Some((command, begun)) = self.outstanding.remove(&id) else { return Ok(()) };
        let is_done = outcome == Outcome::Done;
        match command.access {
            Access::Read => {
                let shown = if is_done { self.was_read(&command, begun, now, found) } else { Ok(()) };
                self.reads.remove(&begun);
                return shown;
            }
            Access::Write if is_done => self.was_written(&command, begun, now),
            Access::Write => self.was_torn(&command, begun),
            Access::Flush if is_done => self.was_flushed(self.host(&command), begun),
            Access::Flush => {}
        }
        Ok(())
    }

    fn was_written(&mut self, command: &Command, begun: u64, now: u64) {
        let (first, end, reads) = (command.first.get(), command.end().get(), self.reads());
        let version = Answered { write: command.id, done: now };
        let mut steps = 0;
        self.sectors.cover(first, end, |sectors| {
            sectors.written(version, begun, reads);
            steps += 1;
        });
        self.sectors.join(first, end);
        self.steps += steps;
        let (is_forced, host) = (command.force_unit_access, self.host(command));
        self.writes.insert(command.id, Write { first, end, begun, done: now, is_forced, host });
        if !self.may_be_cut && self.writes.len() > SWEPT_FROM.max(2 * self.swept) {
            self.sweep();
        }
    }

    fn was_flushed(&mut self, host: usize, begun: u64) {
        if self.flushed.len() <= host {
            self.flushed.resize(host + 1, 0);
        }
        self.flushed[host] = self.flushed[host].max(begun);
    }

    /// A write has ended without success: its data may appear from now on, at any time.
    pub(super) fn was_torn(&mut self, command: &Command, begun: u64) {
        let (first, end) = (command.first.get(), command.end().get());
        self.sectors.cover(first, end, |_| ());
        self.writes.insert(command.id, Write::unanswered(command, begun));
    }

    /// Drops the writes that no read can find.
    fn sweep(&mut self) {
        let Oracle { sectors, writes, steps, .. } = self;
        writes.retain(|&write, &mut Write { first, end, done, .. }| {
            *steps += 1;
            let version = Answered { write, done };
            sectors.among(first, end).any(|(_, _, sectors)| {
                *steps += 1;
                sectors.oldest().has(version) || sectors.now.has(version)
            })
        });
        self.swept = self.writes.len();
    }

    /// When a version of a sector began and was answered, and the end of its write; `None`, as far as is
    /// known, for one that was never written there.
    fn version(&self, sector: u64, write: u64) -> Option<Write> {
        let under_way = self.outstanding.get(&write).filter(|(command, _)| command.access == Access::Write);
        let under_way = under_way.map(|&(command, begun)| Write::unanswered(&command, begun));
        let version = under_way.or_else(|| self.writes.get(&write).copied())?;
        (version.first <= sector && sector < version.end).then_some(version)
    }

    /// A memory gives up data that it had answered, from a sector on: as long as they may be found, so may
    /// older ones.
    pub fn give_up(&mut self, first: u64, given_up: &[u64]) {
        let now = self.tick();
        for (sector, &stamp) in (first..).zip(given_up) {
            let write = write_of(stamp, sector);
            let Some(Write { done, .. }) = self.version(sector, write) else { continue };
            self.sectors.cover(sector, sector + 1, |sectors| sectors.give_up(Answered { write, done }, now));
        }
        self.sectors.join(first, first + given_up.len() as u64);
    }

    fn was_read(&mut self, command: &Command, begun: u64, now: u64, found: &[u64]) -> Result<(), Found> {
        let (first, end) = (command.first.get(), command.end().get());
        let found = |sector: u64| found[(sector - first) as usize];
        let unwritten = Sectors::default();
        let (mut at, mut shown, mut steps) = (first, Vec::new(), 0);
        let wrong = |sector, standing| {
            let expected = self.expected(sector, standing);
            Err(Found { sector, expected, found: found(sector) })
        };
        for (from, to, sectors) in self.sectors.among(first, end).chain([(end, end, &unwritten)]) {
            for (from, to, sectors) in [(at, from, &unwritten), (from, to, sectors)] {
                let standing = sectors.at(begun);
                let (mut at, single) = (from, sectors.is_single());
                while at < to {
                    steps += 1;
                    let (until, seen) = self.run_of(at, to, found, sectors);
                    let done = match seen {
                        Some(seen) if self.may_be_read(at, begun, standing, sectors, seen) => seen.done,
                        _ if sectors.is_loose(begun) && self.is_known(at, found(at)) => NEVER,
                        _ => return wrong(at, standing),
                    };
                    // Among the writes answered before, it was the last.
                    if let Some(seen) = seen
                        && done < begun
                        && !single
                        && !sectors.is_loose(begun)
                    {
                        shown.push((at, until, seen));
                    }
                    at = until;
                }
            }
            at = to;
        }
        let reads = self.reads();
        for (from, to, seen) in shown {
            self.sectors.change(from, to, |sectors| sectors.observe_read(seen, begun, now, reads));
            self.sectors.join(from, to);
            steps += 1;
        }
        self.steps += steps;
        Ok(())
    }

    /// The end of the stretch from `at` on with data of one write; and that write, with the position of its
    /// answer if it was answered.
    pub(super) fn run_of(
        &self,
        at: u64,
        to: u64,
        found: impl Fn(u64) -> u64,
        sectors: &Sectors,
    ) -> (u64, Option<Answered>) {
        if found(at) == BLANK {
            let until = (at + 1..to).find(|&sector| found(sector) != BLANK).unwrap_or(to);
            return (until, Some(Answered { write: INITIAL, done: 0 }));
        }
        let last = sectors.last.write;
        let write = if stamp(last, at) == found(at) { last } else { write_of(found(at), at) };
        let Some(Write { end, done, .. }) = self.version(at, write) else {
            // What was found after a cut is known even where its write is not.
            let spared = sectors.now.spared.filter(|spared| spared.write == write);
            return (at + 1, spared);
        };
        let to = to.min(end);
        let until = (at + 1..to).find(|&sector| found(sector) != stamp(write, sector)).unwrap_or(to);
        (until, Some(Answered { write, done }))
    }

    /// Whether a read that began then may deliver a version that was written there.
    fn may_be_read(
        &self,
        sector: u64,
        begun: u64,
        standing: Standing,
        sectors: &Sectors,
        seen: Answered,
    ) -> bool {
        if sectors.is_loose(begun) {
            return true;
        }
        if seen.done != NEVER {
            return standing.has(seen);
        }
        self.outstanding.contains_key(&seen.write)
            || standing.spared.is_some_and(|spared| spared.write == seen.write)
            || self.version(sector, seen.write).is_some_and(|write| sectors.may_be_torn(write.begun))
    }

    /// Whether a stamp may belong to a write that has been dropped: where any version may come back.
    pub(super) fn is_known(&self, sector: u64, found: u64) -> bool {
        found == BLANK || !self.may_be_cut && write_of(found, sector) < 1 << 53
    }

    /// The stamps of all versions that a sector may hold, for an error message.
    fn expected(&self, sector: u64, standing: Standing) -> Vec<u64> {
        let answered = self.writes.iter().filter(|&(&write, version)| {
            let is_there = version.first <= sector && sector < version.end;
            is_there && standing.has(Answered { write, done: version.done })
        });
        let under_way = self.outstanding.iter().filter(|(_, (command, _))| {
            let is_there = command.first.get() <= sector && sector < command.end().get();
            is_there && command.access == Access::Write
        });
        let mut writes: Vec<u64> = answered.map(|(&write, _)| write).collect();
        writes.extend(under_way.map(|(&write, _)| write));
        writes.sort_unstable();
        let blank = standing.has(Answered { write: INITIAL, done: 0 }).then_some(BLANK);
        blank.into_iter().chain(writes.into_iter().map(|write| stamp(write, sector))).collect()
    }

    /// Writes that are not answered.
    pub fn writes_under_way(&self) -> impl Iterator<Item = &Command> {
        let commands = self.outstanding.values().map(|(command, _)| command);
        commands.filter(|command| command.access == Access::Write)
    }

    /// Sectors that hosts have written, or tried to write.
    pub fn written(&self) -> Vec<u64> {
        self.sectors.iter().flat_map(|(from, to, _)| from..to).collect()
    }
}

#[cfg(test)]
#[path = "oracle_tests.rs"]
mod tests;
