//! The verdict on all sectors at once: at the end of a run, and at a power cut.
use super::extents::Extents;
use super::oracle::{Oracle, Write};
use super::sector::{Answered, INITIAL, NEVER, Sectors};
use drivelab_core::{Access, Command};
use drivelab_data::stamp::{BLANK, write_of};

/// What a sector holds, compared with what it should hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The last answered write; or the initial contents.
    Last(Option<u64>),
    /// One that was not answered yet.
    New(u64),
    /// Older data than this answered write, the last one. Whether the contents, or a version in between, were
    /// durably overwritten.
    Older { lost: u64, was_durable: bool },
    /// Contents that no write has put here.
    Foreign { lost: u64 },
}

impl Oracle {
    /// Whether a write would survive a power cut.
    fn is_durable(&self, write: &Write) -> bool {
        write.done != NEVER
            && (write.is_forced
                || !self.volatile
                || self.flushed.get(write.host).is_some_and(|&flushed| write.done < flushed))
    }

    /// Searches all writes for the durable ones: to be called before a cut, or its losses, are judged.
    pub fn index_durable(&mut self) {
        let mut durable: Vec<Write> =
            self.writes.values().filter(|write| self.is_durable(write)).copied().collect();
        durable.sort_unstable_by_key(|write| write.begun);
        self.durable = Extents::default();
        for Write { first, end, begun, done, .. } in durable {
            for (from, to, sectors) in self.sectors.among(first, end) {
                if sectors.keeps(done) {
                    self.durable.cover(from, to, |durable| *durable = begun);
                }
            }
            self.durable.join(first, end);
        }
    }

    /// The power is cut: unanswered commands never will be answered, and each sector has one of the versions
    /// that no durable one has overwritten.
    pub fn cut_power(&mut self) {
        self.index_durable();
        let mut under_way: Vec<(Command, u64)> = self.outstanding.values().copied().collect();
        under_way.sort_unstable_by_key(|&(_, begun)| begun);
        self.outstanding.clear();
        for (command, begun) in under_way.iter().filter(|(command, _)| command.access == Access::Write) {
            self.was_torn(command, *begun);
        }
        self.reads.clear();
        self.sectors.values_mut().for_each(|sectors| sectors.cut_power(0));
        for (from, to, &durable) in self.durable.iter() {
            self.sectors.change(from, to, |sectors| sectors.cut_power(durable));
        }
    }

    /// Moves the knowledge out, and leaves an oracle without it.
    pub fn taken(&mut self) -> Oracle {
        let mut left = Oracle::new(self.volatile);
        left.is_lost = self.is_lost;
        std::mem::replace(self, left)
    }

    /// Everything has been read after a cut: what was found is what is there from now on.
    pub fn settle(&mut self, first: u64, found: &[u64]) {
        let (now, end) = (self.tick(), first + found.len() as u64);
        let all: Vec<(u64, u64)> = self.sectors.among(first, end).map(|(from, to, _)| (from, to)).collect();
        for sector in all.into_iter().flat_map(|(from, to)| from..to) {
            let found = found[(sector - first) as usize];
            let write = if found == BLANK { INITIAL } else { write_of(found, sector) };
            self.sectors.change(sector, sector + 1, |sectors| sectors.settle(write, now));
        }
        self.sectors.join(first, end);
    }

    /// The verdict on a sector that holds this now, given its state.
    fn verdict_of(&self, sector: u64, found: u64, sectors: &Sectors) -> Verdict {
        let lost = sectors.last.write;
        let (_, seen) = self.run_of(sector, sector + 1, |_| found, sectors);
        let loose = sectors.is_loose(self.clock);
        let Some(seen) = seen else {
            let is_old = loose && self.is_known(sector, found);
            return if is_old { Verdict::Last(None) } else { Verdict::Foreign { lost } };
        };
        match seen {
            Answered { write: INITIAL, .. } if loose || sectors.now.has(seen) => Verdict::Last(None),
            Answered { write, done: NEVER } => Verdict::New(write),
            Answered { write, .. } if loose || sectors.now.has(seen) => Verdict::Last(Some(write)),
            Answered { done, .. } => {
                let was_durable = self.durable.get(sector).is_some_and(|&begun| done < begun);
                Verdict::Older { lost, was_durable }
            }
        }
    }

    /// The same for every sector that hosts have written, or tried to write, and of which anything is found,
    /// upward: its address, its contents and the verdict.
    pub fn judge_all<E>(
        &self,
        found: impl Fn(u64) -> Option<u64>,
        mut visit: impl FnMut(u64, u64, Verdict) -> Result<(), E>,
    ) -> Result<(), E> {
        for (from, to, sectors) in self.sectors.iter() {
            for sector in from..to {
                if let Some(found) = found(sector) {
                    visit(sector, found, self.verdict_of(sector, found, sectors))?;
                }
            }
        }
        Ok(())
    }

    /// Whether these contents would be wrong after a cut at this point: durably overwritten, or never
    /// written. To be called after [`Self::judge_all`].
    pub fn is_wrong_after_cut(&self, sector: u64, found: u64) -> bool {
        let unwritten = Sectors::default();
        let sectors = self.sectors.get(sector).unwrap_or(&unwritten);
        let (_, seen) = self.run_of(sector, sector + 1, |_| found, sectors);
        let durable = self.durable.get(sector).copied().unwrap_or(0);
        seen.is_none_or(|seen| seen.done < durable)
    }

    /// Adds the sectors of unanswered writes, so that everything that hosts have tried to write is judged.
    pub fn expect_torn(&mut self) {
        let under_way: Vec<Command> = self.writes_under_way().copied().collect();
        for command in under_way {
            self.sectors.cover(command.first.get(), command.end().get(), |_| ());
        }
    }
}
