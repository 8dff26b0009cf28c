//! Command duration limits: which command goes when, and how one ends that has exceeded a limit.
use crate::common::*;
use drivelab_core::Access::Read;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::protocol::{
    Descriptor, DurationLimits, Exceeded, NcqParams, Protocol, ScsiParams, TimeLimit,
};
use drivelab_core::storage::drive::queue::{AgeWeight, ChoiceTime, Order, QueueParams};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Command, Outcome, Priority};
use drivelab_units::{Instant, Span};
use std::sync::Arc;

/// Late enough for a command to count as older than it is.
const START: Instant = Instant::from_ns(1_000_000_000);

fn limit(within: Span, then: Exceeded) -> Option<TimeLimit> {
    Some(TimeLimit { within, then })
}

fn guideline(within: Span, then: Exceeded) -> Descriptor {
    Descriptor { guideline: limit(within, then), ..Descriptor::default() }
}

/// A drive of NCQ that serves in order of arrival, whose reads have these descriptors.
fn limited(descriptors: &[Descriptor], queue: QueueParams) -> DriveParams {
    let mut limits = DurationLimits::default();
    limits.reads[..descriptors.len()].copy_from_slice(descriptors);
    let protocol = Protocol::Ncq(NcqParams::USUAL);
    DriveParams { queue, protocol, duration_limits: Some(Arc::new(limits)), ..drive() }
}

fn in_order() -> QueueParams {
    queue(16, Order::Fcfs)
}

/// A read of 8 sectors at a place of its own: at most 1 ms of seek, two turns of 6 ms, 80 us of transfer.
fn read(id: u64, priority: Priority) -> Command {
    let plain = command(id, Read, 30_000 * (id + 1), 8);
    Command { tag: id as u32, priority, ..plain }
}

/// Ids, outcomes and completions of commands that all come at once, in the order in which they end.
fn play(params: &DriveParams, commands: &[Command]) -> Vec<(u64, Outcome, Span)> {
    let model = Arc::new(DriveModel::new(params).expect("sound"));
    let mut target = sorted::Target::new(&TargetParams::Wire(model), 1);
    for command in commands {
        target.handle(START, TargetInput::Submit(*command));
    }
    let mut ended = Vec::new();
    loop {
        while let Some(done) = target.poll_output() {
            ended.push((done.id, done.outcome, done.completed - START));
        }
        let Some(due) = next_due(&target) else { return ended };
        target.handle(due, TargetInput::Tick);
    }
}

fn order_of(params: &DriveParams, commands: &[Command]) -> Vec<u64> {
    play(params, commands).into_iter().map(|(id, ..)| id).collect()
}

/// Eight reads of which the last has this priority.
fn last_of_eight(priority: Priority) -> Vec<Command> {
    (0..8).map(|id| read(id, if id == 7 { priority } else { Priority::Normal })).collect()
}

#[test]
fn a_guideline_moves_a_command_forward_only_as_far_as_it_must() {
    let drive = |within| limited(&[guideline(within, Exceeded::CompleteEarliest)], in_order());
    let place = |within| {
        order_of(&drive(within), &last_of_eight(Priority::Limited(1))).iter().position(|id| *id == 7).unwrap()
    };
    // At once behind what the drive found alone; as in plain order where that is early enough.
    assert_eq!((place(us(1)), place(ms(400))), (1, 7));
    // The next but one would end after it: it goes before that one.
    let plain = play(&drive(ms(400)), &last_of_eight(Priority::Normal));
    for (before, (_, _, ends)) in plain.into_iter().enumerate().take(7).skip(1) {
        assert_eq!(place(ends), before + 1);
        assert_eq!(place(ends - Span::from_ns(1)), before);
    }
}

#[test]
fn a_limit_on_the_idle_time_counts_until_the_drive_begins() {
    let inactive = |within| Descriptor { inactive: limit(within, Exceeded::Abort), ..Descriptor::default() };
    // Begun within 9 ms of its arrival, whatever it takes then: the longest is not put by.
    for within in [9, 12, 18, 30].map(ms) {
        let ended = play(&limited(&[inactive(within)], in_order()), &last_of_eight(Priority::Limited(1)));
        assert!(ended.iter().all(|(_, outcome, _)| *outcome == Outcome::Done), "{within:?}: {ended:?}");
        let place = ended.iter().position(|(id, ..)| *id == 7).unwrap();
        assert!(ended[place - 1].2 <= within && place < 7, "{within:?}: {ended:?}");
    }
    // Less than the access in service leaves: it is ended at that instant, and with it the queue.
    let ended = play(&limited(&[inactive(us(500))], in_order()), &last_of_eight(Priority::Limited(1)));
    let own = ended.iter().find(|(id, ..)| *id == 7).unwrap();
    assert_eq!((own.1, own.2), (Outcome::TimedOut, us(500)));
    assert!(ended.iter().filter(|(_, outcome, _)| *outcome == Outcome::Aborted).count() >= 6, "{ended:?}");
}

#[test]
fn a_limit_that_makes_data_unavailable_ends_its_own_command_alone() {
    let drive = limited(&[guideline(us(700), Exceeded::Unavailable)], in_order());
    let ended = play(&drive, &last_of_eight(Priority::Limited(1)));
    assert_eq!(ended[0], (7, Outcome::Unavailable, us(700)));
    let others: Vec<u64> = ended[1..].iter().map(|(id, ..)| *id).collect();
    assert_eq!(others, [0, 1, 2, 3, 4, 5, 6]);
    assert!(ended[1..].iter().all(|(_, outcome, _)| *outcome == Outcome::Done));
}

