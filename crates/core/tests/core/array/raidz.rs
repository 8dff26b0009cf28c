//! RAID-Z: the map against worked examples of OpenZFS and against what must hold for every size; where records lie, what
//! is read and written, and what a failure changes.
use super::bytes::{Bytes, bytes, sets};
use super::field;
use super::rig::{array, array_of};
use crate::common::sorted::Target;
use crate::common::{Probe, drive};
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::levels::raidz::Map;
use drivelab_core::storage::array::params::{ArrayParams, Level};
use drivelab_core::{Access, Outcome};
use drivelab_units::Sectors;
use proptest::prelude::*;
use std::collections::HashSet;

/// Of so many sectors of 4 KiB: those with data and parity, and those taken.
fn sizes(members: u64, parities: u8, sectors: u64) -> (u64, u64) {
    let map = Map::new(members, parities, sectors * 8, 8);
    (map.total(), map.taken())
}

#[test]
fn records_take_what_openzfs_says() {
    assert_eq!(sizes(5, 1, 8), (10, 10));
    assert_eq!(sizes(5, 1, 1), (2, 2));
    assert_eq!(sizes(5, 1, 6), (8, 8));
    assert_eq!(sizes(6, 2, 1), (3, 3));
    assert_eq!(sizes(6, 2, 5), (9, 9));
    // Rounded up to a multiple of the parities and one: 32 sectors on 6 members.
    assert_eq!(sizes(6, 1, 32), (39, 40));
    assert_eq!(sizes(6, 2, 32), (48, 48));
    assert_eq!(sizes(7, 3, 5), (11, 12));
}

#[test]
fn a_record_of_five_sectors_on_six_members_lies_as_openzfs_puts_it() {
    // Whole rows 1, one sector left: the first three columns, two of parity, have two sectors, the other three one.
    let map = Map::new(6, 2, 40, 8);
    let columns: Vec<_> = (0..6).map(|column| map.column(9, column)).collect();
    let as_sectors: Vec<_> = columns.iter().map(|c| (c.slot, c.at / 8, c.count / 8)).collect();
    assert_eq!(as_sectors, [(3, 1, 2), (4, 1, 2), (5, 1, 2), (0, 2, 1), (1, 2, 1), (2, 2, 1)]);
    assert_eq!((2..6).map(|column| map.begins(column) / 8).collect::<Vec<_>>(), [0, 2, 3, 4]);
}

#[test]
fn with_single_parity_the_first_two_columns_change_places_every_mebibyte() {
    let slots = |parities: u8, begin: u64| {
        let map = Map::new(5, parities, 64, 8);
        [map.column(begin, 0).slot, map.column(begin, 1).slot]
    };
    // 256 sectors of 4 KiB are a MiB.
    assert_eq!(slots(1, 255), [0, 1]);
    assert_eq!(slots(1, 260), [1, 0]);
    assert_eq!(slots(1, 515), [0, 1]);
    assert_eq!(slots(2, 260), [0, 1]);
}

proptest! {
    /// Columns of a record use each sector of its stretch of the pool once, one column a member; each row has its
    /// parity; data columns lie one behind the other in the record.
    #[test]
    fn the_map_uses_every_sector_once(
        members in 2_u64..12, parities in 1_u8..4, sectors in 1_u64..100, begin in 0_u64..100_000,
        shift in prop_oneof![Just(0), Just(3)],
    ) {
        prop_assume!(members > parities.into());
        let map = Map::new(members, parities, sectors << shift, 1 << shift);
        prop_assert!(map.taken() >= map.total() && map.taken() - map.total() <= parities.into());
        prop_assert_eq!(map.taken() % (u64::from(parities) + 1), 0);
        let (mut used, mut slots, mut data, mut parity) = (HashSet::new(), HashSet::new(), 0, 0);
        for index in 0..map.columns() {
            let column = map.column(begin, index);
            prop_assert!(column.count > 0 && slots.insert(column.slot));
            if index >= parities.into() {
                prop_assert_eq!(map.begins(index), data);
                data += column.count;
            } else {
                parity += column.count;
            }
            for row in column.at >> shift..(column.at + column.count) >> shift {
                used.insert(row * members + u64::from(column.slot));
            }
        }
        prop_assert_eq!(data, sectors << shift);
        let rows = sectors.div_ceil(members - u64::from(parities));
        prop_assert_eq!(parity, (u64::from(parities) * rows) << shift);
        prop_assert_eq!(used, (begin..begin + map.total()).collect::<HashSet<_>>());
    }
}

/// 128 KiB records of 4 KiB sectors.
fn pool(parities: u8, members: u16, fill_percent: u8) -> ArrayParams {
    ArrayParams::plain(Level::RaidZ { parities, record: Sectors::new(256), fill_percent }, members)
}

fn place(target: &Target, record: u64) -> u64 {
    let layout = target.system().unwrap().array().unwrap().layout();
    let Layout::RaidZ(pool) = layout else { panic!("another layout") };
    pool.place(record)
}

#[test]
fn a_whole_record_is_written_without_reading_and_to_a_new_place() {
    let mut pool = Bytes::new(&array(pool(1, 5, 80)));
    let first_free = pool.target.capacity().get() / 256;
    pool.write(256, &bytes(1, 256));
    assert_eq!(pool.reads, []);
    // 32 sectors and a parity for each row of four.
    assert_eq!(pool.writes.iter().map(|&(_, _, count)| count).sum::<u64>(), 40 * 8);
    assert_eq!((place(&pool.target, 0), place(&pool.target, 1)), (0, first_free));
    pool.write(256, &bytes(2, 256));
    assert_eq!(place(&pool.target, 1), first_free + 1);
    assert_eq!(pool.read(256, 256), bytes(2, 256));
}

