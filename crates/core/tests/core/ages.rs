//! Limits that hold for every order of a drive's queue, to the nanosecond and to the command: from what age on a command
//! goes first, how many go past it, how many the firmware looks at, and how long that takes.
use crate::common::{Probe, drive, queue, us};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::queue::{AgeWeight, JoinsUntil, Order, QueueParams};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::trace::{CommandTrace, Served};
use drivelab_core::{Access, Completion};
use drivelab_units::{Instant, Span};
use proptest::prelude::*;

/// By seek time, which grows with the distance.
fn nearest_first() -> QueueParams {
    queue(128, Order::Sstf)
}

fn growing(queue: QueueParams) -> DriveParams {
    DriveParams { queue, seek: SeekParams::Table(vec![(1, us(1_010)), (1_000, us(11_000))]), ..drive() }
}

/// Reads of one sector: when they come, and their cylinders. What became of them in the order in which the arm turned to
/// them.
fn served(params: &DriveParams, reads: &[(Span, u64)]) -> Vec<(CommandTrace, Completion)> {
    let mut probe = Probe::of(params);
    probe.target().keep_traces();
    for &(at, cylinder) in reads {
        probe.now = Instant::ZERO + at;
        probe.send(Access::Read, 600 * cylinder, 1);
    }
    let answers = probe.drain();
    let traces = std::iter::from_fn(|| probe.target().poll_trace());
    let answer = |trace: &CommandTrace| {
        *answers.iter().find(|answer| answer.id == trace.command.id).expect("answered")
    };
    let mut all: Vec<_> = traces.map(|trace| (trace, answer(&trace))).collect();
    assert_eq!(all.len(), reads.len());
    all.sort_by_key(|(trace, _)| trace.rank);
    all
}

fn order(params: &DriveParams, reads: &[(Span, u64)]) -> Vec<u64> {
    served(params, reads).iter().map(|(trace, _)| trace.command.id).collect()
}

#[test]
fn a_command_goes_first_from_the_age_limit_on() {
    // The first is in service; then a far one and a near one, of which the far one is older.
    let reads = [(Span::ZERO, 0), (us(10), 900), (us(10), 10)];
    let chosen_at = served(&growing(nearest_first()), &reads[..2])[1].0.chosen;
    let age = chosen_at - (Instant::ZERO + us(10));
    let with = |limit: u64| QueueParams { age_limit: Some(Span::from_ns(limit)), ..nearest_first() };
    assert_eq!(order(&growing(with(age.as_ns())), &reads), [0, 1, 2]);
    assert_eq!(order(&growing(with(age.as_ns() + 1)), &reads), [0, 2, 1]);
}

#[test]
fn so_many_go_past_a_command_as_the_pass_limit_says() {
    for limit in 1..8 {
        let queue = QueueParams { pass_limit: Some(limit), ..nearest_first() };
        let mut reads = vec![(Span::ZERO, 0), (us(10), 900)];
        reads.extend((0..12).map(|near| (us(20), near + 1)));
        let order = order(&growing(queue), &reads);
        // The one in service when it came was there before.
        let before = order.iter().position(|&id| id == 1).expect("it was served");
        assert_eq!(before, 1 + limit as usize, "{order:?}");
    }
}

#[test]
fn a_drive_examines_so_many_of_the_oldest() {
    for window in 1..6 {
        for older in 0..6 {
            let queue = QueueParams { considers: Some(window), ..nearest_first() };
            let mut reads = vec![(Span::ZERO, 0)];
            reads.extend((0..older).map(|far| (us(10), 500 + far)));
            reads.push((us(10), 1));
            // Others behind it, so that there is always something to leave out.
            reads.extend((0..8).map(|far| (us(10), 900 + far)));
            let first = order(&growing(queue), &reads)[1];
            assert_eq!(first == 1 + older, older < u64::from(window), "{older} of {window}");
        }
    }
}

#[test]
fn a_drive_puts_commands_in_order_from_so_many_on() {
    for from in 2..7 {
        for waiting in 2..8 {
            let queue = QueueParams { sorts_from: Some(from), ..nearest_first() };
            let mut reads = vec![(Span::ZERO, 0)];
            reads.extend((1..u64::from(waiting)).map(|far| (us(10), 500 + far)));
            reads.push((us(10), 1));
            let first = order(&growing(queue), &reads)[1];
            assert_eq!(first == u64::from(waiting), waiting >= from, "{waiting} from {from}");
        }
    }
}

#[test]
fn the_firmware_takes_its_time_for_each_command_that_it_examines() {
    for window in [None, Some(1), Some(3), Some(100)] {
        for waiting in 1..8_u64 {
            let queue = QueueParams { considers: window, look_time: us(7), ..nearest_first() };
            let mut reads = vec![(Span::ZERO, 0)];
            reads.extend((1..=waiting).map(|far| (us(10), 100 * far)));
            let second = served(&growing(queue), &reads)[1].1;
            // With one alone there is nothing to look at.
            let examined = if waiting == 1 { 0 } else { waiting.min(window.map_or(u64::MAX, u64::from)) };
            assert_eq!(second.breakdown.overhead, us(7 * examined), "{waiting}, {window:?}");
        }
    }
}

/// What joins goes out of turn, and how many may do so counts from the last choice.
#[test]
fn each_choice_lets_others_join_again() {
    let queue = QueueParams { joins_reads: JoinsUntil::UntilEnd, ..queue(128, Order::Fcfs) };
    let mut probe = Probe::of(&growing(queue));
    probe.target().keep_traces();
    for pair in 0..40 {
        probe.send(Access::Read, 6_000 * pair, 8);
    }
    for pair in 0..40 {
        probe.send(Access::Read, 6_000 * pair + 8, 8);
    }
    assert_eq!(probe.drain().len(), 80);
    let joined = std::iter::from_fn(|| probe.target().poll_trace())
        .filter(|trace| trace.served == Served::Joined)
        .filter(|trace| trace.command.id >= 40);
    assert_eq!(joined.count(), 40);
}

proptest! {
    #[test]
    fn the_credit_of_age_is_a_product(age in 0u64..1 << 40, numerator in 0u64..5_000, denominator in 1u64..1_000) {
        prop_assume!(numerator / denominator < 1_000);
        let credit = AgeWeight::from_ratio(numerator, denominator).unwrap().credit(age);
        let exact = u128::from(age) * u128::from(numerator) / u128::from(denominator);
        // Weights have steps of 2^-16.
        prop_assert!(u128::from(credit).abs_diff(exact) <= u128::from(age >> 16) + 1, "{credit} for {exact}");
    }
}
