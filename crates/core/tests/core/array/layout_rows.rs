//! Where rows of stripe units lie: md's formulas, and every place held once.
use drivelab_core::storage::array::levels::{Rows, SectorRole, Spot};
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Level, Rotation};
use drivelab_units::{Sectors, Span};
use proptest::prelude::*;
use std::collections::HashSet;

const ROTATIONS: [Rotation; 6] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
    Rotation::First,
    Rotation::Last,
];

/// mdadm, restripe.c, `geo_map`, as it is written there for levels 4, 5 and 6: the member of a data block, or of P (-1) or
/// Q (-2).
fn geo_map(block: i64, stripe: i64, n: i64, level: u8, rotation: Rotation) -> i64 {
    let (left, symmetric) = match rotation {
        Rotation::LeftSymmetric => (true, true),
        Rotation::LeftAsymmetric => (true, false),
        Rotation::RightSymmetric => (false, true),
        Rotation::RightAsymmetric => (false, false),
        Rotation::First => {
            let parities = i64::from(level) - 4;
            return match block {
                -1 => 0,
                -2 => 1,
                block => block + parities,
            };
        }
        Rotation::Last => {
            return match (block, level) {
                (-1, 5) => n - 1,
                (-1, _) => n - 2,
                (-2, _) => n - 1,
                (block, _) => block,
            };
        }
    };
    let pd = if left { (n - 1) - stripe % n } else { stripe % n };
    match (level, symmetric, block) {
        (_, _, -1) => pd,
        (6, _, -2) => (pd + 1) % n,
        (5, true, block) => (pd + 1 + block) % n,
        (5, false, block) => block + i64::from(block >= pd),
        (6, true, block) => (pd + 2 + block) % n,
        // Q D D D P
        (6, false, block) if pd == n - 1 => block + 1,
        // D D P Q D
        (6, false, block) => block + if block >= pd { 2 } else { 0 },
        _ => unreachable!("levels 5 and 6"),
    }
}

#[test]
fn members_are_those_of_md() {
    for rotation in ROTATIONS {
        for (level, parities) in [(5, 1), (6, 2)] {
            for n in parities + 2..12 {
                let rows = Rows::new(n, 1, parities as u8, rotation, 8, 8 * 100);
                for row in 0..100 {
                    let md = |block| geo_map(block, row as i64, n as i64, level, rotation) as u16;
                    for column in 0..rows.columns() {
                        assert_eq!(
                            rows.data(row, column),
                            md(column.into()),
                            "{rotation:?} {level} {n} {row}"
                        );
                    }
                    assert_eq!(rows.parity(row, 0), md(-1));
                    if level == 6 {
                        assert_eq!(rows.parity(row, 1), md(-2));
                    }
                }
            }
        }
    }
}

