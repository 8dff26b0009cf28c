//! Failures: when they come, who takes the slot, and that every command is answered whatever fails while it is under way.
use super::observer::{Observer, at_ms, fails};
use super::rig::{array_of, forgetting};
use crate::common::trace::{Until, trace};
use crate::common::{Probe, TRACK, drive, flat_seek, layout, ms, random_job, setup, zone};
use drivelab_core::host::params::Arrivals;
use drivelab_core::storage::array::params::{
    ArrayParams, Copies, Failure, GivesWay, Level, ReadChoice, Rotation, Scheduled, SyncParams, When,
};
use drivelab_core::storage::array::report::{Health, ReportKind, SyncKind};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn small() -> DriveParams {
    let geometry = layout(1, vec![zone(0, 8, TRACK as u32)]);
    DriveParams { geometry, seek: flat_seek(ms(1), 8), ..drive() }
}

fn report_kinds(observer: &Observer) -> Vec<ReportKind> {
    observer.reports.iter().map(|report| report.what).collect()
}

#[test]
fn a_spare_takes_the_slot_after_its_time_and_is_rebuilt() {
    let params = ArrayParams {
        spares: 1,
        replaced_after: ms(50),
        failures: vec![fails(0, 100)],
        ..ArrayParams::plain(Level::Mirrored, 2)
    };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let rebuild = SyncKind::Rebuild;
    assert_eq!(
        report_kinds(&observer),
        [
            ReportKind::Failed { slot: 0, drive: 0 },
            ReportKind::Replaced { slot: 0, drive: 2 },
            ReportKind::Began(rebuild),
            ReportKind::Ended(rebuild),
        ]
    );
    assert_eq!([observer.reports[0].at, observer.reports[1].at], [at_ms(100), at_ms(150)]);
    assert_eq!(observer.array().health(), Health::Healthy);
    let impaired = observer.array().impaired_for(at_ms(1_000_000));
    assert_eq!(impaired, observer.reports[3].at - observer.reports[0].at);
}

