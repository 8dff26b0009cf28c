//! A workload on a real device: a thread of ours measures, and Python's main thread stays free for signals.
#![expect(
    clippy::disallowed_types,
    reason = "how often to look for signals is real time, and no result depends on it"
)]

use crate::convert::to_python;
use crate::devices::measure_error;
use crate::plan::Plan;
use drivelab_core::Setup;
use drivelab_measure::{
    Control, DeviceAddress, Identity, IoEngine, MeasureOptions, OnError, Steady, fits_export,
    measure as measure_setup,
};
use drivelab_units::Span;
use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Twenty checks per second: Ctrl-C feels immediate and costs nothing.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How a workload is to be measured, as Python passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    /// None for an address, or no device at all.
    path: Option<PathBuf>,
    /// The address of a network block device.
    address: Option<String>,
    engine: String,
    may_write: bool,
    /// `st_dev`, `st_ino` and `st_rdev` of the file or device that was checked.
    identity: Option<(u64, u64, u64)>,
    direct: bool,
    goes_on: bool,
    /// The length of a round in nanoseconds, and the maximum number of rounds, until the device is steady.
    steady: Option<(u64, u32)>,
    /// Replaces the plan's seed.
    seed: Option<u64>,
    /// Number of commands to log.
    log: u64,
}

fn io_engine(engine: &str) -> PyResult<IoEngine> {
    match engine {
        "auto" => Ok(IoEngine::Auto),
        "io_uring" => Ok(IoEngine::Uring),
        "threads" => Ok(IoEngine::Threads),
        "nbd" => Ok(IoEngine::Nbd),
        other => Err(PyValueError::new_err(format!(
            "no engine is called {other}: there are auto, io_uring, threads and nbd"
        ))),
    }
}

/// Whether the export at an address supports what every point of a plan needs; nothing is read or written.
/// Raises `RunError`.
#[pyfunction]
pub fn measure_fits(py: Python<'_>, plan: PyRef<'_, Plan>, address: &str, engine: &str) -> PyResult<()> {
    let io_engine = io_engine(engine)?;
    let setups: Vec<Setup> = plan.inner.points.iter().map(|point| point.setup.clone()).collect();
    drop(plan);
    let export =
        py.detach(|| crate::devices::nbd::open(address).map(|connection| connection.export().clone()));
    let export = export.map_err(|error| crate::devices::nbd::failed(address, &error))?;
    setups
        .iter()
        .try_for_each(|setup| fits_export(address, &export, io_engine, &setup.jobs))
        .map_err(|error| measure_error(&error))
}

impl Options {
    fn to_options(&self) -> PyResult<MeasureOptions> {
        let io_engine = io_engine(&self.engine)?;
        Ok(MeasureOptions {
            at: match (&self.address, &self.path) {
                (Some(address), _) => DeviceAddress::Address(address.clone()),
                (None, Some(path)) => DeviceAddress::Path(path.clone()),
                (None, None) => DeviceAddress::Null,
            },
            io_engine,
            may_write: self.may_write,
            identity: self.identity.map(|(file_system, inode, device)| Identity {
                file_system,
                inode,
                device,
            }),
            direct: self.direct,
            on_error: if self.goes_on { OnError::GoOn } else { OnError::Stop },
            steady: self
                .steady
                .map(|(round, rounds_max)| Steady { round: Span::from_ns(round.max(1)), rounds_max }),
        })
    }
}

/// Measures the point at index `place` of a plan. `on_progress` is called with the completed share.
///
/// Returns the point, and whether a signal ended it: it has the figures up to then. Raises `RunError` if
/// nothing can be measured, and whatever `on_progress` raises.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python brings is converted for this call")]
pub fn measure<'py>(
    py: Python<'py>,
    plan: PyRef<'py, Plan>,
    place: usize,
    options: Options,
    on_progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    let point = plan.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
    let seed = options.seed.unwrap_or(point.setup.seed);
    let setup = Setup { seed, traces: options.log, ..point.setup.clone() };
    drop(plan);
    let measure_options = options.to_options()?;
    let on_progress = on_progress.map(Bound::unbind);
    let stop = AtomicBool::new(false);
    let share = Mutex::new(0.0);
    let (found, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let (setup, measure_options, stop, share) = (&setup, &measure_options, &stop, &share);
            scope.spawn(move || {
                let progress = |done: f64| {
                    if let Ok(mut share) = share.lock() {
                        *share = done;
                    }
                };
                let control = Control { stop, progress: &progress };
                // A panic drops its end of the channel, and is a defect.
                if let Ok(found) =
                    catch_unwind(AssertUnwindSafe(|| measure_setup(setup, measure_options, &control)))
                {
                    drop(sender.send(found));
                }
            });
            let mut raised: Option<PyErr> = None;
            loop {
                match receiver.recv_timeout(POLL_INTERVAL) {
                    Ok(found) => return (Some(found), raised),
                    Err(RecvTimeoutError::Disconnected) => return (None, raised),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let done = share.lock().map_or(0.0, |share| *share);
                if let Err(error) = Python::attach(|py| poll_python(py, on_progress.as_ref(), done)) {
                    stop.store(true, Ordering::Relaxed);
                    // The first exception counts.
                    raised = raised.or(Some(error));
                }
            }
        })
    });
    let interrupted = match raised {
        None => false,
        Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => true,
        Some(error) => return Err(error),
    };
    let Some(found) = found else { return Err(crate::errors::defect()) };
    Ok((to_python(py, &found.map_err(|error| measure_error(&error))?)?, interrupted))
}

fn poll_python(py: Python<'_>, on_progress: Option<&Py<PyAny>>, share: f64) -> PyResult<()> {
    py.check_signals()?;
    match on_progress {
        Some(on_progress) => on_progress.call1(py, (share,)).map(drop),
        None => Ok(()),
    }
}
