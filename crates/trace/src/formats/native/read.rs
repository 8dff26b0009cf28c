//! Reads drivelab's own format block by block; each is verified before its entries are used.
use super::bytes::{Cursor, checksum};
use super::entry::{Before, Entry};
use super::injected::Injected;
use super::{BLOCK_BYTES_MAX, BLOCK_ENTRIES_MAX, Header, MAGIC, PHASES_MAX, VERSION};
use crate::check::Problem;
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::formats::vscsi::read_full;
use crate::lines::Fault;
use crate::reader::Records;
use crate::record::{Clock, Record};
use std::collections::VecDeque;
use std::io::Read;

const HEADER_BYTES_MAX: usize = 1 << 20;
/// The most faults that are buffered for the caller.
const MET_MAX: usize = 1 << 16;

/// A trace in drivelab's own format.
pub struct Reader<R> {
    source: R,
    header: Header,
    devices: Devices,
    block: Vec<u8>,
    at: usize,
    left: u32,
    before: Before,
    entries: u64,
    injected: u64,
    /// The first faults that the caller has not taken.
    met: VecDeque<Injected>,
    note: Option<Problem>,
    is_over: bool,
}

fn layout(record: u64, what: &'static str) -> TraceError {
    TraceError::Record { record, fault: Fault::Layout(what) }
}

fn of_header(what: &'static str) -> TraceError {
    TraceError::Header { fault: Fault::Layout(what) }
}

const SHORT: &str = "the file ends within its header";

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub fn new(mut source: R) -> Result<Self, TraceError> {
        let mut head = [0; 14];
        if read_full(&mut source, &mut head)? < head.len() {
            return Err(of_header(SHORT));
        }
        if head[..8] != MAGIC {
            return Err(of_header("it does not begin as a trace of drivelab does"));
        }
        if u16::from_le_bytes([head[8], head[9]]) != VERSION {
            return Err(of_header("it was written by a newer drivelab: this one reads version 1"));
        }
        let length = u32::from_le_bytes([head[10], head[11], head[12], head[13]]) as usize;
        if length > HEADER_BYTES_MAX {
            return Err(of_header("a header of more than 1 MiB"));
        }
        let mut body = vec![0; length + 4];
        if read_full(&mut source, &mut body)? < body.len() {
            return Err(of_header(SHORT));
        }
        let (body, sum) = body.split_at(length);
        if checksum(body).to_le_bytes() != *sum {
            return Err(of_header("the checksum of the header is wrong"));
        }
        let header = header(&mut Cursor(body)).map_err(|fault| TraceError::Header { fault })?;
        let (devices, block, before) = (Devices::default(), Vec::new(), Before::default());
        Ok(Reader {
            source,
            header,
            devices,
            block,
            at: 0,
            left: 0,
            before,
            entries: 0,
            injected: 0,
            met: VecDeque::new(),
            note: None,
            is_over: false,
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the next block; false at the end.
    fn read_block(&mut self) -> Result<bool, TraceError> {
        let record = self.entries + 1;
        let mut head = [0; 12];
        if read_full(&mut self.source, &mut head)? < head.len() {
            self.note = Some(Problem::Truncated);
            return Ok(false);
        }
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, entries, sum) = (word(0) as usize, word(4), word(8));
        if length == 0 {
            if entries != 0 {
                return Err(layout(record, "a block of no bytes"));
            }
            let mut tail = [0; 8];
            if read_full(&mut self.source, &mut tail)? < tail.len() {
                self.note = Some(Problem::Truncated);
                return Ok(false);
            }
            let total = [&head[8..], &tail[..4]].concat();
            if checksum(&total).to_le_bytes() != tail[4..] {
                return Err(layout(record, "the checksum at the end is wrong"));
            }
            if total != self.entries.to_le_bytes() {
                return Err(layout(record, "entries are missing"));
            }
            return Ok(false);
        }
        if length > BLOCK_BYTES_MAX || entries as usize > BLOCK_ENTRIES_MAX {
            return Err(layout(record, "a block of more than 1 MiB or 65536 entries"));
        }
        self.block.resize(length, 0);
        if read_full(&mut self.source, &mut self.block)? < length {
            self.note = Some(Problem::Truncated);
            return Ok(false);
        }
        if checksum(&self.block) != sum {
            return Err(layout(record, "the checksum of its block is wrong"));
        }
        (self.at, self.left, self.before) = (0, entries, Before::default());
        Ok(true)
    }

    /// The next entry, with times in nanoseconds.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, TraceError> {
        while self.left == 0 {
            if self.at < self.block.len() && !self.is_over {
                return Err(layout(self.entries, "a block goes on behind its last entry"));
            }
            if self.is_over || !self.read_block()? {
                self.is_over = true;
                return Ok(None);
            }
        }
        self.entries += 1;
        self.left -= 1;
        let record = self.entries;
        let mut cursor = Cursor(&self.block[self.at..]);
        let entry = self.before.take(&mut cursor);
        self.at = self.block.len() - cursor.0.len();
        let unit = self.header.unit_ns;
        let entry = entry.and_then(|entry| {
            let ns = |time: u64| time.checked_mul(unit).ok_or(Fault::Time);
            Ok(match entry {
                Entry::Device(name) => {
                    // A repeated name would shift the indexes of all later devices.
                    let count = self.devices.len();
                    if self.devices.place(name.as_bytes())? as usize != count {
                        return Err(Fault::Layout("a device comes twice"));
                    }
                    Entry::Device(name)
                }
                Entry::Injected(mut injected) => {
                    injected.time_ns = ns(injected.time_ns)?;
                    Entry::Injected(injected)
                }
                Entry::Request(mut request) => {
                    if request.device as usize >= self.devices.len() {
                        return Err(Fault::Layout("a request of a device that was not named"));
                    }
                    request.offset.checked_add(request.length).ok_or(Fault::Extent)?;
                    request.time_ns = ns(request.time_ns)?;
                    request.response_ns = request.response_ns.map(ns).transpose()?;
                    Entry::Request(request)
                }
            })
        });
        entry.map(Some).map_err(|fault| TraceError::Record { record, fault })
    }
}

