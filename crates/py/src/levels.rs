//! The RAID levels by name with what is true of each, and the sets of failed members that an array of one loses data with.
use drivelab_core::storage::array::levels::{LevelName, Uses};
use drivelab_durability::{FailedSets, Shape};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Every level of a simulated array, in the order of tables: its name, the parities of a group (None without parity),
/// and what may be chosen or is kept.
#[pyfunction]
pub fn levels(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let of = |level: LevelName| {
        let found = PyDict::new(py);
        found.set_item("name", level.name())?;
        found.set_item("parities", level.parities())?;
        found.set_item("has_copies", level.uses(Uses::CopyCount))?;
        found.set_item("has_groups", level.has_groups())?;
        found.set_item("has_layouts", level.uses(Uses::Layout))?;
        found.set_item("is_redundant", level.uses(Uses::Redundancy))?;
        Ok(found)
    };
    LevelName::ALL.into_iter().map(of).collect()
}

fn shape<'a>(level: &'a str, members: u32, copies: u32, groups: u32, layout: Option<&'a str>) -> Shape<'a> {
    Shape { level, members, layout, copies, groups, parity: 2, width: None, stripes: 1e6 }
}

/// What a level needs that these members do not have, such as "3 members or more"; None where they make it.
#[pyfunction]
pub fn level_lacks(level: &str, members: u32, copies: u32, groups: u32) -> Option<String> {
    shape(level, members, copies, groups, None).lacking()
}

/// The sets of failed members with which an array loses data, if each fails with the same probability and nobody
/// replaces it.
#[pyclass(frozen, name = "FailedSets", module = "drivelab._core")]
pub struct PyFailedSets(FailedSets);

#[pymethods]
impl PyFailedSets {
    /// Raises `ValueError` if these members do not make the level.
    #[new]
    #[pyo3(signature = (level, members, *, copies=2, groups=2, layout=None))]
    fn new(level: &str, members: u32, copies: u32, groups: u32, layout: Option<&str>) -> PyResult<Self> {
        let found = shape(level, members, copies, groups, layout).arrangement();
        let arrangement = found.map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            PyValueError::new_err(lines.join("\n"))
        })?;
        Ok(PyFailedSets(FailedSets::of(&arrangement)))
    }

    /// How many members may fail, whichever they are.
    #[getter]
    fn bears_worst(&self) -> usize {
        self.0.bears_worst()
    }

    /// How many members may fail in the best case.
    #[getter]
    fn bears_best(&self) -> usize {
        self.0.bears_best()
    }

    /// The probability of data loss, if each member fails with this probability.
    fn loss(&self, chance: f64) -> f64 {
        self.0.loss(chance)
    }

    /// The same if one member has already failed, and each of the others fails with this probability.
    fn loss_after_one(&self, chance: f64) -> f64 {
        self.0.loss_after_one(chance)
    }
}
