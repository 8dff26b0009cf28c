//! DiskSim's validation traces as a stream of requests; the lines are those of [`crate::validation`].
//!
//! A request arrives the recorded gap after the completion of the previous one, so its time is the sum of all earlier
//! service times and gaps, and its service time is its response time.
use super::lined::{Context, Line};
use crate::check::Problem;
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{exact_words, fault, sectors, time, whole};

const TAGS: [&[u8]; 4] = [b"Hit", b"Miss", b"Doub", b"Trip"];

/// Parser, with the time of the next request.
#[derive(Default)]
pub struct DisksimValidate {
    next_ns: u64,
}

impl Line for DisksimValidate {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let [kind, tag, first, count, service, gap] = exact_words(line)?;
        let kind = match kind {
            b"R" => Kind::Read,
            b"W" => Kind::Write,
            _ => return Err(fault(kind, "R or W")),
        };
        if !TAGS.contains(&tag) {
            return Err(fault(tag, "Hit, Miss, Doub or Trip"));
        }
        let offset = sectors(whole(first, "an address in sectors")?)?;
        let length = sectors(whole(count, "a number of sectors")?)?;
        offset.checked_add(length).ok_or(Fault::Extent)?;
        let (service_before, service) = time(service, context.unit_ns, "a time in microseconds")?;
        let (gap_before, gap) = time(gap, context.unit_ns, "a time in microseconds")?;
        let device = context.devices.place(b"0")?;
        if service_before || gap_before {
            context.note = Some(Problem::NegativeGap);
        }
        let response_ns = (!service_before).then_some(service);
        let record = Record { response_ns, ..Record::new(self.next_ns, device, kind, offset, length) };
        let step = response_ns.unwrap_or(0).checked_add(if gap_before { 0 } else { gap });
        self.next_ns = step.and_then(|step| self.next_ns.checked_add(step)).ok_or(Fault::Time)?;
        Ok(Some(record))
    }
}
