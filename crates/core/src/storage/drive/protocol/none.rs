//! No queueing: one command at a time, the next is accepted after the completion. Tags and attributes are
//! ignored. This is the behaviour of a drive without a queue, or behind a controller that shares no queueing
//! protocol with it.
//! Source: ATA/ATAPI-5 (T13/1321D), BSY and DRDY of the command block; SCSI-2, untagged tasks without disconnection.
use crate::command::Attribute;

pub const DEPTH_MAX: u32 = 1;

/// Whether a command of this attribute can be sent at all.
#[inline]
pub fn allows(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::Simple | Attribute::Untagged)
}
