//! Levels with parity against closed forms: which members' commands each command of a host becomes, and when.
use super::rig::{array_of, probe};
use super::stamps::Stamped;
use crate::common::{Probe, TURN, command, drive, response};
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::array::params::{ArrayParams, Level, PartialWrites, Rotation};
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Command, Outcome};
use drivelab_units::{Rate, Sectors};

pub fn parity(parities: u8, members: u16) -> ArrayParams {
    let level = Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups: 1 };
    // Equal phases make times comparable between members.
    ArrayParams { synchronised: true, ..ArrayParams::plain(level, members) }
}

pub fn small(parities: u8, members: u16, unit: u64, granule: u64) -> ArrayParams {
    let mut params = ArrayParams { unit: Sectors::new(unit), ..parity(parities, members) };
    params.parity.granule = Sectors::new(granule);
    params
}

#[test]
fn a_small_write_reads_data_and_parity_and_writes_them_a_turn_later() {
    let mut array = Stamped::new(parity(1, 5));
    array.go(Access::Write, 3, 1);
    let seen: Vec<_> =
        array.seen.iter().map(|seen| (seen.access, seen.drive, seen.first, seen.count)).collect();
    let (read, write) = (Access::Read, Access::Write);
    assert_eq!(seen, [(read, 0, 0, 8), (read, 4, 0, 8), (write, 0, 0, 8), (write, 4, 0, 8)]);
    // Both members read and write the same place: one turn lies between.
    let reads = response(&probe(parity(1, 5)).read(0, 8));
    assert_eq!(response(&probe(parity(1, 5)).write(3, 1)), reads + TURN);
}

#[test]
fn whole_rows_are_written_without_a_read_and_in_one_command_for_each_member() {
    for (parities, members) in [(1, 5), (2, 6), (3, 7)] {
        let mut array = Stamped::new(parity(parities, members));
        array.go(Access::Write, 0, 4 * 128 * 10);
        let mut seen = array.seen.clone();
        seen.sort_by_key(|seen| seen.drive);
        let seen: Vec<_> =
            seen.iter().map(|seen| (seen.access, seen.drive, seen.first, seen.count)).collect();
        let all: Vec<_> = (0..members).map(|drive| (Access::Write, drive, 0, 1_280)).collect();
        assert_eq!(seen, all);
        array.check_media();
    }
    let cut = ArrayParams { request: Sectors::new(256), ..parity(1, 5) };
    let mut array = Stamped::new(cut);
    array.go(Access::Write, 0, 4 * 128 * 10);
    assert_eq!(array.count(Access::Write), (25, 6_400));
    assert!(array.seen.iter().all(|seen| seen.count == 256));
}

#[test]
fn a_large_write_reads_for_its_ends_only() {
    let mut array = Stamped::new(parity(1, 5));
    // From the middle of the first row to the middle of the fourth.
    array.go(Access::Write, 256, 4 * 128 * 3);
    // Half of four data units are kept at each end: reconstruct-write reads two, read-modify-write would read three.
    assert_eq!(array.count(Access::Read), (4, 512));
    assert_eq!(array.count(Access::Write).1, (2 + 1) * 128 * 2 + 5 * 2 * 128);
    array.check_media();
}

/// What md would read and write of each page of a stripe, counted page by page.
fn by_page(params: &ArrayParams, columns: u64, parities: u64, first: u64, end: u64) -> (u64, u64) {
    let (unit, granule) = (params.unit.get(), params.parity.granule.get());
    let (mut reads, mut writes) = (0, 0);
    for page in (0..unit).step_by(granule as usize) {
        let written = |column: u64| {
            let at = column * unit + page;
            (at..(at + granule).min((column + 1) * unit)).filter(|at| (first..end).contains(at)).count()
                as u64
        };
        let size = granule.min(unit - page);
        let touched = (0..columns).filter(|&column| written(column) > 0).count() as u64;
        let kept = (0..columns).filter(|&column| written(column) < size).count() as u64;
        if touched == 0 {
            continue;
        }
        let (rmw, rcw) = (touched + parities, kept);
        reads += size
            * match params.parity.partial {
                PartialWrites::Cheaper { prefers_old } if rmw < rcw || (rmw == rcw && prefers_old) => rmw,
                PartialWrites::Old if rcw > 0 => rmw,
                _ => rcw,
            };
        writes += size * (touched + parities);
    }
    (reads, writes)
}

