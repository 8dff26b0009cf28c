//! When written data go to the media, in what order, and who waits meanwhile.
//!
//! A destaging that starts at an instant lands when a write past any cache lands for which the arm starts at that instant:
//! so instants of landing tell when the arm started.
use super::rig::{Rig, cache, cached, keeping, response};
use crate::common::{TRACK, TURN, ms, us};
use drivelab_core::Access::{Flush, Read, Write};
use drivelab_core::Outcome;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, LinkParams, WriteData};
use drivelab_core::trace::Served;
use drivelab_units::{Instant, Lba, Rate, Sectors, Share, Span};

/// A drive that keeps written data like this.
fn writing(write_back: WriteBackParams) -> DriveParams {
    cached(CacheParams { write_back: Some(write_back), ..cache(1_000, 8) })
}

fn at(time: Span) -> Instant {
    Instant::ZERO + time
}

/// When writes of 8 sectors land for which the arm starts at these instants, with no cache and nothing else to do.
fn landings(starts: &[(Instant, u64)]) -> Vec<(Instant, u64)> {
    let firmware = FirmwareParams::default();
    let mut rig = Rig::new(&DriveParams { firmware, cache: None, ..writing(keeping(100, 4)) });
    for &(start, first) in starts {
        rig.run_to(start);
        rig.send(Write, first, 8);
    }
    rig.wait(ms(100));
    rig.landed.iter().map(|landed| (landed.at, landed.first)).collect()
}

fn landed(rig: &Rig) -> Vec<(Instant, u64)> {
    rig.landed.iter().map(|landed| (landed.at, landed.first)).collect()
}

#[test]
fn an_idle_drive_takes_its_data_to_the_media_when_it_has_been_idle_for_so_long() {
    let mut rig = Rig::new(&writing(WriteBackParams { idle: ms(30), ..keeping(100, 4) }));
    rig.run_to(at(ms(100)));
    rig.send(Write, 6_000, 8);
    rig.run_to(at(ms(120)));
    // What the drive takes up counts as something to do, even if the buffer answers it.
    rig.send(Read, 6_000, 8);
    rig.run_to(at(ms(300)));
    assert_eq!(rig.ended[1].trace.served, Served::Buffered);
    assert_eq!(landed(&rig), landings(&[(at(ms(150)), 6_000)]));
}

#[test]
fn idleness_counts_from_the_end_of_what_the_arm_did() {
    let mut rig = Rig::new(&writing(WriteBackParams { idle: ms(30), ..keeping(100, 4) }));
    rig.send(Write, 6_000, 8);
    let read = rig.go(Read, 300_000, 8);
    rig.run_to(at(ms(300)));
    let start = read.trace.ended + ms(30);
    // From the read's cylinder, as from any other: all seeks take the same.
    assert_eq!(landed(&rig), landings(&[(start, 6_000)]));
}

#[test]
fn data_that_are_old_enough_go_although_the_drive_has_work() {
    let aging = WriteBackParams { age: Some(ms(40)), ..keeping(100, 4) };
    let mut rig = Rig::new(&writing(aging));
    rig.run_to(at(ms(100)));
    rig.send(Write, 6_000, 8);
    rig.run_to(at(ms(400)));
    assert_eq!(landed(&rig), landings(&[(at(ms(140)), 6_000)]));
}

/// An arm that has always something to do leaves that when data are old, and not before.
#[test]
fn old_data_take_their_turn_among_reads() {
    for (age, expected) in [(Some(ms(40)), true), (None, false)] {
        let mut rig = Rig::new(&writing(WriteBackParams { age, ..keeping(100, 4) }));
        rig.send(Write, 6_000, 8);
        for read in 0..20 {
            rig.send(Read, 3_000 * (read + 10), 8);
            rig.wait(ms(4));
        }
        assert_eq!(!rig.landed.is_empty(), expected, "{age:?}");
        if let Some(landed) = rig.landed.first() {
            // One read may be under way, and one more has its turn.
            let turns = Span::from_ns(2 * TURN) + ms(2);
            assert!(landed.at > at(ms(40)) && landed.at < at(ms(40)) + turns + turns, "{landed:?}");
        }
    }
}

