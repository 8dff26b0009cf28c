//! Reads by lines and ahead: closed forms of what a stream and a large read get when the device's latency is what counts.
//! The rig asserts of every fetch that it is of one line and that no more are under way than may be.
use super::rig::{Rig, Sent, Service};
use super::{at, params, read, us, write};
use drivelab_core::command::Breakdown;
use drivelab_core::storage::write_behind::Place;
use drivelab_core::storage::write_behind::params::{ReadAhead, WriteBehindParams};
use drivelab_core::{Access, Outcome};
use drivelab_units::{Sectors, Span};

pub const LINES: ReadAhead =
    ReadAhead { unit: Sectors::new(16), window: Sectors::new(64), outstanding: 4, after: 2, streams: 4 };

const LATENCY: Span = us(1_000);

/// Memory that takes no time, before a device that serves any number of commands at once, each in a millisecond.
fn rig(lines: ReadAhead) -> Rig {
    let params = WriteBehindParams { rate: None, read_ahead: Some(lines), ..params() };
    Rig::new(&params, Place::Controller, |_| Service::takes(LATENCY))
}

/// First sector and size of each fetch.
fn fetched(rig: &Rig) -> Vec<(u64, u64)> {
    let place = |sent: &Sent| (sent.command.first.get(), sent.command.count.get());
    rig.fetches().map(place).collect()
}

#[test]
fn a_large_read_gets_so_many_lines_in_each_latency() {
    for (unit, outstanding) in [(16, 1), (16, 4), (16, 5), (64, 2), (64, 16), (1_000, 3)] {
        let lines = ReadAhead { unit: Sectors::new(unit), outstanding, ..LINES };
        let mut rig = rig(lines);
        let answer = rig.go(read(0, 0, 1_000));
        let (count, at_once) = (1_000_u64.div_ceil(unit), u64::from(outstanding));
        // outstanding x unit / latency, whatever the device could do.
        assert_eq!(answer.completed, at(1_000 * count.div_ceil(at_once)), "{lines:?}");
        assert_eq!(rig.most_fetching as u64, at_once.min(count));
        assert_eq!(rig.fetches().count() as u64, count);
    }
}

#[test]
fn a_stream_of_small_reads_gets_so_many_lines_in_each_latency() {
    let mut rig = rig(LINES);
    let answers: Vec<_> = (0..128).map(|id| rig.go(read(id, id * 8, 8))).collect();
    // The first line alone, and behind the second read four at a time: 63 lines in 16 latencies.
    assert_eq!(answers[127].completed, at(1_000 + 16_000));
    assert_eq!((rig.most_fetching, rig.fetches().count()), (4, 64));
    assert_eq!(rig.sent.len(), 64, "every read is a hit or waits for a line");
    // Without reading ahead each line takes a latency.
    let mut rig = super::lines::rig(ReadAhead { window: Sectors::ZERO, ..LINES });
    let answers: Vec<_> = (0..128).map(|id| rig.go(read(id, id * 8, 8))).collect();
    assert_eq!(answers[127].completed, at(64_000));
}

#[test]
fn lines_ahead_are_fetched_after_so_many_reads_and_none_beyond_the_end() {
    for after in 1..4 {
        let mut rig = rig(ReadAhead { after, ..LINES });
        for id in 0..u64::from(after) {
            rig.go(read(id, 960 + id * 8, 8));
            let ahead = rig.fetches().any(|sent| sent.command.first.get() == 1_008);
            assert_eq!(ahead, id + 1 == u64::from(after), "{after} {id}");
        }
        rig.run();
        assert_eq!(fetched(&rig).iter().map(|&(first, count)| first + count).max(), Some(1_024));
    }
}

#[test]
fn random_reads_fetch_their_lines_and_no_more() {
    let mut rig = rig(LINES);
    for (id, first) in (0..).zip([500, 20, 300, 30, 509]) {
        rig.go(read(id, first, 8));
    }
    // 30 to 38 has part of two lines, the first of which is there; so has 509 to 517.
    assert_eq!(fetched(&rig), [(496, 16), (16, 16), (288, 16), (304, 16), (32, 16), (512, 16)]);
    let again = rig.go(read(9, 16, 16));
    assert_eq!(again.breakdown, Breakdown::default());
}

#[test]
fn who_comes_while_a_line_is_under_way_waits_for_it() {
    let mut rig = rig(LINES);
    rig.arrive(at(0), read(0, 0, 4));
    rig.arrive(at(400), read(1, 8, 4));
    rig.run();
    assert_eq!(fetched(&rig), [(0, 16)]);
    let [first, second] = [0, 1].map(|id| rig.until_answered(id).breakdown);
    assert_eq!(first, Breakdown { transfer: LATENCY, ..Breakdown::default() });
    assert_eq!(second, Breakdown { queue: us(600), ..Breakdown::default() });
}

