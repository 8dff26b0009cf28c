//! Cures of the write hole: what is written where, in which order, and that recovery finds what it needs.
use super::parity::{parity, small};
use super::stamps::{Stamped, added};
use crate::common::{ms, us};
use drivelab_core::storage::array::Bit;
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Failure, Level, Rotation, When};
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Sectors};
use proptest::prelude::*;

fn writes(array: &Stamped) -> Vec<(u16, u64, u64)> {
    let writes = array.seen.iter().filter(|seen| seen.access == Access::Write);
    writes.map(|seen| (seen.drive, seen.first, seen.count)).collect()
}

#[test]
fn a_journal_has_data_and_parity_first_in_one_stream() {
    let mut array =
        Stamped::new(ArrayParams { consistency_policy: ConsistencyPolicy::Journal, ..parity(1, 5) });
    array.go(Access::Write, 0, 8);
    assert_eq!(array.count(Access::Read), (2, 16));
    // Behind the superblock, and a granule that says what follows.
    assert_eq!(writes(&array), [(5, 8, 24), (0, 0, 8), (4, 0, 8)]);
    array.go(Access::Write, 0, 512);
    assert_eq!(writes(&array)[0], (5, 32, 8 + 5 * 128));
    assert_eq!(writes(&array).len(), 6);
}

#[test]
fn an_array_without_its_journal_takes_no_writes() {
    let failures = vec![Failure { drive: 5, when: When::At(Instant::from_ns(500_000_000)) }];
    let mut array = Stamped::new(ArrayParams {
        consistency_policy: ConsistencyPolicy::Journal,
        failures,
        ..parity(1, 5)
    });
    array.send(Access::Write, 0, 8);
    array.wait(ms(499));
    array.seen.clear();
    // It fails under this one.
    array.send(Access::Write, 0, 512);
    let outcomes: Vec<_> = array.drain().iter().map(|answer| answer.outcome).collect();
    assert_eq!(outcomes, [Outcome::Done, Outcome::Failed]);
    assert!(writes(&array).is_empty());
    assert_eq!(array.go(Access::Write, 0, 8).outcome, Outcome::Failed);
    assert!(writes(&array).is_empty());
    assert_eq!(array.go(Access::Read, 0, 8).outcome, Outcome::Done);
}

#[test]
fn a_partial_parity_log_is_written_where_the_parity_is() {
    let mut array =
        Stamped::new(ArrayParams { consistency_policy: ConsistencyPolicy::PartialParityLog, ..parity(1, 5) });
    array.go(Access::Write, 0, 8);
    // A granule that says what follows, and the sum of what is not written; data begin behind 1 MiB.
    assert_eq!(writes(&array), [(4, 0, 16), (0, 2_048, 8), (4, 2_048, 8)]);
    // Whole rows need no sum.
    array.go(Access::Write, 0, 512);
    assert_eq!(writes(&array)[0], (4, 16, 8));
    assert_eq!(writes(&array).len(), 6);
    // The log goes round at its end, where a description alone would be of no use.
    for _ in 0..127 {
        array.go(Access::Write, 0, 8);
    }
    assert_eq!(writes(&array)[0], (4, 0, 16));
    // What goes on at the beginning has a description of its own.
    for _ in 0..126 {
        array.go(Access::Write, 0, 8);
    }
    assert_eq!(writes(&array)[0], (4, 2_016, 16));
    array.go(Access::Write, 64, 32);
    assert_eq!(writes(&array)[..2], [(4, 2_032, 16), (4, 0, 32)]);
    assert!(array.logged.iter().all(|entry| entry.log.slot == 4));
}

#[test]
fn a_bit_is_written_once_and_cleared_a_while_after_the_last_write() {
    let consistency_policy = ConsistencyPolicy::Bitmap { region: Sectors::new(1_024), clears_after: ms(500) };
    let mut array = Stamped::new(ArrayParams { consistency_policy, ..parity(1, 5) });
    let bits = |array: &Stamped| array.seen.iter().filter(|seen| seen.first < 16).count();
    array.seen.clear();
    for at in [0, 8, 4_000, 512, 40_960, 40_968] {
        // Three of them at once.
        array.send(Access::Write, at, 8);
        if at == 4_000 {
            array.wait(ms(200));
        }
    }
    array.wait(ms(200));
    // Two regions, five members each, in the granule behind the superblock's.
    assert_eq!(bits(&array), 10);
    let marked: Vec<_> = array.array().marked().collect();
    assert_eq!(marked, [(0, 1_024, Bit::Set), (10_240, 1_024, Bit::Set)]);
    assert!(array.seen.iter().filter(|seen| seen.first < 16).all(|seen| (seen.first, seen.count) == (8, 8)));
    // No data before the bits of their region.
    let first_data = writes(&array).iter().position(|&(_, first, _)| first >= 16);
    assert!(first_data >= Some(5));
    array.drain();
    assert_eq!(bits(&array), 20);
    assert_eq!(array.array().marked().count(), 0);
    array.check_media();
}