#[test]
fn of_old_data_the_oldest_go_first() {
    let aging = WriteBackParams { age: Some(ms(40)), ..keeping(100, 8) };
    // Wherever the platter stands, the others are nearer now and then.
    for shift in (0..600).step_by(30) {
        let mut rig = Rig::new(&writing(aging));
        for first in [60_000 + shift, 90_000, 0, 120_000] {
            rig.go(Write, first, 8);
        }
        rig.run_to(at(ms(400)));
        assert_eq!(rig.landed.len(), 4);
        assert_eq!(rig.landed[0].first, 60_000 + shift, "the oldest");
    }
}

/// Data that are to go at once go when nobody else wants the arm.
#[test]
fn data_that_go_at_once_do_not_keep_the_host_waiting() {
    let mut rig = Rig::new(&writing(WriteBackParams { destage: Destage::AtOnce, ..keeping(100, 8) }));
    rig.send(Read, 0, 8);
    for write in 0..3 {
        rig.send(Write, 60_000 + 3_000 * write, 8);
    }
    for read in 1..5 {
        rig.send(Read, 9_000 * read, 8);
    }
    rig.wait(ms(200));
    let reads = rig.ended.iter().filter(|ended| ended.trace.served == Served::Chosen);
    let last = reads.map(|read| read.trace.ended).max().expect("reads");
    assert_eq!(rig.landed.len(), 3);
    assert!(rig.landed.iter().all(|landed| landed.at > last), "{:?} and {last:?}", rig.landed);
}

/// A write that would find room waits behind one that does not.
#[test]
fn writes_that_wait_for_room_are_taken_in_their_order() {
    let mut rig = Rig::new(&writing(keeping(16, 8)));
    rig.go(Write, 60_000, 8);
    // The arm is at work, so that neither goes past the cache at once.
    rig.send(Read, 300_000, 8);
    let (large, small) = (rig.send(Write, 90_000, 12), rig.send(Write, 120_000, 4));
    let (large, small) = (rig.finish(large), rig.finish(small));
    assert!(response(&large) > us(500) && response(&small) > us(500), "{large:?}, {small:?}");
}

#[test]
fn the_cache_presses_from_so_many_sectors_on() {
    let pressed = |sectors: u64| {
        let mut rig = Rig::new(&writing(WriteBackParams { press_from: Sectors::new(50), ..keeping(100, 8) }));
        rig.go(Write, 6_000, sectors);
        rig.wait(ms(100));
        !rig.landed.is_empty()
    };
    assert!(!pressed(49) && pressed(50));
}

#[test]
fn the_cache_presses_when_as_large_a_part_of_its_segments_is_taken() {
    let pressed = |runs: u64| {
        let write_back = WriteBackParams { press_from: Sectors::new(50), ..keeping(100, 4) };
        let mut rig = Rig::new(&writing(write_back));
        for run in 0..runs {
            rig.go(Write, 6_000 * (run + 1), 1);
        }
        rig.wait(ms(100));
        !rig.landed.is_empty()
    };
    assert!(!pressed(1) && pressed(2));
}

/// With writes that go to the media at once a cache changes the answer alone: also where the link brings the data late.
#[test]
fn data_that_go_at_once_land_as_without_a_cache() {
    for (rate, sectors) in [(None, 8), (Some(20_000_000), 8), (Some(20_000_000), 100), (Some(1_000_000), 300)]
    {
        let at_once = WriteBackParams { destage: Destage::AtOnce, ..keeping(500, 4) };
        let rate = rate.map(|rate| Rate::from_bytes_per_s(rate).unwrap());
        let link = LinkParams {
            rate,
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        };
        let back = DriveParams { link, ..writing(at_once) };
        let through = DriveParams { link, cache: Some(cache(1_000, 8)), ..back.clone() };
        let lands = |params: &DriveParams, wait: Span, first: u64| {
            let mut rig = Rig::new(params);
            rig.wait(wait);
            rig.send(Write, first, sectors);
            rig.wait(ms(500));
            landed(&rig)
        };
        for step in 0..40 {
            let (wait, first) = (us(333 * step), 6_000 + 17 * step);
            assert_eq!(
                lands(&back, wait, first),
                lands(&through, wait, first),
                "{sectors} at {rate:?}, {step}"
            );
        }
    }
}

