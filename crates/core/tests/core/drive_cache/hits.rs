//! What a read finds, and when: to the sector and to the nanosecond.
use super::rig::{Rig, cache, cached, keeping};
use crate::common::{ms, us};
use drivelab_core::Access::{Read, Write};
use drivelab_core::storage::drive::cache::params::{CacheParams, Reach, ReadAheadParams};
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, LinkParams, WriteData};
use drivelab_core::trace::Served;
use drivelab_units::{Instant, Rate, Sectors, Span};

fn reading_on(limit: u64, with: impl Fn(ReadAheadParams) -> ReadAheadParams) -> CacheParams {
    let plain = cache(10_000, 10);
    let read_ahead = ReadAheadParams { reach: Reach::Limit, limit: Sectors::new(limit), ..plain.read_ahead };
    CacheParams { read_ahead: with(read_ahead), ..plain }
}

/// When a read of a drive without a cache ends, for which the arm starts from cylinder 0 at this instant.
fn fresh(start: Instant, first: u64, count: u64) -> Instant {
    let firmware = FirmwareParams::default();
    let mut rig = Rig::new(&DriveParams { firmware, cache: None, ..cached(cache(10, 1)) });
    rig.run_to(start);
    rig.go(Read, first, count).trace.ended
}

#[test]
fn a_head_that_has_stopped_waits_until_its_block_comes_round() {
    for pause in 0..20 {
        let mut rig = Rig::new(&cached(reading_on(100, |params| params)));
        rig.read(0, 8);
        rig.wait(us(700 * pause));
        let (submitted, read) = (rig.now, rig.go(Read, 108, 1));
        assert_eq!(read.trace.served, Served::Met);
        // Its way to the block began when the read came.
        assert_eq!(read.trace.ended, fresh(submitted, 108, 1), "{pause}");
    }
}

/// A sector takes 10 us. The arm is called away 5 us into one.
#[test]
fn a_command_waits_until_the_sector_under_the_head_has_passed() {
    let overhead = |ends_sector: bool, into: Span| {
        let cache = reading_on(100, |params| ReadAheadParams { ends_sector, ..params });
        let params = DriveParams { firmware: FirmwareParams::default(), ..cached(cache) };
        let mut rig = Rig::new(&params);
        rig.go(Read, 0, 8);
        rig.wait(us(100) + into);
        rig.go(Read, 60_000, 8).completion.breakdown.overhead
    };
    assert_eq!(overhead(true, us(5)), us(5));
    assert_eq!(overhead(true, us(2)), us(8));
    assert_eq!(overhead(false, us(5)), Span::ZERO);
    // Once it has read all that it was to, nothing passes that it waits for.
    assert_eq!(overhead(true, ms(20)), Span::ZERO);
}

#[test]
fn the_buffer_has_what_had_passed_when_the_arm_was_called_away() {
    for sectors in [1, 7, 40, 99] {
        let kept = |count: u64, late: Span| {
            let params = DriveParams {
                firmware: FirmwareParams::default(),
                ..cached(reading_on(100, |params| params))
            };
            let mut rig = Rig::new(&params);
            rig.go(Read, 0, 8);
            rig.wait(us(10 * sectors) + late);
            rig.go(Read, 60_000, 8);
            rig.go(Read, 0, 8 + count).trace.served == Served::Buffered
        };
        assert!(kept(sectors, Span::ZERO) && kept(sectors, us(9)), "{sectors}");
        assert!(!kept(sectors + 1, us(9)), "{sectors}: too many");
    }
}

/// Two segments have the beginning of a read: the arm fetches what neither of them has.
#[test]
fn of_two_segments_with_the_beginning_of_a_read_the_longer_one_counts() {
    for (first, second) in [((8, 16), (0, 12)), ((8, 10), (0, 20))] {
        let mut rig = Rig::new(&cached(cache(1_000, 8)));
        for (first, count) in [first, second] {
            assert_eq!(rig.read(first, count), Served::Chosen);
        }
        // The head is called away from behind the second one.
        rig.read(60_000, 8);
        let there = (first.0 + first.1).max(second.0 + second.1);
        let read = rig.go(Read, 9, 21);
        assert_eq!(read.trace.served, Served::Chosen);
        assert_eq!(read.completion.breakdown.transfer, us(10 * (30 - there)));
    }
}

