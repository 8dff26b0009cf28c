//! What holds under every protocol, whatever its initiators do: everything is answered once, its parts add up to its
//! time, the arm is at one place at a time, and neither chance nor superfluous calls change anything.
use super::cases;
use super::wire::{Event, INITIATORS, Run, Step, drafts, histories, play};
use crate::common::scenarios::{drives, protocols};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Attribute, CommandTrace, Priority, Served};
use drivelab_units::Span;
use proptest::prelude::*;
use std::collections::BTreeSet;

const ALL: &[Attribute] = &[
    Attribute::Simple,
    Attribute::Simple,
    Attribute::Simple,
    Attribute::Ordered,
    Attribute::HeadOfQueue,
    Attribute::Aca,
    Attribute::Untagged,
];

fn steps() -> BoxedStrategy<Vec<Step>> {
    let priorities = prop_oneof![
        4 => Just(Priority::Normal),
        1 => Just(Priority::High),
        1 => (0u64..60_000).prop_map(|us| Priority::Isochronous(Span::from_us(us))),
    ];
    let draft = (drafts(ALL), priorities, 0..INITIATORS).prop_map(|(mut draft, priority, ata)| {
        draft.priority = priority;
        // Now and then one that ATA too would take.
        if ata == 0 {
            (draft.initiator, draft.attribute) = (0, Attribute::Simple);
        }
        draft
    });
    let draft = draft.boxed();
    let step = prop_oneof![
        12 => draft.clone().prop_map(Step::Send),
        2 => (draft, 0u32..34).prop_map(|(draft, tag)| Step::SendAs(draft, tag)),
        1 => any::<usize>().prop_map(Step::Abort),
        1 => (0..INITIATORS, 0u32..40).prop_map(|(initiator, tag)| Step::AbortTag(initiator, tag)),
        1 => (0..INITIATORS).prop_map(Step::Clear),
        2 => Just(Step::ReadLog),
    ];
    histories(step.boxed())
}

fn plays() -> BoxedStrategy<(DriveParams, Vec<Step>)> {
    let drives = (drives(), protocols()).prop_map(|(mut params, protocol)| {
        params.queue.depth = params.queue.depth.min(protocol.depth_max());
        DriveParams { protocol, ..params }
    });
    (drives, steps()).boxed()
}

fn sent(run: &Run) -> BTreeSet<u64> {
    let sent = run.log.iter().filter_map(|(_, event)| match event {
        Event::Sent(command) => Some(command.id),
        _ => None,
    });
    sent.collect()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_command_is_answered_exactly_once((params, steps) in plays()) {
        let run = play(&params, &steps, None);
        let answered: BTreeSet<u64> = run.answers().map(|answer| answer.id).collect();
        prop_assert_eq!(&answered, &sent(&run));
        prop_assert_eq!(run.answers().count(), answered.len());
        prop_assert!(run.answers().is_sorted_by_key(|answer| answer.completed));
    }

    #[test]
    fn the_parts_of_a_time_add_up_and_its_stamps_are_in_order((params, steps) in plays()) {
        let run = play(&params, &steps, None);
        for answer in run.answers() {
            prop_assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
        }
        for trace in run.traces.values() {
            prop_assert!(trace.submitted <= trace.accepted && trace.accepted <= trace.chosen, "{trace:?}");
            prop_assert!(trace.chosen <= trace.completed && trace.chosen <= trace.begun, "{trace:?}");
        }
    }

    #[test]
    fn the_mechanism_does_one_thing_at_a_time((params, steps) in plays()) {
        let run = play(&params, &steps, None);
        let by_arm = |trace: &&CommandTrace| !matches!(trace.served, Served::Not | Served::Buffered);
        let mut by_arm: Vec<&CommandTrace> = run.traces.values().filter(by_arm).collect();
        by_arm.sort_by_key(|trace| trace.rank);
        for pair in by_arm.windows(2) {
            prop_assert!(pair[0].ended <= pair[1].chosen, "{pair:?}");
        }
    }

    #[test]
    fn the_same_history_gives_the_same_run((params, steps) in plays()) {
        prop_assert_eq!(play(&params, &steps, None), play(&params, &steps, None));
    }

    #[test]
    fn superfluous_ticks_change_nothing((params, steps) in plays(), seed in any::<u64>()) {
        let (plain, ticked) = (play(&params, &steps, None), play(&params, &steps, Some(seed)));
        prop_assert_eq!(plain.digest, ticked.digest);
        prop_assert_eq!(plain.traces, ticked.traces);
        prop_assert_eq!(plain.log, ticked.log);
    }
}
