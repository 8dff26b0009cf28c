//! Writes a trace in one of the writable formats. The limitations of a format are documented in its file.
use crate::error::{Place, TraceError};
use crate::format::Format;
use crate::formats::blkparse::BlkparseWriter;
use crate::formats::disksim::DisksimWriter;
use crate::formats::iolog::IologWriter;
use crate::formats::msr::MsrWriter;
use crate::formats::native::{Header, Injected, NativeWriter};
use crate::formats::spc::SpcWriter;
use crate::record::{Clock, Kind, Record};
use drivelab_units::Given;
use std::io::{self, Write};

/// The context of a request for a writer.
#[derive(Clone, Copy)]
pub struct RequestContext<'a> {
    /// The name of the request's device.
    pub device: &'a str,
    pub clock: Clock,
    /// The place at which the request was read.
    pub place: Place,
}

impl RequestContext<'_> {
    /// The error for a request that this format cannot represent.
    pub(crate) fn unwritable(&self, format: &str, kind: Kind) -> TraceError {
        let what = format!("{format} has no {}", kind.name());
        TraceError::Unwritable { place: self.place, what }
    }
}

/// The writer of a format.
pub trait FormatWriter<W: Write> {
    fn write(&mut self, out: &mut W, record: &Record, context: &RequestContext<'_>)
    -> Result<(), TraceError>;
    /// Writes an injected fault; `false` if the format cannot represent it.
    fn inject(&mut self, _out: &mut W, _injected: Injected) -> io::Result<bool> {
        Ok(false)
    }
    fn finish(&mut self, out: &mut W, place: Place) -> io::Result<()>;
}

/// Times relative to the first request, for formats without a date.
#[derive(Default)]
pub struct Timeline {
    first: Option<u64>,
}

impl Timeline {
    /// The time since the first request; zero for earlier times.
    pub fn since_first(&mut self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(*self.first.get_or_insert(time_ns))
    }
}

/// Writes requests, and counts those that the format cannot represent.
pub struct Writer<W: Write> {
    out: W,
    format: Box<dyn FormatWriter<W> + Send>,
    is_lenient: bool,
    written: u64,
    left_out: u64,
    last: Place,
}

impl<W: Write> Writer<W> {
    /// Begins a trace. Only drivelab's own format has a header; with `is_lenient`, requests that the format cannot
    /// represent are left out.
    pub fn new(out: W, format: Format, header: Header, is_lenient: bool) -> Result<Self, TraceError> {
        let format: Box<dyn FormatWriter<W> + Send> = match format {
            Format::Drivelab => Box::new(NativeWriter::new(header)),
            Format::Iolog2 => Box::new(IologWriter::new(2)),
            Format::Iolog3 => Box::new(IologWriter::new(3)),
            Format::Blkparse => Box::new(BlkparseWriter::default()),
            Format::Disksim => Box::new(DisksimWriter::default()),
            Format::Msr => Box::new(MsrWriter),
            Format::Spc => Box::new(SpcWriter::default()),
            _ => {
                let written = Format::WRITTEN.map(Format::name).join(", ");
                let name = format.name();
                let to = Given("trace.to", name);
                return Err(TraceError::Option(format!("{to}: it cannot be written; {written} can")));
            }
        };
        Ok(Writer { out, format, is_lenient, written: 0, left_out: 0, last: Place::Record(0) })
    }

    pub fn write(&mut self, record: &Record, context: &RequestContext<'_>) -> Result<(), TraceError> {
        self.last = context.place;
        match self.format.write(&mut self.out, record, context) {
            Ok(()) => {
                self.written += 1;
                Ok(())
            }
            Err(TraceError::Unwritable { .. }) if self.is_lenient => {
                self.left_out += 1;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Writes an injected fault; `false` if the format cannot represent it.
    pub fn inject(&mut self, injected: Injected) -> io::Result<bool> {
        self.format.inject(&mut self.out, injected)
    }

    /// Requests written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Requests that the format cannot represent.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the trace, and returns the inner writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.format.finish(&mut self.out, self.last)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
