//! What commands lived through, on its way from the target into the log.
//!
//! The log takes the commands of a run up to a number. Those that the target has told of by the time that a host hears of a
//! command come before that command, though the target may have said so behind its completion.
use drivelab_core::CommandTrace;
use drivelab_core::storage::{OutputRef, Target};
use drivelab_record::CommandLog;
use std::collections::VecDeque;

/// What commands lived through, on its way into the log.
#[derive(Default)]
pub struct Lives {
    /// Heard of, and not in the log.
    heard: VecDeque<CommandTrace>,
    /// In the log, and still to be heard of.
    ahead: usize,
}

impl Lives {
    /// The target has told of a command.
    pub fn hear(&mut self, trace: CommandTrace) {
        match self.ahead.checked_sub(1) {
            Some(ahead) => self.ahead = ahead,
            None => self.heard.push_back(trace),
        }
    }

    /// All that the target has told so far goes into the log, that which stands behind what was heard too.
    pub fn tell(&mut self, log: &mut CommandLog, target: &Target) {
        self.heard.drain(..).for_each(|trace| log.lived(trace));
        for output in target.outputs() {
            let OutputRef::Lived(trace) = output else { continue };
            if self.ahead > 0 {
                self.ahead -= 1;
            } else {
                log.lived(*trace);
            }
        }
        self.ahead = target.outputs().filter(|output| matches!(output, OutputRef::Lived(_))).count();
    }
}
