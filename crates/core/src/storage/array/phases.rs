//! How a stripe request goes through its phases: it is planned, its commands go to the members and come back, and what
//! could not be read is planned anew.
use super::Array;
use super::levels::ClaimRange;
use super::plan::Plan;
use super::stripe_request::{Op, Owner, Phase, StripeRequest};
use super::waiting;
use crate::command::{Access, Attribute, Breakdown, Command, Completion, Content, Outcome, Priority};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::events::{ArrayEvent, Event};
use crate::storage::tree::{NONE, Slot};
use drivelab_units::{Bytes, Lba, Sectors, Span};

/// The fields of the array's own commands other than their addresses.
const OWN_COMMAND: Command = Command {
    id: 0,
    initiator: 0,
    logical_unit: 0,
    tag: 0,
    attribute: Attribute::Simple,
    priority: Priority::Normal,
    force_unit_access: false,
    direct: true,
    attempt: 0,
    process: u32::MAX - 1,
    synchronous: false,
    access: Access::Read,
    content: Content::Data,
    first: Lba::ZERO,
    count: Sectors::ZERO,
};

impl Array {
    /// Plans a stripe request that nothing blocks, and sends it.
    pub(crate) fn begin(&mut self, context: &mut Context, slot: Slot) {
        if let Some(blocker) = self.background.blocker(&mut self.layout, &self.state, slot) {
            return waiting::wait_behind(&mut self.state.stripe_requests, blocker, slot);
        }
        let now = context.now;
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        stripe_request.breakdown.queue += now - stripe_request.since;
        stripe_request.since = now;
        self.state.forget_read(context, slot);
        if let Err(outcome) = self.plan(context, slot) {
            self.state.forget_ops(context, slot);
            let stripe_request = self.state.stripe_requests.get_mut(slot);
            (stripe_request.outcome, stripe_request.plan.computes) = (outcome, 0);
            if stripe_request.owner == Owner::Background {
                return self.end_stripe_request(context, slot);
            }
            // Time must pass even for a host that retries at once.
            let event = ArrayEvent::Computed { stripe_request: slot, serial: stripe_request.plan.serial };
            let due = self.processors.refuse(now, self.state.params.refusal);
            return context.agenda.schedule(due, 2, Event::Array(event));
        }
        if self.state.logs.is_kept() && self.wait_for_room(context, slot) {
            return;
        }
        self.go_on(context, slot);
    }

    /// Sends the commands of the next phase that has any; a stripe request without further phases is done.
    pub(crate) fn go_on(&mut self, context: &mut Context, slot: Slot) {
        // A refused write sets no bits in the bitmap.
        if self.state.stripe_requests.get(slot).outcome != Outcome::Done {
            self.state.forget_ops(context, slot);
            return self.end_stripe_request(context, slot);
        }
        let has_read = self.state.stripe_requests.get(slot).plan.unsent[Phase::Read as usize] == NONE;
        if has_read && self.bitmap.is_some() && !self.mark(context, slot) {
            return;
        }
        loop {
            let stripe_request = self.state.stripe_requests.get_mut(slot);
            if stripe_request.outcome != Outcome::Done {
                self.state.forget_ops(context, slot);
                return self.end_stripe_request(context, slot);
            }
            let Some(phase) = stripe_request.next_phase() else { break };
            if phase > Phase::Read && stripe_request.plan.computes > 0 {
                return self.compute(context, slot);
            }
            stripe_request.phase = phase;
            self.send(slot, phase);
            let stripe_request = self.state.stripe_requests.get(slot);
            if stripe_request.pending > 0 {
                return;
            }
            // There was no drive to send a read to.
            if stripe_request.plan.is_spoilt {
                return self.plan_anew(context, slot);
            }
            // What it wrote to its log stays there.
            if phase == Phase::Write {
                break;
            }
        }
        // Computes what a read could not get directly.
        if self.state.stripe_requests.get(slot).plan.computes > 0 {
            return self.compute(context, slot);
        }
        self.end_stripe_request(context, slot);
    }

