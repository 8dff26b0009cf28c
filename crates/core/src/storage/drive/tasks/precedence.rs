//! What goes before whatever the policy of the queue would choose: HEAD OF QUEUE commands, commands that were to be next
//! when something came between, high priority, and deadlines.
//!
//! A command with a deadline (isochronous priority) waits its turn like the others until one more access before it could
//! make it miss: then it goes first. What that access takes is known; the command itself, and all others with deadlines
//! before it, are taken at their worst: the arm across the drive, a whole turn, the transfer, and the way to the host.
//! Source: Western Digital Ultrastar HC580 specification 12.20 (isochronous priority, ICC).
use super::super::queue::SlotIndex;
use crate::command::{Attribute, Command, Priority};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

/// A waiting command with a deadline.
#[derive(Clone, Copy)]
struct Deadline {
    due: Instant,
    slot: SlotIndex,
    /// The longest time from its choice until the host has it.
    longest: Span,
}

/// When a command that came then must be done: not before the end of time, where it may take that long.
pub fn deadline(accepted: Instant, within: Span) -> Instant {
    Instant::from_ns(accepted.as_ns().saturating_add(within.as_ns()))
}

/// Whether a command goes before all that wait, whatever the policy.
#[inline]
pub fn jumps(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::HeadOfQueue | Attribute::Aca)
}

/// Commands that do not wait for their turn by the policy.
#[derive(Default)]
pub struct Precedence {
    /// HEAD OF QUEUE commands that wait for the mechanism, the last to come on top.
    urgent: Vec<SlotIndex>,
    /// Commands that were to be next in the same sweep when something came between, oldest first.
    interrupted: VecDeque<SlotIndex>,
    /// Waiting commands of high priority.
    high: Vec<SlotIndex>,
    deadlines: Vec<Deadline>,
}

impl Precedence {
    /// Whether the policy alone decides.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let Precedence { urgent, interrupted, high, deadlines } = self;
        urgent.is_empty() && interrupted.is_empty() && high.is_empty() && deadlines.is_empty()
    }

    /// The HEAD OF QUEUE commands that wait, the last to come first.
    pub fn urgent(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        self.urgent.iter().rev().copied()
    }

    /// Whether a HEAD OF QUEUE command waits.
    #[inline]
    pub fn has_urgent(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Whether a command is next once what came between is over.
    #[inline]
    pub fn has_interrupted(&self) -> bool {
        !self.interrupted.is_empty()
    }

    /// The command that is next now that what came between is over.
    pub fn interrupted(&self) -> Option<SlotIndex> {
        self.interrupted.front().copied()
    }

    /// The waiting commands of high priority.
    pub fn high(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        self.high.iter().copied()
    }

    /// The command with the first deadline, if the drive would be free too late for it. `free` is when mechanism and link
    /// are free again behind the access that would go first.
    pub fn endangered(&self, free: impl FnOnce() -> Instant) -> Option<SlotIndex> {
        let first = self.deadlines.iter().min_by_key(|deadline| (deadline.due, deadline.slot))?;
        let all = self.deadlines.iter().fold(Span::ZERO, |sum, deadline| sum + deadline.longest);
        (free() + all > first.due).then_some(first.slot)
    }

    /// A HEAD OF QUEUE command waits for the mechanism.
    pub fn add_urgent(&mut self, slot: SlotIndex) {
        self.urgent.push(slot);
    }

    /// Something came before a command that was to be next.
    pub fn add_interrupted(&mut self, slot: SlotIndex) {
        self.interrupted.push_back(slot);
    }

    /// A command has come into the queue that takes no more than `longest` from its choice until the host has it.
    #[inline]
    pub fn add(
        &mut self,
        slot: SlotIndex,
        priority: Priority,
        accepted: Instant,
        longest: impl FnOnce() -> Span,
    ) {
        match priority {
            Priority::Normal => {}
            Priority::High => self.high.push(slot),
            Priority::Isochronous(within) => {
                self.deadlines.push(Deadline { due: deadline(accepted, within), slot, longest: longest() });
            }
        }
    }

    /// A waiting command leaves. Returns whether it waited in the queue of the policy, and not in front of it.
    pub fn forget(&mut self, slot: SlotIndex, command: &Command) -> bool {
        if jumps(command.attribute) {
            self.urgent.retain(|&other| other != slot);
            return false;
        }
        if let Some(at) = self.interrupted.iter().position(|&other| other == slot) {
            self.interrupted.remove(at);
            return false;
        }
        match command.priority {
            Priority::Normal => {}
            Priority::High => self.high.retain(|&other| other != slot),
            Priority::Isochronous(_) => self.deadlines.retain(|deadline| deadline.slot != slot),
        }
        true
    }
}
