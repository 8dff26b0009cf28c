//! The slot of a command by initiator and tag: finds duplicate tags, and commands to be aborted.
use super::super::queue::SlotIndex;
use crate::command::Command;
use alloc::vec::Vec;

/// The name by which the controller identifies a command at the drive, with the number of the attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    pub initiator: u16,
    pub tag: u32,
    pub attempt: u8,
}

impl Name {
    /// The name that a command itself carries.
    pub fn own(command: &Command) -> Self {
        let &Command { initiator, tag, attempt, .. } = command;
        Name { initiator, tag, attempt }
    }
}

const NONE: SlotIndex = SlotIndex::MAX;

/// By initiator, then by tag. Grows with the largest numbers used and never shrinks.
#[derive(Default)]
pub struct Names {
    /// Of the first initiator, which is the only one of most drives.
    first: Vec<SlotIndex>,
    others: Vec<Vec<SlotIndex>>,
}

impl Names {
    #[inline]
    pub fn find(&self, initiator: u16, tag: u32) -> Option<SlotIndex> {
        let tags = match initiator {
            0 => &self.first,
            _ => self.others.get(usize::from(initiator) - 1)?,
        };
        let slot = *tags.get(tag as usize)?;
        (slot != NONE).then_some(slot)
    }

    #[inline]
    pub fn set(&mut self, initiator: u16, tag: u32, slot: SlotIndex) {
        match self.of(initiator).get_mut(tag as usize) {
            Some(place) => *place = slot,
            None => self.add(initiator, tag, slot),
        }
    }

    #[inline]
    pub fn clear(&mut self, initiator: u16, tag: u32) {
        self.of(initiator)[tag as usize] = NONE;
    }

    #[inline]
    fn of(&mut self, initiator: u16) -> &mut Vec<SlotIndex> {
        if initiator == 0 { &mut self.first } else { self.of_other(usize::from(initiator)) }
    }

    #[inline(never)]
    fn of_other(&mut self, initiator: usize) -> &mut Vec<SlotIndex> {
        if self.others.len() < initiator {
            self.others.resize(initiator, Vec::new());
        }
        &mut self.others[initiator - 1]
    }

    /// Adds a tag that is higher than all before.
    #[cold]
    fn add(&mut self, initiator: u16, tag: u32, slot: SlotIndex) {
        let tags = self.of(initiator);
        tags.resize(tag as usize, NONE);
        tags.push(slot);
    }
}
