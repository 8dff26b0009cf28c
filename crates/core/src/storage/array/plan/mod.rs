//! How a stripe request becomes members' commands: one file a way of reading or writing.
//!
//! A plan adds commands in any order; what lies behind the last one for the same member, phase and direction becomes part
//! of it. A plan that cannot be made, because too many members are missing, says so.
mod bitmap;
mod consistency;
mod copied;
mod interleaved;
mod journal;
mod linear;
mod made;
mod partial_parity;
mod raidz;
mod raidz_sums;
mod raidz_whole;
mod repair;
mod ring;
mod row;
mod rows_read;
mod rows_write;

use super::avoids::Avoids;
use super::layout::{Layout, Spot};
use super::stripe_request::{Op, Phase, StripeRequest};
use super::{Array, OP_IDS};
use crate::command::{Access, Outcome};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::tree::{NONE, Slot};
use alloc::vec;
use alloc::vec::Vec;
pub use bitmap::{Bit, Bitmap};
pub use consistency::{Logged, Logs};
use drivelab_units::{Lba, Sectors};
pub use row::Fetched;

/// By member and phase: what the plan of a stripe request has added last.
pub struct LastOps(Vec<[(u32, Slot); Phase::COUNT]>);

impl LastOps {
    /// The journal's place is behind the members'.
    pub fn new(members: u16) -> Self {
        LastOps(vec![[(0, NONE); Phase::COUNT]; usize::from(members) + 1])
    }

    /// Whether a plan has added something for a member in this phase.
    fn has(&self, slot: u16, phase: Phase, serial: u32) -> bool {
        self.0[usize::from(slot)][phase as usize].0 == serial
    }
}

/// Where the data of a piece of a command come from, or go to.
#[derive(Clone, Copy)]
pub struct Source {
    /// Which command's data.
    pub id: u64,
    pub at: u64,
    /// What they are multiplied with in the field of 256 elements, before they are added.
    pub factor: u8,
}

impl Array {
    /// The blocks that a stripe request must have to itself: whether it writes, and the first and the end of them in
    /// whatever numbers the level counts.
    #[inline]
    pub(super) fn blocks_of(&self, stripe_request: &StripeRequest) -> Option<(bool, u64, u64)> {
        if stripe_request.access == Access::Flush {
            return None;
        }
        if stripe_request.owner == super::stripe_request::Owner::Sync {
            return self.blocks_of_sync(stripe_request.first, stripe_request.end);
        }
        match &self.layout {
            Layout::Linear(_) => None,
            Layout::Copied(copied) if copied.copies() == 1 => None,
            // What is written back must not be older than what a host writes meanwhile.
            Layout::Copied(_)
                if stripe_request.access == Access::Read && stripe_request.avoids.is_empty() =>
            {
                None
            }
            Layout::Copied(_) => {
                Some((stripe_request.access == Access::Write, stripe_request.first, stripe_request.end))
            }
            Layout::Rows(rows) => self.blocks_of_rows(rows, stripe_request),
            Layout::RaidZ(pool) => Some(Self::blocks_of_records(pool, stripe_request)),
        }
    }

    /// Where a command's first stripe request ends.
    #[inline]
    pub(super) fn cut(&self, access: Access, at: u64, end: u64) -> u64 {
        match (&self.layout, access) {
            (Layout::Rows(rows), Access::Write) => {
                self.cut_at_log(rows, at, Self::cut_at_rows(rows, at, end))
            }
            (Layout::RaidZ(pool), Access::Write) => Self::cut_at_records(pool, at, end),
            (Layout::Copied(copied), Access::Read) => self.cut_at_piece(copied, at, end),
            _ => end,
        }
    }

    /// A read is planned, and maybe not for the first time: what was said of its data does not hold any more.
    #[inline]
    pub(super) fn forget_read(&self, context: &mut Context, slot: Slot) {
        let &StripeRequest { owner, access, first, end, .. } = self.stripe_requests.get(slot);
        if context.data.is_some()
            && access == Access::Read
            && let super::stripe_request::Owner::Request(request) = owner
            && request != NONE
        {
            let (first, count) = (Lba::new(first), Sectors::new(end - first));
            context.data_op(DataOp::Forget { id: self.requests.get(request).command.id, first, count });
        }
    }

    /// Makes the commands of a stripe request.
    #[inline(always)]
    pub(super) fn plan(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let stripe_request = self.stripe_requests.get(slot);
        if stripe_request.owner == super::stripe_request::Owner::Sync {
            return self.plan_sync(context, slot);
        }
        if stripe_request.access != Access::Read && self.refuses_writes() {
            return Err(Outcome::Failed);
        }
        if stripe_request.access == Access::Flush {
            return self.plan_flush(context, slot);
        }
        match (&self.layout, stripe_request.access) {
            (Layout::Linear(_), _) => self.plan_linear(context, slot),
            (Layout::Copied(_), Access::Read) => self.plan_copied_read(context, slot),
            (Layout::Copied(_), _) => self.plan_copied_write(context, slot),
            (Layout::Rows(rows), _) if rows.is_interleaved() => self.plan_interleaved(context, slot),
            (Layout::Rows(_), Access::Read) => self.plan_rows_read(context, slot),
            (Layout::Rows(_), _) => self.plan_rows_write(context, slot),
            (Layout::RaidZ(_), Access::Read) => self.plan_raidz_read(context, slot),
            (Layout::RaidZ(_), _) => self.plan_raidz_write(context, slot),
        }
    }

