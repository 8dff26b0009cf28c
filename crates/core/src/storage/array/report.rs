//! What happens to an array while it runs: failures, spares, rebuilds, lost data.
use crate::command::Outcome;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// Something that happened to an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// When it happened.
    pub at: Instant,
    /// The group of members that it concerns: zero where there is one group.
    pub group: u16,
    /// What happened.
    pub what: ReportKind,
}

/// The kind of background work.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncKind {
    /// A new member gets its data.
    Rebuild,
    /// What an unclean shutdown may have left inconsistent is made consistent.
    Resync,
    /// Everything is read and compared.
    Scrub,
}

/// What happened to a group of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportKind {
    /// The member in this slot has failed. Those that are missing from the start fail at instant zero.
    Failed {
        /// Slot of the member.
        slot: u16,
        /// Number of its drive.
        drive: u16,
    },
    /// The drive in this slot failed a write, and the array reacts: it fails the member, or refuses writes
    /// where no other member has its data. The journal's slot is the number of members.
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
    /// A member with the last copy of something failed a write of these sectors of its drive: they are read
    /// from other copies from now on.
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
    /// A drive without a slot has failed: a spare.
    SpareFailed {
        /// Number of the drive.
        drive: u16,
    },
    /// The journal's drive has failed: writes are refused from now on, as in md.
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
    /// Another new member has joined a rebuild, which starts over for that one.
    BeganAnew(SyncKind),
    /// It cannot continue: too much is missing, or its new members have failed.
    GivenUp(SyncKind),
    /// These addresses of the array are lost.
    Lost(Run),
}

/// Ranges of one length, evenly spaced: what a member holds of a striped array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Run {
    /// Where the first range begins.
    pub first: Lba,
    /// Sectors of each range.
    pub count: Sectors,
    /// From the beginning of one range to that of the next.
    pub every: Sectors,
    /// Number of ranges.
    pub times: u64,
}

impl Run {
    /// One range, not repeated; in sectors.
    pub fn once(first: u64, count: u64) -> Self {
        let count = Sectors::new(count);
        Run { first: Lba::new(first), count, every: count, times: 1 }
    }

    /// The address after its last one.
    pub fn end(&self) -> u64 {
        self.first.get() + self.every.get() * (self.times - 1) + self.count.get()
    }

    /// Whether it has an address.
    pub fn has(&self, at: u64) -> bool {
        let place = at.checked_sub(self.first.get());
        let every = self.every.get().max(1);
        place.is_some_and(|place| place / every < self.times && place % every < self.count.get())
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

/// The condition of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Health {
    /// All members hold their data.
    Healthy,
    /// A member is missing, and nothing is lost.
    Degraded,
    /// No member is missing, but one is not completely rebuilt.
    Rebuilding,
    /// The last copy of something failed a write. It stays a member and can be read, and all writes are
    /// refused.
    Broken,
    /// Some addresses are lost, because of the members that are missing.
    Failed,
}

/// The array's own work under hosts' load: counted from window to window, except for windows at whose end the
/// array was idle.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct UnderLoad {
    /// The time that those windows took.
    pub time: Span,
    /// Sectors of each member processed in that time.
    pub swept: Sectors,
    /// How much of the floor was missed for good, as the time that it takes at that rate.
    pub missed: Span,
}

/// The progress of the array's own work.
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
    /// Sectors of each member that had been processed before the run.
    pub before: Sectors,
    /// Sectors of each member processed since it began.
    pub swept: Sectors,
    /// Sectors of each member to be processed in total.
    pub of: Sectors,
}
