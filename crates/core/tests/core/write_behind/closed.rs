//! Closed forms: what a burst, a steady stream, a FLUSH and a read take, and which data go when.
use super::lines::LINES;
use super::rig::{Rig, Sent, Service};
use super::{at, flush, params, read, us, write};
use drivelab_core::command::Breakdown;
use drivelab_core::storage::write_behind::params::{
    FlushOrder, ReadAhead, WriteBehindError, WriteBehindParams,
};
use drivelab_core::storage::write_behind::{Place, WriteBehind};
use drivelab_core::{Command, Completion};
use drivelab_units::{Instant, Sectors, Span};

pub const HOST: Place = Place::Host(0);

/// A device that takes 100 us for a command and 10 us for each of its sectors, one command after the other.
fn rig(params: &WriteBehindParams) -> Rig {
    Rig::serial(params, HOST, |command| us(100 + 10 * command.count.get()))
}

/// When so many sequential writes of 8 sectors are answered, one outstanding.
fn stream(rig: &mut Rig, writes: u64) -> Vec<Instant> {
    (0..writes).map(|i| rig.go(write(i, i * 8, 8)).completed).collect()
}

/// First sector and size of each flush.
pub fn flushed(rig: &Rig) -> Vec<(u64, u64)> {
    let place = |sent: &Sent| (sent.command.first.get(), sent.command.count.get());
    rig.flushes().map(place).collect()
}

fn overhead(us: u64) -> Breakdown {
    Breakdown { overhead: Span::from_us(us), ..Breakdown::default() }
}

#[test]
fn a_burst_runs_at_the_rate_of_memory_up_to_the_limit() {
    let mut rig = rig(&params());
    let answered = stream(&mut rig, 117);
    for (i, &answered) in (0..).zip(&answered[..100]) {
        assert_eq!(answered, at(8 * (i + 1)));
    }
    // From then on each flush of 64 sectors, asked for by who waits, makes room for eight writes.
    for (round, eight) in (0..).zip(answered[100..116].chunks(8)) {
        let flushed = 800 + (740 + 64) * round + 740;
        for (i, &answered) in (1..).zip(eight) {
            assert_eq!(answered, at(flushed + 8 * i));
        }
    }
    assert_eq!(flushed(&rig), [(0, 64), (64, 64), (128, 64)]);
    assert_eq!(rig.most_dirty, 800);
}

#[test]
fn a_stream_runs_at_the_rate_of_the_device_when_memory_is_full() {
    let mut rig = rig(&WriteBehindParams { background: Sectors::ZERO, ..params() });
    let answered = stream(&mut rig, 800);
    // Nothing is held back: the device has work from the first write on, and soon a full flush each time.
    let flushed = flushed(&rig);
    assert_eq!(flushed[..2], [(0, 8), (8, 64)]);
    assert!(flushed[1..].iter().all(|&(_, count)| count == 64));
    // The first flush has made room for one write more when memory is full at 808 us. The second one lands at 928 us, and
    // from then on each makes room for eight.
    assert_eq!((answered[100], answered[101]), (at(808), at(928 + 8)));
    for (one, other) in answered[600..].iter().zip(&answered[608..]) {
        assert_eq!(*other - *one, us(740), "{one:?}");
    }
}

#[test]
fn the_device_is_kept_as_busy_as_it_may_be() {
    let params = WriteBehindParams { background: Sectors::ZERO, outstanding: 3, ..params() };
    let mut rig = Rig::new(&params, HOST, |_| Service::takes(us(300)));
    rig.arrive(at(0), write(0, 0, 500));
    rig.run();
    let begins: Vec<u64> = rig.flushes().map(|sent| sent.at.as_ns() / 1_000).collect();
    assert_eq!(begins, [500, 500, 500, 800, 800, 800, 1_100, 1_100]);
}

#[test]
fn data_go_above_the_background_level_and_no_longer() {
    let mut rig = rig(&WriteBehindParams { background: Sectors::new(100), ..params() });
    // Scattered, so that no two go together: with the thirteenth there are 104.
    for i in 0..20 {
        rig.go(write(i, i * 16, 8));
    }
    rig.run();
    let sent: Vec<Instant> = rig.flushes().map(|sent| sent.at).collect();
    assert_eq!(sent[0], at(13 * 8));
    // 160 sectors have come, and 100 may stay.
    assert_eq!((sent.len(), rig.cache.dirty()), (8, Sectors::new(96)));
}

