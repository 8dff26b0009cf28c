//! The auto contingent allegiance: what an error with NACA leaves behind. Until the initiator clears it, nothing of the
//! task set is begun but the recovery, and nothing else is taken.
//!
//! With one task set for all, the queue stands still. With one for each initiator only the commands of that one are held
//! up: they leave the queue, and come back behind what has come meanwhile.
//! Source: SAM-2 5.9.1; Seagate Parallel SCSI Interface Product Manual rev. A, 7.3 (ACA ACTIVE) and 7.6.1 (BUSY, TST).
use super::super::queue::SlotIndex;
use crate::command::{Attribute, Command};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The auto contingent allegiances of a drive.
pub struct Allegiances {
    /// Whether each initiator has a task set of its own.
    apart: bool,
    /// Initiators whose errors have left one.
    holders: Vec<u16>,
    /// Commands that would wait for the mechanism if it were not for an allegiance in their own task set, oldest first.
    blocked: VecDeque<SlotIndex>,
}

impl Allegiances {
    pub fn new(apart: bool) -> Self {
        Allegiances { apart, holders: Vec::new(), blocked: VecDeque::new() }
    }

    /// Whether none holds.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.holders.is_empty()
    }

    /// Whether this initiator has one.
    pub fn holds(&self, initiator: u16) -> bool {
        self.holders.contains(&initiator)
    }

    /// Whether one keeps this command waiting.
    #[inline]
    pub fn blocks(&self, command: &Command) -> bool {
        !self.holders.is_empty() && command.attribute != Attribute::Aca && self.is_held_up(command.initiator)
    }

    /// Whether one holds in the task set of this initiator.
    #[cold]
    pub fn is_held_up(&self, initiator: u16) -> bool {
        if self.apart { self.holders.contains(&initiator) } else { !self.holders.is_empty() }
    }

    /// Whether one holds up the whole queue.
    #[inline]
    pub fn stands_still(&self) -> bool {
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

    /// A command stays out of the queue.
    pub fn keep_out(&mut self, slot: SlotIndex) {
        self.blocked.push_back(slot);
    }

    /// Whether a command is kept out of the queue.
    pub fn keeps_out(&self, slot: SlotIndex) -> bool {
        self.blocked.contains(&slot)
    }

    /// A command is given up. Returns whether it was kept out of the queue.
    pub fn forget(&mut self, slot: SlotIndex) -> bool {
        let at = self.blocked.iter().position(|&other| other == slot);
        at.and_then(|at| self.blocked.remove(at)).is_some()
    }

    /// All that was kept out of the queue, oldest first: it is kept out no longer.
    pub fn let_in(&mut self) -> VecDeque<SlotIndex> {
        core::mem::take(&mut self.blocked)
    }
}
