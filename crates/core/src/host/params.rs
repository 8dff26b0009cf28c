//! A workload in parameters: jobs that issue commands, each from its own random streams.
use super::popularity::Popularity;
use super::zone_writes::ZoneWrites;
use crate::command::{Attribute, Priority};
use core::fmt;
use drivelab_units::{Frequency, Lba, Rate, Sectors, Share, Span};

/// How a job decides when to issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// Keeps this many outstanding; issues the next one `think` after a completion.
    Closed {
        /// I/Os outstanding, at least 1.
        outstanding: u32,
        /// From a completion to the next I/O.
        think: Span,
    },
    /// Issues `burst` I/Os, keeping `outstanding` of them outstanding, and the next burst `think` after all
    /// are finished.
    Bursts {
        /// I/Os outstanding within a burst, at least 1.
        outstanding: u32,
        /// I/Os in a burst, at least 1.
        burst: u32,
        /// From the end of a burst to the next one.
        think: Span,
    },
    /// Open loop, exponential gaps, whatever has completed.
    Poisson {
        /// Mean arrivals per second.
        rate: Frequency,
    },
    /// Open loop, equal gaps.
    Fixed {
        /// Arrivals per second.
        rate: Frequency,
    },
}

/// Where a job's next address comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addressing {
    /// Sequentially through the range, reads and writes separately, then again from its start.
    Sequential,
    /// Anywhere in the range with the distribution `JobParams::popularity`, aligned to `JobParams::align`.
    Random,
    /// Random with this share, else the address after the last one of its kind.
    Mixed {
        /// Share of reads with a random address.
        random: Share,
        /// Share of writes with a random address.
        random_writes: Share,
    },
}

/// A transfer size and its weight among a job's sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeShare {
    /// Sectors of an I/O, at least 1.
    pub size: Sectors,
    /// Its weight: an I/O has this size with probability weight / sum of all weights.
    pub weight: u32,
}

/// The processing time of the host's own software for an I/O before its first command is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubmitCost {
    /// For each command, one command at a time.
    pub fixed: Span,
    /// For the I/O's data, at this rate (pinning and mapping its pages); no time when `None`.
    pub rate: Option<Rate>,
    /// The part for the data varies uniformly by up to this share of itself, in both directions.
    pub spread: Share,
}

impl SubmitCost {
    /// Issuing costs no time.
    pub const NONE: SubmitCost = SubmitCost { fixed: Span::ZERO, rate: None, spread: Share::NONE };
}

/// The options with which a job marks each of its commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marking {
    /// SCSI task attribute.
    pub attribute: Attribute,
    /// NCQ priority.
    pub priority: Priority,
    /// FUA: the command completes when its data are on the media.
    pub force_unit_access: bool,
    /// FUA for writes alone (O_SYNC).
    pub sync: bool,
    /// Bypasses the host's own cache (O_DIRECT).
    pub direct: bool,
}

/// A priority, and the share of a job's I/Os that have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PriorityShare {
    /// The priority of these I/Os.
    pub priority: Priority,
    /// An I/O has it with this probability.
    pub share: Share,
}

/// Maximum number of priorities by share.
pub const PRIORITIES_MAX: usize = 16;

/// When a job flushes its written data to the media.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flushes {
    /// The job issues no FLUSH.
    #[default]
    Never,
    /// A FLUSH after this many writes, as with fio's `fsync`: the job issues nothing more until it is done;
    /// its outstanding I/Os continue. Only for closed loops.
    After(u32),
}

/// When a job ends by itself, and what happens then.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// The data after which it issues nothing more; it ends when all of that is finished. `None`: it goes on.
    pub after: Option<Sectors>,
    /// Whether it flushes what it has written, and ends when that is done.
    pub flushes: bool,
    /// Whether all other jobs end with it: they issue nothing more, and finish what is outstanding.
    pub ends_all: bool,
}

