//! MQSim: `time device first sectors type`, separated by blanks; the time in nanoseconds, 1 a read and 0 a write.
//!
//! (A. Tavakkol and others, "MQSim: a framework for enabling realistic studies of modern multi-queue SSD devices", FAST 2018,
//! and the README of its sources.) The unit of time is set apart from the trace there, and some traces have 0 for a read.
use super::lined::{Context, Line};
use crate::lines::Fault;
use crate::record::Record;
use crate::text::{exact_words, sectors, time, whole};

/// Parser.
pub struct Mqsim;

impl Line for Mqsim {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [at, device, first, count, flag] = exact_words(line)?;
        let (negative, time_ns) = time(at, context.unit_ns, "a time in nanoseconds")?;
        if negative {
            return Err(crate::text::fault(at, "a time in nanoseconds"));
        }
        whole(device, "the number of a device")?;
        let offset = sectors(whole(first, "an address in sectors")?)?;
        let length = sectors(whole(count, "a number of sectors")?)?;
        let kind = context.flag(flag, 1)?;
        let device = context.devices.place(device)?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        Ok(Some(Record::new(time_ns, device, kind, offset, length)))
    }
}
