//! The journal (md since Linux 4.4, drivers/md/raid5-cache.c, write-through; Documentation/driver-api/md/raid5-cache).
//!
//! Data and parity of a stripe request go to a separate drive first, behind a granule that describes them,
//! one stripe request after another, wrapping around at the end; then to the members. Without its journal the
//! array accepts no writes.
//!
//! Records stay until the members have the logged data on their media. When a quarter of the journal is no
//! longer needed, or a stripe request waits for room, it is reclaimed as md does it (`r5l_do_reclaim`): the
//! members' caches are flushed, then the superblock records where the valid records begin, and only then is
//! the room reused. md writes the superblock of all members for that, with REQ_PREFLUSH; here it is one FLUSH
//! of each member with a volatile cache, and one superblock, the journal's first granule. md makes its log
//! writes durable with a FLUSH of the journal after them, here they are force unit access.
use super::super::Array;
use super::super::levels::Spot;
use super::super::plan::{Planner, Source};
use super::super::stripe_request::Phase;
use super::{LogWrite, Logged};
use crate::command::Access;
use crate::data::Word;
use crate::storage::context::Context;
use crate::storage::tree::Slot;

/// The journal is reclaimed when 1/4 of it is no longer needed (RECLAIM_MAX_FREE_SPACE_SHIFT).
const RECLAIMED: u64 = 4;

impl Planner {
    /// Records that a stripe request writes this, for the journal.
    #[inline]
    pub(crate) fn note(&mut self, context: &mut Context, op: u64, spot: Spot, count: u64) {
        if self.logs.is_journal() {
            self.logs.draft.sectors += count;
            if context.enabled.data {
                self.logs.draft.log_writes.push(LogWrite { op, spot, count });
            }
        }
    }

    /// Writes to the journal first what a stripe request writes.
    pub(crate) fn write_journal(&mut self, context: &mut Context, slot: Slot) {
        if !self.logs.is_journal() {
            return;
        }
        let granule = self.granule();
        if self.must_queue(slot) || self.logs.rings[0].free() < granule + self.logs.draft.sectors {
            return self.logs.is_short(0);
        }
        let record = self.logs.record(slot);
        self.logs.draft.body.clear();
        self.write_on(context, slot, record, granule);
        // The same commands are made whether data operations are kept or not.
        let head = self.logs.draft.body.len();
        self.write_on(context, slot, record, self.logs.draft.sectors);
        if context.enabled.data {
            self.describe_on(context, record, head);
        }
    }

    /// Appends to the journal.
    fn write_on(&mut self, context: &mut Context, slot: Slot, record: u64, count: u64) {
        let (journal, most) = (self.params.members, self.params.request.get());
        let mut done = 0;
        while done < count {
            let taken = self.logs.rings[0].take(record, (count - done).min(most));
            let Some((at, part)) = taken else { unreachable!("there was room for all of it") };
            let log = Spot { slot: journal, at };
            let op = self.add(context, slot, Phase::Log, Access::Write, log, part);
            if context.enabled.data {
                self.logs.draft.body.push((op, at, part));
            }
            done += part;
        }
    }

    /// States what the commands of a record carry: the first `head` of them describe it, the others hold what
    /// the stripe request writes, piece after piece.
    fn describe_on(&mut self, context: &mut Context, record: u64, head: usize) {
        let (journal, body) = (self.params.members, core::mem::take(&mut self.logs.draft.body));
        let (describes, description, _) = body[0];
        context.add_word(describes, description, Word::Record { number: record });
        let mut commands = body[head..].iter().copied();
        let (mut op, mut at, mut left) = (0, 0, 0);
        for &LogWrite { op: id, spot, count } in &self.logs.draft.log_writes {
            let mut done = 0;
            while done < count {
                if left == 0 {
                    (op, at, left) =
                        commands.next().unwrap_or_else(|| unreachable!("all of it was appended"));
                }
                let part = left.min(count - done);
                let (of, log) = (Spot { at: spot.at + done, ..spot }, Spot { slot: journal, at });
                self.mix(context, op, at, Source { id, at: of.at, factor: 1 }, part);
                let (columns, is_whole) = ((0, 0), false);
                let logged = Logged { op, log, of, count: part, columns, is_whole, record };
                context.add_word(describes, description, Word::Logged(logged));
                (done, at, left) = (done + part, at + part, left - part);
            }
        }
        self.logs.draft.body = body;
    }
}

impl Array {
    /// Reclaims the journal if it is time.
    pub(crate) fn reclaim(&mut self, context: &mut Context) {
        if self.planner.logs.journal.reclaims || self.planner.logs.drive().is_none() {
            return;
        }
        let ring = &self.planner.logs.rings[0];
        let (sectors, number) = ring.done(self.planner.logs.next());
        let is_due = sectors >= ring.capacity() / RECLAIMED || self.planner.logs.has_waiting();
        if sectors == 0 || !is_due {
            return;
        }
        self.planner.logs.journal.reclaims = true;
        let stripe_request = self.add_of_log(context, 0, number);
        self.planner.flush_members(context, stripe_request, Phase::Read, |_| true);
        let super_block = Spot { slot: self.planner.params.members, at: 0 };
        let op = self.planner.add(
            context,
            stripe_request,
            Phase::Log,
            Access::Write,
            super_block,
            self.planner.granule(),
        );
        if context.enabled.data {
            context.add_word(op, 0, Word::Tail { number });
        }
        self.go_on(context, stripe_request);
    }
}
