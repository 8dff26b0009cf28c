//! The inputs of a target, their acknowledgements, and errors of the caller.
//!
//! A failure of a simulated device is not an error: it is an [`Outcome`](crate::Outcome) of the commands
//! affected. A [`CallError`] means that whoever drives the target has made a mistake. Apart from the time,
//! the target is then unchanged.
use super::drive::params::TIME_MAX;
use super::fault::Fault;
use crate::command::Command;
use core::fmt;
use drivelab_units::{Instant, Lba, Sectors, Span, counted};

/// An input of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetInput {
    /// Only the time.
    Tick,
    /// A host issues a command.
    Submit(Command),
    /// A host aborts the command that it issued under this id.
    Abort {
        /// The host's own id of the command.
        id: u64,
    },
    /// A fault is injected, or other work from outside begins.
    Inject(Fault),
    /// On the wire: a controller's requests other than commands.
    Manage(Manage),
}

/// Task management, on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manage {
    /// The initiator aborts the command with this tag.
    Abort {
        /// The initiator that sent it.
        initiator: u16,
        /// Its tag.
        tag: u32,
    },
    /// The initiator ends its auto contingent allegiance.
    ClearAllegiance {
        /// The initiator that ends it.
        initiator: u16,
    },
    /// The drive's log of a failed queue is read: see [`Accepted::Log`].
    ReadLog,
}

/// How a target has accepted an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// It is done, or has begun; outputs report what follows.
    Done,
    /// The command has this number in the target: it names its data in [data
    /// operations](crate::data::DataOp). For a host with ascending ids the numbers are its own ids.
    Submitted {
        /// Never used twice in a target.
        number: u64,
    },
    /// The command will end as [`Aborted`](crate::Outcome::Aborted), unless it ends otherwise at this
    /// instant. One in a controller's cache or array ends once everything that they have begun for it is
    /// over.
    Aborting,
    /// The command is where it cannot be aborted: in a host's memory, in an array that the host keeps, in a
    /// host's I/O scheduler, in a station, or done except for its answer. It runs to completion.
    GoesOn,
    /// No such command is under way, so there is nothing to abort.
    NothingThere,
    /// The tag that the log of a failed queue names.
    Log {
        /// Tag of the command that failed the queue; `None` if none did.
        failed: Option<u32>,
    },
}

/// An error of the caller of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallError {
    /// Time only moves forward.
    TimeWentBack {
        /// The instant that was given.
        now: Instant,
        /// The latest instant that the target has seen.
        was: Instant,
    },
    /// So late that the target can no longer add a time to it.
    TimeTooFar {
        /// The instant that was given.
        now: Instant,
    },
    /// A command with this id has not ended.
    IdUnderWay {
        /// The id that was given.
        id: u64,
    },
    /// The target has fewer drives.
    NoSuchDrive {
        /// Number that was given.
        drive: u16,
        /// Number of drives, numbered from 0.
        drives: u16,
    },
    /// The drive has failed before.
    DriveHasFailed {
        /// Number of the drive.
        drive: u16,
    },
    /// The drive has not failed, so it cannot be replaced.
    DriveIsThere {
        /// Number of the drive.
        drive: u16,
    },
    /// These sectors are not on that drive, or their number is zero.
    NotOnDrive {
        /// Number of the drive.
        drive: u16,
        /// First sector that was given.
        first: Lba,
        /// Sectors that were given.
        count: Sectors,
    },
    /// A slowness above the maximum time of any firmware: see [`TIME_MAX`](super::drive::params::TIME_MAX).
    TooSlow {
        /// The slowness that was given.
        by: Span,
    },
    /// This kind of target cannot do that.
    Unable {
        /// What was requested, for the message.
        what: &'static str,
        /// What a target must have for it.
        needs: &'static str,
    },
    /// There is nothing to rebuild, or no spare to rebuild it onto.
    NothingToRebuild,
    /// The power is off.
    PowerIsOff,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TimeWentBack { now, was } => {
                write!(f, "time went back: {} ns is given after {} ns", now.as_ns(), was.as_ns())
            }
            Self::TimeTooFar { now } => write!(f, "{} ns is later than a target can reckon with", now.as_ns()),
            Self::IdUnderWay { id } => write!(f, "a command with the id {id} is under way"),
            Self::NoSuchDrive { drive, drives } => {
                write!(f, "there is no drive {drive}: the target has {drives}, counted from 0")
            }
            Self::DriveHasFailed { drive } => write!(f, "drive {drive} has failed before"),
            Self::DriveIsThere { drive } => {
                write!(f, "drive {drive} has not failed, so that no other can take its place")
            }
            Self::NotOnDrive { drive, first, count } => {
                write!(f, "drive {drive} does not have {} from sector {} on", counted(count.get(), "sector"), first.get())
            }
            Self::TooSlow { by } => write!(
                f,
                "a firmware cannot be slower by {} ns: {} ns for each command is the most",
                by.as_ns(),
                TIME_MAX.as_ns()
            ),
            Self::Unable { what, needs } => write!(f, "this target cannot {what}: that takes {needs}"),
            Self::NothingToRebuild => {
                f.write_str("there is nothing to rebuild: no member is missing, or no spare is left that could take its place")
            }
            Self::PowerIsOff => f.write_str("the power is gone: the target takes nothing more"),
        }
    }
}

impl core::error::Error for CallError {}
