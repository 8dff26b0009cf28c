//! Opens a trace: decompresses it, detects its format unless one is given, and checks its requests one by one in
//! constant memory.
use crate::check::{Checker, Problem, Problems};
use crate::compression::{Compression, Source, peek, unpacked};
use crate::detect;
use crate::devices::Devices;
use crate::error::{Place, TraceError};
use crate::format::Format;
use crate::formats;
use crate::formats::columns::Columns;
use crate::formats::native::{Header, Injected};
use crate::record::{Clock, Record};
use crate::sort::Window;
use drivelab_units::key;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stream of requests in some format.
pub trait Records: Send {
    /// The next request and its place. After a [`TraceError::Line`] reading may continue.
    fn next(&mut self) -> Result<Option<(Place, Record)>, TraceError>;
    /// A problem of the last request beyond its values.
    fn note(&mut self) -> Option<Problem> {
        None
    }
    /// Lines or records read so far, without titles and blank lines.
    fn records(&self) -> u64;
    fn devices(&self) -> &Devices;
    fn clock(&self) -> Clock;
    /// The size of the device if the format gives it: requests must end within.
    fn device_bytes(&self) -> Option<u64> {
        None
    }
    /// The header of a trace in drivelab's own format.
    fn header(&self) -> Option<&Header> {
        None
    }
    /// The number of injected faults so far; only drivelab's own format has them.
    fn injected(&self) -> u64 {
        0
    }
    /// Removes the next fault that precedes the last request or the end.
    fn take_injected(&mut self) -> Option<Injected> {
        None
    }
    /// What a survey says of the requests.
    fn remark(&self) -> Option<&'static str> {
        None
    }
}

/// The options for reading a trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The format; detected by the first lines if not given.
    pub format: Option<Format>,
    /// The columns of a text that is in none of the formats.
    pub columns: Option<Columns>,
    /// The formats that detection may choose; all if empty.
    pub among: &'static [Format],
    /// Problems are counted, and reading continues.
    pub is_lenient: bool,
    /// The flag of a read, 0 or 1, in formats that have one; by default as in the manual of the format.
    pub read_flag: Option<u8>,
    /// The unit of times; by default as in the manual of the format.
    pub unit_ns: Option<u64>,
    /// The size of the device in bytes.
    pub device_bytes: Option<u64>,
    /// Requests are sorted by time within a window.
    pub is_sorted: bool,
}

impl Options {
    /// Whether detection may choose a format.
    pub(crate) fn is_allowed(&self, format: Format) -> bool {
        self.among.is_empty() || self.among.contains(&format)
    }

    /// Checks that the options fit the format.
    fn check(&self, format: Format) -> Result<(), TraceError> {
        if self.columns.is_some() {
            return self.check_columns(format);
        }
        if self.read_flag.is_some() && !format.has_read_flag() {
            let name = format.name();
            let what = key!("trace.read_flag");
            return Err(TraceError::Option(format!(
                "{what} changes nothing: {name} names reads and writes; leave it out"
            )));
        }
        if self.unit_ns.is_some() && format == Format::Drivelab {
            let what = key!("trace.time_unit");
            let text = format!("{what} changes nothing: a trace of drivelab says its unit; leave it out");
            return Err(TraceError::Option(text));
        }
        Ok(())
    }
}

impl Options {
    /// Checks that nothing else is said beside the columns.
    fn check_columns(&self, format: Format) -> Result<(), TraceError> {
        let columns = key!("trace.columns");
        let beside = if format != Format::Columns || !self.among.is_empty() {
            (key!("trace.format"), "the columns are the format")
        } else if self.unit_ns.is_some() {
            (key!("trace.time_unit"), "the column has the unit, as in time:ms")
        } else if self.read_flag.is_some() {
            (key!("trace.read_flag"), "the column says it, as op:0 or op:1")
        } else {
            return Ok(());
        };
        let (what, why) = beside;
        Err(TraceError::Option(format!("{what} has no effect beside {columns}: {why}; leave it out")))
    }
}

/// The number of first bytes by which a format is detected.
pub(crate) const PEEKED_BYTES: usize = 1 << 16;

/// An open trace.
pub struct Reader<'a> {
    records: Box<dyn Records + 'a>,
    format: Format,
    compression: Option<Compression>,
    is_lenient: bool,
    checker: Checker,
    window: Option<Window>,
    place: Place,
    /// Whether compressed data were truncated and read up to there.
    cut: Arc<AtomicBool>,
}

/// A compressed stream that ends where its data are truncated.
struct Cut<'a> {
    source: Source<'a>,
    cut: Arc<AtomicBool>,
}

impl Read for Cut<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.cut.load(Ordering::Relaxed) {
            return Ok(0);
        }
        match self.source.read(bytes) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.cut.store(true, Ordering::Relaxed);
                Ok(0)
            }
            read => read,
        }
    }
}

