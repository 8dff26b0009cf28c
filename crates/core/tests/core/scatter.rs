//! An arm that misses its curve, and a firmware that guards against it.
use crate::common::{Probe, TURN, drive, queue, us};
use drivelab_core::rng::keyed;
use drivelab_core::storage::drive::Turns;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::drive::queue::{Order, QueueParams};
use drivelab_core::storage::drive::scatter::ScatterParams;
use drivelab_core::{Access, Completion};

const WIDTH_US: u64 = 150;
/// The share of the cut normal distribution's width by which a movement is late on average: (phi(0) - phi(3)) / (2 Phi(3) - 1).
const LATE: f64 = 0.395_6;

fn scattering(order: Order, depth: u32, margin_us: u64) -> DriveParams {
    let queue = QueueParams { read_margin: us(margin_us), ..queue(depth, order) };
    DriveParams { queue, scatter: Some(ScatterParams::constant(us(WIDTH_US))), ..drive() }
}

/// Random reads, so many outstanding, in order of completion; and what the scatter has cost.
fn reads(params: &DriveParams, depth: u64, count: u64) -> (Vec<Completion>, Turns) {
    let mut probe = Probe::of(params);
    let tracks = probe.capacity() / 8;
    let mut answers = Vec::new();
    for read in 0..count {
        probe.send(Access::Read, 8 * (keyed(11, read) % tracks), 8);
        if read + 1 >= depth {
            answers.extend(probe.answer());
        }
    }
    answers.extend(probe.drain());
    let turns = probe.target().turns().expect("the arm scatters");
    (answers, turns)
}

#[test]
fn one_at_a_time_a_turn_is_missed_as_often_as_the_arm_is_later_than_the_angle_allows() {
    let (answers, turns) = reads(&scattering(Order::Fcfs, 1, 0), 1, 40_000);
    assert!(turns.movements.abs_diff(40_000) < 100, "some reads lie in one cylinder: {turns:?}");
    // The slack between the head's arrival and its sector is uniform over a turn.
    let expected = LATE * WIDTH_US as f64 * 1e3 / TURN as f64 * turns.movements as f64;
    assert!((turns.missed as f64 / expected - 1.0).abs() < 0.15, "{turns:?}, {expected} expected");
    // As often it comes early enough to win one, so nothing is lost on average: 1 ms and half a turn.
    let rotation = answers.iter().map(|answer| answer.breakdown.rotation.as_ns() as f64).sum::<f64>();
    assert!((rotation / 40_000.0 / (TURN as f64 / 2.0) - 1.0).abs() < 0.01, "{rotation}");
    let seeks: Vec<f64> = answers.iter().map(|answer| answer.breakdown.seek.as_ns() as f64 / 1e3).collect();
    let mean = seeks.iter().sum::<f64>() / 40_000.0;
    assert!((mean - 1_000.0).abs() < 4.0, "{mean} us");
    assert!(seeks.iter().any(|&seek| seek > 1_300.0) && seeks.iter().all(|&seek| seek <= 1_451.0));
}

#[test]
fn a_command_meets_the_same_excess_in_whatever_order_it_is_served() {
    let seeks = |order, depth| {
        let (answers, _) = reads(&scattering(order, 32, 0), depth, 2_000);
        let mut seeks: Vec<(u64, u64)> =
            answers.iter().map(|answer| (answer.id, answer.breakdown.seek.as_ns())).collect();
        seeks.sort_unstable();
        seeks
    };
    let one = seeks(Order::Fcfs, 1);
    for other in [seeks(Order::Sptf, 32), seeks(Order::Look, 8)] {
        let differ = one.iter().zip(&other).filter(|(one, other)| one != other).count();
        // Those that found the arm on their own track, which takes no movement.
        assert!(differ < 20, "{differ}");
    }
}

#[test]
fn a_guard_as_wide_as_the_scatter_misses_no_turn_and_one_of_nothing_many() {
    let missed = |margin_us| {
        let (_, turns) = reads(&scattering(Order::Sptf, 32, margin_us), 32, 10_000);
        1e3 * turns.missed as f64 / turns.movements as f64
    };
    let [none, some, all] = [0, WIDTH_US, 3 * WIDTH_US + 1].map(missed);
    assert!(none > 30.0, "choosing what is just reached misses often: {none} of 1 000");
    assert!(some < none / 2.0 && some > 0.0, "{some} of 1 000");
    // What is left are movements to the next cylinder, for which the skews have room and not the guard.
    assert!(all < 1.0, "{all} of 1 000");
}

#[test]
fn a_guard_costs_what_could_have_been_reached_sooner() {
    let exact = |margin_us| {
        let params = DriveParams { scatter: None, ..scattering(Order::Sptf, 32, margin_us) };
        let mut probe = Probe::of(&params);
        let tracks = probe.capacity() / 8;
        for read in 0..32 {
            probe.send(Access::Read, 8 * (keyed(11, read) % tracks), 8);
        }
        for read in 32..4_032 {
            probe.answer();
            probe.send(Access::Read, 8 * (keyed(11, read) % tracks), 8);
        }
        probe.answer().map_or(0, |answer| answer.completed.as_ns())
    };
    let times = [0, 500, 1_000, 2_000].map(exact);
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
}
