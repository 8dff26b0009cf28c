//! The figures that a measured point has beyond those of every point.
use crate::drain::UnderWay;
use crate::failures::Failures;
use crate::steady::SteadyRecord;
use drivelab_record::{Latencies, LatencySummary, Point};
use serde::Serialize;

/// A measured point: the record of a simulated one, and the figures that a real device adds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MeasuredPoint {
    #[serde(flatten)]
    pub point: Point,
    pub measured: Measured,
    /// The first commands, if a log was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<LoggedCommand>>,
}

/// How it was measured. Times in nanoseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Measured {
    /// `io_uring`, `threads`, `nbd` or `null`.
    pub engine: &'static str,
    /// Why it is not the engine that is tried first; null where it is.
    pub engine_note: Option<String>,
    /// Whether the buffers were registered with the kernel.
    pub registered_buffers: bool,
    /// Whether reads and writes bypassed the page cache.
    pub direct: bool,
    pub direct_refused: bool,
    /// Maximum number of outstanding commands.
    pub slots: u32,
    /// From when a command was due until the kernel had accepted it.
    pub submission_ns: LatencySummary,
    /// HdrHistogram V2, deflated, base64.
    pub submission_histogram: String,
    /// From then until its completion was received.
    pub device_ns: LatencySummary,
    pub device_histogram: String,
    /// Processor time of this process in the window, kernel included, per I/O; null where no I/O finished.
    pub cpu_ns_per_io: Option<f64>,
    /// The same as a share of the window: 1 is a whole core.
    pub cpu_share: Option<f64>,
    /// Bytes read and written since the start of the run, its warm-up included.
    pub moved_bytes: [u64; 2],
    /// The same of all that was sent to the device, with what failed or was never answered.
    pub issued_bytes: [u64; 2],
    pub failures: Failures,
    /// Commands outstanding when the window closed.
    pub under_way: UnderWay,
    /// Why the connection to the device was lost; only if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// Only if the window was to begin once the device was steady.
    pub steady: Option<SteadyRecord>,
}

/// A logged command, with the keys of a simulated one. Stamps are nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct LoggedCommand {
    pub id: u64,
    pub access: &'static str,
    pub first_sector: u64,
    pub sectors: u64,
    pub outcome: &'static str,
    /// When it was due.
    pub intended_ns: u64,
    /// When the kernel had accepted it.
    pub submitted_ns: u64,
    pub completed_ns: u64,
}

/// The summary of a histogram, and the histogram as text.
pub fn summary(latencies: &Latencies) -> (LatencySummary, String) {
    (latencies.into(), latencies.to_hdr_base64())
}
