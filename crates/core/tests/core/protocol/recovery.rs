//! What an error costs the host's commands under each protocol, in closed form; and which attempts fail, which is the same
//! under all of them.
//! Source: Linux, Documentation/driver-api/libata.rst and Documentation/scsi/scsi_eh.rst; SAM-2 5.9.1.
use super::host::{HostRun, play};
use super::wire::{Draft, Step};
use super::{Checked, cases};
use crate::common::{TRACK, drive, ms, queue, us};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{Naca, NcqParams, Protocol, QueueErrors, ScsiParams, TaskSets};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::{Access, Attribute, Outcome, Priority};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SCSI: ScsiParams = ScsiParams::USUAL;
const NCQ: Protocol = Protocol::Ncq(NcqParams::USUAL);

/// Where no attempt can read: far out, so that all that comes with it has been sent when it fails.
const BAD: (u64, u64) = (995 * TRACK, 16);

/// Those whose errors wake the host's error handler.
const HANDLED: [Protocol; 4] =
    [Protocol::None, NCQ, Protocol::AtaTcq, Protocol::ScsiTcq(ScsiParams { naca: Naca::ALL, ..SCSI })];

/// Those whose host has the sense data with the status.
const SENSED: [Protocol; 3] = [
    Protocol::ScsiTcq(SCSI),
    Protocol::ScsiTcq(ScsiParams { on_error: QueueErrors::ClearAll, ..SCSI }),
    Protocol::ScsiTcq(ScsiParams { on_error: QueueErrors::ClearNexus, task_sets: TaskSets::Each, ..SCSI }),
];

fn read(place: u64) -> Step {
    let (attribute, priority, access) = (Attribute::Simple, Priority::Normal, Access::Read);
    Step::Send(Draft { initiator: 0, attribute, priority, force_unit_access: false, access, place, count: 8 })
}

/// A share of all reads fails, or one stretch does.
fn failing(protocol: Protocol, depth: u32, share: Option<Share>) -> DriveParams {
    let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
    let unreadable = if share.is_some() { Vec::new() } else { unreadable };
    let read_errors = share.unwrap_or(Share::NONE);
    let faults = Some(FaultParams { read_errors, unreadable, retries: Span::ZERO });
    let depth = if protocol == Protocol::None { 1 } else { depth };
    let order = if depth == 1 { Order::Fcfs } else { Order::Sptf };
    DriveParams { queue: queue(depth, order), protocol, faults, ..drive() }
}

fn percent(percent: u64) -> Option<Share> {
    Share::from_ratio(percent, 100)
}

fn places(seed: u64, count: u64) -> Vec<Step> {
    (0..count).map(|i| read((seed + i * 7_919) % 990 * TRACK + i * 37 % TRACK)).collect()
}

fn errors(run: &HostRun) -> u64 {
    run.traces.iter().filter(|trace| trace.outcome == Outcome::MediaError).count() as u64
}

fn last(run: &HostRun) -> Instant {
    run.answers.iter().map(|answer| answer.completed).max().expect("something is answered")
}

/// How often each command was tried.
fn attempts(run: &HostRun) -> BTreeMap<u64, u64> {
    let mut failed = BTreeMap::new();
    for trace in &run.traces {
        *failed.entry(trace.command.id).or_default() += u64::from(trace.outcome == Outcome::MediaError);
    }
    failed
}

