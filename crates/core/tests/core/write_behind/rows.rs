//! Flushes in front of an array with parity: whole rows of stripe units go as soon as they are whole, parts of rows when
//! the rest does not come. The rig asserts of every flush that it stays in its row or is made of whole ones.
use super::rig::{Rig, Sent};
use super::{at, flush, params, us, write};
use drivelab_core::storage::write_behind::Place;
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_units::{Sectors, Span};
use proptest::prelude::*;

/// Rows of 48 sectors, as of three stripe units of 8 KiB; two of them fit into a flush. Parts wait half a millisecond.
fn collecting() -> WriteBehindParams {
    WriteBehindParams {
        background: Sectors::ZERO,
        request: Sectors::new(128),
        stripe: Some(Sectors::new(48)),
        stripe_wait: us(500),
        ..params()
    }
}

/// Before a device that takes 100 us for a command and 10 us for each of its sectors, one command after the other.
fn rig(params: &WriteBehindParams) -> Rig {
    Rig::serial(params, Place::Controller, |command| us(100 + 10 * command.count.get()))
}

/// When each flush went, its first sector and its size.
fn flushed(rig: &Rig) -> Vec<(u64, u64, u64)> {
    let place = |sent: &Sent| (sent.at.as_ns() / 1_000, sent.command.first.get(), sent.command.count.get());
    rig.flushes().map(place).collect()
}

fn sizes(rig: &Rig) -> Vec<u64> {
    flushed(rig).iter().map(|&(_, _, count)| count).collect()
}

#[test]
fn sequential_small_writes_become_flushes_of_whole_rows() {
    let mut rig = rig(&collecting());
    // 4 KiB each: six to a row, twenty rows.
    for id in 0..120 {
        rig.go(write(id, id * 8, 8));
    }
    rig.run();
    // The first row goes when it is whole, at 48 us. The next ones go two at a time when the one before has landed.
    assert_eq!(flushed(&rig)[..3], [(48, 0, 48), (628, 48, 96), (1_688, 144, 96)]);
    assert_eq!(sizes(&rig), [vec![48], vec![96; 9], vec![48]].concat());
    // Without rows it begins with the first write, and none of the flushes fits a row.
    let mut plain = super::rows::rig(&WriteBehindParams { stripe: None, ..collecting() });
    for id in 0..120 {
        plain.go(write(id, id * 8, 8));
    }
    plain.run();
    assert_eq!(flushed(&plain)[..2], [(8, 0, 8), (188, 8, 128)]);
}

#[test]
fn a_row_that_is_being_filled_is_not_torn_for_room() {
    // Room for two rows and half of a third: writers always wait.
    let tight = Sectors::new(120);
    for order in [FlushOrder::Address, FlushOrder::Age] {
        let (outstanding, stripe_wait) = (4, us(2_000));
        let mut rig =
            rig(&WriteBehindParams { limit: tight, outstanding, stripe_wait, order, ..collecting() });
        for id in 0..120 {
            rig.go(write(id, id * 8, 8));
        }
        rig.run();
        assert!(sizes(&rig).iter().all(|count| count % 48 == 0), "{order:?}: {:?}", sizes(&rig));
        assert_eq!(sizes(&rig).iter().sum::<u64>(), 960);
    }
}

#[test]
fn parts_of_rows_wait_for_the_rest_and_then_go() {
    let mut rig = rig(&collecting());
    rig.arrive(at(0), write(0, 0, 8));
    rig.arrive(at(300), write(1, 16, 8));
    rig.arrive(at(310), write(2, 100, 8));
    rig.run();
    // Nothing has come to the first row since 308 us, nothing to the other one since 318 us.
    assert_eq!(flushed(&rig), [(808, 0, 8), (988, 16, 8), (1_168, 100, 8)]);
}

#[test]
fn a_row_that_becomes_whole_waits_no_longer_and_goes_before_parts() {
    let mut rig = rig(&WriteBehindParams { outstanding: 1, ..collecting() });
    rig.arrive(at(0), write(0, 500, 8));
    rig.arrive(at(100), write(1, 0, 8));
    // The first is on its way from 508 us to 688 us, and the second is ripe at 608 us.
    rig.arrive(at(620), write(2, 96, 48));
    rig.run();
    assert_eq!(flushed(&rig), [(508, 500, 8), (688, 96, 48), (1_268, 0, 8)]);
}

