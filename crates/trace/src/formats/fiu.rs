//! FIU's traces of IODedup and SRCMap: `ts pid process lba size op major minor [md5..]`, separated by blanks.
//!
//! The time is in nanoseconds, address and size are in sectors of 512 bytes, the operation is W or R, and digests of the
//! data follow, one or several. (R. Koller, R. Rangaswami, "I/O deduplication: utilizing content similarity to improve I/O
//! performance", FAST 2010; A. Verma and others, "SRCMap: energy proportional storage using dynamic consolidation", FAST
//! 2010; the README of the traces at SNIA.)
use super::lined::{Context, Line, letter};
use crate::lines::Fault;
use crate::record::{Attributes, Record};
use crate::text::{fault, sectors, time, whole, words};

/// Parser.
#[derive(Default)]
pub struct Fiu {
    device: Vec<u8>,
}

impl Line for Fiu {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let (fields, count) = words::<9>(line);
        let [at, process, _, first, size, kind, major, minor, digest] = fields;
        if count < 8 {
            return Err(Fault::Fields { found: count, wanted: 9 });
        }
        let (negative, time_ns) = time(at, context.unit_ns, "a time in nanoseconds")?;
        if negative {
            return Err(fault(at, "a time in nanoseconds"));
        }
        let process = whole(process, "the number of a process")?;
        let offset = sectors(whole(first, "an address in sectors")?)?;
        let length = sectors(whole(size, "a size in sectors")?)?;
        let kind = letter(kind)?;
        whole(major, "the major number of a device")?;
        whole(minor, "the minor number of a device")?;
        if !digest.iter().all(u8::is_ascii_hexdigit) {
            return Err(fault(digest, "a digest in hex"));
        }
        offset.checked_add(length).ok_or(Fault::Extent)?;
        self.device.clear();
        self.device.extend_from_slice(major);
        self.device.push(b',');
        self.device.extend_from_slice(minor);
        let device = context.devices.place(&self.device)?;
        let process = process.try_into().unwrap_or(u32::MAX);
        let attributes = Attributes { process, ..Attributes::DEFAULT };
        Ok(Some(Record { attributes, ..Record::new(time_ns, device, kind, offset, length) }))
    }
}
