//! Errors behind a controller: what failed is tried again as often as allowed, what it took with it is sent again
//! without counting, and the host hears of every command once.
//! Source: Linux, Documentation/driver-api/libata.rst; SAM-2 5.9.1.
use super::fences::scsi_of;
use super::host::{HostRun, controllers, play};
use super::wire::{BAD, Step, drafts, drives_under, histories, scsi_with_errors, with_bad_sectors};
use super::{Checked, cases};
use crate::common::scenarios::nacas;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{Naca, NcqParams, Protocol, ScsiParams, TaskSets};
use drivelab_core::{Attribute, Command, CommandTrace, Outcome, Priority};
use drivelab_units::{Share, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SIMPLE: &[Attribute] = &[Attribute::Simple];
const ALL: &[Attribute] = &[
    Attribute::Simple,
    Attribute::Simple,
    Attribute::Simple,
    Attribute::Ordered,
    Attribute::HeadOfQueue,
    Attribute::Untagged,
];

/// Some reads fail wherever they are, each attempt for itself.
fn faulty(drives: BoxedStrategy<DriveParams>) -> BoxedStrategy<DriveParams> {
    (with_bad_sectors(drives), 0u64..4)
        .prop_map(|(mut params, share)| {
            if let Some(faults) = &mut params.faults {
                faults.read_errors = Share::from_ratio(share, 10).expect("it is less than one");
            }
            params
        })
        .boxed()
}

fn any_scsi() -> BoxedStrategy<Protocol> {
    (scsi_with_errors(), nacas())
        .prop_map(|(protocol, naca)| Protocol::ScsiTcq(ScsiParams { naca, ..scsi_of(protocol) }))
        .boxed()
}

fn ncq() -> BoxedStrategy<Protocol> {
    any::<[bool; 3]>()
        .prop_map(|[out_of_order, rdnc, wdnc]| Protocol::Ncq(NcqParams { out_of_order, rdnc, wdnc }))
        .boxed()
}

fn sends(attributes: &'static [Attribute]) -> BoxedStrategy<Vec<Step>> {
    histories(drafts(attributes).prop_map(Step::Send).boxed())
}

/// What failed counts, what was cleared does not; and the host hears of the last attempt.
fn check(run: &HostRun, retries: u8) -> Checked {
    let answers = run.check_answers()?;
    let mut failures: BTreeMap<u64, u8> = BTreeMap::new();
    for trace in &run.traces {
        let failed = failures.entry(trace.command.id).or_default();
        prop_assert_eq!(trace.command.attempt, *failed, "{:?}", trace);
        *failed += u8::from(trace.outcome == Outcome::MediaError);
    }
    for (id, answer) in answers {
        let failed = failures.get(&id).copied().unwrap_or(0);
        let last = run.of(id).last();
        match answer.outcome {
            Outcome::MediaError => prop_assert_eq!(failed, retries + 1),
            Outcome::Done | Outcome::TimedOut => prop_assert!(failed <= retries),
            other => prop_assert!(false, "{other:?}: {last:?}"),
        }
        prop_assert_eq!(last.map(|trace| trace.outcome), Some(answer.outcome), "{:?}", last);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn ncq_sends_the_others_again_and_counts_the_failed_one_alone(
        (params, controller, steps) in (faulty(drives_under(ncq())), controllers(), sends(SIMPLE)),
    ) {
        check(&play(&params, controller, &steps), controller.retries)?;
    }

    #[test]
    fn ata_tcq_sends_the_others_again_and_counts_the_failed_one_alone(
        params in faulty(drives_under(Just(Protocol::AtaTcq).boxed())),
        (controller, steps) in (controllers(), sends(SIMPLE)),
    ) {
        check(&play(&params, controller, &steps), controller.retries)?;
    }

    #[test]
    fn scsi_sends_again_what_was_cleared_and_counts_the_failed_one_alone(
        (params, controller, steps) in (faulty(drives_under(any_scsi())), controllers(), sends(ALL)),
    ) {
        check(&play(&params, controller, &steps), controller.retries)?;
    }

    #[test]
    fn a_missed_deadline_ends_its_command_and_the_others_are_sent_again(
        (params, controller) in (faulty(drives_under(ncq())), controllers()),
        steps in histories((drafts(SIMPLE), 0u64..200_000).prop_map(|(mut draft, us)| {
            if us < 100_000 {
                draft.priority = Priority::Isochronous(Span::from_us(us));
            }
            Step::Send(draft)
        }).boxed()),
    ) {
        check(&play(&params, controller, &steps), controller.retries)?;
    }

    #[test]
    fn an_ata_drive_gets_nothing_until_the_error_handler_is_through(
        params in faulty(drives_under(prop_oneof![ncq(), Just(Protocol::AtaTcq), Just(Protocol::None)].boxed())),
        (controller, steps) in (controllers(), sends(SIMPLE)),
    ) {
        let run = play(&params, controller, &steps);
        check_stands_still(&run, &controller, |_, _| true)?;
    }

    #[test]
    fn an_allegiance_lasts_until_the_error_handler_is_through(
        params in faulty(drives_under(any_scsi())),
        (controller, steps) in (controllers(), sends(ALL)),
    ) {
        let naca = ScsiParams { naca: Naca::ALL, ..scsi_of(params.protocol) };
        let params = DriveParams { protocol: Protocol::ScsiTcq(naca), ..params };
        let run = play(&params, controller, &steps);
        check_stands_still(&run, &controller, |failed, other| {
            naca.task_sets == TaskSets::One || failed.initiator == other.initiator
        })?;
    }

    #[test]
    fn without_errors_nothing_is_sent_twice(
        (params, controller, steps) in (drives_under(any_scsi()), controllers(), sends(ALL)),
    ) {
        let run = play(&params, controller, &steps);
        check(&run, 0)?;
        prop_assert_eq!(run.traces.len(), run.sent.len());
    }
}

/// Between an error and the end of its recovery the drive takes nothing of what the error holds up.
fn check_stands_still(
    run: &HostRun,
    controller: &ControllerParams,
    holds_up: impl Fn(&Command, &Command) -> bool,
) -> Checked {
    for failed in run.traces.iter().filter(|trace| trace.outcome == Outcome::MediaError) {
        let (from, until) = (failed.completed, failed.completed + controller.recovery);
        let held_up = |trace: &CommandTrace| holds_up(&failed.command, &trace.command);
        let taken = |trace: &&CommandTrace| held_up(trace) && trace.accepted > from && trace.accepted < until;
        let taken = run.traces.iter().find(taken);
        prop_assert!(taken.is_none(), "{failed:?} and then {taken:?}");
    }
    Ok(())
}

/// A read of the bad sectors fails as often as it may, and the host hears of it once.
#[test]
fn a_bad_sector_is_tried_so_often_and_then_reported() {
    use super::wire::Draft;
    use crate::common::{drive, queue};
    use drivelab_core::storage::drive::faults::FaultParams;
    use drivelab_core::storage::drive::queue::Order;
    use drivelab_units::{Lba, Sectors};
    let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
    let faults =
        Some(FaultParams { read_errors: Share::from_ratio(0, 1).unwrap(), unreadable, retries: Span::ZERO });
    let draft = |place| {
        let (attribute, priority, access) =
            (Attribute::Simple, Priority::Normal, drivelab_core::Access::Read);
        Draft { initiator: 0, attribute, priority, force_unit_access: false, access, place, count: 8 }
    };
    for protocol in [Protocol::Ncq(NcqParams::USUAL), Protocol::AtaTcq, Protocol::ScsiTcq(ScsiParams::USUAL)]
    {
        let params =
            DriveParams { queue: queue(8, Order::Fcfs), protocol, faults: faults.clone(), ..drive() };
        for retries in 0..3 {
            let controller = ControllerParams { retries, ..ControllerParams::PLAIN };
            let steps = [draft(BAD.0), draft(6_000), draft(60_000)].map(Step::Send);
            let run = play(&params, controller, &steps);
            check(&run, retries).unwrap();
            let outcomes = run.check_answers().unwrap();
            let outcomes: Vec<Outcome> = outcomes.values().map(|answer| answer.outcome).collect();
            assert_eq!(outcomes, [Outcome::MediaError, Outcome::Done, Outcome::Done]);
            assert_eq!(run.of(0).count(), usize::from(retries) + 1);
        }
    }
}
