//! Levels with parity, healthy and degraded: the data that members and hosts get are right, byte by byte.
use super::rig::{array, array_of};
use super::stamps::Stamped;
use crate::common::{TRACK, drive, flat_seek, layout, ms, queue, us, zone};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Failure, Level, PartialWrites, Rotation, When,
};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Share};
use proptest::prelude::*;
use std::sync::Arc;

const ROTATIONS: [Rotation; 6] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
    Rotation::First,
    Rotation::Last,
];

fn levels() -> impl Strategy<Value = (Level, u16)> {
    let parity = (1u8..=3, 0..ROTATIONS.len(), 1u16..=2, 2u16..=4).prop_map(|(p, rotation, groups, data)| {
        let level = Level::Parity { parities: p, rotation: ROTATIONS[rotation], groups };
        (level, groups * (u16::from(p) + data))
    });
    let interleaved =
        (1u16..=2, 2u16..=4).prop_map(|(groups, data)| (Level::Interleaved { groups }, groups * (data + 1)));
    prop_oneof![5 => parity, 1 => interleaved]
}

fn partial() -> impl Strategy<Value = PartialWrites> {
    prop_oneof![
        any::<bool>().prop_map(|prefers_old| PartialWrites::Cheaper { prefers_old }),
        Just(PartialWrites::Old),
        Just(PartialWrites::Rest),
    ]
}

fn parities(level: Level) -> u16 {
    if let Level::Parity { parities, .. } = level { parities.into() } else { 1 }
}

fn groups(level: Level) -> u16 {
    match level {
        Level::Parity { groups, .. } | Level::Interleaved { groups } => groups,
        _ => 1,
    }
}

prop_compose! {
    /// Parameters with members that are missing as the run begins and such that fail in it, no more in a group than it
    /// bears.
    fn arrays()((level, members) in levels())(
        level in Just(level),
        members in Just(members),
        partial in partial(),
        unit in prop_oneof![Just(8u64), Just(24), Just(20)],
        granule in prop_oneof![Just(1u64), Just(8)],
        request in prop_oneof![Just(8u64), Just(40), Just(1 << 16)],
        drawn in proptest::collection::vec((any::<bool>(), 0..1_000_000_000u64), 3),
        consistency_policy in 0..8u8,
        spares in 0u16..3,
        order in Just((0..members).collect::<Vec<u16>>()).prop_shuffle(),
    ) -> ArrayParams {
        let mut params = ArrayParams::plain(level, members);
        let each = members / groups(level);
        let mut left = vec![parities(level); usize::from(groups(level))];
        for (drive, (is_missing, at)) in order.into_iter().zip(drawn) {
            let left = &mut left[usize::from(drive / each)];
            if *left == 0 {
                continue;
            }
            *left -= 1;
            if is_missing {
                params.missing.push(drive);
            } else {
                params.failures.push(Failure { drive, when: When::At(Instant::from_ns(at)) });
            }
        }
        (params.spares, params.replaced_after) = (spares, ms(20));
        params.unit = Sectors::new(unit);
        params.parity.partial = partial;
        params.parity.granule = Sectors::new(granule);
        params.request = Sectors::new(request);
        let has_rows = matches!(level, Level::Parity { .. });
        params.consistency_policy = match consistency_policy {
            0 => ConsistencyPolicy::Bitmap { region: Sectors::new(16), clears_after: ms(30) },
            1 if has_rows => ConsistencyPolicy::Journal,
            2 if has_rows && parities(level) == 1 => ConsistencyPolicy::PartialParityLog,
            _ => ConsistencyPolicy::None,
        };
        params
    }
}

