//! Levels with parity, healthy and degraded: the data that members and hosts get are right, byte by byte.
use crate::common::ms;
use crate::stamps::Stamped;
use drivelab_core::target::array::params::{
    ArrayParams, Cure, Failure, Level, PartialWrites, Rotation, When,
};
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Sectors};
use proptest::prelude::*;

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
        cure in 0..8u8,
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
        params.unit = Sectors::new(unit);
        params.parity.partial = partial;
        params.parity.granule = Sectors::new(granule);
        params.request = Sectors::new(request);
        let has_rows = matches!(level, Level::Parity { .. });
        params.cure = match cure {
            0 => Cure::Bitmap { region: Sectors::new(16), clears_after: ms(30) },
            1 if has_rows => Cure::Journal,
            2 if has_rows && parities(level) == 1 => Cure::PartialParityLog,
            _ => Cure::None,
        };
        params
    }
}

proptest! {
    /// Commands one and several at a time, members failing under them.
    #[test]
    fn data_and_parity_are_right_after_random_writes(
        params in arrays(),
        commands in proptest::collection::vec((any::<bool>(), 0u64..400, 1u64..90, 0u8..3), 1..40),
    ) {
        let gone: Vec<u16> =
            params.missing.iter().copied().chain(params.failures.iter().map(|failure| failure.drive)).collect();
        let mut array = Stamped::new(params);
        // Of the commands under way no two may name the same sector: what a read would see is open.
        let mut under_way: Vec<(Access, u64, u64, u64)> = Vec::new();
        for (writes, first, count, more) in commands {
            if under_way.iter().any(|&(_, _, begin, end)| first < end && first + count > begin) {
                continue;
            }
            let access = if writes { Access::Write } else { Access::Read };
            let id = array.send(access, first, count);
            under_way.push((access, id, first, first + count));
            if more == 0 {
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
        array.drain();
        array.wait(ms(1_100));
        array.drain();
        array.check_media(&gone);
        array.check_read(0, 500);
    }
}
