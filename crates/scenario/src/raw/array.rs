//! Arrays: several drives presented as one device, as typed in a scenario.
use super::choice::Choice;
use super::drive::DriveRaw;
use super::queue::Depth;
use super::switch::{OrNone, Switch};
use crate::keys::numbers::Count;
use crate::keys::read::{At, Example};
use crate::keys::{Read, choices, section};
use drivelab_core::storage::array::levels::LevelName;
use drivelab_core::storage::array::params::{ArrayParams, GivesWay, ManagedBy, ReadChoice};
use drivelab_units::{Bytes, Rate, Share, Span};

choices!(LevelName {
    "jbod" => LevelName::Jbod, "one drive behind the other, each with all that it has; from 1 member on, bears no failure";
    "raid0" => LevelName::Raid0, "striped; from 1 member on, bears no failure";
    "raid1" => LevelName::Raid1, "all members hold the same; from 2 members on, bears the failure of all but one";
    "raid01" => LevelName::Raid01, "`copies` striped sets that hold the same; members in a number that `copies` divides; one failure gives up a whole set";
    "raid10" => LevelName::Raid10, "striped, each stripe unit on `copies` members, in one of three layouts; from `copies` members on, also an odd number; one failure, more where they do not meet";
    "raid3" => LevelName::Raid3, "sector by sector over all members but the last, which holds the parity; every command goes to all of them, and their spindles turn as one; from 3 members on, one failure";
    "raid4" => LevelName::Raid4, "striped, all parity on one member; from 3 members on, one failure";
    "raid5" => LevelName::Raid5, "striped, parity on each member in turn; from 3 members on, one failure";
    "raid6" => LevelName::Raid6, "striped with two parities; from 4 members on, any two failures";
    "raid30" => LevelName::Raid30, "striped over `groups` of RAID 3";
    "raid50" => LevelName::Raid50, "striped over `groups` of RAID 5; one failure in each";
    "raid60" => LevelName::Raid60, "striped over `groups` of RAID 6; two failures in each";
    "raidz1" => LevelName::RaidZ1, "records of a size of their own width, each written to a new place, at once and whole; from 2 members on, one failure";
    "raidz2" => LevelName::RaidZ2, "the same with two parities; from 3 members on, any two failures";
    "raidz3" => LevelName::RaidZ3, "the same with three parities; from 4 members on, any three failures";
});

impl Example for LevelName {
    const EXAMPLE: &'static str = "[\"raid0\", \"raid1\"]";
}

choices!(ManagedBy {
    "host" => ManagedBy::Host, "the host's software: its I/O schedulers stand behind the array, one before each drive";
    "controller" => ManagedBy::Controller, "a controller, or a driver that passes for one: the host's I/O scheduler and the controller's memory stand before the array";
});

/// The placement of copies or parity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LayoutName {
    Near,
    Far,
    Offset,
    LeftSymmetric,
    LeftAsymmetric,
    RightSymmetric,
    RightAsymmetric,
    ParityFirst,
    ParityLast,
}

choices!(LayoutName {
    "near" => LayoutName::Near, "copies on neighbouring members at the same place";
    "far" => LayoutName::Far, "each further copy on another part of the drives, one member on";
    "offset" => LayoutName::Offset, "each row of stripe units again right below it, one member on";
    "left-symmetric" => LayoutName::LeftSymmetric, "parity goes from the last member down; data begin behind it and go round";
    "left-asymmetric" => LayoutName::LeftAsymmetric, "parity goes from the last member down; data begin on the first member without it";
    "right-symmetric" => LayoutName::RightSymmetric, "parity goes from the first member up; data begin behind it and go round";
    "right-asymmetric" => LayoutName::RightAsymmetric, "parity goes from the first member up; data begin on the first member without it";
    "parity-first" => LayoutName::ParityFirst, "all parity on the first members";
    "parity-last" => LayoutName::ParityLast, "all parity on the last members";
});

impl LayoutName {
    pub fn name(self) -> String {
        let mut name = String::new();
        self.write(&mut name);
        name
    }
}

choices!(ReadChoice {
    "first" => ReadChoice::First, "the first one that there is";
    "round-robin" => ReadChoice::RoundRobin, "one after the other";
    "nearest-head" => ReadChoice::NearestHead, "the one whose last command ended nearest by address; an idle one before a busy one, unless a busy one's command ends just there";
    "least-queued" => ReadChoice::LeastQueued, "the one with the fewest commands; the nearest of those";
    "ask-all" => ReadChoice::AskAll, "all are asked, and the first answer counts";
});

