//! Parity on bytes, computed here by its definition from the data on the members; and reads without as many members as
//! there are parities.
use crate::play::Play;
use crate::setups::{self, Dice};
use drivelab_core::Access;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::params::{ArrayParams, Copies, Level, Rotation};
use drivelab_data::{Bytes, Cell};
use drivelab_units::Sectors;
use std::collections::BTreeMap;

/// Twice an element of the field: a polynomial over bits times x, modulo x^8 + x^4 + x^3 + x^2 + 1.
fn twice(byte: u8) -> u8 {
    let shifted = u16::from(byte) << 1;
    (if shifted > 0xff { shifted ^ 0x11d } else { shifted }) as u8
}

fn parity(parities: u8) -> Level {
    Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups: 1 }
}

fn raidz(parities: u8) -> Level {
    Level::RaidZ { parities, record: Sectors::new(16), fill_percent: 80 }
}

fn bare(level: Level, members: u16, missing: &[u16]) -> Play {
    let array = ArrayParams { missing: missing.to_vec(), ..ArrayParams::plain(level, members) };
    Play::new(&setups::bare(array), 1)
}

/// Writes one after the other, and reads in between. Returns what each sector should hold.
fn fill(play: &mut Play, seed: u64) -> BTreeMap<u64, Bytes> {
    let (mut dice, mut model) = (Dice::new(seed, "fill"), BTreeMap::new());
    let capacity = 600;
    for _ in 0..60 {
        let (first, count) = (dice.below(capacity - 40), 1 + dice.below(40));
        if dice.one_in(3) {
            check(play, &model, first, count);
            continue;
        }
        let id = play.go(Access::Write, first, count).completion.id;
        model.extend((first..first + count).map(|sector| (sector, Bytes::version(id, sector))));
    }
    play.run_out();
    model
}

fn check(play: &mut Play, model: &BTreeMap<u64, Bytes>, first: u64, count: u64) {
    assert!(first + count <= play.target.capacity().get());
    for (sector, found) in (first..).zip(play.read(first, count)) {
        assert_eq!(found, model.get(&sector).cloned().unwrap_or_default(), "sector {sector}");
    }
}

/// P and Q of all rows, from the disk's unit behind Q on round the group: the last unit of the sum is the first of these by
/// Horner's rule.
#[test]
fn p_and_q_are_the_sums_of_the_data_beside_them() {
    let mut rows_checked = 0;
    for seed in 0..6 {
        let mut play = bare(parity(2), 5, &[]);
        fill(&mut play, seed);
        let Layout::Rows(rows) = *play.array().layout() else { panic!("a level with parity") };
        for row in 0..rows.rows() {
            for at in rows.at(row)..rows.at(row) + rows.unit() {
                let on = |slot: u16| play.bytes.media().get(slot, at);
                let (p_slot, q_slot) = (rows.parity(row, 0), rows.parity(row, 1));
                let (mut p, mut q) = ([0; 512], [0; 512]);
                // Linux' order: data unit i lies i + 1 slots behind Q.
                for unit in (0..3).rev() {
                    let data = on((q_slot + 1 + unit) % 5);
                    for (at, byte) in data.as_bytes().iter().enumerate() {
                        p[at] ^= byte;
                        q[at] = twice(q[at]) ^ byte;
                    }
                }
                assert_eq!(on(p_slot), Bytes::from(p), "P of row {row}");
                assert_eq!(on(q_slot), Bytes::from(q), "Q of row {row}");
                rows_checked += u32::from(!on(p_slot).is_blank());
            }
        }
    }
    assert!(rows_checked > 500, "{rows_checked}");
}

/// Missing from the beginning, and gone after everything was written: what was written is read.
#[test]
fn a_degraded_read_delivers_the_bytes_that_were_written() {
    let near = Level::StripedMirrors { copies: 2, layout: Copies::Near };
    let cases: [(Level, u16, &[u16]); 9] = [
        (Level::Mirrored, 2, &[0]),
        (near, 4, &[1, 2]),
        (parity(1), 4, &[2]),
        (parity(2), 5, &[0, 3]),
        (parity(2), 6, &[5]),
        (raidz(1), 4, &[1]),
        (raidz(2), 5, &[0, 4]),
        (raidz(3), 7, &[0, 2, 5]),
        (Level::Interleaved { groups: 1 }, 3, &[1]),
    ];
    for (level, members, missing) in cases {
        let mut early = bare(level, members, missing);
        let model = fill(&mut early, 3);
        check(&mut early, &model, 0, 600);
        let mut late = bare(level, members, &[]);
        let model = fill(&mut late, 4);
        // What lies where in a pool the array knows, and nobody else.
        if !matches!(level, Level::RaidZ { .. }) {
            let mut late = late.cut(missing);
            check(&mut late, &model, 0, 600);
        }
    }
}