/// What the drive has after an error, and when.
fn check_next(run: &HostRun, controller: &ControllerParams, waits: Span) -> Checked {
    let tries: Vec<_> = run.of(0).collect();
    for pair in tries.windows(2) {
        prop_assert_eq!(pair[1].accepted, pair[0].completed + waits + controller.issue);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    /// The failed command is the oldest, and goes first.
    #[test]
    fn a_read_that_failed_goes_again_after_the_recovery_and_the_time_to_send_it(
        recovery in 0u64..50_000, times in [0u64..130, 0u64..400], retries in 1u8..5,
    ) {
        let [issue, completion] = times.map(us);
        let recovery = us(recovery);
        let controller = ControllerParams { issue, completion, retries, recovery, ..ControllerParams::PLAIN };
        let steps = [vec![read(BAD.0)], places(3, 6)].concat();
        for protocol in HANDLED {
            let run = play(&failing(protocol, 8, None), controller, &steps);
            prop_assert_eq!(run.of(0).count(), usize::from(retries) + 1, "{:?}", protocol);
            check_next(&run, &controller, recovery)?;
        }
        for protocol in SENSED {
            let run = play(&failing(protocol, 8, None), controller, &steps);
            prop_assert_eq!(run.of(0).count(), usize::from(retries) + 1, "{:?}", protocol);
            check_next(&run, &controller, Span::ZERO)?;
        }
    }

    /// A recovery of whole turns changes nothing but the time: each error costs it once, however many commands wait.
    #[test]
    fn an_error_costs_the_recovery_once_where_the_error_handler_wakes_and_else_nothing(
        turns in 1u64..90, seed in 0u64..10_000, depth in prop::sample::select(vec![1u32, 2, 8, 32]),
        retries in 0u8..4,
    ) {
        let recovery = ms(6 * turns);
        let steps = places(seed, 60);
        let controller = ControllerParams { retries, ..ControllerParams::PLAIN };
        let slow = ControllerParams { recovery, ..controller };
        let mut cost = Vec::new();
        for protocol in HANDLED {
            let params = failing(protocol, depth, percent(5));
            let [free, paid] = [controller, slow].map(|controller| play(&params, controller, &steps));
            prop_assert_eq!(attempts(&free), attempts(&paid));
            // What the last command to end costs nobody waits for.
            let pays = paid.traces.iter().filter(|trace| {
                trace.outcome == Outcome::MediaError && trace.completed < last(&paid)
            });
            let all = Span::from_ns(recovery.as_ns() * pays.count() as u64);
            prop_assert_eq!(last(&paid), last(&free) + all, "{:?}", protocol);
            cost.push(errors(&paid));
        }
        for protocol in SENSED {
            let params = failing(protocol, depth, percent(5));
            let [free, paid] = [controller, slow].map(|controller| play(&params, controller, &steps));
            cost.push(errors(&paid));
            prop_assert_eq!(free, paid, "{:?}", protocol);
        }
        prop_assert!(cost.iter().all(|&errors| errors == cost[0]), "the same errors: {cost:?}");
    }

    /// Which attempts fail is drawn by command and attempt: protocol, order and depth change nothing of it, and a read that
    /// has failed may be read the next time.
    #[test]
    fn each_attempt_at_a_command_is_drawn_for_itself(seed in 0u64..10_000, depth in 1u32..33) {
        let controller = ControllerParams { retries: 60, ..ControllerParams::PLAIN };
        let steps = places(seed, 40);
        let alone = play(&failing(NCQ, 1, percent(50)), controller, &steps);
        let failed = attempts(&alone);
        prop_assert!(failed.values().any(|&failed| failed > 1));
        for protocol in HANDLED.into_iter().chain(SENSED) {
            let run = play(&failing(protocol, depth, percent(50)), controller, &steps);
            prop_assert!(run.check_answers()?.values().all(|answer| answer.outcome == Outcome::Done));
            prop_assert_eq!(attempts(&run), failed.clone(), "{:?}", protocol);
        }
    }
}

/// Of forty reads that fail every second time, half fail once, a quarter twice.
#[test]
fn attempts_fail_as_often_as_the_share_says() {
    let controller = ControllerParams { retries: 60, ..ControllerParams::PLAIN };
    let run = play(&failing(NCQ, 8, percent(50)), controller, &places(0, 1_000));
    let failed = attempts(&run);
    for (least, expected) in [(1, 500.0), (2, 250.0), (3, 125.0)] {
        let count = failed.values().filter(|&&failed| failed >= least).count() as f64;
        assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{least}: {count}");
    }
}

/// A command that is on its way as an error comes goes no farther, although nothing older comes back.
#[test]
fn what_is_on_its_way_waits_for_the_error_handler_too() {
    let (issue, recovery) = (ms(9), ms(50));
    let controller = ControllerParams { issue, recovery, ..ControllerParams::PLAIN };
    for protocol in [NCQ, Protocol::AtaTcq] {
        let run = play(&failing(protocol, 8, None), controller, &[read(BAD.0), read(0)]);
        let [failed, next] = [0, 1].map(|id| run.of(id).last().expect("the drive has had it"));
        assert_eq!(failed.outcome, Outcome::MediaError);
        assert_eq!(next.accepted, failed.completed + recovery + issue, "{protocol:?}");
        assert_eq!(run.traces.len(), 2);
    }
}

/// The host has not taken the error yet: the drive has failed, and nothing more is sent to it.
#[test]
fn nothing_is_sent_between_an_error_and_its_taking() {
    let (completion, recovery) = (ms(40), ms(50));
    let controller = ControllerParams { completion, recovery, ..ControllerParams::PLAIN };
    for protocol in [NCQ, Protocol::AtaTcq] {
        let steps = [read(BAD.0), Step::Wait(ms(20)), read(0)];
        let run = play(&failing(protocol, 8, None), controller, &steps);
        let [failed, next] = [0, 1].map(|id| run.of(id).last().expect("the drive has had it"));
        assert_eq!(failed.outcome, Outcome::MediaError);
        assert_eq!(next.accepted, failed.completed + completion + recovery, "{protocol:?}");
    }
}
