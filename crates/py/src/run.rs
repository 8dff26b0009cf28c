//! Many runs side by side with Python at the helm: a thread of ours simulates, Python's main thread stays free for Ctrl-C.
//!
//! The caller's thread gives the interpreter lock back, sleeps on a channel and takes the lock again only to hand over a
//! result, to show progress and to look for signals. A signal, or an exception of `on_progress`, sets the stop flag:
//! what has finished by then is kept.
#![expect(
    clippy::disallowed_types,
    reason = "how often to look for signals is real time, and no result depends on it"
)]

use crate::convert::to_python;
use crate::errors::run_error;
use crate::plan::Plan;
use drivelab_core::Setup;
use drivelab_record::Point;
use drivelab_simulate::{RunError, run_many};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
/// to what was written.
#[pyfunction]
#[pyo3(signature = (plans, workers, on_progress=None, log=0, check_data=false))]
pub fn run<'py>(
    py: Python<'py>,
    plans: Vec<PyRef<'py, Plan>>,
    workers: usize,
    on_progress: Option<&Bound<'py, PyAny>>,
    log: u64,
    check_data: bool,
) -> PyResult<Vec<Bound<'py, PyList>>> {
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
    let results = py.detach(|| run_detached(&setups, workers, on_progress.as_ref()))?;
    let mut entries = results.into_iter();
    let mut lists = Vec::with_capacity(lengths.len());
    for length in lengths {
        let list = PyList::empty(py);
        for result in entries.by_ref().take(length) {
            list.append(entry(py, result)?)?;
        }
        lists.push(list);
    }
    Ok(lists)
}

fn entry(py: Python<'_>, result: Option<Result<Point, RunError>>) -> PyResult<Py<PyAny>> {
    match result {
        Some(Ok(point)) => Ok(to_python(py, &point)?.unbind()),
        None | Some(Err(RunError::Interrupted)) => Ok(py.None()),
        Some(Err(error)) => Ok(run_error(&error).into_value(py).into_any()),
    }
}

/// Everything that happens without the interpreter lock.
fn run_detached(
    setups: &[Setup],
    workers: usize,
    on_progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Option<Result<Point, RunError>>>> {
    let shared =
        Shared { stop: AtomicBool::new(false), shares: setups.iter().map(|_| AtomicU32::new(0)).collect() };
    let mut results: Vec<Option<Result<Point, RunError>>> = setups.iter().map(|_| None).collect();
    let watched = thread::scope(|scope| {
        let (sender, receiver) = channel();
        let shared = &shared;
        scope.spawn(move || {
            // A panic of the model ends its run: the sender is dropped, and the caller sees points missing.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                run_many(
                    setups,
                    workers,
                    &shared.stop,
                    |index, share| shared.progress(index, share),
                    // The receiver outlives this thread.
                    |index, result| drop(sender.send((index, result))),
                );
            }));
        });
        watch(&receiver, shared, &mut results, on_progress)
    });
    let interrupted = watched?;
    if !interrupted && results.iter().any(Option::is_none) {
        return Err(crate::errors::defect());
    }
    Ok(results)
}

/// Takes results until the workers are done; returns whether a signal asked them to end early.
fn watch(
    receiver: &Receiver<Arrived>,
    shared: &Shared,
    results: &mut [Option<Result<Point, RunError>>],
    on_progress: Option<&Py<PyAny>>,
) -> PyResult<bool> {
    let mut outcome = Ok(false);
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok((index, result)) => {
                shared.progress(index, 1.0);
                results[index] = Some(result);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return outcome,
        }
        if let Err(error) = Python::attach(|py| look(py, shared, on_progress)) {
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