    /// Computes the parity before anything is written, one stripe request at a time.
    pub(crate) fn compute(&mut self, context: &mut Context, slot: Slot) {
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        let bytes = core::mem::take(&mut stripe_request.plan.computes);
        let time = self.state.params.parity.rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(bytes)));
        if time.is_zero() {
            return self.go_on(context, slot);
        }
        let due = self.processors.compute(context.now, time);
        let event = ArrayEvent::Computed { stripe_request: slot, serial: stripe_request.plan.serial };
        context.agenda.schedule(due, 2, Event::Array(event));
    }

    /// Queues the commands of a phase for their members.
    #[inline(always)]
    fn send(&mut self, slot: Slot, phase: Phase) {
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        let mut at = core::mem::replace(&mut stripe_request.plan.unsent[phase as usize], NONE);
        while at != NONE {
            let &Op { slot: member, at: first, count, next, .. } = self.state.ops.get(at);
            let place = core::mem::replace(&mut at, next);
            // The member has failed since the stripe request was planned: there is no drive to send it to.
            let Some(drive) = self.state.drive_of(member) else {
                self.state.ops.free(place);
                let op = *self.state.ops.get(place);
                self.op_failed(&op, Outcome::Failed);
                continue;
            };
            let op = self.state.ops.get_mut(place);
            (op.drive, op.is_out, op.next) = (drive, true, NONE);
            if member < self.state.params.members {
                let member = self.state.members.get_mut(member);
                member.outstanding += 1;
                member.head = first + count;
            }
            self.state.stripe_requests.get_mut(slot).pending += 1;
            self.below.push(&mut self.state.ops, place);
        }
    }

    /// Removes the first of the members' commands that are queued: its drive, and the command for it. Its tag
    /// is the array's own.
    #[inline(always)]
    pub fn next_below(&mut self) -> (u16, Command) {
        let place = self.below.pop(&self.state.ops);
        let op = self.state.ops.get(place);
        let like = match self.state.stripe_requests.get(op.stripe_request).owner {
            Owner::Request(request) if request != NONE => &self.state.requests.get(request).command,
            Owner::Request(_) | Owner::Background | Owner::Bitmap | Owner::Log => &OWN_COMMAND,
        };
        let command = Command {
            id: op.id,
            initiator: 0,
            tag: place,
            attribute: Attribute::Simple,
            priority: Priority::Normal,
            access: op.access,
            content: if like.content == Content::Data { Content::Data } else { self.content_below(like) },
            // What is logged must be on the media before the write that it covers. What a write reads first
            // may come from a cache.
            force_unit_access: like.force_unit_access && op.access == like.access || op.phase == Phase::Log,
            first: Lba::new(op.at),
            count: Sectors::new(op.count),
            ..*like
        };
        (op.drive, command)
    }

    /// The content of a write of zeroes or a discard for a member: the same where it gets nothing but the
    /// host's data, and plain data where it may include parity.
    #[cold]
    fn content_below(&self, like: &Command) -> Content {
        if self.layout().passes_content() { like.content } else { Content::Data }
    }

    /// All commands of a stripe request's phase have been answered.
    #[inline]
    pub(crate) fn next_phase(&mut self, context: &mut Context, slot: Slot) {
        let stripe_request = self.state.stripe_requests.get(slot);
        if stripe_request.plan.is_spoilt {
            self.plan_anew(context, slot);
        } else if stripe_request.is_read_through() {
            self.end_stripe_request(context, slot);
        } else {
            self.go_on(context, slot);
        }
    }

    /// A member's command is done.
    pub fn completed(&mut self, context: &mut Context, completion: &Completion) {
        let &Op { id, slot, is_out, .. } = self.state.ops.get(completion.tag);
        // Its drive has been given up, because of an error of a command that was merged with it.
        if !is_out || id != completion.id {
            return;
        }
        if completion.outcome != Outcome::Done && self.note_error(context, completion) {
            return;
        }
        if slot < self.state.params.members {
            self.state.members.get_mut(slot).outstanding -= 1;
        }
        if context.enabled.traces {
            let op = *self.state.ops.get(completion.tag);
            self.traces.report(&self.state, context, &op, completion.breakdown);
        }
        self.end_op(context, completion.tag, completion.outcome, &completion.breakdown);
    }

    /// A command is no longer with its member.
    #[inline(always)]
    pub(crate) fn end_op(
        &mut self,
        context: &mut Context,
        at: Slot,
        outcome: Outcome,
        breakdown: &Breakdown,
    ) {
        let op = self.state.ops.get_mut(at);
        op.is_out = false;
        let (id, slot, repairs, access) = (op.id, op.stripe_request, op.repairs, op.access);
        self.state.ops.free(at);
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        stripe_request.pending -= 1;
        if outcome != Outcome::Done {
            let op = *self.state.ops.get(at);
            self.op_failed(&op, outcome);
        } else if repairs > 0 {
            self.state.defects.repaired += u64::from(repairs);
        } else if stripe_request.plan.takes_first && !stripe_request.plan.is_spoilt {
            let op = *self.state.ops.get(at);
            self.answer_early(context, &op, breakdown);
        }
        // After a timeout the drive may still carry out a write.
        if access == Access::Read || outcome != Outcome::TimedOut {
            context.data_op(DataOp::Over { id });
        }
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        if stripe_request.pending > 0 {
            return;
        }
        stripe_request.breakdown.add(breakdown);
        stripe_request.since = context.now;
        self.next_phase(context, slot);
    }

    /// One of several copies that were read has answered: the host need not wait for the others.
    #[cold]
    pub(crate) fn answer_early(&mut self, context: &mut Context, op: &Op, breakdown: &Breakdown) {
        let slot = op.stripe_request;
        Plan::new(&mut self.state, context, slot).deliver(op);
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        stripe_request.plan.takes_first = false;
        // What other copies could not deliver is written back once all have answered.
        stripe_request.plan.is_spoilt = !stripe_request.unreadable.is_empty();
        let mut total = stripe_request.breakdown;
        total.add(breakdown);
        if let Owner::Request(request) = stripe_request.owner {
            stripe_request.owner = Owner::Request(NONE);
            if self.state.take_last(request) {
                self.answer(context, request, &total, slot);
            }
        }
    }

    /// A stripe request could not read everything: it is planned once more, with what is known now.
    #[cold]
    pub(crate) fn plan_anew(&mut self, context: &mut Context, slot: Slot) {
        self.state.forget_ops(context, slot);
        // Nothing may be merged with a command of the first plan.
        let serial = self.state.next_serial();
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        let plan = &mut stripe_request.plan;
        (plan.is_spoilt, plan.takes_first, plan.computes, plan.serial) = (false, false, 0, serial);
        stripe_request.phase = Phase::Read;
        let is_free = stripe_request.claim.is_none();
        // A read that needed no claim now needs the rest of its rows.
        if is_free { self.enter(context, slot) } else { self.begin(context, slot) }
    }
}