#[test]
fn host_and_cache_have_the_arm_in_turn_while_both_want_it() {
    let mut rig = Rig::new(&writing(WriteBackParams { press_from: Sectors::new(1), ..keeping(100, 8) }));
    for read in 0..6 {
        rig.send(Read, 3_000 * (read + 10), 8);
    }
    for write in 0..6 {
        rig.send(Write, 60_000 + 3_000 * write, 8);
    }
    rig.wait(ms(500));
    let reads = rig.ended.iter().filter(|ended| ended.trace.served == Served::Chosen);
    let mut all: Vec<_> = reads.map(|read| (read.trace.ended, true)).collect();
    all.extend(rig.landed.iter().map(|landed| (landed.at, false)));
    all.sort_unstable();
    let kinds: Vec<bool> = all.iter().map(|(_, read)| *read).collect();
    assert_eq!(kinds, [true, false].repeat(6), "reads and destagings");
}

/// A stream whose pieces are always nearer than the write that must reach the media, which waits for one of them only.
#[test]
fn a_forced_write_waits_for_one_service_of_the_cache() {
    let mut rig = Rig::new(&writing(WriteBackParams { press_from: Sectors::new(1), ..keeping(64, 1) }));
    (0..4).for_each(|write| _ = rig.send(Write, 60_000 + 16 * write, 16));
    rig.wait(ms(1));
    let forced = rig.send_forced(Write, 3_000, 8);
    let sent = rig.now;
    let mut next = 60_064;
    let before = rig.landed.len();
    while rig.ended.iter().all(|ended| ended.id != forced) {
        assert!(rig.now - sent < ms(60), "it is served in turn: {:?}", rig.landed);
        rig.go(Write, next, 16);
        next += 16;
    }
    let own = rig.landed.iter().position(|landed| landed.first == 3_000).expect("it is on the media");
    assert!(own <= before + 2, "at most the destaging under way and one more: {:?}", rig.landed);
}

#[test]
fn the_host_does_not_wait_for_a_cache_that_empties_itself() {
    let mut rig = Rig::new(&writing(WriteBackParams { idle: ms(30), ..keeping(100, 8) }));
    for write in 0..3 {
        rig.send(Write, 60_000 + 3_000 * write, 8);
    }
    rig.run_to(at(ms(31)));
    assert!(rig.landed.is_empty(), "the first is on its way");
    let read = rig.go(Read, 3_000, 8);
    assert_eq!(rig.landed.len(), 1, "the read is next");
    assert_eq!(read.trace.chosen, rig.landed[0].at);
    // The drive must be idle as long again before it goes on; then it empties itself without a pause.
    rig.wait(ms(200));
    let first = rig.landed[1].first;
    let second = landings(&[(read.trace.ended + ms(30), first)]);
    assert_eq!(landed(&rig)[1], second[0]);
    let third = landings(&[(rig.landed[1].at, rig.landed[2].first)]);
    assert_eq!(landed(&rig)[2], third[0]);
}

#[test]
fn data_stay_until_somebody_waits_for_them() {
    let mut rig = Rig::new(&writing(keeping(100, 8)));
    for write in 0..6 {
        rig.write(60_000 + 3_000 * write, 8);
    }
    rig.wait(Span::from_s(1_000));
    assert!(rig.landed.is_empty());
    let flush = rig.flush();
    assert_eq!(rig.landed.len(), 6);
    assert_eq!(rig.landed[5].at, flush.trace.begun, "as the last one lands");
}

/// On their way is not there.
#[test]
fn a_flush_waits_for_what_is_on_its_way() {
    let mut rig = Rig::new(&writing(WriteBackParams { idle: ms(30), ..keeping(100, 8) }));
    rig.send(Write, 60_000, 8);
    rig.run_to(at(ms(30) + us(50)));
    assert!(rig.landed.is_empty());
    let flush = rig.go(Flush, 0, 0);
    assert_eq!(rig.landed.len(), 1);
    assert!(flush.completion.completed >= rig.landed[0].at);
}

