//! The workload in fio's terms.
use super::amounts::{BsSplit, Part, RateIops, Size};
use super::choice::Name;
use super::commands::CommandRaw;
use super::distribution::Distribution;
use super::duration::PrioritySplit;
use super::host_managed::ZoneMode;
use super::trace::TraceChoice;
use crate::keys::numbers::{Count, Fio};
use crate::keys::quantities::{Duration, Pause, Seconds};
use crate::keys::read::{At, Names};
use crate::keys::section::{Forms, displaced};
use crate::keys::{Read, choices, section};
use drivelab_core::Attribute;
use drivelab_units::{Bytes, Rate, Share, Span};

/// fio's `rw`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rw {
    Read,
    Write,
    RandRead,
    RandWrite,
    Mixed,
    RandMixed,
}

choices!(Rw {
    "read" => Rw::Read, "sequential reads";
    "write" => Rw::Write, "sequential writes";
    "randread" => Rw::RandRead, "random reads";
    "randwrite" => Rw::RandWrite, "random writes";
    "rw" => Rw::Mixed, "sequential reads and writes, mixed";
    "readwrite" => Rw::Mixed, "the same, fio's synonym";
    "randrw" => Rw::RandMixed, "random reads and writes, mixed";
});

impl Rw {
    pub fn is_random(self) -> bool {
        matches!(self, Rw::RandRead | Rw::RandWrite | Rw::RandMixed)
    }

    pub fn writes(self) -> bool {
        !matches!(self, Rw::Read | Rw::RandRead)
    }

    pub fn is_mixed(self) -> bool {
        matches!(self, Rw::Mixed | Rw::RandMixed)
    }

    pub fn name(self) -> String {
        let mut name = String::new();
        self.write(&mut name);
        name
    }
}

/// How the arrivals of an open loop are spaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateProcess {
    Linear,
    Poisson,
}

choices!(RateProcess {
    "linear" => RateProcess::Linear, "equal gaps";
    "poisson" => RateProcess::Poisson, "exponential gaps";
});

section! {
    facts: false,
    /// The host's software overhead of an I/O before its first command is sent.
    pub struct SubmitRaw {
        /// Per command, one after the other.
        fixed: Span = "0s",
        /// Per byte, as a rate: pinning and mapping the pages of the I/O.
        rate: Rate = "no time for the data",
        /// The per-byte part varies uniformly by up to this share of itself, in both directions.
        spread: Share = "0%",
    }
}

impl JobRaw {
    /// Whether the job sets this key of the workload, or another one that takes its place.
    pub fn takes_over(&self, key: &str) -> bool {
        let set = self.set();
        set.iter().any(|(own, _)| *own == key) || displaced(&set, EXCLUSIVE).contains(&key)
    }
}

/// One size or several; closed loop or open.
const EXCLUSIVE: &[Forms] = &[
    &[&["bs"], &["bssplit"]],
    &[&["priority"], &["prioritysplit"]],
    &[&["iodepth", "thinktime", "thinktime_blocks", "fsync"], &["rate_iops", "rate_process"]],
];

