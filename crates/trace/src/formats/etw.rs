//! Disk events of Windows as xperf prints them: `xperf -i FILE.etl -o FILE.csv -a dumper`, or Microsoft's traces at SNIA.
//!
//! Between BeginHeader and EndHeader, a line for each kind of event names its columns, which differ from version to
//! version; so they are taken from there. DiskRead, DiskWrite and DiskFlush are logged when they complete: TimeStamp is
//! that time in microseconds, ElapsedTime the time since the request. ByteOffset and IOSize are bytes in hex. All other
//! events are no requests. (DiskIo_TypeGroup1 of Event Tracing for Windows; headers of the traces of S. Kavalanekar and
//! others, "Characterization of storage workload traces from production Windows servers", IISWC 2008.)
use super::completed::{REMARK, begun};
use super::lined::{Context, Line};
use crate::lines::Fault;
use crate::record::{Kind, Record};
use crate::text::{any_base, fault, time};

/// The most columns of an event; those behind are not needed.
const COLUMNS: usize = 24;
const EVENTS: [(&[u8], Kind); 3] =
    [(b"DiskRead", Kind::Read), (b"DiskWrite", Kind::Write), (b"DiskFlush", Kind::Flush)];

/// The places of the columns of an event.
#[derive(Clone, Copy)]
struct Places {
    time: usize,
    /// Of address and size; a flush has neither.
    extent: Option<(usize, usize)>,
    elapsed: usize,
    disk: usize,
}

/// Parser.
#[derive(Default)]
pub struct Etw {
    is_header: bool,
    /// As in [`EVENTS`].
    places: [Option<Places>; 3],
}

/// The fields of a line and their number.
fn fields(line: &[u8]) -> ([&[u8]; COLUMNS], usize) {
    let (mut fields, mut count) = ([&line[..0]; COLUMNS], 0);
    for field in line.split(|&byte| byte == b',').take(COLUMNS) {
        fields[count] = field.trim_ascii();
        count += 1;
    }
    (fields, count)
}

impl Places {
    /// The places that the header of an event names.
    fn of(names: &[&[u8]]) -> Result<Places, Fault> {
        let place = |name: &[u8]| names.iter().position(|found| *found == name);
        let missing = Fault::Layout("the header lacks TimeStamp, ElapsedTime or DiskNum");
        let (Some(time), Some(elapsed), Some(disk)) =
            (place(b"TimeStamp"), place(b"ElapsedTime"), place(b"DiskNum"))
        else {
            return Err(missing);
        };
        Ok(Places { time, extent: place(b"ByteOffset").zip(place(b"IOSize")), elapsed, disk })
    }
}

/// Microseconds, or another unit.
fn micros(text: &[u8], unit_ns: u64) -> Result<u64, Fault> {
    match time(text, unit_ns, "a time in microseconds")? {
        (false, ns) => Ok(ns),
        (true, _) => Err(fault(text, "a time in microseconds")),
    }
}

impl Line for Etw {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault> {
        let (fields, count) = fields(line);
        let event = EVENTS.iter().position(|(name, _)| *name == fields[0]);
        match fields[0] {
            b"BeginHeader" | b"EndHeader" => {
                self.is_header = fields[0] == b"BeginHeader";
                context.is_title = true;
                return Ok(None);
            }
            _ if self.is_header => {
                context.is_title = true;
                if let Some(event) = event {
                    self.places[event] = Some(Places::of(&fields[..count])?);
                }
                return Ok(None);
            }
            _ => {}
        }
        if self.places.iter().all(Option::is_none) {
            return Err(Fault::Layout(
                "the header, from BeginHeader to EndHeader, which names the columns, is missing",
            ));
        }
        let Some(event) = event else { return Ok(None) };
        let Some(places) = self.places[event] else {
            return Err(Fault::Layout("the header does not name the columns of this event"));
        };
        request(&fields, count, (places, EVENTS[event].1), context).map(Some)
    }

    fn remark(&self) -> Option<&'static str> {
        Some(REMARK)
    }
}

fn request(
    fields: &[&[u8]; COLUMNS],
    count: usize,
    (places, kind): (Places, Kind),
    context: &mut Context,
) -> Result<Record, Fault> {
    let wanted = 1 + places.time.max(places.elapsed).max(places.disk);
    if count < wanted {
        return Err(Fault::Fields { found: count, wanted });
    }
    let completed_ns = micros(fields[places.time], context.unit_ns)?;
    let elapsed_ns = micros(fields[places.elapsed], 1_000)?;
    let (offset, length) = match (kind, places.extent) {
        (Kind::Flush, _) => (0, 0),
        (_, Some((offset, length))) => {
            (any_base(fields[offset], "an offset in bytes")?, any_base(fields[length], "a size in bytes")?)
        }
        (_, None) => return Err(Fault::Layout("the header lacks ByteOffset or IOSize")),
    };
    offset.checked_add(length).ok_or(Fault::Extent)?;
    let time_ns = begun(completed_ns, elapsed_ns)?;
    if fields[places.disk].is_empty() {
        return Err(fault(b"", "the number of a disk"));
    }
    let device = context.devices.place(fields[places.disk])?;
    Ok(Record { response_ns: Some(elapsed_ns), ..Record::new(time_ns, device, kind, offset, length) })
}