#[test]
fn each_line_is_copied_when_it_is_there_and_costs_what_a_command_costs() {
    let one = ReadAhead { outstanding: 1, ..LINES };
    let params = WriteBehindParams { overhead: us(3), read_ahead: Some(one), ..params() };
    let mut rig = Rig::new(&params, Place::Controller, |_| Service::takes(LATENCY));
    // Half of the first line and half of the third: the copies of the first two are done before the third line comes.
    let answer = rig.go(read(0, 8, 32));
    assert_eq!(answer.completed, at(3_000 + 3 + 8));
    let parts = Breakdown { queue: us(2_000), transfer: LATENCY, overhead: us(11), ..Breakdown::default() };
    assert_eq!(answer.breakdown, parts);
    // Then all of it is in memory, and copied as one.
    assert_eq!(rig.go(read(1, 8, 32)).breakdown, Breakdown { overhead: us(35), ..Breakdown::default() });
}

#[test]
fn a_slow_memory_and_not_the_device_holds_back_what_it_must_copy() {
    let params = WriteBehindParams { read_ahead: Some(LINES), overhead: us(400), ..params() };
    let mut rig = Rig::new(&params, Place::Controller, |_| Service::takes(LATENCY));
    let answer = rig.go(read(0, 0, 320));
    // Twenty copies of 416 us; four lines come in the time of less than three.
    assert_eq!(answer.completed, at(1_000 + 20 * 416));
}

#[test]
fn what_is_fetched_takes_the_place_of_what_was_read_and_never_of_what_waits_to_be_flushed() {
    let params = WriteBehindParams {
        size: Sectors::new(64),
        limit: Sectors::new(40),
        background: Sectors::new(40),
        read_ahead: Some(ReadAhead { window: Sectors::new(32), ..LINES }),
        ..params()
    };
    let mut rig = Rig::new(&params, Place::Controller, |_| Service::takes(LATENCY));
    rig.go(write(0, 900, 40));
    for id in 1..=64 {
        rig.go(read(id, (id - 1) * 8, 8));
    }
    assert_eq!((rig.cache.dirty(), rig.flushes().count()), (Sectors::new(40), 0));
    assert_eq!(rig.go(read(65, 900, 40)).breakdown.transfer, Span::ZERO, "it is still there");
    let fetches = rig.fetches().count();
    rig.go(read(66, 0, 8));
    assert_eq!(rig.fetches().count(), fetches + 1, "the first line made room long ago");
}

#[test]
fn what_memory_has_of_a_line_is_newer_than_what_is_fetched() {
    let mut rig = rig(LINES);
    rig.go(write(0, 4, 4));
    // The rig knows which version each sector must have.
    rig.go(read(1, 0, 16));
    rig.go(read(2, 0, 16));
    assert_eq!(fetched(&rig), [(0, 16)]);
}

#[test]
fn a_read_of_good_sectors_does_not_fail_with_its_line() {
    let params = WriteBehindParams { read_ahead: Some(LINES), ..params() };
    let mut rig = Rig::new(&params, Place::Controller, |command| {
        let has_bad = command.first.get() <= 20 && command.end().get() > 20;
        Service { fails: has_bad && command.access == Access::Read, ..Service::takes(LATENCY) }
    });
    // What had come of it is copied first.
    let good = rig.go(read(0, 8, 10));
    assert_eq!((good.outcome, good.completed), (Outcome::Done, at(1_000 + 8 + 1_000)));
    let bad = rig.go(read(1, 18, 4));
    assert_eq!((bad.outcome, bad.breakdown.total()), (Outcome::TimedOut, us(2_000)));
}

#[test]
fn places_are_used_again() {
    let params = WriteBehindParams {
        size: Sectors::new(200),
        limit: Sectors::new(100),
        background: Sectors::ZERO,
        stripe: Some(Sectors::new(48)),
        stripe_wait: us(100),
        read_ahead: Some(LINES),
        ..params()
    };
    let mut rig = Rig::new(&params, Place::Controller, |_| Service::takes(us(50)));
    for id in 0..20_000 {
        let first = id * 7_919 % 1_000;
        rig.go(if id % 3 == 0 { read(id, first, 1 + id % 21) } else { write(id, first, 1 + id % 23) });
    }
    // Of memory that holds 200 sectors, in rows of 48 and lines of 16.
    assert!(rig.cache.places().iter().sum::<usize>() < 60, "{:?}", rig.cache.places());
}
