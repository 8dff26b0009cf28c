//! One drive under random and sequential load against closed forms: means over many commands.
#![allow(clippy::print_stdout, reason = "what a test measured is worth reading")]

use crate::common::{
    Probe, TRACK, TURN, assert_mean, drive, flat_seek, layout, ms, outstanding, point, points, queue,
    random_job, setup, target, us, zone,
};
use drivelab_core::host::params::{Addressing, JobParams};
use drivelab_core::rng::Stream;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::geometry::ZoneParams;
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams, Overhead};
use drivelab_core::storage::drive::queue::{ChoiceTime, Order, QueueParams};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::{Access, Limit, Setup};
use drivelab_record::Point;
use drivelab_record::point::BreakdownMeans;
use drivelab_units::{Angle, Sectors, Share, Span};

const RUNS: u64 = 16;

/// Random reads of 8 sectors over the whole drive, so many outstanding.
fn random(params: &DriveParams, jobs: u32, ios: u64) -> Setup {
    let target = target(params);
    let job = JobParams { arrivals: outstanding(jobs), ..random_job(&target, 1, 8) };
    Setup { warmup: ms(500), ..setup(target, job, ios) }
}

fn samples(points: &[Point], part: impl Fn(&BreakdownMeans) -> f64) -> Vec<f64> {
    points.iter().map(|point| part(&point.breakdown_ns.unwrap())).collect()
}

/// A curve with a bend and a dip, as measured ones have.
fn bent() -> SeekParams {
    SeekParams::Table(vec![
        (1, us(800)),
        (50, us(2_500)),
        (400, us(5_500)),
        (420, us(4_700)),
        (999, us(9_000)),
    ])
}

#[test]
fn random_reads_seek_and_wait_as_long_as_random_pairs_do() {
    let params = DriveParams { seek: bent(), ..drive() };
    let seek = DriveModel::new(&params).unwrap().mechanism.seek.mean_of_random_pairs();
    let points = points(&random(&params, 1, 60_000), RUNS);
    assert_mean("mean seek", &samples(&points, |parts| parts.seek), seek);
    assert_mean("mean rotation", &samples(&points, |parts| parts.rotation), TURN as f64 / 2.0);
    assert!(samples(&points, |parts| parts.transfer).iter().all(|&ns| ns == 80_000.0));
}

/// With more sectors on the outer cylinders, random addresses favour them: the pairs are weighted by both.
#[test]
fn on_a_zoned_drive_the_pairs_are_weighted_by_the_sectors_of_their_cylinders() {
    let zones = [(0, 300, 1_200), (300, 300, 800), (600, 400, 400)];
    let geometry =
        layout(1, zones.map(|(first, cylinders, sectors)| zone(first, cylinders, sectors)).to_vec());
    let params = DriveParams { seek: bent(), geometry, ..drive() };
    let curve = DriveModel::new(&params).unwrap().mechanism.seek;
    let weights: Vec<f64> = zones
        .iter()
        .flat_map(|&(_, cylinders, sectors)| vec![f64::from(sectors); cylinders as usize])
        .collect();
    let total: f64 = weights.iter().sum();
    let mut seek = 0.0;
    for (a, weight_a) in (0u32..).zip(&weights) {
        for (b, weight_b) in (0u32..).zip(&weights) {
            seek += weight_a * weight_b * f64::from(curve.time(a.abs_diff(b)));
        }
    }
    let points = points(&random(&params, 1, 60_000), RUNS);
    assert_mean("mean seek over zones", &samples(&points, |parts| parts.seek), seek / total / total);
    assert_mean("mean rotation over zones", &samples(&points, |parts| parts.rotation), TURN as f64 / 2.0);
}

/// One track of 60 000 sectors: nothing but rotation, and a transfer too short to matter.
fn one_track(order: QueueParams) -> DriveParams {
    DriveParams { geometry: layout(1, vec![zone(0, 1, 60_000)]), queue: order, ..drive() }
}

fn after_answer(depth: u32, order: Order, answer_time: Span) -> QueueParams {
    QueueParams { chooses: ChoiceTime::AfterAnswer, answer_time, ..queue(depth, order) }
}