/// One job: what it issues, where and when. [`check`] reports what is wrong with it.
#[derive(Clone, Debug)]
pub struct JobParams {
    /// The initiator that the target sees, from 0.
    pub initiator: u16,
    /// Logical unit of the commands.
    pub logical_unit: u16,
    /// The process that issues, for schedulers that keep processes apart.
    pub process: u32,
    /// Whether the application waits for each I/O: schedulers may prefer such commands.
    pub synchronous: bool,
    /// How each command is marked for caches and queues.
    pub marking: Marking,
    /// Priorities by share, at most [`PRIORITIES_MAX`] that sum to at most one: the rest of the I/Os have that of
    /// `marking`.
    pub priorities: alloc::vec::Vec<PriorityShare>,
    /// Share of reads; the rest are writes.
    pub reads: Share,
    /// When written data are flushed to the media.
    pub flushes: Flushes,
    /// Sequential, random, or mixed.
    pub addressing: Addressing,
    /// How often each place is drawn at random.
    pub popularity: Popularity,
    /// Sizes that are drawn from; at least one with a weight above zero.
    pub sizes: alloc::vec::Vec<SizeShare>,
    /// The addresses that the job touches: `count` sectors from `first`.
    pub first: Lba,
    /// Sectors in the range; the largest size must fit.
    pub count: Sectors,
    /// Random addresses are multiples of this, counted from `first`.
    pub align: Sectors,
    /// How it writes the zones of a host-managed drive; `None` where it writes anywhere.
    pub zones: Option<ZoneWrites>,
    /// The largest single command: a larger I/O is sent as several at once and completes with the last.
    pub command_limit: Option<Sectors>,
    /// Closed loop, bursts or open loop.
    pub arrivals: Arrivals,
    /// The processor time of the host for issuing.
    pub submit: SubmitCost,
    /// When it ends before the run does.
    pub ending: Ending,
}

/// Maximum number of outstanding commands, over all jobs: a limit on everything.
pub const OUTSTANDING_MAX: u64 = 1 << 16;
/// Maximum number of commands into which one I/O may be cut.
pub const PARTS_MAX: u64 = 1 << 12;

/// Why a workload cannot run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobError {
    /// The workload has no job.
    NoJobs,
    /// No size has a weight above zero.
    NoSizes {
        /// Index of the job.
        job: usize,
    },
    /// A size or a command limit of zero sectors.
    ZeroSize {
        /// Index of the job.
        job: usize,
    },
    /// An alignment of zero sectors.
    ZeroAlign {
        /// Index of the job.
        job: usize,
    },
    /// A closed loop without outstanding I/Os, or a burst of none.
    ZeroOutstanding {
        /// Index of the job.
        job: usize,
    },
    /// The range is smaller than the largest size.
    RangeTooSmall {
        /// Index of the job.
        job: usize,
    },
    /// A range that is not made of whole zones, zones smaller than the largest size, or none open.
    Zones {
        /// Index of the job.
        job: usize,
    },
    /// More than [`PRIORITIES_MAX`] priorities by share, or shares of more than the whole.
    Priorities {
        /// Index of the job.
        job: usize,
    },
    /// A FLUSH after zero writes.
    ZeroWrites {
        /// Index of the job.
        job: usize,
    },
    /// An open-loop job asks for FLUSHes, which it could not wait for.
    FlushInOpenLoop {
        /// Index of the job.
        job: usize,
    },
    /// All jobs together would keep more than [`OUTSTANDING_MAX`] commands outstanding.
    TooManyOutstanding {
        /// Commands outstanding at most, as the jobs ask.
        requested: u64,
    },
    /// The largest size makes more than [`PARTS_MAX`] commands.
    TooManyParts {
        /// Index of the job.
        job: usize,
    },
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJobs => write!(f, "a workload needs at least one job"),
            Self::NoSizes { job } => write!(f, "job {job} has no transfer size with a weight"),
            Self::ZeroSize { job } => write!(f, "job {job} has a transfer size of zero"),
            Self::ZeroAlign { job } => write!(f, "job {job} aligns its addresses to nothing"),
            Self::ZeroOutstanding { job } => write!(f, "job {job} keeps nothing outstanding"),
            Self::RangeTooSmall { job } => write!(f, "job {job}'s range does not hold its largest transfer"),
            Self::Zones { job } => {
                write!(
                    f,
                    "job {job} writes zones, and its range is not made of whole ones that hold its largest transfer"
                )
            }
            Self::Priorities { job } => {
                write!(
                    f,
                    "job {job} has more than {PRIORITIES_MAX} priorities by share, or more than 100 % of them"
                )
            }
            Self::ZeroWrites { job } => write!(f, "job {job} flushes after every write of none"),
            Self::FlushInOpenLoop { job } => {
                write!(f, "job {job} is to wait for a flush and issues whatever has completed")
            }
            Self::TooManyOutstanding { requested } => {
                write!(f, "{requested} commands outstanding at once; at most {OUTSTANDING_MAX} are possible")
            }
            Self::TooManyParts { job } => {
                write!(f, "job {job}'s largest transfer is more than {PARTS_MAX} commands")
            }
        }
    }
}

