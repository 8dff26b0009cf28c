//! Arrays: several drives that look like one, as typed in a scenario.
use super::choice::Choice;
use super::drive::DriveRaw;
use super::queue::Depth;
use super::switch::{OrNone, Switch};
use crate::keys::numbers::Count;
use crate::keys::read::{At, Example};
use crate::keys::{Read, choices, section};
use drivelab_core::storage::array::params::{ArrayParams, GivesWay, ManagedBy, ReadChoice};
use drivelab_units::{Bytes, Rate, Share, Span};

/// A level by its usual name. RAID 01, 10 and those with groups say the rest by keys of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelName {
    Jbod,
    Raid0,
    Raid1,
    Raid01,
    Raid10,
    Raid3,
    Raid4,
    Raid5,
    Raid6,
    Raid30,
    Raid50,
    Raid60,
    RaidZ1,
    RaidZ2,
    RaidZ3,
}

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

impl LevelName {
    pub fn name(self) -> String {
        let mut name = String::new();
        self.write(&mut name);
        name
    }
}

impl Example for LevelName {
    const EXAMPLE: &'static str = "[\"raid0\", \"raid1\"]";
}

choices!(ManagedBy {
    "host" => ManagedBy::Host, "the host's software: its I/O schedulers stand behind the array, one before each drive";
    "controller" => ManagedBy::Controller, "a controller, or a driver that passes for one: the host's I/O scheduler and the controller's memory stand before the array";
});

/// Where copies or parity lie.
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

/// How parity is made where not all of a row of stripe units is written.
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

/// What a power cut leaves of rows that were being written.
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
    /// Several drives that look like one. All are like `target.drive`, unless `drives` names them one by one. Members,
    /// spares and the journal's drive are disks: nothing solid-state can be one of them yet.
    pub struct ArrayRaw {
        /// What the members hold.
        level: LevelName = "",
        /// How many members, each like `target.drive`.
        members: Count<1, { ArrayParams::MEMBERS_MAX as u64 }> = "",
        /// The members one by one, in place of `target.drive` and `members`: names, paths and tables as for a drive.
        drives: Vec<At<Choice<DriveRaw>>> = "",
        /// How much lies on a member before the next one's turn. Whole pieces of `parity_granule` on a level with parity.
        stripe_unit: Bytes = "64KiB",
        /// With raid01 and raid10: how many members hold each stripe unit.
        copies: Count<2, { ArrayParams::MEMBERS_MAX as u64 }> = "2",
        /// With raid30, raid50 and raid60: how many groups.
        groups: Count<1, { ArrayParams::MEMBERS_MAX as u64 }> = "2",
        /// Where copies or parity lie: the first three with raid10, the last two with raid4, all but the first three with
        /// the other levels of stripe units with parity.
        layout: LayoutName = "near for raid10, parity-last for raid4, left-symmetric for the others",
        /// Who keeps the array.
        kept_by: ManagedBy = "controller where the controller's file says that it keeps arrays, else host",
        /// Commands of hosts that it works on at once; the others wait before it.
        depth: Depth = "the controller's where that keeps the array, else no limit",
        /// With copies: which of them answers a read.
        read_choice: ReadChoice = "nearest-head",
        /// With copies: large reads are shared out among them; false for never.
        split_reads: Switch<SplitRaw> = "never",
        /// How parity is made where not all of a row of stripe units is written.
        partial_writes: PartialName = "cheaper",
        /// How fast parity is computed, over the data that go into it, one row after the other.
        parity_rate: OrNone<Rate> = "none: it takes no time",
        /// Parity is made over whole pieces of so much of a stripe unit; with raidz1 to raidz3 the sector of the pool.
        parity_granule: Bytes = "4KiB",
        /// What keeps a power cut from leaving parity, or copies, that do not fit.
        write_hole: HoleName = "open",
        /// With `write_hole = "bitmap"`: what one bit of it stands for.
        bitmap_region: Bytes = "64MiB",
        /// With `write_hole = "bitmap"`: how long after the last write a bit is cleared.
        bitmap_clears_after: Span = "5s",
        /// The largest command to a member: what lies one behind the other goes together up to this.
        largest_request: Bytes = "32MiB",
        /// Drives that wait for a failure: they follow the members, by number too.
        spares: Count<0, { ArrayParams::MEMBERS_MAX as u64 }> = "0",
        /// What a spare is, and the journal's drive: a name, a path or a table as for a drive.
        spare_drive: Choice<DriveRaw> = "as the first member",
        /// How long after a failure a spare takes the member's place.
        replaced_after: Span = "0s",
        /// At what pace the array goes over its members by itself: in a rebuild, a resync or a scrub.
        rebuild: RebuildRaw = "as Linux has it",
        /// Members that are gone as the run begins, by number.
        missing: Vec<At<DriveNumber>> = "none",
        /// Whether new drives are in their place from the start, so that the rebuild begins with the run.
        rebuilding: bool = "false",
        /// With `rebuilding`: how far they have come by then, as after a rebuild that was interrupted and goes on.
        rebuilt: Share = "0%",
        /// When everything is read and compared; md's `check`.
        scrub_at: Span = "never",
        /// When what an unclean shutdown left in doubt is made consistent. Levels with parity compute and write every
        /// parity, as a first initialisation does; md's `resync` reads and compares, and writes only what differs:
        /// `scrub_at` has that time.
        resync_at: Span = "never",
        /// By how much the members' periods of rotation deviate from what is documented, at most: drawn evenly for each.
        spindle_deviation: Share = "0.01%",
        /// Whether all spindles turn as one.
        synchronised: bool = "true for raid3 and raid30, false for the others",
        /// With raidz1 to raidz3: the size of a record.
        record_size: Bytes = "128KiB",
        /// With raidz1 to raidz3: how many of the places for records are filled. So much of the array can be addressed; the
        /// rest is where records go when they are written anew.
        fill: Share = "80%",
    }
}

