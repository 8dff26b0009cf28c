//! Whatever is asked of an array without parity rows or of RAID-Z, and whatever fails: each command is answered once, its
//! breakdown adds up, and what comes back is what was written last.
use super::bytes::{Bytes, bytes};
use super::rig::array_on;
use crate::common::{Probe, drive, ms};
use drivelab_core::storage::array::params::{
    ArrayParams, Copies, Failure, Level, ReadChoice, SplitReads, When,
};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Share};
use proptest::prelude::*;
use std::collections::HashMap;

/// Sectors among which commands lie.
const SPAN: u64 = 3_000;

fn any_level() -> impl Strategy<Value = (Level, u16)> {
    let spread = |layout| move |copies| Level::StripedMirrors { copies, layout };
    let raid10 = prop_oneof![Just(Copies::Near), Just(Copies::Far), Just(Copies::Offset)]
        .prop_flat_map(move |layout| ((2_u16..4).prop_map(spread(layout)), 3_u16..6));
    let raidz = (1_u8..4, 1_u64..40, 20_u8..101).prop_map(|(parities, sectors, fill_percent)| Level::RaidZ {
        parities,
        record: Sectors::new(sectors * 8),
        fill_percent,
    });
    prop_oneof![
        (Just(Level::Linear), 1_u16..4),
        (Just(Level::Striped), 1_u16..4),
        (Just(Level::Mirrored), 2_u16..4),
        (2_u16..4).prop_map(|copies| (Level::MirroredStripes { copies }, copies * 2)),
        raid10,
        (raidz, 4_u16..8),
    ]
}

fn any_array() -> impl Strategy<Value = ArrayParams> {
    let reads = prop_oneof![
        Just(ReadChoice::First),
        Just(ReadChoice::RoundRobin),
        Just(ReadChoice::NearestHead),
        Just(ReadChoice::LeastQueued),
        Just(ReadChoice::AskAll),
    ];
    (any_level(), reads, any::<bool>(), 40_u64..500, 1_u64..200).prop_map(
        |(level, reads, splits, request, unit)| {
            let (level, members) = level;
            let has_copies = !matches!(level, Level::Linear | Level::Striped | Level::RaidZ { .. });
            let split = SplitReads { from: Sectors::new(50), unit: Sectors::new(unit) };
            let request = if let Level::RaidZ { .. } = level { request + 320 } else { request };
            ArrayParams {
                reads,
                split: (splits && has_copies).then_some(split),
                request: Sectors::new(request),
                unit: Sectors::new(unit),
                ..ArrayParams::plain(level, members)
            }
        },
    )
}

fn small(cylinders: u32) -> DriveParams {
    let mut drive = drive();
    drive.geometry.zones[0].cylinders = cylinders;
    drive
}

fn any_command() -> impl Strategy<Value = (Access, u64, u64)> {
    let access = prop_oneof![4 => Just(Access::Read), 4 => Just(Access::Write), 1 => Just(Access::Flush)];
    (access, 0..SPAN, 1_u64..700)
}

proptest! {
    #[test]
    fn every_command_is_answered_once(
        params in any_array(),
        commands in proptest::collection::vec((any_command(), 0_u64..8), 1..60),
        failing in proptest::collection::btree_map(0_u16..8, 0_u64..200, 0..4),
        unreadable in proptest::collection::vec((0_u16..8, 0_u64..2_000, 1_u64..60), 0..4),
    ) {
        let failures = failing.iter().filter(|&(&drive, _)| drive < params.members).map(|(&drive, &after)| {
            let when = if after < 100 {
                When::Commands(after)
            } else {
                When::At(Instant::from_ns((after - 100) * 1_000_000))
            };
            Failure { drive, when }
        });
        let params = ArrayParams { failures: failures.collect(), ..params };
        let drives: Vec<DriveParams> = (0..params.members).map(|slot| {
            let bad = unreadable.iter().filter(|&&(member, ..)| member == slot);
            let unreadable = bad.map(|&(_, first, count)| (Lba::new(first), Sectors::new(count))).collect();
            let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: ms(10) };
            DriveParams { faults: Some(faults), ..small(100) }
        }).collect();
        let mut probe = Probe::new(&array_on(params, &drives), 1);
        probe.target().keep_traces();
        let capacity = probe.capacity();
        let (mut sent, mut answers) = (0, Vec::new());
        for ((access, first, count), wait) in commands {
            let first = first % capacity;
            let count = if access == Access::Flush { 0 } else { count.min(capacity - first) };
            probe.send(access, first, count);
            sent += 1;
            // Some come while others are under way.
            if wait < 5 {
                answers.extend(probe.answer());
            }
        }
        answers.extend(probe.drain());
        let mut ids: Vec<u64> = answers.iter().map(|answer| answer.id).collect();
        ids.sort_unstable();
        prop_assert_eq!(ids, (0..sent).collect::<Vec<_>>());
        for answer in &answers {
            prop_assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
            let is_known = matches!(answer.outcome, Outcome::Done | Outcome::Lost | Outcome::MediaError);
            prop_assert!(is_known, "{:?}", answer.outcome);
        }
    }

    /// One command after the other, as drives fail: whatever is read without an error is what was written last.
    #[test]
    fn what_is_read_was_written_last(
        params in any_array(),
        commands in proptest::collection::vec(any_command(), 1..30),
        failing in proptest::collection::btree_map(0_u16..8, 1_u64..30, 0..3),
    ) {
        let failures = failing.iter().filter(|&(&drive, _)| drive < params.members);
        let failures = failures.map(|(&drive, &after)| Failure { drive, when: When::Commands(after) });
        let params = ArrayParams { failures: failures.collect(), ..params };
        let drives = vec![small(100); params.members.into()];
        let mut array = Bytes::new(&array_on(params, &drives));
        let capacity = array.target.capacity().get();
        let mut expected: HashMap<u64, u8> = HashMap::new();
        for (step, (access, first, count)) in commands.into_iter().enumerate() {
            let first = first % capacity;
            let data = bytes(step, if access == Access::Flush { 0 } else { count.min(capacity - first) as usize });
            let (outcome, read) = array.go(access, first, &data);
            let addresses = (first..).zip(data);
            match (access, outcome) {
                (Access::Write, Outcome::Done) => expected.extend(addresses),
                // What of it has come to the members is not known.
                (Access::Write, _) => {
                    for (at, _) in addresses {
                        expected.remove(&at);
                    }
                }
                (Access::Read, Outcome::Done) => {
                    for ((at, _), byte) in addresses.zip(read) {
                        prop_assert!(expected.get(&at).is_none_or(|&written| written == byte), "at {at}");
                    }
                }
                _ => {}
            }
        }
    }
}
