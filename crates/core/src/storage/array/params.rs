//! The documented properties of an array: its level, how it reads and writes, how it handles failures.
use crate::rng::Stream;
use crate::storage::drive::Drive;
use crate::storage::drive::params::DriveModel;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Rate, Sectors, Share, Span};

/// Where the array's logic runs: in the host's software, with an I/O scheduler for each drive, or in a
/// controller, behind the host's I/O scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ManagedBy {
    /// The host's software, as Linux md.
    Host,
    /// A RAID controller, which the host sees as one device.
    Controller,
}

/// How the copies of RAID 10 lie on the members, as in md.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Copies {
    /// On adjacent members.
    Near,
    /// Each further copy in another part of the drives, shifted by one member.
    Far,
    /// Each row of stripe units is repeated in the next one, shifted by one member.
    Offset,
}

/// Where parity lies in each row of stripe units, and where data begin.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rotation {
    /// Parity begins on the last member and moves down by one member each row; data begin behind the parity.
    /// The default of md.
    LeftSymmetric,
    /// Parity as in left-symmetric; data begin at the first member.
    LeftAsymmetric,
    /// Parity begins on the first member and moves up by one member each row; data begin behind the parity.
    RightSymmetric,
    /// Parity as in right-symmetric; data begin at the first member.
    RightAsymmetric,
    /// All parity on the first members.
    First,
    /// All parity on the last members.
    Last,
}

/// The RAID level, with its own parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// JBOD: concatenated drives.
    Linear,
    /// RAID 0.
    Striped,
    /// RAID 1: every member has everything.
    Mirrored,
    /// RAID 01: copies of one striped set; a set with a member missing is given up as a whole.
    MirroredStripes {
        /// Striped sets, at least 2; must divide the members.
        copies: u16,
    },
    /// RAID 10.
    StripedMirrors {
        /// Copies of each sector, from 2 up to the number of members.
        copies: u16,
        /// Where md puts the copies.
        layout: Copies,
    },
    /// RAID 3, and RAID 30 with several groups: synchronised spindles, parity on the last member, every
    /// command on all members.
    Interleaved {
        /// Groups with parity of their own, at least 1; must divide the members.
        groups: u16,
    },
    /// RAID 4, 5 and 6, and RAID 50 and 60 with several groups.
    Parity {
        /// Parities of each row, 1 to 3.
        parities: u8,
        /// On which member each row has its parity.
        rotation: Rotation,
        /// Groups with parity of their own, at least 1; must divide the members.
        groups: u16,
    },
    /// RAID-Z: records of one size, each written to a new place. The sector of the pool (its ashift) is
    /// [`ParityParams::granule`]; data fill at most `fill_percent` of the record places.
    RaidZ {
        /// Parities of each record, 1 to 3.
        parities: u8,
        /// Data of a record: a whole number of the pool's sectors.
        record: Sectors,
        /// 1 to 100.
        fill_percent: u8,
    },
}

/// Which copy answers a read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReadChoice {
    /// The first copy that is present.
    First,
    /// The copies in turn.
    RoundRobin,
    /// A copy on which the read continues where a command ended, else an idle one, else any; among several
    /// the one whose last command ended nearest by address.
    NearestHead,
    /// The one with the fewest commands; among equals the nearest.
    LeastQueued,
    /// All copies are read, and the first answer is used.
    AskAll,
}

/// How a large read is distributed over several copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitReads {
    /// Minimum size of such a read.
    pub from: Sectors,
    /// Each copy in turn reads this much of the array's addresses.
    pub unit: Sectors,
}

/// How the parity of a write that does not cover a whole row of stripe units is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PartialWrites {
    /// Whichever reads less, as md counts it.
    Cheaper {
        /// Whether a tie goes to read-modify-write.
        prefers_old: bool,
    },
    /// Always from the old data and the old parity (read-modify-write).
    Old,
    /// Always from the data that are not written (reconstruct-write).
    Rest,
}

