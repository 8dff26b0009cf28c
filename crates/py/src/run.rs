//! Many runs in parallel, called from Python: threads of ours simulate, and Python's main thread stays free
//! for Ctrl-C.
//!
//! The caller's thread releases the interpreter lock, sleeps on a channel and takes the lock again only to
//! deliver a result, to report progress and to check for signals. A signal, or an exception of `on_progress`,
//! sets the stop flag: results that are complete by then are kept.
#![expect(
    clippy::disallowed_types,
    reason = "how often to look for signals is real time, and no result depends on it"
)]

use crate::columns::columns;
use crate::convert::to_python;
use crate::errors::run_error;
use crate::plan::Plan;
use drivelab_core::Setup;
use drivelab_record::{Log, NAMED_MAX, Point, Row};
use drivelab_simulate::{Control, RunError, run_captured, run_many};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Twenty checks per second: Ctrl-C feels immediate and costs nothing.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Progress is stored in millionths, so that it fits an atomic integer.
const PROGRESS_SCALE: f64 = 1e6;

/// What the worker threads and the caller's thread share.
struct Shared {
    stop: AtomicBool,
    shares: Vec<AtomicU32>,
}

impl Shared {
    /// Completed points, including fractions of points.
    fn done(&self) -> f64 {
        self.shares.iter().map(|share| f64::from(share.load(Ordering::Relaxed)) / PROGRESS_SCALE).sum()
    }

    fn progress(&self, index: usize, share: f64) {
        self.shares[index].store((share * PROGRESS_SCALE) as u32, Ordering::Relaxed);
    }
}

type Arrived = (usize, Result<Point, RunError>);

/// Runs every point of every plan on `workers` threads.
///
/// Returns one list per plan, with an entry per point: the point as a dictionary, the `RunError` that ended
/// it, or None where Ctrl-C came first. `on_progress` is called with the number of completed points,
/// including fractions. Each point logs its first `log` commands, or as many as its plan says if that is
/// more. With `check_data` every read is checked against what was written. `on_plan` is called with the index
/// of a plan and its list as soon as that is complete, in the order of the plans; its return value is kept in
/// place of the list. `capture` is where a trace of the only point is written.
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
#[pyfunction]
#[pyo3(signature = (plans, workers, on_progress=None, log=0, check_data=false, on_plan=None, capture=None))]
pub fn run<'py>(
    py: Python<'py>,
    plans: Vec<PyRef<'py, Plan>>,
    workers: usize,
    on_progress: Option<&Bound<'py, PyAny>>,
    log: u64,
    check_data: bool,
    on_plan: Option<&Bound<'py, PyAny>>,
    capture: Option<PathBuf>,
) -> PyResult<Vec<Py<PyAny>>> {
    let lengths: Vec<usize> = plans.iter().map(|plan| plan.inner.points.len()).collect();
    let points = plans.iter().flat_map(|plan| &plan.inner.points);
    let with_options = |setup: &Setup| Setup {
        traces: setup.traces.max(log),
        checks_data: check_data || setup.checks_data,
        ..setup.clone()
    };
    let setups: Vec<Setup> = points.map(|point| with_options(&point.setup)).collect();
    drop(plans);
    let on_progress = on_progress.map(|callback| callback.clone().unbind());
    let on_plan = on_plan.map(|callback| callback.clone().unbind());
    let how = RunOptions { workers, capture };
    py.detach(|| run_detached(&setups, &how, on_progress.as_ref(), Plans::new(lengths, on_plan)))
}

/// The results of the plans, each converted to Python as soon as it is complete, and then dropped here.
struct Plans {
    /// How many points each plan has.
    lengths: Vec<usize>,
    on_plan: Option<Py<PyAny>>,
    /// Results received for the plans that are not complete yet, in order.
    arrived: VecDeque<Option<Result<Point, RunError>>>,
    done: Vec<Py<PyAny>>,
}

impl Plans {
    fn new(lengths: Vec<usize>, on_plan: Option<Py<PyAny>>) -> Self {
        Plans { lengths, on_plan, arrived: VecDeque::new(), done: Vec::new() }
    }

    /// Adds the result of the next point; None where it has no result.
    fn arrive(&mut self, result: Option<Result<Point, RunError>>) -> PyResult<()> {
        self.arrived.push_back(result);
        self.close()
    }

    /// Delivers the plans that are complete. If a signal interrupts the delivery of a plan, the next call
    /// repeats it.
    fn close(&mut self) -> PyResult<()> {
        while let Some(&length) = self.lengths.get(self.done.len())
            && self.arrived.len() >= length
        {
            let (place, points) = (self.done.len(), self.arrived.range_mut(..length));
            let kept = Python::attach(|py| {
                let list = PyList::empty(py);
                for point in points {
                    list.append(entry(py, point)?)?;
                }
                match &self.on_plan {
                    Some(callback) => callback.call1(py, (place, list)),
                    None => Ok(list.into_any().unbind()),
                }
            })?;
            self.arrived.drain(..length);
            self.done.push(kept);
        }
        Ok(())
    }