/// In a closed loop, with no seeks, each command waits for its own sector however many others there are: half a turn
/// on average. So n of them are served in half a turn, T / (2 n) each.
#[test]
fn by_angle_alone_a_closed_loop_of_n_waits_half_a_turn_for_all_of_them() {
    for depth in [1u32, 2, 4, 8, 16] {
        let params = one_track(after_answer(depth, Order::Sptf, Span::from_ns(1)));
        let target = target(&params);
        let job = JobParams { arrivals: outstanding(depth), ..random_job(&target, 1, 1) };
        let points = points(&Setup { warmup: ms(100), ..setup(target, job, 30_000) }, RUNS);
        let rotation = samples(&points, |parts| parts.rotation);
        assert_mean(&format!("rotation, {depth} in a loop"), &rotation, TURN as f64 / 2.0 / f64::from(depth));
    }
}

/// Of n commands that have just come, at angles of their own, the nearest is T / (n + 1) away.
#[test]
fn by_angle_alone_the_nearest_of_n_new_commands_is_a_share_of_the_turn_away() {
    for n in [1u64, 2, 4, 8] {
        let params = one_track(queue(n as u32 + 1, Order::Sptf));
        let mut probe = Probe::of(&params);
        let mut stream = Stream::named(7, "test/angles");
        let batch = |_| {
            let mut sum = 0;
            for _ in 0..12_000 {
                // They come while another is carried out.
                for _ in 0..=n {
                    probe.send(Access::Read, stream.below(60_000), 1);
                }
                sum += probe.drain()[1].breakdown.rotation.as_ns();
            }
            sum as f64 / 12_000.0
        };
        let means: Vec<f64> = (0..RUNS).map(batch).collect();
        assert_mean(&format!("rotation, nearest of {n}"), &means, TURN as f64 / (n + 1) as f64);
    }
}

/// A drive that chooses as the media transfer ends has one command to choose from at depth 2: no gain by angle.
#[test]
fn at_depth_two_choosing_at_the_media_end_is_no_choice() {
    let params = DriveParams { queue: queue(2, Order::Sptf), seek: bent(), ..drive() };
    let seek = DriveModel::new(&params).unwrap().mechanism.seek.mean_of_random_pairs();
    let points = points(&random(&params, 2, 40_000), RUNS);
    assert_mean("seek at depth 2", &samples(&points, |parts| parts.seek), seek);
    assert_mean("rotation at depth 2", &samples(&points, |parts| parts.rotation), TURN as f64 / 2.0);
}

/// A host that answers at the instant of the completion has answered: a wait of no time is the limit of short ones, and not
/// a choice as the media transfer ends.
#[test]
fn waiting_no_time_for_the_answer_is_the_limit_of_waiting_a_short_time() {
    let rate = |chooses, answer_time| {
        let queue = QueueParams { chooses, answer_time, ..queue(2, Order::Sptf) };
        let params = DriveParams { queue, seek: bent(), ..drive() };
        points(&random(&params, 2, 20_000), 1)[0].iops
    };
    let none = rate(ChoiceTime::AfterAnswer, Span::ZERO);
    for short in [Span::from_ns(1), Span::from_ns(100), us(1)] {
        let gain = rate(ChoiceTime::AfterAnswer, short) / none;
        assert!((gain - 1.0).abs() < 0.005, "{short}: {gain}");
    }
    let at_media_end = rate(ChoiceTime::AtMediaEnd, Span::ZERO);
    assert!(none > 1.1 * at_media_end, "{none} {at_media_end}");
}

/// What a second command outstanding gains at choosing by arrival: the overheads that it hides, over the rest.
#[test]
fn at_depth_two_the_gain_is_the_overhead_that_it_hides() {
    let mut params = DriveParams { seek: bent(), queue: queue(2, Order::Fcfs), ..drive() };
    params.firmware.read_miss = Overhead::always(us(700));
    params.firmware.read_completion = us(300);
    let seek = DriveModel::new(&params).unwrap().mechanism.seek.mean_of_random_pairs();
    let rest = seek + TURN as f64 / 2.0 + 80_000.0;
    let rates = |params: &DriveParams, jobs| -> Vec<f64> {
        points(&random(params, jobs, 40_000), RUNS).iter().map(|point| point.iops).collect()
    };
    assert_mean("I/Os per s at depth 1", &rates(&params, 1), 1e9 / (rest + 1e6));
    // As the media transfer ends the other command is ready: 1 ms hidden.
    assert_mean("I/Os per s at depth 2, chosen at the media end", &rates(&params, 2), 1e9 / rest);
    assert_mean("I/Os per s at depth 5, chosen at the media end", &rates(&params, 5), 1e9 / rest);
    // A drive that waits for the answer hides nothing but what lies beyond its waiting.
    params.queue = after_answer(2, Order::Fcfs, us(1_200));
    assert_mean("I/Os per s at depth 2, after the answer", &rates(&params, 2), 1e9 / (rest + 1.2e6));
}