#[test]
fn left_symmetric_is_as_the_manual_draws_it() {
    let rows = Rows::new(5, 1, 1, Rotation::LeftSymmetric, 1, 5);
    let drawn: Vec<String> = (0..5)
        .map(|row| {
            let at = |slot| match rows.held(Spot { slot, at: row }).0 {
                SectorRole::Data { first, .. } => first.to_string(),
                SectorRole::Parity { .. } => "P".into(),
                SectorRole::Nothing => "-".into(),
            };
            (0..5).map(at).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(drawn, ["0 1 2 3 P", "5 6 7 P 4", "10 11 P 8 9", "15 P 12 13 14", "P 16 17 18 19"]);
}

/// The kernel's order of data units in the sums of RAID 6 (drivers/md/raid5.c, `set_syndrome_sources`): from the member
/// behind Q on, going round.
#[test]
fn indices_count_from_the_member_behind_q() {
    for rotation in ROTATIONS {
        for n in 4..10u16 {
            let rows = Rows::new(n.into(), 1, 2, rotation, 1, 40);
            for row in 0..40 {
                let q = rows.parity(row, 1);
                let mut member = (q + 1) % n;
                for index in 0..rows.columns() {
                    let column = (0..rows.columns()).find(|&column| rows.data(row, column) == member);
                    let column = column.expect("data lie on all members behind Q up to P");
                    assert_eq!(rows.index_of(&rows.row(row), column), index, "{rotation:?} {n} {row}");
                    member = (member + 1) % n;
                }
                assert_eq!(member, rows.parity(row, 0));
            }
        }
    }
}

#[test]
fn groups_take_rows_in_turn() {
    let rows = Rows::new(6, 2, 1, Rotation::LeftSymmetric, 4, 40);
    let slots = |row| [rows.data(row, 0), rows.data(row, 1), rows.parity(row, 0)];
    assert_eq!((slots(0), rows.at(0)), ([0, 1, 2], 0));
    assert_eq!((slots(1), rows.at(1)), ([3, 4, 5], 0));
    assert_eq!((slots(2), rows.at(2)), ([2, 0, 1], 4));
    // RAID 30: single sectors, but a group keeps its turn for a stripe unit.
    let rows = Rows::interleaved(6, 2, 4, 42);
    let slots = |row| [rows.data(row, 0), rows.data(row, 1), rows.parity(row, 0)];
    assert_eq!((slots(3), rows.at(3)), ([0, 1, 2], 3));
    assert_eq!((slots(4), rows.at(4)), ([3, 4, 5], 0));
    assert_eq!((slots(8), rows.at(8)), ([0, 1, 2], 4));
    // What no whole turn fits in is left over.
    assert_eq!(rows.used(), 40);
}

/// Every address is held where the layout says, and nothing else is.
fn is_a_bijection(rows: &Rows, least: u64) {
    let mut taken = HashSet::new();
    for address in 0..rows.capacity() {
        let cell = rows.cell(address, address + 1);
        let spot = Spot { slot: rows.data(cell.row, cell.column), at: rows.at(cell.row) + cell.offset };
        assert!(taken.insert((spot.slot, spot.at)), "{spot:?} is taken");
        assert_eq!(rows.held(spot).0, SectorRole::Data { first: address, copy: 0 });
    }
    let (mut parity, mut nothing) = (0, 0);
    for slot in 0..(rows.members() * rows.groups()) as u16 {
        let mut at = 0;
        while at < least {
            let spot = Spot { slot, at };
            let (held, left) = rows.held(spot);
            assert!(left > 0);
            for at in at..least.min(at + left) {
                match held {
                    SectorRole::Data { first, copy } => {
                        let (here, _) = rows.held(Spot { slot, at });
                        assert_eq!(here, SectorRole::Data { first: first + (at - spot.at), copy });
                        assert!(taken.contains(&(slot, at)));
                    }
                    SectorRole::Parity { which } => {
                        parity += 1;
                        assert!(which < rows.parities() && !taken.contains(&(slot, at)));
                    }
                    SectorRole::Nothing => nothing += 1,
                }
                assert!(held != SectorRole::Nothing || at < rows.at(0) || at >= rows.used());
            }
            at += left;
        }
    }
    let all = rows.members() * rows.groups() * least;
    assert_eq!(taken.len() as u64 + parity + nothing, all);
    assert_eq!(parity, rows.rows() * u64::from(rows.parities()) * rows.unit());
}

proptest! {
    #[test]
    fn rows_hold_every_address_once(
        parities in 1u8..=3, data in 2u64..6, groups in 1u64..4, unit in 1u64..9, rows in 1u64..20, left in 0u64..8,
        rotation in 0..ROTATIONS.len(), start in prop_oneof![Just(0u64), 1u64..20], interleaved in any::<bool>(),
    ) {
        let members = groups * (data + u64::from(parities));
        let least = rows * unit + left;
        let rows = if interleaved {
            Rows::interleaved(groups * (data + 1), groups, unit, least)
        } else {
            Rows::new(members, groups, parities, ROTATIONS[rotation], unit, least)
        };
        is_a_bijection(&rows.behind(start), least + start);
    }
}

#[test]
fn a_log_and_a_bitmap_take_their_place_of_each_member() {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let capacity = |consistency_policy| {
        let params = ArrayParams { consistency_policy, ..ArrayParams::plain(level, 3) };
        params.capacity(&[Sectors::new(600_000); 3]).unwrap().get()
    };
    let whole = |sectors: u64| sectors / 128 * 128 * 2;
    assert_eq!(capacity(ConsistencyPolicy::None), whole(600_000));
    assert_eq!(capacity(ConsistencyPolicy::PartialParityLog), whole(600_000 - 2_048));
    // A granule for the superblock, and one for up to 16 384 x 2 bits.
    let bitmap = |region| ConsistencyPolicy::Bitmap {
        region: Sectors::new(region),
        clears_after: Span::from_ms(5_000),
    };
    assert_eq!(capacity(bitmap(131_072)), whole(600_000 - 16));
    assert_eq!(capacity(bitmap(8)), whole(600_000 - 8 - 3 * 8));
}
