//! What crosses the wire between host and target: commands one way, completions the other.
#![deny(missing_docs)]
use drivelab_units::{Instant, Lba, Sectors, Span};

/// What a command does to the addresses that it names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Data come from the target.
    Read,
    /// Data, or what stands for them, go to the target: see [`Content`].
    Write,
    /// Names no addresses: all writes that the target has answered go to the media (FLUSH CACHE, SYNCHRONIZE CACHE).
    Flush,
}

/// The SCSI task attribute of a queued command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Attribute {
    /// May be served in any order among its like.
    #[default]
    Simple,
    /// Everything received earlier is served before it, everything later after it.
    Ordered,
    /// Goes next; the last of several first.
    HeadOfQueue,
    /// Part of the recovery while an auto contingent allegiance holds.
    Aca,
    /// Without a tag: one at a time from each initiator.
    Untagged,
}

/// The priority of an NCQ command.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Priority {
    /// None.
    #[default]
    Normal,
    /// To be completed within this time of its arrival (ICC).
    Isochronous(Span),
    /// Before the normal ones where the drive can.
    High,
}

/// What a write puts into its sectors.
///
/// A write of zeroes and a discard carry no data: one sector crosses the link, with the pattern of the one (SBC-4 WRITE
/// SAME) or the list of ranges of the other (ACS-4 DATA SET MANAGEMENT with TRIM, SBC-4 UNMAP). In all else they are
/// writes: they need room in a cache and its time, or the media's, they are volatile until a FLUSH, and parity follows
/// them. So a discarded sector reads as zeroes from then on (RZAT, LBPRZ): a drive without a translation layer has no
/// other way to promise that than to write them.
///
/// Who carries the data out brings zeroes as those of the write. An array whose members hold parity, and a memory, write
/// zeroes to their drives as data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Content {
    /// The data that come with it.
    #[default]
    Data,
    /// Zeroes (WRITE SAME, WRITE ZEROES).
    Zeroes,
    /// Zeroes, because nobody needs the sectors any more (TRIM, UNMAP).
    Discarded,
}

/// One command as the host sends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// Unique in the run, in the order of issue.
    pub id: u64,
    /// Who sends it, counted from 0: a host with caches and schedulers of its own.
    pub initiator: u16,
    /// To whom, counted from 0. No box here tells logical units apart but by not merging their commands.
    pub logical_unit: u16,
    /// Unique among the initiator's outstanding commands.
    pub tag: u32,
    /// Its place among others (SCSI).
    pub attribute: Attribute,
    /// How urgent it is (NCQ).
    pub priority: Priority,
    /// Force unit access: the media itself must answer, whatever a buffer holds.
    pub force_unit_access: bool,
    /// Past the host's own cache (O_DIRECT).
    pub direct: bool,
    /// How often the host has sent it before and it failed.
    pub attempt: u8,
    /// Whose command it is, for schedulers that are fair by process.
    pub process: u32,
    /// Whether somebody waits for it.
    pub synchronous: bool,
    /// What it does to its sectors.
    pub access: Access,
    /// Of a write: what it puts there. Of no account to other commands.
    pub content: Content,
    /// The first sector; zero for a FLUSH.
    pub first: Lba,
    /// How many; none for a FLUSH, at least one for all else.
    pub count: Sectors,
}

impl Command {
    /// A plain command as a test or a replay sends it: simple, its tag its id, somebody waits for it.
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
        let brings = self.content == Content::Data || self.access != Access::Write;
        if brings { self.count } else { Sectors::new(1) }
    }

    /// The address behind the last one that the command names.
    pub fn end(&self) -> Lba {
        self.first + self.count
    }
}

/// How a command ended. A simulated device error is a value, not an error of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// As it was asked for.
    Done,
    /// The addresses lie beyond the end of the target.
    OutOfRange,
    /// A sector could not be read.
    MediaError,
    /// The command was given up before it was done: by an error of another command (TASK ABORTED included), or by its
    /// own host.
    Aborted,
    /// The drive holds as many commands as it can (TASK SET FULL).
    Full,
    /// The drive cannot take the command now: an auto contingent allegiance of another initiator holds, and the command
    /// does not know of such conditions (NACA = 0).
    Busy,
    /// An auto contingent allegiance holds, and the command is no part of the recovery.
    AcaActive,
    /// Another initiator's error has cleared this one's commands (UNIT ATTENTION).
    UnitAttention,
    /// The protocol does not allow the command: an attribute or a priority that it lacks.
    Invalid,
    /// The tag is in use (OVERLAPPED COMMANDS ATTEMPTED).
    DuplicateTag,
    /// The command was not done in the time that its host allowed.
    TimedOut,
    /// The drive has failed for good.
    Failed,
    /// The array cannot give the data any more: more of its members have failed than its level bears.
    Lost,
}

/// Where the response time of a command went. The parts add up to it exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Breakdown {
    /// In the drive, waiting or done and not yet reported, while its mechanism served others.
    pub queue: Span,
    /// Firmware and host work that no other work hid.
    pub overhead: Span,
    /// Moving the arm, with settling and head switch.
    pub seek: Span,
    /// Waiting for the first sector to come round.
    pub rotation: Span,
    /// The media passing under the head, with switches between tracks.
    pub transfer: Span,
    /// Data on the link that was not hidden behind the mechanism.
    pub link: Span,
    /// Outside the drive: for a free tag, or behind an arrival that was due earlier.
    pub wait: Span,
}

impl Breakdown {
    /// The names of the parts, as records have them.
    pub const PARTS: [&'static str; 7] =
        ["queue", "overhead", "seek", "rotation", "transfer", "link", "wait"];

    /// The parts in the order of [`Self::PARTS`].
    pub fn parts(&self) -> [Span; 7] {
        [self.queue, self.overhead, self.seek, self.rotation, self.transfer, self.link, self.wait]
    }

    /// Adds the way of what came next.
    pub fn add(&mut self, next: &Breakdown) {
        self.queue += next.queue;
        self.overhead += next.overhead;
        self.seek += next.seek;
        self.rotation += next.rotation;
        self.transfer += next.transfer;
        self.link += next.link;
        self.wait += next.wait;
    }

    /// All parts together: the response time.
    pub fn total(&self) -> Span {
        self.parts().into_iter().fold(Span::ZERO, |sum, part| sum + part)
    }
}

/// The target's answer to one command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// The id of the command.
    pub id: u64,
    /// Who sent it.
    pub initiator: u16,
    /// The tag that it was sent with.
    pub tag: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// When the target took the command.
    pub submitted: Instant,
    /// When it was done.
    pub completed: Instant,
    /// Where the time between them went.
    pub breakdown: Breakdown,
}
