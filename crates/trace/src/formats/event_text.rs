//! The common part of texts with an event of a request in each line: read line by line, and paired into requests.
use super::events::Event;
use super::pairing::Pairing;
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::lines::Fault;
use crate::reader::Records;
use crate::record::{Clock, Record};
use crate::text::{Lines, Next};
use std::io::Read;

/// The meaning of a line.
pub enum Parsed {
    Event(Event),
    /// A record that is not an event of a request.
    Other,
    /// A title: a line about the recording.
    Title,
    /// The beginning of the summary at the end.
    Summary,
}

/// The parser of a format. A line holds one event.
pub trait EventLine: Send {
    /// Parses one line that is not blank.
    fn line(&mut self, line: &[u8]) -> Result<Parsed, Fault>;
    fn devices(&self) -> &Devices;
}

/// Reads a text as a stream of requests.
pub struct EventText<R> {
    lines: Lines<R>,
    parser: Box<dyn EventLine>,
    pairing: Pairing,
    records: u64,
    is_over: bool,
}

impl<R: Read> EventText<R> {
    pub fn new(source: R, parser: Box<dyn EventLine>) -> Self {
        let (lines, pairing) = (Lines::new(source), Pairing::default());
        EventText { lines, parser, pairing, records: 0, is_over: false }
    }
}

impl<R: Read + Send> Records for EventText<R> {
    fn next(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        loop {
            if let Some(found) = self.pairing.next(self.is_over) {
                return Ok(Some(found));
            }
            if self.is_over {
                return Ok(None);
            }
            let line = self.lines.number() + 1;
            let text = match self.lines.next_line()? {
                Next::Line(text) => text,
                Next::Overlong => return Err(TraceError::Line { line, fault: Fault::Overlong }),
                Next::End => {
                    self.is_over = true;
                    continue;
                }
            };
            if text.trim_ascii().is_empty() {
                continue;
            }
            self.records += 1;
            let fault = |fault| TraceError::Line { line, fault };
            match self.parser.line(text).map_err(fault)? {
                Parsed::Event(event) => self.pairing.take(&event, Place::Line(line)).map_err(fault)?,
                Parsed::Other => {}
                Parsed::Title => self.records -= 1,
                Parsed::Summary => {
                    self.records -= 1;
                    self.is_over = true;
                }
            }
        }
    }

    fn records(&self) -> u64 {
        self.records
    }

    fn devices(&self) -> &Devices {
        self.parser.devices()
    }

    fn clock(&self) -> Clock {
        Clock::Relative
    }

    fn remark(&self) -> Option<&'static str> {
        self.pairing.remark()
    }
}
