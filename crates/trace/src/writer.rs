//! Writing a trace in one of the formats that can be written. What a format cannot say is documented in its file.
use crate::error::{Place, TraceError};
use crate::format::Format;
use crate::formats::blkparse::BlkparseWriter;
use crate::formats::disksim::DisksimWriter;
use crate::formats::iolog::IologWriter;
use crate::formats::msr::MsrWriter;
use crate::formats::native::{Header, Injected, NativeWriter};
use crate::formats::spc::SpcWriter;
use crate::record::{Clock, Kind, Record};
use std::io::{self, Write};

/// What a writer is told beside the request.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// The name of its device.
    pub device: &'a str,
    pub clock: Clock,
    /// Where it was read.
    pub place: Place,
}

impl Told<'_> {
    /// The request has no form in this format.
    pub(crate) fn unwritable(&self, format: &str, kind: Kind) -> TraceError {
        let what = format!("{format} has no {}", kind.name());
        TraceError::Unwritable { place: self.place, what }
    }
}

/// Writer of one format.
pub trait FormatWriter<W: Write> {
    fn write(&mut self, out: &mut W, record: &Record, told: &Told<'_>) -> Result<(), TraceError>;
    /// Notes a fault that was injected; false where the format has no form for it.
    fn inject(&mut self, _out: &mut W, _injected: Injected) -> io::Result<bool> {
        Ok(false)
    }
    fn finish(&mut self, out: &mut W, place: Place) -> io::Result<()>;
}

/// Times from the first request on, for formats without a date.
#[derive(Default)]
pub struct Timeline {
    first: Option<u64>,
}

impl Timeline {
    /// Zero for what is earlier than the first one.
    pub fn since_first(&mut self, time_ns: u64) -> u64 {
        time_ns.saturating_sub(*self.first.get_or_insert(time_ns))
    }
}

/// Writes requests, and counts those that have no form in the format.
pub struct Writer<W: Write> {
    out: W,
    format: Box<dyn FormatWriter<W> + Send>,
    is_lenient: bool,
    written: u64,
    left_out: u64,
    last: Place,
}

impl<W: Write> Writer<W> {
    /// Begins a trace. Only our own format has a header; with `is_lenient`, requests without a form are left out.
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
                return Err(TraceError::Option(format!("--to {name}: it cannot be written; {written} can")));
            }
        };
        Ok(Writer { out, format, is_lenient, written: 0, left_out: 0, last: Place::Record(0) })
    }

    pub fn write(&mut self, record: &Record, told: &Told<'_>) -> Result<(), TraceError> {
        self.last = told.place;
        match self.format.write(&mut self.out, record, told) {
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

    /// Notes a fault that was injected; false where the format has no form for it.
    pub fn inject(&mut self, injected: Injected) -> io::Result<bool> {
        self.format.inject(&mut self.out, injected)
    }

    /// Requests written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Requests that have no form in the format.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Ends the trace, and gives back what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.format.finish(&mut self.out, self.last)?;
        self.out.flush()?;
        Ok(self.out)
    }
}
