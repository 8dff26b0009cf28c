//! A rebuild and a resync put the right data on their members, stamp by stamp, whatever hosts write meanwhile.
use super::observer::at_ms;
use super::rig::array_of;
use super::stamps::Stamped;
use crate::common::{TRACK, drive, flat_seek, layout, ms, zone};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, Failure, GivesWay, Level, ReadChoice, Rotation, Scheduled,
    SyncParams, When,
};
use drivelab_core::storage::array::report::{Health, SyncKind};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Sectors, Share, Span};
use proptest::prelude::*;

/// Five tracks, of which a partial parity log leaves one and a half.
fn small(params: ArrayParams) -> TargetParams {
    let geometry = layout(1, vec![zone(0, 5, TRACK as u32)]);
    array_of(params, &DriveParams { geometry, seek: flat_seek(ms(1), 5), ..drive() })
}

fn parity(parities: u8, groups: u16) -> Level {
    Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups }
}

fn mirrors(copies: u16, layout: Copies) -> Level {
    Level::StripedMirrors { copies, layout }
}

/// Levels, their members, and how many may be gone whichever they are.
fn levels() -> Vec<(Level, u16, u16)> {
    vec![
        (Level::Mirrored, 2, 1),
        (Level::Mirrored, 3, 2),
        (Level::MirroredStripes { copies: 2 }, 6, 1),
        (mirrors(2, Copies::Near), 4, 1),
        (mirrors(2, Copies::Near), 5, 1),
        (mirrors(3, Copies::Near), 5, 2),
        (mirrors(2, Copies::Far), 4, 1),
        (mirrors(3, Copies::Far), 5, 2),
        (mirrors(2, Copies::Offset), 5, 1),
        (parity(1, 1), 5, 1),
        (parity(1, 2), 6, 1),
        (parity(2, 1), 6, 2),
        (parity(3, 1), 7, 3),
        (Level::Interleaved { groups: 1 }, 4, 1),
        (Level::Interleaved { groups: 2 }, 6, 1),
    ]
}

prop_compose! {
    fn arrays()(
        (level, members, bears) in prop::sample::select(levels()),
        drawn in prop::collection::vec((0u16..8, any::<bool>(), 0u64..400), 1..4),
        rebuilding in any::<bool>(),
        consistency_policy in 0..4u8,
        unit in prop::sample::select(vec![8u64, 20, 128]),
        request in prop::sample::select(vec![96u64, 128, 500, 2_000]),
        outstanding in 1u32..4,
        takes_turns in any::<bool>(),
        rebuilt in prop::sample::select(vec![0u64, 40, 100]),
    ) -> ArrayParams {
        let mut params = ArrayParams::plain(level, members);
        for (slot, is_missing, at) in drawn.into_iter().take(bears.into()) {
            let slot = slot % members;
            if params.missing.contains(&slot) || params.failures.iter().any(|failure| failure.drive == slot) {
                continue;
            }
            if is_missing {
                params.missing.push(slot);
            } else {
                params.failures.push(Failure { drive: slot, when: When::At(at_ms(at)) });
            }
        }
        params.spares = bears;
        params.replaced_after = ms(10);
        params.rebuilding = rebuilding;
        params.rebuilt = Share::from_ratio(rebuilt, 100).unwrap();
        params.unit = Sectors::new(unit);
        params.reads = if takes_turns { ReadChoice::RoundRobin } else { ReadChoice::First };
        let has_log = matches!(level, Level::Parity { parities: 1, .. });
        params.consistency_policy = match consistency_policy {
            0 => ConsistencyPolicy::Bitmap { region: Sectors::new(64), clears_after: ms(30) },
            1 if has_log => ConsistencyPolicy::PartialParityLog,
            _ => ConsistencyPolicy::None,
        };
        let request = Sectors::new(request);
        params.sync = SyncParams { floor: None, ceiling: None, request, outstanding, gives_way: GivesWay::ByWaiting, idle_after: Span::ZERO };
        params
    }
}

proptest! {
    #[test]
    fn new_members_have_what_the_old_ones_had(
        params in arrays(),
        commands in prop::collection::vec((any::<bool>(), 0u64..800, 1u64..90, 0u64..20), 1..40),
    ) {
        let mut array = Stamped::of(&small(params));
        let capacity = array.array().capacity().get();
        // Something is there everywhere, also where no command comes to.
        for (first, wait) in (0..capacity).step_by(150).zip((0..3).cycle()) {
            array.send(Access::Write, first, (capacity - first).min(120));
            array.wait(ms(wait));
        }
        for (writes, first, count, wait) in commands {
            array.send(if writes { Access::Write } else { Access::Read }, first, count.min(capacity - first));
            array.wait(ms(wait));
        }
        // All have come in order of their sending: what lies on the same sectors is written in that order.
        for answer in array.drain() {
            prop_assert_eq!(answer.outcome, Outcome::Done);
        }
        array.wait(ms(500));
        array.drain();
        prop_assert_eq!(array.array().health(), Health::Healthy);
        array.check_media();
        for first in (0..capacity).step_by(500) {
            array.check_read(first, (capacity - first).min(500));
        }
    }
}

/// Each set of members that a level bears to lose, all new at once.
#[test]
fn every_set_of_members_is_rebuilt_from_the_others() {
    for (level, members, bears) in levels() {
        for set in super::bytes::sets(members, bears.into()).into_iter().filter(|set| !set.is_empty()) {
            let failures: Vec<Failure> =
                set.iter().map(|&drive| Failure { drive, when: When::At(at_ms(2_000)) }).collect();
            let params = ArrayParams {
                spares: bears,
                failures,
                unit: Sectors::new(16),
                ..ArrayParams::plain(level, members)
            };
            let mut array = Stamped::of(&small(params));
            array.go(Access::Write, 3, 900);
            array.wait(ms(2_100));
            array.drain();
            assert_eq!(array.array().health(), Health::Healthy, "{level:?} {set:?}");
            array.check_media();
            array.check_read(0, 1_000);
        }
    }
}

/// Parity that nobody has written right, as after a power cut, is right after a resync.
#[test]
fn a_resync_makes_parity_and_copies_right() {
    for (level, members, _) in levels() {
        let resync = Scheduled { kind: SyncKind::Resync, at: at_ms(3_000) };
        let params = ArrayParams {
            scheduled: vec![resync],
            unit: Sectors::new(16),
            ..ArrayParams::plain(level, members)
        };
        let mut array = Stamped::of(&small(params));
        array.send(Access::Write, 3, 700);
        array.wait(ms(2_000));
        let spoilt = array.spoil();
        assert!(spoilt > 0, "{level:?}");
        array.wait(ms(1_100));
        array.drain();
        array.check_media();
    }
}