#[test]
fn data_go_when_they_have_waited_long_enough_and_rewriting_does_not_make_them_younger() {
    let mut rig = rig(&WriteBehindParams { age: Some(us(30_000)), ..params() });
    rig.arrive(at(0), write(0, 100, 8));
    rig.arrive(at(10_000), write(1, 300, 8));
    rig.arrive(at(20_000), write(2, 104, 8));
    rig.run();
    assert_eq!(flushed(&rig), [(100, 12), (300, 8)]);
    // Each was taken when its copy was done.
    assert_eq!(rig.flushes().map(|sent| sent.at).collect::<Vec<_>>(), [at(30_008), at(40_008)]);
}

#[test]
fn flushes_go_upward_or_by_age() {
    for (order, places) in [
        (FlushOrder::Address, [(300, 8), (500, 8), (700, 8), (100, 8)]),
        (FlushOrder::Age, [(300, 8), (500, 8), (100, 8), (700, 8)]),
    ] {
        let mut rig = rig(&WriteBehindParams { order, ..params() });
        for (id, first) in (0..).zip([300, 500, 100, 700]) {
            // The first is on its way when the others come.
            rig.go(write(id, first, 8));
            if id == 0 {
                rig.send(flush(9));
            }
        }
        rig.send(flush(10));
        rig.run();
        assert_eq!(flushed(&rig), places, "{order:?}");
    }
}

#[test]
fn neighbours_go_together_up_to_the_largest_request() {
    let mut rig = rig(&WriteBehindParams { request: Sectors::new(20), ..params() });
    for (id, first) in (0..).zip([30, 0, 8, 22, 16, 60]) {
        rig.go(write(id, first, 8));
    }
    rig.go(flush(9));
    // 0 to 38 without a gap, then 60 to 68.
    assert_eq!(flushed(&rig), [(0, 20), (20, 18), (60, 8)]);
    let pieces = |sent: &Sent| sent.pieces.iter().map(|piece| piece.write).collect::<Vec<_>>();
    assert_eq!(rig.flushes().map(pieces).collect::<Vec<_>>(), [vec![1, 2, 4], vec![4, 3, 0], vec![5]]);
}

#[test]
fn copies_are_made_one_after_the_other() {
    let mut rig = rig(&WriteBehindParams { overhead: us(3), ..params() });
    for id in 0..3 {
        rig.arrive(at(5), write(id, id * 100, 8));
    }
    rig.run();
    let parts = |answer: &Completion| (answer.completed, answer.breakdown);
    let waited = |queue| Breakdown { queue: us(queue), ..overhead(11) };
    let expected = [(at(16), overhead(11)), (at(27), waited(11)), (at(38), waited(22))];
    assert_eq!(rig.answers.iter().map(parts).collect::<Vec<_>>(), expected);
}

#[test]
fn what_waits_for_room_waits_in_the_queue() {
    let ten = Sectors::new(10);
    let mut rig = rig(&WriteBehindParams { limit: ten, background: ten, ..params() });
    rig.go(write(0, 0, 8));
    let answer = rig.go(write(1, 100, 8));
    // 180 us for the flush, 8 us for the copy.
    assert_eq!(answer.breakdown, Breakdown { queue: us(180), ..overhead(8) });
}

#[test]
fn a_flush_waits_for_what_came_before_it_and_goes_on() {
    let mut rig = rig(&params());
    rig.go(write(0, 0, 8));
    rig.go(write(1, 100, 8));
    rig.arrive(at(16), flush(2));
    rig.arrive(at(17), write(3, 200, 8));
    let answer = rig.until_answered(2);
    // Two flushes of 180 us, and the FLUSH itself.
    assert_eq!(answer.completed, at(16 + 360 + 100));
    assert_eq!(answer.breakdown, Breakdown { queue: us(360), transfer: us(100), ..Breakdown::default() });
    assert_eq!(rig.cache.dirty(), Sectors::new(8), "what came later waits on");
    let again = rig.go(flush(4)).breakdown;
    assert_eq!((again.queue, again.transfer), (us(180), us(100)));
    assert_eq!(rig.go(flush(5)).breakdown.queue, Span::ZERO, "nothing is left to flush");
    assert!(rig.flushes().all(|sent| sent.command.synchronous), "somebody waits");
}

