//! SCSI tagged command queueing (SCSI-2, SAM).
//!
//! - Task attributes, whoever the initiator is: everything received before an ORDERED command ends before it begins, and
//!   everything received after it begins after it ends. HEAD OF QUEUE goes next, the last of several first; what has
//!   begun is not suspended. SIMPLE commands go in any order between those fences. [`super::task_set`] keeps this.
//! - Tags: 256 for each initiator in SCSI-2 (8 bits), 65 536 later. A tag in use is an overlapped command; here it is refused
//!   alone, where the standard has the drive abort the initiator's other commands too.
//! - Queue algorithm modifier: restricted (0h, the default) means that the medium ends up as if all commands had been
//!   ORDERED, so overlapping commands keep their order when one of them writes ([`super::overlap`]); unrestricted (1h)
//!   lets SIMPLE commands go in any order.
//! - A drive that holds as many commands as it can answers TASK SET FULL; the host keeps the command and tries again.
//! - Errors (QERR): 0 the others go on once the allegiance condition is over; 1 all others are cleared, and the other
//!   initiators find a UNIT ATTENTION; 3 those of the failing command's initiator are cleared.
//! - With NACA an error leaves an auto contingent allegiance: until the initiator clears it, only its ACA commands run,
//!   everything that arrives else is answered ACA ACTIVE, and what is queued waits.
//! - A command without a tag counts as SIMPLE (SAM) or ORDERED (some drives). That an initiator has at most one
//!   outstanding, and none with tags beside it, is the initiator's duty: the controller keeps to it.
//! - The drive disconnects while it works and reselects the initiator for the data, unless it may not.
//!
//! Source: SCSI-2 (X3.131) 7.8; SAM-2 7; SPC-2 r20 table 156 and 8.3.6; Seagate SCSI-2/3 interface manual (ST31051);
//! Hitachi Ultrastar 15K450 specification 18.
use super::Clears;
use crate::command::Attribute;

/// Commands that a drive can tell apart here, all initiators together.
pub const DEPTH_MAX: u32 = 1 << 16;

/// The queue algorithm modifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reordering {
    Restricted,
    Unrestricted,
}

/// QERR: what an error does to the other commands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueErrors {
    /// 0: they go on.
    Continue,
    /// 1: all are cleared.
    ClearAll,
    /// 3: those of the same initiator are cleared.
    ClearNexus,
}

impl QueueErrors {
    pub fn clears(self) -> Clears {
        match self {
            QueueErrors::Continue => Clears::Nothing,
            QueueErrors::ClearAll => Clears::All,
            QueueErrors::ClearNexus => Clears::Nexus,
        }
    }
}

/// What a command without a tag counts as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UntaggedAs {
    Simple,
    Ordered,
}

impl UntaggedAs {
    pub fn acts_as(self) -> Attribute {
        match self {
            UntaggedAs::Simple => Attribute::Simple,
            UntaggedAs::Ordered => Attribute::Ordered,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScsiParams {
    /// Tags of one initiator: 256 or 65 536.
    pub tags: u32,
    pub reordering: Reordering,
    pub on_error: QueueErrors,
    pub untagged: UntaggedAs,
    /// Whether the host sets NACA, so that an error leaves an auto contingent allegiance.
    pub naca: bool,
    /// Whether the drive may let go of the bus while it works; if not, one command at a time.
    pub disconnects: bool,
}

impl ScsiParams {
    pub const USUAL: ScsiParams = ScsiParams {
        tags: 1 << 16,
        reordering: Reordering::Restricted,
        on_error: QueueErrors::Continue,
        untagged: UntaggedAs::Simple,
        naca: false,
        disconnects: true,
    };
}
