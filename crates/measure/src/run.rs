//! One run on a real device, from its setup to its point.
use crate::drain::DRAIN;
use crate::engine::Engine;
use crate::error::MeasureError;
use crate::identity::Identity;
use crate::ledger::{Ledger, Processor};
use crate::local::measure_local;
use crate::nbd::{self, Nbd};
use crate::null::Null;
use crate::port::Port;
use crate::report::{Measured, MeasuredPoint, summary};
use crate::steady::Steady;
use drivelab_core::Setup;
use drivelab_core::host::Host;
use drivelab_core::host::params::JobParams;
use drivelab_nbd::Export;
use drivelab_record::point::{Closing, Ended, Point};
use drivelab_ring::SLOTS_MAX;
use drivelab_units::{Instant, SECTOR_BYTES, Share, Span, key};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The device.
#[derive(Clone, Debug, Default)]
pub enum DeviceAddress {
    /// None: each request is answered at once.
    #[default]
    Null,
    Path(PathBuf),
    /// The address of a network block device, as `nbd+unix:///?socket=PATH`.
    Address(String),
}

/// The engine that carries out requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum IoEngine {
    /// NBD for an address; else io_uring, and threads where that is refused.
    #[default]
    Auto,
    Uring,
    Threads,
    Nbd,
}

/// What a run does when a command fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnError {
    #[default]
    Stop,
    GoOn,
}

/// How a run is to be measured.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    pub at: DeviceAddress,
    pub io_engine: IoEngine,
    /// Whether writes are allowed at all.
    pub may_write: bool,
    /// What the path led to when it was checked; anything else is refused.
    pub identity: Option<Identity>,
    /// Whether to bypass the page cache.
    pub direct: bool,
    pub on_error: OnError,
    /// Begin the window once the device is steady.
    pub steady: Option<Steady>,
}

impl Default for MeasureOptions {
    fn default() -> Self {
        MeasureOptions {
            at: DeviceAddress::Null,
            io_engine: IoEngine::Auto,
            may_write: false,
            identity: None,
            direct: true,
            on_error: OnError::Stop,
            steady: None,
        }
    }
}

/// How the caller follows a run and stops it: the point then has the figures up to that instant.
pub struct Control<'a> {
    pub stop: &'a AtomicBool,
    /// Called periodically with the completed share, from zero to one.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

/// Slots for an open-loop workload.
const OPEN_SLOTS: u32 = 1024;
/// Maximum memory of all buffers.
const BUFFERS_MAX: u64 = (1 << 31) - 1;

/// How the device was opened.
pub(crate) struct Reached {
    pub note: Option<String>,
    pub is_direct: bool,
    pub is_direct_refused: bool,
}

/// Runs the jobs of a setup against a device.
///
/// # Errors
/// When the workload cannot run on the device, or nothing can be opened. Errors of the device are in the
/// point.
pub fn measure(
    setup: &Setup,
    options: &MeasureOptions,
    control: &Control<'_>,
) -> Result<MeasuredPoint, MeasureError> {
    let host = host(setup, options)?;
    let slots = match host.depth_asked() {
        Some(depth) => slots_for(depth, SLOTS_MAX, "")?,
        None => OPEN_SLOTS,
    };
    let bytes = setup.jobs.iter().map(|job| job.largest().bytes().get()).max().unwrap_or(0);
    if bytes * u64::from(slots) > BUFFERS_MAX {
        let why = format!(
            "{slots} transfers of {bytes} bytes at once take more than 2 GiB of memory; ask for less"
        );
        return Err(MeasureError::Workload(why));
    }
    let reached = Reached { note: None, is_direct: true, is_direct_refused: false };
    let path = match &options.at {
        DeviceAddress::Null => {
            return measure_on(&mut Null::new(slots), host, setup, options, control, reached);
        }
        DeviceAddress::Address(address) => {
            let mut port = connected(address, options, &setup.jobs, (slots, bytes as u32), setup.seed)?;
            return measure_on(&mut port, host, setup, options, control, reached);
        }
        DeviceAddress::Path(path) => path,
    };
    if options.io_engine == IoEngine::Nbd {
        let why = "is no NBD address; the engine nbd takes one, as nbd+unix:///?socket=PATH".into();
        return Err(MeasureError::Target { path: path.into(), why });
    }
    measure_local(path, host, setup, options, control, (slots, bytes as u32))
}

