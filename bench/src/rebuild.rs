//! How long it takes to simulate the rebuild of an array: eight members of RAID 5, rebuilt in requests of
//! 1 MiB while hosts issue 100 reads per second, on members of 1 % of 4 TB; and the time extrapolated to
//! whole members. Commands are the rebuild's member commands and the hosts' commands.
use crate::setups;
use drivelab_core::host::params::{Arrivals, JobParams};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, GivesWay, Level, Rotation, SyncParams};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Limit, Setup};
use drivelab_simulate::{Control, run};
use drivelab_units::{Frequency, Lba, Sectors, Share, Span};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const MEMBERS: u16 = 8;
/// Bytes of a whole member.
const WHOLE: u64 = 4_000_000_000_000;

fn setup(model: &Arc<DriveModel>) -> Option<Setup> {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let sync = SyncParams {
        floor: None,
        ceiling: None,
        request: Sectors::new(2_048),
        outstanding: 1,
        gives_way: GivesWay::ByDraining,
        idle_after: Span::from_ms(100),
    };
    let array =
        ArrayParams { missing: vec![0], rebuilding: true, sync, ..ArrayParams::plain(level, MEMBERS) };
    let system = SystemParams {
        drives: vec![Arc::clone(model); usize::from(MEMBERS)],
        array: Some(array),
        ..SystemParams::of_drive(Arc::clone(model), ControllerParams::PLAIN)
    };
    let plain = setups::queue_depth(32, 1);
    let rate = Frequency::from_millihertz(100_000)?;
    let job = plain.jobs.first()?.clone();
    let job = JobParams {
        reads: Share::ALL,
        first: Lba::ZERO,
        count: system.capacity(),
        arrivals: Arrivals::Poisson { rate },
        ..job
    };
    let limit = Limit { until: Some(drivelab_core::setup::Until::Rebuilt), ..Limit::default() };
    Some(Setup { target: TargetParams::System(system), jobs: vec![job], limit, ..plain })
}

pub fn print(out: &mut impl Write) -> std::io::Result<()> {
    let model = setups::array_member();
    let bytes = model.capacity().bytes().get();
    let Some(setup) = setup(&model) else { return Ok(()) };
    let (stop, begun) = (AtomicBool::new(false), Instant::now());
    let result = run(&setup, &Control { stop: &stop, progress: &|_| {} });
    let spent = begun.elapsed().as_secs_f64();
    match result {
        Ok(point) => {
            let commands = bytes / (1 << 20) * u64::from(MEMBERS) + point.read.ios;
            writeln!(
                out,
                "{{\"name\": \"rebuild/array\", \"member_bytes\": {bytes}, \"simulated_s\": {:.0}, \"seconds\": {spent:.3}, \"ns_per_command\": {:.0}, \"seconds_for_4_tb\": {:.1}, \"digest\": \"{}\"}}",
                point.window_ns as f64 / 1e9,
                spent * 1e9 / commands as f64,
                spent * WHOLE as f64 / bytes as f64,
                point.digest,
            )
        }
        Err(error) => writeln!(out, "{{\"name\": \"rebuild/array\", \"error\": \"{error}\"}}"),
    }
}
