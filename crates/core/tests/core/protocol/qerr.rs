//! SCSI without NACA: what an error does to the other commands, by QERR, TST and TAS.
//! Source: SCSI-2 (X3.131) 7.8 and 8.3.3.1; SPC-2 r20 8.3.6; SPC-4 7.4.6 (TST, TAS); SAM-5 5.6 (TAS and UNIT ATTENTION).
use super::fences::{is_cleared_by, scsi_of, stands_before};
use super::ledger::Ledger;
use super::wire::{
    Event, REORDERINGS, Run, Step, drives_under, histories, play, scsi, sends, with_bad_sectors,
};
use super::{Checked, cases};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{Protocol, QueueErrors, ScsiParams};
use drivelab_core::trace::{CommandTrace, Served};
use drivelab_core::{Attribute, Command, Outcome};
use drivelab_units::Instant;
use proptest::prelude::*;

const ALL: &[Attribute] =
    &[Attribute::Simple, Attribute::Simple, Attribute::Ordered, Attribute::HeadOfQueue, Attribute::Untagged];

fn plays(on_error: QueueErrors) -> BoxedStrategy<(DriveParams, Vec<Step>)> {
    let protocol = scsi(REORDERINGS).prop_map(move |protocol| {
        let scsi = scsi_of(protocol);
        Protocol::ScsiTcq(ScsiParams { on_error, ..scsi })
    });
    (with_bad_sectors(drives_under(protocol.boxed())), histories(sends(ALL))).boxed()
}

/// Holds a run to the rule.
fn check(params: &DriveParams, steps: &[Step]) -> Checked {
    let (run, scsi) = (play(params, steps, None), scsi_of(params.protocol));
    let mut ledger = Ledger::new(&run, params);
    for (at, event) in &run.log {
        match event {
            Event::Sent(command) => {
                let refusal = ledger.attention(command);
                ledger.sent(command, refusal)?;
            }
            Event::Answered(completion) => {
                let Some(failed) = ledger.answered(completion)? else { continue };
                let by = failed.command.initiator;
                let cleared = |command: &Command| is_cleared_by(&scsi, by, command);
                check_dormant(&run, &ledger, &scsi, *at, failed, cleared)?;
                ledger.clear(*at, (!scsi.task_aborted).then_some(by), cleared)?;
            }
            _ => {}
        }
    }
    ledger.finish()
}

/// What an error clears and what still had to wait for another command is not begun in the same instant.
fn check_dormant(
    run: &Run,
    ledger: &Ledger<'_>,
    scsi: &ScsiParams,
    at: Instant,
    failed: &CommandTrace,
    cleared: impl Fn(&Command) -> bool,
) -> Checked {
    let held = || ledger.held.values().chain([&failed.command]);
    for command in held().filter(|command| cleared(command) && command.id != failed.command.id) {
        let waits = held().any(|older| stands_before(run, scsi, at, older, command));
        let served = run.traces[&command.id].served;
        prop_assert!(!waits || served == Served::Not, "{command:?} is cleared and begins");
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn with_qerr_0_the_others_go_on((params, steps) in plays(QueueErrors::Continue)) {
        check(&params, &steps)?;
    }

    #[test]
    fn with_qerr_1_all_of_the_task_set_are_cleared_and_other_initiators_find_a_unit_attention_or_task_aborted(
        (params, steps) in plays(QueueErrors::ClearAll),
    ) {
        check(&params, &steps)?;
    }

    #[test]
    fn with_qerr_3_those_of_the_same_initiator_are_cleared((params, steps) in plays(QueueErrors::ClearNexus)) {
        check(&params, &steps)?;
    }
}

/// What the rules above could not see if no history had it.
#[test]
fn the_histories_have_errors_and_much_to_clear() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut cleared, mut attentions) = (0, 0);
    for _ in 0..1_600 {
        let (params, steps) = plays(QueueErrors::ClearAll).new_tree(&mut runner).unwrap().current();
        let run = play(&params, &steps, None);
        for answer in run.answers() {
            cleared += u32::from(answer.outcome == Outcome::Aborted);
            attentions += u32::from(answer.outcome == Outcome::UnitAttention);
        }
    }
    assert!(cleared > 200 && attentions > 50, "{cleared} {attentions}");
}
