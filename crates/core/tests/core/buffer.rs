//! Reading on behind a read, and joining what follows without a gap: what the buffer and the sweep save, to the
//! nanosecond.
use crate::common::{Probe, TRACK, TURN, drive, flat_seek, layout, ms, queue, response, us, zone};
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::geometry::ZoneParams;
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, Overhead};
use drivelab_core::storage::drive::queue::{ChoiceTime, JoinsUntil, Order, QueueParams};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::{Access, Completion, Outcome};
use drivelab_units::{Angle, Lba, Rate, Sectors, Share, Span};

const SECTOR: u64 = TURN / TRACK;
/// A buffer's size in sectors.
const SIZE: u64 = 1_000;
/// Nanoseconds before and after the link's part of a read from the buffer.
const HIT: u64 = 20_000 + 10_000;

/// Reads on for 1 000 sectors. 20 us for a hit, 50 us for a miss, 10 us for a completion, 100 MB/s on the link.
fn buffered() -> DriveParams {
    let firmware = FirmwareParams {
        read_hit: Overhead::always(us(20)),
        read_miss: Overhead::always(us(50)),
        read_completion: us(10),
        ..FirmwareParams::default()
    };
    let size = Sectors::new(SIZE);
    let read_ahead = Some(CacheParams::reading_on(size).when(false, false));
    let mut params = DriveParams { firmware, cache: read_ahead, ..drive() };
    params.link.rate = Rate::from_bytes_per_s(100_000_000);
    params
}

/// What the link takes at 100 MB/s.
fn link(sectors: u64) -> u64 {
    sectors * 512 * 10
}

fn is_hit(read: &Completion) -> bool {
    read.breakdown.overhead.as_ns() == HIT
}

#[test]
fn a_read_behind_the_last_one_comes_from_the_buffer() {
    let mut probe = Probe::of(&buffered());
    assert!(!is_hit(&probe.read(0, 8)));
    probe.wait(ms(50));
    let read = probe.read(8, 8);
    assert!(is_hit(&read));
    // Overhead and link are all that is left.
    assert_eq!(response(&read), HIT + link(8));
    assert_eq!(read.breakdown.link.as_ns(), link(8));
}

/// Neither the sectors themselves nor a read-ahead that passes over them makes them readable.
#[test]
fn what_cannot_be_read_is_in_no_buffer() {
    let unreadable = vec![(Lba::new(4), Sectors::new(2)), (Lba::new(40), Sectors::new(1))];
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: ms(1) };
    let mut probe = Probe::of(&DriveParams { faults: Some(faults), ..buffered() });
    for (first, outcome) in
        [(0, Outcome::MediaError), (0, Outcome::MediaError), (8, Outcome::Done), (40, Outcome::MediaError)]
    {
        let read = probe.read(first, 8);
        assert_eq!((read.outcome, is_hit(&read)), (outcome, false), "{first}");
        probe.wait(ms(50));
    }
    // What the head passed over behind the third read is there all the same.
    assert!(is_hit(&probe.read(16, 8)));
}

#[test]
fn hits_go_on_while_the_head_waits_for_its_block() {
    let mut probe = Probe::of(&buffered());
    probe.read(0, 8);
    probe.wait(ms(50));
    for first in [8, 16, 0, 24] {
        assert_eq!(response(&probe.read(first, 8)), HIT + link(8));
    }
}

#[test]
fn the_buffer_ends_where_it_is_full() {
    let read = |first, count| {
        let mut probe = Probe::of(&buffered());
        probe.read(0, 8);
        probe.wait(ms(50));
        probe.read(first, count)
    };
    assert_eq!(response(&read(8, SIZE)), HIT + link(SIZE));
    // The first block behind it: the head has stopped and waits for it to come round.
    let over = read(8 + SIZE, 1);
    assert!(is_hit(&over) && over.breakdown.transfer > Span::ZERO);
    assert!(!is_hit(&read(9 + SIZE, 1)), "a gap");
}

#[test]
fn blocks_farther_back_than_the_buffer_is_large_are_forgotten() {
    let mut probe = Probe::of(&buffered());
    probe.read(0, 8);
    probe.wait(ms(50));
    assert!(is_hit(&probe.read(8, SIZE - 8)));
    probe.wait(ms(50));
    assert!(is_hit(&probe.read(0, 8)), "exactly one buffer back");
    assert!(is_hit(&probe.read(SIZE, 16)));
    // The head reads on for as much, and what is farthest back makes room.
    probe.wait(ms(50));
    assert!(!is_hit(&probe.read(8, 16)));
}

/// Four heads with enough skew to read on over tracks and cylinders.
fn skewed() -> DriveParams {
    let zone = ZoneParams {
        track_skew: Angle::from_ratio(1, 8),
        cylinder_skew: Angle::from_ratio(1, 4),
        ..zone(0, 100, TRACK as u32)
    };
    let settle = SettleParams { head_switch: us(500), ..SettleParams::default() };
    DriveParams { geometry: layout(4, vec![zone]), seek: flat_seek(ms(1), 100), settle, ..buffered() }
}

