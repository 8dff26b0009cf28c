//! Copies traces to one trace: merged, reshaped and written, with counts of what was left out.
use crate::check::Problem;
use crate::devices::listed;
use crate::error::{Place, TraceError};
use crate::format::Format;
use crate::formats::native::{Header, Injected};
use crate::merge::Merge;
use crate::reader::Reader;
use crate::shape::{Remap, Shape, Shaped, Shaper};
use crate::writer::{RequestContext, Writer};
use drivelab_units::Given;
use serde::Serialize;
use std::collections::VecDeque;
use std::io::{self, Write};

/// The result of a copy.
#[derive(Serialize)]
pub struct Copied {
    /// The format of the first trace.
    pub format: &'static str,
    pub to: &'static str,
    pub read: u64,
    pub written: u64,
    /// Requests of zero bytes, requests larger than the new device, and requests of a kind that the format lacks.
    pub left_out: u64,
    /// Injected faults that were written, which only drivelab's own format allows.
    pub injected: u64,
    /// Injected faults that the format, a window or a remap left out.
    pub injected_left_out: u64,
    /// The problems: kind, count, and number of the first line.
    pub problems: Vec<(&'static str, u64, u64)>,
}

/// The reason for which a copy has failed.
pub enum Failure {
    /// An error in the input trace with this index.
    Reading(usize, TraceError),
    Writing(TraceError),
    /// `go_on` returned false.
    Stopped,
}

/// Copies all requests that the shape selects, and returns the inner writer. `go_on` is called before each request
/// with the number of requests read.
pub fn copy<W: Write>(
    merge: &mut Merge<'_>,
    (out, to): (W, Format),
    shape: Shape,
    is_lenient: bool,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<(Copied, W), Failure> {
    let first = merge.readers().next();
    let format = first.map_or("", |reader| reader.format().name());
    let plain = first.and_then(|reader| reader.header().cloned()).unwrap_or(Header::plain(merge.clock()));
    // drivelab's own format is written in nanoseconds; after a remap the device is another one.
    let device_bytes = if shape.remap.is_none() { plain.device_bytes } else { None };
    let (wanted, remap) = (shape.device.clone(), shape.remap);
    let mut shaper = Shaper::new(shape, !is_lenient).map_err(Failure::Writing)?;
    let seed = plain.seed.filter(|_| shaper.is_from_the_start());
    let header = Header { unit_ns: 1, clock: merge.clock(), seed, device_bytes, ..plain };
    let mut writer = Writer::new(out, to, header, is_lenient).map_err(Failure::Writing)?;
    let (mut read, mut left_out) = (0, 0);
    let mut faults = Faults::default();
    while go_on(read) {
        let next = merge.next_request();
        let at = merge.current();
        let Some((place, record)) = next.map_err(|error| Failure::Reading(at, error))? else {
            left_out += writer.left_out();
            let written = writer.written();
            faults
                .write(merge, &shaper, u64::MAX, &mut writer)
                .map_err(|error| Failure::Writing(error.into()))?;
            let met: u64 = merge.readers().map(Reader::injected).sum();
            let (injected, injected_left_out) = (faults.written, met - faults.written);
            check_device(wanted.as_deref(), merge.names()).map_err(Failure::Writing)?;
            let problems = problems(merge);
            let out = writer.finish().map_err(|error| Failure::Writing(error.into()))?;
            let to = to.name();
            return Ok((
                Copied { format, to, read, written, left_out, injected, injected_left_out, problems },
                out,
            ));
        };
        read += 1;
        let device = merge.name(record.device);
        match shaper.take(&record, device) {
            Shaped::Kept(record) => {
                faults
                    .write(merge, &shaper, record.time_ns, &mut writer)
                    .map_err(|error| Failure::Writing(error.into()))?;
                let device = merge.name(record.device);
                let context = RequestContext { device, clock: merge.clock(), place };
                writer.write(&record, &context).map_err(|error| match error {
                    TraceError::Io(_) => Failure::Writing(error),
                    error => Failure::Reading(at, error),
                })?;
            }
            Shaped::Dropped => {}
            Shaped::LeftOut if is_lenient => left_out += 1,
            Shaped::LeftOut => return Err(Failure::Reading(at, unfit(place, record.length, remap))),
            Shaped::Over => merge.end(),
        }
    }
    Err(Failure::Stopped)
}

/// Injected faults that are being copied.
#[derive(Default)]
struct Faults {
    waiting: VecDeque<Injected>,
    written: u64,
}

impl Faults {
    /// Writes the faults before a time of the copy.
    fn write<W: Write>(
        &mut self,
        merge: &mut Merge<'_>,
        shaper: &Shaper,
        before_ns: u64,
        writer: &mut Writer<W>,
    ) -> io::Result<()> {
        while let Some(injected) = merge.take_injected() {
            let moment = shaper.moment(injected.time_ns);
            self.waiting.extend(moment.map(|time_ns| Injected { time_ns, ..injected }));
        }
        while let Some(&injected) = self.waiting.front().filter(|injected| injected.time_ns <= before_ns) {
            self.waiting.pop_front();
            self.written += u64::from(writer.inject(injected)?);
        }
        Ok(())
    }
}

/// Why a request cannot be kept: it has no bytes, or more than the device that it is remapped to.
fn unfit(place: Place, length: u64, remap: Option<Remap>) -> TraceError {
    match remap {
        Some(remap) if length > 0 => TraceError::TooLarge { place, length, device: remap.to_bytes() },
        _ => TraceError::Problem { place, problem: Problem::ZeroSize },
    }
}

/// Returns an error if no request was of the device that is copied; `met` are those of all requests.
fn check_device(wanted: Option<&str>, met: &[String]) -> Result<(), TraceError> {
    match wanted {
        Some(device) if !met.is_empty() && met.iter().all(|name| name != device) => {
            let met = listed(met);
            let device = Given("trace.device", device);
            Err(TraceError::Option(format!("{device}: there is no such device; the trace has {met}")))
        }
        _ => Ok(()),
    }
}

fn problems(merge: &Merge<'_>) -> Vec<(&'static str, u64, u64)> {
    let met = merge.readers().flat_map(|reader| reader.problems().met());
    met.map(|(problem, count)| (problem.name(), count.count, count.first)).collect()
}
