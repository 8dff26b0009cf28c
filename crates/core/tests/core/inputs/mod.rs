//! What a target is told beside commands and time, what it says, and what it refuses.
mod aborts;
mod anything;
mod contents;
mod degraded;
mod drives;
mod errors;
mod faults;
mod ids;
mod stream;

use crate::array::rig::forgetting;
use crate::common::sorted::Target;
use crate::common::{TRACK, drive, flat_seek, layout, ms, queue, zone};
use drivelab_core::Machine;
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::queue::Order;
use drivelab_units::Instant;

/// A drive of eight cylinders that holds eight commands.
fn small() -> DriveParams {
    let geometry = layout(1, vec![zone(0, 8, TRACK as u32)]);
    DriveParams { geometry, seek: flat_seek(ms(1), 8), queue: queue(8, Order::Fcfs), ..drive() }
}

/// The same with a cache that answers writes and takes them to the media a second later.
fn forgetful() -> DriveParams {
    DriveParams { cache: Some(forgetting(2_000, ms(1_000))), ..small() }
}

fn at_ms(at: u64) -> Instant {
    Instant::ZERO + ms(at)
}

/// Everything happens that ever will.
fn run_out(target: &mut Target) {
    while let Some(due) = target.poll_timeout() {
        target.handle(due, TargetInput::Tick);
    }
}