#[test]
fn what_comes_in_meanwhile_keeps_no_flush_waiting() {
    let mut rig = rig(&params());
    rig.go(write(0, 100, 8));
    rig.go(write(1, 200, 8));
    rig.send(flush(2));
    // The first is on its way, and this one lies between it and the second.
    rig.go(write(3, 150, 8));
    rig.until_answered(2);
    assert_eq!(flushed(&rig), [(100, 8), (200, 8)]);
}

#[test]
fn a_battery_answers_a_flush_at_once_and_keeps_what_is_forced() {
    let mut rig = rig(&WriteBehindParams { battery: true, overhead: us(2), ..params() });
    assert_eq!(rig.go(write(0, 0, 8)).breakdown, overhead(10));
    assert_eq!(rig.go(Command { force_unit_access: true, ..write(1, 50, 8) }).breakdown, overhead(10));
    assert_eq!(rig.go(flush(2)).breakdown, overhead(2));
    assert_eq!(rig.go(Command { force_unit_access: true, ..read(3, 50, 8) }).breakdown, overhead(10));
    assert!(rig.sent.is_empty() && rig.cache.volatile().next().is_none());
    assert_eq!(rig.cache.dirty(), Sectors::new(16));
}

#[test]
fn reads_are_answered_from_memory_while_it_has_all_of_them() {
    for keeps_reads in [false, true] {
        let mut rig = rig(&WriteBehindParams { keeps_reads, ..params() });
        rig.go(write(0, 0, 8));
        rig.go(write(1, 8, 8));
        assert_eq!(rig.go(read(2, 4, 8)).breakdown, overhead(8));
        // Half of it is in memory: the device gives all of it.
        assert_eq!(rig.go(read(3, 12, 8)).breakdown.transfer, us(180));
        // Then memory has the other half too, if it keeps what was read.
        let again = rig.go(read(4, 12, 8)).breakdown;
        assert_eq!(again == overhead(8), keeps_reads, "{again:?}");
        rig.go(flush(5));
        let flushed = rig.go(read(6, 0, 8)).breakdown;
        assert_eq!(flushed == overhead(8), keeps_reads, "{flushed:?}");
    }
}

#[test]
fn a_read_may_be_larger_than_what_may_be_dirty() {
    let few = Sectors::new(8);
    let mut rig = rig(&WriteBehindParams { limit: few, background: few, keeps_reads: true, ..params() });
    assert_eq!(rig.go(read(0, 0, 100)).breakdown.transfer, us(1_100));
    assert_eq!(rig.go(read(1, 0, 100)).breakdown, overhead(100));
}

#[test]
fn nothing_is_allocated_once_there_is_enough() {
    let mut rig = rig(&WriteBehindParams { background: Sectors::new(300), keeps_reads: true, ..params() });
    let mut places = Vec::new();
    for id in 0..6_000 {
        // Rewrites, pieces and gaps of every kind, over twice the memory.
        let first = id * 7_919 % 2_000;
        rig.go(if id % 3 == 0 { read(id, first, 1 + id % 11) } else { write(id, first, 1 + id % 13) });
        places.push(rig.cache.places());
    }
    assert!(places[1_999].iter().all(|&places| places > 0));
    assert_eq!(places[1_999], places[5_999]);
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let size = Sectors::new(24);
    let mut rig = rig(&WriteBehindParams {
        size,
        limit: Sectors::new(8),
        background: Sectors::ZERO,
        keeps_reads: true,
        ..params()
    });
    for id in 0..3 {
        rig.go(read(id, id * 100, 8));
    }
    rig.go(read(3, 0, 8));
    // Room for a write: the read at 100 goes, then the one at 200.
    rig.go(write(4, 300, 8));
    rig.run();
    let is_hit = |rig: &mut Rig, id, first| rig.go(read(id, first, 8)).breakdown == overhead(8);
    assert!(is_hit(&mut rig, 5, 0) && is_hit(&mut rig, 6, 200) && is_hit(&mut rig, 7, 300));
    assert!(!is_hit(&mut rig, 8, 100));
    assert!(!is_hit(&mut rig, 9, 0), "it was used before 200 and 300");
}

#[test]
fn rewriting_what_waits_costs_no_flush() {
    let mut rig = rig(&params());
    for id in 0..100 {
        rig.go(write(id, 0, 8));
    }
    assert_eq!(rig.cache.dirty(), Sectors::new(8));
    rig.go(flush(100));
    assert_eq!(flushed(&rig), [(0, 8)]);
    assert_eq!(rig.flushes().next().unwrap().pieces[0].write, 99);
}

