//! The record of a session: requests served, lateness, actions on the device, and losses.
use crate::action::Action;
use crate::lateness::LatenessRecord;
use crate::ledger::{Cause, Lost};
use crate::model::EndedWork;
use crate::status::in_words;
use crate::transport::TransportCounts;
use drivelab_core::storage::TargetEvent;
use drivelab_core::storage::array::report::{Report, ReportKind, SyncKind};
use drivelab_core::{Access, Outcome};
use drivelab_record::latency::Latencies;
use drivelab_units::{Instant, SECTOR_BYTES, Span};
use serde::Serialize;
use std::borrow::Cow;

/// The most ranges and events that are recorded.
pub(crate) const NAMED_MAX: usize = 1_000;

/// The commands of one kind that were served.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Served {
    pub commands: u64,
    pub bytes: u64,
    /// Failed commands.
    pub errors: u64,
}

/// An action on the device.
#[derive(Clone, Debug, Serialize)]
pub struct Done {
    pub at_ns: u64,
    #[serde(flatten)]
    pub action: Action,
}

/// An event in the device.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub at_ns: u64,
    pub what: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<u16>,
}

/// A power cut.
#[derive(Clone, Debug, Serialize)]
pub struct PowerCut {
    pub at_ns: u64,
    /// When the power was back, if it was.
    pub back_at_ns: Option<u64>,
    /// The acknowledged data that are lost: the first ranges.
    pub lost: Vec<Lost>,
    pub lost_sectors: u64,
    /// Writes that were not acknowledged: their contents are undefined.
    pub unanswered_writes: u64,
    /// The sectors that a battery has preserved and that were written later.
    pub kept_by_battery_sectors: u64,
    /// Whether the array was started: one with parity is not while it is dirty and degraded.
    pub is_started: bool,
}

/// Acknowledged data that were destroyed while the power was on.
#[derive(Clone, Debug, Serialize)]
pub struct Damage {
    pub at_ns: u64,
    /// The first ranges, each with its cause.
    pub lost: Vec<Lost>,
    pub lost_sectors: u64,
    /// Whether they were lost already when the session began.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub before_session: bool,
}

impl Damage {
    pub fn new(at: Instant, lost: Vec<Lost>) -> Self {
        let lost_sectors = lost.iter().map(|lost| lost.sectors).sum();
        Damage { at_ns: at.as_ns(), lost_sectors, lost, before_session: false }
    }

    /// Whether a rebuild could not read them.
    fn is_unreadable(&self) -> bool {
        self.lost.iter().all(|lost| lost.cause == Cause::Unreadable)
    }
}

/// The statistics and events that are collected during a session.
#[derive(Clone, Default, Debug, Serialize)]
pub struct SessionLog {
    pub reads: Served,
    pub writes: Served,
    pub flushes: Served,
    pub trims: Served,
    pub actions: Vec<Done>,
    pub events: Vec<Event>,
    pub power_cuts: Vec<PowerCut>,
    pub damage: Vec<Damage>,
    /// How long commands took by the model's clock: for whoever watches the session.
    #[serde(skip)]
    pub(crate) latency: Latencies,
    /// The number of events when the array last named something as lost.
    #[serde(skip)]
    events_at_loss: usize,
}

/// Sorts ranges, and joins those of one cause that touch.
fn join(ranges: &mut Vec<Lost>) {
    ranges.sort_unstable_by_key(|lost| lost.lba);
    ranges.dedup_by(|next, last| {
        let touches = last.lba + last.sectors == next.lba && last.cause == next.cause;
        last.sectors += if touches { next.sectors } else { 0 };
        touches
    });
}

const HAS_LOST: &str = "the array has lost data: more of it is gone or unreadable than it survives";

impl SessionLog {
    /// Records a command that took so long by the model's clock.
    pub fn served(&mut self, access: Access, sectors: u64, outcome: Outcome, took: Span) {
        self.latency.record(took.as_ns());
        let of = match access {
            Access::Read => &mut self.reads,
            Access::Write => &mut self.writes,
            Access::Flush => &mut self.flushes,
        };
        of.commands += 1;
        of.bytes += sectors * SECTOR_BYTES;
        of.errors += u64::from(outcome != Outcome::Done);
    }

    pub fn count_trim(&mut self, bytes: u64) {
        self.trims.commands += 1;
        self.trims.bytes += bytes;
    }

    pub fn record_action(&mut self, at: Instant, action: Action) {
        if self.actions.len() < NAMED_MAX {
            self.actions.push(Done { at_ns: at.as_ns(), action });
        }
    }