choices!(GivesWay {
    "draining" => GivesWay::ByDraining,
        "it waits until what it has under way is done, then goes on: one request at a time (Linux since 4.2)";
    "waiting" => GivesWay::ByWaiting, "it waits until the array is idle (Linux before that)";
});

/// How parity is computed for a write of part of a row of stripe units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartialName {
    Cheaper,
    Old,
    Rest,
}

choices!(PartialName {
    "cheaper" => PartialName::Cheaper, "whichever of the two reads less, as md counts it; the second on a tie";
    "read-modify-write" => PartialName::Old, "from the old data and the old parity";
    "reconstruct-write" => PartialName::Rest, "from the data that are not written";
});

/// The consistency policy: how rows that were being written at a power cut are made consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoleName {
    Open,
    Bitmap,
    Journal,
    Ppl,
}

choices!(HoleName {
    "open" => HoleName::Open, "nothing keeps parity and data together over a power cut";
    "bitmap" => HoleName::Bitmap, "a map of the regions that are being written shortens the resync after a cut; it closes nothing";
    "journal" => HoleName::Journal, "data and parity go first to one more drive like the others";
    "ppl" => HoleName::Ppl, "a log of the parity of what is not written, on the parity's member; of RAID 5 only";
});

/// The number of a drive: members from 0 on, then spares, then the journal.
pub type DriveNumber = Count<0, { 2 * ArrayParams::MEMBERS_MAX as u64 }>;

impl Example for DriveNumber {
    const EXAMPLE: &'static str = "[0, 1]";
}

impl Example for Choice<DriveRaw> {
    const EXAMPLE: &'static str = "[\"wd-wd360gd\", \"wd-wd740gd-00fla0\"]";
}

section! {
    facts: false,
    exclusive: &[&[&["members"], &["drives"]]],
    /// Several drives presented as one device. All are like `target.drive`, unless `drives` lists them. Members,
    /// spares and the journal's drive are disks: solid-state drives are not modelled.
    pub struct ArrayRaw {
        /// The RAID level.
        level: LevelName = "",
        /// Number of members, each like `target.drive`.
        members: Count<1, { ArrayParams::MEMBERS_MAX as u64 }> = "",
        /// The list of members, in place of `target.drive` and `members`: names, paths and tables as for a drive.
        drives: Vec<At<Choice<DriveRaw>>> = "",
        /// The stripe unit: consecutive data on one member. A multiple of `parity_granule` on a level with parity.
        stripe_unit: Bytes = "64KiB",
        /// With raid01 and raid10: the number of copies of each stripe unit.
        copies: Count<2, { ArrayParams::MEMBERS_MAX as u64 }> = "2",
        /// With raid30, raid50 and raid60: the number of groups.
        groups: Count<1, { ArrayParams::MEMBERS_MAX as u64 }> = "2",
        /// The placement of copies or parity: the first three with raid10, the last two with raid4, all but the first
        /// three with the other levels of stripe units with parity.
        layout: LayoutName = "near for raid10, parity-last for raid4, left-symmetric for the others",
        /// Where the array is implemented: in the host's software, or in the controller.
        kept_by: ManagedBy = "controller where the controller's file says that it keeps arrays, else host",
        /// The most host commands in progress in the array; further ones wait in front of it.
        depth: Depth = "the controller's where that keeps the array, else no limit",
        /// With copies: which copy serves a read.
        read_choice: ReadChoice = "nearest-head",
        /// With copies: large reads are split among the copies; false for never.
        split_reads: Switch<SplitRaw> = "never",
        /// How parity is computed for a write of part of a row of stripe units.
        partial_writes: PartialName = "cheaper",
        /// The rate at which parity is computed, in data processed; one row after the other.
        parity_rate: OrNone<Rate> = "none: it takes no time",
        /// The granule of parity: the unit in which a write updates parity; with raidz1 to raidz3 the sector of the
        /// pool.
        parity_granule: Bytes = "4KiB",
        /// How the write hole is handled: inconsistent parity, or copies, after a power cut.
        write_hole: HoleName = "open",
        /// With `write_hole = "bitmap"`: the size of the region that one bit covers.
        bitmap_region: Bytes = "64MiB",
        /// With `write_hole = "bitmap"`: the time from the last write to a region until its bit is cleared.
        bitmap_clears_after: Span = "5s",
        /// The largest command to a member: adjacent requests are merged up to this size.
        largest_request: Bytes = "32MiB",
        /// Number of hot spares. They are numbered after the members.
        spares: Count<0, { ArrayParams::MEMBERS_MAX as u64 }> = "0",
        /// The drive used as a spare and for the journal: a name, a path or a table as for a drive.
        spare_drive: Choice<DriveRaw> = "as the first member",
        /// The delay from a failure until a spare replaces the member.
        replaced_after: Span = "0s",
        /// The rate of background work: of a rebuild, a resync or a scrub.
        rebuild: RebuildRaw = "as Linux has it",
        /// Members that are missing when the run begins, by number.
        missing: Vec<At<DriveNumber>> = "none",
        /// Whether they have already been replaced by new drives, so that the rebuild begins with the run.
        rebuilding: bool = "false",
        /// With `rebuilding`: the share that is already rebuilt, as after an interrupted rebuild that continues.
        rebuilt: Share = "0%",
        /// Whether an array with parity that was being written to is started after a power cut without a member that
        /// has data, as by md's `start_dirty_degraded` or mdadm's `--force`: data of that member may be wrong. With
        /// `write_hole` `"journal"` or `"ppl"` it is started anyway.
        start_dirty_degraded: bool = "false",
        /// When a scrub begins: everything is read and compared, as by md's `check`.
        scrub_at: Span = "never",
        /// When a resync after an unclean shutdown begins. Levels with parity compute and write every
        /// parity, as a first initialisation does; md's `resync` reads and compares, and writes only what differs:
        /// `scrub_at` gives the time of that.
        resync_at: Span = "never",
        /// The greatest deviation of a member's rotation period from the documented one; drawn uniformly for each
        /// member.
        spindle_deviation: Share = "0.01%",
        /// Whether the spindles are synchronised.
        synchronised: bool = "true for raid3 and raid30, false for the others",
        /// With raidz1 to raidz3: the size of a record.
        record_size: Bytes = "128KiB",
        /// With raidz1 to raidz3: the share of the record slots that is filled. Only this share can be addressed; the
        /// rest is free space into which rewritten records go.
        fill: Share = "80%",
    }
}

