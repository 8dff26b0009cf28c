//! Completions that a drive holds back and reports together.
use crate::common::trace::{CommandTrace, Until, trace};
use crate::common::{Probe, TRACK, drive, outstanding, queue, random_job, setup, target};
use drivelab_core::Access;
use drivelab_core::host::params::JobParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::queue::{Order, QueueParams};
use drivelab_units::Instant;

fn coalescing(depth: u32, order: Order, round: u16) -> DriveParams {
    DriveParams { queue: QueueParams { coalesces: Some(round), ..queue(depth, order) }, ..drive() }
}

/// When the answers to reads all over the drive come, which are there all at once.
fn answers(params: &DriveParams) -> Vec<Instant> {
    let mut probe = Probe::of(params);
    for cylinder in [500, 620, 90, 510, 980, 490, 100, 30] {
        probe.send(Access::Read, cylinder * TRACK, 8);
    }
    probe.drain().iter().map(|answer| answer.completed).collect()
}

#[test]
fn a_round_is_reported_with_its_last_completion_or_when_nothing_is_left() {
    for order in Order::ALL {
        let each = answers(&DriveParams { queue: queue(8, order), ..drive() });
        assert_eq!(answers(&coalescing(8, order, 1)), each, "{order:?}");
        for (round, last) in [(3, vec![2, 2, 2, 5, 5, 5, 7, 7]), (8, vec![7; 8]), (100, vec![7; 8])] {
            let expected: Vec<Instant> = last.iter().map(|&i| each[i]).collect();
            assert_eq!(answers(&coalescing(8, order, round)), expected, "{order:?}, rounds of {round}");
        }
    }
}

/// A round longer than the queue would never be full: the drive reports when it has served all that it holds.
#[test]
fn commands_without_a_tag_are_not_forgotten() {
    assert_eq!(answers(&coalescing(2, Order::Sptf, 3)).len(), 8);
}

/// Random reads in a closed loop.
fn closed(params: &DriveParams, jobs: u32) -> CommandTrace {
    let target = target(params);
    let job = JobParams { arrivals: outstanding(jobs), ..random_job(&target, 1, 8) };
    trace(&setup(target, job, 0), Until::Finished(2_000), 0)
}

#[test]
fn one_command_at_a_time_is_reported_by_itself() {
    let alone = closed(&DriveParams { queue: queue(8, Order::Sptf), ..drive() }, 1);
    assert_eq!(closed(&coalescing(8, Order::Sptf, 5), 1).completions, alone.completions);
}

/// Every command waits for as many services as there are commands, its own included, in whatever order they go: so the
/// response times hardly spread although the order saves time.
#[test]
fn when_a_round_holds_all_that_is_outstanding_every_response_is_one_round() {
    for order in Order::ALL {
        let run = closed(&coalescing(32, order, 10), 8);
        for (i, answer) in run.completions.iter().enumerate() {
            let before = run.completions[..i].iter().filter(|other| other.completed <= answer.submitted);
            let round = run.completions.iter().filter(|other| other.completed <= answer.completed);
            assert_eq!(round.count() - before.count(), 8, "{order:?}: {i}");
        }
    }
}