#[test]
fn every_write_within_a_row_costs_what_md_counts() {
    let ways = [
        PartialWrites::Cheaper { prefers_old: true },
        PartialWrites::Cheaper { prefers_old: false },
        PartialWrites::Old,
        PartialWrites::Rest,
    ];
    for (unit, granule, columns) in [(6, 2, 2), (5, 2, 3), (4, 2, 5), (1, 1, 9)] {
        for parities in 1..=3 {
            for partial in ways {
                let mut params = small(parities, columns + u16::from(parities), unit, granule);
                params.parity.partial = partial;
                let mut array = Stamped::new(params.clone());
                let row = u64::from(columns) * unit;
                for first in 0..row {
                    for end in first + 1..=row {
                        array.go(Access::Write, first, end - first);
                        let counted = (array.count(Access::Read).1, array.count(Access::Write).1);
                        let expected = by_page(&params, columns.into(), parities.into(), first, end);
                        assert_eq!(counted, expected, "{params:?}: {first}..{end}");
                    }
                }
                array.check_media();
            }
        }
    }
}

/// All sets of so many of these members.
fn sets(members: u16, size: u32) -> impl Iterator<Item = Vec<u16>> {
    let all = (0u32..1 << members).filter(move |set| set.count_ones() == size);
    all.map(move |set| (0..members).filter(|slot| set >> slot & 1 == 1).collect())
}

#[test]
fn every_loss_that_the_level_bears_costs_what_it_must_and_loses_nothing() {
    const COLUMNS: u16 = 4;
    for parities in 1..=3u8 {
        let members = COLUMNS + u16::from(parities);
        for missing in (0..=u32::from(parities)).flat_map(|size| sets(members, size)) {
            let params = ArrayParams { missing: missing.clone(), ..small(parities, members, 8, 8) };
            let mut array = Stamped::new(params);
            let rows = *array.rows();
            array.go(Access::Write, 0, u64::from(members) * rows.row_data());
            for row in 0..u64::from(members) {
                let is_lost = |column| missing.contains(&rows.data(row, column));
                let lost = (0..rows.columns()).filter(|&column| is_lost(column)).count();
                let sums = (0..parities).filter(|&which| !missing.contains(&rows.parity(row, which))).count();
                let there = rows.columns() as usize - lost;
                for column in 0..rows.columns() {
                    let first = row * rows.row_data() + u64::from(column) * 8;
                    array.check_read(first, 8);
                    // All data that there are and a parity for each that is not.
                    let reads = if is_lost(column) { there + lost } else { 1 };
                    assert_eq!(array.count(Access::Read), (reads, 8 * reads as u64), "{missing:?}");
                    array.go(Access::Write, first, 8);
                    let rest = rows.columns() as usize - 1;
                    let others = lost - usize::from(is_lost(column));
                    let reads = match (sums, is_lost(column), others) {
                        (0, ..) => 0,
                        // Only the new data are needed beside the rest.
                        (_, true, 0) => rest,
                        // Nothing else is missing: md's choice.
                        (_, false, 0) => rest.min(1 + sums),
                        (_, false, _) => 1 + sums,
                        (_, true, _) => there + lost,
                    };
                    let writes = sums + usize::from(!is_lost(column));
                    assert_eq!(array.count(Access::Read).0, reads, "{missing:?}, row {row}, column {column}");
                    assert_eq!(array.count(Access::Write).0, writes);
                }
                array.check_read(row * rows.row_data(), rows.row_data());
                assert_eq!(array.count(Access::Read).0, there + lost);
            }
            array.check_media();
        }
    }
}

#[test]
fn one_loss_too_many_loses_what_it_must() {
    for parities in 1..=3u8 {
        let members = 3 + u16::from(parities);
        for missing in sets(members, u32::from(parities) + 1) {
            let params = ArrayParams { missing: missing.clone(), ..small(parities, members, 8, 8) };
            let mut array = Stamped::new(params);
            let rows = *array.rows();
            for row in 0..u64::from(members) {
                for column in 0..rows.columns() {
                    let first = row * rows.row_data() + u64::from(column) * 8;
                    assert_eq!(array.go(Access::Write, first, 8).outcome, Outcome::Lost);
                    assert!(array.seen.is_empty());
                    let is_lost = missing.contains(&rows.data(row, column));
                    let expected = if is_lost { Outcome::Lost } else { Outcome::Done };
                    assert_eq!(array.go(Access::Read, first, 8).outcome, expected);
                }
            }
        }
    }
}