    pub fn record_event(&mut self, at: Instant, what: &TargetEvent) {
        let (what, member) = match *what {
            TargetEvent::Array(Report { what, .. }) => match what {
                ReportKind::Failed { drive, .. } => ("a member has failed", Some(drive)),
                ReportKind::SpareFailed { drive } => ("a spare has failed", Some(drive)),
                ReportKind::JournalFailed { drive } => ("the journal has failed", Some(drive)),
                ReportKind::Replaced { drive, .. } => ("a drive has taken a member's place", Some(drive)),
                ReportKind::Broken => ("the array refuses writes", None),
                // One run of addresses after the other is reported.
                ReportKind::Lost(_) if self.events.iter().any(|event| event.what == HAS_LOST) => return,
                ReportKind::Lost(_) => (HAS_LOST, None),
                ReportKind::WriteError { drive, .. } => ("a member did not do a write", Some(drive)),
                _ => return,
            },
            TargetEvent::GivenUp { .. } => ("a memory has given up data that it had answered for", None),
            TargetEvent::DriveFailed { drive, .. } => ("the drive has failed", Some(drive)),
            TargetEvent::DriveReplaced { drive, .. } => ("the drive was replaced", Some(drive)),
            TargetEvent::PowerCut { .. } => ("the power is gone", None),
        };
        if self.events.len() < NAMED_MAX {
            self.events.push(Event { at_ns: at.as_ns(), what: what.into(), member });
        }
    }

    /// Records the end of a rebuild, a resync or a scrub.
    pub(crate) fn record_work(&mut self, at: Instant, work: &EndedWork) {
        let [done, given_up] = match work.kind {
            SyncKind::Rebuild => ["rebuilt", "a rebuild was given up"],
            SyncKind::Resync => ["resynchronised", "a resync was given up"],
            SyncKind::Scrub => ["scrubbed", "a scrub was given up"],
        };
        let what =
            work.took.map_or(given_up.into(), |took| format!("{done} after {}", in_words(took)).into());
        if self.events.len() < NAMED_MAX {
            self.events.push(Event { at_ns: at.as_ns(), what, member: work.drive });
        }
    }

    /// Records a scheduled action of the scenario that was not carried out.
    pub fn record_undone(&mut self, at: Instant, action: &Action, why: &str) {
        if self.events.len() < NAMED_MAX {
            let key = action.name().replace('-', "_");
            let what = format!("faults.{key} was not done: {why}").into();
            self.events.push(Event { at_ns: at.as_ns(), what, member: action.member() });
        }
    }

    /// Records that a drive that has failed for a time is not replaced.
    pub fn record_not_replaced(&mut self, at: Instant, drive: u16, why: &str) {
        if self.events.len() < NAMED_MAX {
            let what = format!("the failed drive was not replaced: {why}").into();
            self.events.push(Event { at_ns: at.as_ns(), what, member: Some(drive) });
        }
    }

    pub fn record_power_cut(&mut self, mut cut: PowerCut) {
        cut.lost.truncate(NAMED_MAX);
        self.power_cuts.push(cut);
    }

    pub fn record_damage(&mut self, mut damage: Damage) {
        if self.damage.len() < NAMED_MAX {
            damage.lost.truncate(NAMED_MAX);
            self.damage.push(damage);
        }
    }

    /// Records what an array has named as lost. What one rebuild loses, piece by piece, is one entry.
    pub(crate) fn record_lost(&mut self, at: Instant, lost: Vec<Lost>, sectors: u64, before_session: bool) {
        let damage = Damage { at_ns: at.as_ns(), lost, lost_sectors: sectors, before_session };
        let events = std::mem::replace(&mut self.events_at_loss, self.events.len());
        let is_same = |last: &&mut Damage| {
            last.is_unreadable() && damage.is_unreadable() && last.before_session == damage.before_session
        };
        match self.damage.last_mut().filter(|last| events == self.events.len() && is_same(last)) {
            Some(last) => {
                last.lost_sectors += damage.lost_sectors;
                last.lost.extend(damage.lost);
                join(&mut last.lost);
                last.lost.truncate(NAMED_MAX);
            }
            None => {
                let mut damage = damage;
                join(&mut damage.lost);
                self.record_damage(damage);
            }
        }
    }

    /// The sectors that were lost already when the session began.
    pub(crate) fn lost_before(&self) -> u64 {
        let before = self.damage.iter().filter(|damage| damage.before_session);
        before.map(|damage| damage.lost_sectors).sum()
    }

    pub fn record_power_back(&mut self, at: Instant) {
        if let Some(cut) = self.power_cuts.last_mut() {
            cut.back_at_ns = Some(at.as_ns());
        }
    }
}

/// The scheduling privileges that were granted.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Scheduling {
    /// Whether the thread has real-time priority (SCHED_FIFO).
    pub real_time: bool,
    /// Whether sleeps end with the best precision of the machine (timer slack 1 ns).
    pub exact_sleep: bool,
}

/// The record of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionRecord {
    pub clock: String,
    pub seed: u64,
    pub size_bytes: u64,
    /// The duration by the model's clock, and by the machine's.
    pub model_ns: u64,
    pub real_ns: u64,
    #[serde(flatten)]
    pub log: SessionLog,
    #[serde(flatten)]
    pub lateness: LatenessRecord,
    pub scheduling: Scheduling,
    #[serde(flatten)]
    pub transport: TransportCounts,
    pub captured_requests: Option<u64>,
    /// Acknowledged sectors that could not be written to the images at the end of the session.
    pub unsaved_sectors: u64,
    /// The digest of all events of the model.
    pub digest: String,
    /// The error that ended the session, if any.
    pub failure: Option<String>,
}
