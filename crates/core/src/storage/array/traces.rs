//! Stories of commands: each of a member's, and that of a host's command, which is that of the member's command that was
//! done last, told of the host's.
use super::Array;
use super::stripe_request::{Op, Owner};
use crate::command::{Breakdown, Command, Completion};
use crate::storage::context::Context;
use crate::storage::tree::{NONE, Slot};
use crate::trace::{CommandTrace, OfMember};

impl Array {
    /// Keeps the trace of the last answer.
    #[cold]
    pub(crate) fn tell_of(&mut self, request: Slot, stripe_request: Slot) {
        let command = self.planner.requests.get(request).command;
        if let Some(&completion) = self.answers.back() {
            let trace = self.story_of(stripe_request, &command, &completion);
            self.told.push_back(trace);
        }
    }

    /// The trace of a member's command that is about to end.
    pub fn lived(&mut self, trace: CommandTrace) {
        self.trace = Some(trace);
    }

    /// Tells the trace of a member's command, and keeps it as that of its stripe request.
    #[cold]
    pub(crate) fn tell(&mut self, context: &mut Context, op: &Op, breakdown: Breakdown) {
        let Some(trace) = self.trace.take_if(|trace| trace.command.id == op.id) else { return };
        let &Op { stripe_request, drive, .. } = op;
        let owner = self.planner.stripe_requests.get(stripe_request).owner;
        let part_of = match owner {
            Owner::Request(NONE) | Owner::Sync | Owner::Bitmap | Owner::Log => None,
            Owner::Request(request) => Some(self.planner.requests.get(request).command.id),
        };
        let member = Some(OfMember { drive, part_of, breakdown });
        context.traces.iter_mut().for_each(|traces| traces.push_back(CommandTrace { member, ..trace }));
        // Nobody asks for the traces of the array's own stripe requests.
        if part_of.is_none() {
            return;
        }
        if self.traces.len() <= stripe_request as usize {
            self.traces.resize(stripe_request as usize + 1, None);
        }
        self.traces[stripe_request as usize] = Some(trace);
    }

    /// Another stripe request takes this place: what is kept of the one before is not its trace.
    #[cold]
    pub(crate) fn forget_trace(&mut self, stripe_request: Slot) {
        if let Some(trace) = self.traces.get_mut(stripe_request as usize) {
            *trace = None;
        }
    }

    /// The trace of a host's command: that of the member's command that was done last.
    #[cold]
    pub(crate) fn story_of(
        &mut self,
        stripe_request: Slot,
        command: &Command,
        completion: &Completion,
    ) -> CommandTrace {
        let last = self.traces.get_mut(stripe_request as usize).and_then(Option::take);
        let Completion { outcome, submitted, completed, .. } = *completion;
        match last {
            Some(trace) => CommandTrace {
                command: *command,
                carried_by: command.id,
                outcome,
                submitted,
                completed,
                ..trace
            },
            None => CommandTrace::in_memory(command, completion),
        }
    }
}
