//! CloudPhysics' traces as CSV: `version,time,op,size,lbn`, seconds, the SCSI opcode in hex, bytes, sectors of 512 bytes.
//!
//! (C. Waldspurger and others, "Efficient MRC construction with SHARDS", FAST 2015; `data/trace.csv` of libCacheSim.)
use super::lined::{Context, Line};
use super::vscsi::kind_of;
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{fault, sectors, split, time, whole};

/// Parser.
pub struct VscsiCsv;

impl Line for VscsiCsv {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [version, at, opcode, size, block] = split(line, b',')?;
        if context.line == 1 && version.eq_ignore_ascii_case(b"version") {
            context.is_title = true;
            return Ok(None);
        }
        if !matches!(version, b"1" | b"2") {
            return Err(fault(version, "version 1 or 2"));
        }
        let (negative, time_ns) = time(at, context.unit_ns, "a time in seconds")?;
        if negative {
            return Err(fault(at, "a time in seconds"));
        }
        let code = std::str::from_utf8(opcode).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        let Some(code) = code.filter(|_| opcode.len() == 2) else {
            return Err(fault(opcode, "a SCSI opcode of two hex digits"));
        };
        let length = whole(size, "a size in bytes")?;
        let offset = sectors(whole(block, "an address in sectors")?)?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(b"0")?;
        Ok(kind_of(code).map(|kind| match kind {
            Kind::Flush => Record::new(time_ns, device, kind, 0, 0),
            _ => Record::new(time_ns, device, kind, offset, length),
        }))
    }
}
