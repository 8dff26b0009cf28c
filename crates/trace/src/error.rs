//! Errors of reading or writing a trace: the place, the cause, and a remedy.
use crate::check::Problem;
use crate::lines::Fault;
use drivelab_units::{Given, key};
use std::fmt;
use thiserror::Error;

/// Leaves out what is wrong, or goes on in spite of it.
pub(crate) const LENIENT: &str = key!("trace.lenient", "true");

/// A place in a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of a text, counted from 1.
    Line(u64),
    /// A record of a binary format, counted from 1.
    Record(u64),
}

impl Place {
    /// The number of the line or record.
    pub const fn number(self) -> u64 {
        let (Place::Line(number) | Place::Record(number)) = self;
        number
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(number) => write!(f, "line {number}"),
            Place::Record(number) => write!(f, "record {number}"),
        }
    }
}

/// Why a trace cannot be read or written.
#[derive(Debug, Error)]
pub enum TraceError {
    #[error("line {line}: {fault}")]
    Line { line: u64, fault: Fault },
    /// A line that is no measured request.
    #[error(
        "line {line}: {fault}; a line has R or W, Hit or Miss, LBN, sectors, service time and pause in us"
    )]
    Measured { line: u64, fault: Fault },
    /// An invalid line of a trace; other lines may be valid.
    #[error(
        "line {line}: {fault}; give {} if this is another format, or leave such lines out with {lenient}",
        key!("trace.format"), lenient = LENIENT
    )]
    Malformed { line: u64, fault: Fault },
    /// A line that does not fit the described columns.
    #[error(
        "line {line}: {fault}; {} describes every column, with - for one that does not matter, or leave such lines out \
         with {lenient}",
        key!("trace.columns"), lenient = LENIENT
    )]
    Undescribed { line: u64, fault: Fault },
    /// What no request of the trace has, and the remedy.
    #[error("line {line}: {what}")]
    Lacking { line: u64, what: &'static str },
    #[error("header: {fault}")]
    Header { fault: Fault },
    #[error("record {record}: {fault}")]
    Record { record: u64, fault: Fault },
    #[error("{place}: {problem}; {}", problem.remedy())]
    Problem { place: Place, problem: Problem },
    #[error("there is no request in it")]
    Empty,
    /// The first line, and its fault in the only format with that number of fields.
    #[error("no known format: the first line is \"{0}\"{1}; give {key} if it is one of {names}, or describe its columns with {columns}", key = key!("trace.format", "NAME"), names = crate::format::names(), columns = key!("trace.columns"))]
    Unknown(String, String),
    #[error("no known binary format; give {key} if it is one of {names}", key = key!("trace.format", "NAME"), names = crate::format::names())]
    UnknownBinary,
    /// A container that must be unpacked first, and how.
    #[error("{0}")]
    Container(&'static str),
    #[error("{0}")]
    Ambiguous(String),
    #[error("{given}: there is no such format; there are {names}", given = Given("trace.format", .0), names = crate::format::names())]
    NoFormat(String),
    #[error("{0}")]
    Option(String),
    /// A request that is larger than the device that addresses are remapped to.
    #[error(
        "{place}: the request has {length} bytes, and the new device only {device}; give a larger {}, or leave such \
         requests out with {lenient}",
        key!("trace.capacity"), lenient = LENIENT
    )]
    TooLarge { place: Place, length: u64, device: u64 },
    #[error("{place}: {what}; {} leaves it out", LENIENT)]
    Unwritable { place: Place, what: String },
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
