//! One request of a trace, in the same units whatever the format: nanoseconds and bytes.
//!
//! [`Record::fed`] converts a record into an input of the host ([`FedIo`]).
use drivelab_core::command::{Attribute, Priority};
use drivelab_core::host::feed::FedIo;
use drivelab_core::{Access, Command, Content};
use drivelab_units::{Lba, SECTOR_BYTES, Sectors, Span};

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    Read,
    Write,
    /// A flush, which has no addresses.
    Flush,
    /// The data at the addresses are no longer needed (TRIM, UNMAP).
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

    /// Whether the request transfers data.
    pub const fn is_transfer(self) -> bool {
        matches!(self, Kind::Read | Kind::Write)
    }
}

/// The attributes of a [`Command`] besides its addresses. Attributes that a format lacks are those of
/// [`Command::new`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// The id of the command in the recorded run.
    pub id: u64,
    /// The host's own id of the request.
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
    /// The arrival time by the clock of the trace ([`Clock`]).
    pub time_ns: u64,
    /// The index in the table of the trace's devices.
    pub device: u32,
    pub kind: Kind,
    /// The first byte; zero for a flush.
    pub offset: u64,
    /// The length in bytes; zero for a flush.
    pub length: u64,
    /// The time from the request to its completion, if the trace has it.
    pub response_ns: Option<u64>,
    pub attributes: Attributes,
}

impl Record {
    /// A request without a response time, with the attributes of a plain command.
    pub const fn new(time_ns: u64, device: u32, kind: Kind, offset: u64, length: u64) -> Self {
        Record { time_ns, device, kind, offset, length, response_ns: None, attributes: Attributes::DEFAULT }
    }

    /// The end of the request: the byte behind its last one.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    /// The first sector and the number of sectors that the request touches.
    pub const fn sectors(&self) -> (u64, u64) {
        let first = self.offset / SECTOR_BYTES;
        (first, self.end().div_ceil(SECTOR_BYTES) - first)
    }

    /// The input of the host, with its time relative to `zero_ns` of the trace's clock; `None` for a discard, which
    /// the core does not model.
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

/// The epoch of the times of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// An arbitrary moment, such as the start of the recording.
    Relative,
    /// 1 January 1970, UTC.
    Unix,
    /// 1 January 1601, UTC, as in Windows.
    Filetime,
}

/// The nanoseconds from 1601 to 1970.
pub const FILETIME_UNIX_NS: u64 = 11_644_473_600 * 1_000_000_000;

impl Clock {
    pub const fn name(self) -> &'static str {
        match self {
            Clock::Relative => "relative",
            Clock::Unix => "unix",
            Clock::Filetime => "filetime",
        }
    }

    /// The times of 1990 and 2100: a time outside of them has the wrong unit.
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
