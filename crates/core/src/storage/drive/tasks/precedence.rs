//! What goes before the policy's choice: HEAD OF QUEUE commands, commands that were to be next when they were
//! interrupted, high priority, and deadlines.
//!
//! A command with a deadline (isochronous priority, or a duration limit) waits like the others until one more
//! access before it could make it miss: then it goes first. The time of that access is known; for the command
//! itself, and all others with deadlines before it, the worst case is assumed: a full stroke, a whole revolution,
//! the transfer, and the completion. Nothing is put by for a guideline that ends no command: such a command goes
//! first once another access before it would let the guideline pass. A deadline that has passed stays the first,
//! except where the policy of its limit says otherwise.
//! Source: Western Digital Ultrastar HC580 specification 12.20 (isochronous priority, ICC); limits: [`DurationLimits`].
use super::super::protocol::{DurationLimits, Exceeded, TimeLimit};
use super::super::queue::SlotIndex;
use crate::command::{Access, Attribute, Command, Priority};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

/// A waiting command with a deadline.
#[derive(Clone, Copy)]
struct CommandDeadline {
    due: Instant,
    slot: SlotIndex,
    /// The longest time from its choice until it is reported to the host, as far as that is put by.
    longest: Span,
    /// The guideline that the deadline comes from, where it comes from one.
    guideline: Option<Guideline>,
}

/// The guideline in force for a command.
#[derive(Clone, Copy)]
struct Guideline {
    accepted: Instant,
    access: Access,
    /// Index of the descriptor.
    index: u8,
    limit: TimeLimit,
}

impl CommandDeadline {
    /// Where its deadline has passed by `now`, the policy applies. Returns whether it still has a deadline.
    fn keeps_deadline(&mut self, now: Instant, limits: &DurationLimits) -> bool {
        while let Some(Guideline { accepted, access, index, limit }) = self.guideline {
            if now < deadline(accepted, limit.within) || limit.then == Exceeded::CompleteEarliest {
                return true;
            }
            let next = if limit.then == Exceeded::NextLimit { limits.next(access, index) } else { None };
            let Some((index, limit)) = next else { return false };
            self.due = deadline(accepted, limit.within);
            self.guideline = Some(Guideline { accepted, access, index, limit });
        }
        true
    }
}

/// The deadline of a command accepted at this instant; saturates at the largest instant.
pub fn deadline(accepted: Instant, within: Span) -> Instant {
    Instant::from_ns(accepted.as_ns().saturating_add(within.as_ns()))
}

/// Whether a command goes before all waiting ones, whatever the policy.
#[inline]
pub fn is_head_of_queue(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::HeadOfQueue | Attribute::Aca)
}

/// Commands that do not wait for the policy's choice.
#[derive(Default)]
pub struct Precedence {
    /// HEAD OF QUEUE commands that wait for the mechanism, the last to arrive on top.
    urgent: Vec<SlotIndex>,
    /// Commands that were to be next in the same sweep when they were interrupted, oldest first.
    interrupted: VecDeque<SlotIndex>,
    /// Waiting commands of high priority.
    high: Vec<SlotIndex>,
    deadlines: Vec<CommandDeadline>,
}

impl Precedence {
    /// Whether the policy alone decides.
    #[inline]
    pub fn is_empty(&self) -> bool {
        let Precedence { urgent, interrupted, high, deadlines } = self;
        urgent.is_empty() && interrupted.is_empty() && high.is_empty() && deadlines.is_empty()
    }

    /// The waiting HEAD OF QUEUE commands, the last to arrive first.
    pub fn urgent(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        self.urgent.iter().rev().copied()
    }

    /// Whether a HEAD OF QUEUE command waits.
    #[inline]
    pub fn has_urgent(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Whether a command is next once the interruption is over.
    #[inline]
    pub fn has_interrupted(&self) -> bool {
        !self.interrupted.is_empty()
    }

    /// The command that is next once the interruption is over.
    pub fn interrupted(&self) -> Option<SlotIndex> {
        self.interrupted.front().copied()
    }

    /// The waiting commands of high priority.
    pub fn high(&self) -> impl Iterator<Item = SlotIndex> + '_ {
        self.high.iter().copied()
    }

    /// Where limits have been exceeded by `now`, their policies apply.
    pub fn pass_limits(&mut self, now: Instant, limits: &DurationLimits) {
        self.deadlines.retain_mut(|command| command.keeps_deadline(now, limits));
    }

    /// The command with the first deadline, if the drive would be free too late for it or for one after it. `free`
    /// gives when mechanism and link are free again after the access that would go first.
    pub fn endangered(&self, free: impl FnOnce() -> Instant) -> Option<SlotIndex> {
        let place = |command: &CommandDeadline| (command.due, command.slot);
        let first = self.deadlines.iter().min_by_key(|command| place(command))?;
        let free = free();
        let misses = |last: &CommandDeadline| {
            let before = self.deadlines.iter().filter(|command| place(command) <= place(last));
            free + before.fold(Span::ZERO, |sum, command| sum + command.longest) > last.due
        };
        self.deadlines.iter().any(misses).then_some(first.slot)
    }

    /// Adds a HEAD OF QUEUE command that waits for the mechanism.
    pub fn add_urgent(&mut self, slot: SlotIndex) {
        self.urgent.push(slot);
    }

    /// Adds a command that was to be next and was interrupted.
    pub fn add_interrupted(&mut self, slot: SlotIndex) {
        self.interrupted.push_back(slot);
    }

    /// Adds a command that has been queued; it takes at most `longest` from its choice until it is reported
    /// to the host.
    #[inline]
    pub fn add(
        &mut self,
        slot: SlotIndex,
        command: &Command,
        accepted: Instant,
        limits: Option<&DurationLimits>,
        longest: impl FnOnce() -> Span,
    ) {
        match command.priority {
            Priority::Normal => {}
            Priority::High => self.high.push(slot),
            Priority::Isochronous(within) => {
                let due = deadline(accepted, within);
                self.deadlines.push(CommandDeadline { due, slot, longest: longest(), guideline: None });
            }
            Priority::Limited(index) => {
                if let Some(limits) = limits {
                    self.add_limited(slot, command.access, index, accepted, limits, longest());
                }
            }
        }
    }

    /// A command with duration limits: it must be done within its guideline, and begin within its inactive time.
    #[cold]
    fn add_limited(
        &mut self,
        slot: SlotIndex,
        access: Access,
        index: u8,
        accepted: Instant,
        limits: &DurationLimits,
        longest: Span,
    ) {
        let limit = limits.of(access, index);
        let begun = limit.inactive.map(|limit| deadline(deadline(accepted, limit.within), longest));
        let done = limit.guideline.map(|limit| deadline(accepted, limit.within));
        let Some(due) = begun.into_iter().chain(done).min() else { return };
        let from_guideline = limit.guideline.filter(|_| begun.is_none_or(|begun| done <= Some(begun)));
        let guideline = from_guideline.map(|limit| Guideline { accepted, access, index, limit });
        let is_soft = from_guideline.is_some_and(|limit| !limit.then.ends());
        let longest = if is_soft { Span::ZERO } else { longest };
        self.deadlines.push(CommandDeadline { due, slot, longest, guideline });
    }

    /// A waiting command leaves. Returns whether it waited in the policy's queue, and not ahead of it.
    pub fn forget(&mut self, slot: SlotIndex, command: &Command) -> bool {
        if is_head_of_queue(command.attribute) {
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
            Priority::Isochronous(_) | Priority::Limited(_) => {
                self.deadlines.retain(|deadline| deadline.slot != slot);
            }
        }
        true
    }
}
