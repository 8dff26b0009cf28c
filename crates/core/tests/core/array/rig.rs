//! Arrays of small drives in round numbers, and a probe that also hears what happens to the array.
use crate::common::{Probe, drive};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::ArrayParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_units::{Sectors, Span};
use std::sync::Arc;

/// An array whose drives are all alike.
pub fn array_of(params: ArrayParams, drive: &DriveParams) -> TargetParams {
    let journal = u16::from(
        params.consistency_policy == drivelab_core::storage::array::params::ConsistencyPolicy::Journal,
    );
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

/// A cache that answers for so many sectors of writes, and takes them to the media once the drive has been idle so long.
pub fn forgetting(limit: u64, idle: Span) -> CacheParams {
    let limit = Sectors::new(limit);
    let write_back = WriteBackParams {
        limit,
        segments: 16,
        destage: Destage::WhenIdle,
        idle,
        age: None,
        press_from: limit,
        run: limit,
        while_busy: true,
    };
    CacheParams {
        write_back: Some(write_back),
        segments: 24,
        ..CacheParams::reading_on(Sectors::new(4 * limit.get()))
    }
}
