//! A request on its way through the target: what it is as a command, and what its answer becomes.
use crate::door::{Answer, Failure, Found, Ticket};
use crate::store::Payload;
use drivelab_core::{Access, Command, Outcome};
use drivelab_units::{Lba, SECTOR_BYTES, Sectors};

/// A request on its way through the target.
pub(crate) struct Order {
    pub ticket: Ticket,
    pub access: Access,
    /// What the client wanted to read, as a read whose data are sent.
    pub sends: bool,
    pub fua: bool,
    /// Sectors that are still to be asked for, from the first of all on.
    pub first: u64,
    pub rest: u64,
    /// The command under way: its number in the target, and what it covers.
    pub number: u64,
    pub at: u64,
    pub count: u64,
    /// The data of a write, and zeros where there are none.
    pub payload: Option<Payload>,
}

pub(crate) fn command_of(id: u64, order: &Order) -> Command {
    Command {
        direct: true,
        force_unit_access: order.fua && order.access == Access::Write,
        ..Command::new(id, order.access, Lba::new(order.at), Sectors::new(order.count))
    }
}

pub(crate) fn answer(order: &Order, outcome: Outcome, found: Found) -> Result<Answer, Failure> {
    match outcome {
        Outcome::Done if order.sends => Ok(Answer::Data { offset: order.at * SECTOR_BYTES, found }),
        Outcome::Done => Ok(Answer::Done),
        Outcome::OutOfRange => Err(Failure::Invalid("beyond the end of the device")),
        Outcome::MediaError => Err(Failure::Io("a sector could not be read")),
        Outcome::Failed => Err(Failure::Io("the drive has failed")),
        Outcome::Lost => Err(Failure::Io("the array has lost the data")),
        Outcome::TimedOut => Err(Failure::Io("the command was not done in time")),
        _ => Err(Failure::Io("the command was given up")),
    }
}
