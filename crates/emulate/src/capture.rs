//! Records every request and every fault of a session as a trace in drivelab's own format, with the model's own
//! times: a replay against the same target gives the same completions, to the nanosecond.
//!
//! Entries are in the order in which the target received them. A request is written when it and all entries before it
//! have completed, because its entry includes the response time.
use crate::crash::DataWriter;
use crate::store::Payload;
use drivelab_core::{Access, Command};
use drivelab_trace::TraceError;
use drivelab_trace::error::Place;
use drivelab_trace::formats::native::{Header, Injected, NativeWriter};
use drivelab_trace::record::{Attributes, Clock, Kind, Record};
use drivelab_trace::writer::{FormatWriter, RequestContext};
use drivelab_units::{Instant, SECTOR_BYTES, Span};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// An entry that has not been written yet.
enum Pending {
    /// A request: the number of its command, its record, and whether it has completed.
    Request(u64, Record, bool),
    Injected(Injected),
}

/// A trace that is being written.
pub struct Capture<W: Write = BufWriter<File>> {
    out: W,
    writer: NativeWriter,
    name: String,
    waiting: VecDeque<Pending>,
    requests: u64,
    /// The writer for the data of writes, if they are recorded.
    data: Option<DataWriter>,
}

impl<W: Write> Capture<W> {
    /// Begins a trace of a device of `device_bytes` bytes that was created with this seed.
    pub fn new(out: W, name: &str, device_bytes: u64, seed: u64) -> Self {
        let header = Header {
            seed: Some(seed),
            device_bytes: Some(device_bytes),
            remark: format!("captured by drivelab emulate, model {}", drivelab_core::MODEL_VERSION),
            ..Header::plain(Clock::Relative)
        };
        let (writer, waiting) = (NativeWriter::new(header), VecDeque::new());
        Capture { out, writer, name: name.to_owned(), waiting, requests: 0, data: None }
    }

    /// Also records the data of writes.
    #[must_use]
    pub fn with_data(self, data: DataWriter) -> Self {
        Capture { data: Some(data), ..self }
    }

    /// Records a command that the target receives, a write with its data.
    ///
    /// # Errors
    /// When the data cannot be written.
    pub fn submitted(
        &mut self,
        at: Instant,
        command: &Command,
        cookie: u64,
        data: Option<&Payload>,
    ) -> io::Result<()> {
        let kind = match command.access {
            Access::Read => Kind::Read,
            Access::Write => Kind::Write,
            Access::Flush => Kind::Flush,
        };
        let bytes = |sectors: u64| sectors * SECTOR_BYTES;
        let (first, count) = (bytes(command.first.get()), bytes(command.count.get()));
        let attributes = Attributes {
            id: command.id,
            cookie,
            tag: command.tag,
            force_unit_access: command.force_unit_access,
            direct: command.direct,
            ..Attributes::DEFAULT
        };
        let record = Record { attributes, ..Record::new(at.as_ns(), 0, kind, first, count) };
        self.requests += 1;
        self.waiting.push_back(Pending::Request(command.id, record, false));
        match (&mut self.data, data) {
            (Some(kept), Some(data)) => kept.wrote(data),
            _ => Ok(()),
        }
    }

    /// Records a discard by a client, which the target does not receive.
    pub fn discarded(&mut self, at: Instant, offset: u64, length: u64) {
        let record =
            Record { response_ns: Some(0), ..Record::new(at.as_ns(), 0, Kind::Discard, offset, length) };
        self.requests += 1;
        self.waiting.push_back(Pending::Request(u64::MAX, record, true));
    }

    /// Records the completion of a command.
    ///
    /// # Errors
    /// When the trace cannot be written.
    pub fn answered(&mut self, id: u64, response: Span) -> io::Result<()> {
        for entry in &mut self.waiting {
            if let Pending::Request(found, record, is_answered) = entry
                && *found == id
            {
                record.response_ns = Some(response.as_ns());
                *is_answered = true;
                break;
            }
        }
        self.write(false)
    }

    /// Records an injected fault.
    ///
    /// # Errors
    /// When the trace cannot be written.
    pub fn injected(&mut self, injected: Injected) -> io::Result<()> {
        self.waiting.push_back(Pending::Injected(injected));
        self.write(false)
    }

    /// Writes the complete entries at the front, or all entries.
    fn write(&mut self, all: bool) -> io::Result<()> {
        while let Some(entry) = self.waiting.front() {
            match entry {
                Pending::Request(_, _, false) if !all => break,
                Pending::Request(_, record, _) => {
                    let context = RequestContext {
                        device: &self.name,
                        clock: Clock::Relative,
                        place: Place::Record(0),
                    };
                    self.writer.write(&mut self.out, record, &context).map_err(|error| match error {
                        TraceError::Io(error) => error,
                        error => io::Error::other(error.to_string()),
                    })?;
                }
                Pending::Injected(injected) => self.writer.inject(&mut self.out, *injected)?,
            }
            self.waiting.pop_front();
        }
        Ok(())
    }

    /// Writes the commands in flight without a response, because they are never answered.
    ///
    /// # Errors
    /// When the trace cannot be written.
    pub fn give_up(&mut self) -> io::Result<()> {
        self.write(true)
    }

    /// The number of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Ends the trace, and returns the writer.
    ///
    /// # Errors
    /// When the trace cannot be written.
    pub fn close(mut self) -> io::Result<W> {
        self.write(true)?;
        self.writer.end(&mut self.out)?;
        self.out.flush()?;
        if let Some(data) = self.data.take() {
            data.close()?;
        }
        Ok(self.out)
    }
}
