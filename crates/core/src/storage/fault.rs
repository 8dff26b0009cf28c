//! What can be done to a target from outside while it runs: faults of drives, failures, new drives, background work,
//! power cuts. Scenarios, the control socket of a served device and traces each encode this one type.
use super::array::report::SyncKind;
use drivelab_units::{Lba, Sectors, Share, Span};

/// A fault, or other work from outside.
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
    /// Then it continues with all of that, as if nothing had happened.
    Hang {
        /// Number of the drive.
        drive: u16,
        /// From now until it continues; for good when `None`: a controller's timeout gives up such commands.
        lasts: Option<Span>,
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
}

impl Fault {
    /// The drive that it affects; `None` if it affects the whole target.
    pub fn drive(self) -> Option<u16> {
        match self {
            Fault::MediaError { drive, .. }
            | Fault::Corrupt { drive, .. }
            | Fault::Slow { drive, .. }
            | Fault::Hang { drive, .. }
            | Fault::LinkReset { drive }
            | Fault::LyingFlush { drive, .. }
            | Fault::Fail { drive }
            | Fault::Replace { drive } => Some(drive),
            Fault::CutPower | Fault::Begin { .. } => None,
        }
    }

    /// Its name in scenarios, commands and records.
    pub fn name(self) -> &'static str {
        match self {
            Fault::MediaError { .. } => "media",
            Fault::Corrupt { .. } => "corrupt",
            Fault::Slow { .. } => "slow",
            Fault::Hang { .. } => "hang",
            Fault::LinkReset { .. } => "reset",
            Fault::LyingFlush { lies: true, .. } => "lie",
            Fault::LyingFlush { lies: false, .. } => "honest",
            Fault::Fail { .. } => "fail",
            Fault::Replace { .. } => "replace",
            Fault::CutPower => "power-cut",
            Fault::Begin { work: SyncKind::Scrub } => "scrub",
            Fault::Begin { work: SyncKind::Rebuild } => "rebuild",
            Fault::Begin { work: SyncKind::Resync } => "resync",
        }
    }

    /// The fault that ends it; `None` if it has no end or ends by itself.
    pub fn end(self) -> Option<Fault> {
        match self {
            Fault::Slow { drive, how: Some(_) } => Some(Fault::Slow { drive, how: None }),
            Fault::LyingFlush { drive, lies: true } => Some(Fault::LyingFlush { drive, lies: false }),
            Fault::Fail { drive } => Some(Fault::Replace { drive }),
            _ => None,
        }
    }
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

impl Slowness {
    /// The maximum delay of a command.
    pub fn most(self) -> Span {
        match self {
            Slowness::Constant(by) | Slowness::Ramp { by, .. } | Slowness::Some { by, .. } => by,
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

/// How long a fault lasts that another one can [end](Fault::end). For all others it is [`Lasting::ForGood`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasting {
    /// Until something else ends it.
    ForGood,
    /// For this time.
    For(Span),
    /// In bursts, the first of which begins at once.
    Bursts {
        /// Length of a burst.
        lasts: Span,
        /// From the beginning of one burst to that of the next.
        every: Span,
    },
}

impl Lasting {
    /// The time from a beginning to the end, if it ends.
    pub fn length(self) -> Option<Span> {
        match self {
            Lasting::ForGood => None,
            Lasting::For(lasts) | Lasting::Bursts { lasts, .. } => Some(lasts),
        }
    }

    /// The time from one beginning to the next, if it comes again.
    pub fn every(self) -> Option<Span> {
        if let Lasting::Bursts { every, .. } = self { Some(every) } else { None }
    }
}