#[test]
fn without_a_spare_the_array_stays_degraded() {
    let params = ArrayParams { failures: vec![fails(0, 100)], ..ArrayParams::plain(Level::Mirrored, 2) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    assert_eq!(report_kinds(&observer), [ReportKind::Failed { slot: 0, drive: 0 }]);
    assert_eq!(observer.array().health(), Health::Degraded);
    assert_eq!(observer.array().impaired_for(at_ms(400)), ms(300));
}

#[test]
fn a_drive_fails_as_the_counted_command_comes() {
    let failures = vec![Failure { drive: 1, when: When::Commands(3) }];
    let mut observer =
        Observer::new(ArrayParams { failures, ..ArrayParams::plain(Level::Striped, 2) }, &small());
    for i in 0..2 {
        assert_eq!(observer.read(100 * i, 128, 8).0, Outcome::Done);
    }
    assert_eq!(observer.read(300, 128, 8).0, Outcome::Lost, "the third is with the drive that fails");
    assert_eq!(observer.when(ReportKind::Failed { slot: 1, drive: 1 }), [at_ms(300)]);
}

#[test]
fn a_spare_that_fails_is_no_spare_and_one_that_fails_while_rebuilding_makes_room_for_the_next() {
    let params = ArrayParams {
        spares: 3,
        failures: vec![fails(2, 10), fails(0, 100), fails(3, 150)],
        ..ArrayParams::plain(Level::Mirrored, 2)
    };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let rebuild = SyncKind::Rebuild;
    assert_eq!(
        report_kinds(&observer),
        [
            ReportKind::SpareFailed { drive: 2 },
            ReportKind::Failed { slot: 0, drive: 0 },
            ReportKind::Replaced { slot: 0, drive: 3 },
            ReportKind::Began(rebuild),
            ReportKind::Failed { slot: 0, drive: 3 },
            ReportKind::GivenUp(rebuild),
            ReportKind::Replaced { slot: 0, drive: 4 },
            ReportKind::Began(rebuild),
            ReportKind::Ended(rebuild),
        ]
    );
    assert_eq!(observer.array().health(), Health::Healthy);
}

#[test]
fn a_striped_set_that_misses_a_member_counts_for_nothing_and_is_rebuilt_whole() {
    let level = Level::MirroredStripes { copies: 2 };
    let plain = ArrayParams { reads: ReadChoice::First, ..ArrayParams::plain(level, 4) };
    let degraded = ArrayParams { failures: vec![fails(0, 100)], ..plain.clone() };
    let mut observer = Observer::new(degraded, &small());
    observer.run_to(200);
    assert_eq!(observer.read(200, 128, 8), (Outcome::Done, Some(3)), "member 1 stands aside");
    let both = ArrayParams { failures: vec![fails(0, 100), fails(3, 200)], ..plain.clone() };
    let mut observer = Observer::new(both, &small());
    observer.run_to(300);
    let capacity = 2 * (4_800 / 128 * 128);
    assert_eq!(observer.lost().iter().map(|(first, end)| end - first).sum::<u64>(), capacity);
    let spare = ArrayParams { failures: vec![fails(0, 100)], spares: 1, ..plain };
    let mut observer = Observer::new(spare, &small());
    observer.run_out();
    assert_eq!(observer.array().health(), Health::Healthy);
    assert_eq!(observer.read(60_000, 128, 8), (Outcome::Done, Some(1)));
}

#[test]
fn a_write_that_nobody_keeps_is_lost() {
    for (level, outcome) in [(Level::Striped, Outcome::Lost), (Level::Mirrored, Outcome::Done)] {
        let params = ArrayParams { failures: vec![fails(0, 100)], ..ArrayParams::plain(level, 2) };
        let mut observer = Observer::new(params, &small());
        observer.run_to(99);
        assert_eq!(observer.go(99, drivelab_core::Access::Write, 120, 4).0, outcome, "{level:?}");
    }
}

/// FLUSH promises that all that was answered is on the media: where some of that is gone it fails as a write there does.
#[test]
fn a_flush_of_an_array_that_has_lost_data_fails() {
    let z = Level::RaidZ { parities: 1, record: Sectors::new(64), fill_percent: 50 };
    let pairs = Level::StripedMirrors { copies: 2, layout: Copies::Near };
    for (level, members, gone, outcome) in [
        (Level::Linear, 2, 1, Outcome::Lost),
        (Level::Striped, 3, 1, Outcome::Lost),
        (Level::Striped, 3, 3, Outcome::Lost),
        (Level::Mirrored, 2, 1, Outcome::Done),
        (Level::Mirrored, 2, 2, Outcome::Lost),
        (pairs, 4, 1, Outcome::Done),
        (pairs, 4, 2, Outcome::Lost),
        (z, 3, 1, Outcome::Done),
        (z, 3, 2, Outcome::Lost),
    ] {
        // It comes when they are gone, and when they are just about to be.
        for at in [200, 99] {
            let failures = (0..gone).map(|drive| fails(drive, 100)).collect();
            let drive = DriveParams { cache: Some(forgetting(2_000, ms(1_000))), ..small() };
            let mut array =
                Observer::new(ArrayParams { failures, ..ArrayParams::plain(level, members) }, &drive);
            // So that there is much to flush.
            (0..8).for_each(|i| _ = array.send(i, Access::Write, 400 * i, 64));
            array.run_to(98);
            let flushed = array.go(at, Access::Flush, 0, 0).0;
            assert_eq!(flushed, outcome, "{level:?} without {gone} of {members}, at {at}");
        }
    }
}

/// Two failures of a small array, then every stripe unit is read: it is lost where it was said to be, and only there.
#[test]
fn what_is_reported_lost_and_nothing_else_cannot_be_read() {
    let mirrors = |layout| Level::StripedMirrors { copies: 2, layout };
    for (level, members) in [
        (Level::Linear, 3),
        (Level::Striped, 3),
        (mirrors(Copies::Near), 4),
        (mirrors(Copies::Near), 5),
        (mirrors(Copies::Far), 4),
        (mirrors(Copies::Offset), 4),
        (Level::MirroredStripes { copies: 2 }, 4),
    ] {
        for one in 0..members {
            for other in one + 1..members {
                let failures = vec![fails(one, 10), fails(other, 20)];
                let params =
                    ArrayParams { failures, unit: Sectors::new(64), ..ArrayParams::plain(level, members) };
                let mut observer = Observer::new(params, &small());
                observer.run_to(30);
                let lost = observer.lost();
                let capacity = observer.array().capacity().get();
                for (i, first) in (0..capacity).step_by(64).enumerate() {
                    let is_lost = lost.iter().any(|&(from, end)| from <= first && first < end);
                    let outcome = observer.read(100 + 20 * i as u64, first, 8).0;
                    let expected = if is_lost { Outcome::Lost } else { Outcome::Done };
                    assert_eq!(outcome, expected, "{level:?} without {one} and {other}: {first}");
                }
            }
        }
    }
}

fn levels() -> impl Strategy<Value = (Level, u16, bool)> {
    let mirrors = |layout| Level::StripedMirrors { copies: 2, layout };
    let parity = |parities, groups| Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups };
    prop::sample::select(vec![
        (Level::Linear, 2, true),
        (Level::Striped, 3, true),
        (Level::Mirrored, 2, true),
        (Level::Mirrored, 3, true),
        (Level::MirroredStripes { copies: 2 }, 4, true),
        (mirrors(Copies::Near), 4, true),
        (mirrors(Copies::Near), 5, true),
        (mirrors(Copies::Far), 4, true),
        (mirrors(Copies::Offset), 3, true),
        (parity(1, 1), 4, true),
        (parity(2, 2), 8, true),
        (Level::Interleaved { groups: 2 }, 6, true),
    ])
}

