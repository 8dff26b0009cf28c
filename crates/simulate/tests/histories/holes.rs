//! The write hole: what a power cut does to parity, when that is found out, and what closes it.
use crate::setups::{self, Dice};
use drivelab_core::Access;
use drivelab_core::target::array::Array;
use drivelab_core::target::array::layout::Layout;
use drivelab_core::target::array::params::{ArrayParams, Level, Rotation};
use drivelab_core::target::system::SystemParams;
use drivelab_simulate::truth::{Nothing, Recovery, Resync, Untruth, Watched, Wrong};
use drivelab_units::Span;
use std::collections::BTreeSet;

/// Sectors that are written before everything else.
const FILLED: u64 = 400;

fn raid5() -> ArrayParams {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    ArrayParams::plain(level, 4)
}

/// Fills an array, writes a few sectors here and there, and cuts the power meanwhile. Returns the rows that were being
/// written as it went, and what the array is then.
fn cut_while_writing(
    params: &SystemParams,
    seed: u64,
    missing: &[u16],
    recovery: &mut dyn Recovery,
) -> Result<(BTreeSet<u64>, Watched), Untruth> {
    let mut dice = Dice::new(seed, "hole");
    let mut watched = Watched::new(params, seed);
    watched.go(Access::Write, 0, FILLED)?;
    watched.run_out()?;
    let row_data = match watched.target().system().and_then(|system| system.array()).map(Array::layout) {
        Some(Layout::Rows(rows)) => rows.row_data(),
        _ => unreachable!("an array with parity"),
    };
    let mut rows = BTreeSet::new();
    for id in 0..4 {
        let (first, count) = (dice.below(FILLED - 6), 1 + dice.below(6));
        watched.submit(&crate::common::command(id, Access::Write, first, count))?;
        rows.extend(first / row_data..=(first + count - 1) / row_data);
    }
    watched.run_until(watched.now() + Span::from_us(dice.below(30_000)))?;
    Ok((rows, watched.cut_power(missing, recovery)?))
}

#[test]
fn without_a_cure_a_cut_changes_what_was_not_written_and_only_in_rows_that_were() {
    if !setups::PARITY {
        return;
    }
    let params = setups::bare(raid5());
    let mut holes = 0;
    for seed in 0..300 {
        let missing = [(seed % 4) as u16];
        let (rows, mut after) = cut_while_writing(&params, seed, &missing, &mut Nothing)
            .unwrap_or_else(|wrong| panic!("{wrong}"));
        let row_data = 3 * 8;
        match after.read_back() {
            Ok(()) => {}
            Err(Untruth { wrong: Wrong::Read { found, .. }, .. }) => {
                assert!(rows.contains(&(found.sector / row_data)), "{found} of {rows:?}");
                holes += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    // Each write that is cut short between its data and its parity leaves a hole, if the member is another one.
    assert!(holes > 30, "{holes} of 300");
}

#[test]
fn a_resync_closes_the_hole_for_a_member_that_fails_later() {
    if !setups::PARITY {
        return;
    }
    let params = setups::bare(raid5());
    for seed in 0..300 {
        let told = cut_while_writing(&params, seed, &[], &mut Resync::all()).and_then(|(_, mut after)| {
            after.read_back()?;
            after.cut_power(&[(seed % 4) as u16], &mut Nothing)?.read_back()
        });
        told.unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn members_that_were_not_made_consistent_are_found() {
    if !setups::PARITY {
        return;
    }
    let params = setups::bare(raid5());
    let found = (0..300).filter(|&seed| {
        let (_, after) = cut_while_writing(&params, seed, &[], &mut Nothing).expect("a cut alone is no lie");
        matches!(after.check_members(), Err(Untruth { wrong: Wrong::Parity { .. }, .. }))
    });
    assert!(found.count() > 30);
}