#[test]
fn a_forced_read_waits_for_its_own_blocks_and_for_no_others() {
    let forced = |first: u64| {
        let mut rig = Rig::new(&writing(keeping(100, 8)));
        rig.write(60_000, 8);
        let id = rig.send_forced(Read, first, 8);
        let read = rig.finish(id);
        assert_eq!(read.trace.served, Served::Chosen);
        !rig.landed.is_empty()
    };
    assert!(forced(60_000) && forced(60_007) && forced(59_993));
    assert!(!forced(59_992) && !forced(60_008));
}

/// What a FLUSH waits for reaches the media before newer data take its place.
#[test]
fn a_write_does_not_take_the_place_of_what_a_flush_waits_for() {
    let mut rig = Rig::new(&writing(keeping(100, 8)));
    let old = [60_000, 90_000].map(|first| rig.go(Write, first, 8).id);
    let flush = rig.send(Flush, 0, 0);
    // One of the two is on its way, where nothing can reach it, and the other waits.
    let new = [60_004, 90_004].map(|first| rig.send(Write, first, 8));
    let flush = rig.finish(flush);
    let before: Vec<u64> = rig.persisted.iter().map(|(write, _)| *write).collect();
    assert!(before.len() == 2 && old.iter().all(|old| before.contains(old)), "{before:?}");
    assert_eq!(rig.landed.iter().map(|landed| landed.end - landed.first).sum::<u64>(), 16, "all of both");
    let later = new.map(|new| rig.finish(new).completion.completed);
    assert!(later.iter().any(|later| *later >= flush.trace.begun), "one had to wait");
}

#[test]
fn a_flush_waits_for_nothing_that_came_after_it() {
    let many = CacheParams { write_back: Some(keeping(1_000, 64)), ..cache(2_000, 64) };
    let mut rig = Rig::new(&cached(many));
    let old: Vec<u64> = (1..7).map(|place| rig.go(Write, 60_000 * place, 8).id).collect();
    let flush = rig.send(Flush, 0, 0);
    // Newer data beside all of them, and nearer to the arm than the next of them.
    for place in 1..7 {
        for beside in 1..4 {
            rig.send(Write, 60_000 * place + 100 * beside, 8);
        }
    }
    let flush = rig.finish(flush);
    let before = rig.persisted.iter().filter(|(_, at)| *at <= flush.completion.completed);
    let mut before: Vec<u64> = before.map(|(write, _)| *write).collect();
    before.sort_unstable();
    assert_eq!(before, old);
}

#[test]
fn a_write_waits_for_the_arm_where_the_cache_takes_none_beside_it() {
    let written = |while_busy: bool, first: u64| {
        let mut rig = Rig::new(&writing(WriteBackParams { while_busy, ..keeping(100, 8) }));
        rig.go(Write, 6_000, 8);
        let read = rig.send(Read, 300_000, 8);
        rig.wait(us(100));
        let write = rig.send(Write, first, 8);
        let (write, read) = (rig.finish(write), rig.finish(read));
        write.completion.completed > read.trace.ended
    };
    assert!(written(false, 90_000) && !written(true, 90_000));
    // What goes on behind data that wait needs no other place.
    assert!(!written(false, 6_008));
}

#[test]
fn a_write_beside_nothing_waits_for_older_data_where_it_would_need_another_segment() {
    let written = |first: u64| {
        let mut rig = Rig::new(&writing(WriteBackParams { while_busy: false, ..keeping(100, 8) }));
        rig.go(Write, 6_000, 8);
        let write = rig.go(Write, first, 8);
        (rig.landed.len(), response(&write) < ms(1))
    };
    assert_eq!(written(90_000), (1, false));
    assert_eq!(written(6_008), (0, true));
}

