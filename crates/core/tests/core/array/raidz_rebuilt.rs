//! A resilver of a RAID-Z pool puts the right columns on the new members, stamp by stamp, whatever hosts write meanwhile
//! and whoever fails next.
use super::observer::at_ms;
use super::rig::array_of;
use super::stamps::Stamped;
use crate::common::{TRACK, drive, flat_seek, layout, ms, zone};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, Failure, GivesWay, Level, SyncParams, When};
use drivelab_core::storage::array::report::{Health, ReportKind, Run};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Sectors, Span};
use proptest::prelude::*;
use std::collections::HashMap;

/// How long after the one before a wave of failures comes, in ms, and when the members fail that are not to be missed after
/// all rebuilds.
const WAVE: u64 = 8_000;
const LATE: u64 = 60_000;

/// Three tracks.
fn small(params: ArrayParams) -> TargetParams {
    let geometry = layout(1, vec![zone(0, 3, TRACK as u32)]);
    array_of(params, &DriveParams { geometry, seek: flat_seek(ms(1), 3), ..drive() })
}

fn level(parities: u8, sectors: u64, fill_percent: u8) -> Level {
    Level::RaidZ { parities, record: Sectors::new(sectors * 4), fill_percent }
}

/// Sectors of 2 KiB: columns of two lengths, records on fewer members than there are, sectors left over behind them.
fn pool(level: Level, members: u16) -> ArrayParams {
    let mut params = ArrayParams::plain(level, members);
    params.parity.granule = Sectors::new(4);
    params
}

/// Waves of failures: in each no more than there are parities, one after the other has been made good.
fn waves(members: u16, parities: u8, drawn: &[(u16, u64)]) -> Vec<Failure> {
    let (most, mut failures, mut spare) = (usize::from(parities), Vec::new(), members);
    // Which drive has a slot.
    let mut drives: Vec<u16> = (0..members).collect();
    for (wave, drawn) in (0..).zip(drawn.chunks(most)) {
        let mut failing: Vec<(u64, u16)> = drawn.iter().map(|&(slot, at)| (at, slot % members)).collect();
        failing.sort_unstable();
        let mut gone = Vec::new();
        for (at, slot) in failing {
            if !gone.contains(&slot) {
                let when = When::At(at_ms(WAVE * wave + at));
                failures.push(Failure { drive: drives[usize::from(slot)], when });
                drives[usize::from(slot)] = spare;
                spare += 1;
                gone.push(slot);
            }
        }
    }
    // In the end as many at once as it bears.
    let last = drives.into_iter().take(most).map(|drive| Failure { drive, when: When::At(at_ms(LATE)) });
    failures.extend(last);
    failures
}

prop_compose! {
    fn pools()(
        (parities, members) in (1u8..4).prop_flat_map(|parities| (Just(parities), u16::from(parities) + 1..8)),
        drawn in prop::collection::vec((0u16..8, 0u64..400), 1..7),
        late in 0u64..12,
        sectors in prop::sample::select(vec![1u64, 2, 3, 7, 16, 31]),
        fill in prop::sample::select(vec![20u8, 60, 90, 100]),
        request in prop::sample::select(vec![16u64, 128, 500, 2_000]),
        outstanding in 1u32..4,
        most in prop::sample::select(vec![128u64, 1 << 16]),
    ) -> ArrayParams {
        let failures = waves(members, parities, &drawn);
        let request = Sectors::new(request);
        ArrayParams {
            // Those that fail late are not replaced.
            spares: (failures.len() - usize::from(parities)) as u16,
            failures,
            replaced_after: ms(late),
            request: Sectors::new(most),
            sync: SyncParams { floor: None, ceiling: None, request, outstanding, gives_way: GivesWay::ByWaiting, idle_after: Span::ZERO },
            ..pool(level(parities, sectors, fill), members)
        }
    }
}

/// Everything is written, then commands come while members fail and are made good.
fn run(params: &ArrayParams, commands: &[(bool, u64, u64, u64)]) -> Stamped {
    let mut array = Stamped::of(&small(params.clone()));
    let capacity = array.array().capacity().get();
    for (first, wait) in (0..capacity).step_by(150).zip((0..3).cycle()) {
        array.send(Access::Write, first, (capacity - first).min(120));
        array.wait(ms(wait));
    }
    for (wave, commands) in (0..).zip(commands.chunks(20)) {
        array.wait_until(at_ms(WAVE * wave));
        for &(writes, first, count, wait) in commands {
            let first = first % capacity;
            array.send(if writes { Access::Write } else { Access::Read }, first, count.min(capacity - first));
            array.wait(ms(wait));
        }
    }
    array
}

/// How a command ends that is sent now, while others may be under way.
fn answer(array: &mut Stamped, id: u64) -> Outcome {
    loop {
        if let Some(answer) = array.answers().into_iter().find(|answer| answer.id == id) {
            return answer.outcome;
        }
        array.wait(ms(1));
    }
}

