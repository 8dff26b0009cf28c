//! The validation traces of DiskSim: requests of one drive, each with the service time of the real drive.
//!
//! A line is `R|W tag LBN sectors measured gap`: the tag is one of Hit, Miss, Doub and Trip and has no meaning here;
//! `measured` is what the drive took and `gap` the pause before the next request, both in microseconds. One request
//! is outstanding at a time: the next one comes `gap` after this one's completion. (G. R. Ganger, B. L. Worthington,
//! Y. N. Patt, "The DiskSim simulation environment", and its successors; the format is that of `iotrace` in version 4.0.)
use crate::error::TraceError;
use crate::lines::{Fault, requests};
use drivelab_core::Access;
use drivelab_units::{Lba, Sectors, Span, parse};
use std::io::Read;

/// A request, and its service time on the real drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Measured {
    pub access: Access,
    pub first: Lba,
    pub count: Sectors,
    pub service: Span,
    /// The time from its completion to the next request.
    pub gap: Span,
}

const TAGS: [&str; 4] = ["Hit", "Miss", "Doub", "Trip"];
/// The longest time in a trace: two years.
const TIME_MAX: Span = Span::from_s(2 * 366 * 86_400);
/// The most sectors of a drive: half a zebibyte.
const SECTORS_MAX: u64 = 1 << 60;

/// Reads a trace to its end.
pub fn read(source: impl Read) -> Result<Vec<Measured>, TraceError> {
    requests(source, request).map_err(|error| match error {
        TraceError::Line { line, fault } => TraceError::Measured { line, fault },
        other => other,
    })
}

fn request(line: &str) -> Result<Measured, Fault> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [kind, tag, first, count, service, gap] = fields[..] else {
        return Err(Fault::Fields { found: fields.len(), wanted: 6 });
    };
    let access = match kind {
        "R" => Access::Read,
        "W" => Access::Write,
        _ => return Err(fault(kind, "R or W")),
    };
    if !TAGS.contains(&tag) {
        return Err(fault(tag, "Hit, Miss, Doub or Trip"));
    }
    let first = whole(first, "an address in sectors")?;
    let count = whole(count, "a number of sectors")?;
    if count == 0 {
        return Err(fault("0", "a number of sectors above zero"));
    }
    if first.checked_add(count).is_none_or(|end| end > SECTORS_MAX) {
        return Err(Fault::Extent);
    }
    let (service, gap) = (microseconds(service)?, microseconds(gap)?);
    Ok(Measured { access, first: Lba::new(first), count: Sectors::new(count), service, gap })
}

fn fault(text: &str, wanted: &'static str) -> Fault {
    Fault::Field { text: text.to_owned(), wanted }
}

fn whole(text: &str, wanted: &'static str) -> Result<u64, Fault> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| fault(text, wanted))
}

/// Parses a time in microseconds, rounded to the nearest nanosecond.
fn microseconds(text: &str) -> Result<Span, Fault> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let read = parse::span(&format!("{text}us")).ok().filter(|&span| plain && span <= TIME_MAX);
    read.ok_or_else(|| fault(text, "a time in microseconds"))
}
