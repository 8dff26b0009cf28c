//! Traces of requests: surveyed, shown, copied in another format or shape. Files are opened here, everything
//! else is in the room below.
use crate::convert::to_python;
use crate::errors::trace_error;
use crate::trace_options::{ReadOptions, ShapeOptions};
use drivelab_trace::compression::Sink;
use drivelab_trace::copy::{Copied, Failure as CopyFailure, copy as copy_requests};
use drivelab_trace::merge::{Align, Merge};
use drivelab_trace::survey::Survey;
use drivelab_trace::{Format, Reader, Record, TraceError};
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

/// Signals are checked once per this many requests.
const REQUESTS_PER_SIGNAL_CHECK: u64 = 1 << 16;

/// An error: in the trace of a file, or in Python.
enum Failure {
    Trace(PathBuf, TraceError),
    Raised(PyErr),
}

impl Failure {
    fn raise(self) -> PyErr {
        match self {
            Failure::Raised(raised) => raised,
            // An error of the command line, not of a file.
            Failure::Trace(_, error @ (TraceError::Option(_) | TraceError::NoFormat(_))) => {
                trace_error(&error)
            }
            Failure::Trace(path, error) => {
                let whole = TraceError::Option(format!("{}: {error}", path.display()));
                trace_error(&whole)
            }
        }
    }
}

/// The name of a trace in messages: of several files what their names begin with.
fn name(files: &[PathBuf]) -> PathBuf {
    let first = files.first().cloned().unwrap_or_default();
    let text = first.to_string_lossy();
    match text.rfind(".blktrace.") {
        Some(at) if files.len() > 1 => PathBuf::from(&text[..at + ".blktrace".len()]),
        _ => first,
    }
}

fn open(files: &[PathBuf], options: &ReadOptions) -> Result<Reader<'static>, Failure> {
    let failed = |path: &Path, error| Failure::Trace(path.to_path_buf(), error);
    let parsed = options.parsed().map_err(|error| failed(&name(files), error))?;
    let mut sources: Vec<Box<dyn Read + Send>> = Vec::new();
    for path in files {
        sources.push(Box::new(File::open(path).map_err(|error| failed(path, error.into()))?));
    }
    let is_several = sources.len() > 1;
    let opened = match sources.pop() {
        Some(source) if !is_several => Reader::open(source, &parsed),
        Some(source) => {
            sources.push(source);
            Reader::open_blktrace(sources, &parsed)
        }
        None => Err(TraceError::Empty),
    };
    opened.map_err(|error| failed(&name(files), error))
}

/// Lets Ctrl-C interrupt, once per `LOOK_EVERY` requests.
fn check_signals_sometimes(requests: u64) -> Result<(), Failure> {
    if requests.is_multiple_of(REQUESTS_PER_SIGNAL_CHECK) {
        Python::attach(check_signals).map_err(Failure::Raised)?;
    }
    Ok(())
}

