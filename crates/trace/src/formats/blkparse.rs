//! The default output of blkparse: `major,minor cpu sequence seconds process action flags sector + sectors [name]`.
//!
//! One event per line. Actions other than Q, D and C, messages, the names of its input at the beginning and the
//! summary at the end (with `-s` that of the processes first) are not requests. The flags hold D for a discard, W for
//! a write, R for a read or N for none, F in front of them for a flush and behind them for FUA, S for synchronous.
//! (blkparse(1), "Default format"; blkparse_fmt.c of blktrace.)
use super::event_text::{EventLine, Parsed};
use super::events::{Action, Event};
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{fault, sectors, time, whole, words};
use crate::writer::{FormatWriter, RequestContext, Timeline};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

/// Parses lines into events.
pub struct Parser {
    pub devices: Devices,
    pub unit_ns: u64,
}

/// The titles of the summary.
const SUMMARY: [&[u8]; 5] = [b"CPU", b"Total", b"Throughput", b"Events", b"Skips"];

/// Whether this is a Linux device number, as in `8,0`.
pub(super) fn is_device(text: &[u8]) -> bool {
    let mut numbers = text.split(|&byte| byte == b',');
    let is_number = |text: Option<&[u8]>| text.is_some_and(|text| whole(text, "").is_ok());
    is_number(numbers.next()) && is_number(numbers.next()) && numbers.next().is_none()
}

/// Whether the summary of a process begins here: its name and number, as in `fio (4711)`.
fn is_process(line: &[u8]) -> bool {
    let number = line.trim_ascii_end().strip_suffix(b")").and_then(|line| {
        let begin = line.iter().rposition(|&byte| byte == b'(')?;
        (begin > 0 && line[begin - 1] == b' ').then(|| &line[begin + 1..])
    });
    number.is_some_and(|number| whole(number, "").is_ok())
}

impl EventLine for Parser {
    fn line(&mut self, line: &[u8]) -> Result<Parsed, Fault> {
        if SUMMARY.iter().any(|title| line.starts_with(title)) {
            return Ok(Parsed::Summary);
        }
        if line.starts_with(b"Input file ") {
            return Ok(Parsed::Title);
        }
        let (fields, count) = words::<10>(line);
        let [device, cpu, sequence, at, process, action, flags, sector, plus, length] = fields;
        let is_of_device = is_device(device);
        if !is_of_device && is_process(line) {
            return Ok(Parsed::Summary);
        }
        if count < 6 {
            return Err(Fault::Fields { found: count, wanted: 7 });
        }
        if !is_of_device {
            return Err(fault(device, "a device as major,minor"));
        }
        whole(cpu, "the number of a processor")?;
        whole(sequence, "a sequence number")?;
        let (negative, time_ns) = time(at, self.unit_ns, "a time in seconds")?;
        if negative {
            return Err(fault(at, "a time in seconds"));
        }
        let process = whole(process, "the number of a process")?;
        let action = match action {
            b"Q" => Action::Queue,
            b"D" => Action::Issue,
            b"C" => Action::Complete,
            _ => return Ok(Parsed::Other),
        };
        let has_addresses = plus == b"+";
        let Some(kind) = kind_of(flags, has_addresses) else { return Ok(Parsed::Other) };
        let (mut offset, mut bytes) = (0, 0);
        if kind != Kind::Flush {
            if !has_addresses || count < 10 {
                return Err(fault(sector, "an address as sector + sectors"));
            }
            offset = sectors(whole(sector, "an address in sectors")?)?;
            bytes = sectors(whole(length, "a number of sectors")?)?;
            offset.checked_add(bytes).ok_or(Fault::Extent)?;
        }
        Ok(Parsed::Event(Event {
            time_ns,
            device: self.devices.place(device)?,
            action,
            kind,
            offset,
            length: bytes,
            process: u32::try_from(process).unwrap_or(u32::MAX),
            synchronous: kind == Kind::Read || flags.contains(&b'S'),
            force_unit_access: is_fua(flags),
        }))
    }

    fn devices(&self) -> &Devices {
        &self.devices
    }
}

