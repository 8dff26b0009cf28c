//! The commands that a memory issues itself, its flushes and fetches of lines: their ids and their fields.
use super::{COPIES, Place};
use crate::command::{Access, Attribute, Command, Content, OWN_IDS, Priority};
use drivelab_units::{Lba, Sectors};

/// The process of all flushes.
const FLUSHER: u32 = u32::MAX;

/// Where the commands are issued, and how many there have been.
pub struct Own {
    place: Place,
    issued: u64,
}

impl Own {
    pub fn new(place: Place) -> Self {
        Own { place, issued: 0 }
    }

    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether a command with this id is one of them.
    pub fn has_issued(&self, id: u64) -> bool {
        let first = first_id(self.place);
        (first..first + self.issued).contains(&id)
    }

    /// The next one, without data yet.
    pub fn command(&mut self, access: Access, first: Lba, force_unit_access: bool) -> Command {
        let initiator = match self.place {
            Place::Controller => 0,
            Place::Host(initiator) => initiator,
        };
        let id = first_id(self.place) + self.issued;
        self.issued += 1;
        Command {
            id,
            initiator,
            logical_unit: 0,
            tag: 0,
            attribute: Attribute::Simple,
            priority: Priority::Normal,
            force_unit_access,
            direct: false,
            attempt: 0,
            process: FLUSHER,
            synchronous: false,
            access,
            content: Content::Data,
            first,
            count: Sectors::ZERO,
        }
    }
}

/// The first id of a memory's own commands.
fn first_id(place: Place) -> u64 {
    let number = match place {
        Place::Controller => 0,
        Place::Host(initiator) => 1 + u64::from(initiator),
    };
    OWN_IDS | number << 35
}

/// The first number of its buffers that belong to no command.
pub fn first_copy(place: Place) -> u64 {
    first_id(place) | COPIES
}
