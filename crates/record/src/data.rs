//! What was found about the data of a run: whether every read was right, and what a power cut has taken.
//!
//! Addresses and amounts are sectors of 512 bytes, as the hosts count them.
use serde::Serialize;

/// What was checked, and found to be right: what is wrong ends the run, but for what was corrupted on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct DataRecord {
    /// Reads that were answered, and their sectors: each had the last write answered before, or one under way.
    pub reads: u64,
    pub sectors_read: u64,
    pub writes: u64,
    pub sectors_written: u64,
    /// Different sectors that were written and were all there at the end. Null after a power cut, or where the array
    /// has lost what it needs.
    pub sectors_kept: Option<u64>,
    /// The redundancy that was compared at the end, when nothing was under way; null where there is none.
    pub compared: Option<Compared>,
    /// What came of data that were corrupted on purpose; left out where none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupted: Option<Corrupted>,
}

/// What was found wrong once something had been corrupted on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Corrupted {
    /// Reads that were answered as done and brought wrong data: nobody has noticed.
    pub reads: u64,
    /// When the first of them was answered, since the start of the run.
    pub first_read_at_ns: Option<u64>,
    /// Sectors that the run wrote, and that do not hold their last write at the end.
    pub sectors: u64,
    /// Whether parity or copies do not fit their data at the end.
    pub redundancy_differs: bool,
}

/// Redundancy that fits its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Compared {
    /// `parity` or `copies`.
    pub what: &'static str,
    /// Rows of stripe units, or pieces of copies, of which anything was written.
    pub rows: u64,
    pub sectors: u64,
}

/// What a power cut has taken of what was answered, and left of what was not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CutRecord {
    pub at_ns: u64,
    /// Answered writes of which sectors hold older data now.
    pub lost: Lost,
    /// How long ago the oldest of them was answered; null where nothing is lost.
    pub lost_since_ns: Option<u64>,
    /// Of the lost sectors those that a FLUSH or FUA had made durable before: it was answered by what has a battery, and
    /// the data were handed on to what has none.
    pub lost_although_flushed_sectors: u64,
    /// The lost sectors by what had them when the power went.
    pub lost_from: LostFrom,
    /// What memories and drives had taken and was not on media as the power went, lost or not, answered or not: parity
    /// and copies count as well.
    pub dirty: Dirty,
    /// What a battery kept: it was written when the power came back.
    pub kept_by_battery_sectors: u64,
    /// The lost sectors as ranges upward, the first 64, and how many there are.
    pub ranges: Vec<SectorRange>,
    pub ranges_in_all: u64,
    pub in_flight: InFlight,
    /// Null without an array that has parity or copies.
    pub array: Option<CutArray>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Lost {
    pub commands: u64,
    /// Commands of which some sectors are there.
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
    /// Members of an array that was short of one already: parity did not fit what is left.
    pub write_hole_sectors: u64,
}

#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Dirty {
    pub host_memory_bytes: u64,
    pub controller_memory_bytes: u64,
    pub drive_cache_bytes: u64,
    /// The last by drive, in the order of their numbers.
    pub by_drive_bytes: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct SectorRange {
    pub first_sector: u64,
    pub sectors: u64,
}

/// Writes that were not answered: nobody was promised anything.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct InFlight {
    pub commands: u64,
    pub sectors: u64,
    pub bytes: u64,
    /// Of which all sectors are new, all old, or some of either.
    pub commands_done: u64,
    pub commands_undone: u64,
    pub commands_torn: u64,
}

/// What a power cut has left of an array's redundancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CutArray {
    /// `parity` or `copies`.
    pub what: &'static str,
    /// `open`, `bitmap`, `journal` or `ppl`: what `write_hole` says.
    pub write_hole: &'static str,
    /// Members that were there.
    pub members: u16,
    /// Rows of which anything was written, those of which parity or copies do not fit when the power is back, and those
    /// of which they do not once the consistency policy has done what it does, and a battery's data are written.
    pub rows: u64,
    pub rows_unfit: u64,
    pub rows_unfit_after_recovery: u64,
    /// Sectors that a read makes up of the other members, and makes up wrongly: for each member in turn, its sectors if
    /// it fails together with the power, and if it fails once the consistency policy has done what it does. All of them
    /// together.
    pub wrong_with_member_lost_in_cut_sectors: u64,
    pub wrong_with_member_lost_later_sectors: u64,
    /// The same of members that were missing already.
    pub wrong_now_sectors: u64,
}
