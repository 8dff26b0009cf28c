//! Commands that end without the drive: their host aborts them, or the drive has failed.
use super::initiator_queue::{AbandonedBy, HeldCommand, State};
use super::{Context, Controller, Drive};
use crate::command::{Breakdown, Command, Outcome};
use crate::storage::call::Accepted;

impl Controller {
    /// The host aborts the command with this number. One that the drive has ends when the drive answers.
    #[cold]
    pub fn abort(&mut self, context: &mut Context, drive: &mut Drive, number: u64) -> Accepted {
        for initiator in 0..self.queues.len() as u16 {
            let queue = &mut self.queues[usize::from(initiator)];
            if let Some(held) = queue.take_waiting(number) {
                self.ends_unserved(context, &held, Outcome::Aborted);
                // It may have run alone and kept others waiting that may run together.
                self.pump(context, drive, initiator);
                return Accepted::Aborting;
            }
            let Some(tag) = queue.tag_of(number) else { continue };
            let is_answered = queue.answers.iter().any(|&(answered, _)| answered == tag);
            if is_answered || queue.sent(tag).given_up != AbandonedBy::Nobody {
                return Accepted::GoesOn;
            }
            queue.sent(tag).given_up = AbandonedBy::Host;
            drive.abort(context, initiator, tag);
            return Accepted::Aborting;
        }
        Accepted::GoesOn
    }

    /// A command that its host has aborted does not reach the drive.
    #[cold]
    pub(super) fn end_on_its_way(&mut self, context: &mut Context, initiator: u16, tag: u32) {
        let queue = &mut self.queues[usize::from(initiator)];
        let held = *queue.take(tag);
        queue.forget_return(&held);
        self.ends_unserved(context, &held, Outcome::Aborted);
    }

    /// The drive has failed for good: every command that is with it or waits for it ends, and so does every
    /// later one.
    #[cold]
    pub fn drive_failed(&mut self, context: &mut Context) {
        self.is_drive_gone = true;
        for initiator in 0..self.queues.len() {
            let queue = &mut self.queues[initiator];
            let mut all = queue.take_all_sent();
            all.extend(queue.take_all_waiting(|_| true));
            queue.state = State::Failed;
            for held in &all {
                self.ends_unserved(context, held, Outcome::Failed);
            }
        }
    }

    /// A command arrives for a drive that has failed.
    #[cold]
    pub(super) fn fail_at_once(&mut self, context: &mut Context, command: &Command) {
        let ended = HeldCommand::ended_at_once(command, context.now, Outcome::Failed);
        context.refused.push_back((self.drive, ended));
    }

    fn ends_unserved(&self, context: &mut Context, held: &HeldCommand, outcome: Outcome) {
        let breakdown = Breakdown { wait: context.now - held.submitted, ..Breakdown::default() };
        context.refused.push_back((self.drive, held.ended(context.now, outcome, breakdown)));
    }
}