proptest! {
    #[test]
    fn new_members_have_what_the_old_ones_had(
        params in pools(),
        commands in prop::collection::vec((prop::bool::weighted(0.8), 0u64..8_000, 1u64..300, 0u64..20), 1..60),
    ) {
        let mut array = run(&params, &commands);
        array.wait_until(at_ms(LATE - 1_000));
        for answer in array.answers() {
            prop_assert_eq!(answer.outcome, Outcome::Done);
        }
        prop_assert_eq!(array.array().health(), Health::Healthy);
        array.check_media();
        array.wait(ms(2_000));
        prop_assert_eq!(array.array().health(), Health::Degraded);
        let capacity = array.array().capacity().get();
        for first in (0..capacity).step_by(500) {
            array.check_read(first, (capacity - first).min(500));
        }
    }

    /// Reads come back with what was written before them, whichever columns are new.
    #[test]
    fn nothing_is_read_before_it_is_there(
        params in pools(),
        commands in prop::collection::vec((any::<bool>(), 0u64..8_000, 1u64..300), 1..40),
    ) {
        let mut array = run(&params, &[]);
        let capacity = array.array().capacity().get();
        for (writes, first, count) in commands {
            let first = first % capacity;
            let count = count.min(capacity - first);
            let id = array.send(if writes { Access::Write } else { Access::Read }, first, count);
            prop_assert_eq!(answer(&mut array, id), Outcome::Done);
            if !writes {
                array.compare(id, first, count);
            }
        }
    }
}

proptest! {
    /// However many fail, and whenever: every command is answered, what can be read was written last, and what cannot was
    /// told.
    #[test]
    fn what_cannot_be_read_was_reported(
        params in pools(),
        failing in prop::collection::btree_map(0u16..12, 0u64..700, 1..9),
        (spares, missing, rebuilding) in (0u16..5, prop::option::of(0u16..4), any::<bool>()),
        commands in prop::collection::vec((prop::bool::weighted(0.8), 0u64..8_000, 1u64..300, 0u64..20), 1..50),
    ) {
        let missing: Vec<u16> = missing.into_iter().filter(|&slot| slot < params.members).collect();
        let drives = params.members + spares;
        let failing = failing.into_iter().filter(|(drive, _)| *drive < drives && !missing.contains(drive));
        let failures = failing.map(|(drive, at)| Failure { drive, when: When::At(at_ms(at)) }).collect();
        let params = ArrayParams { spares, missing, rebuilding, failures, ..params };
        let mut array = Stamped::of(&small(params));
        let capacity = array.array().capacity().get();
        let mut written = HashMap::new();
        for (writes, first, count, wait) in commands {
            let first = first % capacity;
            let count = count.min(capacity - first);
            let id = array.send(if writes { Access::Write } else { Access::Read }, first, count);
            if writes {
                written.insert(id, first..first + count);
            }
            array.wait(ms(wait));
        }
        let sent = array.send(Access::Flush, 0, 0);
        let answers = array.drain();
        prop_assert_eq!(answers.len() as u64, sent);
        // What a write without success has left is not known.
        let failed = answers.iter().filter(|answer| answer.outcome != Outcome::Done);
        let unknown: Vec<_> = failed.filter_map(|answer| written.remove(&answer.id)).collect();
        let reports = array.reports().into_iter().map(|report| report.what);
        let runs = reports.filter_map(|what| if let ReportKind::Lost(run) = what { Some(run) } else { None });
        let lost: Vec<_> = runs.flat_map(Run::ranges).collect();
        for at in (0..capacity).step_by(3) {
            let answer = array.go(Access::Read, at, 1);
            match answer.outcome {
                Outcome::Done if unknown.iter().all(|range| !range.contains(&at)) => array.compare(answer.id, at, 1),
                Outcome::Done => {}
                outcome => {
                    prop_assert_eq!(outcome, Outcome::Lost);
                    let was_reported = lost.iter().any(|&(first, count)| (first.get()..(first + count).get()).contains(&at));
                    prop_assert!(was_reported, "{} of {:?}", at, lost);
                }
            }
        }
    }
}

/// Each set of members that a pool bears to lose, all new at once.
#[test]
fn every_set_of_members_is_rebuilt_from_the_others() {
    for (parities, members, sectors) in
        [(1, 2, 16), (1, 5, 16), (1, 6, 32), (2, 6, 33), (3, 7, 21), (2, 7, 1)]
    {
        for set in super::bytes::sets(members, parities.into()).into_iter().filter(|set| !set.is_empty()) {
            let failures: Vec<Failure> =
                set.iter().map(|&drive| Failure { drive, when: When::At(at_ms(2_000)) }).collect();
            let spares = parities.into();
            let params = ArrayParams { spares, failures, ..pool(level(parities, sectors, 80), members) };
            let mut array = Stamped::of(&small(params));
            array.go(Access::Write, 3, 600);
            array.wait(ms(2_100));
            array.drain();
            assert_eq!(array.array().health(), Health::Healthy, "RAID-Z{parities} of {members}: {set:?}");
            array.check_media();
            array.check_read(0, 700);
        }
    }
}
