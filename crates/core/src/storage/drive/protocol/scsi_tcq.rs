//! SCSI tagged command queueing (SCSI-2, SAM).
//!
//! - Task attributes: everything received before an ORDERED command ends before it begins, and everything
//!   received after it begins after it ends. HEAD OF QUEUE goes next, the last of several first; a command
//!   that has begun is not suspended. SIMPLE commands are served in any order between those fences.
//!   [`super::task_set`] enforces this (SAM-2 7.6).
//! - Task sets (TST, SPC-3 7.4.6): one for all initiators (000b), or one for each (001b). Attributes, allegiances and
//!   QERR do not cross from one set to another. Simplified: HEAD OF QUEUE goes before what waits in the other sets too.
//! - Tags: 256 for each initiator in SCSI-2 (8 bits), 65 536 later. A tag in use is an overlapped command:
//!   all commands of that initiator are aborted, and the new command ends with CHECK CONDITION (SAM-2,
//!   overlapped commands; Seagate 5.6.3), with all other effects of an error.
//! - Queue algorithm modifier (SPC-2 8.3.6): restricted (0h, the default) maintains data integrity for each
//!   initiator: the medium ends up as if its commands had been ORDERED, so commands of one initiator that
//!   overlap keep their order when one of them writes ([`super::overlap`]). Between initiators it guarantees
//!   nothing. Unrestricted (1h) permits any order of SIMPLE commands.
//! - A drive whose queue is full answers TASK SET FULL; the host keeps the command and retries.
//! - Errors (QERR, SPC-2 8.3.6): 0 the others continue once the allegiance condition is over; 1 all of the
//!   task set are cleared; 3 those of the failing command's initiator. Commands of other initiators that are
//!   cleared end with TASK ABORTED (TAS = 1), or their initiator gets a UNIT ATTENTION (TAS = 0; SPC-4 7.4.6,
//!   SAM-5 5.6). Simplified: with TAS = 0 the standard lets them end without a status, and their host would
//!   learn of it from the UNIT ATTENTION of its next command, or from a timeout; here it is notified at once, and
//!   its next command gets the UNIT ATTENTION.
//! - NACA is a bit of each command; here a host sets it in all of its commands or in none. An error of a
//!   command with NACA leaves an auto contingent allegiance (SAM-2 5.9.1): until the initiator clears it only
//!   its ACA commands run, one at a time, and queued commands wait. Other new commands are answered ACA
//!   ACTIVE; those of another initiator BUSY where they do not have NACA. After an error without NACA the
//!   sense data are sent with the status (autosense), which ends the condition at once.
//! - Simplified: a refused command, except for a tag in use, leaves no allegiance and clears nothing,
//!   although UNIT ATTENTION and ILLEGAL REQUEST are CHECK CONDITIONs too.
//! - A command without a tag counts as SIMPLE (SAM) or ORDERED (some drives). The initiator must have at most
//!   one of these outstanding, and no tagged ones at the same time: the controller observes that, and the
//!   drive does not check (SAM-2 and Seagate 5.6.3 have it abort the initiator's commands).
//! - The drive disconnects while it works and reselects the initiator for the data, unless disconnection is
//!   disabled.
//!
//! Source: SCSI-2 (X3.131) 7.8; SAM-2 5.9 and 7; SPC-2 r20 table 156 and 8.3.4; SPC-3 7.4.6; Seagate Parallel SCSI
//! Interface Product Manual 100293069 rev. A, 5.6.3 (tag in use), 7.3 and 7.6.1 (ACA ACTIVE, BUSY, TST); Hitachi
//! Ultrastar 15K73 OEM manual, mode page 0Ah; HP SCSI-2 command reference, table 2-34 ("for that initiator").
use super::Clears;
use crate::command::Attribute;

/// Commands that a drive can distinguish, all initiators together.
pub const DEPTH_MAX: u32 = 1 << 16;