#[test]
fn parts_of_rows_go_at_once_when_somebody_waits_for_them() {
    let patient = WriteBehindParams { stripe_wait: Span::from_s(1_000), ..collecting() };
    let mut rig = rig(&patient);
    rig.go(write(0, 8, 8));
    rig.go(write(1, 200, 8));
    let answer = rig.go(flush(2));
    assert_eq!(flushed(&rig), [(16, 8, 8), (196, 200, 8)]);
    assert_eq!(answer.breakdown.queue, us(360));
    // A write that finds no room: one part goes for it, the one that has waited longest.
    let mut rig = super::rows::rig(&WriteBehindParams { limit: Sectors::new(20), ..patient });
    rig.go(write(0, 200, 8));
    rig.go(write(1, 8, 8));
    rig.go(write(2, 300, 8));
    assert_eq!(flushed(&rig), [(16, 200, 8)]);
}

#[test]
fn whole_rows_that_come_meanwhile_keep_no_barrier_waiting() {
    let mut rig = rig(&collecting());
    rig.go(write(0, 500, 8));
    rig.go(write(1, 0, 8));
    rig.send(flush(2));
    rig.go(write(3, 96, 48));
    rig.until_answered(2);
    assert_eq!(flushed(&rig)[..2], [(16, 500, 8), (196, 0, 8)]);
}

#[test]
fn parts_of_rows_go_when_they_have_reached_their_age_and_before_whole_rows() {
    let patient =
        WriteBehindParams { stripe_wait: Span::from_s(1_000), age: Some(us(3_000)), ..collecting() };
    let mut rig = rig(&patient);
    rig.arrive(at(0), write(0, 700, 8));
    // Whole rows come as fast as they go.
    for id in 1..16 {
        rig.arrive(at(580 * (id - 1)), write(id, (id - 1) * 48, 48));
    }
    rig.run_until(at(20_000));
    let part = flushed(&rig).into_iter().find(|&(_, first, _)| first == 700).expect("it goes");
    assert!((3_008..3_008 + 580).contains(&part.0), "{part:?}");
}

#[test]
fn below_the_background_level_nothing_goes() {
    let mut rig = rig(&WriteBehindParams { background: Sectors::new(100), ..collecting() });
    rig.go(write(0, 0, 48));
    rig.go(write(1, 100, 8));
    rig.run();
    assert_eq!((flushed(&rig), rig.due()), (vec![], None));
    rig.go(write(2, 200, 48));
    rig.run();
    // Two rows and a part: with one row gone there are 56.
    assert_eq!(flushed(&rig), [(104, 0, 48)]);
}

#[test]
fn a_row_is_never_cut_and_no_flush_takes_part_of_the_next() {
    let mut rig = rig(&WriteBehindParams { request: Sectors::new(20), ..collecting() });
    rig.go(write(0, 40, 120));
    rig.go(flush(1));
    // 40 to 48, two whole rows, 144 to 160.
    let mut places: Vec<(u64, u64)> = flushed(&rig).iter().map(|&(_, first, count)| (first, count)).collect();
    places.sort_unstable();
    assert_eq!(places, [(40, 8), (48, 48), (96, 48), (144, 16)]);
}

#[test]
fn what_is_rewritten_makes_no_row_whole_twice() {
    let mut rig = rig(&collecting());
    for id in 0..12 {
        rig.go(write(id, 8 * (id % 5), 8));
    }
    assert_eq!((rig.flushes().count(), rig.cache.dirty()), (0, Sectors::new(40)));
    rig.go(write(12, 36, 12));
    assert_eq!(sizes(&rig), [48]);
}

proptest! {
    /// Random writes in any order fill the rows of a small area; whatever happens, a row goes in parts only after it has
    /// waited, and with enough patience and room all of it goes in one.
    #[test]
    fn rows_that_are_filled_in_any_order_go_whole(order in Just((0u64..60).collect::<Vec<_>>()).prop_shuffle(), gap in 1u64..200) {
        let patient = WriteBehindParams { stripe_wait: Span::from_s(1), ..collecting() };
        let mut rig = rig(&patient);
        for (id, place) in (0..).zip(order) {
            rig.arrive(at(gap * id), write(id, place * 8, 8));
        }
        rig.run();
        prop_assert!(sizes(&rig).iter().all(|count| count % 48 == 0));
        prop_assert_eq!(sizes(&rig).iter().sum::<u64>(), 480);
    }
}
