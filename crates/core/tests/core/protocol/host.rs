//! The host's end: a controller before a drive that is too full, has no tags, or has one initiator's commands beside
//! another's. Nothing is lost, and nothing overtakes where the protocol promises an order.
use super::fences::scsi_of;
use super::wire::{
    Draft, INITIATORS, REORDERINGS, Step, drafts, drives_under, histories, scsi, with_flushes,
};
use super::{Checked, cases};
use crate::common::scenarios::drives;
use crate::common::sorted::Target;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::protocol::{Protocol, ScsiParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Attribute, Command, CommandTrace, Completion, Machine, Outcome};
use drivelab_units::{Instant, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What came of a history behind a controller.
#[derive(PartialEq, Debug)]
pub struct HostRun {
    pub sent: Vec<(Instant, Command)>,
    pub answers: Vec<Completion>,
    /// Every time that the drive had a command, in the order in which they ended there.
    pub traces: Vec<CommandTrace>,
}

impl HostRun {
    pub fn of(&self, id: u64) -> impl Iterator<Item = &CommandTrace> {
        self.traces.iter().filter(move |trace| trace.command.id == id)
    }

    /// Every command is answered once, and its parts add up.
    pub fn check_answers(&self) -> Checked<BTreeMap<u64, Completion>> {
        let answers: BTreeMap<u64, Completion> =
            self.answers.iter().map(|answer| (answer.id, *answer)).collect();
        prop_assert_eq!(answers.len(), self.answers.len(), "answered twice");
        prop_assert_eq!(answers.len(), self.sent.len(), "lost");
        for (at, command) in &self.sent {
            let answer = &answers[&command.id];
            prop_assert_eq!((answer.tag, answer.initiator), (command.tag, command.initiator));
            prop_assert_eq!(answer.submitted, *at);
            prop_assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
        }
        Ok(answers)
    }
}

/// Plays the commands of a history to a controller, to the end.
pub fn play(params: &DriveParams, controller: ControllerParams, steps: &[Step]) -> HostRun {
    let drive = Arc::new(DriveModel::new(params).expect("the parameters are sound"));
    let mut target = Target::new(&TargetParams::System(SystemParams::of_drive(drive, controller)), 1);
    target.keep_traces();
    let capacity = target.capacity().get();
    let (mut now, mut sent, mut answers) = (Instant::ZERO, Vec::new(), Vec::new());
    for step in steps {
        match step {
            Step::Wait(span) => now += *span,
            Step::Send(draft) => {
                let id = sent.len() as u64;
                let command = draft.command(id, id as u32, capacity);
                sent.push((now, command));
                target.handle(now, TargetInput::Submit(command));
            }
            _ => {}
        }
    }
    // As long as anything is on its way; a controller that tries for ever is found out.
    for _ in 0..1 << 16 {
        let Some(due) = target.poll_timeout() else { break };
        target.handle(due.max(now), TargetInput::Tick);
        answers.extend(std::iter::from_fn(|| target.poll_output()));
    }
    assert!(target.poll_timeout().is_none(), "the controller goes on without an end");
    answers.extend(std::iter::from_fn(|| target.poll_output()));
    let traces = std::iter::from_fn(|| target.poll_trace()).collect();
    HostRun { sent, answers, traces }
}

/// With retries and recovery, and no command that takes too long.
pub fn controllers() -> BoxedStrategy<ControllerParams> {
    let time = |most: u64| prop_oneof![Just(Span::ZERO), (1..most).prop_map(Span::from_us)];
    (prop::option::of(1u32..40), time(400), time(400), time(20_000), 0u8..4)
        .prop_map(|(depth, issue, completion, recovery, retries)| ControllerParams {
            depth,
            issue,
            completion,
            recovery,
            retries,
            timeout: None,
            bus: None,
            cache: None,
        })
        .boxed()
}

/// The drive is nearly always full.
fn small(drives: BoxedStrategy<DriveParams>) -> BoxedStrategy<DriveParams> {
    (drives, 1u32..6)
        .prop_map(|(mut params, depth)| {
            params.queue.depth = depth.min(params.protocol.depth_max());
            params
        })
        .boxed()
}

fn full() -> BoxedStrategy<DriveParams> {
    small(drives_under(scsi(REORDERINGS)))
}

const SIMPLE: &[Attribute] = &[Attribute::Simple];
const FENCED: &[Attribute] = &[Attribute::Simple, Attribute::Simple, Attribute::Ordered, Attribute::Untagged];

fn sends(attributes: &'static [Attribute]) -> BoxedStrategy<Vec<Step>> {
    histories(drafts(attributes).prop_map(Step::Send).boxed())
}

/// The commands of one initiator.
fn lane(run: &HostRun, initiator: u16) -> Vec<&CommandTrace> {
    let mut lane: Vec<&CommandTrace> =
        run.traces.iter().filter(|trace| trace.command.initiator == initiator).collect();
    lane.sort_by_key(|trace| trace.command.id);
    lane
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_a_full_drive_refuses_is_held_tried_again_and_done(
        (params, controller, steps) in (full(), controllers(), sends(FENCED)),
    ) {
        let run = play(&params, controller, &steps);
        for answer in run.check_answers()?.values() {
            prop_assert_eq!(answer.outcome, Outcome::Done);
            prop_assert_eq!(run.of(answer.id).count(), 1, "the drive took it once");
        }
    }

    #[test]
    fn what_a_full_drive_refuses_is_not_overtaken(
        (params, controller, steps) in (full(), controllers(), sends(FENCED)),
    ) {
        let run = play(&params, controller, &steps);
        for initiator in 0..INITIATORS {
            prop_assert!(lane(&run, initiator).is_sorted_by_key(|trace| trace.accepted));
        }
    }

    #[test]
    fn ordered_commands_of_an_initiator_stay_in_order_at_a_full_drive(
        (params, controller, steps) in (full(), controllers(), sends(&[Attribute::Ordered])),
    ) {
        let run = play(&params, controller, &steps);
        for initiator in 0..INITIATORS {
            let lane = lane(&run, initiator);
            prop_assert!(lane.windows(2).all(|pair| pair[0].completed <= pair[1].chosen));
            prop_assert!(lane.is_sorted_by_key(|trace| trace.rank));
        }
    }

    #[test]
    fn the_drive_never_holds_more_of_an_initiator_than_the_controller_may_send(
        (params, controller, steps) in (drives_under(scsi(REORDERINGS)), controllers(), sends(SIMPLE)),
    ) {
        let run = play(&params, controller, &steps);
        run.check_answers()?;
        let limit = controller.depth.unwrap_or(params.queue.depth) as usize;
        for initiator in 0..INITIATORS {
            let lane = lane(&run, initiator);
            for trace in &lane {
                let at = trace.accepted;
                let held = |other: &&&CommandTrace| other.accepted <= at && at < other.completed;
                prop_assert!(lane.iter().filter(held).count() <= limit);
            }
        }
    }

    #[test]
    fn a_command_without_a_tag_is_alone_of_its_initiator(
        (params, controller, steps) in (drives_under(scsi(REORDERINGS)), controllers(), sends(FENCED)),
    ) {
        let run = play(&params, controller, &steps);
        run.check_answers()?;
        for initiator in 0..INITIATORS {
            check_alone(&lane(&run, initiator))?;
        }
    }

    #[test]
    fn an_ata_command_without_a_tag_and_a_flush_are_alone_and_abort_nothing(
        params in drives_under(prop_oneof![Just(Protocol::AtaTcq), ncq()].boxed()),
        controller in controllers(),
        steps in with_flushes(sends(&[Attribute::Simple, Attribute::Simple, Attribute::Untagged])),
    ) {
        let run = play(&params, controller, &steps);
        prop_assert!(run.check_answers()?.values().all(|answer| answer.outcome == Outcome::Done));
        let mut traces: Vec<&CommandTrace> = run.traces.iter().collect();
        traces.sort_by_key(|trace| trace.command.id);
        // Each command was with the drive once: one that crosses with another is aborted and comes again.
        prop_assert_eq!(run.traces.len(), run.sent.len());
        check_alone(&traces)?;
    }

    #[test]
    fn what_the_drive_has_held_for_too_long_is_aborted_under_every_protocol(
        params in (drives(), any_protocol()).prop_map(|(mut params, protocol)| {
            params.queue.depth = params.queue.depth.min(protocol.depth_max());
            DriveParams { protocol, faults: None, ..params }
        }),
        controller in controllers(),
        timeout in 1u64..60_000,
        steps in sends(SIMPLE),
    ) {
        let timeout = Span::from_us(timeout);
        let controller = ControllerParams { timeout: Some(timeout), ..controller };
        let run = play(&params, controller, &steps);
        let answers = run.check_answers()?;
        for trace in &run.traces {
            let late = trace.completed > trace.accepted + timeout;
            let at_its_end = trace.completed == trace.accepted + timeout;
            let expected = if late { Outcome::Aborted } else { Outcome::Done };
            prop_assert!(trace.outcome == expected || at_its_end, "{trace:?}");
            let expected = if trace.outcome == Outcome::Aborted { Outcome::TimedOut } else { Outcome::Done };
            prop_assert_eq!(answers[&trace.command.id].outcome, expected, "{:?}", trace);
        }
    }
}

fn ncq() -> impl Strategy<Value = Protocol> {
    use drivelab_core::storage::drive::protocol::NcqParams;
    any::<bool>().prop_map(|out_of_order| Protocol::Ncq(NcqParams { out_of_order, ..NcqParams::USUAL }))
}

fn any_protocol() -> BoxedStrategy<Protocol> {
    prop_oneof![Just(Protocol::None), Just(Protocol::AtaTcq), ncq(), scsi(REORDERINGS)].boxed()
}

/// Nothing of the same lane is with the drive beside a command without a tag.
fn check_alone(lane: &[&CommandTrace]) -> Checked {
    for (i, alone) in lane.iter().enumerate() {
        if alone.command.attribute == Attribute::Untagged || alone.command.access == Access::Flush {
            prop_assert!(lane[..i].iter().all(|other| other.completed <= alone.accepted));
            prop_assert!(lane[i + 1..].iter().all(|other| alone.completed <= other.accepted));
        }
    }
    Ok(())
}

/// A place at the drive is free: whoever waits for it has it at that instant, and not when time wakes the lane. The oldest
/// command of one lane goes again after an error, the others have their turn first.
#[test]
fn what_a_failed_command_leaves_is_another_initiators_at_once() {
    use super::wire::BAD;
    use crate::common::{TRACK, drive, queue};
    use drivelab_core::storage::drive::faults::FaultParams;
    use drivelab_core::storage::drive::queue::Order;
    use drivelab_units::{Lba, Sectors, Share};
    let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
    let faults = Some(FaultParams { read_errors: Share::NONE, unreadable, retries: Span::ZERO });
    let draft = |initiator, place| {
        let (attribute, priority, access) =
            (Attribute::Simple, drivelab_core::Priority::Normal, Access::Read);
        Step::Send(Draft {
            initiator,
            attribute,
            priority,
            force_unit_access: false,
            access,
            place,
            count: 8,
        })
    };
    let params = DriveParams { queue: queue(1, Order::Fcfs), faults, ..drive() };
    let steps = [draft(0, BAD.0), draft(1, 70 * TRACK), draft(2, 300 * TRACK)];
    for retries in 0..3 {
        let controller = ControllerParams { retries, ..ControllerParams::PLAIN };
        let run = play(&params, controller, &steps);
        let mut traces: Vec<&CommandTrace> = run.traces.iter().collect();
        traces.sort_by_key(|trace| trace.accepted);
        assert!(traces.windows(2).all(|pair| pair[1].accepted == pair[0].completed), "{traces:?}");
        assert_eq!(run.traces.len(), 3 + usize::from(retries));
        assert_eq!(traces[1].command.initiator, 1);
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Nobody waits for a tick of the clock: what could not go when it came goes at the end of another command, unless its
    /// lane has one at the drive.
    #[test]
    fn a_command_that_waits_goes_the_instant_that_another_one_ends(
        params in small(drives_under(prop_oneof![any_protocol(), scsi(REORDERINGS)].boxed())),
        depth in prop::option::of(1u32..6),
        steps in sends(FENCED),
    ) {
        let controller = ControllerParams { depth, ..ControllerParams::PLAIN };
        let run = play(&params, controller, &steps);
        let ends: std::collections::BTreeSet<Instant> = run.traces.iter().map(|trace| trace.completed).collect();
        for trace in &run.traces {
            let at_once = trace.accepted == trace.submitted;
            // A tick that was asked for earlier may find a place that a lane with a command at the drive waits for.
            let beside = |other: &&CommandTrace| {
                let own = other.command.initiator == trace.command.initiator;
                own && other.accepted < trace.accepted && trace.accepted < other.completed
            };
            let has_another = run.traces.iter().any(|other| beside(&other));
            prop_assert!(at_once || ends.contains(&trace.accepted) || has_another, "{trace:?}");
        }
    }
}

/// Three initiators, one place at the drive: each gets it in the end, though two find it taken.
#[test]
fn every_initiator_gets_through_to_a_drive_with_one_place() {
    use crate::common::{TRACK, drive, ms, queue};
    use drivelab_core::storage::drive::queue::Order;
    let params = DriveParams { queue: queue(1, Order::Fcfs), ..drive() };
    assert!(scsi_of(params.protocol).disconnects);
    let draft = |initiator, place| {
        let (attribute, priority) = (Attribute::Simple, drivelab_core::Priority::Normal);
        let access = Access::Read;
        Draft { initiator, attribute, priority, force_unit_access: false, access, place, count: 8 }
    };
    let steps: Vec<Step> = (0..60).map(|i| Step::Send(draft((i % 3) as u16, i * 13 % 900 * TRACK))).collect();
    let run = play(&params, ControllerParams::PLAIN, &steps);
    assert!(run.check_answers().unwrap().values().all(|answer| answer.outcome == Outcome::Done));
    let last = |initiator| lane(&run, initiator).last().unwrap().completed;
    // Sixty accesses of at most 8 ms, and a try every millisecond.
    assert!((0..3).all(|initiator| last(initiator) < Instant::ZERO + ms(60 * 9)));
}

/// Commands that a full drive has refused are on their way again, some behind younger ones: none of them is overtaken.
#[test]
fn what_is_refused_on_its_way_goes_before_what_was_sent_meanwhile() {
    use crate::common::{TRACK, drive, queue, us};
    use drivelab_core::storage::drive::queue::Order;
    let protocol = Protocol::ScsiTcq(ScsiParams::USUAL);
    let params = DriveParams { queue: queue(4, Order::Fcfs), protocol, ..drive() };
    let draft = |initiator, place| {
        let (attribute, priority) = (Attribute::Ordered, drivelab_core::Priority::Normal);
        let access = Access::Read;
        Draft { initiator, attribute, priority, force_unit_access: false, access, place, count: 8 }
    };
    let steps: Vec<Step> = (0..60).map(|i| Step::Send(draft((i % 3) as u16, i * 13 % 900 * TRACK))).collect();
    for issue in (7..3_000).step_by(7).map(us) {
        let run = play(&params, ControllerParams { issue, ..ControllerParams::PLAIN }, &steps);
        for initiator in 0..INITIATORS {
            assert!(lane(&run, initiator).is_sorted_by_key(|trace| trace.accepted), "{issue:?}");
        }
    }
}