#[test]
fn a_degraded_array_clears_no_bit() {
    let consistency_policy = ConsistencyPolicy::Bitmap { region: Sectors::new(1_024), clears_after: ms(500) };
    let mut array = Stamped::new(ArrayParams { consistency_policy, missing: vec![2], ..parity(1, 5) });
    array.go(Access::Write, 0, 8);
    array.drain();
    assert_eq!(array.array().marked().count(), 1);
}

#[test]
fn a_write_that_is_refused_sets_no_bit() {
    let consistency_policy = ConsistencyPolicy::Bitmap { region: Sectors::new(1_024), clears_after: ms(500) };
    let mut array = Stamped::new(ArrayParams { consistency_policy, missing: vec![0, 2], ..parity(1, 5) });
    array.send(Access::Write, 0, 8);
    array.wait(ms(1));
    let outcomes: Vec<_> = array.answers().iter().map(|answer| answer.outcome).collect();
    assert_eq!(outcomes, [Outcome::Lost], "at once");
    assert!(writes(&array).is_empty());
    assert_eq!(array.array().marked().count(), 0);
}

#[test]
fn a_write_that_is_refused_does_not_wait_for_the_bits_of_others() {
    let consistency_policy = ConsistencyPolicy::Bitmap { region: Sectors::new(1_024), clears_after: ms(500) };
    // Of two groups one is lost, and the other one is writing bits of the same granule.
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 2 };
    let mut array =
        Stamped::new(ArrayParams { consistency_policy, missing: vec![0, 1], level, ..parity(1, 6) });
    // A whole row, which needs not be read before.
    let other = array.send(Access::Write, 256, 256);
    let refused = array.send(Access::Write, 0, 8);
    array.wait(us(11));
    assert!(array.array().marked().any(|(_, _, bit)| bit == Bit::Setting), "bits are being written");
    let outcomes = |answers: Vec<drivelab_core::Completion>| -> Vec<_> {
        answers.iter().map(|answer| (answer.id, answer.outcome)).collect()
    };
    assert_eq!(outcomes(array.answers()), [(refused, Outcome::Lost)], "at once");
    assert_eq!(outcomes(array.drain()), [(other, Outcome::Done)]);
}

#[test]
fn a_bitmap_of_too_many_regions_is_refused() {
    let check = |region, capacity| {
        let consistency_policy =
            ConsistencyPolicy::Bitmap { region: Sectors::new(region), clears_after: ms(500) };
        ArrayParams { consistency_policy, ..parity(1, 5) }.check(&[Sectors::new(capacity); 5])
    };
    assert!(check(8, 8 << 24).is_ok());
    let error = check(8, (8 << 24) + 1).unwrap_err();
    assert!(error.to_string().contains("16777217"), "{error}");
    assert!(check(16, (8 << 24) + 1).is_ok());
}

proptest! {
    /// The journal holds what the members got.
    #[test]
    fn a_journal_can_be_played_again(
        commands in proptest::collection::vec((0u64..200, 1u64..90), 1..12), parities in 1u8..=2,
    ) {
        let params = ArrayParams { consistency_policy: ConsistencyPolicy::Journal, ..small(parities, 4 + u16::from(parities), 16, 8) };
        let members = params.members;
        let mut array = Stamped::new(params);
        for (first, count) in commands {
            array.logged.clear();
            array.go(Access::Write, first, count);
            prop_assert!(!array.logged.is_empty());
            for entry in &array.logged {
                for at in 0..entry.count {
                    let logged = array.on_media(members, entry.log.at + at);
                    prop_assert_eq!(logged, array.on_media(entry.of.slot, entry.of.at + at));
                }
            }
        }
    }

    /// A logged sum and the data that were written give the parity.
    #[test]
    fn partial_parity_gives_the_parity(
        commands in proptest::collection::vec((0u64..200, 1u64..60), 1..12), columns in 2u16..6,
    ) {
        let params = ArrayParams { consistency_policy: ConsistencyPolicy::PartialParityLog, ..small(1, columns + 1, 16, 8) };
        let mut array = Stamped::new(params);
        for (first, count) in commands {
            array.logged.clear();
            array.go(Access::Write, first, count);
            for entry in &array.logged {
                for at in 0..entry.count {
                    let (place, parity) = (entry.of.at + at, entry.of.slot);
                    let is_written = |drive: u16| array.seen.iter().any(|seen| {
                        seen.access == Access::Write && seen.drive == drive
                            && (seen.first..seen.first + seen.count).contains(&place)
                    });
                    let data = (0..=columns).filter(|&drive| drive != parity && is_written(drive));
                    let logged = if entry.is_whole { Default::default() } else { array.on_media(parity, entry.log.at + at) };
                    let sum = data.fold(logged, |sum, drive| added(sum, array.on_media(drive, place)));
                    prop_assert_eq!(sum, array.on_media(parity, place));
                }
            }
        }
        array.check_media();
    }
}
