//! MSR Cambridge: `timestamp,host,disk,type,offset,size,response`, times in 100 ns as Windows counts them from 1601.
//!
//! Offset and size are in bytes, the type is Read or Write. (D. Narayanan, A. Donnelly, A. Rowstron, "Write off-loading:
//! practical power management for enterprise storage", FAST 2008; the README of the traces at SNIA.)
use super::lined::{Context, Line};
use crate::check::Problem;
use crate::devices::NAME_BYTES_MAX;
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::record::{Clock, FILETIME_UNIX_NS, Kind, Record};
use crate::text::{fault, split, time, whole};
use crate::writer::{FormatWriter, RequestContext};
use std::io::{self, Write};

/// Parser.
#[derive(Default)]
pub struct Msr {
    device: Vec<u8>,
}

impl Line for Msr {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [at, host, disk, kind, offset, size, response] = split(line, b',')?;
        if context.line == 1 && at.eq_ignore_ascii_case(b"Timestamp") {
            context.is_title = true;
            return Ok(None);
        }
        let (negative, time_ns) = time(at, context.unit_ns, "a time in units of 100 ns")?;
        if negative {
            return Err(fault(at, "a time in units of 100 ns"));
        }
        let kind = match kind {
            b"Read" => Kind::Read,
            b"Write" => Kind::Write,
            _ => return Err(fault(kind, "Read or Write")),
        };
        let offset = whole(offset, "an offset in bytes")?;
        let length = whole(size, "a size in bytes")?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let (negative, response) = time(response, context.unit_ns, "a response time in units of 100 ns")?;
        if negative {
            context.note = Some(Problem::NegativeGap);
        }
        self.device.clear();
        self.device.extend_from_slice(host);
        self.device.push(b'.');
        self.device.extend_from_slice(disk);
        let device = context.devices.place(&self.device)?;
        let response_ns = (!negative).then_some(response);
        Ok(Some(Record { response_ns, ..Record::new(time_ns, device, kind, offset, length) }))
    }
}

/// The date from which times without a date are written: 1 January 2000.
const EPOCH_NS: u64 = 946_684_800_000_000_000 + FILETIME_UNIX_NS;

/// Writer: times rounded down to 100 ns; an unknown response time is written as 0.
pub struct MsrWriter;

impl<W: Write> FormatWriter<W> for MsrWriter {
    fn write(
        &mut self,
        out: &mut W,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> Result<(), TraceError> {
        let kind = match record.kind {
            Kind::Read => "Read",
            Kind::Write => "Write",
            Kind::Flush | Kind::Discard => return Err(context.unwritable("the MSR format", record.kind)),
        };
        let ticks = date_ns(record.time_ns, context)? / 100;
        let (host, disk) = context.device.rsplit_once('.').unwrap_or((context.device, "0"));
        let (host, disk) = (plain(host), plain(disk));
        // Readers join both into one name with a dot.
        if host.len() + 1 + disk.len() > NAME_BYTES_MAX {
            let what = format!(
                "the device's name, of {} bytes, is too long for the MSR format",
                context.device.len()
            );
            return Err(TraceError::Unwritable { place: context.place, what });
        }
        let response = record.response_ns.unwrap_or(0) / 100;
        writeln!(out, "{ticks},{host},{disk},{kind},{},{},{response}", record.offset, record.length)?;
        Ok(())
    }

    fn finish(&mut self, _out: &mut W, _place: Place) -> io::Result<()> {
        Ok(())
    }
}

/// The time since 1601. A date of the trace is kept, however unusual; an invented date is one that readers accept.
fn date_ns(time_ns: u64, context: &RequestContext<'_>) -> Result<u64, TraceError> {
    let (base, last) = match context.clock {
        Clock::Filetime => (0, u64::MAX),
        Clock::Unix => (FILETIME_UNIX_NS, u64::MAX),
        Clock::Relative => (EPOCH_NS, Clock::Filetime.plausible_ns().map_or(u64::MAX, |(_, last)| last)),
    };
    let date = time_ns.checked_add(base).filter(|date| *date <= last);
    date.ok_or_else(|| {
        let days = time_ns / 86_400_000_000_000;
        let what =
            format!("the MSR format has no date for a time {days} days from the start of the trace's clock");
        TraceError::Unwritable { place: context.place, what }
    })
}

/// A name that is a single field of a CSV line.
fn plain(name: &str) -> String {
    name.replace([',', '\n', '\r', '"'], "_")
}
