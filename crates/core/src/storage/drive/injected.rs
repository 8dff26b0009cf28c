//! What is made to go wrong with a drive while it runs.
use super::Drive;
use crate::storage::call::Cure;
use crate::storage::context::Context;
use drivelab_units::{Lba, Sectors};

impl Drive {
    /// These sectors cannot be read from now on. What the buffer has of them stays there.
    pub fn spoil(&mut self, first: Lba, count: Sectors, until: Cure) {
        self.mechanics.spoil(first, first + count, until);
    }

    /// The link is reset: every command that the host has not heard of ends as aborted.
    pub fn reset_link(&mut self, context: &mut Context) {
        self.clear(context, |_| true);
        self.report_if_idle(context);
    }

    /// From now on it answers FLUSH at once, or no longer.
    pub fn lie_about_flushes(&mut self, lies: bool) {
        self.lies = lies;
    }

    /// The host gives up the command with a number. Returns whether the drive has one, and had not been told before.
    pub fn abort_numbered(&mut self, context: &mut Context, number: u64) -> bool {
        let Some(slot) = self.tasks.numbered(number) else { return false };
        let given_up = self.give_up(context, slot, crate::Outcome::Aborted);
        self.report_if_idle(context);
        given_up
    }
}
