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
use super::super::members::{Members, Spot};
use super::super::plan::Plan;
use super::super::stripe_request::Phase;
use crate::command::Access;
use crate::data::Word;
use crate::storage::context::Context;

/// The journal is reclaimed when 1/4 of it is no longer needed (RECLAIM_MAX_FREE_SPACE_SHIFT).
const RECLAIMED: u64 = 4;

impl Array {
    /// Reclaims the journal if it is time.
    pub(crate) fn reclaim(&mut self, context: &mut Context) {
        if self.state.logs.journal.reclaims || self.state.logs.drive().is_none() {
            return;
        }
        let ring = &self.state.logs.rings[0];
        let (sectors, number) = ring.done(self.state.logs.next());
        let is_due = sectors >= ring.capacity() / RECLAIMED || self.state.logs.has_waiting();
        if sectors == 0 || !is_due {
            return;
        }
        self.state.logs.journal.reclaims = true;
        let stripe_request = self.add_of_log(context, 0, number);
        let super_block = Spot { slot: self.state.params.members, at: 0 };
        let mut plan = Plan::new(&mut self.state, context, stripe_request);
        plan.flush(Phase::Read, Members::is_volatile);
        let op = plan.add(Phase::Log, Access::Write, super_block, plan.granule());
        plan.add_word(op, 0, Word::Tail { number });
        self.go_on(context, stripe_request);
    }
}