/// A slot for each command that is to be outstanding: with fewer the rest would wait here, and not at the device.
pub(crate) fn slots_for(depth: u64, most: u32, how: &str) -> Result<u32, MeasureError> {
    match u32::try_from(depth) {
        Ok(slots) if slots <= most => Ok(slots.max(1)),
        _ => Err(MeasureError::Workload(format!(
            "{depth} commands outstanding, and at most {most} can be{how}; give a smaller {} or {}",
            key!("workload.iodepth"),
            key!("workload.numjobs")
        ))),
    }
}

fn host(setup: &Setup, options: &MeasureOptions) -> Result<Host, MeasureError> {
    let wrong = |why: &str| Err(MeasureError::Workload(why.into()));
    if setup.fed.is_some() {
        return wrong("a recorded trace is replayed on simulated drives only; give it jobs");
    }
    if setup.limit.duration.is_none() && setup.limit.ios.is_none() && !setup.jobs_end() {
        return wrong(concat!(
            "a run on a device ends after a time or a number of I/Os: give ",
            key!("run.duration"),
            " or ",
            key!("run.ios")
        ));
    }
    if setup.limit.duration.is_some() && setup.jobs.iter().any(|job| job.ending.flushes) {
        return wrong(concat!(
            "a device is flushed after io_size, and not after a time: leave ",
            key!("workload.end_fsync"),
            " or ",
            key!("run.duration"),
            " out"
        ));
    }
    let is_written = setup.jobs.iter().any(|job| job.reads != Share::ALL);
    if is_written && !options.may_write {
        return wrong(concat!(
            "it writes, and nothing is written unless that is asked for: ",
            key!("write", "true"),
            " ",
            key!("yes_destroy")
        ));
    }
    Host::new(&setup.jobs, setup.seed).map_err(|error| MeasureError::Workload(error.to_string()))
}

/// The port to an address, with this many slots of this many bytes.
fn connected(
    address: &str,
    options: &MeasureOptions,
    jobs: &[JobParams],
    (slots, bytes): (u32, u32),
    seed: u64,
) -> Result<Nbd, MeasureError> {
    let port = Nbd::new(address, jobs, slots, bytes, seed)?;
    fits_export(address, port.export(), options.io_engine, jobs)?;
    Ok(port)
}

/// Whether an export supports what the jobs need.
///
/// # Errors
/// What does not fit, with its remedy.
pub fn fits_export(
    address: &str,
    export: &Export,
    io_engine: IoEngine,
    jobs: &[JobParams],
) -> Result<(), MeasureError> {
    let wrong = |why: String| MeasureError::Target { path: address.into(), why };
    if matches!(io_engine, IoEngine::Uring | IoEngine::Threads) {
        let what = key!("engine");
        return Err(wrong(format!("is an address, which the engine nbd measures; leave {what} out")));
    }
    nbd::check(export, jobs).map_err(wrong)?;
    let granularity = u64::from(export.block_least_bytes);
    check(export.size_bytes, granularity, "in a request", Path::new(address), jobs)
}

