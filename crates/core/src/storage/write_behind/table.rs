//! The commands that are in the box: those from above, and the flushes that it makes itself. A command's slot is its tag
//! below. Slots are allocated only while more commands are here than ever before.
use super::pieces::Chain;
use crate::command::{Breakdown, Command};
use crate::storage::overlap::Claim;
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Span};

#[derive(Clone, Copy)]
pub struct Entry {
    /// As it came from above.
    pub command: Command,
    pub submitted: Instant,
    /// What its copy takes by itself.
    pub copy: Span,
    /// Its place in the order in which data come to memory and leave it.
    pub age: u64,
    /// Of a flush: the age of its oldest data.
    pub oldest: u64,
    /// Of a flush: whose data it carries. Of a read, with data operations: what memory had as it came.
    pub pieces: Chain,
    /// Of a read: whether memory keeps what it brings.
    pub fills: bool,
    /// Of a read by lines: behind what has been seen to, and the parts before that that are not done.
    pub cursor: Lba,
    pub parts: u32,
    /// Whether it waits for its turn to be seen to, and whether a line of it has failed.
    pub waits: bool,
    pub failed: bool,
    /// The way of the line that came last.
    pub way: Breakdown,
    /// Of the fetch of a line: the parts of reads that wait for it, in a chain.
    pub waiting: Slot,
    /// The writes that wait until this one is done with its blocks, in a chain through `next`.
    held: Slot,
    next: Slot,
}

impl Entry {
    /// The blocks that it writes, against everything older.
    pub fn claim(&self) -> Claim {
        let Command { first, .. } = self.command;
        Claim { write: true, first, end: self.command.end(), age: self.age }
    }
}

#[derive(Default)]
pub struct Table {
    entries: Vec<Entry>,
    free: Vec<Slot>,
}

impl Table {
    pub fn add(&mut self, command: &Command, submitted: Instant) -> Slot {
        let entry = Entry {
            command: *command,
            submitted,
            copy: Span::ZERO,
            age: 0,
            oldest: 0,
            pieces: Chain::EMPTY,
            fills: false,
            cursor: command.first,
            parts: 0,
            waits: false,
            failed: false,
            way: Breakdown::default(),
            waiting: NONE,
            held: NONE,
            next: NONE,
        };
        if let Some(slot) = self.free.pop() {
            self.entries[slot as usize] = entry;
            return slot;
        }
        self.entries.push(entry);
        self.entries.len() as Slot - 1
    }

    pub fn places(&self) -> usize {
        self.entries.len()
    }

    /// Gives a command's slot back.
    pub fn free(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Entry {
        &self.entries[slot as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Entry {
        &mut self.entries[slot as usize]
    }

    /// A write waits until another one is done.
    pub fn hold(&mut self, by: Slot, slot: Slot) {
        self.get_mut(slot).next = core::mem::replace(&mut self.get_mut(by).held, slot);
    }

    /// Lets one of the writes go that this one has held.
    pub fn pop_held(&mut self, by: Slot) -> Option<Slot> {
        let slot = self.get(by).held;
        if slot == NONE {
            return None;
        }
        self.get_mut(by).held = core::mem::replace(&mut self.get_mut(slot).next, NONE);
        Some(slot)
    }
}
