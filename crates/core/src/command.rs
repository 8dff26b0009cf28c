//! What passes between host and target: commands one way, completions the other.
#![deny(missing_docs)]
use drivelab_units::{Instant, Lba, Sectors, Span};

/// The ids of commands that no host has issued begin here; all of them can be represented in JavaScript.
pub const OWN_IDS: u64 = 1 << 52;

/// What a command does to its addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Data come from the target.
    Read,
    /// Data, or a representation of them, go to the target: see [`Content`].
    Write,
    /// Has no addresses: all writes that the target has answered go to the media (FLUSH CACHE, SYNCHRONIZE
    /// CACHE).
    Flush,
}

/// The SCSI task attribute of a queued command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Attribute {
    /// May be served in any order with other simple commands.
    #[default]
    Simple,
    /// Everything received earlier is served before it, everything later after it.
    Ordered,
    /// Goes next; the last of several first.
    HeadOfQueue,
    /// A recovery command during an auto contingent allegiance.
    Aca,
    /// Without a tag: one at a time from each initiator.
    Untagged,
}

/// How urgent a command is: its NCQ priority, or its duration limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Priority {
    /// None.
    #[default]
    Normal,
    /// To be completed within this time of its arrival (ICC).
    Isochronous(Span),
    /// Before the normal ones where the drive supports that.
    High,
    /// Within the limits of the drive's descriptor with this index, 1 to 7 (command duration limits of ATA and SCSI).
    Limited(u8),
}

/// What a write puts into its sectors.
///
/// A write of zeroes and a discard carry no data: one sector crosses the link, with the pattern of the former
/// (SBC-4 WRITE SAME) or the list of ranges of the latter (ACS-4 DATA SET MANAGEMENT with TRIM, SBC-4 UNMAP).
/// In all other respects they are writes: they need room in a cache and its time, or the media's, they are
/// volatile until a FLUSH, and parity follows them. So a discarded sector reads as zeroes from then on (RZAT,
/// LBPRZ): a drive without a translation layer can guarantee that only by writing them.
///
/// Whoever executes the data operations treats zeroes as the data of the write. An array whose members hold
/// parity, and a memory, write zeroes to their drives as data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Content {
    /// The data sent with it.
    #[default]
    Data,
    /// The data sent with it, the first of a zone whose write pointer the host has moved back to its start (RESET WRITE
    /// POINTER). Only drives with zones look at that.
    AfterReset,
    /// Zeroes (WRITE SAME, WRITE ZEROES).
    Zeroes,
    /// Zeroes, because the sectors are no longer needed (TRIM, UNMAP).
    Discarded,
}

/// One command as the host sends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// Unique in the run, in the order of issue.
    pub id: u64,
    /// The sender, counted from 0: a host with its own caches and schedulers.
    pub initiator: u16,
    /// The addressed unit, counted from 0. The only effect of logical units is that commands of different
    /// units are not merged.
    pub logical_unit: u16,
    /// Unique among the initiator's outstanding commands.
    pub tag: u32,
    /// Its position among other commands (SCSI).
    pub attribute: Attribute,
    /// How urgent it is.
    pub priority: Priority,
    /// Force unit access: data must come from, or be on, the media itself, whatever a buffer holds.
    pub force_unit_access: bool,
    /// Bypasses the host's own cache (O_DIRECT).
    pub direct: bool,
    /// How often the host has sent it before without success.
    pub attempt: u8,
    /// The process that it belongs to, for schedulers that are fair by process.
    pub process: u32,
    /// Whether the application waits for it.
    pub synchronous: bool,
    /// What it does to its sectors.
    pub access: Access,
    /// For a write: its content. Ignored for other commands.
    pub content: Content,
    /// The first sector; zero for a FLUSH.
    pub first: Lba,
    /// Number of sectors; zero for a FLUSH, at least one otherwise.
    pub count: Sectors,
}

impl Command {
    /// A plain command as a test or a replay sends it: simple, with its id as the tag, synchronous.
    pub const fn new(id: u64, access: Access, first: Lba, count: Sectors) -> Self {
        Command {
            id,
            initiator: 0,
            logical_unit: 0,
            tag: id as u32,
            attribute: Attribute::Simple,
            priority: Priority::Normal,
            force_unit_access: false,
            direct: false,
            attempt: 0,
            process: 0,
            synchronous: true,
            access,
            content: Content::Data,
            first,
            count,
        }
    }

    /// A plain write of zeroes.
    pub const fn write_zeroes(id: u64, first: Lba, count: Sectors) -> Self {
        Command { content: Content::Zeroes, ..Command::new(id, Access::Write, first, count) }
    }