/// The byte order mark that some editors write before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Removes a byte order mark from the first bytes and the stream.
fn marked((mut first, mut source): (Vec<u8>, Source<'_>)) -> io::Result<(Vec<u8>, Source<'_>)> {
    if first.starts_with(BYTE_ORDER_MARK) {
        source.read_exact(&mut [0; BYTE_ORDER_MARK.len()])?;
        first.drain(..BYTE_ORDER_MARK.len());
    }
    Ok((first, source))
}

impl<'a> Reader<'a> {
    /// Opens a trace of one file.
    pub fn open(source: Source<'a>, options: &Options) -> Result<Reader<'a>, TraceError> {
        let (compression, source) = unpacked(source)?;
        let cut = Arc::new(AtomicBool::new(false));
        let source =
            if options.is_lenient { Box::new(Cut { source, cut: Arc::clone(&cut) }) } else { source };
        let (first, source) = marked(peek(source, PEEKED_BYTES)?)?;
        // A given binary format may begin with any bytes.
        if options.format.is_none_or(|format| !format.is_binary()) {
            detect::check_container(&first)?;
        }
        let format = match (options.format, options.columns) {
            (Some(format), _) => format,
            (None, Some(_)) => Format::Columns,
            (None, None) => detect::format(&first, options)?,
        };
        options.check(format)?;
        let records = formats::open(format, vec![source], options)?;
        Ok(Reader { cut, ..Reader::new(records, format, compression, options) })
    }

    /// Opens the files that blktrace has written, one per processor of a machine.
    pub fn open_blktrace(sources: Vec<Source<'a>>, options: &Options) -> Result<Reader<'a>, TraceError> {
        let mut compression = None;
        let mut plain = Vec::with_capacity(sources.len());
        for source in sources {
            let (found, source) = unpacked(source)?;
            compression = compression.or(found);
            plain.push(source);
        }
        options.check(Format::Blktrace)?;
        let records = formats::open(Format::Blktrace, plain, options)?;
        Ok(Reader::new(records, Format::Blktrace, compression, options))
    }

    fn new(
        records: Box<dyn Records + 'a>,
        format: Format,
        compression: Option<Compression>,
        options: &Options,
    ) -> Self {
        // A unit that is given or is in the file is not checked.
        let is_known = options.unit_ns.is_some() || matches!(format, Format::Drivelab | Format::Columns);
        let clock = (!is_known).then(|| records.clock());
        let device_bytes = options.device_bytes.or_else(|| records.device_bytes());
        let checker = Checker::new(options.is_lenient, clock, device_bytes);
        let window = options.is_sorted.then(Window::default);
        let place = Place::Record(0);
        Reader {
            records,
            format,
            compression,
            is_lenient: options.is_lenient,
            checker,
            window,
            place,
            cut: Arc::default(),
        }
    }

    /// The next request.
    pub fn next_request(&mut self) -> Result<Option<Record>, TraceError> {
        let found = match &mut self.window {
            None => self.read()?,
            Some(_) => self.read_sorted()?,
        };
        let Some((place, record)) = found else { return Ok(None) };
        self.checker.check_order(&record, place)?;
        self.place = place;
        Ok(Some(record))
    }

    fn read_sorted(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        while self.window.as_ref().is_some_and(|window| !window.is_full()) {
            let Some((place, record)) = self.read()? else { break };
            if let Some(window) = &mut self.window {
                window.push(place, record);
            }
        }
        Ok(self.window.as_mut().and_then(Window::pop))
    }

    /// The next request in the order of the file.
    fn read(&mut self) -> Result<Option<(Place, Record)>, TraceError> {
        loop {
            match self.records.next() {
                Ok(Some((place, record))) => {
                    if let Some(problem) = self.records.note() {
                        self.checker.note(problem, place)?;
                    }
                    self.checker.check(&record, place)?;
                    return Ok(Some((place, record)));
                }
                Ok(None) => {
                    if let Some(problem) = self.records.note() {
                        self.checker.note(problem, Place::Record(self.records.records() + 1))?;
                    }
                    if self.cut.load(Ordering::Relaxed)
                        && self.checker.problems.of(Problem::Truncated).count == 0
                    {
                        self.checker.note(Problem::Truncated, Place::Record(self.records.records() + 1))?;
                    }
                    return Ok(None);
                }
                Err(TraceError::Line { line, .. }) if self.is_lenient => {
                    self.checker.problems.add(Problem::Malformed, Place::Line(line));
                }
                Err(TraceError::Line { line, fault }) if self.format == Format::Columns => {
                    return Err(TraceError::Undescribed { line, fault });
                }
                Err(TraceError::Line { line, fault }) => return Err(TraceError::Malformed { line, fault }),
                Err(error) => return Err(error),
            }
        }
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn compression(&self) -> Option<Compression> {
        self.compression
    }

    pub fn clock(&self) -> Clock {
        self.records.clock()
    }

    pub fn devices(&self) -> &Devices {
        self.records.devices()
    }

    /// Lines or records read so far; events for blktrace.
    pub fn records(&self) -> u64 {
        self.records.records()
    }

    /// The header of a trace in drivelab's own format.
    pub fn header(&self) -> Option<&Header> {
        self.records.header()
    }

    /// The number of injected faults so far.
    pub fn injected(&self) -> u64 {
        self.records.injected()
    }

    /// Removes the next fault that precedes the last request or the end.
    pub fn take_injected(&mut self) -> Option<Injected> {
        self.records.take_injected()
    }

    /// What a survey says of the requests.
    pub fn remark(&self) -> Option<&'static str> {
        self.records.remark()
    }

    /// The place of the last request.
    pub fn place(&self) -> Place {
        self.place
    }

    pub fn problems(&self) -> &Problems {
        &self.checker.problems
    }
}
