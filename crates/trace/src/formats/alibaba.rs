//! Alibaba block traces of 2020: `device_id,opcode,offset,length,timestamp`, bytes and microseconds since 1970.
//!
//! (J. Li and others, "An in-depth analysis of cloud block storage workloads in large-scale production", IISWC 2020; the
//! README of alibaba/block-traces.)
use super::lined::{Context, Line, letter};
use crate::lines::Fault;
use crate::record::Record;
use crate::text::{fault, split, time, whole};

/// Parser.
pub struct Alibaba;

impl Line for Alibaba {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [device, kind, offset, length, at] = split(line, b',')?;
        if context.line == 1 && device.eq_ignore_ascii_case(b"device_id") {
            context.is_title = true;
            return Ok(None);
        }
        whole(device, "the number of a device")?;
        let kind = letter(kind)?;
        let offset = whole(offset, "an offset in bytes")?;
        let length = whole(length, "a length in bytes")?;
        let (negative, time_ns) = time(at, context.unit_ns, "a time in microseconds")?;
        if negative {
            return Err(fault(at, "a time in microseconds"));
        }
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(device)?;
        Ok(Some(Record::new(time_ns, device, kind, offset, length)))
    }
}
