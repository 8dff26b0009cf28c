//! How a stripe request goes through its phases: it is planned, its commands go to the members and come back, and what
//! could not be read is planned anew.
use super::stripe_request::{Op, Owner, Phase};
use super::{Array, ArrayEvent, sync};
use crate::command::{Access, Attribute, Breakdown, Command, Completion, Outcome, Priority};
use crate::data::DataOp;
use crate::storage::context::{Context, Event};
use crate::storage::tree::{NONE, Slot};
use drivelab_units::{Bytes, Lba, Sectors, Span};

impl Array {
    /// Nothing is in a stripe request's way: it is planned, and goes.
    pub(super) fn begin(&mut self, context: &mut Context, slot: Slot) {
        if let Some(keeper) = self.keeper(slot) {
            return self.hold(keeper, slot);
        }
        let now = context.now;
        let stripe_request = self.stripe_requests.get_mut(slot);
        stripe_request.breakdown.queue += now - stripe_request.since;
        stripe_request.since = now;
        self.forget_read(context, slot);
        if let Err(outcome) = self.plan(context, slot) {
            self.forget_ops(context, slot);
            let stripe_request = self.stripe_requests.get_mut(slot);
            (stripe_request.outcome, stripe_request.computes) = (outcome, 0);
            if stripe_request.owner == Owner::Sync {
                return self.end_stripe_request(context, slot);
            }
            // A host that asks again at once must not stop the time.
            let event = ArrayEvent::Computed { stripe_request: slot, serial: stripe_request.serial };
            self.refusing_until = self.refusing_until.max(now) + self.params.refusal;
            return context.agenda.schedule(self.refusing_until, 2, Event::Array(event));
        }
        if self.logs.is_kept() && self.waits_for_room(context, slot) {
            return;
        }
        self.go_on(context, slot);
    }

    /// Sends the commands of the next phase that has any; a stripe request that has none left is done.
    pub(super) fn go_on(&mut self, context: &mut Context, slot: Slot) {
        // What is refused marks nothing.
        if self.stripe_requests.get(slot).outcome != Outcome::Done {
            self.forget_ops(context, slot);
            return self.end_stripe_request(context, slot);
        }
        let has_read = self.stripe_requests.get(slot).unsent[Phase::Read as usize] == NONE;
        if has_read && self.bitmap.is_some() && !self.mark(context, slot) {
            return;
        }
        loop {
            let stripe_request = self.stripe_requests.get_mut(slot);
            if stripe_request.outcome != Outcome::Done {
                self.forget_ops(context, slot);
                return self.end_stripe_request(context, slot);
            }
            let Some(phase) = stripe_request.next_phase() else { break };
            if phase > Phase::Read && stripe_request.computes > 0 {
                return self.compute(context, slot);
            }
            stripe_request.phase = phase;
            self.send(slot, phase);
            let stripe_request = self.stripe_requests.get(slot);
            if stripe_request.pending > 0 {
                return;
            }
            // Nobody was there to send a read to.
            if stripe_request.is_spoilt {
                return self.plan_anew(context, slot);
            }
            // What is on its log stays there.
            if phase == Phase::Write {
                break;
            }
        }
        // What a read could not get as it lies.
        if self.stripe_requests.get(slot).computes > 0 {
            return self.compute(context, slot);
        }
        self.end_stripe_request(context, slot);
    }