    /// All plans, with None for the points that are still missing.
    fn finish(mut self) -> PyResult<Vec<Py<PyAny>>> {
        self.close()?;
        while self.done.len() < self.lengths.len() {
            self.arrive(None)?;
        }
        Ok(self.done)
    }
}

fn entry(py: Python<'_>, result: &mut Option<Result<Point, RunError>>) -> PyResult<Py<PyAny>> {
    match result {
        Some(Ok(point)) => {
            let log = point.log.take();
            let found = with_log(py, point, log.as_ref());
            point.log = log;
            Ok(found?.unbind())
        }
        None | Some(Err(RunError::Interrupted)) => Ok(py.None()),
        Some(Err(error)) => Ok(run_error(error).into_value(py).into_any()),
    }
}

/// A point as a dictionary, with its log of commands as a list of rows where it is short, else as columns.
fn with_log<'py>(py: Python<'py>, point: &Point, log: Option<&Log>) -> PyResult<Bound<'py, PyAny>> {
    let found = to_python(py, point)?;
    let Some(Log { logged_from_ns, platter, commands, member_commands }) = log else { return Ok(found) };
    found.set_item("logged_from_ns", logged_from_ns)?;
    found.set_item("platter", to_python(py, platter)?)?;
    found.set_item("commands", rows(py, commands)?)?;
    if let Some(commands) = member_commands {
        found.set_item("member_commands", rows(py, commands)?)?;
    }
    Ok(found)
}

fn rows<'py>(py: Python<'py>, rows: &[impl Row]) -> PyResult<Bound<'py, PyAny>> {
    // Only a short log names the commands that overtook each other: columns hold no lists.
    if rows.len() <= NAMED_MAX { to_python(py, &rows) } else { columns(py, rows)?.into_bound_py_any(py) }
}

/// How the points are run.
struct RunOptions {
    workers: usize,
    /// Where the trace of the only point is written, if one is wanted.
    capture: Option<PathBuf>,
}

impl RunOptions {
    /// Runs all points on threads of ours; `done` receives each result in order.
    fn run(&self, setups: &[Setup], shared: &Shared, mut done: impl FnMut(usize, Result<Point, RunError>)) {
        let progress = |index: usize, share: f64| shared.progress(index, share);
        match (&self.capture, setups) {
            (Some(path), [setup]) => {
                let control = Control { stop: &shared.stop, progress: &|share| progress(0, share) };
                let file = File::create(path).map_err(|error| RunError::Capture(error.to_string()));
                done(
                    0,
                    file.and_then(|file| run_captured(setup, &control, Some(Box::new(BufWriter::new(file))))),
                );
            }
            _ => run_many(setups, self.workers, &shared.stop, progress, done),
        }
    }
}

/// Everything that happens without the interpreter lock.
fn run_detached(
    setups: &[Setup],
    how: &RunOptions,
    on_progress: Option<&Py<PyAny>>,
    mut plans: Plans,
) -> PyResult<Vec<Py<PyAny>>> {
    let shared =
        Shared { stop: AtomicBool::new(false), shares: setups.iter().map(|_| AtomicU32::new(0)).collect() };
    let mut arrived = 0;
    let watched = thread::scope(|scope| {
        let (sender, receiver) = channel();
        let shared = &shared;
        scope.spawn(move || {
            // A panic of the model ends its run: the sender is dropped, and the caller finds points missing.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                // The receiver outlives this thread.
                how.run(setups, shared, |index, result| drop(sender.send((index, result))));
            }));
        });
        watch(&receiver, shared, on_progress, |result| {
            arrived += 1;
            plans.arrive(Some(result))
        })
    });
    let interrupted = watched?;
    if !interrupted && arrived < setups.len() {
        return Err(crate::errors::defect());
    }
    plans.finish()
}

/// Receives results, in the order of their points, until the workers are done; returns whether a signal
/// stopped them early.
fn watch(
    receiver: &Receiver<Arrived>,
    shared: &Shared,
    on_progress: Option<&Py<PyAny>>,
    mut arrive: impl FnMut(Result<Point, RunError>) -> PyResult<()>,
) -> PyResult<bool> {
    let mut outcome = Ok(false);
    loop {
        let mut raised = None;
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok((index, result)) => {
                shared.progress(index, 1.0);
                // After a failure the following results are not needed.
                raised = outcome.is_ok().then(|| arrive(result).err()).flatten();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return outcome,
        }
        let raised = raised.or_else(|| Python::attach(|py| poll_python(py, shared, on_progress)).err());
        if let Some(error) = raised {
            shared.stop.store(true, Ordering::Relaxed);
            let interrupted = Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
            // A failure takes precedence over an interruption, and the first failure over later ones.
            if outcome.is_ok() {
                outcome = if interrupted { Ok(true) } else { Err(error) };
            }
        }
    }
}

fn poll_python(py: Python<'_>, shared: &Shared, on_progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(callback) = on_progress
        && !shared.stop.load(Ordering::Relaxed)
    {
        callback.call1(py, (shared.done(),))?;
    }
    Ok(())
}
