//! SPC: `ASU,LBA,Size,Opcode,Timestamp`, as the traces of UMass have it; blocks of 512 bytes, bytes, seconds from the start.
//!
//! The opcode is r or w in either case; further fields are optional and mean nothing here. (Storage Performance Council,
//! "SPC trace file format specification", revision 1.0.1.)
use super::lined::{Context, Line, letter};
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{fault, sectors, split, time, whole};
use crate::writer::{FormatWriter, RequestContext, Timeline};
use std::io::{self, Write};

/// Parser.
pub struct Spc;

impl Line for Spc {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let mut commas = line.iter().enumerate().filter(|(_, byte)| **byte == b',');
        // Fields after the fifth are optional.
        let line = commas.nth(4).map_or(line, |(at, _)| &line[..at]);
        let [unit, block, size, kind, at] = split(line, b',')?.map(<[u8]>::trim_ascii);
        whole(unit, "the number of a storage unit")?;
        let offset = sectors(whole(block, "an address in blocks")?)?;
        let length = whole(size, "a size in bytes")?;
        let kind = letter(kind)?;
        let (negative, time_ns) = time(at, context.unit_ns, "a time in seconds")?;
        if negative {
            return Err(fault(at, "a time in seconds"));
        }
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(unit)?;
        Ok(Some(Record::new(time_ns, device, kind, offset, length)))
    }
}

/// Writer: times since the first request to the nanosecond, the device's index as its storage unit.
#[derive(Default)]
pub struct SpcWriter {
    timeline: Timeline,
}

impl<W: Write> FormatWriter<W> for SpcWriter {
    fn write(
        &mut self,
        out: &mut W,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> Result<(), TraceError> {
        let kind = match record.kind {
            Kind::Read => 'R',
            Kind::Write => 'W',
            Kind::Flush | Kind::Discard => return Err(context.unwritable("the SPC format", record.kind)),
        };
        let time = self.timeline.since_first(record.time_ns);
        let (first, count) = record.sectors();
        // Addresses are in blocks, so the size of a request that begins within a block changes.
        let size = if record.offset.is_multiple_of(512) { record.length } else { 512 * count };
        let (s, ns) = (time / 1_000_000_000, time % 1_000_000_000);
        writeln!(out, "{},{first},{size},{kind},{s}.{ns:09}", record.device)?;
        Ok(())
    }

    fn finish(&mut self, _out: &mut W, _place: Place) -> io::Result<()> {
        Ok(())
    }
}
