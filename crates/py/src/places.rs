//! Where blocks lie on the drive of a plan's first point.
use crate::plan::Plan;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::Level;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_units::Lba;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use std::sync::Arc;

/// Cylinder, head, slot on the track, and the angle at which the slot begins as a share of a revolution.
type Place = (u32, u32, u32, f64);

/// The place of each of these blocks.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python's list becomes is ours")]
pub fn places(plan: PyRef<'_, Plan>, blocks: Vec<u64>) -> PyResult<Vec<Place>> {
    let drives = match &plan.inner.points[0].setup.target {
        TargetParams::Drive(model) | TargetParams::Wire(model) => std::slice::from_ref(model),
        TargetParams::System(system) if is_linear(system) => &system.drives[..],
        TargetParams::System(system) => &system.drives[..1],
        TargetParams::Server(_) => return Err(PyTypeError::new_err("the target is no drive")),
    };
    blocks.iter().map(|&block| on_its_drive(drives, block)).collect()
}

fn is_linear(system: &SystemParams) -> bool {
    system.array.as_ref().is_some_and(|array| array.level == Level::Linear)
}

/// The place of a block of drives that follow one another, as the two actuators behind one address range do.
fn on_its_drive(drives: &[Arc<DriveModel>], block: u64) -> PyResult<Place> {
    let mut left = block;
    for model in drives {
        if left < model.capacity().get() {
            return place(model, left);
        }
        left -= model.capacity().get();
    }
    Err(PyIndexError::new_err(block))
}

fn place(model: &DriveModel, block: u64) -> PyResult<Place> {
    let geometry = &model.mechanism.geometry;
    let slot = geometry.locate(Lba::new(block));
    let track = geometry.track(slot.zone, slot.track);
    let begins = (track.start + geometry.boundary(slot.zone, slot.sector)).as_ns() % model.period.as_ns();
    Ok((track.cylinder, track.head, slot.sector, begins as f64 / model.period.as_ns() as f64))
}