/// How parity is computed and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParityParams {
    /// How fast parity is computed, measured over all data that go into it, one computation at a time;
    /// infinitely fast when `None`.
    pub rate: Option<Rate>,
    /// How the parity of a write of less than a row is computed.
    pub partial: PartialWrites,
    /// Parity is computed over whole pieces of this size: 4 KiB for md. For RAID-Z the sector of the pool.
    pub granule: Sectors,
}

/// What keeps a power cut from leaving parity that does not match its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConsistencyPolicy {
    /// Nothing: a resync after a power cut covers the whole array.
    None,
    /// A map of the regions being written limits the resync after a power cut. It does not close the write
    /// hole.
    Bitmap {
        /// Sectors of the array for each bit.
        region: Sectors,
        /// How long a region must be free of writes before its bit is cleared.
        clears_after: Span,
    },
    /// Data and parity go to a separate drive first.
    Journal,
    /// The parity of the data that are not written goes to the parity's member first (md's partial parity
    /// log).
    PartialParityLog,
}

/// How the array's background work (rebuild, resync, scrub) runs.
///
/// Rates are per member processed: the sectors begun there per second. A job that falls behind its rate may
/// catch up, with three seconds' worth at most (md, which looks back over three seconds at least).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SyncParams {
    /// The rate while hosts use the array, which it then does not exceed. No bound but the ceiling when
    /// `None`.
    pub floor: Option<Rate>,
    /// The rate that is never exceeded. No bound when `None`.
    pub ceiling: Option<Rate>,
    /// Sectors read of each member at a time.
    pub request: Sectors,
    /// Requests under way. With the usual request size as much of each member as md has under way: 2 MiB
    /// (drivers/md/raid1.c, `RESYNC_WINDOW`).
    pub outstanding: u32,
    /// How it yields to hosts that use the array, above the floor.
    pub gives_way: GivesWay,
    /// After this time without a host command under way the array is idle, and only the ceiling applies.
    pub idle_after: Span,
}

/// How an array's own work yields to hosts' commands once the floor is met.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GivesWay {
    /// It continues when what is under way is done: one request at a time (Linux since 4.2).
    ByDraining,
    /// It waits until the array is idle (Linux before that).
    ByWaiting,
}

/// When a member fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// At this instant of virtual time.
    At(Instant),
    /// After the array has received this many commands of the hosts.
    Commands(u64),
}

/// A drive that fails during the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The number of the drive.
    pub drive: u16,
    /// By time or by count.
    pub when: When,
}

/// Background work that begins at a given time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// The kind of work.
    pub kind: super::report::SyncKind,
    /// When it begins.
    pub at: Instant,
}

/// An array. [`Layout::new`](super::levels::Layout::new) checks it against the drives.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrayParams {
    /// RAID level.
    pub level: Level,
    /// Where the array's logic runs.
    pub managed_by: ManagedBy,
    /// Number of members: the first drives; the spares follow, then the journal if there is one.
    pub members: u16,
    /// Drives that take the place of failed ones: hot spares, and new drives that somebody will put in.
    pub spares: u16,
    /// How long after a failure a spare is taken, or a new drive is put in.
    pub replaced_after: Span,
    /// Sectors of a stripe unit; ignored by levels without one.
    pub unit: Sectors,
    /// Commands of hosts under way at once; the others wait. No limit when `None`.
    pub depth: Option<u32>,
    /// How long the host's software or the controller takes to answer that a command's data are lost, one
    /// command at a time.
    pub refusal: Span,
    /// Which copy answers a read.
    pub reads: ReadChoice,
    /// How a large read is distributed over copies; one copy serves all of it when `None`.
    pub split: Option<SplitReads>,
    /// How parity is computed and written.
    pub parity: ParityParams,
    /// What protects parity from a power cut.
    pub consistency_policy: ConsistencyPolicy,
    /// The largest command to a member.
    pub request: Sectors,
    /// How background work and commands of hosts share the array.
    pub sync: SyncParams,
    /// Maximum deviation of the members' periods from the documented one, in millionths, evenly distributed.
    pub deviation_ppm: u32,
    /// All spindles turn in phase.
    pub synchronised: bool,
    /// Drives that fail during the run.
    pub failures: Vec<Failure>,
    /// Members that are missing when the run begins.
    pub missing: Vec<u16>,
    /// Whether a new drive is in their slots from the start, to be rebuilt.
    pub rebuilding: bool,
    /// How far the new drives are rebuilt by then, as a share of the total: a rebuild that was interrupted
    /// resumes where it was (md's `recovery_offset`).
    pub rebuilt: Share,
    /// Whether an array with parity is started after a power cut although it was being written to and a member
    /// with data is missing (md's `start_dirty_degraded`). The array itself does not read this: whoever
    /// restarts it does.
    pub start_dirty_degraded: bool,
    /// Background work other than rebuilding.
    pub scheduled: Vec<Scheduled>,
    /// Addresses that cannot be read until they are written, because an earlier rebuild could not read what it
    /// needed (md's bad block lists on the members): the first one, and the one after the last.
    pub bad_blocks: Vec<(u64, u64)>,
}

