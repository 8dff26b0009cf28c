//! A validation trace replayed against the target of a plan's first point, column by column.
use crate::convert::to_python;
use crate::errors::{replay_error, trace_error};
use crate::plan::Plan;
use drivelab_core::{Access, Breakdown};
use drivelab_simulate::Control;
use drivelab_simulate::replay::{Replay, Request, replay as run};
use drivelab_trace::{Measured, validation};
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// One entry per request in each list.
#[derive(Serialize)]
struct Columns {
    /// Sectors of the target.
    capacity: u64,
    read: Vec<bool>,
    first: Vec<u64>,
    count: Vec<u64>,
    measured_ns: Vec<u64>,
    simulated_ns: Vec<u64>,
    /// Keyed by the names of the parts.
    breakdown_ns: BTreeMap<&'static str, Vec<u64>>,
}

/// Replays the validation trace in a file against the target of a plan's first point.
///
/// Raises `TraceError` for a file that is not such a trace, or whose requests exceed the target, and
/// `RunError` for errors after that.
#[pyfunction]
pub fn replay<'py>(py: Python<'py>, plan: PyRef<'py, Plan>, trace: PathBuf) -> PyResult<Bound<'py, PyAny>> {
    let setup = plan.inner.points[0].setup.clone();
    drop(plan);
    let (stop, signal) = (AtomicBool::new(false), OnceLock::new());
    let replayed = py.detach(|| {
        let file = File::open(trace).map_err(|error| trace_error(&error))?;
        let measured = validation::read(file).map_err(|error| trace_error(&error))?;
        let requests: Vec<Request> = measured.iter().map(request).collect();
        let poll = |_| {
            if let Err(raised) = Python::attach(check_signals) {
                stop.store(true, Ordering::Relaxed);
                // The first exception counts.
                let _ = signal.set(raised);
            }
        };
        let control = Control { stop: &stop, progress: &poll };
        run(&setup.target, setup.seed, &requests, &control)
            .map(|replay| columns(&measured, &replay))
            .map_err(|error| replay_error(&error))
    });
    if let Some(raised) = signal.into_inner() {
        return Err(raised);
    }
    to_python(py, &replayed?)
}

fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

fn request(measured: &Measured) -> Request {
    let Measured { access, first, count, gap, .. } = *measured;
    Request { access, first, count, gap }
}

fn columns(measured: &[Measured], replay: &Replay) -> Columns {
    let served = &replay.served;
    let part = |index: usize| served.iter().map(|done| done.breakdown.parts()[index].as_ns()).collect();
    Columns {
        capacity: replay.capacity.get(),
        read: measured.iter().map(|request| request.access == Access::Read).collect(),
        first: measured.iter().map(|request| request.first.get()).collect(),
        count: measured.iter().map(|request| request.count.get()).collect(),
        measured_ns: measured.iter().map(|request| request.service.as_ns()).collect(),
        simulated_ns: served.iter().map(|done| done.service().as_ns()).collect(),
        breakdown_ns: (0..).zip(Breakdown::PARTS).map(|(index, name)| (name, part(index))).collect(),
    }
}
