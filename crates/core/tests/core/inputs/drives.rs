//! Drives that fail and are replaced, work that begins, and power that goes, while a target runs.
use super::{at_ms, forgetful, run_out, small};
use crate::array::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, target};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Failure, Level, Rotation, Scheduled, When};
use drivelab_core::storage::array::report::{Health, Report, ReportKind, SyncKind};
use drivelab_core::storage::{Accepted, Fault, TargetEvent, TargetInput, TargetParams};
use drivelab_core::{Access, Completion, Machine, Outcome};
use drivelab_units::Instant;
use proptest::prelude::*;

/// Twenty reads and writes, two milliseconds apart, and these inputs at their instants; everything that is said.
fn play(params: &TargetParams, inputs: &[(Instant, TargetInput)]) -> (Vec<Completion>, Vec<Report>, u64) {
    let mut target = Target::new(params, 1);
    let submits = (0..20u64).map(|id| {
        let access = if id % 2 == 0 { Access::Write } else { Access::Read };
        (at_ms(2 * id), TargetInput::Submit(command(id, access, 160 * id, 16)))
    });
    let mut all: Vec<(Instant, TargetInput)> = submits.chain(inputs.iter().copied()).collect();
    all.sort_by_key(|&(at, _)| at);
    for (at, input) in all {
        target.handle(at, input);
    }
    run_out(&mut target);
    let answers = std::iter::from_fn(|| target.poll_output()).collect();
    let reports = std::iter::from_fn(|| target.poll_report()).collect();
    (answers, reports, target.digest().value())
}

fn levels() -> Vec<ArrayParams> {
    let parity = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    [(Level::Mirrored, 2), (parity, 3)]
        .map(|(level, members)| ArrayParams { spares: 1, ..ArrayParams::plain(level, members) })
        .into()
}

/// A drive that fails by the scenario and one that is told to fail fail alike.
#[test]
fn a_failure_by_input_is_the_failure_of_a_scenario() {
    for params in levels() {
        // At an odd instant, where nothing else happens.
        let at = Instant::from_ns(11_000_123);
        let failures = vec![Failure { drive: 1, when: When::At(at) }];
        let by_scenario = play(&array_of(ArrayParams { failures, ..params.clone() }, &small()), &[]);
        let by_input =
            play(&array_of(params, &small()), &[(at, TargetInput::Inject(Fault::Fail { drive: 1 }))]);
        assert_eq!(by_input, by_scenario);
        let rebuilt = ReportKind::Ended(SyncKind::Rebuild);
        assert!(by_input.1.iter().any(|report| report.what == rebuilt), "{:?}", by_input.1);
    }
}

/// So does work of the array's own.
#[test]
fn work_by_input_is_the_work_of_a_scenario() {
    for params in levels() {
        for kind in [SyncKind::Scrub, SyncKind::Resync] {
            let at = Instant::from_ns(11_000_123);
            let scheduled = vec![Scheduled { kind, at }];
            let by_scenario = play(&array_of(ArrayParams { scheduled, ..params.clone() }, &small()), &[]);
            let by_input = play(
                &array_of(params.clone(), &small()),
                &[(at, TargetInput::Inject(Fault::Begin { work: kind }))],
            );
            assert_eq!(by_input, by_scenario);
            assert!(by_input.1.iter().any(|report| report.what == ReportKind::Ended(kind)));
        }
    }
}

/// A rebuild can be asked for before its time has come, and then that changes nothing.
#[test]
fn a_rebuild_by_input_does_not_wait_for_its_time() {
    for params in levels() {
        let params = ArrayParams { replaced_after: crate::common::ms(60_000), ..params };
        let at = |ns| Instant::from_ns(ns);
        let inputs = [
            (at(11_000_123), TargetInput::Inject(Fault::Fail { drive: 0 })),
            (at(15_000_123), TargetInput::Inject(Fault::Begin { work: SyncKind::Rebuild })),
        ];
        let (_, reports, _) = play(&array_of(params.clone(), &small()), &inputs);
        let begun = reports.iter().find(|report| report.what == ReportKind::Began(SyncKind::Rebuild));
        assert_eq!(begun.map(|report| report.at), Some(at(15_000_123)));
        let whole = reports.last().map(|report| report.what);
        assert_eq!(whole, Some(ReportKind::Ended(SyncKind::Rebuild)));
        assert_eq!(
            reports.iter().filter(|report| matches!(report.what, ReportKind::Replaced { .. })).count(),
            1
        );
    }
}

