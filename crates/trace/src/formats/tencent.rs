//! Tencent block storage traces of 2018: `Timestamp,Offset,Size,IOType,VolumeID`, seconds since 1970, sectors of 512 bytes.
//!
//! 0 is a read and 1 a write, the other way round than in DiskSim and MQSim. (Y. Zhang and others, "OSCA: an online-model
//! based cache allocation scheme in cloud block storage systems", ATC 2020; the README of the traces at SNIA.)
use super::lined::{Context, Line};
use crate::lines::Fault;
use crate::record::Record;
use crate::text::{fault, sectors, split, time, whole};

/// Parser.
pub struct Tencent;

impl Line for Tencent {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [at, first, count, flag, volume] = split(line, b',')?;
        if context.line == 1 && at.eq_ignore_ascii_case(b"Timestamp") {
            context.is_title = true;
            return Ok(None);
        }
        let (negative, time_ns) = time(at, context.unit_ns, "a time in seconds")?;
        if negative {
            return Err(fault(at, "a time in seconds"));
        }
        let offset = sectors(whole(first, "an offset in sectors")?)?;
        let length = sectors(whole(count, "a size in sectors")?)?;
        let kind = context.flag(flag, 0)?;
        whole(volume, "the number of a volume")?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let device = context.devices.place(volume)?;
        Ok(Some(Record::new(time_ns, device, kind, offset, length)))
    }
}
