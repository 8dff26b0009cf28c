//! The queue policies as a host sees them: in which order commands come back, and how long one may wait.
mod common;

use common::trace::{Trace, Until, trace};
use common::{
    Probe, TRACK, TURN, drive, job, ms, outstanding, queue, random_job, response, setup, target, us,
};
use drivelab_core::host::params::{Addressing, JobParams};
use drivelab_core::target::drive::params::{DriveParams, ReadAheadParams};
use drivelab_core::target::drive::queue::{AgeWeight, Chooses, Joins, Order, QueueParams};
use drivelab_core::target::drive::seek::SeekParams;
use drivelab_core::{Access, Setup};
use drivelab_units::{Instant, Sectors, Share, Span};

/// Seek times that grow with the distance: 1 ms and 10 us for each cylinder.
fn growing() -> DriveParams {
    DriveParams { seek: SeekParams::Table(vec![(1, us(1_010)), (1_000, us(11_000))]), ..drive() }
}

/// The cylinders of the reads in the order of their completions. The first one is under way when the others come.
fn served(queue: QueueParams, cylinders: &[u64]) -> Vec<u64> {
    let mut probe = Probe::of(&DriveParams { queue, ..growing() });
    for &cylinder in cylinders {
        probe.send(Access::Read, cylinder * TRACK, 1);
    }
    probe.drain().iter().map(|answer| cylinders[answer.id as usize]).collect()
}

/// From the arm on 500, with commands on both sides, and two on the arm's own cylinder.
const SCENE: [u64; 9] = [500, 620, 90, 510, 500, 490, 980, 100, 500];

#[test]
fn fcfs_serves_in_the_order_of_arrival() {
    assert_eq!(served(queue(16, Order::Fcfs), &SCENE), SCENE);
}

#[test]
fn look_goes_up_to_the_last_command_and_turns_round() {
    let served = served(queue(16, Order::Look), &SCENE);
    assert_eq!(served, [500, 500, 500, 510, 620, 980, 490, 100, 90]);
}

#[test]
fn look_goes_on_downward_once_it_has_turned() {
    // The arm comes down to 300 with commands on both sides: down first, then up.
    let mut probe = Probe::of(&DriveParams { queue: queue(16, Order::Look), ..growing() });
    let cylinders = [700, 300, 280, 320, 100, 900];
    probe.send(Access::Read, 700 * TRACK, 1);
    probe.send(Access::Read, 300 * TRACK, 1);
    let mut order = vec![probe.answer().unwrap().id];
    for cylinder in &cylinders[2..] {
        probe.send(Access::Read, cylinder * TRACK, 1);
    }
    order.extend(probe.drain().iter().map(|answer| answer.id));
    let order: Vec<u64> = order.iter().map(|&id| cylinders[id as usize]).collect();
    assert_eq!(order, [700, 300, 280, 100, 320, 900]);
}

#[test]
fn clook_goes_up_to_the_last_command_and_back_to_the_lowest() {
    let served = served(queue(16, Order::CLook), &SCENE);
    assert_eq!(served, [500, 500, 500, 510, 620, 980, 90, 100, 490]);
}

#[test]
fn sstf_goes_to_the_nearest() {
    // 490 and 510 are equally far: the older one goes first.
    let served = served(queue(16, Order::Sstf), &SCENE);
    assert_eq!(served, [500, 500, 500, 510, 490, 620, 980, 100, 90]);
}

#[test]
fn sptf_goes_to_what_passes_first() {
    // On the arm's own cylinder the angle decides, not the order of arrival.
    let mut probe = Probe::of(&DriveParams { queue: queue(16, Order::Sptf), ..growing() });
    let sectors = [0, 500, 100, 300, 200, 400];
    for sector in sectors {
        probe.send(Access::Read, 500 * TRACK + sector, 1);
    }
    let served: Vec<u64> = probe.drain().iter().map(|answer| sectors[answer.id as usize]).collect();
    assert_eq!(served, [0, 100, 200, 300, 400, 500]);
}

