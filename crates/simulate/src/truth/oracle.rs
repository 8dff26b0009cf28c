//! What each sector of the target may hold, from the host's point of view alone.
//!
//! A write takes effect at some instant between its submission and its answer, all of its sectors each for itself. So a
//! read may return a version unless another write began after that version's answer and was answered before the read
//! began; of versions that were written at once any may be the last, but once a read has told, it is that one. A version
//! is *durable* when its own FUA write, or a FLUSH that came after its answer, has been answered, or when nothing between
//! host and media is volatile: a power cut takes back what is not durable and nothing else. A memory before a device that
//! cannot take what it was answered for gives that up, whoever was told what: then, until somebody writes the sector again,
//! any version may come back.
use super::error::Found;
use super::extents::Extents;
use super::field::{BLANK, stamp};
use super::sparse::Map;
use drivelab_core::{Access, Command, Outcome};
use std::collections::VecDeque;

/// The version that is there before all writes.
const INITIAL: u64 = u64::MAX;
const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Version {
    write: u64,
    /// Places in the order of submissions and answers: when it began, was answered, and was surely overwritten.
    begun: u64,
    done: u64,
    gone: u64,
    durable: bool,
    /// Whether a memory has given it up, or a newer one: it may come back, or not.
    given_up: bool,
}

impl Version {
    /// Whether a read that began and ended then tells anything by having found this one.
    fn is_news(&self, all: &[Version], begun: u64, now: u64) -> bool {
        all.iter().any(|other| other.write != self.write && other.done < begun && other.gone > now)
    }

    fn stamp(&self, sector: u64) -> u64 {
        if self.write == INITIAL { BLANK } else { stamp(self.write, sector) }
    }
}

/// Of sectors that the same writes have touched.
#[derive(Clone, Default)]
struct Versions {
    all: Vec<Version>,
    /// Whether there were more, which nothing but a memory that gives up brings back.
    pruned: bool,
}

impl Versions {
    /// Whether any of them may be there, because a memory has given up what was.
    fn is_loose(&self) -> bool {
        self.all.iter().any(|version| version.given_up && version.gone == NEVER)
    }
}

/// With more versions of a sector than this, those that are surely gone are forgotten.
const KEPT: usize = 24;
/// What is gone for every read.
const LONG_AGO: u64 = 0;

/// What a sector is found to hold, against what it should.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The last write that was answered; or what was there before all writes.
    Last(Option<u64>),
    /// One that was not answered yet.
    New(u64),
    /// Older data than these answered writes, any of which may have been the last, with the places of their answers.
    /// Whether one of them, or one in between, was durable.
    Older { lost: Vec<(u64, u64)>, was_durable: bool },
    /// What no write has brought here.
    Foreign { lost: Vec<(u64, u64)> },
}

#[derive(Clone)]
pub struct Oracle {
    sectors: Extents<Versions>,
    /// Commands that are not answered, with their places in the order.
    outstanding: Map<(Command, u64)>,
    /// Answered writes that are not known to be durable, oldest answer first.
    unflushed: VecDeque<(Command, u64)>,
    clock: u64,
    /// Whether an answered write may still be lost to a power cut.
    volatile: bool,
    /// Whether the array has lost members that it needs.
    is_lost: bool,
}

