//! Traces of commands on their path up.
use super::{CacheStage, System};
use crate::command::Completion;
use crate::storage::context::Context;
use crate::trace::CommandTrace;

impl System {
    /// Keeps a drive's trace of a command until the trace of the host's command can be made, where other
    /// boxes are between them.
    #[cold]
    pub(super) fn keep_trace(&mut self, context: &mut Context, at: u16, completion: &Completion) {
        let device = &mut self.devices[usize::from(at)];
        let of_cache = self.cache.as_ref().is_some_and(|cache| cache.memory.has_issued(completion.id));
        let Some(trace) = context.take_trace(at, completion) else { return };
        match (&mut device.scheduler, &mut self.array) {
            (Some(scheduler), _) => scheduler.attempts.push(trace),
            (None, Some(array)) => array.receive_trace(trace),
            (None, None) if of_cache || self.elevator.is_none() => context.report_trace(trace),
            (None, None) => self.attempts.push(trace),
        }
    }

    /// The trace of a command below the schedulers of the hosts: it is kept until the traces of its hosts'
    /// commands can be made.
    #[cold]
    pub(super) fn receive_trace(&mut self, context: &mut Context, trace: CommandTrace) {
        let flushes = |cache: &CacheStage| cache.memory.has_issued(trace.command.id);
        let of_cache = self.cache.as_ref().is_some_and(flushes);
        if self.elevator.is_some() && !of_cache {
            // By its number only: a drive with one port does not report the initiator.
            self.attempts.push(trace);
        } else {
            context.report_trace(trace);
        }
    }
}
