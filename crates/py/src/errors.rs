//! The one map from our errors to Python's.
use crate::convert::to_python;
use drivelab_scenario::Problems;
use drivelab_simulate::RunError as SimulateError;
use drivelab_simulate::replay::ReplayError;
use pyo3::import_exception;
use pyo3::prelude::*;
use std::error::Error;
use std::io;

// The kinds are Python's, which shows the keys in a message as the reader gives them.
import_exception!(drivelab.errors, ScenarioError);
import_exception!(drivelab.errors, RunError);
import_exception!(drivelab.errors, UnfitError);
import_exception!(drivelab.errors, TimelessError);
import_exception!(drivelab.errors, TooLargeError);
import_exception!(drivelab.errors, TraceError);

/// Everything that is wrong with a scenario: the message shows each problem in its line.
pub fn scenario_error(py: Python<'_>, problems: &Problems) -> PyErr {
    match to_python(py, &problems.0) {
        Ok(list) => ScenarioError::new_err((problems.to_string(), list.unbind())),
        Err(unexpected) => unexpected,
    }
}

/// Why one point has no result.
pub fn run_error(error: &SimulateError) -> PyErr {
    match error {
        SimulateError::Trace(_) => UnfitError::new_err(error.to_string()),
        SimulateError::Timeless { .. } => TimelessError::new_err(error.to_string()),
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

/// The model broke one of its own rules; the panic message itself is on stderr.
pub fn defect() -> PyErr {
    RunError::new_err(
        "the model broke one of its own rules: this is a defect of drivelab, not of the scenario",
    )
}

/// The text of an I/O error: one of the operating system in lower case without its number, all others unchanged. As
/// `drivelab_nbd::in_words`, which is there on Unix only.
pub fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    if error.raw_os_error().is_none() {
        return text;
    }
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
