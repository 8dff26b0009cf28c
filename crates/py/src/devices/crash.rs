//! A recorded session with its data, which can be cut at any instant.
use crate::convert::to_python;
use crate::devices::emulate_error;
use crate::plan::Plan;
use drivelab_emulate::ledger::Lost;
use drivelab_emulate::{Device, EmulateError, as_served, crash};
use drivelab_units::Instant;
use pyo3::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// A recorded session in a folder.
#[pyclass(frozen)]
pub struct CrashLog {
    inner: crash::CrashLog,
}

/// The contents of the device after a cut.
#[derive(Serialize)]
struct AfterCut {
    lost: Vec<Lost>,
    lost_sectors: u64,
    unanswered_writes: u64,
    /// Sectors of which too little is left to reconstruct them.
    unreadable_sectors: u64,
}

#[pymethods]
impl CrashLog {
    /// Reads the session of the target of a plan's first point. Raises `RunError`.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python holds is lent")]
    fn new(py: Python<'_>, plan: PyRef<'_, Plan>, folder: PathBuf) -> PyResult<Self> {
        let setup = &plan.inner.points[0].setup;
        let (target, _) = as_served(&setup.target);
        let device = Device { target, seed: setup.seed, name: plan.inner.name.clone() };
        let inner = py.detach(|| crash::CrashLog::read(&folder, device));
        Ok(CrashLog { inner: inner.map_err(|error| emulate_error(&error))? })
    }

    /// Raises `RunError` if the plan's target cannot be cut, or has no such member to fail afterwards.
    #[staticmethod]
    #[pyo3(signature = (plan, dies=None))]
    #[expect(clippy::needless_pass_by_value, reason = "what Python holds is lent")]
    fn check(plan: PyRef<'_, Plan>, dies: Option<u16>) -> PyResult<()> {
        let setup = &plan.inner.points[0].setup;
        let (target, _) = as_served(&setup.target);
        crash::check(&target, setup.power_cut, &setup.injections, dies).map_err(|error| emulate_error(&error))
    }

    /// Every instant at which anything happens, in ns and in order. Raises `RunError` if the session does not
    /// replay as it ran.
    fn instants(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        let instants = py.detach(|| self.inner.instants()).map_err(|error| emulate_error(&error))?;
        Ok(instants.into_iter().map(Instant::as_ns).collect())
    }

    /// The instant at which each write arrived, in ns.
    fn writes(&self) -> Vec<u64> {
        self.inner.writes().into_iter().map(Instant::as_ns).collect()
    }

    /// The instant at which each FLUSH was answered, in ns.
    fn flushes(&self) -> Vec<u64> {
        self.inner.flushes().into_iter().map(Instant::as_ns).collect()
    }

    /// Cuts the power at an instant and writes the contents of the device afterwards into a new sparse file
    /// of this many bytes. If a member is named, it fails afterwards. Raises `RunError`.
    #[pyo3(signature = (at_ns, path, size_bytes, dies=None))]
    #[expect(clippy::needless_pass_by_value, reason = "a path made of what Python gives is ours")]
    fn cut<'py>(
        &self,
        py: Python<'py>,
        at_ns: u64,
        path: PathBuf,
        size_bytes: u64,
        dies: Option<u16>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let after = py.detach(|| {
            let cut = self.inner.cut(Instant::from_ns(at_ns), dies)?;
            let unreadable_sectors = cut
                .lay_out(&path, size_bytes)
                .map_err(|error| EmulateError::Open { path: path.clone(), error })?;
            let (lost, lost_sectors) = (cut.lost, cut.lost_sectors);
            let unanswered_writes = cut.unanswered_writes;
            Ok(AfterCut { lost, lost_sectors, unanswered_writes, unreadable_sectors })
        });
        to_python(py, &after.map_err(|error: EmulateError| emulate_error(&error))?)
    }
}
