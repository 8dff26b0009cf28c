//! One point of a sweep in the record. Keys carry their unit.
use crate::accounts::Accounts;
use crate::array::ArrayRecord;
use crate::collector::Collector;
use crate::commands::{self, CommandRecord, MemberRecord};
use crate::data::{CutRecord, DataRecord};
use crate::given_up::GivenUpRecord;
use crate::injections::InjectionRecord;
use crate::jobs::Jobs;
use crate::latency::Latencies;
use crate::priorities::ByPriority;
use crate::replay::ReplayRecord;
use crate::series::Bucket;
use drivelab_core::storage::drive::Turns;
use drivelab_core::{Access, Breakdown};
use drivelab_units::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// Percentiles are null where fewer than ten I/Os lie beyond them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LatencySummary {
    pub n: u64,
    pub mean: Option<f64>,
    pub min: Option<u64>,
    pub max: Option<u64>,
    pub p50: Option<u64>,
    pub p90: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    pub p99_9: Option<u64>,
    pub p99_99: Option<u64>,
}

impl From<&Latencies> for LatencySummary {
    fn from(latencies: &Latencies) -> Self {
        LatencySummary {
            n: latencies.count(),
            mean: latencies.mean_ns(),
            min: latencies.least_ns(),
            max: latencies.most_ns(),
            p50: latencies.percentile_ns(50_000),
            p90: latencies.percentile_ns(90_000),
            p95: latencies.percentile_ns(95_000),
            p99: latencies.percentile_ns(99_000),
            p99_9: latencies.percentile_ns(99_900),
            p99_99: latencies.percentile_ns(99_990),
        }
    }
}

/// Reads only, or writes only.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Direction {
    pub ios: u64,
    pub iops: f64,
    pub bytes: u64,
    pub bytes_per_s: f64,
    pub latency_ns: LatencySummary,
    /// HdrHistogram V2, deflated, base64.
    pub histogram: String,
}

impl Direction {
    /// From its latencies and its data over so many seconds.
    pub(crate) fn of(latencies: &Latencies, bytes: u64, seconds: f64) -> Self {
        Direction {
            ios: latencies.count(),
            iops: latencies.count() as f64 / seconds,
            bytes,
            bytes_per_s: bytes as f64 / seconds,
            latency_ns: latencies.into(),
            histogram: latencies.to_hdr_base64(),
        }
    }
}

/// FLUSH commands: they are not I/Os, and count in no other figure.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Flushes {
    pub count: u64,
    pub latency_ns: LatencySummary,
    /// HdrHistogram V2, deflated, base64.
    pub histogram: String,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Depth {
    /// I/Os that the jobs keep outstanding; null in an open loop.
    pub asked: Option<u64>,
    /// I/Os in the system, averaged over the window.
    pub achieved: f64,
    /// Commands that the drives have accepted and not answered, averaged over the window, summed over all
    /// drives; null where the target is not a drive.
    pub in_drives: Option<f64>,
}

/// Mean nanoseconds of each part of the response time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct BreakdownMeans {
    pub queue: f64,
    pub overhead: f64,
    pub seek: f64,
    pub rotation: f64,
    pub transfer: f64,
    pub link: f64,
    pub wait: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Point {
    pub iops: f64,
    /// Half the width of the 95 % confidence interval of `iops`, as a share of it.
    pub iops_relative_error: Option<f64>,
    pub bytes_per_s: f64,
    pub read: Direction,
    pub write: Direction,
    pub flush: Flushes,
    /// Each job by itself; left out where there is one.
    #[serde(skip_serializing_if = "Jobs::is_empty")]
    pub jobs: Jobs,
    /// The I/Os of each priority by themselves; left out where all have the same.
    #[serde(skip_serializing_if = "ByPriority::is_empty")]
    pub priorities: ByPriority,
    pub depth: Depth,
    pub latency_ns: LatencySummary,
    /// Null when nothing finished.
    pub breakdown_ns: Option<BreakdownMeans>,
    /// Arm movements, per thousand, after which the first sector came a revolution later than the firmware
    /// had planned; left out where no arm scatters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_turns_per_1000: Option<f64>,
    /// Writes to the media that covered a physical sector in part, and were a turn or two longer; left out where there were
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_writes: Option<u64>,
    /// I/Os that ended with an error.
    pub errors: u64,
    /// The same by outcome.
    pub errors_by_outcome: BTreeMap<&'static str, u64>,
    pub ended: Ended,
    /// Age of the oldest I/O that was not finished; null where all were.
    pub oldest_unfinished_ns: Option<u64>,
    /// Measured time.
    pub window_ns: u64,
    /// 16 hexadecimal digits over all events of the run, warm-up included.
    pub digest: String,
    /// The window in up to 120 pieces of equal length.
    pub series: Vec<Bucket>,
    /// What happened to the array; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayRecord>,
    /// Data that memories had answered for and could not pass on; left out where there is no memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<GivenUpRecord>,
    /// The results of a replayed recording; left out where none was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayRecord>,
    /// What was checked of the data; left out where that was not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataRecord>,
    /// The injected faults of the scenario; left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injections: Option<Vec<InjectionRecord>>,
    /// What a power cut has lost: null where the run was over before; left out where none was planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cut: Option<Option<CutRecord>>,
    /// The first commands, on request.
    #[serde(flatten)]
    pub log: Option<Log>,
}

