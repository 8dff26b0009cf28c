//! Commands that never reach the arm: those of a flash drive, and writes that a host-managed drive refuses.
use super::Drive;
use super::cache::segment::Cover;
use super::firmware::{BufferAnswer, PickedUp};
use super::queue::SlotIndex;
use crate::command::Outcome;
use crate::storage::context::Context;

impl Drive {
    /// Whether a write is not at the pointer of its zone.
    #[inline(always)]
    pub(super) fn is_refused(&mut self, slot: SlotIndex) -> bool {
        self.zones.as_mut().is_some_and(|zones| zones.take_refused(slot))
    }

    /// The command of a flash drive goes to its dies; one that is refused ends after the firmware's time.
    #[cold]
    pub(super) fn pick_up_without_arm(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.flash.is_some() {
            return self.pick_up_for_dies(context, slot);
        }
        let now = context.now;
        let answer = BufferAnswer { cover: Cover::Miss, takes: false, continues: false };
        let command = &self.tasks[slot].command;
        let PickedUp { ready, last_steps, .. } = self.firmware.pick_up(&self.model, command, answer, now);
        let flight = &mut self.tasks[slot];
        (flight.arrived, flight.ready, flight.outcome) = (now, ready, Outcome::Unaligned);
        flight.link.last_steps = last_steps;
        flight.breakdown.queue = now - flight.accepted;
        self.flushed(context, slot);
    }
}
