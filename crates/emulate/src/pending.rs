//! A client request in the target: its commands and its reply.
use crate::store::Payload;
use crate::transport::{Answer, Failure, ReadData, RequestId};
use drivelab_core::{Access, Command, Outcome};
use drivelab_units::{Lba, SECTOR_BYTES, Sectors};

/// A client request in the target.
pub(crate) struct PendingRequest {
    pub request_id: RequestId,
    pub access: Access,
    /// Whether the reply carries the data that were read.
    pub sends: bool,
    pub fua: bool,
    /// The first sector of the remaining commands, and the number of remaining sectors.
    pub first: u64,
    pub rest: u64,
    /// The command in flight: its number in the target, and the sectors that it covers.
    pub number: u64,
    pub at: u64,
    pub count: u64,
    /// The data of a write: zeros where the client sends none.
    pub payload: Option<Payload>,
}

pub(crate) fn command_of(id: u64, order: &PendingRequest) -> Command {
    Command {
        direct: true,
        force_unit_access: order.fua && order.access == Access::Write,
        ..Command::new(id, order.access, Lba::new(order.at), Sectors::new(order.count))
    }
}

pub(crate) fn answer(order: &PendingRequest, outcome: Outcome, found: ReadData) -> Result<Answer, Failure> {
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
