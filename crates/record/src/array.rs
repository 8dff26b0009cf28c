//! What happened to an array in a run: events, background work, its state at the end, and hosts' service
//! meanwhile.
use crate::commands;
use crate::sampled::SampledRecord;
use crate::series::{Bucket, Seen, Series};
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::report::{Health, Progress, Report, ReportKind, SyncKind, UnderLoad};
use drivelab_units::{Instant, Rate};
use serde::Serialize;

/// One event. Fields that do not apply to it are left out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ArrayEvent {
    pub at_ns: u64,
    pub what: &'static str,
    /// The group of members, where there are several.
    pub group: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<u16>,
    /// The outcome of a write that a drive failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostRange>,
    /// Bytes of the drive that have been read from other copies since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<StaleRange>,
}

/// Part of a drive, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct StaleRange {
    pub first: u64,
    pub bytes: u64,
}

/// Ranges of one length, evenly spaced, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct LostRange {
    pub first: u64,
    pub bytes: u64,
    /// From the beginning of one range to that of the next, and their number.
    pub every: u64,
    pub times: u64,
}

/// One rebuild, resync or scrub.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SyncRecord {
    pub kind: &'static str,
    pub group: u16,
    pub began_ns: u64,
    /// Null when the run ended first.
    pub ended_ns: Option<u64>,
    pub duration_ns: Option<u64>,
    /// Whether it ended because it could not continue.
    pub given_up: bool,
    /// Bytes of each member processed before the run, during it, and to be processed in total.
    pub member_bytes_before: u64,
    pub member_bytes: u64,
    pub member_bytes_in_all: u64,
    /// For each member, until the end of the work or of the run.
    pub member_bytes_per_s: f64,
    /// How long the remaining work would take at that rate; null when it has ended, or nothing of it is done.
    pub remaining_ns: Option<u64>,
    /// The floor that it was to keep under hosts' load; null where there is none.
    pub floor_bytes_per_s: Option<u64>,
    /// How long hosts used the array meanwhile, the rate achieved in that time, and how much of the floor was
    /// missed for good, as the time that this takes at the floor.
    pub under_load_ns: u64,
    pub under_load_bytes_per_s: Option<f64>,
    pub floor_missed_ns: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct MemberErrors {
    pub reads: u64,
    /// Writes and FLUSHes.
    pub writes: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ArrayRecord {
    /// `healthy`, `degraded`, `rebuilding`, `broken` or `failed`, at the end.
    pub state: &'static str,
    /// How long some member was not complete.
    pub degraded_ns: u64,
    pub lost_bytes: u64,
    /// What could not be read of a member, and was written back to it.
    pub repaired_bytes: u64,
    /// Members' commands that ended with an error of their drives, whether or not it was reported to a host.
    pub member_errors: MemberErrors,
    pub events: Vec<ArrayEvent>,
    pub syncs: Vec<SyncRecord>,
    /// The run in up to 600 pieces of equal length.
    pub series: Vec<Bucket>,
    /// The places of a rebuild that was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<SampledRecord>,
}

/// Maximum number of events that are kept; the lost bytes of all events are counted.
const EVENTS_MAX: usize = 10_000;

/// Maximum number of pieces of an array's series, and their initial length.
const PIECES_MAX: usize = 600;
const FIRST_PIECE_NS: u64 = 1_000_000;

/// Collects what happens to an array while a driver runs it.
pub struct ArrayCollector {
    events: Vec<ArrayEvent>,
    lost_bytes: u64,
    pub series: Series,
}

impl Default for ArrayCollector {
    fn default() -> Self {
        let series = Series::new(Instant::ZERO, PIECES_MAX, FIRST_PIECE_NS);
        ArrayCollector { events: Vec::new(), lost_bytes: 0, series }
    }
}

impl ArrayCollector {
    pub fn record_report(&mut self, report: &Report) {
        if let ReportKind::Lost(run) = report.what {
            self.lost_bytes += run.sectors().bytes().get();
        }
        if self.events.len() < EVENTS_MAX {
            self.events.push(event(report));
        }
    }

    /// The record of a run that ended now.
    pub fn close(mut self, array: &Array, now: Instant) -> ArrayRecord {
        self.series.passes(now, |_| seen(array));
        let [reads, writes] = array.member_errors();
        ArrayRecord {
            state: match array.health() {
                Health::Healthy => "healthy",
                Health::Degraded => "degraded",
                Health::Rebuilding => "rebuilding",
                Health::Broken => "broken",
                Health::Failed => "failed",
            },
            degraded_ns: array.impaired_for(now).as_ns(),
            lost_bytes: self.lost_bytes,
            repaired_bytes: array.repaired() * 512,
            member_errors: MemberErrors { reads, writes },
            events: self.events,
            syncs: syncs(array, now),
            series: self.series.close(now, seen(array)),
            sampled: None,
        }
    }
}

/// The array's values for a piece of the series that ends now.
pub fn seen(array: &Array) -> Seen {
    Seen { rebuilt: Some(progress(array)), integral_ns: None }
}

/// The progress of the rebuilds, all together, as a share.
pub fn progress(array: &Array) -> Option<f64> {
    share_done(array.progress().filter(|progress| progress.kind == SyncKind::Rebuild))
}

/// The progress of jobs of one kind that have not ended, all together, as a share; `None` where there are none.
pub fn under_way(array: &Array, kind: SyncKind) -> Option<f64> {
    share_done(array.progress().filter(|progress| progress.kind == kind && progress.ended.is_none()))
}

fn share_done(jobs: impl Iterator<Item = Progress>) -> Option<f64> {
    let (swept, of) = jobs.fold((0, 0), |(swept, of), job| {
        let done = (job.before.get() + job.swept.get()).min(job.of.get());
        (swept + done, of + job.of.get())
    });
    (of > 0).then(|| swept as f64 / of as f64)
}

fn kind(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::Rebuild => "rebuild",
        SyncKind::Resync => "resync",
        SyncKind::Scrub => "scrub",
    }
}

