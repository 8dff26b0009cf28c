//! The command log of whole runs: keeping it changes nothing, its stamps are in order and agree with the breakdown, and
//! a drive that serves in order of arrival reorders nothing.
use crate::common;
use crate::common::scenarios::setups;
use crate::common::{drive, job, ms, outstanding, point, queue, random_job, setup, target, try_point};
use drivelab_core::Setup;
use drivelab_core::command::OWN_IDS;
use drivelab_core::host::params::{Arrivals, JobParams};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::queue::Order;
use drivelab_record::{CommandRecord, Point};
use drivelab_simulate::in_arrival_order;
use drivelab_units::Sectors;
use proptest::prelude::*;

fn commands(point: &Point) -> &[CommandRecord] {
    &point.log.as_ref().unwrap().commands
}

/// The instants of a command that the drive turned to, in the order in which they must lie.
fn stamps(command: &CommandRecord) -> Vec<u64> {
    let early = [command.submitted_ns, command.accepted_ns];
    let late = [command.chosen_ns, command.begun_ns, command.ended_ns];
    let late = late.into_iter().flatten().chain([command.completed_ns]);
    early.into_iter().chain(late).collect()
}

fn check(command: &CommandRecord) -> Result<(), TestCaseError> {
    prop_assert!(stamps(command).is_sorted(), "{command:?}");
    let Some(parts) = command.breakdown_ns else {
        prop_assert!(command.outcome != "done" || command.id >= OWN_IDS, "the host heard of it");
        return Ok(());
    };
    let work = parts.queue + parts.overhead + parts.seek + parts.rotation + parts.transfer;
    prop_assert_eq!(work + parts.link + parts.wait, command.completed_ns - command.submitted_ns);
    if command.outcome == "done" && ["chosen", "joined"].contains(&command.served) {
        let (chosen, begun) = (command.chosen_ns.unwrap(), command.begun_ns.unwrap());
        prop_assert!(chosen + parts.seek + parts.rotation <= begun, "{command:?}");
        prop_assert_eq!(command.ended_ns.unwrap() - begun, parts.transfer);
        prop_assert!(parts.seek > 0 || command.from_cylinder == command.first_cylinder);
    }
    Ok(())
}

/// The ranks of those that were served are a permutation; where all were, the distances add up to nothing.
fn check_order(commands: &[CommandRecord]) -> Result<(), TestCaseError> {
    let mut service: Vec<u64> = commands.iter().filter_map(|command| command.service_rank).collect();
    service.sort_unstable();
    prop_assert!(service.iter().copied().eq(0..service.len() as u64));
    if service.len() == commands.len() {
        let distances = commands.iter().map(|command| command.reorder_distance.unwrap());
        prop_assert_eq!(distances.sum::<i64>(), 0);
    }
    let sum = |part: fn(&CommandRecord) -> Option<u64>| commands.iter().filter_map(part).sum::<u64>();
    prop_assert_eq!(sum(|command| command.overtaken_by), sum(|command| command.overtook));
    Ok(())
}

proptest! {
    #[test]
    fn keeping_the_log_changes_nothing_and_its_stamps_are_in_order(setup in setups()) {
        let plain = try_point(&setup).unwrap();
        let point = try_point(&Setup { traces: 200, ..setup.clone() }).unwrap();
        prop_assert_eq!(&Point { log: None, ..point.clone() }, &plain);
        let commands = commands(&point);
        let start = setup.warmup.as_ns();
        prop_assert!(commands.len() <= 200);
        if !matches!(setup.target, TargetParams::Server(_)) {
            // Every I/O that counts is one command or more.
            prop_assert!(commands.len() as u64 >= (plain.read.ios + plain.write.ios).min(200));
        }
        for (arrival, command) in commands.iter().enumerate() {
            prop_assert!(command.completed_ns > start);
            prop_assert_eq!(command.arrival_rank, arrival as u64);
            check(command)?;
        }
        prop_assert!(commands.is_sorted_by_key(|command| command.accepted_ns));
        check_order(commands)?;
    }
}

/// Random reads, so many outstanding, on a drive that serves them in this order.
fn random(order: Order, depth: u32) -> Setup {
    let target = target(&DriveParams { queue: queue(32, order), ..drive() });
    let job = JobParams { arrivals: outstanding(depth), ..random_job(&target, 1, 8) };
    Setup { traces: 500, ..setup(target, job, 500) }
}

#[test]
fn in_order_of_arrival_nothing_is_reordered() {
    for depth in [1, 7, 32, 50] {
        let point = point(&random(Order::Fcfs, depth));
        let commands = commands(&point);
        assert_eq!(commands.len(), 500);
        assert!(commands.iter().all(|command| command.reorder_distance == Some(0)), "depth {depth}");
        assert!(commands.iter().all(|command| command.overtaken_by == Some(0)), "depth {depth}");
    }
}

#[test]
fn by_positioning_time_commands_overtake_each_other() {
    let point = point(&random(Order::Sptf, 16));
    let most = commands(&point).iter().map(|command| command.overtaken_by.unwrap()).max().unwrap();
    assert!(most > 16, "the command that was overtaken most let {most} past");
}

#[test]
fn the_yardstick_serves_the_same_commands_in_order_of_arrival() {
    // All at once, and no other until long after: what both runs serve is one set.
    let batch = |setup: Setup| {
        let arrivals = Arrivals::Closed { outstanding: 16, think: ms(3_600_000) };
        let jobs = setup.jobs.into_iter().map(|job| JobParams { arrivals, ..job }).collect();
        Setup { jobs, limit: drivelab_core::Limit { duration: None, ios: Some(16), until: None }, ..setup }
    };
    let own = batch(random(Order::Sptf, 16));
    let other = in_arrival_order(&own, 16).unwrap();
    let (own, other) = (point(&own), point(&other));
    let served = |point: &Point| {
        commands(point).iter().map(|command| (command.id, command.first_sector)).collect::<Vec<_>>()
    };
    assert_eq!(served(&own), served(&other));
    assert!(commands(&other).iter().all(|command| command.reorder_distance == Some(0)));
    assert!(own.window_ns < other.window_ns, "{} against {}", own.window_ns, other.window_ns);
}

#[test]
fn what_is_no_drive_has_no_order_and_no_log() {
    let stations = common::stations(None, 1);
    let thinking = JobParams { arrivals: Arrivals::Closed { outstanding: 1, think: ms(1) }, ..job() };
    let setup = Setup { traces: 9, ..setup(stations, thinking, 20) };
    let point = point(&setup);
    assert_eq!((commands(&point).len(), point.log.as_ref().unwrap().platter), (0, None));
    assert!(in_arrival_order(&setup, 9).is_none());
}

#[test]
fn a_read_that_the_buffer_serves_has_no_place_of_its_own() {
    let read_ahead = CacheParams::reading_on(Sectors::new(4_096)).when(false, false);
    let target = target(&DriveParams { cache: Some(read_ahead), ..drive() });
    let thinking = Arrivals::Closed { outstanding: 1, think: ms(2) };
    let job = JobParams {
        addressing: drivelab_core::host::params::Addressing::Sequential,
        arrivals: thinking,
        ..job()
    };
    let point = point(&Setup { traces: 20, ..setup(target, job, 20) });
    let buffered: Vec<_> = commands(&point).iter().filter(|command| command.served == "buffered").collect();
    assert!(!buffered.is_empty());
    assert!(buffered.iter().all(|command| command.first_cylinder.is_none()));
}