/// Commands one and several at a time: whether they write, where, how much, and whether to wait for them.
fn play(array: &mut Stamped, commands: Vec<(bool, u64, u64, u8)>) -> Result<(), TestCaseError> {
    // Of those under way no two may name the same sector: what a read would see is open.
    let mut under_way: Vec<(Access, u64, u64, u64)> = Vec::new();
    let last = commands.len() - 1;
    for (at, (writes, first, count, more)) in commands.into_iter().enumerate() {
        if !under_way.iter().any(|&(_, _, begin, end)| first < end && first + count > begin) {
            let access = if writes { Access::Write } else { Access::Read };
            let id = array.send(access, first, count);
            under_way.push((access, id, first, first + count));
        }
        if more == 0 || at == last {
            for answer in array.drain() {
                prop_assert_eq!(answer.outcome, Outcome::Done);
            }
            for (access, id, first, end) in under_way.drain(..) {
                if access == Access::Read {
                    array.compare(id, first, end - first);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    /// Commands one and several at a time, members failing under them.
    #[test]
    fn data_and_parity_are_right_after_random_writes(
        params in arrays(),
        commands in proptest::collection::vec((any::<bool>(), 0u64..400, 1u64..90, 0u8..3), 1..40),
    ) {
        let gone = (params.missing.len() + params.failures.len()) as u16;
        let replaced = gone.min(params.spares);
        // Small, so that members are rebuilt while commands come, and between them.
        let geometry = layout(1, vec![zone(0, 5, TRACK as u32)]);
        let mut array = Stamped::of(&array_of(params, &DriveParams { geometry, seek: flat_seek(ms(1), 5), ..drive() }));
        play(&mut array, commands)?;
        array.wait(ms(1_100));
        array.drain();
        let whole = array.array().members().iter().filter(|(_, member)| member.state == MemberState::Whole).count() as u16;
        prop_assert_eq!(whole, array.array().members().count() - gone + replaced);
        array.check_media();
        array.check_read(0, 500);
    }
}

/// An array whose drives have sectors that cannot be read, no two of a row.
fn with_unreadable(params: ArrayParams, unreadable: &[(u16, u64)]) -> TargetParams {
    let TargetParams::System(mut system) = array(params) else { unreachable!("an array is a system") };
    for &(slot, _) in unreadable {
        let own = unreadable.iter().filter(|&&(other, _)| other == slot);
        let faults = FaultParams {
            read_errors: Share::NONE,
            unreadable: own.map(|&(_, at)| (Lba::new(at), Sectors::new(1))).collect(),
            retries: ms(20),
        };
        let faulty = DriveParams { faults: Some(faults), ..drive() };
        system.drives[usize::from(slot)] = Arc::new(DriveModel::new(&faulty).unwrap());
    }
    TargetParams::System(system)
}

#[test]
fn what_cannot_be_read_is_computed_from_the_rest() {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let plain = ArrayParams::plain(level, 4);
    let mut array = Stamped::new(plain.clone());
    array.go(Access::Write, 0, 3 * 128);
    let mut array = array.moved_to(&with_unreadable(plain, &[(1, 11), (1, 27)]));
    array.check_read(128 + 8, 8);
    assert_eq!(array.count(Access::Read), (3, 24));
    assert_eq!((array.count(Access::Write), array.array().repaired()), ((1, 8), 8));
    // The old data of a small write as well: without them parity comes from the rest.
    array.go(Access::Write, 128 + 24, 4);
    assert_eq!(array.array().repaired(), 8, "the write itself has put it right");
    array.check_read(0, 3 * 128);
    array.check_media();
}

proptest! {
    /// Reads that fail send a stripe request back to its plan, while others are under way.
    #[test]
    fn unreadable_sectors_spoil_nothing(
        (level, members) in levels(),
        (bad, one) in (0u16..3, 0u64..64),
        commands in proptest::collection::vec((any::<bool>(), 0u64..400, 1u64..90, 0u8..3), 1..30),
    ) {
        let params = ArrayParams { unit: Sectors::new(16), ..ArrayParams::plain(level, members) };
        let mut array = Stamped::new(params.clone());
        array.go(Access::Write, 0, 500);
        let mut array = array.moved_to(&with_unreadable(params, &[(bad, one)]));
        play(&mut array, commands)?;
        array.check_media();
        array.check_read(0, 500);
    }
}

/// The rest of a row is read for a unit that cannot be, while a neighbour in the row is written: data and parity of that
/// write arrive at different times, and the sum must not see one without the other.
#[test]
fn a_second_plan_waits_for_writes_to_its_row() {
    let level = Level::Parity { parities: 1, rotation: Rotation::Last, groups: 1 };
    for delay in (0..120_000).step_by(1_000) {
        let mut array = Stamped::new(ArrayParams::plain(level, 3));
        array.go(Access::Write, 0, 256);
        let mut target = with_unreadable(ArrayParams::plain(level, 3), &[(0, 100)]);
        if let TargetParams::System(system) = &mut target {
            // Members that take their commands as they come would keep the order by themselves.
            let reorders = DriveParams { queue: queue(16, Order::Sptf), ..drive() };
            system.drives[1..].fill(Arc::new(DriveModel::new(&reorders).unwrap()));
        }
        let mut array = array.moved_to(&target);
        let read = array.send(Access::Read, 100, 8);
        array.wait(us(delay));
        // Keeps the data's member busy beside the write, and the parity's not: they come round to it at different angles.
        array.send(Access::Write, 128, 128);
        for row in 1..25 {
            array.send(Access::Read, row * 20_480 + 128, 8);
        }
        array.drain();
        array.compare(read, 100, 8);
        array.check_media();
    }
}