#[test]
fn a_segment_of_fixed_size_has_the_last_blocks_that_passed() {
    let served = |passed: u64| {
        let cache = reading_on(300, |params| params);
        let cache = CacheParams { size: Sectors::new(1_000), ..cache };
        let params = DriveParams { firmware: FirmwareParams::default(), ..cached(cache) };
        let mut rig = Rig::new(&params);
        rig.go(Read, 0, 8);
        rig.wait(us(10 * (passed - 8)));
        rig.go(Read, 0, 8).trace.served
    };
    // A segment has 100 sectors.
    assert_eq!((served(50), served(100)), (Served::Buffered, Served::Buffered));
    assert_ne!(served(101), Served::Buffered);
}

/// The buffer gives up what the head has just read on behind: the arm is not idle all the same.
#[test]
fn a_hit_makes_only_an_idle_head_read_on() {
    for (takes_the_heads_segment, held) in [(true, 108), (false, 2 * 108 + 50)] {
        let read_ahead = reading_on(100, |params| ReadAheadParams { on_hit: true, ..params }).read_ahead;
        let write_back = Some(keeping(100, 4));
        let mut rig = Rig::new(&cached(CacheParams { read_ahead, write_back, ..cache(10_000, 10) }));
        rig.read(6_000, 8);
        if takes_the_heads_segment {
            rig.read(0, 8);
            rig.write(0, 4);
        } else {
            // The arm leaves its segment for a write past the cache, and is idle then.
            rig.read(0, 8);
            let id = rig.send_forced(Write, 60_000, 8);
            rig.finish(id);
        }
        assert_eq!(rig.read(6_050, 8), Served::Buffered);
        assert_eq!(rig.held()[0].1, held, "{takes_the_heads_segment}");
    }
}

/// At 5.12 MB/s a sector takes 100 us on the link.
#[test]
fn written_data_are_there_once_the_link_has_brought_them() {
    let served = |wait: Span| {
        let link = LinkParams {
            rate: Rate::from_bytes_per_s(5_120_000),
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        };
        let cache = CacheParams { write_back: Some(keeping(100, 4)), ..cache(1_000, 8) };
        let mut rig = Rig::new(&DriveParams { link, ..cached(cache) });
        let write = rig.send(Write, 6_000, 8);
        rig.wait(wait);
        let read = rig.send(Read, 6_000, 8);
        let (write, read) = (rig.finish(write), rig.finish(read));
        assert!(write.completion.completed > write.trace.begun);
        read.trace.served
    };
    // 50 us to take it up, 800 us for the data.
    assert_ne!(served(us(100)), Served::Buffered);
    assert_ne!(served(us(849)), Served::Buffered);
    assert_eq!(served(us(850)), Served::Buffered);
}

#[test]
fn written_data_are_there_while_they_are_on_their_way_to_the_media() {
    let cache = CacheParams { write_back: Some(keeping(100, 4)), keeps_written: false, ..cache(1_000, 8) };
    let mut rig = Rig::new(&cached(cache));
    rig.write(60_000, 8);
    rig.write(90_000, 8);
    rig.send(drivelab_core::Access::Flush, 0, 0);
    rig.wait(us(300));
    assert!(rig.landed.is_empty());
    for first in [60_000, 90_000] {
        let read = rig.go(Read, first, 8);
        assert_eq!(read.trace.served, Served::Buffered, "{first}");
    }
    rig.wait(ms(100));
    assert_eq!(rig.held(), [(0, 0), (0, 0)]);
    assert_eq!(rig.read(60_000, 8), Served::Chosen, "the drive does not keep them");
}

/// More than a few segments are kept in a tree: whatever their number, the same reads are hits.
#[test]
fn any_number_of_segments_is_searched_alike() {
    for segments in [3, 64, 65, 200] {
        let mut rig = Rig::new(&cached(cache(8 * segments, segments as u32)));
        let place = |read: u64| 600 * ((read * 37) % 1_000) % 600_000;
        for read in 0..2 * segments {
            assert_eq!(rig.read(place(read), 8), Served::Chosen, "{read} of {segments}");
        }
        assert_eq!(rig.held(), [(segments as u32, 8 * segments), (0, 0)]);
        for read in segments..2 * segments {
            assert_eq!(rig.read(place(read) + 1, 7), Served::Buffered, "{read} of {segments}");
        }
        // A write takes its own blocks away and nothing else.
        for read in segments..2 * segments {
            rig.write(place(read) + 7, 1);
            let left = (2 * segments - read - 1) as u32;
            assert_eq!(rig.held()[0].0, left, "{read} of {segments}");
        }
    }
}
