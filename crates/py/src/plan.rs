//! `Plan`: a checked scenario as Python holds it.
use crate::convert::to_python;
use crate::errors::scenario_error;
use crate::files::Folder;
use drivelab_core::storage::Target;
use drivelab_scenario::{Override, Point, Source, plan};
use drivelab_simulate::in_arrival_order;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// A checked scenario: every point of its sweep, ready to run.
#[pyclass(frozen, module = "drivelab._core")]
pub struct Plan {
    pub inner: drivelab_scenario::Plan,
}

#[pymethods]
impl Plan {
    /// Checks `text`, called `origin` in messages. Each override is (key, value, origin); relative paths in the
    /// scenario start from `base_dir`.
    #[new]
    fn new(
        py: Python<'_>,
        text: String,
        origin: String,
        base_dir: PathBuf,
        overrides: Vec<(String, String, String)>,
    ) -> PyResult<Self> {
        let overrides: Vec<Override> =
            overrides.into_iter().map(|(key, value, origin)| Override { key, value, origin }).collect();
        plan(&Source { origin, text }, &overrides, &Folder::new(base_dir))
            .map(|inner| Plan { inner })
            .map_err(|problems| scenario_error(py, &problems))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed
    }

    #[getter]
    fn scenario_hash(&self) -> &str {
        &self.inner.hash
    }

    /// For each point, its place on each axis of the sweep.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for point in &self.inner.points {
            list.append(place(py, &point.axes)?)?;
        }
        Ok(list)
    }

    /// The points of the grid that cannot be: for each its place and the reason.
    #[getter]
    fn skipped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for skipped in &self.inner.skipped {
            list.append((place(py, &skipped.axes)?, &skipped.reason))?;
        }
        Ok(list)
    }

    /// For each point, the protocol in force and the depth that it has there; None for a target that is no drive.
    #[getter]
    fn in_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for point in &self.inner.points {
            list.append(to_python(py, &point.in_force)?)?;
        }
        Ok(list)
    }

    /// What a reader should know although nothing is wrong.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }

    /// For each point, when it ends: after so many nanoseconds, after so many I/Os; None where neither decides alone.
    #[getter]
    fn limits(&self) -> Vec<(Option<u64>, Option<u64>)> {
        let limit = |point: &Point| {
            (point.setup.limit.duration.map(drivelab_units::Span::as_ns), point.setup.limit.ios)
        };
        self.inner.points.iter().map(limit).collect()
    }

    /// For each point, the same workload as a fio job file.
    #[getter]
    fn fio(&self) -> Vec<String> {
        self.inner.points.iter().map(|point| point.fio.clone()).collect()
    }

    /// The bytes that the target of the point at `place` answers for.
    fn capacity_bytes(&self, place: usize) -> PyResult<u64> {
        let point = self.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
        Ok(Target::new(&point.setup.target, point.setup.seed).capacity().bytes().get())
    }

    /// Some points once more, each (place in this plan, I/Os to finish), on a drive that serves its commands in the
    /// order of their arrival; a point whose target is no drive is left out. Runs with as many commands logged.
    fn in_arrival_order(&self, wanted: Vec<(usize, u64)>) -> PyResult<Self> {
        let mut points = Vec::with_capacity(wanted.len());
        for (place, ios) in wanted {
            let point = self.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
            if let Some(setup) = in_arrival_order(&point.setup, ios) {
                points.push(Point { setup, ..point.clone() });
            }
        }
        Ok(Plan { inner: drivelab_scenario::Plan { points, ..self.inner.clone() } })
    }

    /// The same points, each with a seed of its own: the first has the plan's, every other one more than that before it.
    fn with_own_seeds(&self) -> Self {
        let mut inner = self.inner.clone();
        for (place, point) in (0..).zip(&mut inner.points) {
            point.setup.seed = self.inner.seed.wrapping_add(place);
        }
        Plan { inner }
    }

    /// The same points, each of which logs at least its first `log` commands.
    fn with_log(&self, log: u64) -> Self {
        let mut inner = self.inner.clone();
        for point in &mut inner.points {
            point.setup.traces = point.setup.traces.max(log);
        }
        Plan { inner }
    }

    fn __len__(&self) -> usize {
        self.inner.points.len()
    }
}

/// A place in the sweep: each axis with its value.
fn place<'py>(py: Python<'py>, axes: &[(String, serde_json::Value)]) -> PyResult<Bound<'py, PyDict>> {
    let place = PyDict::new(py);
    for (key, value) in axes {
        place.set_item(key, to_python(py, value)?)?;
    }
    Ok(place)
}
