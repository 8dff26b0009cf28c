//! Commands that end without the drive: their host aborts them, or the drive has failed.
use super::lane::{GivenUp, Held, State};
use super::{Context, Controller, Drive};
use crate::command::{Breakdown, Command, Outcome};
use crate::storage::call::Accepted;

impl Controller {
    /// The host aborts the command with this number. One that the drive has ends when the drive answers.
    #[cold]
    pub fn abort(&mut self, context: &mut Context, drive: &mut Drive, number: u64) -> Accepted {
        for initiator in 0..self.lanes.len() as u16 {
            let lane = &mut self.lanes[usize::from(initiator)];
            if let Some(held) = lane.take_waiting(number) {
                self.ends_unserved(context, &held, Outcome::Aborted);
                // It may have run alone and kept others waiting that may run together.
                self.pump(context, drive, initiator);
                return Accepted::Aborting;
            }
            let Some(tag) = lane.tag_of(number) else { continue };
            let is_answered = lane.answers.iter().any(|&(answered, _)| answered == tag);
            if is_answered || lane.sent(tag).given_up != GivenUp::Nobody {
                return Accepted::GoesOn;
            }
            lane.sent(tag).given_up = GivenUp::Host;
            drive.abort(context, initiator, tag);
            return Accepted::Aborting;
        }
        Accepted::GoesOn
    }

    /// A command that its host has aborted does not reach the drive.
    #[cold]
    pub(super) fn ends_on_its_way(&mut self, context: &mut Context, initiator: u16, tag: u32) {
        let lane = &mut self.lanes[usize::from(initiator)];
        let held = *lane.take(tag);
        lane.forget_return(&held);
        self.ends_unserved(context, &held, Outcome::Aborted);
    }

    /// The drive has failed for good: every command that is with it or waits for it ends, and so does every
    /// later one.
    #[cold]
    pub fn drive_is_gone(&mut self, context: &mut Context) {
        self.is_drive_gone = true;
        for initiator in 0..self.lanes.len() {
            let lane = &mut self.lanes[initiator];
            let mut all = lane.take_all_sent();
            all.extend(lane.take_all_waiting(|_| true));
            lane.state = State::Gone;
            for held in &all {
                self.ends_unserved(context, held, Outcome::Failed);
            }
        }
    }

    /// A command arrives for a drive that has failed.
    #[cold]
    pub(super) fn fails_at_once(&mut self, context: &mut Context, command: &Command) {
        let ended = Held::ended_at_once(command, context.now, Outcome::Failed);
        context.refused.push_back((self.drive, ended));
    }

    fn ends_unserved(&self, context: &mut Context, held: &Held, outcome: Outcome) {
        let breakdown = Breakdown { wait: context.now - held.submitted, ..Breakdown::default() };
        context.refused.push_back((self.drive, held.ended(context.now, outcome, breakdown)));
    }
}