section! {
    facts: false,
    /// Reads that the copies share.
    pub struct SplitRaw {
        /// Only reads that are at least so large.
        from: Bytes = "64MiB",
        /// Each copy in turn reads so much of the array's addresses.
        unit: Bytes = "4MiB",
    }
}

section! {
    facts: false,
    /// At what pace the array goes over its members by itself. Defaults are those of Linux since 4.2: `sync_speed_min`
    /// and `sync_speed_max`, 2 MiB of each member under way (`RESYNC_WINDOW` of raid1.c, taken for parity too, where md
    /// goes by its stripe cache), in requests of 512 KiB, and one request at a time beside hosts that ask for more than
    /// 32 KiB meanwhile (`is_mddev_idle`). OpenZFS has no greatest rate, and one request of a resilver at a time beside
    /// others as well (`zfs_vdev_nia_delay`). Controllers have a share of their own (`rebuild rate`), which is not
    /// modelled.
    pub struct RebuildRaw {
        /// The rate on each member that is kept up under load, as far as busy members can; with none it never gives way
        /// to hosts.
        floor: OrNone<Rate> = "1000KiB/s",
        /// The rate on each member that is never exceeded.
        ceiling: OrNone<Rate> = "200000KiB/s; with raidz1 to raidz3 none",
        /// What is read of each member at once.
        request: Bytes = "512KiB",
        /// Such requests under way at once.
        outstanding: Count<1, 4096> = "4",
        /// How it gives way to hosts, above the floor.
        gives_way: GivesWay = "draining",
        /// With `waiting`: so long after the last command of a host the array is idle, and only the ceiling holds.
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
        /// It fails with the so many-th command that comes to the array.
        after: Count<1, 1_000_000_000_000> = "",
    }
}

impl Example for FailRaw {
    const EXAMPLE: &'static str = "[{ drive = 0, at = \"10s\" }]";
}