fn event(report: &Report) -> ArrayEvent {
    let (at_ns, group) = (report.at.as_ns(), report.group);
    let plain = |what| {
        let (slot, drive, outcome, sync, lost, stale) = (None, None, None, None, None, None);
        ArrayEvent { at_ns, what, group, slot, drive, outcome, sync, lost, stale }
    };
    match report.what {
        ReportKind::WriteError { slot, drive, outcome } => {
            let (slot, outcome) = (Some(slot), Some(commands::outcome(outcome)));
            ArrayEvent { slot, drive: Some(drive), outcome, ..plain("write-error") }
        }
        ReportKind::Stale { slot, drive, first, count } => {
            let (first, bytes) = (first.get() * 512, count.bytes().get());
            let stale = Some(StaleRange { first, bytes });
            ArrayEvent { slot: Some(slot), drive: Some(drive), stale, ..plain("stale") }
        }
        ReportKind::Broken => plain("broken"),
        ReportKind::Failed { slot, drive } => {
            ArrayEvent { slot: Some(slot), drive: Some(drive), ..plain("failed") }
        }
        ReportKind::SpareFailed { drive } => ArrayEvent { drive: Some(drive), ..plain("spare-failed") },
        ReportKind::Replaced { slot, drive } => {
            ArrayEvent { slot: Some(slot), drive: Some(drive), ..plain("replaced") }
        }
        ReportKind::Began(sync) => ArrayEvent { sync: Some(kind(sync)), ..plain("began") },
        ReportKind::Ended(sync) => ArrayEvent { sync: Some(kind(sync)), ..plain("ended") },
        ReportKind::JournalFailed { drive } => ArrayEvent { drive: Some(drive), ..plain("journal-failed") },
        ReportKind::BeganAnew(sync) => ArrayEvent { sync: Some(kind(sync)), ..plain("began-anew") },
        ReportKind::GivenUp(sync) => ArrayEvent { sync: Some(kind(sync)), ..plain("given-up") },
        ReportKind::Lost(run) => {
            let (first, bytes) = (run.first.get() * 512, run.count.bytes().get());
            let lost = LostRange { first, bytes, every: run.every.bytes().get(), times: run.times };
            ArrayEvent { lost: Some(lost), ..plain("lost") }
        }
    }
}

fn syncs(array: &Array, now: Instant) -> Vec<SyncRecord> {
    let (floor, loads) = array.under_load(now);
    let floor = floor.map(Rate::bytes_per_s);
    array.progress().zip(loads).map(|(progress, load)| sync(&progress, floor, &load, now)).collect()
}

fn sync(progress: &Progress, floor: Option<u64>, load: &UnderLoad, now: Instant) -> SyncRecord {
    let Progress { began, ended, .. } = *progress;
    let bytes = progress.swept.bytes().get();
    let spent = ended.unwrap_or(now).since(began).as_ns();
    let left = progress.of.get().saturating_sub(progress.before.get() + progress.swept.get());
    let remaining = left as f64 * spent as f64 / progress.swept.get() as f64;
    SyncRecord {
        kind: kind(progress.kind),
        group: progress.group,
        began_ns: began.as_ns(),
        ended_ns: ended.map(Instant::as_ns),
        duration_ns: ended.map(|ended| ended.since(began).as_ns()),
        given_up: progress.is_given_up,
        member_bytes_before: progress.before.bytes().get(),
        member_bytes: bytes,
        member_bytes_in_all: progress.of.bytes().get(),
        member_bytes_per_s: bytes as f64 * 1e9 / spent.max(1) as f64,
        remaining_ns: (ended.is_none() && bytes > 0).then_some(remaining as u64),
        floor_bytes_per_s: floor,
        under_load_ns: load.time.as_ns(),
        under_load_bytes_per_s: (!load.time.is_zero())
            .then(|| load.swept.bytes().get() as f64 * 1e9 / load.time.as_ns() as f64),
        floor_missed_ns: load.missed.as_ns(),
    }
}