#[test]
fn what_is_rewritten_on_its_way_goes_again_and_not_before_the_older_data_have_come() {
    let mut rig = rig(&WriteBehindParams { background: Sectors::ZERO, outstanding: 4, ..params() });
    rig.arrive(at(0), write(0, 0, 8));
    rig.arrive(at(10), write(1, 4, 8));
    rig.arrive(at(10), write(2, 100, 8));
    rig.run_until(at(100));
    // The first is on its way: what covers it waits behind it, and what does not goes at once.
    let dirty: Vec<(u64, u64, u64)> =
        rig.cache.volatile().map(|piece| (piece.write, piece.first.get(), piece.count.get())).collect();
    assert_eq!(dirty, [(1, 4, 8), (0, 0, 8), (2, 100, 8)]);
    rig.run();
    let sent: Vec<(u64, Instant)> = rig.flushes().map(|sent| (sent.command.first.get(), sent.at)).collect();
    assert_eq!(sent, [(0, at(8)), (100, at(26)), (4, at(188))]);
}

#[test]
fn what_is_left_of_data_that_had_to_wait_goes_as_soon_as_it_may() {
    let mut rig = rig(&WriteBehindParams { background: Sectors::ZERO, outstanding: 4, ..params() });
    rig.arrive(at(0), write(0, 0, 8));
    // It reaches over the end of what is on its way, until a newer one cuts it in two.
    rig.arrive(at(10), write(1, 4, 16));
    rig.arrive(at(30), write(2, 8, 4));
    rig.run();
    let sent: Vec<(u64, u64, Instant)> =
        rig.flushes().map(|sent| (sent.command.first.get(), sent.command.count.get(), sent.at)).collect();
    assert_eq!(sent, [(0, 8, at(8)), (8, 12, at(34)), (4, 4, at(188))]);
}

#[test]
fn what_must_not_stay_in_memory_goes_through() {
    let direct = |command| Command { direct: true, ..command };
    let forced = |command| Command { force_unit_access: true, ..command };
    for (place, command, through) in [
        (HOST, direct(write(0, 0, 8)), true),
        (Place::Controller, direct(write(0, 0, 8)), false),
        (HOST, forced(write(0, 0, 8)), true),
        (Place::Controller, forced(write(0, 0, 8)), true),
        (HOST, Command { synchronous: true, ..write(0, 0, 8) }, false),
        (HOST, write(0, 0, 801), true),
        (HOST, write(0, 0, 800), false),
    ] {
        let mut rig = Rig::serial(&params(), place, |_| us(500));
        let breakdown = rig.go(command).breakdown;
        assert_eq!(breakdown.transfer == us(500), through, "{command:?}");
        assert_eq!(rig.flushes().count(), 0);
    }
}

#[test]
fn a_read_past_memory_waits_for_its_own_blocks_alone() {
    let mut rig = rig(&params());
    for id in 0..10 {
        rig.go(write(id, id * 50, 8));
    }
    let answer = rig.go(Command { direct: true, ..read(10, 100, 8) });
    assert_eq!(answer.breakdown, Breakdown { queue: us(180), transfer: us(180), ..Breakdown::default() });
    assert_eq!(flushed(&rig), [(100, 8)]);
    let answer = rig.go(Command { direct: true, ..read(11, 600, 8) });
    assert_eq!(answer.breakdown.queue, Span::ZERO);
}

#[test]
fn a_write_past_memory_takes_the_place_of_what_waits_there() {
    let mut rig = rig(&params());
    rig.go(write(0, 0, 8));
    rig.send(Command { direct: true, ..write(1, 4, 8) });
    // It comes while the other one is on its way, and waits for it.
    rig.arrive(rig.now + us(50), Command { direct: true, ..write(2, 8, 8) });
    rig.run();
    let sent: Vec<(u64, Instant)> = rig.sent.iter().map(|sent| (sent.command.id, sent.at)).collect();
    assert_eq!(sent, [(1, at(8)), (2, at(8 + 180))]);
    assert_eq!(rig.cache.dirty(), Sectors::new(4), "half of the first one is left");
    rig.go(flush(3));
    assert_eq!(flushed(&rig), [(0, 4)]);
}

