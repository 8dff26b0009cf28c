//! Runs whose data are checked: the cost of carrying out every data operation on a stamp per sector, together
//! with the array's own.
use crate::arrays::of_eight;
use crate::setups::{Case, queue_depth};
use drivelab_core::Setup;
use drivelab_core::host::params::{Addressing, JobParams, SizeShare};
use drivelab_core::storage::array::params::{Level, Rotation};
use drivelab_units::{Sectors, Share};

/// Eight members with parity: random commands of 4 KiB, and a stream of 64 KiB that reads what other commands
/// write.
pub fn cases(commands: u64) -> Vec<Case> {
    let raid5 = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let mixed = Share::from_ratio(1, 2).unwrap_or(Share::ALL);
    let setup = || of_eight(queue_depth(32, commands), raid5, mixed);
    let sizes = vec![SizeShare { size: Sectors::new(128), weight: 1 }];
    let stream = |job| JobParams { addressing: Addressing::Sequential, sizes: sizes.clone(), ..job };
    let jobs = setup().jobs.into_iter().map(stream).collect();
    [("random-4k", setup()), ("stream-64k", Setup { jobs, ..setup() })]
        .map(|(name, setup)| Case {
            name: format!("data/{name}-qd32"),
            setup: Setup { checks_data: true, ..setup },
        })
        .into()
}
