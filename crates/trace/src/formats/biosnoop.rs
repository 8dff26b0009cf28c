//! Output of biosnoop of bcc: `TIME(s) COMM PID DISK T SECTOR BYTES [P] [QUE(ms)] LAT(ms)`, separated by blanks.
//!
//! A line is printed when a request completes: TIME is that of the completion since the first line, LAT the time since
//! the issue to the driver, QUE (`-Q`) the time before that in the queue of the kernel. With QUE, a request begins when
//! it is queued. COMM may have blanks in it, so fields are counted from the end. The tool in Python prints R for all that
//! is no write, discards and flushes too; the one of libbpf prints the kernel's flags. (tools/biosnoop.py and
//! libbpf-tools/biosnoop.c of bcc.)
//!
//! biosnoop.bt of bpftrace has neither the address, the size nor the direction of a request, so it is no trace.
use super::blkparse::kind_of;
use super::completed::{REMARK, begun};
use super::lined::{Context, Line};
use crate::lines::Fault;
use crate::record::{Attributes, Kind, Record};
use crate::text::{fault, from_end, sectors, time, whole};

const MS: u64 = 1_000_000;
/// The most columns from PID on.
const COLUMNS: usize = 9;
const BPFTRACE: &str = "biosnoop.bt of bpftrace prints neither the address, the size nor the direction of a request: \
                        record with biosnoop of bcc, which does, or with blktrace";

/// Parser.
pub struct Biosnoop;

/// Whether this is a title or a line around the requests.
fn is_title(line: &[u8], context: &Context) -> bool {
    line.starts_with(b"TIME(s)") || (context.line <= 2 && line.starts_with(b"Tracing "))
}

/// A latency in milliseconds; `None` if the tool does not know it.
fn latency(text: &[u8]) -> Result<Option<u64>, Fault> {
    let (negative, ns) = time(text, MS, "a latency in milliseconds")?;
    Ok((!negative).then_some(ns))
}

impl Line for Biosnoop {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        if is_title(line, context) {
            context.is_title = true;
            return Ok(None);
        }
        if line.starts_with(b"TIME(ms)") {
            return Err(Fault::Lacks(BPFTRACE));
        }
        let (fields, count) = from_end::<COLUMNS>(line);
        // Behind BYTES, an integer, a letter for the pattern and a queueing time with decimals are optional.
        let has_queue = fields[1].contains(&b'.');
        let mut at = 1 + usize::from(has_queue);
        at += usize::from(matches!(fields[at], b"S" | b"R" | b"?"));
        if count < at + 7 {
            return Err(Fault::Fields { found: count, wanted: 8 });
        }
        let [bytes, sector, flags, disk, process] = [0, 1, 2, 3, 4].map(|field| fields[at + field]);
        let length = whole(bytes, "a size in bytes")?;
        whole(process, "the number of a process")?;
        let Some(latency_ns) = latency(fields[0])? else {
            return Err(fault(fields[0], "a latency in milliseconds"));
        };
        let queue_ns = if has_queue { latency(fields[1])? } else { None };
        let response_ns = latency_ns.checked_add(queue_ns.unwrap_or(0)).ok_or(Fault::Time)?;
        let first = line.trim_ascii_start().split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or(line);
        let (negative, completed_ns) = time(first, context.unit_ns, "a time in seconds")?;
        if negative {
            return Err(fault(first, "a time in seconds"));
        }
        if flags.is_empty() || !flags.iter().all(u8::is_ascii_uppercase) {
            return Err(fault(flags, "R, W or the kernel's flags of a request"));
        }
        let Some(kind) = kind_of(flags, length > 0) else { return Ok(None) };
        let offset = if kind == Kind::Flush { 0 } else { sectors(whole(sector, "an address in sectors")?)? };
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let time_ns = begun(completed_ns, response_ns)?;
        let device = context.devices.place(disk)?;
        let process = whole(process, "")?.try_into().unwrap_or(u32::MAX);
        let mut record = Record::new(time_ns, device, kind, offset, length);
        record.response_ns = Some(response_ns);
        record.attributes = Attributes { process, ..Attributes::DEFAULT };
        Ok(Some(record))
    }

    fn remark(&self) -> Option<&'static str> {
        Some(REMARK)
    }
}
