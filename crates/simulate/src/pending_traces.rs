//! Traces of commands on their path from the target into the log.
//!
//! The log takes the commands of a run up to a number. Traces that the target has reported by the time that a
//! command is reported to a host go before that command, even if the target reported them after its completion.
use drivelab_core::CommandTrace;
use drivelab_core::storage::{OutputRef, Target};
use drivelab_record::CommandLog;
use std::collections::VecDeque;

/// Traces of commands on their path into the log.
#[derive(Default)]
pub struct PendingTraces {
    /// Received, and not in the log yet.
    received: VecDeque<CommandTrace>,
    /// Number of traces in the log that are still to be received.
    ahead: usize,
}

impl PendingTraces {
    /// The target has reported a trace.
    pub fn receive(&mut self, trace: CommandTrace) {
        match self.ahead.checked_sub(1) {
            Some(ahead) => self.ahead = ahead,
            None => self.received.push_back(trace),
        }
    }

    /// All traces that the target has reported so far go into the log, including those not received yet.
    pub fn write_to_log(&mut self, log: &mut CommandLog, target: &Target) {
        self.received.drain(..).for_each(|trace| log.add_trace(trace));
        for output in target.outputs() {
            let OutputRef::Trace(trace) = output else { continue };
            if self.ahead > 0 {
                self.ahead -= 1;
            } else {
                log.add_trace(*trace);
            }
        }
        self.ahead = target.outputs().filter(|output| matches!(output, OutputRef::Trace(_))).count();
    }
}