#[test]
fn a_write_that_finds_no_room_goes_past_the_cache_or_into_what_becomes_free() {
    let mut rig = Rig::new(&writing(keeping(16, 8)));
    rig.go(Write, 6_000, 8);
    rig.go(Write, 90_000, 8);
    let third = rig.go(Write, 150_000, 1);
    assert_eq!(third.completion.outcome, Outcome::Done);
    assert!(response(&third) > ms(1), "not at once: {third:?}");
    let [_, (_, written)] = rig.held();
    assert!(written <= 16);
}

#[test]
fn hits_wait_for_the_arm_where_the_buffer_gives_none_beside_it() {
    let hit = |hits_while_busy: bool| {
        let write_back = Some(WriteBackParams { idle: ms(200), ..keeping(100, 8) });
        let params = cached(CacheParams { hits_while_busy, write_back, ..cache(1_000, 8) });
        let mut rig = Rig::new(&params);
        rig.read(0, 8);
        let write = rig.go(Write, 60_000, 8);
        // Into the destaging that begins 200 ms behind the write.
        rig.run_to(write.completion.submitted + ms(200) + us(100));
        assert!(rig.landed.is_empty());
        let read = rig.go(Read, 0, 8);
        assert_eq!(read.trace.served, Served::Buffered);
        (rig.landed.len(), read.completion.completed)
    };
    let ((none, beside), (one, behind)) = (hit(true), hit(false));
    assert_eq!((none, one), (0, 1));
    assert!(beside < behind);
}

#[test]
fn what_a_cache_has_taken_can_be_read_where_the_media_could_not_be() {
    let unreadable = vec![(Lba::new(6_003), Sectors::new(1))];
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: ms(1) };
    let mut rig = Rig::new(&DriveParams { faults: Some(faults), ..writing(keeping(100, 8)) });
    assert_eq!(rig.go(Read, 6_000, 8).completion.outcome, Outcome::MediaError);
    rig.write(6_000, 8);
    let read = rig.go(Read, 6_000, 8);
    assert_eq!((read.completion.outcome, read.trace.served), (Outcome::Done, Served::Buffered));
    rig.flush();
    let read = rig.go(Read, 5_999, 8);
    assert_eq!((read.completion.outcome, read.trace.served), (Outcome::Done, Served::Chosen));
}

/// Writes of one track's sectors, so that only the angle tells them apart: the nearest in angle goes first.
#[test]
fn the_arm_takes_what_it_reaches_first() {
    let mut rig = Rig::new(&writing(keeping(1_000, 8)));
    for write in [5, 2, 0, 3, 1, 4] {
        rig.go(Write, 100 * write, 8);
    }
    rig.flush();
    let order: Vec<u64> = rig.landed.iter().map(|landed| landed.first / 100).collect();
    let first = order[0];
    let turned: Vec<u64> = (0..6).map(|step| (first + step) % 6).collect();
    assert_eq!(order, turned, "one turn of {TRACK} sectors");
    assert!(rig.landed[5].at - rig.landed[0].at < Span::from_ns(TURN));
}

/// A stream of small writes beside reads all over the drive, with one segment: written from the middle, its runs would
/// leave pieces that each keep one. From their beginning each destaging writes 500 sectors or nearly as many, and no
/// write waits for more than a few services of the arm.
#[test]
fn a_stream_beside_reads_is_written_in_whole_runs() {
    let write_back =
        WriteBackParams { press_from: Sectors::new(1), run: Sectors::new(500), ..keeping(4_000, 1) };
    let mut rig = Rig::new(&cached(CacheParams { write_back: Some(write_back), ..cache(8_000, 8) }));
    let (mut longest, mut next, reads) = (Span::ZERO, 0, 300);
    for step in 0..reads {
        let read = rig.send(Read, 60_000 + 97 * (step * 7_919 % 5_000), 8);
        while rig.ended.iter().all(|ended| ended.id != read) {
            longest = longest.max(response(&rig.go(Write, next, 8)));
            next += 8;
        }
    }
    let destaged: Vec<u64> = rig.landed.iter().map(|landed| landed.end - landed.first).collect();
    let mean = destaged.iter().sum::<u64>() / destaged.len() as u64;
    assert!(mean > 450, "{mean} sectors at a time");
    assert!(longest < Span::from_ns(4 * TURN) + ms(4), "{longest}");
}