pub(crate) fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// All statistics of a trace.
///
/// Raises `TraceError` for anything that cannot be read, with its line.
#[pyfunction]
pub fn trace_info(py: Python<'_>, files: Vec<PathBuf>, options: ReadOptions) -> PyResult<Bound<'_, PyAny>> {
    let report = py.detach(move || {
        let mut reader = open(&files, &options)?;
        let failed = |error| Failure::Trace(name(&files), error);
        let mut survey = Survey::default();
        while let Some(record) = reader.next_request().map_err(failed)? {
            survey.take(&record);
            check_signals_sometimes(survey.requests())?;
        }
        survey.report(&reader).map_err(failed)
    });
    to_python(py, &report.map_err(Failure::raise)?)
}

/// The names of the formats that can be read and written.
#[pyfunction]
pub fn trace_formats(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let names = |formats: &[Format]| formats.iter().map(|format| format.name()).collect::<Vec<_>>();
    to_python(py, &BTreeMap::from([("read", names(&Format::ALL)), ("written", names(&Format::WRITTEN))]))
}

/// A request as a row.
#[derive(Serialize)]
struct Row {
    line: u64,
    time_ns: u64,
    device: String,
    kind: &'static str,
    offset_bytes: u64,
    length_bytes: u64,
    response_ns: Option<u64>,
}

/// The format of a trace, its first requests, and the problems up to there: kind, count, and number of the first line.
#[pyfunction]
pub fn trace_head(
    py: Python<'_>,
    files: Vec<PathBuf>,
    options: ReadOptions,
    count: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let rows = py.detach(move || {
        let mut reader = open(&files, &options)?;
        let mut rows = Vec::new();
        for _ in 0..count {
            let found = reader.next_request().map_err(|error| Failure::Trace(name(&files), error))?;
            let Some(record) = found else { break };
            rows.push(row(&reader, &record));
        }
        let met = reader.problems().met();
        let problems: Vec<_> =
            met.map(|(problem, count)| (problem.name(), count.count, count.first)).collect();
        Ok((reader.format().name(), rows, problems))
    });
    to_python(py, &rows.map_err(Failure::raise)?)
}

fn row(reader: &Reader<'_>, record: &Record) -> Row {
    Row {
        line: reader.place().number(),
        time_ns: record.time_ns,
        device: reader.devices().name(record.device).to_owned(),
        kind: record.kind.name(),
        offset_bytes: record.offset,
        length_bytes: record.length,
        response_ns: record.response_ns,
    }
}

/// Copies traces into one file, reshaped. `to` is the output format; if None, that of the first trace.
#[pyfunction]
pub fn trace_copy(
    py: Python<'_>,
    traces: Vec<Vec<PathBuf>>,
    options: ReadOptions,
    shape: ShapeOptions,
    output: PathBuf,
    to: Option<String>,
) -> PyResult<Bound<'_, PyAny>> {
    let copied = py.detach(move || copy(&traces, &options, &shape, &output, to.as_deref()));
    to_python(py, &copied.map_err(Failure::raise)?)
}

fn copy(
    traces: &[Vec<PathBuf>],
    options: &ReadOptions,
    shape: &ShapeOptions,
    output: &Path,
    to: Option<&str>,
) -> Result<Copied, Failure> {
    let failed = |error| Failure::Trace(output.to_path_buf(), error);
    let readers: Vec<_> = traces.iter().map(|files| open(files, options)).collect::<Result<_, _>>()?;
    let align = if shape.merge.as_deref() == Some("start") { Align::Start } else { Align::Clock };
    let of_first = readers.first().map_or(Format::Drivelab, Reader::format);
    let mut merge = Merge::new(readers, align).map_err(failed)?;
    let named = |name| Format::named(name).ok_or_else(|| failed(TraceError::NoFormat(name.to_owned())));
    let to = to.map_or(Ok(of_first), named)?;
    let shaped = shape.parsed().map_err(failed)?;
    let file = File::create(output).map_err(|error| failed(error.into()))?;
    let out = BufWriter::with_capacity(1 << 16, Sink::new(file, shape.gzip));
    let mut raised = None;
    let mut go_on = |read| {
        raised = check_signals_sometimes(read).err();
        raised.is_none()
    };
    let copied = copy_requests(&mut merge, (out, to), shaped, options.lenient, &mut go_on);
    let (copied, out) = copied.map_err(|failure| match (failure, raised) {
        (_, Some(raised)) => raised,
        (CopyFailure::Reading(at, error), None) => Failure::Trace(name(&traces[at]), error),
        (CopyFailure::Writing(error), None) => failed(error),
        (CopyFailure::Stopped, None) => failed(TraceError::Empty),
    })?;
    let sink = out.into_inner().map_err(|error| failed(error.into_error().into()))?;
    sink.finish().map_err(|error| failed(error.into()))?;
    Ok(copied)
}
