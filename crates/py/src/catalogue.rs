//! The catalogue's files as Python sees them.
use crate::convert::to_python;
use drivelab_scenario::{Mark, catalogue};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct CatalogueFile {
    name: &'static str,
    /// The file's path in the repository.
    path: &'static str,
    text: &'static str,
}

#[derive(Serialize)]
struct Fact {
    key: String,
    value: serde_json::Value,
    mark: Option<&'static str>,
    source: Option<String>,
    /// The base file that states the fact, if it is not the file itself.
    base: Option<String>,
}

fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Datasheet => "datasheet",
        Mark::Measured => "measured",
        Mark::Inferred => "inferred",
        Mark::Fitted => "fitted",
    }
}

/// The kinds of files whose facts the catalogue has.
#[pyfunction]
pub fn kinds() -> [&'static str; 3] {
    catalogue::KINDS
}

/// All files of one kind: name, path and text.
#[pyfunction]
pub fn entries<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    if !catalogue::KINDS.contains(&kind) {
        return Err(PyValueError::new_err(format!("the catalogue has no {kind}")));
    }
    let entry = |entry: catalogue::CatalogueFile| {
        let catalogue::CatalogueFile { name, path, text } = entry;
        CatalogueFile { name, path, text }
    };
    let entries: Vec<CatalogueFile> = catalogue::entries(kind).into_iter().map(entry).collect();
    to_python(py, &entries)
}

/// The facts of a file of one kind, and those that it inherits from its bases, each (name, text), the nearest
/// first; what cannot be read is left out.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's list becomes is ours")]
pub fn facts<'py>(
    py: Python<'py>,
    kind: &str,
    text: &str,
    bases: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &facts_of(kind, text, &bases))
}

/// The name of the file that this one is based on.
#[pyfunction]
pub fn base(text: &str) -> Option<String> {
    catalogue::base(text)
}

fn facts_of(kind: &str, text: &str, bases: &[(String, String)]) -> Vec<Fact> {
    let fact = |fact: catalogue::Fact| Fact {
        key: fact.key,
        value: fact.value,
        mark: fact.mark.map(mark),
        source: fact.source,
        base: fact.base,
    };
    catalogue::facts_over(kind, text, bases).into_iter().map(fact).collect()
}

/// The published tables: the text of each experiment's file under its name.
#[pyfunction]
pub fn experiments(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let files: std::collections::BTreeMap<_, _> =
        catalogue::entries("experiments").into_iter().map(|entry| (entry.name, entry.text)).collect();
    to_python(py, &files)
}