/// The kind of a request by its flags; `None` for a command that transfers no data of the media.
pub(super) fn kind_of(flags: &[u8], has_addresses: bool) -> Option<Kind> {
    if flags.contains(&b'D') {
        Some(Kind::Discard)
    } else if !has_addresses {
        flags.contains(&b'F').then_some(Kind::Flush)
    } else if flags.contains(&b'W') {
        Some(Kind::Write)
    } else if flags.contains(&b'R') {
        Some(Kind::Read)
    } else {
        None
    }
}

/// FUA: an F after the W.
pub(super) fn is_fua(flags: &[u8]) -> bool {
    flags.iter().position(|&byte| byte == b'W').is_some_and(|at| flags[at..].contains(&b'F'))
}

/// The most completions that may be outstanding while a trace is written.
const OUTSTANDING_MAX: usize = 1 << 20;

/// Writer: a Q for each request, and a C if its response time is known, in order of time.
#[derive(Default)]
pub struct BlkparseWriter {
    timeline: Timeline,
    sequence: u64,
    outstanding: BinaryHeap<Reverse<Completion>>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Completion {
    time: u64,
    sequence: u64,
    device: String,
    flags: String,
    sectors: Option<(u64, u64)>,
}

impl BlkparseWriter {
    fn event(&mut self, out: &mut impl Write, action: char, process: u32, of: &Completion) -> io::Result<()> {
        self.sequence += 1;
        let (s, ns) = (of.time / 1_000_000_000, of.time % 1_000_000_000);
        let (device, sequence, flags) = (&of.device, self.sequence, &of.flags);
        write!(out, "{device:>7} {:2} {sequence:8} {s:5}.{ns:09} {process:5} {action:>2} {flags:>3} ", 0)?;
        if let Some((first, count)) = of.sectors {
            write!(out, "{first} + {count} ")?;
        }
        writeln!(out, "{}", if action == 'Q' { "[drivelab]" } else { "[0]" })
    }

    /// Writes the completions up to an instant.
    fn complete(&mut self, out: &mut impl Write, until: u64) -> io::Result<()> {
        while self.outstanding.peek().is_some_and(|Reverse(first)| first.time <= until) {
            if let Some(Reverse(first)) = self.outstanding.pop() {
                self.event(out, 'C', 0, &first)?;
            }
        }
        Ok(())
    }
}

/// The flags in the notation of blkparse.
fn flags_of(record: &Record) -> String {
    let mut flags = String::from(match record.kind {
        Kind::Read => "R",
        Kind::Write => "W",
        Kind::Flush => "FN",
        Kind::Discard => "D",
    });
    if record.attributes.force_unit_access && record.kind == Kind::Write {
        flags.push('F');
    }
    if record.attributes.synchronous && record.kind != Kind::Read {
        flags.push('S');
    }
    flags
}

impl<W: Write> FormatWriter<W> for BlkparseWriter {
    fn write(
        &mut self,
        out: &mut W,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> Result<(), TraceError> {
        let time = self.timeline.since_first(record.time_ns);
        self.complete(out, time)?;
        let name = context.device;
        let is_device =
            name.split(',').count() == 2 && name.split(',').all(|part| part.parse::<u32>().is_ok());
        // A device without a device number gets that of a SCSI disk, sixteen minors apart.
        let device = if is_device { name.to_owned() } else { format!("8,{}", 16 * u64::from(record.device)) };
        let sectors = (record.kind != Kind::Flush).then(|| record.sectors());
        let event = Completion { time, sequence: self.sequence, device, flags: flags_of(record), sectors };
        self.event(out, 'Q', record.attributes.process, &event)?;
        if let Some(response) = record.response_ns {
            if self.outstanding.len() >= OUTSTANDING_MAX {
                let what = format!("more than {OUTSTANDING_MAX} requests are outstanding");
                return Err(TraceError::Unwritable { place: context.place, what });
            }
            let time = time.saturating_add(response);
            self.outstanding.push(Reverse(Completion { time, sequence: self.sequence, ..event }));
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut W, _place: Place) -> io::Result<()> {
        self.complete(out, u64::MAX)
    }
}