macro_rules! workload_sections {
    ($( $(#[doc = $key_doc:literal])+ $key:ident : $type:ty = $default:literal, )*) => {
        section! {
            facts: false,
            exclusive: EXCLUSIVE,
            /// One of several jobs that run at once. It inherits the keys of `[workload]` that it does not set itself.
            pub struct JobRaw { $( $(#[doc = $key_doc])+ $key : $type = $default, )* }
        }

        section! {
            facts: false,
            exclusive: EXCLUSIVE,
            /// The workload, in fio's terms.
            pub struct WorkloadRaw {
                $( $(#[doc = $key_doc])+ $key : $type = $default, )*
                /// fio's name for `run.warmup`.
                ramp_time: Seconds = "",
                /// fio's name for `run.duration`.
                runtime: Duration = "",
                /// fio's name for `run.ios`.
                number_ios: Count<1, 1_000_000_000_000> = "",
                /// The name of the workload where several are the values of a sweep.
                name: String = "",
                /// fio's I/O engine; it has no effect, and a note says so.
                ioengine: Name = "",
                /// fio's key for a run that continues after its range is done; every run does, and a note says so.
                time_based: Fio = "true",
                /// A list of commands, in place of all other keys of this section. The run ends when all are done, or
                /// after `run.duration` if it is set.
                commands: Vec<At<CommandRaw>> = "",
                /// A recorded trace, in place of the keys that generate I/Os: its path, or a table. The run ends when
                /// all of it is done, if no limit comes first.
                trace: TraceChoice = "",
                /// Several jobs at once, each a table of its own: `[workload.job.readers]`.
                job: Names<JobRaw> = "one job of the keys above",
            }
        }

        section! {
            facts: true,
            exclusive: EXCLUSIVE,
            /// A pattern: keys of a workload under a name, each with its source.
            pub struct PatternRaw {
                /// What it represents.
                title: String = "",
                /// Notes for the reader.
                notes: String = "",
                /// Short names for sources, with the full reference of each.
                sources: Names<String> = "",
                $( $(#[doc = $key_doc])+ $key : $type = $default, )*
            }
        }

        impl From<PatternRaw> for JobRaw {
            fn from(pattern: PatternRaw) -> Self {
                JobRaw {
                    $( $key: pattern.$key, )*
                    own_source: pattern.own_source,
                    unreadable: pattern.unreadable,
                }
            }
        }

        impl From<PatternRaw> for WorkloadRaw {
            fn from(pattern: PatternRaw) -> Self {
                WorkloadRaw {
                    $( $key: pattern.$key, )*
                    own_source: pattern.own_source,
                    unreadable: pattern.unreadable,
                    ..WorkloadRaw::default()
                }
            }
        }

        impl WorkloadRaw {
            /// The keys that jobs inherit.
            pub fn inherited(&self) -> JobRaw {
                JobRaw {
                    $( $key: self.$key.clone(), )*
                    own_source: self.own_source.clone(),
                    unreadable: self.unreadable.clone(),
                }
            }
        }
    };
}

choices!(Attribute {
    "simple" => Attribute::Simple, "in any order among its like";
    "ordered" => Attribute::Ordered, "after all that came before, before all that comes later (scsi-tcq)";
    "head-of-queue" => Attribute::HeadOfQueue, "next; the last of several first (scsi-tcq)";
    "untagged" => Attribute::Untagged, "without a tag: one at a time, beside no other of its initiator";
});

/// The priority of a command; the deadline of an isochronous one stands beside it, a limit is a descriptor of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriorityName {
    Normal,
    High,
    Isochronous,
    Limit1,
    Limit2,
    Limit3,
    Limit4,
    Limit5,
    Limit6,
    Limit7,
}

impl PriorityName {
    /// The priority with this name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::Normal, Self::High, Self::Isochronous];
        all.into_iter().chain(Self::LIMITS).find(|priority| priority.spelled() == name)
    }

    const LIMITS: [Self; 7] =
        [Self::Limit1, Self::Limit2, Self::Limit3, Self::Limit4, Self::Limit5, Self::Limit6, Self::Limit7];

    /// The index of the descriptor of duration limits that it names.
    pub fn limit(self) -> Option<u8> {
        Self::LIMITS.iter().position(|limit| *limit == self).map(|at| at as u8 + 1)
    }

    pub fn spelled(self) -> String {
        let mut name = String::new();
        self.write(&mut name);
        name
    }
}

choices!(PriorityName {
    "normal" => PriorityName::Normal, "as the drive's order has it";
    "high" => PriorityName::High, "before the normal ones, as far as the drive can (ncq)";
    "isochronous" => PriorityName::Isochronous, "to be completed within `icc` (ncq)";
    "limit-1" => PriorityName::Limit1, "within the first of the drive's `queue.duration_limits` (ncq, scsi-tcq)";
    "limit-2" => PriorityName::Limit2, "the same with the second";
    "limit-3" => PriorityName::Limit3, "with the third";
    "limit-4" => PriorityName::Limit4, "with the fourth";
    "limit-5" => PriorityName::Limit5, "with the fifth";
    "limit-6" => PriorityName::Limit6, "with the sixth";
    "limit-7" => PriorityName::Limit7, "with the seventh";
});

/// Hosts on one bus.
pub const INITIATORS: u64 = 16;

workload_sections! {
    /// A pattern of the catalogue, or the path of a pattern file: its keys apply where they are not set here.
    pattern: Name = "",
    /// Direction and pattern.
    rw: Rw = "randread",
    /// The size of an I/O.
    bs: Bytes = "4KiB",
    /// Several sizes by share, in place of `bs`.
    bssplit: BsSplit = "",
    /// I/Os that each job keeps outstanding (closed loop).
    iodepth: Count<1, 65536> = "1",
    /// Copies of the job, each a process of its own. As in fio, sequential copies all start at `offset`.
    numjobs: Count<1, 4096> = "1",
    /// Share of reads, for `rw` and `randrw`.
    rwmixread: Share = "50%",
    /// For the random patterns: this share of I/Os is at a random place, the rest are sequential to the one before.
    percentage_random: Share = "100%",
    /// The same for the writes of `randrw`, where they differ from its reads.
    percentage_random_writes: Share = "percentage_random",
    /// For the random patterns: how often each place is accessed. `zipf` and `pareto` scatter the popular places over
    /// the range unless they have a center; `normal` is centered at 0.5 unless given, and zones are adjacent.
    random_distribution: Distribution = "random",
    /// The start of the job's range: a whole number of sectors, or a percentage of the whole target, rounded down to
    /// 4 KiB. A round figure in MB, GB or TB is rounded down to a sector.
    offset: Part = "0B",
    /// The length of the job's range, rounded as `offset` is; a percentage is one of the whole target, and `"100%"` is
    /// all of it from `offset` on, as in fio. Any other length that reaches beyond the end is an error: fio shortens
    /// every percentage to the end.
    size: Size = "up to the end of the target",
    /// On a host-managed drive: `zbd` has each write go to the write pointer of its zone, in the order of a sequential job or
    /// to a zone drawn at random. `offset` and `size` are then whole zones. Reads go anywhere.
    zonemode: ZoneMode = "none",
    /// With `zonemode = "zbd"`: the most zones that a random job keeps open.
    max_open_zones: Count<1, 4194304> = "as many as the drive does",
    /// The alignment of random places.
    blockalign: Bytes = "bs, or the smallest size of bssplit",
    /// Think time between a completion and the next issue (closed loop), for each of the `iodepth` I/Os separately: at
    /// depth 1 the same as in fio; at greater depth fio stalls the whole job, as `thinktime_blocks` does here.
    thinktime: Pause = "0s",
    /// Bursts, as in fio: after this many I/Os the job waits until all are finished, and then for `thinktime`.
    thinktime_blocks: Count<1, 1000000> = "each I/O thinks by itself",
    /// A FLUSH after this many writes of the job; the job issues nothing more until it is done, and outstanding I/Os
    /// continue (closed loop).
    fsync: Count<0, 1000000> = "0: never",
    /// The data that each job transfers before it ends; the run ends with the last job.
    io_size: Bytes = "the job goes on until the run ends",
    /// A FLUSH when the job ends, after its data or with the run; the measured time goes on until it is done.
    end_fsync: Fio = "false",
    /// With `io_size`: whether all other jobs end with the first one that does.
    exitall: Fio = "false",
    /// With `array.level = "jbod"`: the member on which the job's range lies, from 0. `offset` and `size` then apply to
    /// that member.
    member: Count<0, 1023> = "the range is one of the whole target",
    /// I/Os per second of each job, whatever has completed (open loop); in place of `iodepth`.
    rate_iops: RateIops = "",
    /// How the arrivals of `rate_iops` are spaced.
    rate_process: RateProcess = "linear",
    /// The largest single command: a larger I/O is sent as several commands at once and completes with the last.
    max_transfer: Bytes = "no limit",
    /// The host's software overhead before an I/O is sent.
    submit: SubmitRaw = "nothing",
    /// The task attribute of the job's commands.
    attribute: Attribute = "simple",
    /// The priority of the job's commands.
    priority: PriorityName = "normal",
    /// Several priorities by share in percent, each drawn for an I/O; the rest are normal.
    prioritysplit: PrioritySplit = "",
    /// With `isochronous`: the time from a command's arrival to its deadline.
    icc: Span = "",
    /// Force unit access: whether the media must be accessed; a read is then never served from the drive's buffer.
    fua: bool = "false",
    /// Whether each write completes only when its data are on the media (FUA), as with O_SYNC; reads are served as
    /// without it. 0 and 1 as in fio.
    sync: Fio = "false",
    /// Whether the job's I/Os bypass the host's own cache (O_DIRECT); 0 and 1 as in fio.
    direct: Fio = "false with `target.host_cache`; without one every I/O is",
    /// The host that the job runs on; several share a drive only by scsi-tcq. Each has its own tags and I/O scheduler.
    initiator: Count<0, { INITIATORS - 1 }> = "0",
    /// Whether the job's I/Os are synchronous; with `elevator.order = "fair"`, asynchronous writes share one
    /// queue.
    synchronous: bool = "true for a closed loop, false for an open one",
}
