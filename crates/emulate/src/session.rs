//! What a session leaves: what was served, how late, what was done to the device, and what that took.
use crate::action::{Action, Kind};
use crate::door::DoorCounts;
use crate::lateness::LatenessRecord;
use crate::ledger::Lost;
use drivelab_core::storage::Happening;
use drivelab_core::storage::array::report::{Happened, Report};
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, SECTOR_BYTES};
use serde::Serialize;
use std::borrow::Cow;

/// Stretches and events that are written down.
const NAMED_MAX: usize = 1_000;

/// What was served of one kind of command.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Served {
    pub commands: u64,
    pub bytes: u64,
    /// Those that were not done.
    pub errors: u64,
}

/// Something that was done to the device.
#[derive(Clone, Debug, Serialize)]
pub struct Done {
    pub at_ns: u64,
    #[serde(flatten)]
    pub action: Action,
}

/// Something that happened inside it.
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
    /// When the device was back, if it was.
    pub back_at_ns: Option<u64>,
    /// What was answered and is gone, the first stretches of it.
    pub lost: Vec<Lost>,
    pub lost_sectors: u64,
    /// Writes that were not answered: what is there of them nobody was promised.
    pub unanswered_writes: u64,
    /// What a battery has kept and written later.
    pub kept_by_battery_sectors: u64,
}

/// What is told while a session goes on.
#[derive(Clone, Default, Debug, Serialize)]
pub struct Told {
    pub reads: Served,
    pub writes: Served,
    pub flushes: Served,
    pub trims: Served,
    pub actions: Vec<Done>,
    pub events: Vec<Event>,
    pub power_cuts: Vec<PowerCut>,
}

impl Told {
    pub fn served(&mut self, access: Access, sectors: u64, outcome: Outcome) {
        let of = match access {
            Access::Read => &mut self.reads,
            Access::Write => &mut self.writes,
            Access::Flush => &mut self.flushes,
        };
        of.commands += 1;
        of.bytes += sectors * SECTOR_BYTES;
        of.errors += u64::from(outcome != Outcome::Done);
    }

    pub fn trimmed(&mut self, bytes: u64) {
        self.trims.commands += 1;
        self.trims.bytes += bytes;
    }

    pub fn acted(&mut self, at: Instant, action: Action) {
        if self.actions.len() < NAMED_MAX {
            self.actions.push(Done { at_ns: at.as_ns(), action });
        }
    }

    pub fn happened(&mut self, at: Instant, what: &Happening) {
        let (what, member) = match *what {
            Happening::Array(Report { what, .. }) => match what {
                Happened::Failed { drive, .. } => ("a member has failed", Some(drive)),
                Happened::SpareFailed { drive } => ("a spare has failed", Some(drive)),
                Happened::JournalFailed { drive } => ("the journal has failed", Some(drive)),
                Happened::Replaced { drive, .. } => ("a drive has taken a member's place", Some(drive)),
                Happened::Broken => ("the array refuses writes", None),
                Happened::WriteError { drive, .. } => ("a member did not do a write", Some(drive)),
                _ => return,
            },
            Happening::GivenUp { .. } => ("a memory has given up data that it had answered for", None),
            Happening::DriveFailed { drive, .. } => ("the drive has failed", Some(drive)),
            Happening::DriveReplaced { drive, .. } => ("the drive was replaced", Some(drive)),
            Happening::PowerCut { .. } => ("the power is gone", None),
        };
        if self.events.len() < NAMED_MAX {
            self.events.push(Event { at_ns: at.as_ns(), what: what.into(), member });
        }
    }

    /// What the scenario has put down for an instant did not happen.
    pub fn not_done(&mut self, at: Instant, action: &Action, why: &str) {
        if self.events.len() < NAMED_MAX {
            let what = format!("faults.{} was not done: {why}", action.action.key()).into();
            let member = (action.action != Kind::PowerCut).then_some(action.member);
            self.events.push(Event { at_ns: at.as_ns(), what, member });
        }
    }

    pub fn cut(&mut self, mut cut: PowerCut) {
        cut.lost.truncate(NAMED_MAX);
        self.power_cuts.push(cut);
    }

    pub fn power_is_back(&mut self, at: Instant) {
        if let Some(cut) = self.power_cuts.last_mut() {
            cut.back_at_ns = Some(at.as_ns());
        }
    }
}

/// What the machine let us have for punctual answers, where we have asked.
#[derive(Clone, Copy, Default, Debug, Serialize)]
pub struct Scheduling {
    /// Whether our thread goes before all ordinary ones (SCHED_FIFO).
    pub real_time: bool,
    /// Whether sleeps end as exactly as the machine can (timer slack 1 ns).
    pub exact_sleep: bool,
}

/// The record of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SessionRecord {
    pub clock: String,
    pub seed: u64,
    pub size_bytes: u64,
    /// By the model's clock, and by the machine's.
    pub model_ns: u64,
    pub real_ns: u64,
    #[serde(flatten)]
    pub told: Told,
    #[serde(flatten)]
    pub lateness: LatenessRecord,
    pub scheduling: Scheduling,
    #[serde(flatten)]
    pub door: DoorCounts,
    pub captured_requests: Option<u64>,
    /// Sectors that were answered for and could not be kept in the images as the session ended.
    pub unsaved_sectors: u64,
    /// The digest of all events of the model.
    pub digest: String,
    /// What ended the session, where something went wrong.
    pub failure: Option<String>,
}