/// A new drive in the place of a member is rebuilt at once; nothing is left of what the old one was at.
#[test]
fn a_member_that_is_replaced_is_rebuilt() {
    for params in levels() {
        let params = ArrayParams { spares: 0, ..params };
        let mut target = Target::new(&array_of(params, &small()), 1);
        target.keep_data();
        for id in 0..6 {
            target.submit(Instant::ZERO, command(id, Access::Write, 160 * id, 16));
        }
        target.handle(at_ms(3), TargetInput::Inject(Fault::Fail { drive: 1 }));
        assert_eq!(target.system().unwrap().array().unwrap().health(), Health::Degraded);
        target.handle(at_ms(4), TargetInput::Inject(Fault::Replace { drive: 1 }));
        assert_eq!(target.system().unwrap().array().unwrap().health(), Health::Rebuilding);
        run_out(&mut target);
        assert_eq!(target.system().unwrap().array().unwrap().health(), Health::Healthy);
        let answers: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
        assert!(answers.len() == 6 && answers.iter().all(|answer| answer.outcome == Outcome::Done));
        let replaced = |op: &DataOp| matches!(op, DataOp::Replace { member: 1 });
        assert_eq!(std::iter::from_fn(|| target.poll_data()).filter(replaced).count(), 1);
    }
}

/// Without an array commands fail with their drive, and work again with a new one.
#[test]
fn a_drive_alone_fails_with_all_that_it_has_and_can_be_replaced() {
    for params in [small(), forgetful()] {
        let mut target = Target::new(&target(&params), 1);
        target.keep_data();
        for id in 0..12 {
            target.submit(Instant::ZERO, command(id, Access::Read, 300 * id, 8));
        }
        target.handle(at_ms(5), TargetInput::Inject(Fault::Fail { drive: 0 }));
        let before: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
        let failed = before.iter().filter(|answer| answer.outcome == Outcome::Failed).count();
        assert!(before.len() == 12 && (1..12).contains(&failed), "{failed}");
        assert!(before.iter().all(|answer| answer.breakdown.total() == answer.completed - answer.submitted));
        target.submit(at_ms(6), command(12, Access::Write, 0, 8));
        assert_eq!(target.poll_output().map(|answer| answer.outcome), Some(Outcome::Failed));
        assert_eq!(target.handle(at_ms(7), TargetInput::Inject(Fault::Replace { drive: 0 })), Accepted::Done);
        target.submit(at_ms(7), command(13, Access::Read, 0, 8));
        run_out(&mut target);
        let answer = target.poll_output().unwrap();
        assert_eq!((answer.id, answer.outcome, target.poll_output()), (13, Outcome::Done, None));
        let events: Vec<TargetEvent> = std::iter::from_fn(|| target.poll_happened()).collect();
        let (failed, replaced) = (
            TargetEvent::DriveFailed { at: at_ms(5), drive: 0 },
            TargetEvent::DriveReplaced { at: at_ms(7), drive: 0 },
        );
        assert_eq!(events, [failed, replaced]);
        assert!(std::iter::from_fn(|| target.poll_data()).any(|op| op == DataOp::Replace { member: 0 }));
    }
}

/// What is under way when the power goes is never answered, and nothing is due any more.
#[test]
fn nothing_is_answered_after_a_power_cut() {
    for params in [target(&small()), array_of(ArrayParams::plain(Level::Mirrored, 2), &small())] {
        let mut target = Target::new(&params, 1);
        for id in 0..12 {
            target.submit(Instant::ZERO, command(id, Access::Read, 300 * id, 8));
        }
        target.handle(at_ms(5), TargetInput::Inject(Fault::CutPower));
        let answered = std::iter::from_fn(|| target.poll_output()).count();
        assert!((1..12).contains(&answered));
        assert_eq!(target.poll_timeout(), None);
        target.handle(at_ms(50_000), TargetInput::Tick);
        assert_eq!(target.poll_output(), None);
        assert_eq!(target.poll_happened(), Some(TargetEvent::PowerCut { at: at_ms(5) }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever fails and is replaced, and when: every command is answered once.
    #[test]
    fn every_command_is_answered_whatever_fails_and_is_replaced(
        inputs in prop::collection::vec((0u64..40_000_000, any::<bool>(), 0u16..4), 0..12),
        level in 0usize..2,
    ) {
        let mut target = Target::new(&array_of(levels().remove(level), &small()), 1);
        let submits = (0..20u64).map(|id| {
            let access = if id % 2 == 0 { Access::Write } else { Access::Read };
            (2_000_000 * id, TargetInput::Submit(command(id, access, 160 * id, 16)))
        });
        let others = inputs.into_iter().map(|(at, fails, drive)| {
            (at, if fails { TargetInput::Inject(Fault::Fail { drive }) } else { TargetInput::Inject(Fault::Replace { drive }) })
        });
        let mut all: Vec<(u64, TargetInput)> = submits.chain(others).collect();
        all.sort_by_key(|&(at, _)| at);
        for (at, input) in all {
            // Some drives are not there, have failed before, or have not.
            let _ = Machine::handle(&mut target, Instant::from_ns(at), input);
        }
        run_out(&mut target);
        let mut answered: Vec<u64> = std::iter::from_fn(|| target.poll_output()).map(|answer| answer.id).collect();
        answered.sort_unstable();
        prop_assert_eq!(answered, (0..20).collect::<Vec<u64>>());
    }
}