/// Whether the target supports what the jobs need.
pub(crate) fn check(
    bytes: u64,
    granularity: u64,
    how: &str,
    path: &Path,
    jobs: &[JobParams],
) -> Result<(), MeasureError> {
    let wrong = |why: String| Err(MeasureError::Target { path: path.into(), why });
    for job in jobs {
        let end = (job.first + job.count).get() * SECTOR_BYTES;
        if end > bytes {
            return wrong(format!(
                "has {bytes} bytes, and the workload goes up to {end}; give a {} and {} that fit",
                key!("workload.size"),
                key!("workload.offset")
            ));
        }
        let sizes = job.sizes.iter().map(|share| share.size.bytes().get());
        let all = sizes.chain([job.first.get() * SECTOR_BYTES, job.align.bytes().get()]);
        if let Some(odd) = all.into_iter().find(|bytes| bytes % granularity != 0) {
            return wrong(format!(
                "takes multiples of {granularity} bytes {how}, and the workload has {odd}; \
                 give another {} or {}",
                key!("workload.bs"),
                key!("workload.offset")
            ));
        }
    }
    Ok(())
}

pub(crate) fn measure_on<P: Port>(
    port: &mut P,
    host: Host,
    setup: &Setup,
    options: &MeasureOptions,
    control: &Control<'_>,
    reached: Reached,
) -> Result<MeasuredPoint, MeasureError> {
    // Waits should end on time: by default the kernel lets them end up to 50 us late. If this is refused,
    // they end late.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let depth_asked = host.depth_asked();
    let (name, slots, has_registered) = (port.name(), port.slots(), port.has_registered_buffers());
    let mut engine = Engine::new(host, Ledger::new(setup, options.steady), port, setup, options.on_error);
    let (ended, why) = engine.run(control)?;
    // Processor time of the window, without the drain that follows.
    let after = Processor::read(ended);
    let under_way = engine.drain(ended, DRAIN);
    let Engine { host, mut ledger, .. } = engine;
    let lost = port.lost();
    let spent = processor_use(ledger.processor, after);
    let point = close(&mut ledger, &host, ended, why, depth_asked)?;
    let ios = point.latency_ns.n;
    let steady = ledger.steady_record();
    let (submission_ns, submission_histogram) = summary(&ledger.submission);
    let (device_ns, device_histogram) = summary(&ledger.device);
    let measured = Measured {
        engine: name,
        engine_note: reached.note,
        registered_buffers: has_registered,
        direct: reached.is_direct,
        direct_refused: reached.is_direct_refused,
        slots,
        submission_ns,
        submission_histogram,
        device_ns,
        device_histogram,
        cpu_ns_per_io: spent.filter(|_| ios > 0).map(|(used, _)| used / ios as f64),
        cpu_share: spent.map(|(used, window)| used / window),
        moved_bytes: ledger.moved_bytes,
        issued_bytes: ledger.issued_bytes,
        failures: ledger.failures,
        under_way,
        lost,
        steady,
    };
    let commands = (setup.traces > 0).then_some(ledger.log);
    let series = ledger.collector.into_series(ended.max(ledger.start));
    Ok(MeasuredPoint { point: Point { series, ..point }, measured, commands })
}

/// Closes the accounts of the window and makes its point. An error if they disagree.
fn close(
    ledger: &mut Ledger,
    host: &Host,
    ended: Instant,
    why: Ended,
    depth_asked: Option<u64>,
) -> Result<Point, MeasureError> {
    let accounts = ledger.collector.close(ended);
    if !accounts.agree() {
        return Err(MeasureError::Accounts(format!("{accounts:?}")));
    }
    let window = if ended > ledger.start { ended - ledger.start } else { Span::ZERO };
    let oldest_unfinished = host.oldest_unfinished().map(|intended| ended.max(intended).since(intended));
    let digest = ledger.digest.value();
    let closing = Closing {
        window,
        ended: why,
        oldest_unfinished,
        accounts,
        depth_asked,
        in_drives_ns: None,
        turns: None,
        digest,
    };
    Ok(Point::new(&ledger.collector, &closing))
}

/// Nanoseconds of processor time between two readings, and nanoseconds between them; `None` without a first reading or
/// without time between them.
fn processor_use(before: Option<Processor>, after: Processor) -> Option<(f64, f64)> {
    let before = before.filter(|before| after.at > before.at)?;
    Some(((after.used - before.used).as_ns() as f64, (after.at - before.at).as_ns() as f64))
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
