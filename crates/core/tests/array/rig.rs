//! Arrays of small drives in round numbers, and a probe that also hears what happens to the array.
use crate::common::{Probe, drive};
use drivelab_core::target::TargetParams;
use drivelab_core::target::array::params::ArrayParams;
use drivelab_core::target::controller::params::ControllerParams;
use drivelab_core::target::drive::params::{DriveModel, DriveParams};
use drivelab_core::target::system::SystemParams;
use std::sync::Arc;

/// An array whose drives are all alike.
pub fn array_of(params: ArrayParams, drive: &DriveParams) -> TargetParams {
    let journal = u16::from(params.cure == drivelab_core::target::array::params::Cure::Journal);
    let drive = Arc::new(DriveModel::new(drive).unwrap());
    let count = usize::from(params.members + params.spares + journal);
    let drives = vec![Arc::clone(&drive); count];
    TargetParams::System(SystemParams {
        drives,
        array: Some(params),
        ..SystemParams::of_drive(drive, ControllerParams::PLAIN)
    })
}

/// An array of drives that differ.
pub fn array_on(params: ArrayParams, drives: &[DriveParams]) -> TargetParams {
    let model = |drive| Arc::new(DriveModel::new(drive).unwrap());
    let drives: Vec<_> = drives.iter().map(model).collect();
    let first = Arc::clone(&drives[0]);
    TargetParams::System(SystemParams {
        drives,
        array: Some(params),
        ..SystemParams::of_drive(first, ControllerParams::PLAIN)
    })
}

/// An array of bare drives: see [`drive`].
pub fn array(params: ArrayParams) -> TargetParams {
    array_of(params, &drive())
}

pub fn probe(params: ArrayParams) -> Probe {
    Probe::new(&array(params), 1)
}