#[test]
fn a_part_of_a_record_is_read_and_written_with_all_of_it() {
    let mut pool = Bytes::new(&array(pool(2, 6, 50)));
    pool.write(0, &bytes(1, 512));
    pool.write(100, &bytes(2, 200));
    let total = |ops: &[(u16, u64, u64)]| ops.iter().map(|&(_, _, count)| count).sum::<u64>();
    // Two records: all data read, and all columns written.
    assert_eq!((total(&pool.reads), total(&pool.writes)), (2 * 256, 2 * 48 * 8));
    let expected = [&bytes(1, 512)[..100], &bytes(2, 200), &bytes(1, 512)[300..]].concat();
    assert_eq!(pool.read(0, 512), expected);
    // One sector costs a record, and no parity.
    assert_eq!(pool.read(300, 1), expected[300..301]);
    assert_eq!(total(&pool.reads), 256);
}

#[test]
fn places_are_taken_round_the_pool_and_every_record_stays_where_it_is_found() {
    // Small members: 4 of 1 200 rows.
    let mut small = drive();
    small.geometry.zones[0].cylinders = 16;
    let mut probe = Probe::new(&array_of(pool(1, 4, 75), &small), 1);
    let records = probe.capacity() / 256;
    let mut stream = drivelab_core::rng::Stream::named(1, "records");
    for _ in 0..2_000 {
        assert_eq!(probe.write(stream.below(records) * 256, 256).outcome, Outcome::Done);
    }
    let Layout::RaidZ(pool) = probe.target().system().unwrap().array().unwrap().layout() else {
        panic!("another layout");
    };
    let lies: HashSet<u64> = (0..records).map(|record| pool.place(record)).collect();
    assert_eq!(lies.len() as u64, records, "no two records lie at one place");
    for place in 0..pool.places() {
        assert_eq!(pool.is_taken(place), lies.contains(&place));
    }
    assert_eq!(records, pool.places() * 75 / 100);
}

#[test]
fn what_is_missing_is_computed_from_parity() {
    for (parities, members) in [(1, 3), (1, 5), (2, 5), (3, 6)] {
        for missing in sets(members, u32::from(parities)) {
            // 31 sectors of 4 KiB leave columns of two lengths.
            let level = Level::RaidZ { parities, record: Sectors::new(31 * 8), fill_percent: 80 };
            let params = ArrayParams { missing: missing.clone(), ..ArrayParams::plain(level, members) };
            let mut pool = Bytes::new(&array(params));
            let mut expected = bytes(5, 1_000);
            // The end of it is a part of a record that was never written: nothing but zeros lies there.
            pool.write(0, &expected);
            pool.write(333, &bytes(7, 411));
            expected[333..744].copy_from_slice(&bytes(7, 411));
            assert_eq!(pool.read(0, 1_000), expected, "RAID-Z{parities} without {missing:?}");
            assert_eq!(pool.read(500, 77), expected[500..577], "RAID-Z{parities} without {missing:?}");
        }
    }
}

#[test]
fn parity_is_what_openzfs_computes() {
    let mut pool = Bytes::new(&array(pool(3, 6, 80)));
    let place = pool.target.capacity().get() / 256;
    pool.write(0, &bytes(9, 256));
    let map = Map::new(6, 3, 256, 8);
    let at = |column: usize, row: u64| {
        let column = map.column(place * map.taken(), column);
        if row < column.count { pool.on(column.slot, column.at + row) } else { 0 }
    };
    for row in 0..map.column(0, 0).count {
        for (parity, generator) in [(0, 1), (1, 2), (2, 4)] {
            // Horner's rule, column by column, as vdev_raidz_generate_parity_pqr has it.
            let sum = (3..6).fold(0, |sum, column| field::product(sum, generator) ^ at(column, row));
            assert_eq!(at(parity, row), sum, "parity {parity} of row {row}");
        }
    }
}

#[test]
fn too_many_missing_members_lose_the_data() {
    let params = ArrayParams { missing: vec![0, 1], ..pool(1, 5, 80) };
    let mut pool = Bytes::new(&array(params));
    assert_eq!(pool.go(Access::Read, 0, &[0; 8]).0, Outcome::Lost);
    assert_eq!(pool.go(Access::Write, 0, &[0; 256]).0, Outcome::Lost);
    assert_eq!(place(&pool.target, 0), 0, "what is not written does not move");
}

#[test]
fn records_that_follow_each_other_are_one_write_of_each_member() {
    // 43 sectors of 4 KiB with single parity over four members take 44: the last is written along with the others.
    assert_eq!(sizes(4, 1, 32), (43, 44));
    let mut pool = Bytes::new(&array(pool(1, 4, 50)));
    let place = pool.target.capacity().get() / 256;
    pool.write(0, &bytes(3, 256 * 4));
    let mut expected: Vec<(u16, u64, u64)> = Vec::new();
    for member in 0..4 {
        let begin = place * 44;
        let rows = (begin..begin + 4 * 44).filter(|sector| sector % 4 == member).map(|sector| sector / 4 * 8);
        expected.push((member as u16, rows.clone().min().unwrap(), rows.count() as u64 * 8));
    }
    pool.writes.sort_unstable();
    assert_eq!(pool.writes, expected);
    assert_eq!(pool.read(0, 1_024), bytes(3, 1_024));
}
