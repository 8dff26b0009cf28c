//! What a read could not get from one member is written back to it: on every level that knows it from others, with the
//! right data, once, and in its time.
use super::bytes::{Bytes, bytes};
use super::observer::{Observer, at_ms};
use super::rig::{array_of, array_on};
use super::stamps::Stamped;
use crate::common::{TRACK, TURN, drive, flat_seek, layout, ms, response, zone};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, Copies, Level, ReadChoice, Rotation, Scheduled};
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;

fn small() -> DriveParams {
    let geometry = layout(1, vec![zone(0, 5, TRACK as u32)]);
    DriveParams { geometry, seek: flat_seek(ms(1), 5), ..drive() }
}

/// An array of small drives of which one cannot read these sectors.
fn faulty(params: ArrayParams, member: u16, bad: &[(u64, u64)], retries: Span) -> TargetParams {
    let unreadable = bad.iter().map(|&(first, count)| (Lba::new(first), Sectors::new(count))).collect();
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries };
    let drives: Vec<DriveParams> = (0..params.members)
        .map(|slot| DriveParams { faults: (slot == member).then(|| faults.clone()), ..small() })
        .collect();
    array_on(params, &drives)
}

fn levels() -> Vec<(Level, u16)> {
    let mirrors = |copies, layout| Level::StripedMirrors { copies, layout };
    let parity = |parities, groups| Level::Parity { parities, rotation: Rotation::LeftAsymmetric, groups };
    let z = |parities| Level::RaidZ { parities, record: Sectors::new(48), fill_percent: 60 };
    vec![
        (Level::Mirrored, 2),
        (Level::Mirrored, 3),
        (Level::MirroredStripes { copies: 2 }, 4),
        (mirrors(2, Copies::Near), 3),
        (mirrors(2, Copies::Far), 4),
        (mirrors(3, Copies::Offset), 5),
        (parity(1, 1), 4),
        (parity(1, 2), 6),
        (parity(2, 1), 5),
        (parity(3, 1), 6),
        (Level::Interleaved { groups: 1 }, 4),
        (Level::Interleaved { groups: 2 }, 6),
        (z(1), 4),
        (z(2), 5),
        (z(3), 6),
    ]
}

/// Each member in turn has bad sectors, here and there; all of the array is read, twice.
#[test]
fn every_level_repairs_what_it_can_compute_from_others() {
    for (level, members) in levels() {
        for reads in [ReadChoice::RoundRobin, ReadChoice::AskAll] {
            let mut params =
                ArrayParams { unit: Sectors::new(16), reads, ..ArrayParams::plain(level, members) };
            params.parity.granule = Sectors::new(4);
            let mut written = 0;
            for member in 0..members {
                let mut array = Bytes::new(&array_of(params.clone(), &small()));
                array.write(0, &bytes(5, 900));
                let before = array.all();
                // The last two are where a pool writes first.
                let bad = [(3, 1), (21, 40), (120, 9), (1_830, 3), (1_900, 40)];
                let mut array = array.moved_to(&faulty(params.clone(), member, &bad, Span::ZERO));
                let what = format!("{level:?}, {reads:?}, member {member}");
                for _ in 0..6 {
                    assert!(array.read(0, 900) == bytes(5, 900), "{what}");
                    array.settle();
                }
                assert!(array.all() == before, "{what}: what was written back is what was there");
                let repaired = |array: &Bytes| array.target.system().unwrap().array().unwrap().repaired();
                let known = repaired(&array);
                written += known;
                assert!(array.read(0, 900) == bytes(5, 900), "{what}");
                array.settle();
                assert_eq!((repaired(&array), array.writes.len()), (known, 0), "{what}");
            }
            assert!(written > 0, "{level:?}");
        }
    }
}

/// A failed read, the read of the other copy, and the write: all drives turn as one, and so a turn lies between each two.
#[test]
fn a_repair_takes_the_time_of_its_write() {
    let params = ArrayParams {
        reads: ReadChoice::First,
        synchronised: true,
        ..ArrayParams::plain(Level::Mirrored, 2)
    };
    let sound = Stamped::of(&array_of(params.clone(), &small())).go(Access::Read, 80, 8);
    let mut array = Stamped::of(&faulty(params, 0, &[(83, 1)], ms(40)));
    let repairing = array.go(Access::Read, 80, 8);
    // The drive tries again for 40 ms; then the other copy comes round in the seventh turn, and the write in the eighth.
    assert_eq!(response(&repairing), response(&sound) + 8 * TURN);
    assert_eq!(repairing.breakdown.total(), repairing.completed - repairing.submitted);
    let members: Vec<_> =
        array.seen.iter().map(|seen| (seen.access, seen.drive, seen.first, seen.count)).collect();
    assert_eq!(members, [(Access::Read, 1, 80, 8), (Access::Write, 0, 80, 8)]);
    assert_eq!(response(&array.go(Access::Read, 80, 8)), TURN);
    assert_eq!(array.array().repaired(), 8);
}

#[test]
fn a_scrub_repairs_what_no_host_has_read() {
    for (level, members) in levels() {
        let scheduled = vec![Scheduled { kind: SyncKind::Scrub, at: at_ms(10) }];
        let mut params =
            ArrayParams { unit: Sectors::new(16), scheduled, ..ArrayParams::plain(level, members) };
        params.parity.granule = Sectors::new(4);
        params.sync.request = Sectors::new(64);
        let mut array = Observer::of(&faulty(params, 1, &[(3, 1), (21, 40), (1_000, 9)], Span::ZERO));
        array.run_out();
        // Whole granules of each stretch, as far as there is something on the member; of a pool whole columns.
        let repaired = array.array().repaired();
        let expected = if matches!(level, Level::RaidZ { .. }) { 50..=120 } else { 50..=60 };
        assert!(expected.contains(&repaired), "{level:?}: {repaired}");
        assert_eq!(array.lost(), [], "{level:?}");
        let capacity = array.array().capacity().get();
        for (i, first) in (0..capacity).step_by(200).enumerate() {
            assert_eq!(
                array.read(100_000 + 1_000 * i as u64, first, (capacity - first).min(200)).0,
                Outcome::Done
            );
        }
        assert_eq!(array.array().repaired(), repaired, "{level:?}: nothing was left over");
    }
}

proptest! {
    /// Whatever is written while a read repairs, the copies are alike in the end.
    #[test]
    fn a_repair_never_puts_old_data_over_new(
        at in 0usize..6,
        bad in 0u64..60,
        commands in proptest::collection::vec((any::<bool>(), 0u64..160, 1u64..40, 0u64..8), 1..30),
    ) {
        let (level, members) = levels()[at];
        let params = ArrayParams { unit: Sectors::new(16), reads: ReadChoice::First, ..ArrayParams::plain(level, members) };
        let mut array = Stamped::of(&array_of(params.clone(), &small()));
        array.go(Access::Write, 0, 200);
        let mut array = array.moved_to(&faulty(params, 0, &[(bad, 12)], ms(3)));
        for (writes, first, count, wait) in commands {
            array.send(if writes { Access::Write } else { Access::Read }, first, count);
            array.wait(ms(wait));
        }
        array.drain();
        array.check_media();
        array.check_read(0, 200);
        prop_assert!(array.now < Instant::ZERO + Span::from_s(100));
    }
}
