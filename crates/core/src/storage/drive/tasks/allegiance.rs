//! The auto contingent allegiance: the condition after an error with NACA. Until the initiator clears it,
//! nothing of the task set is begun except recovery commands, and no other command is accepted.
//!
//! With one task set for all, the whole queue stops. With one for each initiator only the commands of that
//! one are held up: they leave the queue, and return behind what has arrived meanwhile.
//! Source: SAM-2 5.9.1; Seagate Parallel SCSI Interface Product Manual rev. A, 7.3 (ACA ACTIVE) and 7.6.1 (BUSY, TST).
use super::super::queue::SlotIndex;
use crate::command::{Attribute, Command};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The auto contingent allegiances of a drive.
pub struct Allegiances {
    /// Whether each initiator has its own task set.
    apart: bool,
    /// Initiators whose errors have left one.
    holders: Vec<u16>,
    /// Commands that would wait for the mechanism if an allegiance in their own task set did not block them,
    /// oldest first.
    blocked: VecDeque<SlotIndex>,
}

impl Allegiances {
    pub fn new(apart: bool) -> Self {
        Allegiances { apart, holders: Vec::new(), blocked: VecDeque::new() }
    }

    /// Whether there is no allegiance.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Whether this initiator has one.
    pub fn holds(&self, initiator: u16) -> bool {
        self.holders.contains(&initiator)
    }

    /// Whether an allegiance keeps this command waiting.
    #[inline]
    pub fn blocks(&self, command: &Command) -> bool {
        !self.holders.is_empty()
            && command.attribute != Attribute::Aca
            && self.is_active_for(command.initiator)
    }

    /// Whether there is an allegiance in the task set of this initiator.
    #[cold]
    pub fn is_active_for(&self, initiator: u16) -> bool {
        if self.apart { self.holders.contains(&initiator) } else { !self.holders.is_empty() }
    }

    /// Whether an allegiance stops the whole queue.
    #[inline]
    pub fn stops_queue(&self) -> bool {
        !(self.holders.is_empty() || self.apart)
    }

    /// An error of this initiator leaves one. Returns whether its own commands must leave the queue.
    pub fn begin(&mut self, initiator: u16) -> bool {
        if !self.holders.contains(&initiator) {
            self.holders.push(initiator);
        }
        self.apart
    }

    /// The initiator clears its allegiance. Returns whether it had one.
    pub fn clear(&mut self, initiator: u16) -> bool {
        let held = self.holders.iter().position(|&holder| holder == initiator);
        held.map(|held| self.holders.swap_remove(held)).is_some()
    }

    /// A command is kept out of the queue.
    pub fn suspend(&mut self, slot: SlotIndex) {
        self.blocked.push_back(slot);
    }

    /// Whether a command is kept out of the queue.
    pub fn is_suspended(&self, slot: SlotIndex) -> bool {
        self.blocked.contains(&slot)
    }

    /// A command is given up. Returns whether it was kept out of the queue.
    pub fn forget(&mut self, slot: SlotIndex) -> bool {
        let at = self.blocked.iter().position(|&other| other == slot);
        at.and_then(|at| self.blocked.remove(at)).is_some()
    }

    /// Releases all commands that were kept out of the queue, oldest first.
    pub fn release_suspended(&mut self) -> VecDeque<SlotIndex> {
        core::mem::take(&mut self.blocked)
    }
}
