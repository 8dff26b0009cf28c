//! [`Planner`], with which a level makes the members' commands of a stripe request.
//!
//! A plan adds commands in any order; one that is adjacent to the last one for the same member, phase and
//! direction is merged with it. A plan that cannot be made, because too many members are missing, returns an
//! error.
mod defects;
mod repair;

use super::OP_IDS;
use super::levels::Spot;
use super::levels::rows::Fetched;
use super::logs::Logs;
use super::members::Members;
use super::params::ArrayParams;
use super::stripe_request::{Op, Owner, Phase, Request, StripeRequest};
use super::unreadable::UnreadableList;
use crate::command::{Access, Outcome};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot};
use alloc::vec;
use alloc::vec::Vec;
pub use defects::Defects;
use drivelab_units::{Lba, Sectors};

/// What plans work with: the members, the commands to them, and what is known of their data.
pub struct Planner {
    pub params: ArrayParams,
    pub members: Members,
    pub requests: Slab<Request>,
    pub stripe_requests: Slab<StripeRequest>,
    pub ops: Slab<Op>,
    /// What a plan has added last for each member, so that an adjacent addition is merged with it.
    pub last: LastOps,
    /// The commands that read a row's units, and those that write them.
    pub fetched: Fetched,
    pub written: Vec<Option<u64>>,
    pub logs: Logs,
    pub defects: Defects,
    /// Incremented for each stripe request, and for each new plan of one.
    pub clock: u64,
    /// Number of members' commands so far.
    ids: u64,
    /// Number of reads so far that had a choice of copies.
    pub turns: u64,
}

/// By member and phase: what the plan of a stripe request has added last.
pub struct LastOps(pub Vec<[(u32, Slot); Phase::COUNT]>);

impl LastOps {
    /// The journal has the entry after the members'.
    pub fn new(members: u16) -> Self {
        LastOps(vec![[(0, NONE); Phase::COUNT]; usize::from(members) + 1])
    }

    /// Whether a plan has added something for a member in this phase.
    pub fn has(&self, slot: u16, phase: Phase, serial: u32) -> bool {
        self.0[usize::from(slot)][phase as usize].0 == serial
    }
}

/// Where the data of a piece of a command come from, or go to.
#[derive(Clone, Copy)]
pub struct Source {
    /// The command whose data they are.
    pub id: u64,
    pub at: u64,
    /// The factor in the field of 256 elements by which they are multiplied before they are added.
    pub factor: u8,
}

impl Planner {
    pub fn new(params: &ArrayParams, members: Members, logs: Logs) -> Self {
        Planner {
            params: params.clone(),
            last: LastOps::new(params.members),
            fetched: Fetched::new(params.members),
            members,
            logs,
            requests: Slab::default(),
            stripe_requests: Slab::default(),
            ops: Slab::default(),
            written: Vec::new(),
            defects: Defects::new(params),
            clock: 0,
            ids: 0,
            turns: 0,
        }
    }

    /// A read is planned, possibly not for the first time: earlier statements on its data no longer apply.
    #[inline]
    pub(crate) fn forget_read(&self, context: &mut Context, slot: Slot) {
        let &StripeRequest { owner, access, first, end, .. } = self.stripe_requests.get(slot);
        if context.enabled.data
            && access == Access::Read
            && let Owner::Request(request) = owner
            && request != NONE
        {
            let (first, count) = (Lba::new(first), Sectors::new(end - first));
            context.data_op(DataOp::Forget { id: self.requests.get(request).command.id, first, count });
        }
    }

    /// Whether a stripe request with this list of unreadable stretches can read the `count` sectors from a
    /// spot on.
    #[inline]
    pub(crate) fn can_read(&self, spot: Spot, count: u64, unreadable: UnreadableList) -> bool {
        self.is_right(spot, count) && !self.defects.unreadable.has(unreadable, spot, count)
    }

    /// The outcome of a stripe request that cannot read something: that of the unreadable read, or `Lost`
    /// where no member has it.
    pub(crate) fn unreadable_outcome(&self, unreadable: UnreadableList) -> Outcome {
        self.defects.unreadable.why(unreadable)
    }

    /// Flushes every member. Where some data are gone with a member a FLUSH cannot succeed: md fails writes
    /// and FLUSH alike once an array is broken, including a striped one with a member missing
    /// (drivers/md/md.c, `MD_BROKEN`).
    pub(crate) fn plan_flush(
        &mut self,
        context: &mut Context,
        slot: Slot,
        has_lost: bool,
    ) -> Result<(), Outcome> {
        if has_lost {
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

    /// Adds a command of a member to a stripe request's plan, or extends the one before it. Returns its id.
    #[inline]
    pub(crate) fn add(
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

    /// The same, with a flag for a repair: the two are kept apart, because the failure of a repair has no
    /// consequence.
    #[inline]
    pub(crate) fn add_to(
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
        if last.0 == entry.plan.serial && last.1 != NONE {
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
        let (head, tail) =
            (&mut entry.plan.unsent[phase as usize], &mut entry.plan.last_unsent[phase as usize]);
        if *head == NONE {
            *head = place;
        } else {
            self.ops.get_mut(*tail).next = place;
        }
        *tail = place;
        *last = (entry.plan.serial, place);
        id
    }

    /// The command that the plan of a stripe request added last for a member.
    pub(crate) fn last_added(&self, stripe_request: Slot, slot: u16, phase: Phase) -> Option<&Op> {
        let (serial, op) = self.last.0[usize::from(slot)][phase as usize];
        (serial == self.stripe_requests.get(stripe_request).plan.serial && op != NONE)
            .then(|| self.ops.get(op))
    }

    /// States where `count` sectors of a command's data come from, when data operations are kept.
    #[inline]
    pub(crate) fn mix(&self, context: &mut Context, into: u64, at: u64, from: Source, count: u64) {
        if context.enabled.data {
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

    /// Discards what was planned and not sent.
    #[cold]
    pub(crate) fn forget_ops(&mut self, context: &mut Context, slot: Slot) {
        // From the write phase on members may have parts of it, and recovery needs its log record.
        if self.stripe_requests.get(slot).phase < Phase::Write {
            self.logs.give_up(slot);
        }
        for phase in Phase::ALL {
            let mut at =
                core::mem::replace(&mut self.stripe_requests.get_mut(slot).plan.unsent[phase as usize], NONE);
            while at != NONE {
                self.ops.free(at);
                let op = self.ops.get(at);
                context.data_op(DataOp::Over { id: op.id });
                at = op.next;
            }
        }
    }

    /// The id of the host's command that a stripe request is part of.
    pub(crate) fn command_id(&self, stripe_request: Slot) -> u64 {
        match self.stripe_requests.get(stripe_request).owner {
            Owner::Request(request) if request != NONE => self.requests.get(request).command.id,
            _ => u64::MAX,
        }
    }
}

impl Planner {
    /// The sectors over which parity is computed as a unit.
    #[inline]
    pub(crate) fn granule(&self) -> u64 {
        self.params.parity.granule.get().max(1)
    }
}
