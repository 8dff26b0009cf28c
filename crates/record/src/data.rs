//! What was found about the data of a run: whether every read was right, and what a power cut has lost.
//!
//! Addresses and amounts are sectors of 512 bytes, as the hosts count them.
use serde::Serialize;

/// What was checked and found right: an error ends the run, except for data corrupted on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct DataRecord {
    /// Reads that were answered, and their sectors: each had the last write answered before, or one under
    /// way.
    pub reads: u64,
    pub sectors_read: u64,
    pub writes: u64,
    pub sectors_written: u64,
    /// Distinct sectors that were written and were all present at the end. Null after a power cut, or where
    /// the array has lost what it needs.
    pub sectors_kept: Option<u64>,
    /// The redundancy that was compared at the end, when nothing was under way; null where there is none.
    pub compared: Option<Compared>,
    /// What became of data that were corrupted on purpose; left out where none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupted: Option<Corrupted>,
}

/// Errors found after something had been corrupted on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Corrupted {
    /// Reads that succeeded and delivered wrong data: the corruption was not detected.
    pub reads: u64,
    /// When the first of them was answered, since the start of the run.
    pub first_read_at_ns: Option<u64>,
    /// Sectors that the run wrote, and that do not hold their last write at the end.
    pub sectors: u64,
    /// Whether parity or copies do not match their data at the end.
    pub redundancy_differs: bool,
}

/// Redundancy that matches its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Compared {
    /// `parity` or `copies`.
    pub what: &'static str,
    /// Rows of stripe units, or pieces of copies, of which anything was written.
    pub rows: u64,
    pub sectors: u64,
}

/// What a power cut has lost of answered writes, and left of unanswered ones.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CutRecord {
    pub at_ns: u64,
    /// Answered writes of which sectors hold older data now.
    pub lost: Lost,
    /// How long before the cut the oldest of them was answered; null where nothing is lost.
    pub lost_since_ns: Option<u64>,
    /// The lost sectors that a FLUSH or FUA had made durable before: it was answered by a box with a battery,
    /// and the data were passed on to one without.
    pub lost_although_flushed_sectors: u64,
    /// The lost sectors by where they were at the power cut.
    pub lost_from: LostFrom,
    /// What memories and drives had accepted and was not on media at the power cut, lost or not, answered or
    /// not: parity and copies count as well.
    pub dirty: Dirty,
    /// What a battery kept: it was written when the power came back.
    pub kept_by_battery_sectors: u64,
    /// The lost sectors as ranges upward, the first 64, and their total number.
    pub ranges: Vec<SectorRange>,
    pub ranges_in_all: u64,
    pub in_flight: InFlight,
    /// Null without an array that has parity or copies.
    pub array: Option<CutArray>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Lost {
    pub commands: u64,
    /// Commands among them of which some sectors have survived.
    pub commands_in_part: u64,
    pub sectors: u64,
    pub bytes: u64,
}

/// Sectors by place.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct LostFrom {
    pub host_memory_sectors: u64,
    pub controller_memory_sectors: u64,
    pub drive_cache_sectors: u64,
    /// Members of an array that already had a missing member: parity did not match the remaining data.
    pub write_hole_sectors: u64,
}

#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Dirty {
    pub host_memory_bytes: u64,
    pub controller_memory_bytes: u64,
    pub drive_cache_bytes: u64,
    /// The last one by drive, in the order of their numbers.
    pub by_drive_bytes: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SectorRange {
    pub first_sector: u64,
    pub sectors: u64,
}

/// Writes that were not answered: their data need not survive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct InFlight {
    pub commands: u64,
    pub sectors: u64,
    pub bytes: u64,
    /// Commands of which all sectors are new, all old, or some of each.
    pub commands_done: u64,
    pub commands_undone: u64,
    pub commands_torn: u64,
}

/// What a power cut has left of an array's redundancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CutArray {
    /// `parity` or `copies`.
    pub what: &'static str,
    /// `open`, `bitmap`, `journal` or `ppl`: the value of `write_hole`.
    pub write_hole: &'static str,
    /// Members that were present.
    pub members: u16,
    /// Whether the array would be started: one with parity is not while it is dirty and degraded. What is told of
    /// it is what it would return if it were.
    pub is_started: bool,
    /// Rows of which anything was written, those that are inconsistent when the power is back, and those that
    /// are inconsistent after the recovery of the consistency policy, once a battery's data are written.
    pub rows: u64,
    pub rows_unfit: u64,
    pub rows_unfit_after_recovery: u64,
    /// Sectors that a read computes wrongly from the other members: summed over each member in turn, if it
    /// fails together with the power, and if it fails after the recovery of the consistency policy.
    pub wrong_with_member_lost_in_cut_sectors: u64,
    pub wrong_with_member_lost_later_sectors: u64,
    /// The same for members that were missing already.
    pub wrong_now_sectors: u64,
}