prop_compose! {
    fn arrays()(
        (level, members, writes) in levels(),
        spares in 0u16..3,
        failures in prop::collection::vec((0u16..10, prop_oneof![
            (1u64..1_500).prop_map(|ms| When::At(Instant::from_ns(ms * 777_777))),
            (0u64..60).prop_map(When::Commands),
        ]), 0..4),
        missing in prop::option::of(0u16..8),
        rebuilding in any::<bool>(),
        replaced in 0u64..100,
        scheduled in prop::collection::vec((any::<bool>(), 0u64..500), 0..2),
        request in prop::sample::select(vec![96u64, 128, 500, 2_000]),
        outstanding in 1u32..4,
        bounded in any::<bool>(),
        reads in prop::sample::select(vec![ReadChoice::First, ReadChoice::NearestHead, ReadChoice::LeastQueued]),
    ) -> (ArrayParams, bool) {
        let plain = ArrayParams::plain(level, members);
        let spares = if matches!(level, Level::Linear | Level::Striped) { 0 } else { spares };
        let drives = members + spares;
        let missing: Vec<u16> = missing.map(|slot| slot % members).into_iter().collect();
        let mut known = missing.clone();
        let mut is_new = |drive| !known.contains(&drive) && { known.push(drive); true };
        let failures = failures.iter().map(|&(drive, when)| Failure { drive: drive % drives, when });
        let failures: Vec<Failure> = failures.filter(|failure| is_new(failure.drive)).collect();
        let rate = |rate| if bounded { drivelab_units::Rate::from_bytes_per_s(rate) } else { None };
        let sync = SyncParams {
            floor: rate(500_000),
            ceiling: rate(5_000_000),
            request: Sectors::new(request),
            outstanding,
            gives_way: GivesWay::ByDraining,
            idle_after: ms(20),
        };
        let kind = |scrubs| if scrubs { SyncKind::Scrub } else { SyncKind::Resync };
        let params = ArrayParams {
            spares,
            failures,
            missing,
            rebuilding,
            replaced_after: ms(replaced),
            scheduled: scheduled.iter().map(|&(scrubs, at)| Scheduled { kind: kind(scrubs), at: at_ms(at) }).collect(),
            unit: Sectors::new(64),
            deviation_ppm: 100,
            reads,
            sync,
            ..plain
        };
        (params, writes)
    }
}

/// With this many commands one inside the other a test's stack would overflow.
const MANY: u64 = 40_000;

fn all_lost(params: ArrayParams, access: Access, place: impl Fn(u64) -> u64) {
    let failures = (0..params.members).map(|drive| fails(drive, 1)).collect();
    let mut probe = Probe::new(&array_of(ArrayParams { failures, ..params }, &small()), 1);
    for i in 0..MANY {
        probe.send(access, place(i), 1);
    }
    let answers = probe.drain();
    assert_eq!(answers.len() as u64, MANY);
    assert!(answers.iter().skip(8).all(|answer| answer.outcome == Outcome::Lost));
    // The host hears of them in the order in which they came.
    assert!(answers.is_sorted_by_key(|answer| answer.id));
}

#[test]
fn what_cannot_be_read_is_reported_one_command_after_the_other() {
    let refusal = Span::from_us(25);
    let failures = (0..2).map(|drive| fails(drive, 1)).collect();
    let params = ArrayParams { failures, refusal, ..ArrayParams::plain(Level::Mirrored, 2) };
    let mut observer = Observer::new(params, &small());
    observer.run_to(1);
    for i in 0..10 {
        observer.send(2, if i % 2 == 0 { Access::Read } else { Access::Write }, 100 * i, 8);
    }
    let answers = observer.run_to(3);
    assert!(answers.iter().all(|answer| answer.outcome == Outcome::Lost));
    let times: Vec<Span> = answers.iter().map(|answer| answer.completed - at_ms(2)).collect();
    assert_eq!(times, (1..=10).map(|i| Span::from_us(25 * i)).collect::<Vec<_>>());
}