/// Four heads, an eighth of a turn from track to track and a quarter from cylinder to cylinder.
fn skewed() -> DriveParams {
    let zone = ZoneParams {
        track_skew: Angle::from_ratio(1, 8),
        cylinder_skew: Angle::from_ratio(1, 4),
        ..zone(0, 500, TRACK as u32)
    };
    let settle = SettleParams { head_switch: us(500), ..SettleParams::default() };
    DriveParams { geometry: layout(4, vec![zone]), seek: flat_seek(ms(1), 500), settle, ..drive() }
}

/// Sequential I/Os over the whole drive: bytes per second over 2 s.
fn sequential_rate(params: &DriveParams, jobs: u32, size: u64, reads: Share) -> f64 {
    let target = target(params);
    let job = JobParams {
        addressing: Addressing::Sequential,
        reads,
        arrivals: outstanding(jobs),
        ..random_job(&target, 1, size)
    };
    let limit = Limit { duration: Some(ms(2_000)), ios: None, until: None };
    point(&Setup { warmup: ms(50), limit, ..setup(target, job, 0) }).bytes_per_s
}

fn assert_rate(what: &str, rate: f64, exact: f64) {
    println!("{what}: {rate:.0} against {exact:.0}: {:+.3} %", (rate / exact - 1.0) * 100.0);
    // The window's ends cut through a cylinder: half a percent of the 80 cylinders that pass in it.
    assert!((rate / exact - 1.0).abs() < 0.005, "{what}: {rate} is not {exact}");
}

#[test]
fn sequential_reads_run_at_the_rate_of_the_zone_less_its_skews() {
    let exact = (4 * TRACK * 512) as f64 / ((4 * TURN + 3 * TURN / 8 + TURN / 4) as f64 / 1e9);
    let size = Sectors::new(2_048);
    let read_ahead = Some(CacheParams::reading_on(size).when(false, false));
    let mut buffered = DriveParams { cache: read_ahead, ..skewed() };
    buffered.firmware.read_hit = Overhead::always(us(20));
    buffered.firmware.read_miss = Overhead::always(us(40));
    for size in [8, 64, 256] {
        assert_rate(
            &format!("read on, {size} sectors"),
            sequential_rate(&buffered, 1, size, Share::ALL),
            exact,
        );
    }
    // Without a buffer the queue does it: the next command is there as the media transfer ends.
    let mut queued = DriveParams { queue: queue(4, Order::Sptf), ..skewed() };
    queued.firmware.read_miss = Overhead::always(us(40));
    assert_rate("queued reads", sequential_rate(&queued, 4, 64, Share::ALL), exact);
    assert_rate("queued writes", sequential_rate(&queued, 4, 64, Share::NONE), exact);
}

#[test]
fn sequential_writes_one_at_a_time_lose_a_turn_each() {
    let mut params = drive();
    params.firmware.write = Overhead::always(us(200));
    for size in [8, 100, 600] {
        let target = target(&params);
        // Round and round on one track.
        let job = JobParams {
            addressing: Addressing::Sequential,
            reads: Share::NONE,
            count: Sectors::new(TRACK),
            ..random_job(&target, 1, size)
        };
        let latency = point(&Setup { warmup: ms(50), ..setup(target, job, 300) }).latency_ns;
        let exact = TURN + size * TURN / TRACK;
        assert_eq!((latency.min, latency.max), (Some(exact), Some(exact)), "{size} sectors");
    }
}

/// The better a drive knows where its commands lie, the more it does; with one command none of it matters.
#[test]
fn knowledge_pays_in_its_known_order() {
    let rate = |order, depth: u32| {
        let params = DriveParams { queue: queue(depth, order), seek: bent(), ..drive() };
        point(&random(&params, depth, 20_000)).iops
    };
    let [fcfs, clook, sstf, sptf] =
        [Order::Fcfs, Order::CLook, Order::Sstf, Order::Sptf].map(|order| rate(order, 16));
    println!("I/Os per s at depth 16: FCFS {fcfs:.1}, C-LOOK {clook:.1}, SSTF {sstf:.1}, SPTF {sptf:.1}");
    assert!(1.1 * fcfs < clook && clook < sstf && 1.1 * sstf < sptf);
    let alone = Order::ALL.map(|order| rate(order, 1));
    assert!(alone.iter().all(|&rate| rate == alone[0]), "{alone:?}");
    let depths = [1, 2, 4, 8, 16, 32].map(|depth| rate(Order::Sptf, depth));
    assert!(depths[1..].is_sorted(), "{depths:?}");
}
