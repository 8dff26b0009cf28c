//! What happens to an array while it runs: failures, spares, rebuilds, lost data.
use crate::command::Outcome;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// Something that happened to an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// When it happened.
    pub at: Instant,
    /// Which group of members it is about: zero where there is one.
    pub group: u16,
    /// What happened.
    pub what: Happened,
}

/// Why the array goes over its members by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncKind {
    /// A new member gets its data.
    Rebuild,
    /// What an unclean shutdown left in doubt is made consistent.
    Resync,
    /// Everything is read and compared.
    Scrub,
}

/// What happened to a group of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The member in this slot is gone. Those that are missing from the start are gone at instant zero.
    Failed {
        /// Slot of the member.
        slot: u16,
        /// Number of its drive.
        drive: u16,
    },
    /// The drive in this slot did not do a write, and the array does something about it: it fails the member, or where
    /// nobody else has its data refuses writes. The journal's slot is the number of members.
    WriteError {
        /// Slot of the member.
        slot: u16,
        /// Number of its drive.
        drive: u16,
        /// How the write ended.
        outcome: Outcome,
    },
    /// From now on every write is refused: see [`Health::Broken`].
    Broken,
    /// A member that has the last copy of something did not take these sectors of its drive: they are read from other
    /// copies from now on.
    Stale {
        /// Slot of the member.
        slot: u16,
        /// Number of its drive.
        drive: u16,
        /// First sector on the drive.
        first: Lba,
        /// Sectors, at least one.
        count: Sectors,
    },
    /// A drive that has no slot is gone: a spare.
    SpareFailed {
        /// Number of the drive.
        drive: u16,
    },
    /// The journal's drive is gone: writes are refused from now on, as md does it.
    JournalFailed {
        /// Number of the drive.
        drive: u16,
    },
    /// Another drive has taken the slot.
    Replaced {
        /// Slot of the member.
        slot: u16,
        /// Number of the new drive.
        drive: u16,
    },
    /// Background work of this kind has begun.
    Began(SyncKind),
    /// Background work of this kind is complete.
    Ended(SyncKind),
    /// Another new member has joined a rebuild, which begins again for that one.
    BeganAnew(SyncKind),
    /// It cannot go on: too much is missing, or its new members are gone.
    GivenUp(SyncKind),
    /// These addresses of the array cannot be had any more.
    Lost(Run),
}

/// Ranges of one length, evenly spaced: what a member holds of a striped array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Run {
    /// Where the first range begins.
    pub first: Lba,
    /// Sectors of each range.
    pub count: Sectors,
    /// From the beginning of one to that of the next.
    pub every: Sectors,
    /// How many there are.
    pub times: u64,
}

impl Run {
    /// One range, not repeated; in sectors.
    pub fn once(first: u64, count: u64) -> Self {
        let count = Sectors::new(count);
        Run { first: Lba::new(first), count, every: count, times: 1 }
    }

    /// All of its sectors.
    pub fn sectors(&self) -> Sectors {
        Sectors::new(self.count.get() * self.times)
    }

    /// Its ranges, first address and length.
    pub fn ranges(self) -> impl Iterator<Item = (Lba, Sectors)> {
        (0..self.times).map(move |i| (self.first + Sectors::new(self.every.get() * i), self.count))
    }
}

/// How an array is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Health {
    /// All members hold their data.
    Healthy,
    /// A member is missing, and nothing is lost.
    Degraded,
    /// No member is missing, and not all of one is right.
    Rebuilding,
    /// The last copy of something did not do a write. It stays a member and can be read, and all writes are refused.
    Broken,
    /// Some addresses cannot be had, because of the members that are missing.
    Failed,
}

/// What hosts have left to work of the array's own: from window to window, but for those at whose end the
/// array was idle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct UnderLoad {
    /// The time that those windows took.
    pub time: Span,
    /// Gone over of each member in it.
    pub swept: Sectors,
    /// How much of what the floor asks for was never made up for, as the time that it takes at that rate.
    pub missed: Span,
}

/// How far the array has got with work of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The kind of work.
    pub kind: SyncKind,
    /// The group of members that it covers.
    pub group: u16,
    /// When it began.
    pub began: Instant,
    /// When it ended; `None` while it runs.
    pub ended: Option<Instant>,
    /// Whether it ended because it could not go on.
    pub is_given_up: bool,
    /// What of each member had been gone over before the run.
    pub before: Sectors,
    /// What has been gone over of each member since it began.
    pub swept: Sectors,
    /// What there is to go over, of each member.
    pub of: Sectors,
}
