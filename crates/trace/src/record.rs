//! One request of a trace, in the same units whatever the format: nanoseconds and bytes.
//!
//! A record maps onto what a host is fed ([`FedIo`]) with [`Record::fed`].
use drivelab_core::command::{Attribute, Priority};
use drivelab_core::host::feed::FedIo;
use drivelab_core::{Access, Command, Content};
use drivelab_units::{Lba, SECTOR_BYTES, Sectors, Span};

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    Read,
    Write,
    /// Names no addresses.
    Flush,
    /// The addresses hold nothing worth keeping any more (TRIM, UNMAP).
    Discard,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Write, Kind::Flush, Kind::Discard];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Flush => "flush",
            Kind::Discard => "discard",
        }
    }

    /// Whether data move.
    pub const fn is_transfer(self) -> bool {
        matches!(self, Kind::Read | Kind::Write)
    }
}

/// Everything of a [`Command`] beside its addresses. What a format does not say is as in [`Command::new`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// The command's number in the run that was recorded.
    pub id: u64,
    /// The host's own mark on the request.
    pub cookie: u64,
    pub initiator: u16,
    pub logical_unit: u16,
    pub tag: u32,
    pub attribute: Attribute,
    pub priority: Priority,
    pub force_unit_access: bool,
    pub direct: bool,
    pub attempt: u8,
    pub process: u32,
    pub synchronous: bool,
}

impl Attributes {
    pub const DEFAULT: Attributes = Attributes {
        id: 0,
        cookie: 0,
        initiator: 0,
        logical_unit: 0,
        tag: 0,
        attribute: Attribute::Simple,
        priority: Priority::Normal,
        force_unit_access: false,
        direct: false,
        attempt: 0,
        process: 0,
        synchronous: true,
    };
}

impl Default for Attributes {
    fn default() -> Self {
        Attributes::DEFAULT
    }
}

/// One request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// By the clock of the trace ([`Clock`]).
    pub time_ns: u64,
    /// Place in the table of the trace's devices.
    pub device: u32,
    pub kind: Kind,
    /// First byte; zero for a flush.
    pub offset: u64,
    /// In bytes; zero for a flush.
    pub length: u64,
    /// From the request to its completion, where the trace has it.
    pub response_ns: Option<u64>,
    pub attributes: Attributes,
}

impl Record {
    /// A request without a response time, its attributes those of a plain command.
    pub const fn new(time_ns: u64, device: u32, kind: Kind, offset: u64, length: u64) -> Self {
        Record { time_ns, device, kind, offset, length, response_ns: None, attributes: Attributes::DEFAULT }
    }

    /// The byte behind the last one.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    /// First sector and number of sectors that the request touches.
    pub const fn sectors(&self) -> (u64, u64) {
        let first = self.offset / SECTOR_BYTES;
        (first, self.end().div_ceil(SECTOR_BYTES) - first)
    }

    /// What a host is fed, its time since `zero_ns` of the trace's clock; none for a discard, which the core does not know.
    pub fn fed(&self, zero_ns: u64) -> Option<FedIo> {
        let access = match self.kind {
            Kind::Read => Access::Read,
            Kind::Write => Access::Write,
            Kind::Flush => Access::Flush,
            Kind::Discard => return None,
        };
        let (first, count) = if self.kind == Kind::Flush { (0, 0) } else { self.sectors() };
        let Attributes { id, initiator, logical_unit, tag, attribute, priority, .. } = self.attributes;
        let Attributes { force_unit_access, direct, attempt, process, synchronous, .. } = self.attributes;
        let (first, count) = (Lba::new(first), Sectors::new(count));
        let command = Command {
            id,
            initiator,
            logical_unit,
            tag,
            attribute,
            priority,
            force_unit_access,
            direct,
            attempt,
            process,
            synchronous,
            access,
            content: Content::Data,
            first,
            count,
        };
        Some(FedIo { time: Span::from_ns(self.time_ns.saturating_sub(zero_ns)), command })
    }
}

/// What the times of a trace are counted from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Some moment, such as the start of the recording.
    Relative,
    /// 1 January 1970, UTC.
    Unix,
    /// 1 January 1601, UTC, as in Windows.
    Filetime,
}

/// From 1601 to 1970.
pub const FILETIME_UNIX_NS: u64 = 11_644_473_600 * 1_000_000_000;

impl Clock {
    pub const fn name(self) -> &'static str {
        match self {
            Clock::Relative => "relative",
            Clock::Unix => "unix",
            Clock::Filetime => "filetime",
        }
    }

    /// Times between 1990 and 2100, outside of which the unit of a time must be wrong.
    pub const fn plausible_ns(self) -> Option<(u64, u64)> {
        // 1990-01-01 and 2100-01-01 in seconds since 1970.
        let (least, most) = (631_152_000_000_000_000, 4_102_444_800_000_000_000);
        match self {
            Clock::Relative => None,
            Clock::Unix => Some((least, most)),
            Clock::Filetime => Some((least + FILETIME_UNIX_NS, most + FILETIME_UNIX_NS)),
        }
    }
}