#[test]
fn a_write_handicap_lets_reads_go_first_up_to_its_length() {
    let order = |handicap| {
        let queue = QueueParams { write_handicap: handicap, ..queue(16, Order::Sptf) };
        let mut probe = Probe::of(&DriveParams { queue, ..growing() });
        probe.read(500 * TRACK, 1);
        // Under way at sector 0; then a write at 100 and reads 1 ms and 3 ms behind it.
        probe.send(Access::Read, 500 * TRACK, 1);
        probe.send(Access::Write, 500 * TRACK + 100, 1);
        probe.send(Access::Read, 500 * TRACK + 200, 1);
        probe.send(Access::Read, 500 * TRACK + 400, 1);
        probe.drain().iter().map(|answer| answer.id).filter(|&id| id > 1).collect::<Vec<u64>>()
    };
    assert_eq!(order(Span::ZERO), [2, 3, 4]);
    assert_eq!(order(us(900)), [2, 3, 4]);
    // Passed over once, the write is nearly a turn away.
    assert_eq!(order(us(1_100)), [3, 4, 2]);
}

/// So many commands at once, random reads and writes.
fn busy(queue: QueueParams, ios: usize) -> Trace {
    let depth = queue.depth;
    let params = DriveParams { queue, ..growing() };
    let target = target(&params);
    let reads = Share::from_ratio(2, 3).unwrap();
    let job = JobParams { reads, arrivals: outstanding(depth), ..random_job(&target, 1, 8) };
    trace(&setup(target, job, 0), Until::Finished(ios), 0)
}

#[test]
fn a_drive_that_looks_at_one_command_serves_as_they_come() {
    let fcfs = busy(queue(16, Order::Fcfs), 2_000);
    for order in Order::ALL {
        let one = busy(QueueParams { considers: Some(1), ..queue(16, order) }, 2_000);
        assert_eq!(one.completions, fcfs.completions, "{order:?}");
        // A window as wide as the queue leaves nothing out.
        let all = busy(QueueParams { considers: Some(16), ..queue(16, order) }, 2_000);
        assert_eq!(all.completions, busy(queue(16, order), 2_000).completions, "{order:?}");
    }
}

#[test]
fn no_command_waits_longer_than_the_age_limit_and_a_queue_of_worst_services() {
    let (depth, limit) = (24, ms(40));
    // The longest seek, a turn and the transfer.
    let worst = 11_000_000 + TURN + 8 * TURN / TRACK;
    let bound = limit.as_ns() + u64::from(depth) * worst;
    let longest = |age_limit, chooses, order| {
        let queue = QueueParams { age_limit, chooses, ..queue(depth, order) };
        busy(queue, 12_000).completions.iter().map(response).max().unwrap()
    };
    for order in Order::ALL {
        for chooses in [Chooses::AtMediaEnd, Chooses::AfterAnswer] {
            let found = longest(Some(limit), chooses, order);
            assert!(found <= bound, "{order:?}: {found} over {bound}");
        }
    }
    // The bound is not idle: without a limit the far commands wait longer.
    assert!(longest(None, Chooses::AtMediaEnd, Order::Sstf) > bound);
    assert!(longest(None, Chooses::AtMediaEnd, Order::Sptf) > bound);
}

/// The longest that a random read takes beside sequential ones, under an age limit of 40 ms.
fn longest_beside_a_sequence(chooses: Chooses, joins_reads: Joins, streams: u32, when_queued: bool) -> u64 {
    let sptf = QueueParams { age_limit: Some(ms(40)), ..queue(8, Order::Sptf) };
    longest_beside(QueueParams { chooses, answer_time: us(200), joins_reads, ..sptf }, streams, when_queued)
}

fn longest_beside(queue: QueueParams, streams: u32, when_queued: bool) -> u64 {
    longest_beside_reads_of(64, queue, streams, when_queued)
}

