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
use super::super::members::Members;
use super::super::plan::Plan;
use super::super::stripe_request::Phase;
use super::ring::RecordState;
use crate::storage::context::Context;

impl Array {
    /// The writes that a record covers have been answered by all members.
    pub(crate) fn note_answered(&mut self, context: &mut Context, number: u64) {
        let mut is_free = false;
        for which in 0..self.state.logs.rings.len() {
            let state =
                if self.state.members.any_volatile() { RecordState::Answered } else { RecordState::Free };
            let ring = &mut self.state.logs.rings[which];
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
        if is_free && self.state.logs.has_waiting() {
            self.admit_to_logs(context);
        }
    }

    /// Frees what is no longer needed of a partial parity log that a stripe request waits for.
    pub(crate) fn flush_if_idle(&mut self, context: &mut Context, which: u16) {
        let which = usize::from(which);
        let ring = &self.state.logs.rings[which];
        if ring.needed() == 0 && !ring.is_empty() && !self.state.logs.units[which].is_flushing {
            self.flush_unit(context, which);
        }
    }

    /// All stripe requests of a unit are done: flushes the members that they wrote to.
    fn flush_unit(&mut self, context: &mut Context, which: usize) {
        self.state.logs.units[which].is_flushing = true;
        let written = core::mem::take(&mut self.state.logs.units[which].written);
        let stripe_request = self.add_of_log(context, which as u64, 0);
        let is_meant = |members: &Members, slot| members.is_volatile(slot) && written.contains(&slot);
        Plan::new(&mut self.state, context, stripe_request).flush(Phase::Write, is_meant);
        self.state.logs.units[which].written = written;
        self.go_on(context, stripe_request);
    }
}
