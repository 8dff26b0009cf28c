//! The write hole: what a power cut does to parity, when that is found out, and what closes it.
use crate::setups::{self, Dice};
use drivelab_core::Access;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Level, Rotation};
use drivelab_core::storage::system::SystemParams;
use drivelab_simulate::checker::checked_target::Tap;
use drivelab_simulate::checker::{
    CheckedTarget, Nothing, PolicyRecovery, Recovery, Resync, Violation, Wrong,
};
use drivelab_units::{Sectors, Span};
use std::collections::BTreeSet;

/// Sectors that are written before everything else.
const FILLED: u64 = 400;

fn raid5() -> ArrayParams {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    ArrayParams::plain(level, 4)
}

fn policy_recovery(consistency_policy: ConsistencyPolicy) -> SystemParams {
    setups::bare(ArrayParams { consistency_policy, ..raid5() })
}

/// Fills an array, writes a few sectors here and there, and cuts the power meanwhile. Returns the rows that were being
/// written as it went, and what the array is then.
fn cut_while_writing(
    params: &SystemParams,
    seed: u64,
    missing: &[u16],
    recovery: &mut dyn Recovery,
) -> Result<(BTreeSet<u64>, CheckedTarget), Violation> {
    let (writing, watched) = writing(params, seed, None)?;
    Ok((writing.rows, watched.cut_power(missing, recovery)?))
}

/// How long after its submission the last write may be cut: bits of a bitmap come before it.
fn latest_us(params: &SystemParams) -> u64 {
    if params
        .array
        .as_ref()
        .is_some_and(|array| matches!(array.consistency_policy, ConsistencyPolicy::Bitmap { .. }))
    {
        50_000
    } else {
        30_000
    }
}

/// What is being written.
#[derive(Default)]
struct Writing {
    rows: BTreeSet<u64>,
    sectors: BTreeSet<u64>,
}

fn writing(
    params: &SystemParams,
    seed: u64,
    tap: Option<Tap>,
) -> Result<(Writing, CheckedTarget), Violation> {
    let mut dice = Dice::new(seed, "hole");
    let mut watched = CheckedTarget::new(params, seed);
    if let Some(tap) = tap {
        watched.tap(tap);
    }
    watched.go(Access::Write, 0, FILLED)?;
    watched.run_out()?;
    let row_data = match watched.target().system().and_then(|system| system.array()).map(Array::layout) {
        Some(Layout::Rows(rows)) => rows.row_data(),
        _ => unreachable!("an array with parity"),
    };
    let mut writing = Writing::default();
    for id in 0..4 {
        let (first, count) = (dice.below(FILLED - 6), 1 + dice.below(6));
        watched.submit(&crate::common::command(id, Access::Write, first, count))?;
        writing.sectors.extend(first..first + count);
        writing.rows.extend(first / row_data..=(first + count - 1) / row_data);
    }
    watched.run_until(watched.now() + Span::from_us(dice.below(latest_us(params))))?;
    Ok((writing, watched))
}

#[test]
fn without_a_cure_a_cut_changes_what_was_not_written_and_only_in_rows_that_were() {
    let params = setups::bare(raid5());
    let mut holes = 0;
    for seed in 0..300 {
        let missing = [(seed % 4) as u16];
        let (rows, mut after) = cut_while_writing(&params, seed, &missing, &mut Nothing)
            .unwrap_or_else(|wrong| panic!("{wrong}"));
        let row_data = 3 * 8;
        match after.read_back() {
            Ok(()) => {}
            Err(Violation { wrong: Wrong::Read { found, .. }, .. }) => {
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
    let params = setups::bare(raid5());
    for seed in 0..300 {
        let checked = cut_while_writing(&params, seed, &[], &mut Resync::all()).and_then(|(_, mut after)| {
            after.read_back()?;
            after.cut_power(&[(seed % 4) as u16], &mut Nothing)?.read_back()
        });
        checked.unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn members_that_were_not_made_consistent_are_found() {
    let params = setups::bare(raid5());
    let found = (0..300).filter(|&seed| {
        let (_, after) = cut_while_writing(&params, seed, &[], &mut Nothing).expect("a cut alone is no lie");
        matches!(after.check_members(), Err(Violation { wrong: Wrong::Parity { .. }, .. }))
    });
    assert!(found.count() > 30);
}

/// Reads everything that was not being written.
fn read_rest(after: &mut CheckedTarget, writing: &Writing) -> Result<(), Violation> {
    let rest = (0..FILLED).filter(|sector| !writing.sectors.contains(sector));
    for sector in rest {
        after.go(Access::Read, sector, 1)?;
    }
    Ok(())
}

#[test]
fn with_a_journal_no_cut_changes_anything_whatever_member_is_gone() {
    let params = policy_recovery(ConsistencyPolicy::Journal);
    for seed in 0..300 {
        let (_, watched) = writing(&params, seed, None).expect("no cut so far");
        let after = watched.cut_power(&[(seed % 4) as u16], &mut PolicyRecovery::default());
        after.and_then(|mut after| after.read_back()).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn with_a_partial_parity_log_no_cut_changes_what_was_not_being_written() {
    let params = policy_recovery(ConsistencyPolicy::PartialParityLog);
    for seed in 0..300 {
        let cut = |missing: &[u16]| {
            let (writing, watched) = writing(&params, seed, None)?;
            Ok((writing, watched.cut_power(missing, &mut PolicyRecovery::default())?))
        };
        let checked =
            cut(&[(seed % 4) as u16]).and_then(|(writing, mut after)| read_rest(&mut after, &writing));
        // With all members the log makes parity fit everywhere.
        let checked = checked.and_then(|()| cut(&[])).and_then(|(_, mut after)| after.read_back());
        checked.unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn a_resync_of_what_a_bitmap_marks_makes_parity_fit_everywhere() {
    let params = policy_recovery(ConsistencyPolicy::Bitmap {
        region: Sectors::new(16),
        clears_after: Span::from_ms(2),
    });
    let (mut spoilt, mut most) = (0, 0);
    for seed in 0..300 {
        let (_, watched) = writing(&params, seed, None).expect("no cut so far");
        let mut recovery = PolicyRecovery::default();
        let mut after = watched.cut_power(&[], &mut recovery).expect("a cut alone is no lie");
        after.read_back().unwrap_or_else(|wrong| panic!("{wrong}"));
        most = most.max(recovery.regions().map_or(usize::MAX, <[_]>::len));
        let (_, after) = cut_while_writing(&params, seed, &[], &mut Nothing).expect("a cut alone is no lie");
        spoilt += u32::from(after.check_members().is_err());
    }
    // There was something to be done, and it was never more than what four writes touch, of 80 regions.
    assert!(spoilt > 20 && (1..=32).contains(&most), "{spoilt} of 300, {most} regions");
}

/// Keeps the journal from its media: what a cut leaves of one that is written behind the data.
fn late_journal() -> Tap {
    Box::new(|op| match op {
        DataOp::Accept { member: 4, .. } | DataOp::Persist { member: 4, .. } => None,
        op => Some(op),
    })
}

#[test]
fn a_journal_that_is_written_behind_the_data_is_found() {
    let params = policy_recovery(ConsistencyPolicy::Journal);
    let found = (0..300).filter(|&seed| {
        let (_, watched) = writing(&params, seed, Some(late_journal())).expect("no cut so far");
        let after = watched.cut_power(&[(seed % 4) as u16], &mut PolicyRecovery::default());
        let checked = after.and_then(|mut after| after.read_back());
        matches!(checked, Err(Violation { wrong: Wrong::Read { .. }, .. }))
    });
    assert!(found.count() > 30);
}
