//! What a stripe request writes to the journal before it writes to the members.
use super::{Plan, Source};
use crate::command::Access;
use crate::data::Word;
use crate::storage::array::logs::{LogWrite, Logged};
use crate::storage::array::members::Spot;
use crate::storage::array::stripe_request::Phase;

impl Plan<'_> {
    /// Records that a stripe request writes this, for the journal.
    #[inline]
    pub fn note(&mut self, op: u64, spot: Spot, count: u64) {
        if self.state.logs.is_journal() {
            self.state.logs.draft.sectors += count;
            if self.context.enabled.data {
                self.state.logs.draft.log_writes.push(LogWrite { op, spot, count });
            }
        }
    }

    /// Writes to the journal first what a stripe request writes.
    pub fn write_journal(&mut self) {
        let granule = self.granule();
        let (slot, logs) = (self.slot, &mut self.state.logs);
        if !logs.is_journal() {
            return;
        }
        if logs.must_queue(slot) || logs.rings[0].free() < granule + logs.draft.sectors {
            return logs.run_short(0);
        }
        let record = logs.record(slot);
        logs.draft.body.clear();
        let sectors = logs.draft.sectors;
        self.write_on(record, granule);
        // The same commands are made whether data operations are kept or not.
        let head = self.state.logs.draft.body.len();
        self.write_on(record, sectors);
        if self.context.enabled.data {
            self.describe_on(record, head);
        }
    }

    /// Appends to the journal.
    fn write_on(&mut self, record: u64, count: u64) {
        let (journal, most) = (self.state.params.members, self.most());
        let mut done = 0;
        while done < count {
            let taken = self.state.logs.rings[0].take(record, (count - done).min(most));
            let Some((at, part)) = taken else { unreachable!("there was room for all of it") };
            let op = self.add(Phase::Log, Access::Write, Spot { slot: journal, at }, part);
            if self.context.enabled.data {
                self.state.logs.draft.body.push((op, at, part));
            }
            done += part;
        }
    }

    /// States what the commands of a record carry: the first `head` of them describe it, the others hold what
    /// the stripe request writes, piece after piece.
    fn describe_on(&mut self, record: u64, head: usize) {
        let journal = self.state.params.members;
        let body = core::mem::take(&mut self.state.logs.draft.body);
        let log_writes = core::mem::take(&mut self.state.logs.draft.log_writes);
        let (describes, description, _) = body[0];
        self.add_word(describes, description, Word::Record { number: record });
        let mut commands = body[head..].iter().copied();
        let (mut op, mut at, mut left) = (0, 0, 0);
        for &LogWrite { op: id, spot, count } in &log_writes {
            let mut done = 0;
            while done < count {
                if left == 0 {
                    (op, at, left) =
                        commands.next().unwrap_or_else(|| unreachable!("all of it was appended"));
                }
                let part = left.min(count - done);
                let (of, log) = (Spot { at: spot.at + done, ..spot }, Spot { slot: journal, at });
                self.mix(op, at, Source { id, at: of.at, factor: 1 }, part);
                let (columns, is_whole) = ((0, 0), false);
                let logged = Logged { op, log, of, count: part, columns, is_whole, record };
                self.add_word(describes, description, Word::Logged(logged));
                (done, at, left) = (done + part, at + part, left - part);
            }
        }
        self.state.logs.draft.body = body;
        self.state.logs.draft.log_writes = log_writes;
    }
}
