//! What keeps a power cut from leaving parity that does not fit its data: a journal, or a log of partial parity.
//!
//! *Journal* (md since Linux 4.4, drivers/md/raid5-cache.c, write-through): data and parity of a strand go to a drive of
//! their own first, behind a granule that describes them, one strand behind the other and round at the end; then to the
//! members. Without its journal the array takes no writes.
//!
//! *Partial parity log* (4.12, raid5-ppl.c): before data and parity are written, the sum of the row's units that are not
//! written goes to a log on the parity's member, behind a granule that describes it. With the data that a cut has left
//! there it gives the parity. A row written whole needs the description only. Here each strand has its own log write; md
//! collects those of a member while one is under way.
//!
//! Log writes must be on the media when they are answered (force unit access). A describing granule has no data operation:
//! what it says is in [`Array::log`].
use super::super::layout::Spot;
use super::super::layout::reserved::PARTIAL_PARITY_LOG;
use super::super::params::{ArrayParams, Cure};
use super::super::strand::Phase;
use super::row::Band;
use super::rows_write::{Touched, Way};
use super::{Array, Source};
use crate::command::{Access, Outcome};
use crate::target::context::Context;
use crate::target::tree::Slot;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What a log keeps of a command to a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Logged {
    /// The command that writes it to the log, and where the log has it. The journal's slot is the number of members.
    pub op: u64,
    pub log: Spot,
    /// What it is for: the place that is written (journal), or that of the parity (partial parity log).
    pub of: Spot,
    pub count: u64,
    /// Of a partial parity log: the columns that are written, from the first to before the last.
    pub columns: (u32, u32),
    /// Of a partial parity log: all of them are, and the log holds no more than that.
    pub is_whole: bool,
    /// What is logged together has the same number: it counts only when all of it is on the media.
    pub record: u32,
    /// All that it is made of has been read, and it is on its way to the log.
    pub is_sent: bool,
    /// The members have answered all writes that it is for.
    pub is_done: bool,
}

/// A write that is to be logged.
struct Noted {
    op: u64,
    spot: Spot,
    count: u64,
}

pub struct Logs {
    /// The drive of the journal, and its sectors.
    journal: Option<(u16, u64)>,
    is_lost: bool,
    /// Where the journal goes on; by member, where its partial parity log does.
    heads: Vec<u64>,
    /// Sectors that the strand being planned writes, and what they are when data operations are kept.
    sectors: u64,
    noted: Vec<Noted>,
    /// What the logs hold that nothing has overwritten, oldest first, when data operations are kept.
    entries: VecDeque<Logged>,
}

impl Logged {
    /// Sectors of the log that it is lost with.
    fn logged(&self) -> u64 {
        if self.is_whole { 1 } else { self.count }
    }
}

impl Logs {
    pub fn new(params: &ArrayParams, capacities: &[u64]) -> Self {
        let ArrayParams { members, spares, .. } = *params;
        let drive = members + spares;
        let journal =
            (params.cure == Cure::Journal).then(|| (drive, capacities.get(usize::from(drive)).copied()));
        Logs {
            journal: journal.map(|(drive, sectors)| (drive, sectors.unwrap_or(0))),
            is_lost: false,
            heads: alloc::vec![0; usize::from(members) + 1],
            sectors: 0,
            noted: Vec::new(),
            entries: VecDeque::new(),
        }
    }

    /// The drive of the journal, while there is one.
    #[inline]
    pub fn drive(&self) -> Option<u16> {
        self.journal.filter(|_| !self.is_lost).map(|(drive, _)| drive)
    }

    /// The drive of the journal has failed.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// What a log held in these sectors is overwritten.
    fn forget(&mut self, log: Spot, count: u64) {
        let is_hit = |entry: &Logged| {
            let overlaps = entry.log.at < log.at + count && log.at < entry.log.at + entry.logged();
            entry.log.slot == log.slot && overlaps
        };
        if self.journal.is_none() {
            return self.entries.retain(|entry| !is_hit(entry));
        }
        // Part of a record of the journal is worth nothing.
        while let Some(hit) = self.entries.iter().find(|entry| is_hit(entry)).map(|entry| entry.record) {
            self.entries.retain(|entry| entry.record != hit);
        }
    }

    /// A record will not be written.
    pub fn give_up(&mut self, record: u32) {
        if !self.entries.is_empty() {
            self.entries.retain(|entry| entry.record != record);
        }
    }

    /// A record goes to the log.
    pub fn is_sent(&mut self, record: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.record == record) {
            entry.is_sent = true;
        }
    }

    /// All writes that a record is for are with the members.
    pub fn is_done(&mut self, record: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.record == record) {
            entry.is_done = true;
        }
    }
}

impl Array {
    /// What the journal or the partial parity logs hold that nothing has overwritten, oldest first; known only when data
    /// operations are kept.
    pub fn log(&self) -> impl Iterator<Item = &Logged> {
        self.logs.entries.iter()
    }