/// The queue algorithm modifier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reordering {
    /// 0: overlapping commands of one initiator keep their order when one of them writes.
    Restricted,
    /// 1: SIMPLE commands are served in any order.
    Unrestricted,
}

/// QERR: how an error affects other commands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueueErrors {
    /// 0: they continue.
    Continue,
    /// 1: all are cleared.
    ClearAll,
    /// 3: those of the same initiator are cleared.
    ClearNexus,
}

/// What a command without a tag counts as.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UntaggedAs {
    /// As a SIMPLE task: reordered with others.
    Simple,
    /// As an ORDERED task: after all older ones, before all younger.
    Ordered,
}

impl UntaggedAs {
    /// The task attribute that an untagged command gets.
    pub fn acts_as(self) -> Attribute {
        match self {
            UntaggedAs::Simple => Attribute::Simple,
            UntaggedAs::Ordered => Attribute::Ordered,
        }
    }
}

/// TST: which commands share a task set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TaskSets {
    /// 000b: those of all initiators.
    One,
    /// 001b: those of each initiator separately.
    Each,
}

/// The initiators whose commands have NACA set, so that an error leaves an auto contingent allegiance: one
/// bit for each; the last bit covers all further initiators.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Naca(u16);

impl Naca {
    /// No initiator sets NACA: errors end without auto contingent allegiance.
    pub const NOBODY: Naca = Naca(0);
    /// Every initiator sets NACA.
    pub const ALL: Naca = Naca(u16::MAX);

    /// These initiators set NACA; numbers above 15 count as 15.
    pub fn by(initiators: impl IntoIterator<Item = u16>) -> Self {
        Naca(initiators.into_iter().fold(0, |bits, initiator| bits | Naca::bit(initiator)))
    }

    fn bit(initiator: u16) -> u16 {
        1 << initiator.min(15)
    }

    /// Whether this initiator sets it.
    #[inline]
    pub fn is_set_by(self, initiator: u16) -> bool {
        self.0 & Naca::bit(initiator) != 0
    }

    /// Whether any initiator sets it.
    pub fn is_set(self) -> bool {
        self != Naca::NOBODY
    }
}

/// The SCSI queueing options of drive and initiators (SAM, SPC: control mode page).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScsiParams {
    /// Tags of one initiator: 256 or 65 536.
    pub tags: u32,
    /// QUEUE ALGORITHM MODIFIER.
    pub reordering: Reordering,
    /// Whether initiators share a task set (TST).
    pub task_sets: TaskSets,
    /// What an error clears (QERR).
    pub on_error: QueueErrors,
    /// TAS: whether commands cleared by another initiator's error end with TASK ABORTED, and not by UNIT
    /// ATTENTION.
    pub task_aborted: bool,
    /// What a command without a tag counts as.
    pub untagged: UntaggedAs,
    /// Which initiators set NACA in their commands.
    pub naca: Naca,
    /// Whether the drive may disconnect while it works; if not, it serves one command at a time.
    pub disconnects: bool,
}

impl ScsiParams {
    /// The usual options: 65 536 tags, restricted reordering, one task set, QERR 0, TAS 0, no NACA.
    pub const USUAL: ScsiParams = ScsiParams {
        tags: 1 << 16,
        reordering: Reordering::Restricted,
        task_sets: TaskSets::One,
        on_error: QueueErrors::Continue,
        task_aborted: false,
        untagged: UntaggedAs::Simple,
        naca: Naca::NOBODY,
        disconnects: true,
    };

    /// What an error clears: never anything of another task set.
    pub fn clears(&self) -> Clears {
        match (self.on_error, self.task_sets) {
            (QueueErrors::Continue, _) => Clears::Nothing,
            (QueueErrors::ClearAll, TaskSets::One) => Clears::All,
            (QueueErrors::ClearAll, TaskSets::Each) | (QueueErrors::ClearNexus, _) => Clears::Nexus,
        }
    }
}