#[test]
fn a_journal_that_fails_is_reported_once() {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let params = ArrayParams {
        consistency_policy: drivelab_core::storage::array::params::ConsistencyPolicy::Journal,
        failures: vec![fails(4, 5)],
        unit: Sectors::new(64),
        ..ArrayParams::plain(level, 4)
    };
    let mut observer = Observer::new(params, &small());
    observer.run_to(10);
    assert_eq!(observer.when(ReportKind::JournalFailed { drive: 4 }), [at_ms(5)]);
    assert_eq!(observer.reports.len(), 1, "{:?}", observer.reports);
}

#[test]
fn any_number_of_commands_that_wait_end_when_all_members_fail() {
    let params = ArrayParams { depth: Some(1), ..ArrayParams::plain(Level::Mirrored, 2) };
    all_lost(params, Access::Read, |i| i % 8 * 8);
}

#[test]
fn any_number_of_writes_to_the_same_block_end_when_all_members_fail() {
    all_lost(ArrayParams::plain(Level::Mirrored, 2), Access::Write, |_| 0);
}

proptest! {
    #[test]
    fn whatever_fails_every_command_is_answered_once_and_all_time_is_accounted_for(
        (params, writes) in arrays(), depth in 1u32..9, size in 1u64..40, seed in 0u64..1_000,
    ) {
        let target = array_of(params, &small());
        let job = random_job(&target, seed, size * 8);
        let reads = if writes { Share::from_ratio(1, 2).unwrap() } else { Share::ALL };
        let job = drivelab_core::host::params::JobParams { reads, arrivals: Arrivals::Closed { outstanding: depth, think: ms(1) }, ..job };
        let setup = drivelab_core::Setup { seed, ..setup(target, job, 150) };
        let plain = trace(&setup, Until::Finished(150), 0);
        let sent: BTreeSet<u64> = plain.commands.iter().map(|(_, command)| command.id).collect();
        let answered: BTreeSet<u64> = plain.completions.iter().map(|completion| completion.id).collect();
        prop_assert_eq!(plain.completions.len(), plain.commands.len());
        prop_assert_eq!(sent, answered);
        for completion in &plain.completions {
            let all = completion.completed - completion.submitted;
            prop_assert_eq!(completion.breakdown.total(), all);
            let kinds = [Outcome::Done, Outcome::Lost];
            prop_assert!(kinds.contains(&completion.outcome), "{:?}", completion.outcome);
        }
        prop_assert_eq!(trace(&setup, Until::Finished(150), 3), plain);
    }

    /// What was begun ends, unless it cannot: nothing is left hanging when there is nothing more to come.
    #[test]
    fn whatever_fails_every_rebuild_comes_to_its_end((params, _) in arrays()) {
        let mut observer = Observer::new(params, &small());
        let end = observer.run_out();
        prop_assert!(end < Instant::ZERO + Span::from_s(100_000));
        for progress in observer.array().progress() {
            prop_assert!(progress.ended.is_some(), "{:?}", observer.reports);
            prop_assert!(progress.is_given_up || progress.swept >= progress.of);
        }
        let health = observer.array().health();
        prop_assert!(health != Health::Rebuilding, "{:?}", observer.reports);
        prop_assert_eq!(health == Health::Failed, !observer.lost().is_empty());
    }
}

#[test]
fn a_drive_that_has_failed_holds_no_commands_any_more() {
    use crate::common::command;
    use drivelab_core::Machine;
    use drivelab_core::storage::{Fault, Target, TargetInput};
    let params = ArrayParams::plain(Level::Mirrored, 2);
    let mut target = Target::new(&array_of(params, &small()), 1);
    for id in 0..4 {
        target.handle(Instant::ZERO, TargetInput::Submit(command(id, Access::Write, 100 * id, 8))).unwrap();
    }
    let at = Instant::ZERO + ms(1);
    let before = target.in_drives_ns(at).unwrap();
    assert!(before > 0);
    for drive in 0..2 {
        target.handle(at, TargetInput::Inject(Fault::Fail { drive })).unwrap();
    }
    while let Some(due) = target.poll_timeout() {
        target.handle(due, TargetInput::Tick).unwrap();
    }
    assert_eq!(target.in_drives_ns(Instant::ZERO + ms(1_000)).unwrap(), before);
}
