//! The commands in the memory: those from above, and its own flushes and fetches. A command's slot is its tag
//! at the device.
use super::pieces::PieceChain;
use crate::command::{Breakdown, Command};
use crate::storage::overlap::Claim;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot};
use drivelab_units::{Instant, Lba, Span};

#[derive(Clone, Copy)]
pub struct CommandEntry {
    /// As it arrived from above.
    pub command: Command,
    pub submitted: Instant,
    /// The duration of its copy alone.
    pub copy: Span,
    /// Its number in the order in which data enter and leave memory.
    pub age: u64,
    /// For a flush: the age of its oldest data.
    pub oldest: u64,
    /// For a flush: the writes whose data it carries. For a read, with data operations: what memory had at
    /// its arrival.
    pub pieces: PieceChain,
    /// For a read: whether memory keeps the data that it fetches.
    pub fills: bool,
    /// For a read by lines: everything before this address has been handled, and this many parts of that are
    /// not done yet.
    pub cursor: Lba,
    pub parts: u32,
    /// Whether it waits for its turn to be handled, and whether one of its lines has failed.
    pub waits: bool,
    pub failed: bool,
    /// The breakdown of the line that arrived last.
    pub way: Breakdown,
    /// For the fetch of a line: the parts of reads that wait for it, in a chain.
    pub waiting: Slot,
    /// The writes that wait until this one releases its sectors, in a chain through `next`.
    held: Slot,
    next: Slot,
}

/// The commands by slot.
pub type Table = Slab<CommandEntry>;

impl CommandEntry {
    pub fn new(command: &Command, submitted: Instant) -> Self {
        CommandEntry {
            command: *command,
            submitted,
            copy: Span::ZERO,
            age: 0,
            oldest: 0,
            pieces: PieceChain::EMPTY,
            fills: false,
            cursor: command.first,
            parts: 0,
            waits: false,
            failed: false,
            way: Breakdown::default(),
            waiting: NONE,
            held: NONE,
            next: NONE,
        }
    }

    /// Its claim on the sectors that it writes, against everything older.
    pub fn claim(&self) -> Claim {
        let Command { first, .. } = self.command;
        Claim { write: true, first, end: self.command.end(), age: self.age }
    }
}

/// The writes that another one holds, in a chain.
impl Table {
    /// A write waits until another one is done.
    pub fn block(&mut self, by: Slot, slot: Slot) {
        self.get_mut(slot).next = core::mem::replace(&mut self.get_mut(by).held, slot);
    }

    /// Removes one of the writes that this one has held.
    pub fn pop_held(&mut self, by: Slot) -> Option<Slot> {
        let slot = self.get(by).held;
        if slot == NONE {
            return None;
        }
        self.get_mut(by).held = core::mem::replace(&mut self.get_mut(slot).next, NONE);
        Some(slot)
    }
}
