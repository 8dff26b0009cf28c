//! Faults of a line or record, and reading whole texts line by line into memory.
use crate::error::TraceError;
use drivelab_units::counted;
use std::io::{BufRead, BufReader, Read};
use thiserror::Error;

/// The longest line in bytes; longer than a line of any format.
pub const LINE_BYTES_MAX: u64 = 4_096;
/// The most requests: more than any published trace of one drive has, and half a gigabyte of memory.
pub const REQUESTS_MAX: usize = 1 << 24;

/// The fault of a line.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    #[error("{}, and a request has {wanted}", counted(*.found as u64, "field"))]
    Fields { found: usize, wanted: usize },
    #[error("\"{text}\" is not {wanted}")]
    Field { text: String, wanted: &'static str },
    #[error("the request reaches beyond any drive")]
    Extent,
    #[error("longer than {LINE_BYTES_MAX} bytes: this is no trace")]
    Overlong,
    #[error("not UTF-8 text: this is no trace")]
    NotText,
    #[error("more than {REQUESTS_MAX} requests")]
    TooMany,
    #[error("more than {} devices", crate::devices::DEVICES_MAX)]
    TooManyDevices,
    #[error("the name of a device is longer than {} bytes", crate::devices::NAME_BYTES_MAX)]
    LongName,
    #[error("the time does not fit 64 bits of nanoseconds")]
    Time,
    #[error("{0}")]
    Layout(&'static str),
    /// What no request of the trace has, and the remedy: leaving out lines does not help.
    #[error("{0}")]
    Lacks(&'static str),
}

/// Reads every line that is not blank as a request. `request` parses one line.
pub fn requests<T>(
    source: impl Read,
    request: impl Fn(&str) -> Result<T, Fault>,
) -> Result<Vec<T>, TraceError> {
    let (mut source, mut bytes, mut found) = (BufReader::new(source), Vec::new(), Vec::new());
    for line in 1.. {
        bytes.clear();
        let read = source.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            break;
        }
        let fault = |fault| TraceError::Line { line, fault };
        if read as u64 > LINE_BYTES_MAX {
            return Err(fault(Fault::Overlong));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| fault(Fault::NotText))?;
        // Some editors write a byte order mark first.
        let text = if line == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if text.trim().is_empty() {
            continue;
        }
        if found.len() == REQUESTS_MAX {
            return Err(fault(Fault::TooMany));
        }
        found.push(request(text).map_err(fault)?);
    }
    if found.is_empty() { Err(TraceError::Empty) } else { Ok(found) }
}
