//! The inputs of a target, their acknowledgements, and errors of the caller.
//!
//! A failure of a simulated device is not an error: it is an [`Outcome`](crate::Outcome) of the commands
//! affected. A [`CallError`] means that whoever drives the target has made a mistake. Apart from the time,
//! the target is then unchanged.
use super::array::report::SyncKind;
use super::drive::params::TIME_MAX;
use crate::command::Command;
use core::fmt;
use drivelab_units::{Instant, Lba, Sectors, Share, Span, counted};

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
    /// A drive fails for good.
    Fail {
        /// Number of the drive.
        drive: u16,
    },
    /// A new, empty drive of the same model takes the place of one that has failed.
    Replace {
        /// Number of the drive.
        drive: u16,
    },
    /// The power is cut: no command under way is answered, and the target accepts nothing more.
    CutPower,
    /// The array begins background work on all of its groups, as if the scenario had scheduled it for now.
    Begin {
        /// Resync, rebuild or scrub.
        work: SyncKind,
    },
    /// A fault is injected into a drive.
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

/// Faults that can be injected while a target runs.
///
/// ```
/// use drivelab_core::storage::drive::geometry::GeometryParams;
/// use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
/// use drivelab_core::storage::drive::seek::SeekParams;
/// use drivelab_core::storage::{Cure, Fault, Slowness, Target, TargetInput, TargetOutput, TargetParams};
/// use drivelab_core::{Access, Command, Machine, Outcome};
/// use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
///
/// let rpm = Rpm::from_milli(7_200_000).unwrap();
/// let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
/// let drive = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
/// let mut target = Target::new(&TargetParams::Drive(DriveModel::new(&drive).unwrap().into()), 1);
/// let (first, count) = (Lba::new(96), Sectors::new(8));
/// for fault in [
///     Fault::MediaError { drive: 0, first, count, until: Cure::Written },
///     Fault::Slow { drive: 0, how: Some(Slowness::Constant(Span::from_ms(500))) },
/// ] {
///     target.handle(Instant::ZERO, TargetInput::Inject(fault)).unwrap();
/// }
/// target.handle(Instant::ZERO, TargetInput::Submit(Command::new(0, Access::Read, first, count))).unwrap();
/// while let Some(due) = target.poll_timeout() {
///     target.handle(due, TargetInput::Tick).unwrap();
/// }
/// let Some(TargetOutput::Completed(answer)) = target.poll_output() else { panic!("it is answered") };
/// assert_eq!(answer.outcome, Outcome::MediaError);
/// assert!(answer.breakdown.overhead >= Span::from_ms(500));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Sectors of a drive's media cannot be read.
    MediaError {
        /// Number of the drive.
        drive: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
        /// What makes them readable again.
        until: Cure,
    },
    /// The link to a drive is reset: all commands that it has not answered come back to the controller as
    /// aborted, and are resent; on the wire they go to the host. The contents of the cache stay.
    LinkReset {
        /// Number of the drive.
        drive: u16,
    },
    /// From now on, or no longer: a drive answers FLUSH at once, whatever waits in its cache.
    LyingFlush {
        /// Number of the drive.
        drive: u16,
        /// `true` from now on, `false` to end it.
        lies: bool,
    },
    /// From now on, or no longer: the firmware takes longer to pick up each command, one at a time, including
    /// FLUSHes and hits. It counts as overhead.
    Slow {
        /// Number of the drive.
        drive: u16,
        /// By how much; back to normal when `None`.
        how: Option<Slowness>,
    },
    /// For this time the drive reports nothing and starts nothing new. Its mechanism completes what it has
    /// begun, and data on the link continue; new commands wait for its firmware, and no further command ends.
    /// Then it continues with all of that, as if nothing had happened. A span longer than anything else is
    /// permanent: a controller's timeout gives up such commands.
    Hang {
        /// Number of the drive.
        drive: u16,
        /// From now until it continues.
        lasts: Span,
    },
    /// The media contents of a drive change silently in these sectors: reads of them succeed with wrong data.
    /// Written data that wait in its cache are not affected, and a write repairs the sectors.
    Corrupt {
        /// Number of the drive.
        drive: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
}

/// How a degraded drive is slow: by how much longer its firmware takes to pick up a command, or how many times as long
/// everything takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slowness {
    /// Always by this much.
    Constant(Span),
    /// By zero at first, increasing linearly to this much over the length `over`, and constant from then on.
    Ramp {
        /// Added to each command at the end of the ramp.
        by: Span,
        /// Length of the ramp.
        over: Span,
    },
    /// By this much during bursts, one every `every`; the first begins at once.
    Bursts {
        /// Added to each command within a burst.
        by: Span,
        /// From the beginning of one burst to that of the next.
        every: Span,
        /// Length of a burst.
        lasts: Span,
    },
    /// By this much for a share of the commands, drawn by their ids from the stream `drive/<index>/slow`.
    Some {
        /// Added to each command drawn.
        by: Span,
        /// Share of commands.
        share: Share,
    },
    /// This many times: before it reports a command it starts nothing for the rest of this many times the time that it has
    /// worked, so that its rate under load is so many times smaller, whatever the commands are.
    Times(u32),
}

impl Fault {
    /// The drive that it affects.
    pub fn drive(self) -> u16 {
        match self {
            Fault::MediaError { drive, .. }
            | Fault::LinkReset { drive }
            | Fault::LyingFlush { drive, .. }
            | Fault::Slow { drive, .. }
            | Fault::Hang { drive, .. }
            | Fault::Corrupt { drive, .. } => drive,
        }
    }
}

impl Slowness {
    /// The maximum delay of a command.
    pub fn most(self) -> Span {
        match self {
            Slowness::Constant(by)
            | Slowness::Ramp { by, .. }
            | Slowness::Bursts { by, .. }
            | Slowness::Some { by, .. } => by,
            Slowness::Times(_) => Span::ZERO,
        }
    }
}

/// What makes unreadable sectors readable again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cure {
    /// A write of them.
    Written,
    /// Nothing: they cannot be read after a write either.
    Never,
    /// Nothing, but a retried read succeeds once it has failed this many times: the controller resends it as
    /// often as its parameter `retries` says.
    Retries(u8),
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
    /// Bursts of slowness with a period of zero.
    EndlessBursts,
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
            Self::EndlessBursts => {
                f.write_str("bursts of slowness must come after a while: `every` is zero")
            }
            Self::Unable { what, needs } => write!(f, "this target cannot {what}: that takes {needs}"),
            Self::NothingToRebuild => {
                f.write_str("there is nothing to rebuild: no member is missing, or no spare is left that could take its place")
            }
            Self::PowerIsOff => f.write_str("the power is gone: the target takes nothing more"),
        }
    }
}

impl core::error::Error for CallError {}
