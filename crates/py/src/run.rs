//! Many runs side by side with Python at the helm: a thread of ours simulates, Python's main thread stays free for Ctrl-C.
//!
//! The caller's thread gives the interpreter lock back, sleeps on a channel and takes the lock again only to hand over a
//! result, to show progress and to look for signals. A signal, or an exception of `on_progress`, sets the stop flag:
//! what has finished by then is kept.
#![expect(
    clippy::disallowed_types,
    reason = "how often to look for signals is real time, and no result depends on it"
)]

use crate::columns::columns;
use crate::convert::to_python;
use crate::errors::run_error;
use crate::plan::Plan;
use drivelab_core::Setup;
use drivelab_record::{Log, NAMED_MAX, Point};
use drivelab_simulate::{Control, RunError, run_captured, run_many};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;
use std::collections::VecDeque;
use std::fs::File;
use std::io::BufWriter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Twenty looks a second: Ctrl-C feels immediate and costs nothing.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Progress is kept in millionths, so that an atomic integer holds it.
const PROGRESS_SCALE: f64 = 1e6;

/// What the worker threads and the caller's thread share.
struct Shared {
    stop: AtomicBool,
    shares: Vec<AtomicU32>,
}

impl Shared {
    /// Points done, counting parts of points.
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
/// Returns one list per plan, with an entry per point: the point as a dictionary, the `RunError` that ended it, or None
/// where Ctrl-C came first. `on_progress` is called with the number of points done, parts of points included. Each point
/// logs its first `log` commands, and as many as its plan says where that is more. With `check_data` every read is held
/// to what was written. `on_plan` is called with the place of a plan and its list as soon as that is complete, in the
/// order of the plans; what it returns is kept in place of the list. `capture` is where a trace of the only point goes.
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
    let asked = |setup: &Setup| Setup {
        traces: setup.traces.max(log),
        checks_data: check_data || setup.checks_data,
        ..setup.clone()
    };
    let setups: Vec<Setup> = points.map(|point| asked(&point.setup)).collect();
    drop(plans);
    let on_progress = on_progress.map(|callback| callback.clone().unbind());
    let on_plan = on_plan.map(|callback| callback.clone().unbind());
    let how = How { workers, capture };
    py.detach(|| run_detached(&setups, &how, on_progress.as_ref(), Plans::new(lengths, on_plan)))
}

/// The results of the plans, each as Python's as soon as it is complete, and no longer kept here then.
struct Plans {
    /// How many points each plan has.
    lengths: Vec<usize>,
    on_plan: Option<Py<PyAny>>,
    /// What has arrived of the plans that are not done yet, in order.
    arrived: VecDeque<Option<Result<Point, RunError>>>,
    done: Vec<Py<PyAny>>,
}

impl Plans {
    fn new(lengths: Vec<usize>, on_plan: Option<Py<PyAny>>) -> Self {
        Plans { lengths, on_plan, arrived: VecDeque::new(), done: Vec::new() }
    }

    /// The next point; None where it has no result.
    fn arrive(&mut self, result: Option<Result<Point, RunError>>) -> PyResult<()> {
        self.arrived.push_back(result);
        self.close()
    }

    /// Hands over the plans that are complete. One that a signal kept from it is handed over the next time.
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

    /// All plans, with nothing for the points that are missing yet.
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

/// A point as a dictionary, its logs of commands as lists where they are short, else as columns.
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

fn rows<'py>(py: Python<'py>, rows: &[impl Serialize]) -> PyResult<Bound<'py, PyAny>> {
    // Only in a short log commands are named that overtook each other: what is a column has no lists.
    if rows.len() <= NAMED_MAX { to_python(py, &rows) } else { columns(py, rows)?.into_bound_py_any(py) }
}

/// How the points are run.
struct How {
    workers: usize,
    /// Where the trace of the only point goes, when one is wanted.
    capture: Option<PathBuf>,
}

impl How {
    /// Runs all points on threads of ours; `done` has each result in order.
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
    how: &How,
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
            // A panic of the model ends its run: the sender is dropped, and the caller sees points missing.
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

/// Takes results, in the order of their points, until the workers are done; returns whether a signal asked them to end
/// early.
fn watch(
    receiver: &Receiver<Arrived>,
    shared: &Shared,
    on_progress: Option<&Py<PyAny>>,
    mut arrive: impl FnMut(Result<Point, RunError>) -> PyResult<()>,
) -> PyResult<bool> {
    let mut outcome = Ok(false);
    loop {
        let mut raised = None;
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok((index, result)) => {
                shared.progress(index, 1.0);
                // After a failure nobody wants what follows.
                raised = outcome.is_ok().then(|| arrive(result).err()).flatten();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return outcome,
        }
        let raised = raised.or_else(|| Python::attach(|py| look(py, shared, on_progress)).err());
        if let Some(error) = raised {
            shared.stop.store(true, Ordering::Relaxed);
            let interrupted = Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
            // A failure outweighs an interruption, and the first failure the later ones.
            if outcome.is_ok() {
                outcome = if interrupted { Ok(true) } else { Err(error) };
            }
        }
    }
}

fn look(py: Python<'_>, shared: &Shared, on_progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(callback) = on_progress
        && !shared.stop.load(Ordering::Relaxed)
    {
        callback.call1(py, (shared.done(),))?;
    }
    Ok(())
}