    /// A plain discard: the sectors read as zeroes from then on.
    ///
    /// ```
    /// use drivelab_core::{Access, Command};
    /// use drivelab_units::{Lba, Sectors};
    ///
    /// let discard = Command::discard(0, Lba::new(64), Sectors::new(1_024));
    /// assert_eq!(discard.access, Access::Write);
    /// // The list of ranges.
    /// assert_eq!(discard.on_link(), Sectors::new(1));
    /// ```
    pub const fn discard(id: u64, first: Lba, count: Sectors) -> Self {
        Command { content: Content::Discarded, ..Command::new(id, Access::Write, first, count) }
    }

    /// Sectors that cross the link.
    #[inline]
    pub fn on_link(&self) -> Sectors {
        let brings =
            matches!(self.content, Content::Data | Content::AfterReset) || self.access != Access::Write;
        if brings { self.count } else { Sectors::new(1) }
    }

    /// Whether the host has reset the zone that a write begins.
    #[inline]
    pub fn resets_zone(&self) -> bool {
        self.content == Content::AfterReset
    }

    /// The address after the last one of the command.
    pub fn end(&self) -> Lba {
        self.first + self.count
    }
}

/// How a command ended. A simulated device error is a value, not an error of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// The command was carried out as requested.
    Done,
    /// The addresses lie beyond the end of the target.
    OutOfRange,
    /// A sector could not be read.
    MediaError,
    /// The command was ended before it was done: by an error of another command (TASK ABORTED included), or
    /// by its own host.
    Aborted,
    /// The drive's queue is full (TASK SET FULL).
    Full,
    /// The drive cannot accept the command now: there is an auto contingent allegiance of another initiator,
    /// and the command does not have NACA set.
    Busy,
    /// There is an auto contingent allegiance, and the command is not a recovery command.
    AcaActive,
    /// Another initiator's error has cleared this one's commands (UNIT ATTENTION).
    UnitAttention,
    /// The protocol does not allow the command: an attribute or a priority that it lacks.
    Invalid,
    /// The tag is in use (OVERLAPPED COMMANDS ATTEMPTED).
    DuplicateTag,
    /// The command was not done in time: within its host's timeout, its deadline, or a duration limit that ends it
    /// with an error.
    TimedOut,
    /// The command has exceeded a duration limit that ends it without its data (DATA CURRENTLY UNAVAILABLE).
    Unavailable,
    /// The drive has failed for good.
    Failed,
    /// The array has lost the data: more of its members have failed than its level tolerates.
    Lost,
    /// A write does not begin at the write pointer of its zone, or does not end within that zone (UNALIGNED WRITE
    /// COMMAND, WRITE BOUNDARY VIOLATION).
    Unaligned,
}

/// Where the response time of a command went. The parts add up to it exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Breakdown {
    /// In the drive, waiting, or done and not yet reported, while its mechanism served others.
    pub queue: Span,
    /// Firmware and host time that was not hidden behind other work.
    pub overhead: Span,
    /// Moving the arm, with settling and head switch.
    pub seek: Span,
    /// Waiting for the first sector to reach the head.
    pub rotation: Span,
    /// The media passing under the head, including track switches.
    pub transfer: Span,
    /// Data on the link that were not hidden behind the mechanism.
    pub link: Span,
    /// Outside the drive: waiting for a free tag, or behind an earlier arrival.
    pub wait: Span,
}

impl Breakdown {
    /// The names of the parts, as in records.
    pub const PARTS: [&'static str; 7] =
        ["queue", "overhead", "seek", "rotation", "transfer", "link", "wait"];

    /// The parts in the order of [`Self::PARTS`].
    pub fn parts(&self) -> [Span; 7] {
        [self.queue, self.overhead, self.seek, self.rotation, self.transfer, self.link, self.wait]
    }

    /// Adds the breakdown of what came next.
    pub fn add(&mut self, next: &Breakdown) {
        self.queue += next.queue;
        self.overhead += next.overhead;
        self.seek += next.seek;
        self.rotation += next.rotation;
        self.transfer += next.transfer;
        self.link += next.link;
        self.wait += next.wait;
    }

    /// The sum of all parts: the response time.
    pub fn total(&self) -> Span {
        self.parts().into_iter().fold(Span::ZERO, |sum, part| sum + part)
    }
}

/// The target's answer to one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The id of the command.
    pub id: u64,
    /// The sender of the command.
    pub initiator: u16,
    /// The tag that it was sent with.
    pub tag: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// When the target accepted the command.
    pub submitted: Instant,
    /// When it was done.
    pub completed: Instant,
    /// Where the time between them went.
    pub breakdown: Breakdown,
}
