//! The state of an array that its stripe requests share: the members, the tables of requests and of members'
//! commands, the logs, and what is known of the members' data.
use super::defects::Defects;
use super::logs::Logs;
use super::members::Members;
use super::params::ArrayParams;
use super::plan::Planning;
use super::reserved;
use super::stripe_request::{Op, Owner, Phase, Request, StripeRequest};
use super::unreadable::is_unread;
use crate::command::{Access, Outcome};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot};
use drivelab_units::{Lba, Sectors};

pub struct ArrayState {
    pub params: ArrayParams,
    pub members: Members,
    pub requests: Slab<Request>,
    pub stripe_requests: Slab<StripeRequest>,
    pub ops: Slab<Op>,
    pub logs: Logs,
    pub defects: Defects,
    pub planning: Planning,
    /// Incremented for each stripe request, and for each new plan of one.
    clock: u64,
}

impl ArrayState {
    pub fn new(params: &ArrayParams, members: Members, logs: Logs) -> Self {
        ArrayState {
            params: params.clone(),
            members,
            requests: Slab::default(),
            stripe_requests: Slab::default(),
            ops: Slab::default(),
            logs,
            defects: Defects::new(params),
            planning: Planning::new(params.members),
            clock: 0,
        }
    }

    /// The number of stripe requests and plans so far.
    #[inline]
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// A serial number for a new stripe request or a new plan of one.
    #[inline]
    pub fn next_serial(&mut self) -> u32 {
        self.clock += 1;
        self.clock as u32
    }

    /// From now on nothing is merged with what the plan of a stripe request has added so far.
    pub fn renew_serial(&mut self, slot: Slot) {
        self.stripe_requests.get_mut(slot).plan.serial = self.next_serial();
    }

    /// The sectors over which parity is computed as a unit.
    #[inline]
    pub fn granule(&self) -> u64 {
        reserved::granule(&self.params)
    }

    /// The id of the host's command that a stripe request is part of.
    pub fn command_id(&self, slot: Slot) -> u64 {
        match self.stripe_requests.get(slot).owner {
            Owner::Request(request) if request != NONE => self.requests.get(request).command.id,
            _ => u64::MAX,
        }
    }

    /// The drive in a slot; the journal's slot follows the members'.
    #[inline]
    pub fn drive_of(&self, slot: u16) -> Option<u16> {
        if slot == self.params.members {
            return self.logs.drive();
        }
        self.members.can_write(slot).then(|| self.members.get(slot).drive)
    }

    /// One of a request's stripe requests is done. Returns whether it was the last.
    #[inline]
    pub fn take_last(&mut self, request: Slot) -> bool {
        let stripe_requests = &mut self.requests.get_mut(request).stripe_requests;
        *stripe_requests -= 1;
        *stripe_requests == 0
    }

    /// A read is planned, possibly not for the first time: earlier statements on its data no longer apply.
    #[inline]
    pub fn forget_read(&self, context: &mut Context, slot: Slot) {
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

    /// Discards what was planned and not sent.
    #[cold]
    pub fn forget_ops(&mut self, context: &mut Context, slot: Slot) {
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

    /// A failed read has no consequence if another copy has answered or may still do so. Returns whether that
    /// is so; what could not be read is then noted, to be written back.
    pub fn excuse_read(&mut self, op: &Op, outcome: Outcome) -> bool {
        let stripe_request = self.stripe_requests.get_mut(op.stripe_request);
        let is_answered = stripe_request.owner == Owner::Request(NONE);
        if !is_answered && (!stripe_request.plan.takes_first || stripe_request.pending == 0) {
            return false;
        }
        if is_unread(outcome) {
            self.defects.unreadable.add(&mut stripe_request.unreadable, op.spot(), op.count, outcome);
        }
        if is_answered {
            // There is something to write back whose data this plan has not read: it is planned anew.
            stripe_request.plan.is_spoilt = !stripe_request.unreadable.is_empty();
        }
        true
    }
}