fn header(from: &mut Cursor<'_>) -> Result<Header, Fault> {
    let unit_ns = from.number()?;
    if unit_ns == 0 {
        return Err(Fault::Layout("a unit of time of no length"));
    }
    let clock = match from.byte()? {
        0 => Clock::Relative,
        1 => Clock::Unix,
        2 => Clock::Filetime,
        _ => return Err(Fault::Layout("a clock of no known kind")),
    };
    let follows = from.byte()?;
    let seed = if follows & 1 != 0 { Some(from.long()?) } else { None };
    let device_bytes = if follows & 2 != 0 { Some(from.long()?) } else { None };
    let count: usize = from.small()?;
    if count > PHASES_MAX {
        return Err(Fault::Layout("more than 65536 phases"));
    }
    let phases = (0..count).map(|_| Ok((from.small()?, from.number()?))).collect::<Result<_, Fault>>()?;
    let remark = from.text()?.to_owned();
    if !from.is_empty() {
        return Err(Fault::Layout("the header goes on behind its end"));
    }
    Ok(Header { unit_ns, clock, seed, device_bytes, phases, remark })
}

impl<R: Read + Send> Records for Reader<R> {
    fn next(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        while let Some(entry) = self.next_entry()? {
            match entry {
                Entry::Request(record) => return Ok(Some((Place::Record(self.entries), record))),
                Entry::Injected(injected) => {
                    self.injected += 1;
                    if self.met.len() < MET_MAX {
                        self.met.push_back(injected);
                    }
                }
                Entry::Device(_) => {}
            }
        }
        Ok(None)
    }

    fn take_injected(&mut self) -> Option<Injected> {
        self.met.pop_front()
    }

    fn note(&mut self) -> Option<Problem> {
        if self.is_over { self.note.take() } else { None }
    }

    fn records(&self) -> u64 {
        self.entries - self.devices.len() as u64
    }

    fn devices(&self) -> &Devices {
        &self.devices
    }

    fn clock(&self) -> Clock {
        self.header.clock
    }

    fn device_bytes(&self) -> Option<u64> {
        self.header.device_bytes
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }

    fn injected(&self) -> u64 {
        self.injected
    }
}
