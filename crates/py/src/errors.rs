//! The one map from our errors to Python's.
use crate::convert::to_python;
use drivelab_emulate::EmulateError;
use drivelab_measure::MeasureError;
use drivelab_scenario::Problems;
use drivelab_simulate::RunError as SimulateError;
use drivelab_simulate::replay::ReplayError;
use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::error::Error;

create_exception!(
    drivelab._core,
    ScenarioError,
    PyValueError,
    "The scenario cannot be run. `problems` lists everything that is wrong with it, each with its place and remedy."
);
create_exception!(drivelab._core, RunError, PyRuntimeError, "A run ended before its limit.");
create_exception!(
    drivelab._core,
    UnfitError,
    RunError,
    "The trace of a run cannot be replayed as it is: nothing of the run is worth keeping, and another command helps."
);
create_exception!(drivelab._core, TooLargeError, PyValueError, "A quantity is larger than its kind can be.");
create_exception!(
    drivelab._core,
    TraceError,
    PyValueError,
    "A trace cannot be read, or asks for more than the drive has."
);

/// Everything that is wrong with a scenario: the message shows each problem in its line.
pub fn scenario_error(py: Python<'_>, problems: &Problems) -> PyErr {
    let error = ScenarioError::new_err(problems.to_string());
    match to_python(py, &problems.0).and_then(|list| error.value(py).setattr("problems", list)) {
        Ok(()) => error,
        Err(unexpected) => unexpected,
    }
}

/// Why one point has no result.
pub fn run_error(error: &SimulateError) -> PyErr {
    match error {
        SimulateError::Trace(_) => UnfitError::new_err(error.to_string()),
        _ => RunError::new_err(error.to_string()),
    }
}

/// Why a trace could not be replayed.
pub fn replay_error(error: &ReplayError) -> PyErr {
    match error {
        ReplayError::BeyondEnd { .. } => trace_error(error),
        _ => RunError::new_err(error.to_string()),
    }
}

/// Why a trace cannot be used.
pub fn trace_error(error: &dyn Error) -> PyErr {
    TraceError::new_err(error.to_string())
}

/// Why nothing can be served.
pub fn emulate_error(error: &EmulateError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// Why nothing could be measured.
pub fn measure_error(error: &MeasureError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// The model broke one of its own rules; the panic message itself is on stderr.
pub fn defect() -> PyErr {
    RunError::new_err(
        "the model broke one of its own rules: this is a defect of drivelab, not of the scenario",
    )
}