impl Oracle {
    pub fn new(volatile: bool) -> Self {
        Oracle {
            sectors: Extents::default(),
            outstanding: Map::default(),
            unflushed: VecDeque::new(),
            clock: 1,
            volatile,
            is_lost: false,
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Whether the array cannot give all of its data any more, and commands may fail.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// From now on it cannot.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// Commands that are not answered.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// A host issues a command, maybe for another time under the same id.
    pub fn submitted(&mut self, command: &Command) {
        let begun = self.tick();
        self.outstanding.insert(command.id, (*command, begun));
        if command.access != Access::Write {
            return;
        }
        let (write, done, gone, durable, given_up) = (command.id, NEVER, NEVER, false, false);
        self.sectors.cover(command.first.get(), command.end().get(), |versions| {
            let versions = &mut versions.all;
            if versions.is_empty() {
                versions.push(Version { write: INITIAL, begun: 0, done: 0, gone, durable: true, given_up });
            }
            if versions.iter().all(|version| version.write != write) {
                versions.push(Version { write, begun, done, gone, durable, given_up });
            }
        });
    }

    /// The target has answered; `found` is what a read has brought.
    pub fn completed(&mut self, id: u64, outcome: Outcome, found: &[u64]) -> Result<(), Found> {
        let now = self.tick();
        let Some((command, begun)) = self.outstanding.remove(&id) else { return Ok(()) };
        match (command.access, outcome) {
            (_, outcome) if outcome != Outcome::Done => Ok(()),
            (Access::Read, _) => self.was_read(&command, begun, now, found),
            (Access::Write, _) => {
                self.was_written(&command, begun, now);
                Ok(())
            }
            (Access::Flush, _) => {
                while let Some((write, done)) = self.unflushed.front().copied()
                    && done < begun
                {
                    self.unflushed.pop_front();
                    self.make_durable(&write);
                }
                Ok(())
            }
        }
    }

    fn was_written(&mut self, command: &Command, begun: u64, now: u64) {
        let oldest = self.oldest_read();
        self.sectors.change(command.first.get(), command.end().get(), |versions| {
            for version in &mut versions.all {
                if version.write == command.id {
                    version.done = now;
                } else if version.done < begun {
                    version.gone = version.gone.min(now);
                }
            }
            prune(versions, oldest);
        });
        if command.force_unit_access || !self.volatile {
            self.make_durable(command);
        } else {
            self.unflushed.push_back((*command, now));
        }
    }

    fn make_durable(&mut self, write: &Command) {
        let oldest = self.oldest_read();
        self.sectors.change(write.first.get(), write.end().get(), |versions| {
            if let Some(version) = versions.all.iter_mut().find(|version| version.write == write.id) {
                version.durable = !version.given_up;
                prune(versions, oldest);
            }
        });
    }

    /// A memory gives up what it was answered for from a sector on: as long as that may be found, so may what is older.
    pub fn give_up(&mut self, first: u64, given_up: &[u64]) {
        for (sector, &stamp) in (first..).zip(given_up) {
            self.sectors.change(sector, sector + 1, |versions| {
                let lost = versions.all.iter().find(|version| version.stamp(sector) == stamp);
                let Some(gone) = lost.map(|version| version.gone) else { return };
                let is_older = |version: &&mut Version| version.done != NEVER && version.gone <= gone;
                // Also what no cut could bring back: what came after it may have been in a memory with a battery alone.
                for version in versions.all.iter_mut().filter(is_older) {
                    (version.gone, version.durable, version.given_up) = (gone, false, true);
                }
            });
        }
    }

    /// Before that no version is asked for any more.
    fn oldest_read(&self) -> u64 {
        let reads = self.outstanding.values().filter(|(command, _)| command.access == Access::Read);
        reads.map(|&(_, begun)| begun).min().unwrap_or(NEVER)
    }

    fn was_read(&mut self, command: &Command, begun: u64, now: u64, found: &[u64]) -> Result<(), Found> {
        let first = command.first.get();
        let found = |sector: u64| found[(sector - first) as usize];
        let is_blank = |from: u64, to: u64| {
            (from..to).try_for_each(|sector| match found(sector) {
                BLANK => Ok(()),
                found => Err(Found { sector, expected: vec![BLANK], found }),
            })
        };
        let (mut at, mut told) = (first, Vec::new());
        for (from, to, versions) in self.sectors.among(first, command.end().get()) {
            is_blank(at, from)?;
            at = to;
            let (Versions { all, pruned }, loose) = (versions, versions.is_loose());
            let allowed = || all.iter().filter(|version| version.gone > begun);
            for sector in from..to {
                let found = found(sector);
                match allowed().find(|version| version.stamp(sector) == found) {
                    // Of those that were answered before, it was the last.
                    Some(seen) if seen.done < begun && !loose && seen.is_news(all, begun, now) => {
                        match told.last_mut() {
                            Some((_, end, write)) if (*end, *write) == (sector, seen.write) => *end += 1,
                            _ => told.push((sector, sector + 1, seen.write)),
                        }
                    }
                    None if !(loose && *pruned) => {
                        let expected = allowed().map(|version| version.stamp(sector)).collect();
                        return Err(Found { sector, expected, found });
                    }
                    _ => {}
                }
            }
        }
        is_blank(at, command.end().get())?;
        for (from, to, seen) in told {
            self.sectors.change(from, to, |versions| {
                for version in &mut versions.all {
                    if version.write != seen && version.done < begun {
                        version.gone = version.gone.min(now);
                    }
                }
            });
        }
        Ok(())
    }

    /// The power goes: what is not answered never will be, and each sector has one of the versions that no durable one has
    /// overwritten.
    pub fn cut_power(&mut self) {
        self.outstanding.clear();
        self.unflushed.clear();
        for Versions { all, .. } in self.sectors.values_mut() {
            for at in 0..all.len() {
                all[at].gone = if outlives(&all[at], all) { NEVER } else { LONG_AGO };
            }
        }
    }

    /// Everything has been read after a cut: what was found is what is there from now on.
    pub fn settle(&mut self, first: u64, found: &[u64]) {
        let now = self.tick();
        for (sector, &found) in (first..).zip(found) {
            self.sectors.change(sector, sector + 1, |versions| {
                for version in &mut versions.all {
                    if version.stamp(sector) == found {
                        // It began behind all others, which can never come back.
                        (version.begun, version.done) = (version.begun.max(1), now.min(version.done));
                        (version.gone, version.durable, version.given_up) = (NEVER, true, false);
                    } else {
                        (version.done, version.gone) = (0, LONG_AGO);
                    }
                }
            });
        }
    }

    /// What is to be thought of a sector that holds this now.
    pub fn judge(&self, sector: u64, found: u64) -> Verdict {
        match self.sectors.get(sector) {
            Some(versions) => versions.judge(sector, found),
            None if found == BLANK => Verdict::Last(None),
            None => Verdict::Foreign { lost: Vec::new() },
        }
    }

    /// The same of every sector that hosts have written, or tried to, and that anything can be found of, upward: its
    /// address, what is there and what that means.
    pub fn judge_all<E>(
        &self,
        found: impl Fn(u64) -> Option<u64>,
        mut told: impl FnMut(u64, u64, Verdict) -> Result<(), E>,
    ) -> Result<(), E> {
        for (from, to, versions) in self.sectors.iter() {
            for sector in from..to {
                if let Some(found) = found(sector) {
                    told(sector, found, versions.judge(sector, found))?;
                }
            }
        }
        Ok(())
    }

    /// Writes that are not answered.
    pub fn writes_under_way(&self) -> impl Iterator<Item = &Command> {
        let commands = self.outstanding.values().map(|(command, _)| command);
        commands.filter(|command| command.access == Access::Write)
    }

    /// Sectors that hosts have written, or tried to.
    pub fn written(&self) -> Vec<u64> {
        self.sectors.iter().flat_map(|(from, to, _)| from..to).collect()
    }
}

impl Versions {
    fn judge(&self, sector: u64, found: u64) -> Verdict {
        let all = &self.all;
        let stands = |version: &&Version| version.gone == NEVER;
        let is_found = |version: &&Version| version.stamp(sector) == found;
        if let Some(version) = all.iter().filter(stands).find(is_found) {
            let write = version.write;
            return match version.done {
                NEVER => Verdict::New(write),
                _ => Verdict::Last((write != INITIAL).then_some(write)),
            };
        }
        let lost = all.iter().filter(stands).filter(|version| version.done != NEVER);
        let lost = lost.map(|version| (version.write, version.done)).collect();
        match all.iter().find(is_found) {
            Some(version) => Verdict::Older { lost, was_durable: !outlives(version, all) },
            None if self.pruned && self.is_loose() => Verdict::Older { lost: Vec::new(), was_durable: false },
            None => Verdict::Foreign { lost },
        }
    }
}

/// Whether no durable version came after this one was answered.
fn outlives(version: &Version, all: &[Version]) -> bool {
    !all.iter().any(|other| other.durable && version.done < other.begun)
}

/// Drops what neither a read nor a power cut can bring back.
fn prune(versions: &mut Versions, oldest_read: u64) {
    if versions.all.len() > KEPT {
        let all = versions.all.clone();
        let kept = |version: &Version| {
            version.gone > oldest_read || version.gone == NEVER || outlives(version, &all)
        };
        versions.all.retain(kept);
        versions.pruned |= versions.all.len() < all.len();
    }
}

#[cfg(test)]
#[path = "oracle_tests.rs"]
mod tests;
