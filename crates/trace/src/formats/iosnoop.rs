//! Output of iosnoop of perf-tools: `[STARTs] [ENDs] COMM PID TYPE DEV BLOCK BYTES LATms`, separated by blanks.
//!
//! STARTs (`-s`) and ENDs (`-t`) are seconds since the start of the machine; the title line says which of them there are.
//! Without both, no request has a time. BLOCK is in sectors, TYPE has the kernel's flags. COMM may have blanks in it, so
//! fields are counted from the end. (iosnoop of perf-tools.)
use super::blkparse::{is_fua, kind_of};
use super::lined::{Context, Line};
use crate::lines::Fault;
use crate::record::{Attributes, Kind, Record};
use crate::text::{fault, from_end, sectors, time, whole, words};

const MS: u64 = 1_000_000;
const UNTIMED: &str = "iosnoop prints no times without -s and -t, so when these requests began is unknown: record again \
                       with iosnoop -ts";

/// Parser.
#[derive(Default)]
pub struct Iosnoop {
    /// Whether the lines have a time of start and a time of end.
    times: Option<(bool, bool)>,
}

impl Iosnoop {
    /// Reads a title, or a line around the requests; whether it was one.
    fn title(&mut self, line: &[u8]) -> Result<bool, Fault> {
        let ([first, second], _) = words::<2>(line);
        let times = match (first, second) {
            (b"STARTs", b"ENDs") => (true, true),
            (b"STARTs", b"COMM") => (true, false),
            (b"ENDs", b"COMM") => (false, true),
            (b"COMM", b"PID") if line.ends_with(b"LATms") => return Err(Fault::Lacks(UNTIMED)),
            (b"Tracing", b"block") | (b"Ending", b"tracing...") | (b"^C", b"") => return Ok(true),
            _ => return Ok(false),
        };
        self.times = Some(times);
        Ok(true)
    }
}

/// A time since the start of the machine.
fn seconds(text: &[u8], context: &Context) -> Result<u64, Fault> {
    match time(text, context.unit_ns, "a time in seconds")? {
        (false, ns) => Ok(ns),
        (true, _) => Err(fault(text, "a time in seconds")),
    }
}

impl Line for Iosnoop {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        if self.title(line.trim_ascii())? {
            context.is_title = true;
            return Ok(None);
        }
        let Some((has_start, has_end)) = self.times else {
            return Err(Fault::Layout("the title line, which says what the columns are, is missing"));
        };
        let ([latency, bytes, block, disk, flags, process], count) = from_end::<6>(line);
        let wanted = 7 + usize::from(has_start) + usize::from(has_end);
        if count < wanted {
            return Err(Fault::Fields { found: count, wanted });
        }
        let length = whole(bytes, "a size in bytes")?;
        let process = whole(process, "the number of a process")?;
        let (negative, latency_ns) = time(latency, MS, "a latency in milliseconds")?;
        if negative {
            return Err(fault(latency, "a latency in milliseconds"));
        }
        let ([first, second], _) = words::<2>(line);
        let (time_ns, response_ns) = if has_start {
            let start = seconds(first, context)?;
            // The latency has two decimals, the times have six.
            let response =
                if has_end { seconds(second, context)?.checked_sub(start) } else { Some(latency_ns) };
            (start, response)
        } else {
            let end = seconds(first, context)?;
            let before = Fault::Layout("the request began before the clock of the trace");
            (end.checked_sub(latency_ns).ok_or(before)?, Some(latency_ns))
        };
        let Some(kind) = kind_of(flags, length > 0) else { return Ok(None) };
        let offset = if kind == Kind::Flush { 0 } else { sectors(whole(block, "an address in sectors")?)? };
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(disk)?;
        let attributes = Attributes {
            process: process.try_into().unwrap_or(u32::MAX),
            synchronous: kind == Kind::Read || flags.contains(&b'S'),
            force_unit_access: is_fua(flags),
            ..Attributes::DEFAULT
        };
        Ok(Some(Record { response_ns, attributes, ..Record::new(time_ns, device, kind, offset, length) }))
    }
}