section! {
    facts: false,
    /// Reads that are split among the copies.
    pub struct SplitRaw {
        /// The smallest read that is split.
        from: Bytes = "64MiB",
        /// The size of the address range that each copy reads in turn.
        unit: Bytes = "4MiB",
    }
}

section! {
    facts: false,
    /// The rate of background work. Defaults are those of Linux since 4.2: `sync_speed_min`
    /// and `sync_speed_max`, 2 MiB of each member in flight (`RESYNC_WINDOW` of raid1.c, used for parity too, where md
    /// uses its stripe cache), in requests of 512 KiB, and one request at a time while hosts request more than
    /// 32 KiB (`is_mddev_idle`). OpenZFS has no maximum rate, and issues one resilver request at a time under
    /// other load (`zfs_vdev_nia_delay`). Controllers have a share of their own (`rebuild rate`), which is not
    /// modelled.
    pub struct RebuildRaw {
        /// The minimum rate on each member under load, as far as busy members allow; without one it never yields
        /// to hosts.
        floor: OrNone<Rate> = "1000KiB/s",
        /// The maximum rate on each member.
        ceiling: OrNone<Rate> = "200000KiB/s; with raidz1 to raidz3 none",
        /// The size of one request to each member.
        request: Bytes = "512KiB",
        /// Number of such requests in flight.
        outstanding: Count<1, 4096> = "4",
        /// How it yields to hosts, above the minimum rate.
        gives_way: GivesWay = "draining",
        /// With `waiting`: the time after the last host command at which the array counts as idle, so that only the
        /// maximum rate applies.
        idle_after: Span = "100ms",
    }
}

section! {
    facts: false,
    exclusive: &[&[&["at"], &["after"]]],
    /// A drive of an array that fails for good.
    pub struct FailRaw {
        /// Its number: members from 0 on, then spares.
        drive: DriveNumber = "",
        /// When it fails.
        at: Span = "",
        /// It fails when the array receives its command of this number.
        after: Count<1, 1_000_000_000_000> = "",
    }
}

impl Example for FailRaw {
    const EXAMPLE: &'static str = "[{ drive = 0, at = \"10s\" }]";
}
