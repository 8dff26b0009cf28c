//! Where blocks lie on the drive of a plan's first point.
use crate::plan::Plan;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_units::Lba;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;

/// Cylinder, head, slot on the track, and the angle at which the slot begins as a share of a revolution.
type Place = (u32, u32, u32, f64);

/// The place of each of these blocks.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's list becomes is ours")]
pub fn places(plan: PyRef<'_, Plan>, blocks: Vec<u64>) -> PyResult<Vec<Place>> {
    let model = match &plan.inner.points[0].setup.target {
        TargetParams::Drive(model) | TargetParams::Wire(model) => model,
        TargetParams::System(system) => &system.drives[0],
        TargetParams::Server(_) => return Err(PyTypeError::new_err("the target is no drive")),
    };
    blocks.iter().map(|&block| place(model, block)).collect()
}

fn place(model: &DriveModel, block: u64) -> PyResult<Place> {
    if block >= model.capacity().get() {
        return Err(PyIndexError::new_err(block));
    }
    let geometry = &model.mechanism.geometry;
    let slot = geometry.locate(Lba::new(block));
    let track = geometry.track(slot.zone, slot.track);
    let begins = (track.start + geometry.boundary(slot.zone, slot.sector)).as_ns() % model.period.as_ns();
    Ok((track.cylinder, track.head, slot.sector, begins as f64 / model.period.as_ns() as f64))
}
