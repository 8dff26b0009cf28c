//! How likely an array is to lose data: what is asked, read; a question as JSON text, and its losses.
use crate::convert::to_python;
use crate::run::POLL_INTERVAL;
use crate::trace::check_signals;
use drivelab_durability::asked::{self, Question};
use drivelab_durability::monte_carlo::{ChunkRunner, Histories, Job, Workers, chunks};
use drivelab_durability::{Outcome, Plan, Problem, solve_with};
use drivelab_scenario::text::problem::Place;
use drivelab_scenario::text::tree::{Node, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt};
use serde::Serialize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Outcome(Box<Outcome>),
    Problems(Vec<Problem>),
}

/// Chunks of histories that a Python function runs.
struct PythonRunner {
    function: Py<PyAny>,
    /// The exception that it raised.
    raised: Mutex<Option<PyErr>>,
}

impl ChunkRunner for PythonRunner {
    fn run(&self, job: &Job, from: u64, to: u64) -> Option<Vec<Histories>> {
        let called = Python::attach(|py| {
            let job = serde_json::to_string(job).map_err(|error| unreadable(&error))?;
            self.function.call1(py, (job, from, to))?.extract::<Vec<Vec<u64>>>(py)
        });
        let found = called.and_then(|chunks| {
            let read = chunks.iter().map(|bits| Histories::of_bits(bits)).collect::<Option<Vec<_>>>();
            let read = read.filter(|read| read.len() as u64 == to - from);
            read.ok_or_else(|| {
                PyValueError::new_err("these are not the chunks of histories that were asked for")
            })
        });
        match found {
            Ok(chunks) => Some(chunks),
            Err(error) => {
                *self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                None
            }
        }
    }
}

fn unreadable(error: &serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The losses of the array in a question, `{"array": .., "settings": ..}`: `{"outcome": ..}` or
/// `{"problems": [..]}`.
///
/// `histories` runs chunks of histories in place of the threads of this process: it is called with a job, the
/// number of its first chunk and the number after its last, and returns what `durability_chunks` does.
///
/// Raises `ValueError` if the text is not a question, and whatever `histories` raises.
#[pyfunction]
#[pyo3(signature = (question, histories=None))]
pub fn durability<'py>(
    py: Python<'py>,
    question: &str,
    histories: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let question: Question = serde_json::from_str(question).map_err(|error| unreadable(&error))?;
    let called = histories.map(|function| PythonRunner { function, raised: Mutex::new(None) });
    let stop = AtomicBool::new(false);
    let runner = called.as_ref().map(|called| -> &dyn ChunkRunner { called });
    let workers = Workers { runner, stop: &stop };
    let settings = question.settings;
    let solved = || Plan::check(question.array).and_then(|plan| solve_with(&plan, &settings, workers));
    // A Python function hears of signals itself.
    let answer = if called.is_some() { py.detach(solved) } else { py.detach(|| watched(&stop, solved))? };
    let raised = called.and_then(|called| called.raised.into_inner().unwrap_or_default());
    if let Some(error) = raised {
        return Err(error);
    }
    let answer = answer.map_or_else(Answer::Problems, |outcome| Answer::Outcome(Box::new(outcome)));
    to_python(py, &answer)
}

/// Runs on a thread of its own, so that this one hears of signals meanwhile: what one raises stops the work.
fn watched<T: Send>(stop: &AtomicBool, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    thread::scope(|scope| {
        // The end of the work closes the channel; nothing is ever sent.
        let (open, closed) = channel::<()>();
        let worker = scope.spawn(move || {
            let found = work();
            drop(open);
            found
        });
        while closed.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            Python::attach(check_signals).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        }
        worker.join().map_err(|_| crate::errors::defect())
    })
}

/// What is asked by these values of the keys of a question: `levels`, `questions`, one for each level, the `ends` of the
/// failure rate as laws, and `problems`. Nothing is run.
#[pyfunction]
pub fn durability_asked<'py>(py: Python<'py>, options: &Bound<'_, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let given = options.iter().map(|(key, given)| Ok((key.extract()?, value(&given))));
    to_python(py, &asked::asked(given.collect::<PyResult<_>>()?))
}

/// What a notebook or a file gives for a key, as the reader takes it; anything else is no value of a key.
fn value(given: &Bound<'_, PyAny>) -> Value {
    if let Ok(flag) = given.extract() {
        Value::Flag(flag)
    } else if let Ok(text) = given.extract() {
        Value::Text(text)
    } else if let Ok(items) = given.extract::<Vec<Bound<'_, PyAny>>>() {
        Value::List(items.iter().map(|one| Node { place: Place::default(), value: value(one) }).collect())
    } else if given.is_instance_of::<PyInt>() || given.is_instance_of::<PyFloat>() {
        // A whole number of any length, too.
        given.str().map_or(Value::Date, |text| Value::Decimal(text.to_string()))
    } else {
        Value::Date
    }
}

/// A value as typed, by the name of its kind: `hours`, `chance`, `capacity`, `number` or `whole`.
///
/// Raises `ValueError` with what is wrong and the remedy.
#[pyfunction]
pub fn durability_value(kind: &str, text: &str) -> PyResult<f64> {
    asked::value(kind, text).map_err(PyValueError::new_err)
}

/// Chunks of the histories of a job, from one number up to another: of each its sums, to the bit.
///
/// Raises `ValueError` if the text is not a job.
#[pyfunction]
pub fn durability_chunks(py: Python<'_>, job: &str, first: u64, last: u64) -> PyResult<Vec<Vec<u64>>> {
    let job: Job = serde_json::from_str(job).map_err(|error| unreadable(&error))?;
    let plan = Plan::check(job.array).map_err(|_| PyValueError::new_err("the array of the job cannot be"))?;
    let found = py.detach(|| chunks(&plan, job.way, job.seed, first, last));
    Ok(found.iter().map(Histories::bits).collect())
}
