//! Traces of commands: each of a member's, and that of a host's command, which is the trace of the member's
//! command that ended last, reported as the host's.
use super::state::ArrayState;
use super::stripe_request::{Op, Owner};
use crate::command::{Breakdown, Command, Completion};
use crate::storage::context::Context;
use crate::storage::tree::{NONE, Slot};
use crate::trace::{CommandTrace, OfMember};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What is recorded when traces are kept.
#[derive(Default)]
pub struct Traces {
    /// The trace of each answer: that of the member's command that ended last, reported as the host's.
    answered: VecDeque<CommandTrace>,
    /// The last trace of a member's command.
    last: Option<CommandTrace>,
    /// By stripe request: the trace of its command that ended last.
    of: Vec<Option<CommandTrace>>,
}

impl Traces {
    /// Whether any traces have been recorded so far.
    #[inline]
    pub fn are_kept(&self) -> bool {
        !self.of.is_empty()
    }

    /// The trace of the answer that was dropped last.
    pub fn poll(&mut self) -> Option<CommandTrace> {
        self.answered.pop_front()
    }

    /// Another stripe request takes this place: the trace recorded there is not its own.
    #[cold]
    pub fn forget(&mut self, stripe_request: Slot) {
        if let Some(trace) = self.of.get_mut(stripe_request as usize) {
            *trace = None;
        }
    }

    /// Records the trace of a stripe request's command that ended last.
    fn keep(&mut self, stripe_request: Slot, trace: CommandTrace) {
        if self.of.len() <= stripe_request as usize {
            self.of.resize(stripe_request as usize + 1, None);
        }
        self.of[stripe_request as usize] = Some(trace);
    }

    /// Records the trace of a host's command: that of the member's command that ended last.
    #[cold]
    pub fn answer(&mut self, stripe_request: Slot, command: &Command, completion: &Completion) {
        let last = self.of.get_mut(stripe_request as usize).and_then(Option::take);
        let Completion { outcome, submitted, completed, .. } = *completion;
        self.answered.push_back(match last {
            Some(trace) => CommandTrace {
                command: *command,
                carried_by: command.id,
                outcome,
                submitted,
                completed,
                ..trace
            },
            None => CommandTrace::in_memory(command, completion),
        });
    }

    /// The trace of a member's command that is about to end.
    pub fn receive(&mut self, trace: CommandTrace) {
        self.last = Some(trace);
    }

    /// Reports the trace of a member's command, and records it as that of its stripe request.
    #[cold]
    pub fn report(&mut self, state: &ArrayState, context: &mut Context, op: &Op, breakdown: Breakdown) {
        let Some(trace) = self.last.take_if(|trace| trace.command.id == op.id) else { return };
        let &Op { stripe_request, drive, .. } = op;
        let owner = state.stripe_requests.get(stripe_request).owner;
        let part_of = match owner {
            Owner::Request(NONE) | Owner::Background | Owner::Bitmap | Owner::Log => None,
            Owner::Request(request) => Some(state.requests.get(request).command.id),
        };
        let member = Some(OfMember { drive, part_of, breakdown });
        context.report_trace(CommandTrace { member, ..trace });
        // Traces of the array's own stripe requests are not used.
        if part_of.is_some() {
            self.keep(stripe_request, trace);
        }
    }
}
