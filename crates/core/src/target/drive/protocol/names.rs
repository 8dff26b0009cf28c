//! Which slot a command of this initiator and tag holds: duplicate tags are found here, and commands to be aborted.
use super::super::queue::SlotIndex;
use crate::command::Command;
use alloc::vec::Vec;

/// By what its controller calls a command at the drive, and which attempt at it this is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    pub initiator: u16,
    pub tag: u32,
    pub attempt: u8,
}

impl Name {
    /// The one that a command bears itself.
    pub fn own(command: &Command) -> Self {
        let &Command { initiator, tag, attempt, .. } = command;
        Name { initiator, tag, attempt }
    }
}

const NONE: SlotIndex = SlotIndex::MAX;

/// By initiator, then by tag. Grows with the largest numbers used and never shrinks.
#[derive(Default)]
pub struct Names(Vec<Vec<SlotIndex>>);

impl Names {
    #[inline]
    pub fn find(&self, initiator: u16, tag: u32) -> Option<SlotIndex> {
        let slot = *self.0.get(usize::from(initiator))?.get(tag as usize)?;
        (slot != NONE).then_some(slot)
    }

    #[inline]
    pub fn set(&mut self, initiator: u16, tag: u32, slot: SlotIndex) {
        let (initiator, tag) = (usize::from(initiator), tag as usize);
        if self.0.len() <= initiator {
            self.0.resize(initiator + 1, Vec::new());
        }
        let tags = &mut self.0[initiator];
        if tags.len() <= tag {
            tags.resize(tag + 1, NONE);
        }
        tags[tag] = slot;
    }

    #[inline]
    pub fn clear(&mut self, initiator: u16, tag: u32) {
        self.0[usize::from(initiator)][tag as usize] = NONE;
    }
}
