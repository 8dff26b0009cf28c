//! Reads that the mechanism need not turn to, because the head comes to them or the buffer has got them meanwhile, to the
//! nanosecond.
use crate::common::{Probe, TRACK, TURN, drive, queue, us};
use drivelab_core::storage::drive::cache::params::{CacheParams, ReadAheadParams};
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, Overhead};
use drivelab_core::storage::drive::queue::{AgeFull, AgeWeight, ChoiceTime, JoinsUntil, Order, QueueParams};
use drivelab_core::{Access, Completion};
use drivelab_units::{Instant, Sectors, Span};

const SECTOR: u64 = TURN / TRACK;

/// 50 us to turn to a read: five sectors pass meanwhile. Reads on for 1 000 sectors; an order that knows angles.
fn streaming(within: Span, queue: QueueParams) -> DriveParams {
    let firmware = FirmwareParams { read_miss: Overhead::always(us(50)), ..FirmwareParams::default() };
    let cache = CacheParams::reading_on(Sectors::new(1_000));
    let read_ahead = ReadAheadParams { covers_within: within, ..cache.read_ahead };
    DriveParams { firmware, queue, cache: Some(CacheParams { read_ahead, ..cache }), ..drive() }
}

/// When the last of some reads that are sent at once has been answered.
fn last_answer(params: &DriveParams, reads: &[(u64, u64)]) -> u64 {
    let mut probe = Probe::of(params);
    for &(first, count) in reads {
        probe.send(Access::Read, first, count);
    }
    let answers = probe.drain();
    assert_eq!(answers.len(), reads.len());
    answers.iter().map(|answer| answer.completed.since(Instant::ZERO).as_ns()).max().unwrap()
}

/// Every read of 8 sectors leaves out the next 4, which pass in 40 us.
fn with_gaps(count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|read| (12 * read, 8)).collect()
}

#[test]
fn waiting_reads_with_small_gaps_between_them_cost_what_passes_under_the_head() {
    let deep = queue(32, Order::Sptf);
    let stream = last_answer(&streaming(us(50), deep.clone()), &[(0, 12 * 20 - 4)]);
    assert_eq!(last_answer(&streaming(us(50), deep.clone()), &with_gaps(20)), stream);
    // In order of arrival too: the one whose turn it is lies on the way.
    assert_eq!(last_answer(&streaming(us(50), queue(32, Order::Fcfs)), &with_gaps(20)), stream);
}

#[test]
fn a_read_that_comes_while_the_head_is_on_its_way_there_is_met() {
    let second = |within, gap: u64| {
        let mut probe = Probe::of(&streaming(within, queue(1, Order::Fcfs)));
        let first = probe.read(0, 8);
        let read: Completion = probe.read(8 + gap, 8);
        read.completed.since(first.completed).as_ns()
    };
    assert_eq!(second(us(50), 4), 12 * SECTOR);
    assert_eq!(second(us(50), 5), 13 * SECTOR);
    // Farther away the firmware is there in time.
    assert_eq!(second(us(50), 6), 14 * SECTOR);
    // Who reads on for nobody is too late by a turn.
    assert_eq!(second(us(0), 4), TURN + 12 * SECTOR);
}

#[test]
fn of_two_reads_of_the_same_blocks_the_second_comes_from_the_buffer() {
    for order in [Order::Sptf, Order::AgedSptf(AgeWeight::NONE), Order::Fcfs] {
        let params = streaming(Span::ZERO, queue(32, order));
        let twice: Vec<(u64, u64)> = (0..40).map(|read| (read / 2 * 8, 8)).collect();
        assert_eq!(last_answer(&params, &twice), last_answer(&params, &[(0, 160)]), "{order:?}");
    }
}

#[test]
fn the_head_reads_on_until_the_drive_chooses() {
    let queue = QueueParams { chooses: ChoiceTime::AtCompletion, ..queue(32, Order::Fcfs) };
    let mut params = streaming(us(50), queue);
    params.firmware.read_completion = us(200);
    let reads: Vec<(u64, u64)> = (0..10).map(|read| (8 * read, 8)).collect();
    // The drive chooses 200 us behind each end of media; by then the buffer has what follows, or the head is just there.
    assert_eq!(last_answer(&params, &reads), last_answer(&params, &[(0, 80)]));
}

#[test]
fn any_number_may_wait_for_the_same_blocks() {
    let params = streaming(us(50), queue(65_536, Order::Fcfs));
    let one = last_answer(&params, &[(0, 8)]);
    let taken_up = 65_535 * 50_000;
    assert!(last_answer(&params, &vec![(0, 8); 65_536]) <= one + taken_up);
}

#[test]
fn an_order_with_a_rule_of_its_own_keeps_to_it() {
    // One write that is due in 5 ms, and a hundred reads that lie on the head's way, a millisecond each.
    for order in [Order::ReadFirstSptf(us(5_000)), Order::WeightedSptf(AgeFull::new(us(5_000)))] {
        let mut probe = Probe::of(&streaming(us(50), queue(128, order)));
        probe.send(Access::Read, 0, 100);
        let write = probe.send(Access::Write, 300_000, 8);
        for read in 1..100 {
            probe.send(Access::Read, 100 * read, 100);
        }
        let at = probe.drain().iter().position(|answer| answer.id == write).unwrap();
        assert!(at <= 6, "{order:?}: {at}");
    }
}

#[test]
fn a_head_that_was_not_to_read_on_does_not_begin_to_for_a_second_reader() {
    let rest = |reads: &[(u64, u64)]| {
        let mut params = streaming(us(50), queue(32, Order::Sptf));
        params.cache.as_mut().unwrap().read_ahead.when_sequential = true;
        let mut probe = Probe::of(&params);
        for &(first, count) in reads {
            probe.send(Access::Read, first, count);
        }
        probe.drain();
        probe.wait(us(4_000));
        let read = probe.read(5_300, 8);
        read.breakdown.rotation.as_ns()
    };
    assert!(rest(&[(5_000, 8)]) > 0);
    assert!(rest(&[(5_000, 8), (5_000, 8)]) > 0);
}

#[test]
fn a_queues_depth_is_no_rule_of_the_heads_way() {
    let took = |depth| last_answer(&streaming(us(50), queue(depth, Order::Sptf)), &with_gaps(20));
    assert_eq!(took(256), took(257));
}

#[test]
fn a_joined_read_that_the_buffer_has_leaves_no_head_behind() {
    let queue = QueueParams { joins_reads: JoinsUntil::UntilEnd, ..queue(4, Order::Fcfs) };
    for phase in 0..60 {
        let mut params = streaming(us(50), queue.clone());
        params.settle.read_on_arrival = true;
        let cache = CacheParams::reading_on(Sectors::new(3_000));
        let size = Sectors::new(96_000);
        params.cache = Some(CacheParams { keeps_passing: true, segments: 16, size, ..cache });
        let mut probe = Probe::of(&params);
        probe.wait(us(100 * phase));
        probe.send(Access::Read, 100, 200);
        probe.send(Access::Read, 300, 8);
        probe.send(Access::Read, 300_000, 8);
        probe.drain();
        // The arm goes elsewhere and stays there: nothing reads here meanwhile.
        probe.read(400_000, 8);
        probe.wait(us(50_000));
        let read = probe.read(1_000, 8);
        assert!(read.breakdown.seek > Span::ZERO, "{phase}");
    }
}