    /// Whether a stripe request that has met this can read so many sectors from a spot on.
    #[inline]
    fn can_read(&self, spot: Spot, count: u64, avoids: Avoids) -> bool {
        self.is_right(spot, count) && !self.unreadable.has(avoids, spot, count)
    }

    /// Why something cannot be read by a stripe request: what there is did not give it, or there is nothing.
    fn gone(&self, avoids: Avoids) -> Outcome {
        self.unreadable.why(avoids)
    }

    /// Every member is to have on its media what it has answered. Where some of that is gone with a member nobody can
    /// promise it: md fails writes and FLUSH alike once an array is broken, a striped one that misses a member included
    /// (drivers/md/md.c, `MD_BROKEN`).
    fn plan_flush(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        if self.has_lost() {
            return Err(Outcome::Lost);
        }
        for member in 0..self.params.members {
            if self.members.can_write(member) {
                let spot = Spot { slot: member, at: 0 };
                self.add(context, slot, Phase::Write, Access::Flush, spot, 0);
            }
        }
        Ok(())
    }

    /// Adds a command of a member to a stripe request's plan, or makes the one before it longer. Returns its id.
    #[inline]
    pub(super) fn add(
        &mut self,
        _context: &mut Context,
        stripe_request: Slot,
        phase: Phase,
        access: Access,
        spot: Spot,
        count: u64,
    ) -> u64 {
        self.add_to(stripe_request, phase, (access, false), spot, count)
    }

    /// The same for a command that repairs, or not: the two are kept apart, because nobody misses a repair that fails.
    #[inline]
    pub(super) fn add_to(
        &mut self,
        stripe_request: Slot,
        phase: Phase,
        (access, repairs): (Access, bool),
        spot: Spot,
        count: u64,
    ) -> u64 {
        let most = self.params.request.get();
        let entry = self.stripe_requests.get_mut(stripe_request);
        let last = &mut self.last.0[usize::from(spot.slot)][phase as usize];
        if last.0 == entry.serial && last.1 != NONE {
            let op = self.ops.get_mut(last.1);
            let goes_on = op.at + op.count == spot.at && op.access == access && (op.repairs > 0) == repairs;
            if goes_on && op.count + count <= most && op.stripe_request == stripe_request && !op.is_out {
                op.count += count;
                return op.id;
            }
        }
        let id = OP_IDS + self.ids;
        self.ids += 1;
        let (slot, at, drive, is_out) = (spot.slot, spot.at, 0, false);
        let op =
            Op { id, stripe_request, slot, drive, access, phase, at, count, is_out, repairs: 0, next: NONE };
        let place = self.ops.add(op);
        // Sent in the order in which they were added.
        let (head, tail) = (&mut entry.unsent[phase as usize], &mut entry.last_unsent[phase as usize]);
        if *head == NONE {
            *head = place;
        } else {
            self.ops.get_mut(*tail).next = place;
        }
        *tail = place;
        *last = (entry.serial, place);
        id
    }

    /// The command that the plan of a stripe request has added last for a member.
    pub(super) fn last_added(&self, stripe_request: Slot, slot: u16, phase: Phase) -> Option<&Op> {
        let (serial, op) = self.last.0[usize::from(slot)][phase as usize];
        (serial == self.stripe_requests.get(stripe_request).serial && op != NONE).then(|| self.ops.get(op))
    }

    /// Says where so many sectors of a command's data come from, when data operations are kept.
    #[inline]
    pub(super) fn mix(&self, context: &mut Context, into: u64, at: u64, from: Source, count: u64) {
        if context.data.is_some() {
            context.data_op(DataOp::Mix {
                into,
                at: Lba::new(at),
                from: from.id,
                from_at: Lba::new(from.at),
                count: Sectors::new(count),
                factor: from.factor,
            });
        }
    }

    /// What was planned and not sent is given up.
    #[cold]
    pub(super) fn forget_ops(&mut self, context: &mut Context, slot: Slot) {
        // What members may have of it must be had from the log.
        if self.stripe_requests.get(slot).phase < Phase::Write {
            self.logs.give_up(slot);
        }
        for phase in Phase::ALL {
            let mut at =
                core::mem::replace(&mut self.stripe_requests.get_mut(slot).unsent[phase as usize], NONE);
            while at != NONE {
                self.ops.free(at);
                let op = self.ops.get(at);
                context.data_op(DataOp::Over { id: op.id });
                at = op.next;
            }
        }
    }

    /// The id of the host's command that a stripe request is part of.
    pub(super) fn command_id(&self, stripe_request: Slot) -> u64 {
        match self.stripe_requests.get(stripe_request).owner {
            super::stripe_request::Owner::Request(request) if request != NONE => {
                self.requests.get(request).command.id
            }
            _ => u64::MAX,
        }
    }
}