    /// A plan that may write begins.
    #[inline]
    pub(super) fn begin_log(&mut self) -> Result<(), Outcome> {
        self.logs.sectors = 0;
        self.logs.noted.clear();
        if self.logs.is_lost { Err(Outcome::Failed) } else { Ok(()) }
    }

    /// Keeps in mind that a strand writes this, for the journal.
    #[inline]
    pub(super) fn note(&mut self, context: &mut Context<'_>, op: u64, spot: Spot, count: u64) {
        if self.logs.journal.is_some() {
            self.logs.sectors += count;
            if context.data.is_some() {
                self.logs.noted.push(Noted { op, spot, count });
            }
        }
    }

    /// Puts what a strand writes on the journal first.
    pub(super) fn write_journal(&mut self, context: &mut Context<'_>, slot: Slot) {
        let Some((_, capacity)) = self.logs.journal else { return };
        let granule = self.granule();
        self.write_on(context, slot, capacity, granule, None);
        if context.data.is_none() {
            return self.write_on(context, slot, capacity, self.logs.sectors, None);
        }
        let noted = core::mem::take(&mut self.logs.noted);
        for piece in &noted {
            self.write_on(context, slot, capacity, piece.count, Some(piece));
        }
        self.logs.noted = noted;
    }

    /// Appends to the journal.
    fn write_on(
        &mut self,
        context: &mut Context<'_>,
        slot: Slot,
        capacity: u64,
        count: u64,
        piece: Option<&Noted>,
    ) {
        let (journal, most) = (self.params.members, self.params.request.get());
        let mut done = 0;
        while done < count {
            let head = self.logs.heads[usize::from(journal)];
            let part = (count - done).min(most).min(capacity - head);
            let log = Spot { slot: journal, at: head };
            let op = self.add(context, slot, Phase::Log, Access::Write, log, part);
            self.logs.heads[usize::from(journal)] = (head + part) % capacity;
            if context.data.is_some() {
                self.logs.forget(log, part);
            }
            if let Some(&Noted { op: id, spot, .. }) = piece {
                let of = Spot { at: spot.at + done, ..spot };
                self.mix(context, op, log.at, Source { id, at: of.at, factor: 1 }, part);
                let record = self.strands.get(slot).serial;
                let (columns, is_whole, is_done) = ((0, 0), false, false);
                let logged =
                    Logged { op, log, of, count: part, columns, is_whole, record, is_sent: false, is_done };
                self.logs.entries.push_back(logged);
            }
            done += part;
        }
    }

    /// The largest band whose partial parity the log can hold.
    #[inline]
    pub(super) fn largest_band(&self) -> u64 {
        let granule = self.granule();
        let most = match self.params.cure {
            Cure::PartialParityLog => self.params.request.get().min(PARTIAL_PARITY_LOG - granule),
            _ => self.params.request.get(),
        };
        (most / granule * granule).max(granule)
    }

    /// Puts the partial parity of a band on its log, unless the parity's member has nothing to recover.
    pub(super) fn write_partial_parity(
        &mut self,
        context: &mut Context<'_>,
        slot: Slot,
        band: &Band,
        touched: &Touched,
        way: Way,
    ) {
        if band.writable & band.readable & 1 == 0 {
            return;
        }
        let (parity, granule) = (band.parity(0), self.granule());
        let member = usize::from(parity.slot);
        let whole = touched.is_whole(band);
        let body = if whole { 0 } else { band.count };
        let is_open = self.last.has(parity.slot, Phase::Log, self.strands.get(slot).serial);
        let head = if is_open { 0 } else { granule };
        let mut at = self.logs.heads[member];
        if at + head + body > PARTIAL_PARITY_LOG {
            at = 0;
        }
        self.logs.heads[member] = at + head + body;
        let log = Spot { slot: parity.slot, at };
        if context.data.is_some() {
            self.logs.forget(log, head + body);
        }
        if head > 0 {
            self.add(context, slot, Phase::Log, Access::Write, log, head);
        }
        let record = self.strands.get(slot).serial;
        let columns = (touched.first, touched.end);
        let enter = |op, log| {
            let (of, count) = (parity, band.count);
            Logged { op, log, of, count, columns, is_whole: whole, record, is_sent: false, is_done: false }
        };
        if body == 0 {
            if context.data.is_some() {
                // It goes with the granule that describes it, or with what lies before it.
                let log = Spot { at: if head > 0 { at } else { at - 1 }, ..log };
                self.logs.entries.push_back(enter(u64::MAX, log));
            }
            return;
        }
        let log = Spot { at: at + head, ..log };
        let op = self.add(context, slot, Phase::Log, Access::Write, log, body);
        if context.data.is_none() {
            return;
        }
        self.logs.entries.push_back(enter(op, log));
        if way == Way::Old {
            self.mix_parity(context, (op, log.at), band, 0);
        }
        // Either what parity loses, or what stays.
        for column in (0..band.columns()).filter(|&column| touched.has(column) == (way == Way::Old)) {
            self.mix_old(context, (op, log.at), band, (column, band.at, 1), body);
        }
    }
}
