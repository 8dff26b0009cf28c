//! The task set: the order guaranteed by task attributes. A command is dormant until everything that must end
//! before it has ended; then it is enabled: the drive may begin it.
//!
//! Dormant commands are queued in order of arrival. ORDERED is enabled when nothing that arrived before it is
//! unfinished; SIMPLE when no ORDERED or HEAD OF QUEUE command that arrived before it is; HEAD OF QUEUE at
//! once. So it suffices to examine the first dormant command: enabled commands arrived before it, except for
//! HEAD OF QUEUE commands.
//! There is one task set for all initiators, or one for each ([`InitiatorSets`]).
//! Source: SAM-2 (T10/1157-D) 7.5 and 7.6, task states and attributes; SPC-3 7.4.6, TST.
use super::super::queue::SlotIndex;
use crate::command::Attribute;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

#[derive(Default)]
pub struct TaskSet {
    dormant: VecDeque<(SlotIndex, Attribute, u64)>,
    /// Number of commands that are enabled and not ended, by effective attribute.
    simple: u32,
    ordered: u32,
    /// HEAD OF QUEUE and ACA commands, with their arrival numbers.
    heads: Vec<(SlotIndex, u64)>,
    arrivals: u64,
}

impl TaskSet {
    /// Whether a command that arrives is enabled at once; if not, it is dormant here until [`Self::release`] names it.
    #[inline]
    pub fn arrive(&mut self, slot: SlotIndex, attribute: Attribute) -> bool {
        self.arrivals += 1;
        let enabled = match attribute {
            Attribute::HeadOfQueue | Attribute::Aca => true,
            _ => self.dormant.is_empty() && self.may_begin(attribute, self.arrivals),
        };
        if enabled {
            self.begin(slot, attribute);
        } else {
            self.dormant.push_back((slot, attribute, self.arrivals));
        }
        enabled
    }

    /// Whether no enabled command must end before a command with this arrival number.
    #[inline]
    fn may_begin(&self, attribute: Attribute, place: u64) -> bool {
        let fenced = self.ordered > 0 || self.heads.iter().any(|&(_, head)| head < place);
        !fenced && (attribute != Attribute::Ordered || self.simple == 0)
    }

    #[inline]
    fn begin(&mut self, slot: SlotIndex, attribute: Attribute) {
        match attribute {
            Attribute::Ordered => self.ordered += 1,
            Attribute::HeadOfQueue | Attribute::Aca => self.heads.push((slot, self.arrivals)),
            Attribute::Simple | Attribute::Untagged => self.simple += 1,
        }
    }

    /// An enabled command has ended.
    #[inline]
    pub fn end(&mut self, slot: SlotIndex, attribute: Attribute) {
        match attribute {
            Attribute::Ordered => self.ordered -= 1,
            Attribute::HeadOfQueue | Attribute::Aca => self.heads.retain(|&(head, _)| head != slot),
            Attribute::Simple | Attribute::Untagged => self.simple -= 1,
        }
    }

    #[inline]
    pub fn has_dormant(&self) -> bool {
        !self.dormant.is_empty()
    }

    /// The next dormant command that is enabled now.
    pub fn release(&mut self) -> Option<SlotIndex> {
        let &(slot, attribute, place) = self.dormant.front()?;
        if !self.may_begin(attribute, place) {
            return None;
        }
        self.dormant.pop_front();
        self.begin(slot, attribute);
        Some(slot)
    }

    /// Removes a dormant command that is given up.
    pub fn forget(&mut self, slot: SlotIndex) {
        self.dormant.retain(|&(dormant, ..)| dormant != slot);
    }
}

/// The task set of all initiators, or one of each.
pub struct InitiatorSets {
    apart: bool,
    /// The task set of all initiators, or of the first.
    first: TaskSet,
    others: Vec<TaskSet>,
}

impl InitiatorSets {
    pub fn new(apart: bool) -> Self {
        InitiatorSets { apart, first: TaskSet::default(), others: Vec::new() }
    }

    /// The task set that commands of this initiator belong to.
    #[inline]
    pub fn of(&mut self, initiator: u16) -> &mut TaskSet {
        if !self.apart || initiator == 0 { &mut self.first } else { self.of_other(usize::from(initiator)) }
    }

    #[inline(never)]
    fn of_other(&mut self, initiator: usize) -> &mut TaskSet {
        if self.others.len() < initiator {
            self.others.resize_with(initiator, TaskSet::default);
        }
        &mut self.others[initiator - 1]
    }

    /// One initiator of each task set that has existed.
    pub fn initiators(&self) -> core::ops::RangeInclusive<u16> {
        0..=self.others.len() as u16
    }

    #[inline]
    pub fn has_dormant(&self) -> bool {
        self.first.has_dormant() || self.others.iter().any(TaskSet::has_dormant)
    }
}