impl core::error::Error for JobError {}

/// Checks the jobs before anything runs.
pub fn check(jobs: &[JobParams]) -> Result<(), JobError> {
    if jobs.is_empty() {
        return Err(JobError::NoJobs);
    }
    let mut outstanding = 0;
    for (job, params) in jobs.iter().enumerate() {
        check_job(job, params)?;
        outstanding += match params.arrivals {
            Arrivals::Closed { outstanding: requested, .. }
            | Arrivals::Bursts { outstanding: requested, .. } => u64::from(requested) * params.parts_max(),
            Arrivals::Poisson { .. } | Arrivals::Fixed { .. } => 0,
        };
    }
    if outstanding > OUTSTANDING_MAX {
        return Err(JobError::TooManyOutstanding { requested: outstanding });
    }
    Ok(())
}

fn check_job(job: usize, params: &JobParams) -> Result<(), JobError> {
    if params.sizes.iter().all(|share| share.weight == 0) {
        return Err(JobError::NoSizes { job });
    }
    if params.sizes.iter().any(|share| share.size == Sectors::ZERO)
        || params.command_limit == Some(Sectors::ZERO)
    {
        return Err(JobError::ZeroSize { job });
    }
    if params.align == Sectors::ZERO {
        return Err(JobError::ZeroAlign { job });
    }
    let whole: u64 = params.priorities.iter().map(|one| one.share.bits()).sum();
    if params.priorities.len() > PRIORITIES_MAX || whole > Share::ALL.bits() {
        return Err(JobError::Priorities { job });
    }
    let is_none = matches!(
        params.arrivals,
        Arrivals::Closed { outstanding: 0, .. }
            | Arrivals::Bursts { outstanding: 0, .. }
            | Arrivals::Bursts { burst: 0, .. }
    );
    if is_none {
        return Err(JobError::ZeroOutstanding { job });
    }
    let waits = matches!(params.arrivals, Arrivals::Closed { .. } | Arrivals::Bursts { .. });
    match params.flushes {
        Flushes::After(0) => return Err(JobError::ZeroWrites { job }),
        Flushes::After(_) if !waits => return Err(JobError::FlushInOpenLoop { job }),
        _ => {}
    }
    if params.largest() > params.count {
        return Err(JobError::RangeTooSmall { job });
    }
    let does_not_fit = |zones: &ZoneWrites| {
        let size = zones.size.get();
        let is_whole =
            size > 0 && params.first.get().is_multiple_of(size) && params.count.get().is_multiple_of(size);
        !is_whole || params.largest() > zones.size || zones.open_most == 0
    };
    if params.zones.as_ref().is_some_and(does_not_fit) {
        return Err(JobError::Zones { job });
    }
    if params.parts_max() > PARTS_MAX {
        return Err(JobError::TooManyParts { job });
    }
    Ok(())
}

impl JobParams {
    /// The priorities of its I/Os by their index in [`Io`](super::Io): that of its marking first.
    pub fn all_priorities(&self) -> impl Iterator<Item = Priority> + '_ {
        core::iter::once(self.marking.priority).chain(self.priorities.iter().map(|one| one.priority))
    }

    /// The largest size, zero without sizes.
    pub fn largest(&self) -> Sectors {
        self.sizes.iter().map(|share| share.size).max().unwrap_or(Sectors::ZERO)
    }

    /// Places where a random I/O of this size can begin.
    pub fn places(&self, size: Sectors) -> u64 {
        (self.count.get() - size.get()) / self.align.get() + 1
    }

    /// The maximum number of commands that one I/O of this job becomes.
    pub fn parts_max(&self) -> u64 {
        self.command_limit.map_or(1, |limit| self.largest().get().div_ceil(limit.get().max(1)).max(1))
    }
}