#[test]
fn a_degraded_read_reads_nothing_twice() {
    let params = ArrayParams { missing: vec![1], ..parity(1, 5) };
    let mut array = Stamped::new(params);
    array.go(Access::Write, 0, 128 * 4 * 5);
    // Over all columns and rows: each member that is left once, parity and all.
    array.check_read(0, 128 * 4 * 5);
    assert_eq!(array.count(Access::Read), (4, 4 * 128 * 5));
    // From the middle of the missing unit on: what the host wants of the others covers what the sum wants.
    array.check_read(192, 192);
    assert_eq!(array.count(Access::Read).1, 128 + 3 * 64);
    array.check_media();
}

#[test]
fn parity_takes_its_time() {
    let timed = |rate: Option<u64>, missing: &[u16]| {
        let mut params = ArrayParams { missing: missing.to_vec(), ..small(1, 3, 60, 4) };
        params.parity.rate = rate.and_then(Rate::from_bytes_per_s);
        probe(params)
    };
    // Two units of 60 sectors in one turn: the heads find the same angle a turn later.
    let one_turn = Some(2 * 60 * 512 * 1_000_000_000 / TURN);
    let plain = response(&timed(None, &[]).write(0, 120));
    assert_eq!(response(&timed(one_turn, &[]).write(0, 120)), plain + TURN);
    // What is read as it lies is not summed; what is missing is, over both units that are left.
    let (healthy, degraded) = (timed(one_turn, &[]).read(0, 60), timed(one_turn, &[0]).read(0, 60));
    assert_eq!(response(&healthy), response(&timed(None, &[]).read(0, 60)));
    assert_eq!(response(&degraded), response(&timed(None, &[0]).read(0, 60)) + TURN);
    assert_eq!(degraded.breakdown.overhead.as_ns(), TURN);
}

fn interleaved(members: u16, groups: u16) -> ArrayParams {
    let level = Level::Interleaved { groups };
    ArrayParams { synchronised: true, unit: Sectors::new(8), ..ArrayParams::plain(level, members) }
}

#[test]
fn raid_3_takes_all_members_for_everything() {
    let mut array = Stamped::new(interleaved(5, 1));
    array.go(Access::Write, 0, 4_000);
    assert_eq!((array.count(Access::Read).0, array.count(Access::Write)), (0, (5, 5_000)));
    array.check_read(2, 1);
    assert_eq!(array.count(Access::Read), (4, 4));
    array.check_read(3, 2_001);
    assert_eq!(array.count(Access::Read), (4, 4 * 501));
    // Both ends are read, then everything is written.
    array.go(Access::Write, 3, 2_002);
    assert_eq!((array.count(Access::Read), array.count(Access::Write)), ((8, 8), (5, 5 * 502)));
    array.check_media();
    let mut array = Stamped::new(ArrayParams { missing: vec![1], ..interleaved(5, 1) });
    array.go(Access::Write, 0, 4_000);
    array.check_read(2, 1);
    assert_eq!(array.count(Access::Read), (4, 4));
    array.go(Access::Write, 3, 2_002);
    assert_eq!((array.count(Access::Read), array.count(Access::Write)), ((8, 8), (4, 4 * 502)));
    array.check_media();
}

#[test]
fn raid_30_keeps_a_small_command_in_one_group() {
    let mut array = Stamped::new(interleaved(6, 2));
    array.go(Access::Write, 0, 16);
    assert!(array.seen.iter().all(|seen| seen.drive < 3));
    array.go(Access::Write, 16, 16);
    assert!(array.seen.iter().all(|seen| seen.drive >= 3));
    array.go(Access::Write, 0, 64);
    assert_eq!(array.count(Access::Write), (6, 96));
    array.check_media();
}

/// What a write must know may come from a member's cache, however the host wants what it writes.
#[test]
fn force_unit_access_is_for_what_is_written() {
    let mut params = parity(1, 3);
    params.parity.partial = PartialWrites::Rest;
    let cache = Some(CacheParams::reading_on(Sectors::new(1_000)).when(true, false));
    let took = |force_unit_access| {
        let mut probe = Probe::new(&array_of(params.clone(), &DriveParams { cache, ..drive() }), 1);
        // The rest of the row is in its member's cache.
        probe.read(128, 8);
        let write = Command { force_unit_access, ..command(1, Access::Write, 0, 8) };
        let now = probe.now;
        probe.target().handle(now, TargetInput::Submit(write));
        response(&probe.answer().unwrap())
    };
    assert_eq!(took(true), took(false));
}
