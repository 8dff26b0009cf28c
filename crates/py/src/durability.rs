//! How likely an array loses data: a description as JSON text, and what is known of its losses or is wrong with it.
use crate::convert::to_python;
use drivelab_durability::{Description, Outcome, Plan, Problem, Settings, solve};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    array: Description,
    settings: Settings,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Outcome(Box<Outcome>),
    Problems(Vec<Problem>),
}

/// The losses of the array in a question, `{"array": .., "settings": ..}`: `{"outcome": ..}` or `{"problems": [..]}`.
///
/// Raises `ValueError` where the text is no question.
#[pyfunction]
pub fn durability<'py>(py: Python<'py>, question: &str) -> PyResult<Bound<'py, PyAny>> {
    let asked: Question =
        serde_json::from_str(question).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let answer = py.detach(|| Plan::check(asked.array).and_then(|plan| solve(&plan, &asked.settings)));
    let answer = answer.map_or_else(Answer::Problems, |outcome| Answer::Outcome(Box::new(outcome)));
    to_python(py, &answer)
}
