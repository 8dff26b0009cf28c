//! The workload in fio's words.
use super::choice::Name;
use super::commands::CommandRaw;
use crate::keys::numbers::{Count, Fio};
use crate::keys::quantities::{Duration, Extent, Seconds, part};
use crate::keys::read::{At, Names, wrong_type};
use crate::keys::section::{Forms, displaced};
use crate::keys::{Kind, Read, choices, section};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_core::Attribute;
use drivelab_units::{Bytes, Frequency, Rate, Share, Span, parse};
use std::fmt::Write;

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

/// Part of the target: an extent, or a share of the capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Extent(Extent),
    Share(Share),
}

impl Read for Part {
    fn kind() -> Kind {
        Kind::Either(vec![Extent::kind(), Kind::Percent])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text.trim_end().ends_with('%') => Share::read(node, log).map(Part::Share),
            _ => part(node, true, log).map(Part::Extent),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Part::Extent(extent) => extent.write(out),
            Part::Share(share) => {
                share.write(out);
                out.push('%');
            }
        }
    }
}

/// Part of the target that holds something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size(pub Part);

impl Read for Size {
    fn kind() -> Kind {
        Part::kind()
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text.trim_end().ends_with('%') => Part::read(node, log).map(Size),
            _ => part(node, false, log).map(|extent| Size(Part::Extent(extent))),
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// I/Os per second, as in fio a bare number, or with its unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateIops(pub Frequency);

impl Read for RateIops {
    fn kind() -> Kind {
        let quantity = Kind::Quantity { what: "a number of I/Os per second", units: "/s", example: "120/s" };
        Kind::Either(vec![Kind::Count { least: 1, most: 10_000_000 }, quantity])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let text = match &node.value {
            Value::Text(text) if text.contains('/') => text.clone(),
            Value::Text(text) => format!("{text}/s"),
            Value::Integer(number) => format!("{number}/s"),
            Value::Decimal(number) => format!("{number}/s"),
            _ => {
                wrong_type(node, &Self::kind(), log);
                return None;
            }
        };
        // Above this, the gap between two arrivals has less than two digits of a nanosecond count.
        match parse::frequency(&text) {
            Ok(rate) if rate.millihertz() <= 10_000_000_000 => Some(RateIops(rate)),
            _ => {
                log.fault(
                    node.place,
                    "not a rate of I/Os",
                    "write a number from 0.001 to 10000000 per second, such as 120",
                );
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0.millihertz());
    }
}

/// fio's `bssplit`: sizes and their percentages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BsSplit(pub Vec<(Bytes, u32)>);

impl Read for BsSplit {
    fn kind() -> Kind {
        let units = "sizes as in bs, percentages after a slash, sizes without one share the rest";
        Kind::Quantity { what: "sizes and their percentages", units, example: "4k/60:64k/40" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        match split(text) {
            Ok(sizes) => Some(BsSplit(sizes)),
            Err((part, why)) => {
                log.fault(node.place, format!("`{part}`: {why}"), format!("write {}", Self::kind().words()));
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        for (size, percent) in &self.0 {
            let _ = write!(out, "{}/{percent}:", size.get());
        }
    }
}

/// More sizes than any published pattern has.
const SIZES_MAX: usize = 64;

fn split(text: &str) -> Result<Vec<(Bytes, u32)>, (String, String)> {
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let fail = |why: String| (part.to_owned(), why);
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let size = parse::bytes(size).map_err(|error| fail(error.to_string()))?;
        let percent = match percent.trim().trim_end_matches('%') {
            "" => None,
            number => match number.parse::<u32>() {
                Ok(percent @ 0..=100) => Some(percent),
                _ => return Err(fail("the percentage is not a whole number from 0 to 100".to_owned())),
            },
        };
        sizes.push((size, percent));
    }
    if sizes.len() > SIZES_MAX {
        return Err((format!("{} sizes", sizes.len()), format!("at most {SIZES_MAX} are possible")));
    }
    let given: u32 = sizes.iter().filter_map(|(_, percent)| *percent).sum();
    let open = sizes.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    if given > 100 || open == 0 && given != 100 {
        return Err((text.to_owned(), format!("the percentages add up to {given}, not to 100")));
    }
    // In hundred-percent steps times the sizes that share the rest, so that every weight stays whole.
    let scale = open.max(1);
    Ok(sizes.into_iter().map(|(size, percent)| (size, percent.map_or(100 - given, |p| p * scale))).collect())
}

section! {
    facts: false,
    /// What the host's own software takes for an I/O before its first command goes out.
    pub struct SubmitRaw {
        /// For each command, one after the other.
        fixed: Span = "0s",
        /// The I/O's data at this rate: pinning and mapping its pages.
        rate: Rate = "no time for the data",
        /// The part for the data varies uniformly by up to this share of itself, either way.
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
const EXCLUSIVE: &[Forms] =
    &[&[&["bs"], &["bssplit"]], &[&["iodepth", "thinktime", "fsync"], &["rate_iops", "rate_process"]]];

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
            /// What is asked of the target, in fio's words.
            pub struct WorkloadRaw {
                $( $(#[doc = $key_doc])+ $key : $type = $default, )*
                /// fio's name for `run.warmup`.
                ramp_time: Seconds = "",
                /// fio's name for `run.duration`.
                runtime: Duration = "",
                /// Commands one by one, in place of everything else in here. The run ends when all are done, or after `run.duration` if it is set.
                commands: Vec<At<CommandRaw>> = "",
                /// Several jobs at once, each a table of its own: `[workload.job.readers]`.
                job: Names<JobRaw> = "one job of the keys above",
            }
        }

        section! {
            facts: true,
            exclusive: EXCLUSIVE,
            /// A pattern: keys of a workload under a name, each with its source.
            pub struct PatternRaw {
                /// What it stands for.
                title: String = "",
                /// What a reader should know.
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

/// The priority of an NCQ command; the deadline of an isochronous one stands beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriorityName {
    Normal,
    High,
    Isochronous,
}

choices!(PriorityName {
    "normal" => PriorityName::Normal, "as the drive's order has it";
    "high" => PriorityName::High, "before the normal ones, as far as the drive can (ncq)";
    "isochronous" => PriorityName::Isochronous, "to be completed within `icc` (ncq)";
});

/// Hosts on one bus.
pub const INITIATORS: u64 = 16;

workload_sections! {
    /// A pattern of the catalogue, or the path of a pattern file: its keys hold where they are not set beside it.
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
    /// For the random patterns: this share of I/Os goes to a random place, the rest follow the one before.
    percentage_random: Share = "100%",
    /// Where the job's range begins.
    offset: Part = "0B",
    /// How long the job's range is; a percentage is one of the whole target.
    size: Size = "up to the end of the target",
    /// Random places are multiples of this.
    blockalign: Bytes = "bs, or the smallest size of bssplit",
    /// Between a completion and the next issue (closed loop). Each of the `iodepth` I/Os thinks by itself: at depth 1
    /// that is fio's; deeper, fio stalls the whole job.
    thinktime: Span = "0s",
    /// A FLUSH after so many writes of the job; the job issues nothing more until it is done, and what is outstanding
    /// goes on (closed loop).
    fsync: Count<0, 1000000> = "0: never",
    /// I/Os per second of each job, whatever has completed (open loop); in place of `iodepth`.
    rate_iops: RateIops = "",
    /// How the arrivals of `rate_iops` are spaced.
    rate_process: RateProcess = "linear",
    /// The largest single command: a larger I/O goes out as several at once and completes with the last.
    max_transfer: Bytes = "no limit",
    /// What the host's own software takes before an I/O goes out.
    submit: SubmitRaw = "nothing",
    /// The task attribute of the job's commands.
    attribute: Attribute = "simple",
    /// The priority of the job's commands.
    priority: PriorityName = "normal",
    /// With `isochronous`: the time from a command's arrival to its deadline.
    icc: Span = "",
    /// Whether the media itself must answer (force unit access): a read is then never served from the drive's buffer.
    fua: bool = "false",
    /// Whether the job's I/Os go past the host's own cache (O_DIRECT); 0 and 1 as in fio.
    direct: Fio = "false with `target.host_cache`; without one every I/O is",
    /// The host that the job runs on; several share a drive only by scsi-tcq. Each has its own tags and I/O scheduler.
    initiator: Count<0, { INITIATORS - 1 }> = "0",
    /// Whether somebody waits for the job's I/Os; with `elevator.order = "fair"`, writes that nobody waits for share one
    /// queue.
    synchronous: bool = "true for a closed loop, false for an open one",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_shares_the_rest_as_fio_does() {
        let sizes = |text: &str| {
            split(text).map(|sizes| sizes.iter().map(|(b, w)| (b.get(), *w)).collect::<Vec<_>>())
        };
        assert_eq!(sizes("4k/60:64k/40"), Ok(vec![(4096, 60), (65536, 40)]));
        assert_eq!(sizes("4k/50:64k/:1m"), Ok(vec![(4096, 100), (65536, 50), (1 << 20, 50)]));
        assert!(sizes("4k/60:64k/50").is_err());
        assert!(sizes("4k/60").is_err());
        assert!(sizes("4q/60").is_err());
        assert!(sizes("").is_err());
    }
}