impl Array {
    /// The blocks that a stripe request must hold exclusively.
    #[inline]
    pub(crate) fn claim_range_of(&self, stripe_request: &StripeRequest) -> Option<ClaimRange> {
        match (stripe_request.access, stripe_request.owner) {
            (Access::Flush, _) => None,
            (_, Owner::Background) => self.layout.window_claim(stripe_request.first, stripe_request.end),
            _ => self.layout.claim_range(&self.state.members, self.state.granule(), stripe_request),
        }
    }

    /// Makes the commands of a stripe request.
    #[inline(always)]
    fn plan(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let &StripeRequest { access, owner, .. } = self.state.stripe_requests.get(slot);
        if owner == Owner::Background {
            return self.background.plan_window(&mut self.layout, &mut self.state, context, slot);
        }
        if access != Access::Read && self.condition.is_broken {
            return Err(Outcome::Failed);
        }
        let bad_blocks = &self.state.defects.bad_blocks;
        if access == Access::Read && !bad_blocks.is_empty() {
            let &StripeRequest { first, end, .. } = self.state.stripe_requests.get(slot);
            if bad_blocks.touch(first, end) {
                return Err(Outcome::Lost);
            }
        }
        match access {
            Access::Read => self.layout.plan_read(&mut Plan::new(&mut self.state, context, slot)),
            Access::Write => self.layout.plan_write(&mut Plan::new(&mut self.state, context, slot)),
            Access::Flush => self.plan_flush(context, slot),
        }
    }

    /// Flushes every member. Where some data are gone with a member a FLUSH cannot succeed: md fails writes
    /// and FLUSH alike once an array is broken, including a striped one with a member missing
    /// (drivers/md/md.c, `MD_BROKEN`).
    fn plan_flush(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        if self.condition.has_lost {
            return Err(Outcome::Lost);
        }
        Plan::new(&mut self.state, context, slot).flush(Phase::Write, |_, _| true);
        Ok(())
    }
}