#[test]
fn a_host_flushes_in_its_own_name() {
    let id = |place| {
        let mut rig = Rig::new(&params(), place, |_| Service::takes(us(1)));
        rig.go(Command { initiator: 3, ..write(0, 0, 8) });
        rig.go(Command { initiator: 3, ..flush(1) });
        rig.flushes().next().map(|sent| (sent.command.initiator, sent.command.id)).unwrap()
    };
    assert_eq!(id(Place::Host(3)).0, 3);
    assert_eq!(id(Place::Controller).0, 0);
    assert_ne!(id(Place::Host(0)).1, id(Place::Controller).1, "two caches never use the same number");
    assert!(id(Place::Host(u16::MAX)).1 < 1 << 53);
}

#[test]
fn writes_through_are_done_when_the_device_has_done_them_and_leave_nothing_to_flush() {
    for battery in [false, true] {
        let params = WriteBehindParams { write_through: true, keeps_reads: true, battery, ..params() };
        let mut rig = Rig::serial(&params, Place::Controller, |command| us(100 + 10 * command.count.get()));
        assert_eq!(rig.go(read(0, 0, 16)).breakdown.transfer, us(260));
        assert_eq!(rig.go(read(1, 4, 8)).breakdown, overhead(8));
        assert_eq!(rig.go(write(2, 4, 8)).breakdown.transfer, us(180));
        assert_eq!(rig.cache.dirty(), Sectors::ZERO);
        // What was kept of the blocks is old; what lies beside them is not.
        assert_eq!(rig.go(read(3, 0, 4)).breakdown, overhead(4));
        assert_eq!(rig.go(read(4, 4, 8)).breakdown.transfer, us(180));
        // The device may have a cache of its own, which no battery here keeps.
        assert_eq!(rig.go(flush(5)).breakdown.transfer, us(100));
        let forced = Command { force_unit_access: true, ..write(6, 4, 8) };
        rig.go(forced);
        assert!(rig.sent.last().is_some_and(|sent| sent.command.force_unit_access));
        assert_eq!(rig.flushes().count(), 0);
    }
}

#[test]
fn parameters_that_contradict_each_other_are_refused() {
    let check = |change: fn(&mut WriteBehindParams)| {
        let mut params = params();
        change(&mut params);
        params.check()
    };
    assert_eq!(check(|_| ()), Ok(()));
    for (change, error) in [
        ((|params| params.limit = Sectors::ZERO) as fn(&mut WriteBehindParams), WriteBehindError::Limit),
        (|params| params.limit = Sectors::new(1_001), WriteBehindError::Limit),
        (|params| params.background = Sectors::new(801), WriteBehindError::Background),
        (|params| params.request = Sectors::ZERO, WriteBehindError::Request),
        (|params| params.outstanding = 0, WriteBehindError::Outstanding),
        (|params| params.outstanding = 4_097, WriteBehindError::Outstanding),
        (|params| params.overhead = Span::from_s(11), WriteBehindError::Overhead),
        (|params| params.age = Some(Span::from_s(1_000_001)), WriteBehindError::Age),
        (|params| params.stripe = Some(Sectors::ZERO), WriteBehindError::Stripe),
        (|params| params.stripe_wait = Span::from_s(1_000_001), WriteBehindError::StripeWait),
        (
            |params| params.read_ahead = Some(ReadAhead { unit: Sectors::ZERO, ..LINES }),
            WriteBehindError::Line,
        ),
        (
            |params| params.read_ahead = Some(ReadAhead { unit: Sectors::new(1_001), ..LINES }),
            WriteBehindError::Line,
        ),
        (
            |params| params.read_ahead = Some(ReadAhead { window: Sectors::new(1_001), ..LINES }),
            WriteBehindError::Window,
        ),
        (|params| params.read_ahead = Some(ReadAhead { outstanding: 0, ..LINES }), WriteBehindError::Lines),
        (|params| params.read_ahead = Some(ReadAhead { after: 0, ..LINES }), WriteBehindError::Streams),
        (|params| params.read_ahead = Some(ReadAhead { streams: 257, ..LINES }), WriteBehindError::Streams),
    ] {
        assert_eq!(check(change), Err(error));
    }
}

#[test]
#[should_panic(expected = "at least one sector")]
fn a_cache_is_not_built_from_them() {
    WriteBehind::new(&WriteBehindParams { request: Sectors::ZERO, ..params() }, HOST);
}
