//! The partial parity log (md since Linux 4.12, drivers/md/raid5-ppl.c; Documentation/driver-api/md/raid5-ppl).
//!
//! Before data and parity are written, the sum of the row's units that are not written goes to a log on the
//! parity's member, behind a granule that describes it. After a power cut it gives the parity, together with
//! the data found on the members. A row that is written as a whole needs the description only.
//!
//! Log writes under way at the same time reach the media in any order, and one that is given up never does: a
//! newer record may be there and an older one not, so that what the older one should have overwritten is
//! still there, and newer records of the same rows may be missing. So each command to a log begins with a
//! description, which says from which record on the log is valid. Whatever is overwritten was free by then,
//! and everything below that number is obsolete. md writes one unit of a log at a time and recovers the one
//! with the highest generation (`ppl_load_distributed`).
//!
//! On members without a volatile cache a record is free when the writes that it covers have been answered;
//! each stripe request has its own log write. On members with one, a sum is valid only while all data that it
//! was computed from are on the media. So, as in md since 4.16, each log has one *unit* of records under way:
//! it ends when all of its stripe requests are done and the members that they wrote to have flushed
//! (`ppl_do_flush`), and what arrives meanwhile goes into the next unit together.
use super::super::Array;
use super::super::levels::Spot;
use super::super::levels::reserved::PARTIAL_PARITY_LOG;
use super::super::params::ConsistencyPolicy;
use super::super::plan::Planner;
use super::super::stripe_request::Phase;
use super::ring::RecordState;
use crate::command::Access;
use crate::data::Word;
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::vec::Vec;

/// Records of one log on members with a volatile cache, which are freed together.
#[derive(Default)]
pub struct Unit {
    /// The scan of the waiting stripe requests in which it began: only those of this scan may still join it.
    pub(crate) began: u64,
    is_flushing: bool,
    /// The members that it writes to.
    pub(crate) written: Vec<u16>,
}

impl Planner {
    /// The largest band whose partial parity the log can hold, with the descriptions of the up to three
    /// commands that it takes.
    #[inline]
    pub(crate) fn largest_band(&self) -> u64 {
        let granule = self.granule();
        let most = match self.params.consistency_policy {
            ConsistencyPolicy::PartialParityLog => self.params.request.get().min(PARTIAL_PARITY_LOG / 2),
            _ => self.params.request.get(),
        };
        (most / granule * granule).max(granule)
    }

    /// Whether the current unit of a log on members with a volatile cache may take one more record.
    pub(crate) fn may_join(&self, ring: u16) -> bool {
        if self.logs.is_journal() || !self.members.any_volatile() {
            return true;
        }
        let (ring, unit) = (&self.logs.rings[usize::from(ring)], &self.logs.units[usize::from(ring)]);
        let is_open = ring.is_empty() || self.logs.is_joining() && unit.began == self.logs.queue.scans;
        !unit.is_flushing && is_open
    }

    /// Takes room in a log for a separate command, which begins with a granule that describes it and
    /// continues with up to `count` sectors. Returns the command, where these sectors begin and how many they
    /// are; `None` where there is no room.
    pub(crate) fn begin_in_log(
        &mut self,
        context: &mut Context,
        slot: Slot,
        parity: Spot,
        record: u64,
        count: u64,
    ) -> Option<(u64, u64, u64)> {
        let (granule, member) = (self.granule(), usize::from(parity.slot));
        let most = (self.params.request.get() / granule).max(2) * granule;
        let ring = &mut self.logs.rings[member];
        if count > 0 && ring.before_end() == granule {
            // Only a description without data would fit.
            ring.take(record, granule)?;
        }
        let (at, taken) = ring.take(record, (granule + count.next_multiple_of(granule)).min(most))?;
        let tail = ring.oldest().unwrap_or(record);
        let count = count.min(taken - granule);
        let op = self.add(context, slot, Phase::Log, Access::Write, Spot { at, ..parity }, granule + count);
        self.logs.draft.described[member] = (op, at);
        if context.enabled.data {
            context.add_word(op, at, Word::Record { number: record });
            context.add_word(op, at, Word::Tail { number: tail });
        }
        Some((op, at + granule, count))
    }

    /// The same, as an extension of the stripe request's last command to the log where that is possible.
    pub(crate) fn goes_on_in_log(
        &mut self,
        context: &mut Context,
        slot: Slot,
        parity: Spot,
        record: u64,
        count: u64,
    ) -> Option<(u64, u64, u64)> {
        let (granule, most) = (self.granule(), self.params.request.get());
        let last = self.last_added(slot, parity.slot, Phase::Log)?;
        let (end, room) = (last.at + last.count, most.saturating_sub(last.count) / granule * granule);
        let ring = &mut self.logs.rings[usize::from(parity.slot)];
        if room == 0 || ring.head() != end {
            return None;
        }
        let (at, taken) = ring.take(record, count.next_multiple_of(granule).min(room))?;
        let count = count.min(taken);
        let op = self.add(context, slot, Phase::Log, Access::Write, Spot { at, ..parity }, count);
        Some((op, at, count))
    }
}

impl Array {
    /// The writes that a record covers have been answered by all members.
    pub(crate) fn is_answered(&mut self, context: &mut Context, number: u64) {
        let mut is_free = false;
        for which in 0..self.planner.logs.rings.len() {
            let state =
                if self.planner.members.any_volatile() { RecordState::Answered } else { RecordState::Free };
            let ring = &mut self.planner.logs.rings[which];
            if ring.is_empty() || !ring.set(number, state) {
                continue;
            }
            if state == RecordState::Free {
                ring.advance();
                is_free = true;
            } else if ring.needed() == 0 {
                self.flush_unit(context, which);
            }
        }
        if is_free && self.planner.logs.has_waiting() {
            self.admit_to_logs(context);
        }
    }

    /// Frees what is no longer needed of a partial parity log that a stripe request waits for.
    pub(crate) fn may_flush_unit(&mut self, context: &mut Context, which: u16) {
        let which = usize::from(which);
        let ring = &self.planner.logs.rings[which];
        if ring.needed() == 0 && !ring.is_empty() && !self.planner.logs.units[which].is_flushing {
            self.flush_unit(context, which);
        }
    }

    /// All stripe requests of a unit are done: flushes the members that they wrote to.
    fn flush_unit(&mut self, context: &mut Context, which: usize) {
        self.planner.logs.units[which].is_flushing = true;
        let written = core::mem::take(&mut self.planner.logs.units[which].written);
        let stripe_request = self.add_of_log(context, which as u64, 0);
        self.planner.flush_members(context, stripe_request, Phase::Write, |slot| written.contains(&slot));
        self.planner.logs.units[which].written = written;
        self.go_on(context, stripe_request);
    }

    /// The members have the data of a unit on their media.
    pub(crate) fn unit_is_free(&mut self, which: u16) {
        let next = self.planner.logs.next();
        self.planner.logs.units[usize::from(which)].is_flushing = false;
        self.planner.logs.rings[usize::from(which)].free_below(next);
    }
}
