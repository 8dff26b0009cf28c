//! `Plan`: a checked scenario as a Python object.
use crate::convert::to_python;
use crate::errors::{TraceError, scenario_error};
use crate::files::Folder;
use drivelab_core::Access;
use drivelab_core::storage::Target;
use drivelab_scenario::{Override, Point, Source, plan, plan_served};
use drivelab_simulate::recorded::Replayed;
use drivelab_simulate::{Ceiling, ceiling, in_arrival_order};
use drivelab_trace::check::Problems;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A checked scenario: every point of its sweep, ready to run.
#[derive(Clone)]
#[pyclass(frozen, module = "drivelab._core")]
pub struct Plan {
    pub inner: drivelab_scenario::Plan,
    source: PlanSource,
    /// The traces that its points replay.
    replayed: Vec<Arc<Replayed>>,
    /// The files of these, which nothing may write over.
    #[pyo3(get)]
    trace_files: Vec<PathBuf>,
}

/// What is needed to make a plan again in another process.
#[derive(Clone)]
struct PlanSource {
    text: String,
    origin: String,
    base_dir: PathBuf,
    overrides: Vec<(String, String, String)>,
    /// Drive files by their paths in the scenario.
    files: BTreeMap<String, String>,
    /// The changes made to the plan since, in order.
    steps: Vec<Step>,
    /// Whether its target is served, not run.
    served: bool,
}

/// The highest rates of a target as a dictionary.
fn rates<'py>(py: Python<'py>, found: &Ceiling) -> PyResult<Bound<'py, PyDict>> {
    let Ceiling { media_read, media_write, link_read, link_write, caches } = found;
    let dict = PyDict::new(py);
    dict.set_item("media_read", media_read)?;
    dict.set_item("media_write", media_write)?;
    dict.set_item("link_read", link_read)?;
    dict.set_item("link_write", link_write)?;
    dict.set_item("caches", caches)?;
    Ok(dict)
}

/// A change of a plan: its name, and pairs of (index, I/Os) or a number.
type Step = (String, Vec<(usize, u64)>);