#[test]
fn small_sequential_reads_run_at_the_rate_of_the_media() {
    // Two cylinders and a bit in pieces of 8 sectors: each is done when one long read would have had it.
    let mut probe = Probe::of(&skewed());
    for i in 1..=(9 * TRACK / 8) {
        let small = probe.read(8 * (i - 1), 8);
        let long = Probe::of(&skewed()).read(0, 8 * i);
        assert_eq!(small.completed, long.completed, "{i}");
    }
}

/// A read that waits when another one ends with its track: the head has not switched to the next track yet, and misses a
/// sector there that passes 250 us later.
#[test]
fn a_head_that_would_read_on_pays_for_its_switch_to_the_next_track() {
    let second = |cache| {
        let queue = queue(2, Order::Fcfs);
        let mut probe = Probe::of(&DriveParams { cache, queue, ..skewed() });
        probe.send(Access::Read, TRACK - 8, 8);
        probe.send(Access::Read, TRACK + 550, 8);
        let [first, second] = [(); 2].map(|()| probe.answer().expect("both are answered").completed);
        second.since(first)
    };
    let alone = second(None);
    assert!(alone > Span::from_ns(TURN), "{alone}");
    assert_eq!(second(skewed().cache), alone);
}

/// A read on the track that the head is leaving to read on: the switch of 500 us is completed, and one back follows.
/// Of the sectors there, that which passes after 800 us is missed, and that after 1200 us is not.
#[test]
fn a_switch_that_has_begun_is_completed() {
    let after = |place| {
        let mut probe = Probe::of(&skewed());
        let read = probe.read(TRACK - 8, 8);
        probe.wait(us(200));
        probe.read(place, 8).completed.since(read.completed)
    };
    assert_eq!(after(80), after(120) + Span::from_ns(TURN) - us(400));
}

#[test]
fn without_reading_on_each_small_read_loses_a_turn() {
    let mut probe = Probe::of(&DriveParams { cache: None, ..buffered() });
    probe.read(0, 8);
    for i in 1..70 {
        assert_eq!(response(&probe.read(8 * i, 8)), TURN - 10_000 + 8 * SECTOR + 10_000);
    }
}

#[test]
fn a_link_slower_than_the_media_sets_the_rate_of_hits() {
    let mut params = buffered();
    // 204.8 us for 8 sectors that pass the head in 80 us.
    params.link.rate = Rate::from_bytes_per_s(20_000_000);
    let mut probe = Probe::of(&params);
    for i in 0..200 {
        let read = probe.read(8 * i, 8);
        assert!(i < 100 || response(&read) == HIT + 5 * link(8), "{i}");
    }
}

#[test]
fn a_write_into_the_buffers_blocks_empties_it() {
    let after_write = |first| {
        let mut probe = Probe::of(&buffered());
        probe.read(0, 8);
        probe.wait(ms(50));
        probe.write(first, 8);
        is_hit(&probe.read(16, 8))
    };
    assert!(!after_write(16));
    assert!(!after_write(500));
    assert!(!after_write(SIZE), "the last eight blocks");
    assert!(after_write(SIZE + 8), "just behind it");
    assert!(after_write(300_000));
}

#[test]
fn the_buffer_holds_what_the_head_had_read_when_it_was_called_away() {
    let hits = |first, count| {
        let mut probe = Probe::of(&buffered());
        probe.read(0, 8);
        // 800 us from the end of the media transfer, 10 us of which were the completion.
        probe.wait(us(790));
        probe.write(300_000, 8);
        probe.wait(ms(50));
        is_hit(&probe.read(first, count))
    };
    assert!(hits(8, 80) && hits(0, 88));
    assert!(!hits(8, 81) && !hits(88, 1), "block 88 had not passed the head");
}

#[test]
fn a_drive_that_reads_on_for_sequences_alone_waits_for_the_second_read() {
    let mut params = buffered();
    params.cache = params.cache.map(|read_ahead| read_ahead.when(false, true));
    let mut probe = Probe::of(&params);
    probe.read(6_000, 8);
    probe.wait(ms(50));
    assert!(!is_hit(&probe.read(6_008, 8)));
    probe.wait(ms(50));
    assert!(is_hit(&probe.read(6_016, 8)));
}

/// Seek times that tell the distance: 1 ms and 10 us for each cylinder.
fn telling_seek() -> SeekParams {
    SeekParams::Table(vec![(1, us(1_010)), (1_000, us(11_000))])
}

#[test]
fn the_arm_stands_where_reading_on_has_brought_it() {
    let mut probe = Probe::of(&DriveParams { seek: telling_seek(), ..buffered() });
    probe.read(0, 8);
    // Long enough to fill the buffer, up to block 1 008 on the second cylinder.
    probe.wait(ms(50));
    assert_eq!(probe.read(51 * TRACK, 8).breakdown.seek, us(1_500));
}

