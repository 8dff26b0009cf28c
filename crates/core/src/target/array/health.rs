//! What an array does about failures: members that are gone, sectors that cannot be read, spares.
use super::members::State;
use super::report::{Happened, Report};
use super::strand::Op;
use super::{Array, ArrayEvent};
use crate::command::{Access, Breakdown, Outcome};
use crate::target::context::{Context, Event};
use crate::target::tree::Slot;
use alloc::vec::Vec;

impl Array {
    /// To be called once, before anything else.
    pub fn start(&mut self, context: &mut Context<'_>) {
        use super::params::When;
        for slot in self.params.missing.clone() {
            self.members.set(slot, State::Missing);
        }
        for failure in &self.params.failures {
            if let When::At(at) = failure.when {
                context.agenda.schedule(at, 0, Event::Fails { drive: failure.drive });
            }
        }
    }

    /// Drives that fail after so many commands.
    pub(super) fn fail_by_count(&mut self, context: &mut Context<'_>) {
        use super::params::When;
        for failure in &self.params.failures {
            if failure.when == When::Commands(self.taken) {
                context.agenda.schedule(context.now, 0, Event::Fails { drive: failure.drive });
            }
        }
    }

    /// A drive has failed for good.
    pub fn fail(&mut self, context: &mut Context<'_>, drive: u16) {
        self.spares.retain(|&spare| spare != drive);
        if self.logs.drive() == Some(drive) {
            self.logs.lose();
            return self.end_ops_of(context, drive);
        }
        let Some(slot) = self.members.slot_of(drive) else { return };
        self.members.set(slot, State::Missing);
        self.members.get_mut(slot).outstanding = 0;
        context.reports.push_back(Report { at: context.now, what: Happened::Failed { slot } });
        let replaced = ArrayEvent::Replace { slot };
        context.agenda.schedule(context.now + self.params.replaced_after, 4, Event::Array(replaced));
        self.end_ops_of(context, drive);
    }

    /// What was with a drive ends as it fails.
    fn end_ops_of(&mut self, context: &mut Context<'_>, drive: u16) {
        let lost: Vec<Slot> =
            self.ops.places().filter(|(_, op)| op.is_out && op.drive == drive).map(|(at, _)| at).collect();
        for at in lost {
            let since = self.strands.get(self.ops.get(at).strand).since;
            let breakdown = Breakdown { queue: context.now - since, ..Breakdown::default() };
            self.end_op(context, at, Outcome::Failed, breakdown);
        }
    }

    /// A member's command has failed: a read is planned anew without it, a write to a member that is gone is not missed.
    pub(super) fn op_failed(&mut self, context: &mut Context<'_>, op: &Op, outcome: Outcome) {
        let _ = context;
        if op.access == Access::Read && self.is_not_missed(op, outcome) {
            return;
        }
        let is_lost = op.access == Access::Write && outcome == Outcome::Failed && self.is_lost(op);
        let strand = self.strands.get_mut(op.strand);
        match (op.access, outcome) {
            (Access::Read, Outcome::Failed) => strand.is_spoilt = true,
            // Several of its commands may have met unreadable sectors before it is planned anew.
            (Access::Read, Outcome::MediaError)
                if op.slot < 64 && (strand.is_spoilt || strand.avoids >> op.slot & 1 == 0) =>
            {
                strand.avoids |= 1 << op.slot;
                strand.is_spoilt = true;
            }
            // The journal is missed.
            (_, Outcome::Failed) if op.slot == self.params.members => strand.outcome = outcome,
            (Access::Write, Outcome::Failed) if is_lost => strand.outcome = Outcome::Lost,
            (Access::Write | Access::Flush, Outcome::Failed) => {}
            _ => strand.outcome = outcome,
        }
    }

    /// A new drive takes the place of one that has failed.
    pub(super) fn replace(&mut self, context: &mut Context<'_>, slot: u16) {
        let Some(drive) = self.spares.pop_front() else { return };
        self.members.get_mut(slot).drive = drive;
        self.members.set(slot, State::Rebuilding { done: 0 });
        context.reports.push_back(Report { at: context.now, what: Happened::Replaced { slot, drive } });
        self.pump_sync(context);
    }
}
