//! The catalogue's files as Python sees them.
use crate::convert::to_python;
use drivelab_scenario::{Mark, catalogue};
use pyo3::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Drive {
    name: &'static str,
    /// Where the file lies in the repository.
    path: &'static str,
    text: &'static str,
    facts: Vec<Fact>,
}

#[derive(Serialize)]
struct Fact {
    key: String,
    value: serde_json::Value,
    mark: Option<&'static str>,
    source: Option<String>,
}

fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::Datasheet => "datasheet",
        Mark::Measured => "measured",
        Mark::Inferred => "inferred",
        Mark::Fitted => "fitted",
    }
}

/// Every drive with its facts, each with its mark and source.
#[pyfunction]
pub fn drives(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let drives: Vec<Drive> = catalogue::entries("drives")
        .into_iter()
        .map(|entry| Drive {
            name: entry.name,
            path: entry.path,
            text: entry.text,
            facts: catalogue::facts(entry.text)
                .into_iter()
                .map(|fact| Fact {
                    key: fact.key,
                    value: fact.value,
                    mark: fact.mark.map(mark),
                    source: fact.source,
                })
                .collect(),
        })
        .collect();
    to_python(py, &drives)
}

/// The published tables: the text of each experiment's file under its name.
#[pyfunction]
pub fn experiments(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let files: std::collections::BTreeMap<_, _> =
        catalogue::entries("experiments").into_iter().map(|entry| (entry.name, entry.text)).collect();
    to_python(py, &files)
}