    /// Parity is computed, by one for all, before anything is written.
    pub(super) fn compute(&mut self, context: &mut Context, slot: Slot) {
        let stripe_request = self.stripe_requests.get_mut(slot);
        let bytes = core::mem::take(&mut stripe_request.computes);
        let time = self.params.parity.rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(bytes)));
        if time.is_zero() {
            return self.go_on(context, slot);
        }
        self.computing_until = self.computing_until.max(context.now) + time;
        let event = ArrayEvent::Computed { stripe_request: slot, serial: stripe_request.serial };
        context.agenda.schedule(self.computing_until, 2, Event::Array(event));
    }

    /// The commands of a phase are to go to their members.
    #[inline(always)]
    fn send(&mut self, slot: Slot, phase: Phase) {
        let stripe_request = self.stripe_requests.get_mut(slot);
        let mut at = core::mem::replace(&mut stripe_request.unsent[phase as usize], NONE);
        while at != NONE {
            let &Op { slot: member, at: first, count, next, .. } = self.ops.get(at);
            let place = core::mem::replace(&mut at, next);
            // It has failed since the stripe request was planned: there is nobody to send it to.
            let Some(drive) = self.drive_of(member) else {
                self.ops.free(place);
                let op = *self.ops.get(place);
                self.op_failed(&op, Outcome::Failed);
                continue;
            };
            let op = self.ops.get_mut(place);
            (op.drive, op.is_out, op.next) = (drive, true, NONE);
            if member < self.params.members {
                let member = self.members.get_mut(member);
                member.outstanding += 1;
                member.head = first + count;
            }
            self.stripe_requests.get_mut(slot).pending += 1;
            match self.below {
                (NONE, _) => self.below = (place, place),
                (_, last) => {
                    self.ops.get_mut(last).next = place;
                    self.below.1 = place;
                }
            }
        }
    }

    /// Hands over the first of the members' commands that are to go: its drive, and what that hears. Its tag is the
    /// array's own.
    #[inline(always)]
    pub fn next_below(&mut self) -> (u16, Command) {
        let place = self.below.0;
        let op = self.ops.get(place);
        self.below.0 = op.next;
        let like = match self.stripe_requests.get(op.stripe_request).owner {
            Owner::Request(request) if request != NONE => &self.requests.get(request).command,
            Owner::Request(_) | Owner::Sync | Owner::Bitmap | Owner::Log => &sync::COMMAND,
        };
        let command = Command {
            id: op.id,
            initiator: 0,
            tag: place,
            attribute: Attribute::Simple,
            priority: Priority::Normal,
            access: op.access,
            // What is logged must be on the media before what it is for. What a write must know may come from anywhere.
            force_unit_access: like.force_unit_access && op.access == like.access || op.phase == Phase::Log,
            first: Lba::new(op.at),
            count: Sectors::new(op.count),
            ..*like
        };
        (op.drive, command)
    }

    /// All commands of a stripe request's phase are back.
    #[inline]
    pub(super) fn next_phase(&mut self, context: &mut Context, slot: Slot) {
        if self.stripe_requests.get(slot).is_spoilt {
            self.plan_anew(context, slot);
        } else {
            self.go_on(context, slot);
        }
    }

    /// The drive that has a slot; the journal's is the one behind the members'.
    #[inline]
    pub(super) fn drive_of(&self, slot: u16) -> Option<u16> {
        if slot == self.params.members {
            return self.logs.drive();
        }
        self.members.can_write(slot).then(|| self.members.get(slot).drive)
    }

    /// A member's command is done.
    pub fn completed(&mut self, context: &mut Context, completion: &Completion) {
        let &Op { id, slot, is_out, .. } = self.ops.get(completion.tag);
        // Its drive has been given up, by the error of a command that was merged with it.
        if !is_out || id != completion.id {
            return;
        }
        if completion.outcome != Outcome::Done && self.has_erred(context, completion) {
            return;
        }
        if slot < self.params.members {
            self.members.get_mut(slot).outstanding -= 1;
        }
        if context.traces.is_some() {
            let op = *self.ops.get(completion.tag);
            self.tell(context, &op, completion.breakdown);
        }
        self.end_op(context, completion.tag, completion.outcome, &completion.breakdown);
    }

    /// A command is not with its member any more.
    #[inline(always)]
    pub(super) fn end_op(
        &mut self,
        context: &mut Context,
        at: Slot,
        outcome: Outcome,
        breakdown: &Breakdown,
    ) {
        let op = self.ops.get_mut(at);
        op.is_out = false;
        let (id, slot, repairs, access) = (op.id, op.stripe_request, op.repairs, op.access);
        self.ops.free(at);
        let stripe_request = self.stripe_requests.get_mut(slot);
        stripe_request.pending -= 1;
        if outcome != Outcome::Done {
            let op = *self.ops.get(at);
            self.op_failed(&op, outcome);
        } else if repairs > 0 {
            self.repaired += u64::from(repairs);
        } else if stripe_request.takes_first && !stripe_request.is_spoilt {
            let op = *self.ops.get(at);
            self.answer_early(context, &op, breakdown);
        }
        // A write that is not answered in time its drive may still carry out.
        if access == Access::Read || outcome != Outcome::TimedOut {
            context.data_op(DataOp::Over { id });
        }
        let stripe_request = self.stripe_requests.get_mut(slot);
        if stripe_request.pending > 0 {
            return;
        }
        stripe_request.breakdown.add(breakdown);
        stripe_request.since = context.now;
        self.next_phase(context, slot);
    }

    /// Of several copies that were asked one has answered: the host need not wait for the others.
    #[cold]
    pub(super) fn answer_early(&mut self, context: &mut Context, op: &Op, breakdown: &Breakdown) {
        self.first_answer(context, op);
        let slot = op.stripe_request;
        let stripe_request = self.stripe_requests.get_mut(slot);
        stripe_request.takes_first = false;
        // What others could not give is written back once all have answered.
        stripe_request.is_spoilt = !stripe_request.avoids.is_empty();
        let mut total = stripe_request.breakdown;
        total.add(breakdown);
        if let Owner::Request(request) = stripe_request.owner {
            stripe_request.owner = Owner::Request(NONE);
            if self.is_last(request) {
                self.answer(context, request, &total, slot);
            }
        }
    }

    /// A stripe request could not read what it wanted to: it begins once more, with what it knows now.
    #[cold]
    pub(super) fn plan_anew(&mut self, context: &mut Context, slot: Slot) {
        self.forget_ops(context, slot);
        // Nothing is to become part of a command of the first plan.
        self.clock += 1;
        let serial = self.clock as u32;
        let stripe_request = self.stripe_requests.get_mut(slot);
        (stripe_request.is_spoilt, stripe_request.computes, stripe_request.phase) = (false, 0, Phase::Read);
        stripe_request.takes_first = false;
        stripe_request.serial = serial;
        let is_free = stripe_request.claim.is_none();
        // What lay as it was needs the rest of its rows now.
        if is_free { self.enter(context, slot) } else { self.begin(context, slot) }
    }
}
