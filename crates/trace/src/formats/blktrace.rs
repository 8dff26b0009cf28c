//! blktrace: one file per processor, with records of 48 bytes and data of variable length; merged here by time.
//!
//! ```text
//! u32 magic 0x65617407, u32 sequence, u64 nanoseconds, u64 sector, u32 bytes, u32 action, u32 process, u32 device,
//! u32 processor, u16 error, u16 bytes of data that follow
//! ```
//! The byte order may be either. The high half of the action holds categories, the low half the action itself.
//! Records with the same time are ordered by processor and sequence, as each file is. (Linux,
//! include/uapi/linux/blktrace_api.h.)
use super::events::{Action, Event};
use super::pairing::Pairing;
use super::vscsi::read_full;
use crate::check::Problem;
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::reader::Records;
use crate::record::{Clock, Kind, Record};
use crate::text::sectors;
use std::io::{BufReader, Read};

/// The upper 24 bits of the first word; the version is in the lower 8 bits.
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 0x07;
const BYTES: usize = 48;

/// The categories of an action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const SYNC: u32 = 1 << 3;
const PC: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;
const FUA: u32 = 1 << 15;
/// The bits of the action, without the mark for events of a control group.
const ACTIONS: u32 = 0xff;

/// Whether a file with these first four bytes is little-endian; `None` without the magic number.
pub fn is_little_endian(first: [u8; 4]) -> Option<bool> {
    let is_magic = |word: u32| word & !0xff == MAGIC;
    if is_magic(u32::from_le_bytes(first)) {
        Some(true)
    } else {
        is_magic(u32::from_be_bytes(first)).then_some(false)
    }
}

/// Reads the files of all processors as one stream.
pub struct Blktrace<R> {
    files: Vec<File<R>>,
    pairing: Pairing,
    devices: Devices,
    unit_ns: u64,
    records: u64,
    note: Option<Problem>,
    is_over: bool,
}

struct File<R> {
    source: BufReader<R>,
    next: Option<Raw>,
    records: u64,
}

/// A record of a file.
#[derive(Clone, Copy)]
struct Raw {
    sequence: u32,
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    process: u32,
    device: u32,
}

impl<R: Read> File<R> {
    /// Reads the next record; returns whether the file ends within it.
    fn advance(&mut self) -> Result<bool, TraceError> {
        let mut bytes = [0; BYTES];
        self.next = None;
        let read = read_full(&mut self.source, &mut bytes)?;
        if read < BYTES {
            return Ok(read > 0);
        }
        self.records += 1;
        let record = self.records;
        let fault = |what| TraceError::Record { record, fault: Fault::Layout(what) };
        let first = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let Some(is_little) = is_little_endian(first) else {
            return Err(fault("it does not begin with the magic number of blktrace"));
        };
        let word = |at: usize| {
            let word = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            if is_little { u32::from_le_bytes(word) } else { u32::from_be_bytes(word) }
        };
        let long = |at: usize| {
            let (low, high) = if is_little { (at, at + 4) } else { (at + 4, at) };
            u64::from(word(low)) | u64::from(word(high)) << 32
        };
        if word(0) & 0xff != VERSION {
            return Err(fault("it is of another version of blktrace than 7"));
        }
        let (sequence, time, sector) = (word(4), long(8), long(16));
        let data = if is_little { word(44) >> 16 } else { word(44) & 0xffff };
        let mut skipped = self.source.by_ref().take(u64::from(data));
        if std::io::copy(&mut skipped, &mut std::io::sink())? < u64::from(data) {
            return Ok(true);
        }
        let (bytes, action, process, device) = (word(24), word(28), word(32), word(36));
        self.next = Some(Raw { sequence, time, sector, bytes, action, process, device });
        Ok(false)
    }
}

impl<R: Read> Blktrace<R> {
    pub fn new(sources: Vec<R>, unit_ns: u64) -> Result<Self, TraceError> {
        let file =
            |source| File { source: BufReader::with_capacity(1 << 15, source), next: None, records: 0 };
        let files = sources.into_iter().map(file).collect();
        let (pairing, devices) = (Pairing::default(), Devices::default());
        let mut found = Blktrace { files, pairing, devices, unit_ns, records: 0, note: None, is_over: false };
        for at in 0..found.files.len() {
            found.advance(at)?;
        }
        Ok(found)
    }

    fn advance(&mut self, at: usize) -> Result<(), TraceError> {
        if self.files[at].advance()? {
            self.note = Some(Problem::Truncated);
        }
        Ok(())
    }

    /// Removes the earliest record of all files.
    fn next_raw(&mut self) -> Result<Option<Raw>, TraceError> {
        let waiting = self.files.iter().enumerate();
        let key = |raw: &Raw, at| (raw.time, at, raw.sequence);
        let first = waiting.filter_map(|(at, file)| file.next.as_ref().map(|raw| (key(raw, at), at))).min();
        let Some((_, at)) = first else { return Ok(None) };
        let raw = self.files[at].next;
        self.advance(at)?;
        self.records += 1;
        Ok(raw)
    }

    /// Converts a record into an event of a request; `None` if it is something else.
    fn event(&mut self, raw: &Raw) -> Result<Option<Event>, Fault> {
        let categories = raw.action >> 16;
        if categories & (NOTIFY | PC) != 0 {
            return Ok(None);
        }
        let action = match raw.action & ACTIONS {
            1 => Action::Queue,
            7 => Action::Issue,
            8 => Action::Complete,
            _ => return Ok(None),
        };
        let kind = if categories & DISCARD != 0 {
            Kind::Discard
        } else if raw.bytes == 0 {
            if categories & FLUSH == 0 {
                return Ok(None);
            }
            Kind::Flush
        } else if categories & WRITE != 0 {
            Kind::Write
        } else {
            Kind::Read
        };
        // A Linux device number: 12 bits of major, 20 bits of minor number.
        let name = format!("{},{}", raw.device >> 20, raw.device & 0xf_ffff);
        let (offset, length) =
            if kind == Kind::Flush { (0, 0) } else { (sectors(raw.sector)?, u64::from(raw.bytes)) };
        offset.checked_add(length).ok_or(Fault::Extent)?;
        Ok(Some(Event {
            time_ns: raw.time.checked_mul(self.unit_ns).ok_or(Fault::Time)?,
            device: self.devices.place(name.as_bytes())?,
            action,
            kind,
            offset,
            length,
            process: raw.process,
            synchronous: kind == Kind::Read || categories & SYNC != 0,
            force_unit_access: categories & FUA != 0,
        }))
    }
}

impl<R: Read + Send> Records for Blktrace<R> {
    fn next(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        loop {
            if let Some(found) = self.pairing.next(self.is_over) {
                return Ok(Some(found));
            }
            if self.is_over {
                return Ok(None);
            }
            let Some(raw) = self.next_raw()? else {
                self.is_over = true;
                continue;
            };
            let record = self.records;
            if let Some(event) = self.event(&raw).map_err(|fault| TraceError::Record { record, fault })? {
                let fault = |fault| TraceError::Record { record, fault };
                self.pairing.take(&event, Place::Record(record)).map_err(fault)?;
            }
        }
    }

    fn note(&mut self) -> Option<Problem> {
        // Reported at the end, because it concerns the file and not a request.
        if self.is_over { self.note.take() } else { None }
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn devices(&self) -> &Devices {
        &self.devices
    }

    fn clock(&self) -> Clock {
        Clock::Relative
    }

    fn remark(&self) -> Option<&'static str> {
        self.pairing.remark()
    }
}
