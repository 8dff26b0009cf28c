//! The common part of parsers for formats with one request per line.
use crate::check::Problem;
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::format::Format;
use crate::lines::Fault;
use crate::reader::{Options, Records};
use crate::record::{Clock, Kind, Record};
use crate::text::{Lines, Next, fault};
use std::io::Read;

/// The context of a line for a parser, and the parser's remarks on the request.
#[derive(Default)]
pub struct Context {
    pub devices: Devices,
    pub unit_ns: u64,
    /// The flag of a read, if it was given.
    pub read_flag: Option<u8>,
    /// The number of lines so far, including this one.
    pub line: u64,
    /// A problem of the request beyond its values.
    pub note: Option<Problem>,
    /// Whether the line is a title and not a record.
    pub is_title: bool,
}

impl Context {
    /// Read or write by a flag of 0 or 1; `read` is the flag of a read unless the options give another.
    pub fn flag(&self, text: &[u8], read: u8) -> Result<Kind, Fault> {
        let read = self.read_flag.unwrap_or(read);
        match text {
            [digit @ (b'0' | b'1')] if digit - b'0' == read => Ok(Kind::Read),
            [b'0' | b'1'] => Ok(Kind::Write),
            _ => Err(fault(text, "0 or 1")),
        }
    }
}

/// Read or write by the letter R or W in either case.
pub fn letter(text: &[u8]) -> Result<Kind, Fault> {
    match text {
        b"R" | b"r" => Ok(Kind::Read),
        b"W" | b"w" => Ok(Kind::Write),
        _ => Err(fault(text, "R or W")),
    }
}

/// The parser of a format. A line holds one request, or none: a title, a comment, or the opening of a file.
pub trait Line: Send {
    fn line(&mut self, line: &[u8], context: &mut Context) -> Result<Option<Record>, Fault>;
    /// What a survey says of the requests.
    fn remark(&self) -> Option<&'static str> {
        None
    }
}

/// Reads a format of this kind as a stream of requests.
pub struct LinedReader<R> {
    lines: Lines<R>,
    parser: Box<dyn Line>,
    context: Context,
    clock: Clock,
    records: u64,
}

impl<R: Read + Send> LinedReader<R> {
    pub fn new(source: R, parser: Box<dyn Line>, format: Format, options: &Options) -> Self {
        let unit_ns = options.unit_ns.unwrap_or(format.unit_ns());
        let context = Context { unit_ns, read_flag: options.read_flag, ..Context::default() };
        LinedReader { lines: Lines::new(source), parser, context, clock: format.clock(), records: 0 }
    }
}

impl<R: Read + Send> Records for LinedReader<R> {
    fn next(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        loop {
            self.context.line = self.lines.number() + 1;
            let line = self.context.line;
            let text = match self.lines.next_line()? {
                Next::Line(text) => text,
                Next::Overlong => return Err(TraceError::Line { line, fault: Fault::Overlong }),
                Next::End => return Ok(None),
            };
            if text.trim_ascii().is_empty() {
                continue;
            }
            self.context.is_title = false;
            let found = self.parser.line(text, &mut self.context);
            if self.context.is_title {
                continue;
            }
            self.records += 1;
            match found {
                Ok(Some(record)) => return Ok(Some((Place::Line(line), record))),
                Ok(None) => {}
                Err(Fault::Lacks(what)) => return Err(TraceError::Lacking { line, what }),
                Err(fault) => return Err(TraceError::Line { line, fault }),
            }
        }
    }

    fn note(&mut self) -> Option<Problem> {
        self.context.note.take()
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn devices(&self) -> &Devices {
        &self.context.devices
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn remark(&self) -> Option<&'static str> {
        self.parser.remark()
    }
}
