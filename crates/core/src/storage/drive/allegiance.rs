//! The auto contingent allegiance: what an error with NACA leaves behind. Until the initiator clears it, nothing of the
//! task set is begun but the recovery, and nothing else is taken.
//!
//! With one task set for all, the queue stands still. With one for each initiator only the commands of that one are held
//! up: they leave the queue, and come back behind what has come meanwhile.
//! Source: SAM-2 5.9.1; Seagate Parallel SCSI Interface Product Manual rev. A, 7.3 (ACA ACTIVE) and 7.6.1 (BUSY, TST).
use super::queue::SlotIndex;
use super::tasks::Tasks;
use super::{Drive, InFlight, Stage};
use crate::command::{Attribute, Command, Outcome};
use crate::storage::context::Context;
use alloc::vec::Vec;
use drivelab_units::Instant;

impl Tasks {
    /// Whether an auto contingent allegiance keeps this command waiting.
    #[inline]
    pub fn blocks(&self, command: &Command) -> bool {
        !self.allegiances.is_empty()
            && command.attribute != Attribute::Aca
            && self.is_held_up(command.initiator)
    }

    /// Whether an allegiance holds in the task set of this initiator.
    #[cold]
    pub fn is_held_up(&self, initiator: u16) -> bool {
        if self.sets.are_apart() {
            self.allegiances.contains(&initiator)
        } else {
            !self.allegiances.is_empty()
        }
    }

    /// Whether an allegiance holds up the whole queue.
    #[inline]
    pub fn stands_still(&self) -> bool {
        !(self.allegiances.is_empty() || self.sets.are_apart())
    }
}

impl Drive {
    /// Why an allegiance keeps a command out of its task set, if one does: it is no part of the recovery, or not the only
    /// one; of another initiator, which knows of such conditions if its commands have NACA.
    pub(super) fn refused_in_allegiance(&mut self, command: &Command, initiator: u16) -> Option<Outcome> {
        if !self.tasks.is_held_up(initiator) {
            return None;
        }
        let recovers = command.attribute == Attribute::Aca;
        if !self.tasks.allegiances.contains(&initiator) {
            let knows = self.model.protocol.leaves_allegiance(initiator);
            return Some(if knows { Outcome::AcaActive } else { Outcome::Busy });
        }
        let is_apart = self.tasks.sets.are_apart();
        let beside = |flight: &InFlight| {
            let Command { attribute, initiator: other, .. } = flight.command;
            flight.stage != Stage::Free && attribute == Attribute::Aca && (!is_apart || other == initiator)
        };
        (!recovers || self.in_flight.iter().any(beside)).then_some(Outcome::AcaActive)
    }

    /// An error leaves an allegiance: what is queued waits; QERR decides when the initiator clears the condition.
    pub(super) fn begin_allegiance(&mut self, initiator: u16) {
        self.unjoin();
        if !self.tasks.allegiances.contains(&initiator) {
            self.tasks.allegiances.push(initiator);
        }
        if self.tasks.sets.are_apart() {
            self.block(initiator);
        }
    }

    /// What waits for the mechanism of an initiator whose task set an allegiance holds up leaves the queue.
    fn block(&mut self, initiator: u16) {
        let slots = 0..self.in_flight.len() as SlotIndex;
        let mut own: Vec<SlotIndex> = slots.filter(|&slot| self.is_held_back(slot, initiator)).collect();
        own.sort_unstable_by_key(|&slot| {
            let InFlight { accepted, serial, .. } = self.in_flight[slot as usize];
            (accepted, serial)
        });
        for slot in own {
            self.leave_queue(slot);
            self.tasks.blocked.push_back(slot);
        }
    }

    /// Whether a command of this initiator waits in the queue, or beside it, and is no part of the recovery.
    fn is_held_back(&self, slot: SlotIndex, initiator: u16) -> bool {
        let InFlight { command, stage, .. } = &self.in_flight[slot as usize];
        let own = command.initiator == initiator && *stage == Stage::Waiting;
        own && command.attribute != Attribute::Aca
            && !self.tasks.blocked.contains(&slot)
            && !self.waits_for_cache(slot)
    }

    /// What an allegiance kept out of the queue goes there, behind what has come meanwhile.
    fn unblock(&mut self, now: Instant) {
        for slot in core::mem::take(&mut self.tasks.blocked) {
            let flight = self.flight(slot);
            flight.breakdown.queue += now - flight.arrived;
            flight.arrived = now;
            let landing = flight.landing;
            // Another allegiance may keep it out again.
            self.file(slot, landing);
        }
    }

    /// The initiator clears its auto contingent allegiance.
    pub fn clear_allegiance(&mut self, context: &mut Context, initiator: u16) {
        let Some(held) = self.tasks.allegiances.iter().position(|&holder| holder == initiator) else {
            return;
        };
        self.tasks.allegiances.swap_remove(held);
        self.fail_queue(context, 0, Some(initiator));
        self.unblock(context.now);
        self.release(context);
        self.choose(context);
    }
}
