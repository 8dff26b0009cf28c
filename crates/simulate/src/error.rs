//! Why a run has no result.
use drivelab_core::host::feed::FeedError;
use drivelab_core::host::params::JobError;
use thiserror::Error;

/// Why a run has no result.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RunError {
    #[error("interrupted")]
    Interrupted,
    #[error("the run is to end with a rebuild, and nothing is or will be rebuilt")]
    NoRebuild,
    #[error("the workload cannot run: {0}")]
    Workload(#[from] JobError),
    #[error("the run has no end: set a duration or a number of I/Os")]
    Endless,
    #[error("the run stands still at {at_ns} ns: nothing is due and nothing is finished")]
    Stalled { at_ns: u64 },
    #[error(
        "time does not pass at {at_ns} ns: the target answers at once and the host asks again at once; \
         give the workload a thinktime or a rate"
    )]
    Timeless { at_ns: u64 },
    #[error("the target cannot keep up: {waiting} arrivals wait; ask for a lower rate or a shorter run")]
    Overloaded { waiting: usize },
    #[error("the run would last longer than a century of virtual time")]
    Endlong,
    #[error("I/O {number} of the list: {error}")]
    Feed { number: usize, error: FeedError },
    #[error("{0}")]
    Trace(String),
    #[error("the capture cannot be written: {0}")]
    Capture(String),
    #[error("a defect of drivelab: {0}")]
    Defect(String),
    #[error("the accounts of the run do not agree: {0}")]
    Accounts(String),
    #[error("the data of the run are wrong, {0}")]
    Violation(String),
    #[error(
        "the data of the run are more than can be checked: after {writes} writes of {sectors_written} sectors in all the \
         check would take more than {mib} MiB of memory; shorten the run, let it write to a smaller part (workload.size), \
         or leave the check out"
    )]
    TooMuchData { mib: u64, writes: u64, sectors_written: u64 },
    #[error(
        "the data of the run cannot be checked: hosts {one} and {other} have page caches of their own (target.host_cache) \
         over the same addresses, so that one may read what the other has overwritten, as in a real system; give each its \
         own range (offset and size of its jobs), let both go past their caches (direct = true), or leave out the check \
         and target.faults.power_cut"
    )]
    SharedByCaches { one: u16, other: u16 },
    #[error(
        "the data of a sampled rebuild cannot be checked: what lies between its places is skipped; leave out the check and \
         target.faults.power_cut, or let it run to its end (run.until = \"rebuilt\")"
    )]
    SampledData,
    #[error("the data of a station cannot be checked: it holds none; take a drive or an array as the target")]
    NoData,
}
