//! Text line by line, with a limit on everything: what is shared by formats that hold one request to the line.
use std::io::{BufRead, BufReader, Read};
use thiserror::Error;

/// Longer than a line of any format.
const LINE_BYTES_MAX: u64 = 4_096;
/// More requests than any published trace of one drive holds, and half a gigabyte of memory.
pub const REQUESTS_MAX: usize = 1 << 24;

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Fault {
    #[error("{found} fields, and a request has {wanted}")]
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
}

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum TraceError {
    #[error("line {line}: {fault}")]
    Line { line: u64, fault: Fault },
    #[error("there is no request in it")]
    Empty,
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// Every line that is not blank, as a request. `request` reads one line.
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