fn longest_beside_reads_of(sectors: u64, queue: QueueParams, streams: u32, when_queued: bool) -> u64 {
    let size = Sectors::new(2_000);
    let read_ahead = Some(ReadAheadParams { size, when_queued, when_sequential: false });
    let target = target(&DriveParams { queue, read_ahead, ..growing() });
    let random = random_job(&target, 1, 8);
    let sequential = JobParams {
        addressing: Addressing::Sequential,
        arrivals: outstanding(streams),
        ..random_job(&target, 1, sectors)
    };
    let both = Setup { jobs: vec![random, sequential], ..setup(target, job(), 0) };
    let end = Instant::ZERO + Span::from_s(4);
    let trace = trace(&both, Until::Instant(end), 0);
    let finished = trace.ios.iter().filter(|io| io.job == 0).map(|io| io.finished);
    let instants: Vec<Instant> = [Instant::ZERO].into_iter().chain(finished).chain([end]).collect();
    // One at a time: from each end to the next, and to the end of the run for one that never came back.
    instants.windows(2).map(|pair| (pair[1] - pair[0]).as_ns()).max().unwrap()
}

#[test]
fn the_age_limit_holds_beside_a_sequence() {
    for chooses in [Chooses::AtMediaEnd, Chooses::AfterAnswer] {
        for streams in [1, 4] {
            let longest = longest_beside_a_sequence(chooses, Joins::Never, streams, false);
            assert!(longest < 200_000_000, "{chooses:?} {streams}: {longest}");
        }
    }
}

#[test]
fn a_stream_of_reads_that_join_lets_others_through_without_an_age_limit() {
    // First come, first served, but for the joins: 32 of them, and then the random read's turn.
    let fcfs = QueueParams { joins_reads: Joins::UntilEnd, ..queue(8, Order::Fcfs) };
    let longest = longest_beside(fcfs, 4, false);
    assert!(longest < 400_000_000, "{longest}");
}

#[test]
fn the_age_limit_holds_beside_reads_that_join() {
    for joins_reads in [Joins::BeforeStart, Joins::UntilEnd] {
        // A track each: a sweep of them alone would take far longer than the limit.
        let longest = |age_limit| {
            let queue = QueueParams { joins_reads, age_limit, ..queue(8, Order::Fcfs) };
            longest_beside_reads_of(TRACK, queue, 4, false)
        };
        let (limited, unlimited) = (longest(Some(ms(40))), longest(None));
        assert!(limited < 100_000_000 && unlimited > 180_000_000, "{joins_reads:?}: {limited} {unlimited}");
    }
}

#[test]
fn the_age_limit_holds_beside_reads_that_meet_the_head() {
    assert!(longest_beside_a_sequence(Chooses::AfterAnswer, Joins::Never, 1, true) < 200_000_000);
}

#[test]
fn a_stream_of_reads_that_meet_the_head_lets_others_through_without_an_age_limit() {
    let chooses = Chooses::AfterAnswer;
    let longest =
        longest_beside(QueueParams { chooses, answer_time: us(200), ..queue(8, Order::Fcfs) }, 1, true);
    assert!(longest < 400_000_000, "{longest}");
}

#[test]
fn the_weight_of_age_leads_from_sptf_to_fcfs() {
    let run = |numerator, denominator| {
        let age_weight = AgeWeight::from_ratio(numerator, denominator).unwrap();
        let trace = busy(QueueParams { age_weight, ..queue(16, Order::AgedSptf) }, 5_000);
        let longest = trace.completions.iter().map(response).max().unwrap();
        (trace, longest)
    };
    let (none, starved) = run(0, 1);
    assert_eq!(none.completions, busy(queue(16, Order::Sptf), 5_000).completions);
    let (some, longest) = run(1, 2);
    assert!(longest < starved && some.end > none.end, "fairer and slower");
    // A thousand times a command's age outweighs any way, but for commands that came within 20 us of each other.
    let (all, _) = run(1_000, 1);
    assert!(all.end > some.end);
    let ids: Vec<u64> = all.completions.iter().map(|answer| answer.id).collect();
    assert!(ids[100..].is_sorted(), "first come, first served");
}
