//! Statistics of a trace, collected in one pass and bounded memory: [`Survey::take`] for each request, then
//! [`Survey::report`].
//!
//! Start reading here. Each statistic has its own file: sizes, arrivals, locality, working set, response times and
//! queue depth, and the course over time.
pub mod arrivals;
pub mod blocks;
pub mod locality;
pub mod responses;
pub mod series;
pub mod sizes;

use crate::error::TraceError;
use crate::reader::Reader;
use crate::record::{Kind, Record};
use serde::Serialize;

/// The most devices that a report lists by name, those with the most requests first.
const DEVICES_LISTED: usize = 64;

/// Requests and bytes of one kind.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Total {
    pub requests: u64,
    pub bytes: u64,
}

/// Counts of a trace so far.
#[derive(Default)]
pub struct Survey {
    totals: [Total; Kind::ALL.len()],
    first_ns: Option<u64>,
    last_ns: u64,
    by_device: Vec<u64>,
    sizes: sizes::Sizes,
    arrivals: arrivals::Arrivals,
    locality: locality::Locality,
    blocks: blocks::Blocks,
    responses: responses::Responses,
    series: series::Series,
}

impl Survey {
    /// Counts one request.
    pub fn take(&mut self, record: &Record) {
        let total = &mut self.totals[record.kind as usize];
        total.requests += 1;
        total.bytes = total.bytes.saturating_add(record.length);
        self.first_ns = Some(self.first_ns.map_or(record.time_ns, |first| first.min(record.time_ns)));
        self.last_ns = self.last_ns.max(record.time_ns);
        let device = record.device as usize;
        if self.by_device.len() <= device {
            self.by_device.resize(device + 1, 0);
        }
        self.by_device[device] += 1;
        self.arrivals.take(record.time_ns);
        self.series.take(record);
        self.responses.take(record);
        if record.kind.is_transfer() {
            self.sizes.take(record);
            self.locality.take(record);
            self.blocks.take(record);
        }
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.totals.iter().map(|total| total.requests).sum()
    }

    /// The report of all statistics; an error if there was no request.
    pub fn report(&self, reader: &Reader<'_>) -> Result<Report, TraceError> {
        let Some(first_ns) = self.first_ns else { return Err(TraceError::Empty) };
        let [read, write, flush, discard] = self.totals;
        let problems = reader.problems().met().map(|(problem, count)| ReportedProblem {
            kind: problem.name(),
            count: count.count,
            first_line: count.first,
        });
        Ok(Report {
            format: reader.format().name(),
            compression: reader.compression().map(crate::compression::Compression::name),
            clock: reader.clock().name(),
            counts: Counts {
                records: reader.records(),
                requests: self.requests(),
                reads: read.requests,
                writes: write.requests,
                flushes: flush.requests,
                discards: discard.requests,
                bytes_read: read.bytes,
                bytes_written: write.bytes,
                bytes_discarded: discard.bytes,
                first_ns,
                last_ns: self.last_ns,
                devices: reader.devices().len(),
            },
            problems: problems.collect(),
            notes: reader.remark().into_iter().collect(),
            device_list: self.device_list(reader),
            sizes: self.sizes.report(),
            arrivals: self.arrivals.report(),
            locality: self.locality.report(),
            working_set: self.blocks.report(),
            responses: self.responses.report(),
            over_time: self.series.report(),
        })
    }

    fn device_list(&self, reader: &Reader<'_>) -> Vec<Device> {
        let mut places: Vec<usize> = (0..self.by_device.len()).collect();
        places.sort_by_key(|&place| (std::cmp::Reverse(self.by_device[place]), place));
        places.truncate(DEVICES_LISTED);
        let device = |place: usize| {
            let name = reader.devices().name(place as u32).to_owned();
            Device { name, requests: self.by_device[place], highest_byte: self.locality.highest(place) }
        };
        places.into_iter().map(device).collect()
    }
}

/// A problem, and how often it occurred.
#[derive(Serialize)]
pub struct ReportedProblem {
    kind: &'static str,
    count: u64,
    first_line: u64,
}

/// A device of the trace.
#[derive(Serialize)]
pub struct Device {
    name: String,
    requests: u64,
    /// The end of the highest byte that is read or written.
    highest_byte: u64,
}

/// The numbers of requests and bytes, and the time span.
#[derive(Serialize)]
struct Counts {
    records: u64,
    requests: u64,
    reads: u64,
    writes: u64,
    flushes: u64,
    discards: u64,
    bytes_read: u64,
    bytes_written: u64,
    bytes_discarded: u64,
    first_ns: u64,
    last_ns: u64,
    devices: usize,
}

/// What `drivelab trace info --json` prints.
#[derive(Serialize)]
pub struct Report {
    format: &'static str,
    compression: Option<&'static str>,
    clock: &'static str,
    #[serde(flatten)]
    counts: Counts,
    problems: Vec<ReportedProblem>,
    /// What is to be known of the requests before their figures are used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'static str>,
    device_list: Vec<Device>,
    sizes: sizes::Report,
    arrivals: arrivals::Report,
    locality: locality::Report,
    working_set: blocks::Report,
    responses: Option<responses::Report>,
    over_time: series::Report,
}
