//! SCSI task attributes: what ends before what in a task set, whoever the initiator is, and that nothing waits without a
//! reason.
//! Source: SAM-2 7.5 and 7.6; Seagate SCSI-2/3 interface manual (ST31051) p. 69; Hitachi Ultrastar 15K450 section 18.
use super::fences::{acts_as, enabled, fenced_by_attribute, jumps, older, scsi_of, share_a_set};
use super::wire::{REORDERINGS, Run, Step, drives_under, histories, is_begun, play, scsi, sends};
use super::{Checked, cases};
use drivelab_core::Attribute;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::protocol::{Protocol, ScsiParams, TaskSets, UntaggedAs};
use drivelab_core::storage::drive::queue::ChoiceTime;
use drivelab_core::trace::{CommandTrace, Served};
use drivelab_units::Instant;
use proptest::prelude::*;

const ALL: &[Attribute] = &[
    Attribute::Simple,
    Attribute::Simple,
    Attribute::Simple,
    Attribute::Ordered,
    Attribute::HeadOfQueue,
    Attribute::Untagged,
];
const HEADS: &[Attribute] = &[Attribute::Simple, Attribute::HeadOfQueue];

fn plays(attributes: &'static [Attribute]) -> BoxedStrategy<(DriveParams, Vec<Step>)> {
    let step = prop_oneof![9 => sends(attributes), 1 => any::<usize>().prop_map(Step::Abort)];
    (drives_under(scsi(REORDERINGS)), histories(step.boxed())).boxed()
}

/// Every pair of commands of one task set that the drive has taken, the older one first, of which it has begun the
/// younger.
fn pairs<'a>(
    run: &'a Run,
    scsi: &'a ScsiParams,
) -> impl Iterator<Item = (&'a CommandTrace, &'a CommandTrace)> {
    let begun = run.traces.values().filter(|trace| is_begun(trace));
    begun
        .flat_map(|younger| older(run, younger).map(move |older| (older, younger)))
        .filter(|(older, younger)| share_a_set(scsi, &older.command, &younger.command))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn all_that_came_before_an_ordered_command_ends_before_it_begins((params, steps) in plays(ALL)) {
        let (run, scsi) = (play(&params, &steps, None), scsi_of(params.protocol));
        for (older, younger) in pairs(&run, &scsi) {
            if acts_as(&scsi, &younger.command) == Attribute::Ordered {
                prop_assert!(older.completed <= younger.chosen, "{older:?} {younger:?}");
            }
        }
    }

    #[test]
    fn all_that_came_after_an_ordered_command_begins_after_its_end_but_head_of_queue(
        (params, steps) in plays(ALL),
    ) {
        let (run, scsi) = (play(&params, &steps, None), scsi_of(params.protocol));
        for (older, younger) in pairs(&run, &scsi) {
            let ordered = acts_as(&scsi, &older.command) == Attribute::Ordered;
            if ordered && !jumps(younger.command.attribute) {
                prop_assert!(older.completed <= younger.chosen, "{older:?} {younger:?}");
            }
        }
    }

    #[test]
    fn ordered_commands_go_one_by_one_in_order_of_arrival((params, steps) in plays(&[Attribute::Ordered])) {
        let (run, scsi) = (play(&params, &steps, None), scsi_of(params.protocol));
        for (older, younger) in pairs(&run, &scsi).filter(|(older, _)| is_begun(older)) {
            prop_assert!(older.completed <= younger.chosen && older.rank < younger.rank);
        }
    }

    /// A task set does not know of another one: where each initiator has its own, and all commands are ordered, the
    /// arm is never idle while any initiator has a command that is first in its line.
    #[test]
    fn task_sets_of_their_own_do_not_wait_for_each_other((mut params, steps) in plays(&[Attribute::Ordered])) {
        params.queue.chooses = ChoiceTime::AtMediaEnd;
        let scsi = ScsiParams { task_sets: TaskSets::Each, ..scsi_of(params.protocol) };
        let params = DriveParams { protocol: Protocol::ScsiTcq(scsi), ..params };
        check_idle(&play(&params, &steps, None), &scsi)?;
    }

    #[test]
    fn what_came_after_a_head_of_queue_command_begins_after_its_end((params, steps) in plays(ALL)) {
        let (run, scsi) = (play(&params, &steps, None), scsi_of(params.protocol));
        for (older, younger) in pairs(&run, &scsi) {
            let head = older.command.attribute == Attribute::HeadOfQueue;
            if head && fenced_by_attribute(&scsi, &older.command, &younger.command) {
                prop_assert!(older.completed <= younger.chosen, "{older:?} {younger:?}");
            }
        }
    }

    #[test]
    fn head_of_queue_is_the_next_to_begin_and_the_last_of_several_first((params, steps) in plays(HEADS)) {
        let run = play(&params, &steps, None);
        check_heads(&run)?;
    }

    #[test]
    fn head_of_queue_goes_next_among_fences_too((params, steps) in plays(ALL)) {
        let run = play(&params, &steps, None);
        check_heads(&run)?;
    }

    #[test]
    fn head_of_queue_does_not_suspend_what_has_begun((params, steps) in plays(HEADS), which in any::<usize>()) {
        let full = play(&params, &steps, None);
        let heads = (0..steps.len()).filter(|&i| is_head(&steps[i]));
        let heads: Vec<usize> = heads.collect();
        let Some(&cut) = heads.get(which % heads.len().max(1)) else { return Ok(()) };
        // The same history without the command and all that came after it.
        let before = play(&params, &steps[..cut], None);
        let arrival = steps[..cut].iter().fold(Instant::ZERO, |now, step| match step {
            Step::Wait(span) => now + *span,
            _ => now,
        });
        for (id, trace) in before.traces.iter().filter(|(_, trace)| is_begun(trace) && trace.chosen < arrival) {
            let in_full = &full.traces[id];
            prop_assert_eq!((in_full.chosen, in_full.ended), (trace.chosen, trace.ended));
        }
    }

    #[test]
    fn nothing_waits_that_may_begin_while_the_arm_is_idle((mut params, steps) in plays(ALL)) {
        params.queue.chooses = ChoiceTime::AtMediaEnd;
        let (run, scsi) = (play(&params, &steps, None), scsi_of(params.protocol));
        check_idle(&run, &scsi)?;
    }

    #[test]
    fn untagged_commands_are_simple_or_ordered_as_the_drive_says((params, steps) in plays(ALL)) {
        let (ordered, scsi) = (Attribute::Ordered, scsi_of(params.protocol));
        let counts_as = if scsi.untagged == UntaggedAs::Ordered { ordered } else { Attribute::Simple };
        let marked: Vec<Step> = steps.iter().map(|step| mark(step, counts_as)).collect();
        // But for what the bus does with them nothing tells them apart.
        let (one, other) = (play(&params, &steps, None), play(&params, &marked, None));
        prop_assert_eq!(one.digest, other.digest);
    }
}

