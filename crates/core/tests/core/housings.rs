//! Drives of one housing, as the two actuators of a drive: they turn as one, share one link, and fail together.
use crate::common::trace::{Until, trace};
use crate::common::{Probe, drive, ms, outstanding, queue, random_job, setup};
use drivelab_core::Access;
use drivelab_core::storage::array::params::{ArrayParams, Failure, Level, When};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams, LinkParams};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Fault, TargetInput, TargetParams};
use drivelab_core::{Outcome, Setup};
use drivelab_units::{Instant, Rate};
use std::sync::Arc;

fn members(params: &DriveParams, level: Level, housings: &[u16]) -> SystemParams {
    let model = Arc::new(DriveModel::new(params).unwrap());
    let array = ArrayParams { deviation_ppm: 1_000, ..ArrayParams::plain(level, housings.len() as u16) };
    SystemParams {
        drives: vec![Arc::clone(&model); housings.len()],
        array: Some(array),
        housings: housings.to_vec(),
        ..SystemParams::of_drive(model, ControllerParams::PLAIN)
    }
}

fn slow_link(params: DriveParams) -> DriveParams {
    DriveParams { link: LinkParams { rate: Rate::from_bytes_per_s(1_000_000), ..params.link }, ..params }
}

/// The same sector of each member, read at the same time: their platters are at the same angle only in one housing.
#[test]
fn the_actuators_of_one_drive_turn_as_one() {
    let answers = |housings: &[u16], seed: u64| -> Vec<Instant> {
        let system = members(&drive(), Level::Linear, housings);
        let each = system.drives[0].capacity().get();
        let mut probe = Probe::new(&TargetParams::System(system), seed);
        for member in 0..housings.len() as u64 {
            probe.send(Access::Read, member * each, 1);
        }
        let mut ends: Vec<(u64, Instant)> =
            probe.drain().iter().map(|answer| (answer.id, answer.completed)).collect();
        ends.sort_unstable();
        ends.into_iter().map(|(_, at)| at).collect()
    };
    let mut differ = 0;
    for seed in 0..20 {
        let [a, b, c, d] = answers(&[0, 1, 0, 1], seed)[..] else { unreachable!() };
        assert_eq!((a, b), (c, d), "seed {seed}");
        differ += u32::from(a != b);
    }
    assert!(differ > 15, "two drives turn at angles of their own: {differ} of 20");
}

/// A link that is far slower than the media carries what it can, and no more with two actuators.
#[test]
fn they_share_one_link() {
    let rate = |housings: &[u16]| {
        let params = DriveParams { queue: queue(4, Order::Fcfs), ..slow_link(drive()) };
        let target = TargetParams::System(members(&params, Level::Linear, housings));
        let job = random_job(&target, 1, 64);
        let run = Setup {
            jobs: vec![drivelab_core::host::params::JobParams { arrivals: outstanding(8), ..job }],
            ..setup(target, crate::common::job(), 0)
        };
        let trace = trace(&run, Until::Finished(200), 0);
        let end = trace.end;
        200.0 * 64.0 * 512.0 / ((end - Instant::ZERO).as_ns() as f64 / 1e9)
    };
    let (together, apart) = (rate(&[0, 0]), rate(&[0, 1]));
    assert!(together <= 1_000_000.0, "{together}");
    assert!(together > 970_000.0, "{together}");
    assert!(apart > 1.7 * together, "{apart} and {together}");
}

/// A new drive has both actuators.
#[test]
fn they_are_replaced_together() {
    let mut system = members(&drive(), Level::Mirrored, &[0, 1, 0, 1]);
    let array = system.array.as_mut().unwrap();
    array.failures = vec![Failure { drive: 3, when: When::At(Instant::ZERO + ms(1)) }];
    let mut probe = Probe::new(&TargetParams::System(system), 1);
    probe.wait(ms(2));
    assert_eq!(probe.read(0, 8).outcome, Outcome::Done);
    assert_eq!(probe.target().array().unwrap().members().missing(), 2);
    let now = probe.now;
    probe.target().handle(now, TargetInput::Inject(Fault::Replace { drive: 1 }));
    let members = probe.target().array().unwrap().members();
    assert!([1, 3].into_iter().all(|drive| members.slot_missing(drive).is_none()));
}

#[test]
fn they_fail_together() {
    let mut system = members(&drive(), Level::Mirrored, &[0, 0, 2, 2]);
    let array = system.array.as_mut().unwrap();
    array.failures = vec![Failure { drive: 1, when: When::At(Instant::ZERO + ms(1)) }];
    let mut probe = Probe::new(&TargetParams::System(system.clone()), 1);
    probe.wait(ms(2));
    assert_eq!(probe.read(0, 8).outcome, Outcome::Done);
    assert_eq!(probe.target().array().unwrap().members().missing(), 2);
    system.array.as_mut().unwrap().failures.push(Failure { drive: 2, when: When::At(Instant::ZERO + ms(3)) });
    let mut probe = Probe::new(&TargetParams::System(system), 1);
    probe.wait(ms(4));
    assert_ne!(probe.read(0, 8).outcome, Outcome::Done);
}
