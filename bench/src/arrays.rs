//! Arrays of the benchmark's drive under random commands of 4 KiB, 32 outstanding: the cost of a host command
//! that becomes several member commands.
use crate::setups::{Case, queue_depth};
use drivelab_core::Setup;
use drivelab_core::host::params::JobParams;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, Copies, Level, Rotation};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_units::Share;
use std::sync::Arc;

/// Cases with eight members; 70 % reads in those that write.
pub fn cases(commands: u64) -> Vec<Case> {
    let mixed = Share::from_ratio(7, 10).unwrap_or(Share::ALL);
    let raid10 = Level::StripedMirrors { copies: 2, layout: Copies::Near };
    let raid5 = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let raid6 = Level::Parity { parities: 2, rotation: Rotation::LeftSymmetric, groups: 1 };
    [
        ("raid0-reads", Level::Striped, Share::ALL),
        ("raid10-mixed", raid10, mixed),
        ("raid5-mixed", raid5, mixed),
        ("raid6-mixed", raid6, mixed),
    ]
    .map(|(name, level, reads)| {
        let setup = of_eight(queue_depth(32, commands), level, reads);
        Case { name: format!("array/{name}-qd32"), setup }
    })
    .into()
}

/// An array of eight drives like the setup's drive, with the setup's jobs over the whole array.
pub fn of_eight(setup: Setup, level: Level, reads: Share) -> Setup {
    let TargetParams::Drive(drive) = setup.target else { unreachable!("a drive was made") };
    let drives = vec![Arc::clone(&drive); 8];
    let array = Some(ArrayParams { deviation_ppm: 100, ..ArrayParams::plain(level, 8) });
    let system = SystemParams { drives, array, ..SystemParams::of_drive(drive, ControllerParams::PLAIN) };
    let capacity = system.capacity();
    let jobs = setup.jobs.into_iter().map(|job| JobParams { reads, count: capacity, ..job }).collect();
    Setup { target: TargetParams::System(system), jobs, ..setup }
}