fn is_head(step: &Step) -> bool {
    matches!(step, Step::Send(draft) if draft.attribute == Attribute::HeadOfQueue)
}

/// The same step with an attribute in the place of none.
fn mark(step: &Step, counts_as: Attribute) -> Step {
    match *step {
        Step::Send(mut draft) if draft.attribute == Attribute::Untagged => {
            draft.attribute = counts_as;
            Step::Send(draft)
        }
        step => step,
    }
}

/// Between the arrival of a HEAD OF QUEUE command and its own turn nothing is turned to but what came later to go ahead
/// of it.
fn check_heads(run: &Run) -> Checked {
    let begun = || run.traces.values().filter(|trace| is_begun(trace));
    for head in begun().filter(|trace| trace.command.attribute == Attribute::HeadOfQueue) {
        for other in begun().filter(|other| other.rank < head.rank && other.chosen >= head.accepted) {
            let later = other.command.id > head.command.id;
            let at_once = other.chosen == head.accepted && !later;
            prop_assert!(at_once || later && jumps(other.command.attribute), "{other:?} before {head:?}");
        }
    }
    Ok(())
}

/// No command that nothing stands before waits through a time in which the mechanism is at nothing.
fn check_idle(run: &Run, scsi: &ScsiParams) -> Checked {
    let busy = |trace: &&CommandTrace| !matches!(trace.served, Served::Not | Served::Buffered);
    let mut busy: Vec<&CommandTrace> = run.traces.values().filter(busy).collect();
    busy.sort_by_key(|trace| trace.rank);
    let idle = |from: Instant, to: Instant| {
        let mut free = from;
        for trace in busy.iter().filter(|trace| trace.ended > from) {
            if free < trace.chosen.min(to) {
                return Some(free);
            }
            free = free.max(trace.ended);
        }
        (free < to).then_some(free)
    };
    for trace in run.traces.values() {
        let until = if is_begun(trace) { trace.chosen } else { trace.completed };
        let from = enabled(run, scsi, trace);
        let gap = if from < until { idle(from, until) } else { None };
        prop_assert!(gap.is_none(), "idle at {gap:?} while this waits since {from:?}: {trace:?}");
    }
    Ok(())
}
