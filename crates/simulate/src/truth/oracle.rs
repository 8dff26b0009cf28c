//! What each sector of the target may hold, from the host's point of view alone.
//!
//! A write takes effect at some instant between its submission and its answer, all of its sectors each for itself. So a
//! read may return a version unless another write began after that version's answer and was answered before the read
//! began; of versions that were written at once any may be the last, but once a read has told, it is that one. A version
//! is *durable* when its own FUA write, or a FLUSH that came after its answer, has been answered, or when nothing between
//! host and media is volatile: a power cut takes back what is not durable and nothing else.
use super::error::Found;
use super::field::{BLANK, stamp};
use super::sparse::{Map, Sparse};
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
}

impl Version {
    fn stamp(&self, sector: u64) -> u64 {
        if self.write == INITIAL { BLANK } else { stamp(self.write, sector) }
    }
}

/// Of one sector; none while nobody has written it.
#[derive(Clone, Default)]
struct Versions(Vec<Version>);

pub struct Oracle {
    sectors: Sparse<Versions>,
    /// Commands that are not answered, with their places in the order.
    outstanding: Map<(Command, u64)>,
    /// Answered writes that are not known to be durable, oldest answer first.
    unflushed: VecDeque<(Command, u64)>,
    clock: u64,
    /// Whether an answered write may still be lost to a power cut.
    volatile: bool,
    /// Whether such writes may be lost without one: the array has lost members that it needs, and caches before it have
    /// given data up.
    gives_up: bool,
}

impl Oracle {
    pub fn new(volatile: bool) -> Self {
        Oracle {
            sectors: Sparse::default(),
            outstanding: Map::default(),
            unflushed: VecDeque::new(),
            clock: 1,
            volatile,
            gives_up: false,
        }
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Whether data that are not durable may be lost at any time.
    pub fn gives_up(&self) -> bool {
        self.gives_up
    }

    /// From now on they may.
    pub fn give_up(&mut self) {
        self.gives_up = true;
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
        let (write, done, gone, durable) = (command.id, NEVER, NEVER, false);
        self.sectors.each(command.first.get(), command.count.get(), |_, Versions(versions)| {
            if versions.is_empty() {
                versions.push(Version { write: INITIAL, begun: 0, done: 0, gone, durable: true });
            }
            if versions.iter().all(|version| version.write != write) {
                versions.push(Version { write, begun, done, gone, durable });
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
        self.sectors.each(command.first.get(), command.count.get(), |_, Versions(versions)| {
            for version in &mut *versions {
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
        // A memory before an array that cannot write any more gives up what it has, battery or not.
        if self.gives_up {
            return;
        }
        let oldest = self.oldest_read();
        self.sectors.each(write.first.get(), write.count.get(), |_, Versions(versions)| {
            if let Some(version) = versions.iter_mut().find(|version| version.write == write.id) {
                version.durable = true;
                prune(versions, oldest);
            }
        });
    }

    /// Before that no version is asked for any more.
    fn oldest_read(&self) -> u64 {
        let reads = self.outstanding.values().filter(|(command, _)| command.access == Access::Read);
        reads.map(|&(_, begun)| begun).min().unwrap_or(NEVER)
    }

    fn was_read(&mut self, command: &Command, begun: u64, now: u64, found: &[u64]) -> Result<(), Found> {
        let (first, loose) = (command.first.get(), self.gives_up);
        for (sector, &found) in (first..).zip(found) {
            let Some(Versions(versions)) = self.sectors.get(sector) else {
                if found == BLANK {
                    continue;
                }
                return Err(Found { sector, expected: vec![BLANK], found });
            };
            if versions.is_empty() && found == BLANK {
                continue;
            }
            let allowed = |version: &&Version| version.gone > begun || loose && outlives(version, versions);
            let Some(seen) = versions.iter().filter(allowed).find(|v| v.stamp(sector) == found).copied()
            else {
                let expected = versions.iter().filter(allowed).map(|version| version.stamp(sector));
                let expected = if versions.is_empty() { vec![BLANK] } else { expected.collect() };
                return Err(Found { sector, expected, found });
            };
            if seen.done < begun && versions.len() > 1 && !loose {
                for version in &mut self.sectors.get_mut(sector).0 {
                    if version.write != seen.write && version.done < begun {
                        version.gone = version.gone.min(now);
                    }
                }
            }
        }
        Ok(())
    }

    /// The power goes: what is not answered never will be, and each sector has one of the versions that no durable one has
    /// overwritten.
    pub fn cut_power(&mut self) {
        self.outstanding.clear();
        self.unflushed.clear();
        for sector in self.sectors.touched() {
            let Versions(versions) = self.sectors.get_mut(sector);
            let all = std::mem::take(versions);
            versions.extend(all.iter().filter(|version| outlives(version, &all)).copied());
            for version in &mut *versions {
                version.gone = NEVER;
            }
        }
    }

    /// Everything has been read after a cut: what was found is what is there from now on.
    pub fn settle(&mut self, first: u64, found: &[u64]) {
        if self.gives_up {
            return;
        }
        let now = self.tick();
        for (sector, &found) in (first..).zip(found) {
            if self.sectors.get(sector).is_none_or(|versions| versions.0.is_empty()) {
                continue;
            }
            let Versions(versions) = self.sectors.get_mut(sector);
            versions.retain(|version| version.stamp(sector) == found);
            for version in &mut *versions {
                (version.begun, version.done, version.durable) = (0, now.min(version.done), true);
            }
        }
    }

    /// Whether every sector has one version that a read may return.
    pub fn is_settled(&self, sector: u64) -> bool {
        self.sectors
            .get(sector)
            .is_none_or(|versions| versions.0.iter().filter(|version| version.gone == NEVER).count() <= 1)
    }

    /// Sectors that hosts have written, or tried to.
    pub fn written(&self) -> Vec<u64> {
        let written = |&at: &u64| self.sectors.get(at).is_some_and(|versions| !versions.0.is_empty());
        self.sectors.touched().into_iter().filter(written).collect()
    }
}

/// Whether no durable version came after this one was answered.
fn outlives(version: &Version, all: &[Version]) -> bool {
    !all.iter().any(|other| other.durable && version.done < other.begun)
}

/// Drops what neither a read nor a power cut can bring back.
fn prune(versions: &mut Vec<Version>, oldest_read: u64) {
    if versions.len() > 2 {
        let all = versions.clone();
        versions
            .retain(|version| version.gone > oldest_read || version.gone == NEVER || outlives(version, &all));
    }
}
