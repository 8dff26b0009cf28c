//! Whole runs that are checked: what is looked at as they end, what is refused, and what the check may cost.
use crate::common::sorted::Target;
use crate::planted::memory;
use crate::{common, setups};
use drivelab_core::host::params::{JobParams, Marking};
use drivelab_core::storage::array::params::{ArrayParams, Failure, Level, Rotation, When};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Machine, Setup};
use drivelab_record::Point;
use drivelab_simulate::checker::{CheckedTarget, RunChecker};
use drivelab_simulate::{Control, RunError, run};
use drivelab_units::{Instant, Lba, Sectors, Share};
use std::sync::atomic::AtomicBool;

fn checked(setup: &Setup) -> Result<Point, RunError> {
    let (stop, progress) = (AtomicBool::new(false), |_| ());
    run(&Setup { checks_data: true, ..setup.clone() }, &Control { stop: &stop, progress: &progress })
}

fn half() -> Share {
    Share::from_ratio(1, 2).expect("a share")
}

#[test]
fn a_whole_run_of_a_workload_is_checked() {
    let params = setups::forgetful(ArrayParams::plain(Level::Mirrored, 2));
    let target = TargetParams::System(params);
    let job = JobParams {
        reads: Share::from_ratio(1, 2).expect("a share"),
        count: Sectors::new(1_000),
        arrivals: common::outstanding(8),
        ..common::job()
    };
    let setup = Setup { checks_data: true, ..common::setup(target, job, 2_000) };
    let point = checked(&setup).expect("the truth");
    let data = point.data.expect("it was asked for");
    assert!(data.reads > 500 && data.writes > 500 && data.reads + data.writes >= 2_000, "{data:?}");
    // The job writes all of its addresses many times over, and each of them twice.
    assert_eq!(data.sectors_kept, Some(1_000));
    assert!(data.compared.is_some_and(|fit| fit.what == "copies" && fit.sectors >= 2_000), "{data:?}");
}

/// The answers of a round come at one instant, and the run ends with any of them.
#[test]
fn a_run_may_end_within_a_round_of_reports() {
    for drive in setups::WITH_ROUNDS {
        for (depth, ios) in [(2, 399), (2, 400), (5, 77), (8, 200)] {
            let arrivals = common::outstanding(depth);
            let job = JobParams { reads: half(), count: Sectors::new(1_000), arrivals, ..common::job() };
            let setup = common::setup(TargetParams::System(setups::alone(drive)), job, ios);
            let data =
                checked(&setup).unwrap_or_else(|wrong| panic!("drive {drive}, depth {depth}: {wrong}")).data;
            assert!(data.is_some_and(|data| data.reads + data.writes >= ios));
        }
    }
}

/// Two hosts with caches, each with one job: the second from this sector on, and whether both go past their caches.
fn two_hosts(second: u64, direct: bool, reads: Share) -> Setup {
    let params = SystemParams { host_cache: Some(memory()), ..setups::alone(5) };
    let marking = Marking { direct, ..Marking::default() };
    let first = JobParams { reads: half(), count: Sectors::new(200), marking, ..common::job() };
    let second = JobParams { initiator: 1, first: Lba::new(second), reads, ..first.clone() };
    let mut setup = common::setup(TargetParams::System(params), first, 500);
    setup.jobs.push(second);
    setup
}

#[test]
fn hosts_whose_caches_hide_data_from_each_other_are_refused() {
    for reads in [half(), Share::ALL] {
        let refused = checked(&two_hosts(192, false, reads)).expect_err("stale reads are no lie");
        assert_eq!(refused, RunError::SharedByCaches { one: 0, other: 1 });
        for (second, direct) in [(200, false), (0, true)] {
            let point = checked(&two_hosts(second, direct, reads)).unwrap_or_else(|wrong| panic!("{wrong}"));
            assert!(point.data.is_some_and(|data| data.reads + data.writes >= 500));
        }
    }
    // Where both only read there is nothing to hide.
    let mut readers = two_hosts(0, false, Share::ALL);
    readers.jobs[0].reads = Share::ALL;
    assert!(checked(&readers).is_ok());
}

/// A memory full of data before an array that has lost members: what it flushes fails, again and again, and there is
/// nothing left to compare.
#[test]
fn of_an_array_that_has_lost_data_nothing_is_waited_for() {
    let level = Level::Parity { parities: 1, rotation: Rotation::Last, groups: 1 };
    let failures =
        [0, 1].map(|drive| Failure { drive, when: When::At(Instant::from_ns(1_000_000)) }).to_vec();
    let plain = setups::bare(ArrayParams { failures, ..ArrayParams::plain(level, 4) });
    let size = Sectors::new(2_000);
    let cache = Some(WriteBehindParams { size, limit: size, background: Sectors::ZERO, ..memory() });
    let params = SystemParams { controller: ControllerParams { cache, ..plain.controller }, ..plain };
    let mut watched = CheckedTarget::new(&params, 1);
    for id in 0..100 {
        let write = common::command(id, Access::Write, 16 * id, 4);
        watched.submit(&write).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    watched.run_until(Instant::from_ns(2_000_000)).unwrap_or_else(|wrong| panic!("{wrong}"));
    let (now, flushing) = (watched.now(), watched.memories().any(|memory| memory.flushing() > 0));
    assert_eq!(watched.quiesce(u64::MAX), Ok(true));
    assert!(flushing && watched.now() == now);
}

/// Hears what the target has done with data.
fn process_outputs(checker: &mut RunChecker, target: &mut Target, now: Instant) -> Result<(), RunError> {
    while let Some(op) = target.poll_data() {
        checker.observe(target, now, op)?;
    }
    checker.process_outputs(target)
}

/// Writes one sector after the other, with a bound for the memory of the check.
fn bounded(most_bytes: u64) -> Result<(), RunError> {
    let target = TargetParams::System(setups::alone(0));
    let setup = common::setup(target, common::job(), 1);
    let mut target = Target::new(&setup.target, 1);
    let mut checker = RunChecker::new(&setup, &mut target)?.bounded(most_bytes);
    let mut now = Instant::ZERO;
    for id in 0..1_000 {
        let write = common::command(id, Access::Write, id, 1);
        checker.submitted(id, &write);
        target.submit(now, write);
        process_outputs(&mut checker, &mut target, now)?;
        while let Some(due) = target.poll_timeout() {
            now = due;
            target.handle(now, TargetInput::Tick);
            process_outputs(&mut checker, &mut target, now)?;
        }
        while let Some(completion) = target.poll_output() {
            checker.answered(&target, &completion)?;
        }
    }
    Ok(())
}

#[test]
fn the_memory_of_a_check_has_a_bound_that_is_checked_soon() {
    assert_eq!(bounded(1 << 20), Ok(()));
    let Err(RunError::TooMuchData { mib: 0, writes, .. }) = bounded(40_000) else { panic!("no bound") };
    // Some 250 bytes each, and looked at every few commands.
    assert!((100..400).contains(&writes), "{writes}");
    let message = RunError::TooMuchData { mib: 2_048, writes: 3, sectors_written: 24 }.to_string();
    assert!(message.contains("2048 MiB") && message.contains("workload.size"), "{message}");
}
