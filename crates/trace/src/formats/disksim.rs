//! DiskSim's default ASCII format: `time device block blocks flags`, separated by blanks.
//!
//! The time is in milliseconds from the start with decimals, a block has 512 bytes, bit 0 of the flags says that the request
//! is a read. (J. S. Bucy and others, "The DiskSim simulation environment version 4.0 reference manual", CMU-PDL-08-101,
//! section 4.4.) Some programs write 0 for a read, so the reader is asked for it.
use super::lined::{Context, Line};
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{exact_words, sectors, time, whole};
use crate::writer::{FormatWriter, RequestContext, Timeline};
use std::io::{self, Write};

/// Parser.
pub struct Disksim;

impl Line for Disksim {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [at, device, block, blocks, flags] = exact_words(line)?;
        let (negative, time_ns) = time(at, context.unit_ns, "a time in milliseconds")?;
        if negative {
            return Err(crate::text::fault(at, "a time in milliseconds"));
        }
        whole(device, "the number of a device")?;
        let offset = sectors(whole(block, "an address in blocks")?)?;
        let length = sectors(whole(blocks, "a number of blocks")?)?;
        let flags = whole(flags, "flags as a whole number")?;
        let read = u64::from(context.read_flag.unwrap_or(1));
        let kind = if flags & 1 == read { Kind::Read } else { Kind::Write };
        let device = context.devices.place(device)?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        Ok(Some(Record::new(time_ns, device, kind, offset, length)))
    }
}

/// Writer: times since the first request to the nanosecond, the device's index as its number.
#[derive(Default)]
pub struct DisksimWriter {
    timeline: Timeline,
}

impl<W: Write> FormatWriter<W> for DisksimWriter {
    fn write(
        &mut self,
        out: &mut W,
        record: &Record,
        context: &RequestContext<'_>,
    ) -> Result<(), TraceError> {
        let flag = match record.kind {
            Kind::Read => 1,
            Kind::Write => 0,
            Kind::Flush | Kind::Discard => return Err(context.unwritable("DiskSim's format", record.kind)),
        };
        let time = self.timeline.since_first(record.time_ns);
        let (first, count) = record.sectors();
        let (ms, rest) = (time / 1_000_000, time % 1_000_000);
        writeln!(out, "{ms}.{rest:06} {} {first} {count} {flag}", record.device)?;
        Ok(())
    }

    fn finish(&mut self, _out: &mut W, _place: Place) -> io::Result<()> {
        Ok(())
    }
}