#[pymethods]
impl Plan {
    /// Checks `text`, called `origin` in messages. Each override is (key, value, origin); relative paths in the
    /// scenario start from `base_dir`.
    ///
    /// `files` are drive files by their paths in the scenario, which are then not read again, of a record those
    /// of the catalogue too; `steps` are the changes that another process made to the plan, from pickling. `served` says that the target
    /// is served, not run.
    #[new]
    #[pyo3(signature = (text, origin, base_dir, overrides, files=BTreeMap::new(), steps=vec![], served=false))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn new(
        py: Python<'_>,
        text: String,
        origin: String,
        base_dir: PathBuf,
        overrides: Vec<(String, String, String)>,
        files: BTreeMap<String, String>,
        steps: Vec<Step>,
        served: bool,
    ) -> PyResult<Self> {
        let folder = Folder::new(base_dir.clone(), files);
        let typed = overrides.iter().cloned();
        let laid_over: Vec<Override> =
            typed.map(|(key, value, origin)| Override { key, value, origin }).collect();
        let source = Source { origin: origin.clone(), text: text.clone() };
        let planned = if served { plan_served } else { plan };
        let inner =
            planned(&source, &laid_over, &folder).map_err(|problems| scenario_error(py, &problems))?;
        let files = folder.texts.into_inner();
        let (replayed, trace_files) = (folder.replayed.into_inner(), folder.trace_files.into_inner());
        let source = PlanSource { text, origin, base_dir, overrides, files, steps: vec![], served };
        steps.into_iter().try_fold(Plan { inner, source, replayed, trace_files }, Plan::stepped)
    }

    /// A pickled plan is what it was made from: text, overrides and drive files; a trace has to exist where
    /// it is unpickled.
    fn __getnewargs__(&self) -> Pickled {
        let source = self.source.clone();
        let PlanSource { text, origin, base_dir, overrides, files, steps, served } = source;
        (text, origin, base_dir, overrides, files, steps, served)
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

    /// For each point, its position on each axis of the sweep.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for point in &self.inner.points {
            list.append(place(py, &point.axes)?)?;
        }
        Ok(list)
    }

    /// The points of the grid that are impossible: for each its position and the reason.
    #[getter]
    fn skipped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for skipped in &self.inner.skipped {
            list.append((place(py, &skipped.axes)?, &skipped.reason))?;
        }
        Ok(list)
    }

    /// For each point, the protocol in force and its queue depth; None for a target that is not a drive.
    #[getter]
    fn in_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for point in &self.inner.points {
            list.append(to_python(py, &point.in_force)?)?;
        }
        Ok(list)
    }

    /// For each point, the highest rates of its media and links; None for a target without drives.
    #[getter]
    fn ceilings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for point in &self.inner.points {
            let found = ceiling(&point.setup.target).map(|found| rates(py, &found)).transpose()?;
            list.append(found)?;
        }
        Ok(list)
    }

    /// The scenario with its overrides, as TOML that makes the same plan.
    #[getter]
    fn scenario(&self) -> &str {
        &self.inner.scenario
    }

    /// The keys that overrides have set, in order.
    #[getter]
    fn overrides(&self) -> Vec<&str> {
        self.source.overrides.iter().map(|(key, ..)| key.as_str()).collect()
    }

    /// The texts of the files that the scenario names, by path; those of the catalogue as
    /// `catalogue/drives/NAME.toml`.
    #[getter]
    fn files(&self) -> BTreeMap<String, String> {
        self.inner.files.clone()
    }

    /// The traces that the scenario names, each with its fingerprint.
    #[getter]
    fn traces(&self) -> BTreeMap<String, String> {
        self.inner.traces.clone()
    }

    /// What a reader should know although nothing is wrong.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.notes.clone()
    }

    /// For each point, its limit: nanoseconds, or a number of I/Os; None where neither alone decides the end.
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

    /// The capacity in bytes of the target of the point at index `place`.
    fn capacity_bytes(&self, place: usize) -> PyResult<u64> {
        let point = self.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
        Ok(Target::new(&point.setup.target, point.setup.seed).capacity().bytes().get())
    }

    /// Some points again, each (index in this plan, I/Os to finish), on a drive that serves its commands in
    /// order of arrival; a point whose target is not a drive is left out. Each run logs up to that many
    /// commands.
    fn in_arrival_order(&self, wanted: Vec<(usize, u64)>) -> PyResult<Self> {
        self.clone().stepped(("in_arrival_order".into(), wanted))
    }

    /// The same points, each with its own seed: the first has the plan's, every other one the previous seed
    /// plus one.
    fn with_own_seeds(&self) -> PyResult<Self> {
        self.clone().stepped(("with_own_seeds".into(), vec![]))
    }

    /// The same points, each of which logs at least its first `log` commands.
    fn with_log(&self, log: u64) -> PyResult<Self> {
        self.clone().stepped(("with_log".into(), vec![(0, log)]))
    }

    /// A plan with only this point.
    fn only(&self, place: usize) -> PyResult<Self> {
        self.clone().stepped(("only".into(), vec![(place, 0)]))
    }

    /// Whether the trace of the point at index `place` has a write; False without a trace. Reads up to the
    /// first one.
    fn trace_writes(&self, py: Python<'_>, place: usize) -> PyResult<bool> {
        let point = self.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
        let Some(recording) = point.setup.fed.as_ref().and_then(|fed| fed.recording.clone()) else {
            return Ok(false);
        };
        let found = py.detach(|| {
            let mut recorder = recording.open()?;
            while let Some(recorded) = recorder.next()? {
                if recorded.io.command.access == Access::Write {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        found.map_err(|error: String| TraceError::new_err(error))
    }

    /// The problems in spite of which the runs of the point at index `place` have read its trace: each
    /// problem's name, how often it occurred, and the number of its first line or record.
    fn trace_problems(&self, place: usize) -> PyResult<Vec<(&'static str, u64, u64)>> {
        let point = self.inner.points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
        let recording = point.setup.fed.as_ref().and_then(|fed| fed.recording.as_ref());
        let is_its = |one: &&Arc<Replayed>| {
            recording.is_some_and(|recording| std::ptr::addr_eq(Arc::as_ptr(recording), Arc::as_ptr(one)))
        };
        let problems = self.replayed.iter().find(is_its).map(|replayed| replayed.problems());
        let met = |problems: Problems| -> Vec<_> {
            problems.met().map(|(problem, count)| (problem.name(), count.count, count.first)).collect()
        };
        Ok(problems.map(met).unwrap_or_default())
    }

    fn __len__(&self) -> usize {
        self.inner.points.len()
    }
}

/// Text, its origin, folder, overrides, drive files, steps.
type Pickled =
    (String, String, PathBuf, Vec<(String, String, String)>, BTreeMap<String, String>, Vec<Step>, bool);

impl Plan {
    /// The plan with one more change.
    fn stepped(mut self, step: Step) -> PyResult<Self> {
        let points = &mut self.inner.points;
        let (name, given) = (&step.0[..], &step.1);
        match (name, &given[..]) {
            ("with_own_seeds", []) => {
                for (place, point) in (0..).zip(points) {
                    point.setup.seed = self.inner.seed.wrapping_add(place);
                }
            }
            ("with_log", &[(_, log)]) => {
                for point in points {
                    point.setup.traces = point.setup.traces.max(log);
                }
            }
            ("only", &[(place, _)]) => {
                let point = points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
                *points = vec![point.clone()];
                self.inner.skipped.clear();
            }
            ("in_arrival_order", wanted) => {
                let mut found = Vec::with_capacity(wanted.len());
                for &(place, ios) in wanted {
                    let point = points.get(place).ok_or_else(|| PyIndexError::new_err(place))?;
                    if let Some(setup) = in_arrival_order(&point.setup, ios) {
                        found.push(Point { setup, ..point.clone() });
                    }
                }
                *points = found;
            }
            _ => return Err(PyValueError::new_err(format!("a plan has no step {name}"))),
        }
        self.source.steps.push(step);
        Ok(self)
    }
}

/// A position in the sweep: each axis with its value.
fn place<'py>(py: Python<'py>, axes: &[(String, serde_json::Value)]) -> PyResult<Bound<'py, PyDict>> {
    let place = PyDict::new(py);
    for (key, value) in axes {
        place.set_item(key, to_python(py, value)?)?;
    }
    Ok(place)
}