impl ArrayParams {
    /// An array of this level with md's defaults, except for the stripe unit and for ties between the two
    /// ways to write, on exactly equal spindles.
    pub fn plain(level: Level, members: u16) -> Self {
        ArrayParams {
            level,
            managed_by: ManagedBy::Host,
            members,
            spares: 0,
            replaced_after: Span::ZERO,
            unit: Sectors::new(128),
            depth: None,
            refusal: Self::REFUSAL,
            reads: ReadChoice::NearestHead,
            split: None,
            parity: ParityParams {
                rate: None,
                partial: PartialWrites::Cheaper { prefers_old: true },
                granule: Sectors::new(8),
            },
            consistency_policy: ConsistencyPolicy::None,
            request: Sectors::new(1 << 16),
            sync: SyncParams {
                floor: Rate::from_bytes_per_s(1_024_000),
                ceiling: Rate::from_bytes_per_s(204_800_000),
                request: Sectors::new(1_024),
                outstanding: 4,
                gives_way: GivesWay::ByDraining,
                idle_after: Span::from_ms(100),
            },
            deviation_ppm: 0,
            synchronised: false,
            failures: Vec::new(),
            missing: Vec::new(),
            rebuilding: false,
            rebuilt: Share::NONE,
            start_dirty_degraded: false,
            scheduled: Vec::new(),
            bad_blocks: Vec::new(),
        }
    }

    /// The least time that an answer takes, even one without data. Inferred: the work of some thousand
    /// instructions, a system call with its completion. So a host that retries at once lets time pass.
    pub const REFUSAL: Span = Span::from_us(10);

    /// Maximum number of drives of one array.
    pub const MEMBERS_MAX: u16 = 1 << 10;

    /// Whether a drive is, or was, the journal's: its number is behind members and spares.
    pub fn is_of_journal(&self, drive: u16) -> bool {
        drive >= self.members + self.spares
    }

    /// The drive with this number, on the spindle of the drive `housing`. The spindles of an array do not turn exactly
    /// alike, unless they are synchronised.
    pub fn drive(&self, model: &Arc<DriveModel>, index: u16, housing: u16, seed: u64) -> Drive {
        if self.synchronised {
            return Drive::turning_as(Arc::clone(model), index, 0, seed);
        }
        if self.deviation_ppm == 0 {
            return Drive::turning_as(Arc::clone(model), index, housing, seed);
        }
        let most = model.period.as_ns() * u64::from(self.deviation_ppm) / 1_000_000;
        let drawn = Stream::named(seed, &format!("drive/{housing}/period")).below(2 * most + 1);
        let period = Span::from_ns(model.period.as_ns() - most + drawn);
        Drive::turning_as(Arc::new(model.spun(period)), index, housing, seed)
    }
}
