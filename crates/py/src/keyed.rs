//! TOML files that are no scenarios: their values, and what is wrong with them at its place.
use crate::convert::to_python;
use crate::errors::scenario_error;
use drivelab_scenario::{KeyedFile, KeyedProblem};
use pyo3::prelude::*;

/// Key, item of its list, whether it is the key itself, what was typed and in which option, message, remedy.
type Wrong = (String, Option<usize>, bool, Option<(String, String)>, String, Option<String>);

/// The values of a TOML text by their keys; dates are None. `origin` is what error messages call it.
///
/// Raises `ScenarioError` with everything that is no TOML.
#[pyfunction]
pub fn toml_values<'py>(py: Python<'py>, text: &str, origin: &str) -> PyResult<Bound<'py, PyAny>> {
    let file = KeyedFile::read(origin, text).map_err(|problems| scenario_error(py, &problems))?;
    to_python(py, &file.values())
}

/// Raises `ScenarioError` for what is wrong with a TOML text, each at its place; nothing where nothing is.
#[pyfunction]
pub fn toml_problems(py: Python<'_>, text: &str, origin: &str, wrong: Vec<Wrong>) -> PyResult<()> {
    let file = KeyedFile::read(origin, text).map_err(|problems| scenario_error(py, &problems))?;
    let found = wrong.into_iter().map(|(key, item, is_key, typed, message, remedy)| KeyedProblem {
        key,
        item,
        is_key,
        typed,
        message,
        remedy,
    });
    file.into_problems(found.collect()).map_or(Ok(()), |problems| Err(scenario_error(py, &problems)))
}