/// The traces of the first commands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Log {
    /// The end of the warm-up: the log begins with what completes after it.
    pub logged_from_ns: u64,
    /// Null for a target without platters: a drive of flash, or none, which logs no command.
    pub platter: Option<Platter>,
    pub commands: Vec<CommandRecord>,
    /// The commands of an array's members, until the last of the logged commands was done; left out where
    /// there is no array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_commands: Option<Vec<MemberRecord>>,
}

/// What is needed to derive angles from timestamps, and how far the arm can move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Platter {
    pub rotation_ns: u64,
    pub cylinders: u32,
}

/// What ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    Duration,
    Ios,
    Rebuilt,
    /// The rebuild was sampled at all its places, or has ended.
    Sampled,
    PowerCut,
    /// The recording that was replayed is finished.
    Trace,
    /// On a real device: the user has ended the run. The figures up to then count.
    Interrupted,
    /// On a real device: a command failed, and the run was to end then.
    Error,
    /// On a real device: it is no longer present.
    DeviceGone,
    /// On a real file: its file system has no room for what was to be written.
    DiskFull,
}

/// What a driver knows in addition to what it collected.
#[derive(Clone, Copy, Debug)]
pub struct Closing {
    pub window: Span,
    pub ended: Ended,
    /// Age of the oldest I/O that is not finished.
    pub oldest_unfinished: Option<Span>,
    pub accounts: Accounts,
    pub depth_asked: Option<u64>,
    /// Commands in the drives, integrated over the window.
    pub in_drives_ns: Option<u128>,
    /// The turns that were lost in the window; `None` where none can be.
    pub turns: Option<Turns>,
    pub digest: u64,
}

impl Point {
    pub fn new(collector: &Collector, closing: &Closing) -> Self {
        let window_ns = closing.window.as_ns();
        let seconds = window_ns.max(1) as f64 / 1e9;
        let direction = |access| Direction::of(collector.latencies(access), collector.bytes(access), seconds);
        let flushes = collector.latencies(Access::Flush);
        let mut all = collector.latencies(Access::Read).clone();
        all.merge(collector.latencies(Access::Write));
        let (read, write) = (direction(Access::Read), direction(Access::Write));
        Point {
            iops: all.count() as f64 / seconds,
            iops_relative_error: collector.relative_error(),
            bytes_per_s: (read.bytes + write.bytes) as f64 / seconds,
            read,
            write,
            flush: Flushes {
                count: flushes.count(),
                latency_ns: flushes.into(),
                histogram: flushes.to_hdr_base64(),
            },
            jobs: Jobs::of(collector, seconds),
            priorities: collector
                .priorities
                .as_ref()
                .map_or_else(ByPriority::default, |found| found.records(seconds)),
            depth: Depth {
                asked: closing.depth_asked,
                achieved: closing.accounts.integral_ns as f64 / window_ns.max(1) as f64,
                in_drives: closing.in_drives_ns.map(|sum| sum as f64 / window_ns.max(1) as f64),
            },
            latency_ns: (&all).into(),
            breakdown_ns: means(collector.breakdown_ns(), all.count()),
            missed_turns_per_1000: closing
                .turns
                .filter(|turns| turns.movements > 0)
                .map(|turns| 1e3 * turns.missed as f64 / turns.movements as f64),
            partial_writes: closing.turns.map(|turns| turns.partial_writes).filter(|&writes| writes > 0),
            errors: collector.errors().iter().map(|(_, count)| count).sum(),
            errors_by_outcome: collector
                .errors()
                .iter()
                .map(|&(outcome, count)| (commands::outcome(outcome), count))
                .collect(),
            ended: closing.ended,
            oldest_unfinished_ns: closing.oldest_unfinished.map(Span::as_ns),
            window_ns,
            digest: format!("{:016x}", closing.digest),
            series: Vec::new(),
            array: None,
            given_up: None,
            replay: None,
            data: None,
            injections: None,
            power_cut: None,
            log: None,
        }
    }
}

fn means(sums: [u128; Breakdown::PARTS.len()], count: u64) -> Option<BreakdownMeans> {
    if count == 0 {
        return None;
    }
    let [queue, overhead, seek, rotation, transfer, link, wait] = sums.map(|sum| sum as f64 / count as f64);
    Some(BreakdownMeans { queue, overhead, seek, rotation, transfer, link, wait })
}
