//! CloudPhysics' binary traces of SCSI commands, versions 1 and 2: records of 32 or 40 bytes, little-endian.
//!
//! ```text
//! version 1: u32 serial, u32 bytes, u32 scatter-gather elements, u16 opcode, u16 version, u64 sector, u64 microseconds
//! version 2: u16 opcode, u16 version, u32 serial, u32 bytes, u32 scatter-gather elements, u64 sector, u64 microseconds,
//!            u64 response time in microseconds
//! ```
//! The version is in the high byte of its field. Records with opcodes other than read, write, flush and discard are
//! not requests. (C. Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015; `vscsi.h` of
//! libCacheSim.)
use crate::check::Problem;
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::format::Format;
use crate::lines::Fault;
use crate::reader::Records;
use crate::record::{Clock, Kind, Record};
use crate::text::sectors;
use std::io::{BufReader, Read};

/// The request kind of a SCSI opcode (SBC-4).
pub fn kind_of(opcode: u8) -> Option<Kind> {
    match opcode {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Kind::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Some(Kind::Write),
        0x35 | 0x91 => Some(Kind::Flush),
        0x42 => Some(Kind::Discard),
        _ => None,
    }
}

/// The reader of both versions.
pub struct Vscsi<R> {
    source: BufReader<R>,
    version: u8,
    unit_ns: u64,
    devices: Devices,
    records: u64,
    note: Option<Problem>,
}

impl<R: Read> Vscsi<R> {
    pub fn new(source: R, format: Format, unit_ns: u64) -> Self {
        let version = if format == Format::Vscsi2 { 2 } else { 1 };
        let source = BufReader::with_capacity(1 << 16, source);
        Vscsi { source, version, unit_ns, devices: Devices::default(), records: 0, note: None }
    }

    fn request(&mut self, bytes: &[u8]) -> Result<Option<Record>, Fault> {
        let fields = Fields::of(bytes, self.version);
        if fields.version >> 8 != u16::from(self.version) {
            return Err(Fault::Layout("the record does not carry the version of its format"));
        }
        let Ok(opcode) = u8::try_from(fields.opcode) else {
            return Err(Fault::Layout("the opcode has more than eight bits"));
        };
        let Some(kind) = kind_of(opcode) else { return Ok(None) };
        let time_ns = fields.time.checked_mul(self.unit_ns).ok_or(Fault::Time)?;
        let offset = sectors(fields.sector)?;
        let length = u64::from(fields.bytes);
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = self.devices.place(b"0")?;
        let record = match kind {
            Kind::Flush => Record::new(time_ns, device, kind, 0, 0),
            _ => Record::new(time_ns, device, kind, offset, length),
        };
        let response_ns = fields.response.map(|response| response.checked_mul(self.unit_ns));
        if response_ns == Some(None) {
            return Err(Fault::Time);
        }
        Ok(Some(Record { response_ns: response_ns.flatten(), ..record }))
    }
}

/// The fields of a record that are used.
struct Fields {
    opcode: u16,
    version: u16,
    bytes: u32,
    sector: u64,
    time: u64,
    response: Option<u64>,
}

impl Fields {
    fn of(bytes: &[u8], version: u8) -> Fields {
        let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(short(at)) | u32::from(short(at + 2)) << 16;
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let (opcode, of_version, length) = if version == 1 { (12, 14, 4) } else { (0, 2, 8) };
        Fields {
            opcode: short(opcode),
            version: short(of_version),
            bytes: word(length),
            sector: long(16),
            time: long(24),
            response: (version == 2).then(|| long(32)),
        }
    }
}

/// Fills a buffer; returns the number of bytes read.
pub fn read_full(source: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match source.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

impl<R: Read + Send> Records for Vscsi<R> {
    fn next(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        let mut bytes = [0; 40];
        let bytes = &mut bytes[..if self.version == 1 { 32 } else { 40 }];
        loop {
            let read = read_full(&mut self.source, bytes)?;
            if read < bytes.len() {
                if read > 0 {
                    self.note = Some(Problem::Truncated);
                }
                return Ok(None);
            }
            self.records += 1;
            let record = self.records;
            if let Some(found) = self.request(bytes).map_err(|fault| TraceError::Record { record, fault })? {
                return Ok(Some((Place::Record(record), found)));
            }
        }
    }

    fn note(&mut self) -> Option<Problem> {
        self.note.take()
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
}