#[test]
fn an_abort_by_a_limit_is_an_error_of_the_protocol() {
    let descriptors = [guideline(us(700), Exceeded::Abort)];
    let ncq = play(&limited(&descriptors, in_order()), &last_of_eight(Priority::Limited(1)));
    assert_eq!(ncq.iter().filter(|(_, outcome, _)| *outcome == Outcome::Aborted).count(), 7);
    let scsi =
        DriveParams { protocol: Protocol::ScsiTcq(ScsiParams::USUAL), ..limited(&descriptors, in_order()) };
    let ended = play(&scsi, &last_of_eight(Priority::Limited(1)));
    assert_eq!(ended[0], (7, Outcome::TimedOut, us(700)));
    // QERR 0: the others go on.
    assert!(ended[1..].iter().all(|(_, outcome, _)| *outcome == Outcome::Done));
}

#[test]
fn a_guideline_that_was_exceeded_may_give_way() {
    // In both cases the first guideline has passed before the drive chooses again.
    let exceeded = us(10);
    let place = |descriptors: &[Descriptor]| {
        let drive = limited(descriptors, in_order());
        order_of(&drive, &last_of_eight(Priority::Limited(1))).iter().position(|id| *id == 7).unwrap()
    };
    assert_eq!(place(&[guideline(exceeded, Exceeded::CompleteEarliest)]), 1);
    assert_eq!(place(&[guideline(exceeded, Exceeded::NoLimit)]), 7);
    let next =
        |within| [guideline(exceeded, Exceeded::NextLimit), guideline(within, Exceeded::CompleteEarliest)];
    let alone = |within| place(&[guideline(within, Exceeded::CompleteEarliest)]);
    for within in [25, 30, 35].map(ms) {
        assert_eq!(place(&next(within)), alone(within), "{within:?}");
    }
}

#[test]
fn the_active_time_ends_what_takes_too_long() {
    let active = |within, then| Descriptor { active: limit(within, then), ..Descriptor::default() };
    let alone = [read(0, Priority::Limited(1))];
    let plain = play(&limited(&[], in_order()), &alone)[0].2;
    for (within, outcome) in [(plain + us(1), Outcome::Done), (plain - us(1), Outcome::Unavailable)] {
        let ended = play(&limited(&[active(within, Exceeded::Unavailable)], in_order()), &alone);
        // The mechanism is done first.
        assert_eq!((ended[0].1, ended[0].2), (outcome, plain), "{within:?}");
    }
}

#[test]
fn every_pending_limit_is_met_where_the_worst_case_fits() {
    // Four commands of three classes: the longest of each is 13.08 ms.
    let descriptors = [80, 70, 120].map(|within| guideline(ms(within), Exceeded::Unavailable));
    let mut commands: Vec<Command> = (0..8).map(|id| read(id, Priority::Normal)).collect();
    for (id, index) in (8..).zip([1, 2, 3, 1]) {
        commands.push(read(id, Priority::Limited(index)));
    }
    let ended = play(&limited(&descriptors, in_order()), &commands);
    assert!(ended.iter().all(|(_, outcome, _)| *outcome == Outcome::Done), "{ended:?}");
    let place = |id| ended.iter().position(|(other, ..)| *other == id).unwrap();
    // By their guidelines, not by their arrival.
    assert!(place(9) < place(7) && place(9) < place(8), "{ended:?}");
}

/// With an order of ages a guideline stands in place of the drive's own: 20 ms for each that waits.
#[test]
fn a_guideline_makes_a_command_older_or_younger_in_the_order() {
    let place = |within| {
        let order = Order::AgedSptf(AgeWeight::of(1_000_000_000));
        let queue = QueueParams { own_guideline: ms(20), ..queue(16, order) };
        let drive = limited(&[guideline(within, Exceeded::CompleteEarliest)], queue);
        let commands =
            (0..8).map(|id| read(id, if id == 4 { Priority::Limited(1) } else { Priority::Normal }));
        let served = order_of(&drive, &commands.collect::<Vec<_>>());
        served.iter().position(|id| *id == 4).unwrap()
    };
    // All came at once and have the same age: the nearest goes first, unless a guideline decides.
    let without = place(ms(80));
    assert!(place(ms(79)) == 1 && place(ms(10)) == 1, "older than all others");
    assert_eq!(place(ms(5_000)), 7, "younger than all others, and not late");
    assert!(
        (1..7).contains(&without),
        "the one in service and three others make it a guideline of 80 ms: {without}"
    );
}

#[test]
fn priority_displaces_nothing_that_was_chosen_ahead() {
    let place = |chooses| {
        let queue = QueueParams { chooses, ..in_order() };
        let mut probe = Probe::of(&limited(&[], queue));
        (0..4).for_each(|id| {
            probe.send(Read, 30_000 * (id + 1), 8);
        });
        // The first has been served; the arm is on its way to the second, and the third may be chosen.
        let first = probe.answer().unwrap().id;
        let now = probe.now;
        probe.target().handle(now, TargetInput::Submit(read(9, Priority::High)));
        let rest = probe.drain();
        let ids: Vec<u64> = [first].into_iter().chain(rest.iter().map(|answer| answer.id)).collect();
        ids.iter().position(|id| *id == 9).unwrap()
    };
    assert_eq!(place(ChoiceTime::AtMediaEnd), 2);
    assert_eq!(place(ChoiceTime::OneAhead), 3);
}
