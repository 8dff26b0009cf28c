//! SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size`, times in seconds since 1970 with nine decimals, bytes.
//!
//! The lines are in the order of completion, so the timestamps, which are those of issue, go back. (C. Lee and
//! others, "Understanding storage traffic characteristics on enterprise virtual desktop infrastructure", SYSTOR 2017;
//! README at SNIA.)
use super::lined::{Context, Line, letter};
use crate::check::Problem;
use crate::lines::Fault;
use crate::record::Record;
use crate::text::{fault, split, time, whole};

/// Parser.
pub struct Systor;

impl Line for Systor {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [at, response, kind, unit, offset, size] = split(line, b',')?;
        if context.line == 1 && at.eq_ignore_ascii_case(b"Timestamp") {
            context.is_title = true;
            return Ok(None);
        }
        let (negative, time_ns) = time(at, context.unit_ns, "a time in seconds")?;
        if negative {
            return Err(fault(at, "a time in seconds"));
        }
        // Some requests have no response.
        let response_ns = if response.is_empty() {
            None
        } else {
            let (negative, response) = time(response, context.unit_ns, "a response time in seconds")?;
            if negative {
                context.note = Some(Problem::NegativeGap);
            }
            (!negative).then_some(response)
        };
        let kind = letter(kind)?;
        let offset = whole(offset, "an offset in bytes")?;
        let length = whole(size, "a size in bytes")?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(unit)?;
        Ok(Some(Record { response_ns, ..Record::new(time_ns, device, kind, offset, length) }))
    }
}