#[test]
fn the_arm_stands_on_the_track_that_it_is_reading() {
    let mut probe = Probe::of(&DriveParams { seek: telling_seek(), ..buffered() });
    probe.read(0, 8);
    // The first track has passed, the arm has moved on, and the second track is under way.
    probe.wait(ms(15));
    assert_eq!(probe.read(51 * TRACK, 8).breakdown.seek, us(1_500));
}

/// Two commands at once, a read and another from the end of it, to a drive that lets 100 us pass between commands.
fn second_of_two(start: Span, joins: JoinsUntil, later: Span, first: u64) -> u64 {
    second_after_read(Access::Read, start, joins, later, first)
}

fn second_after_read(access: Access, start: Span, joins: JoinsUntil, later: Span, first: u64) -> u64 {
    let queue = QueueParams {
        joins_reads: joins,
        joins_writes: joins,
        chooses: ChoiceTime::AfterAnswer,
        answer_time: us(100),
        ..queue(4, Order::Fcfs)
    };
    let mut probe = Probe::of(&DriveParams { queue, ..drive() });
    probe.wait(start);
    probe.send(Access::Read, first, 50);
    // Something else, so that there is a choice to wait for.
    probe.send(Access::Read, 900 * TRACK, 1);
    probe.wait(later);
    let second = probe.send(access, first + 50, 50);
    let answers = probe.drain();
    let at = |id| answers.iter().find(|answer| answer.id == id).unwrap().completed.as_ns();
    at(second) - at(0)
}

#[test]
fn a_read_that_goes_on_without_a_gap_joins_the_one_before() {
    let second = |joins, later, first| second_of_two(ms(1), joins, later, first);
    let joined = 50 * SECTOR;
    assert_eq!(second(JoinsUntil::BeforeStart, Span::ZERO, 0), joined);
    assert_eq!(second(JoinsUntil::UntilEnd, Span::ZERO, 0), joined);
    assert!(second(JoinsUntil::Never, Span::ZERO, 0) > TURN);
    // The arm has started for a far place: too late, unless it may join until the end.
    assert!(second(JoinsUntil::BeforeStart, us(500), 300_000) > TURN);
    assert_eq!(second(JoinsUntil::UntilEnd, us(500), 300_000), joined);
}

#[test]
fn a_write_does_not_join_a_read() {
    for joins in [JoinsUntil::BeforeStart, JoinsUntil::UntilEnd] {
        // Neither while the read is carried out nor out of the queue: there they wait behind a third one.
        assert!(second_after_read(Access::Write, ms(1), joins, Span::ZERO, 0) > TURN);
        assert!(third_behind(Access::Write, joins) > TURN);
        assert_eq!(third_behind(Access::Read, joins), 50 * SECTOR);
    }
}

/// A read and a command from the end of it, both in the queue when the read is chosen.
fn third_behind(access: Access, joins: JoinsUntil) -> u64 {
    let queue = QueueParams {
        joins_reads: joins,
        joins_writes: joins,
        chooses: ChoiceTime::AfterAnswer,
        answer_time: us(100),
        ..queue(4, Order::Fcfs)
    };
    let mut probe = Probe::of(&DriveParams { queue, ..drive() });
    probe.wait(ms(1));
    probe.send(Access::Read, 900 * TRACK, 1);
    let read = probe.send(Access::Read, 0, 50);
    probe.send(Access::Read, 900 * TRACK, 1);
    let next = probe.send(access, 50, 50);
    let answers = probe.drain();
    let at = |id| answers.iter().find(|answer| answer.id == id).unwrap().completed.as_ns();
    at(next) - at(read)
}

#[test]
fn a_drive_that_never_joins_does_not_at_the_first_instant_either() {
    assert!(second_of_two(Span::ZERO, JoinsUntil::Never, Span::ZERO, 0) > TURN);
}

/// A stream of small reads with several outstanding: each is there before the head, or a moment late, and the head reads
/// on either way.
#[test]
fn a_stream_with_several_outstanding_runs_at_the_rate_of_the_media() {
    let mut params = skewed();
    params.queue = queue(8, Order::Sptf);
    params.firmware.read_miss = Overhead::always(us(150));
    let finish = |depth: u64| {
        let mut probe = Probe::of(&params);
        let (mut next, mut end) = (0, 0);
        for _ in 0..depth {
            probe.send(Access::Read, 8 * next, 8);
            next += 1;
        }
        for _ in 0..400 {
            end = probe.answer().unwrap().completed.as_ns();
            probe.send(Access::Read, 8 * next, 8);
            next += 1;
        }
        end
    };
    let alone = finish(1);
    for depth in [2, 3, 8] {
        assert!(finish(depth) < alone * 11 / 10, "{depth}: {} {alone}", finish(depth));
    }
}
