//! How a strand goes through its phases: it is planned, its commands go to the members and come back, and what could not
//! be read is planned anew.
use super::strand::{Op, Owner, Phase};
use super::{Array, ArrayEvent, sync};
use crate::command::{Attribute, Breakdown, Command, Completion, Outcome, Priority};
use crate::target::context::{Context, Event};
use crate::target::tree::{NONE, Slot};
use drivelab_units::{Bytes, Lba, Sectors, Span};

/// What it takes to say that there is nothing to be had: some work of the software, no more.
const REFUSAL: Span = Span::from_us(10);

impl Array {
    /// Nothing is in a strand's way: it is planned, and goes.
    pub(super) fn begin(&mut self, context: &mut Context<'_>, slot: Slot) {
        let now = context.now;
        let strand = self.strands.get_mut(slot);
        strand.breakdown.queue += now - strand.since;
        strand.since = now;
        self.forget_read(context, slot);
        if let Err(outcome) = self.plan(context, slot) {
            self.forget_ops(slot);
            let strand = self.strands.get_mut(slot);
            (strand.outcome, strand.computes) = (outcome, 0);
            if strand.owner == Owner::Sync {
                return self.end_strand(context, slot);
            }
            // A host that asks again at once must not stop the time.
            let event = ArrayEvent::Computed { strand: slot, serial: strand.serial };
            return context.agenda.schedule(now + REFUSAL, 2, Event::Array(event));
        }
        self.go_on(context, slot);
    }

    /// Sends the commands of the next phase that has any; a strand that has none left is done.
    pub(super) fn go_on(&mut self, context: &mut Context<'_>, slot: Slot) {
        let has_read = self.strands.get(slot).unsent[Phase::Read as usize] == NONE;
        if has_read && self.bitmap.is_some() && !self.mark(context, slot) {
            return;
        }
        for phase in Phase::ALL {
            let strand = self.strands.get_mut(slot);
            if strand.outcome != Outcome::Done {
                self.forget_ops(slot);
                return self.end_strand(context, slot);
            }
            if strand.unsent[phase as usize] == NONE {
                continue;
            }
            if phase > Phase::Read && strand.computes > 0 {
                return self.compute(context, slot);
            }
            strand.phase = phase;
            self.send(slot, phase);
            let strand = self.strands.get(slot);
            if strand.pending > 0 {
                return;
            }
            // Nobody was there to send a read to.
            if strand.is_spoilt {
                return self.plan_anew(context, slot);
            }
        }
        // What a read could not get as it lies.
        if self.strands.get(slot).computes > 0 {
            return self.compute(context, slot);
        }
        self.end_strand(context, slot);
    }

    /// Parity is computed, by one for all, before anything is written.
    pub(super) fn compute(&mut self, context: &mut Context<'_>, slot: Slot) {
        let strand = self.strands.get_mut(slot);
        let bytes = core::mem::take(&mut strand.computes);
        let time = self.params.parity.rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(bytes)));
        if time.is_zero() {
            return self.go_on(context, slot);
        }
        self.computing_until = self.computing_until.max(context.now) + time;
        let event = ArrayEvent::Computed { strand: slot, serial: strand.serial };
        context.agenda.schedule(self.computing_until, 2, Event::Array(event));
    }

    pub(super) fn send(&mut self, slot: Slot, phase: Phase) {
        let strand = self.strands.get_mut(slot);
        if phase == Phase::Log {
            self.logs.is_sent(strand.serial);
        }
        let mut at = core::mem::replace(&mut strand.unsent[phase as usize], NONE);
        let like = match strand.owner {
            Owner::Request(request) => self.requests.get(request).command,
            Owner::Sync | Owner::Bitmap => sync::COMMAND,
        };
        while at != NONE {
            let op = *self.ops.get(at);
            let place = core::mem::replace(&mut at, op.next);
            // It has failed since the strand was planned: there is nobody to send it to.
            let Some(drive) = self.drive_of(op.slot) else {
                self.ops.free(place);
                self.op_failed(&op, Outcome::Failed);
                continue;
            };
            let op = self.ops.get_mut(place);
            (op.drive, op.is_out) = (drive, true);
            if op.slot < self.params.members {
                let member = self.members.get_mut(op.slot);
                member.outstanding += 1;
                member.head = op.at + op.count;
            }
            self.strands.get_mut(slot).pending += 1;
            let command = Command {
                id: op.id,
                initiator: 0,
                tag: place,
                attribute: Attribute::Simple,
                priority: Priority::Normal,
                access: op.access,
                // What is logged must be on the media before what it is for. What a write must know may come from
                // anywhere.
                force_unit_access: like.force_unit_access && op.access == like.access
                    || op.phase == Phase::Log,
                first: Lba::new(op.at),
                count: Sectors::new(op.count),
                ..like
            };
            self.below.push_back((op.drive, command));
        }
    }

    /// All commands of a strand's phase are back.
    pub(super) fn next_phase(&mut self, context: &mut Context<'_>, slot: Slot) {
        if self.strands.get(slot).is_spoilt {
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
    pub fn completed(&mut self, context: &mut Context<'_>, completion: &Completion) {
        let op = *self.ops.get(completion.tag);
        debug_assert!(op.is_out && op.id == completion.id);
        if op.slot < self.params.members {
            self.members.get_mut(op.slot).outstanding -= 1;
        }
        if context.lives.is_some() {
            self.tell(context, &op, completion.breakdown);
        }
        self.end_op(context, completion.tag, completion.outcome, completion.breakdown);
    }

    /// A command is not with its member any more.
    pub(super) fn end_op(
        &mut self,
        context: &mut Context<'_>,
        at: Slot,
        outcome: Outcome,
        breakdown: Breakdown,
    ) {
        let op = *self.ops.get(at);
        self.ops.get_mut(at).is_out = false;
        self.ops.free(at);
        let strand = self.strands.get_mut(op.strand);
        strand.pending -= 1;
        if outcome != Outcome::Done {
            self.op_failed(&op, outcome);
        } else if strand.takes_first && !strand.is_spoilt {
            self.answer_early(context, &op, breakdown);
        }
        let strand = self.strands.get_mut(op.strand);
        if strand.pending > 0 {
            return;
        }
        strand.breakdown.add(&breakdown);
        strand.since = context.now;
        self.next_phase(context, op.strand);
    }

    /// Of several copies that were asked one has answered: the host need not wait for the others.
    pub(super) fn answer_early(&mut self, context: &mut Context<'_>, op: &Op, breakdown: Breakdown) {
        self.first_answer(context, op);
        let slot = op.strand;
        let strand = self.strands.get_mut(slot);
        strand.takes_first = false;
        let mut total = strand.breakdown;
        total.add(&breakdown);
        if let Owner::Request(request) = strand.owner {
            strand.owner = Owner::Request(NONE);
            self.strand_is_done(context, request, total, slot);
        }
    }

    /// A strand could not read what it wanted to: it begins once more, with what it knows now.
    pub(super) fn plan_anew(&mut self, context: &mut Context<'_>, slot: Slot) {
        self.forget_ops(slot);
        // Nothing is to become part of a command of the first plan.
        self.clock += 1;
        let serial = self.clock as u32;
        let strand = self.strands.get_mut(slot);
        (strand.is_spoilt, strand.computes, strand.phase) = (false, 0, Phase::Read);
        strand.serial = serial;
        let is_free = strand.claim.is_none();
        // What lay as it was needs the rest of its rows now.
        if is_free { self.enter(context, slot) } else { self.begin(context, slot) }
    }
}
