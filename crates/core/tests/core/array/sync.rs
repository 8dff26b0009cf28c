//! Rebuild, resync and scrub: how long they take, what may be read while they run, and what a second failure takes.
use super::observer::{Observer, at_ms, fails};
use crate::common::{TRACK, TURN, drive, flat_seek, layout, ms, zone};
use drivelab_core::Outcome;
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::params::{
    ArrayParams, Copies, GivesWay, Level, ReadChoice, Rotation, Scheduled, SyncParams,
};
use drivelab_core::storage::array::report::{Health, ReportKind, SyncKind, UnderLoad};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_units::{Instant, Lba, Rate, Sectors, Share, Span};

const CYLINDERS: u64 = 50;
const REBUILD: SyncKind = SyncKind::Rebuild;

/// A drive of fifty tracks.
fn small() -> DriveParams {
    let geometry = layout(1, vec![zone(0, CYLINDERS as u32, TRACK as u32)]);
    DriveParams { geometry, seek: flat_seek(ms(1), CYLINDERS as u32), ..drive() }
}

/// A track at once, as fast as the drives can, spindles alike.
fn plain(level: Level, members: u16) -> ArrayParams {
    ArrayParams {
        synchronised: true,
        unit: Sectors::new(TRACK),
        reads: ReadChoice::First,
        sync: SyncParams {
            floor: None,
            ceiling: None,
            request: Sectors::new(TRACK),
            outstanding: 1,
            gives_way: GivesWay::ByWaiting,
            idle_after: ms(100),
        },
        ..ArrayParams::plain(level, members)
    }
}

/// The first member is a new drive.
fn rebuilding(params: ArrayParams) -> ArrayParams {
    ArrayParams { missing: vec![0], rebuilding: true, ..params }
}

fn raid5() -> Level {
    Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 }
}

fn duration(observer: &Observer, kind: SyncKind) -> Span {
    let (began, ended) = (observer.when(ReportKind::Began(kind)), observer.when(ReportKind::Ended(kind)));
    assert_eq!((began.len(), ended.len()), (1, 1), "{:?}", observer.reports);
    ended[0] - began[0]
}

/// What is right of the first member.
fn frontier(observer: &Observer) -> u64 {
    match observer.array().members().get(0).state {
        MemberState::Rebuilding { done } => done,
        state => panic!("{state:?}"),
    }
}

/// Each window reads a track and then writes one: the arm moves in the turn that the other drive transfers in, and the next
/// turn is lost until the first sector comes round again. In the first window no arm has to move.
fn unbounded() -> u64 {
    2 * TURN + (CYLINDERS - 1) * 4 * TURN
}

#[test]
fn a_rebuild_takes_as_long_as_reading_and_writing_every_track() {
    for (level, members) in [(Level::Mirrored, 2), (raid5(), 4), (Level::Interleaved { groups: 1 }, 4)] {
        let mut observer = Observer::new(rebuilding(plain(level, members)), &small());
        assert_eq!(observer.array().health(), Health::Rebuilding);
        observer.run_out();
        let took = duration(&observer, REBUILD).as_ns();
        // The first sector comes round for the first time within a turn.
        assert!(
            (unbounded()..unbounded() + TURN).contains(&took),
            "{level:?}: {took} against {}",
            unbounded()
        );
        assert_eq!(observer.array().health(), Health::Healthy);
    }
}

#[test]
fn a_rebuild_that_was_interrupted_goes_on_where_it_was() {
    for (level, members) in [(Level::Mirrored, 2), (raid5(), 4), (Level::Interleaved { groups: 1 }, 4)] {
        let rebuilt = Share::from_ratio(3, 5).unwrap();
        let params = ArrayParams { rebuilt, ..rebuilding(plain(level, members)) };
        let mut observer = Observer::new(params, &small());
        // Whole windows: a share of 2^-32 less than three fifths is one track less.
        let before = frontier(&observer) / TRACK;
        assert!((CYLINDERS * 3 / 5 - 1..=CYLINDERS * 3 / 5).contains(&before), "{before}");
        let progress = observer.array().progress().next().unwrap();
        let whole = Sectors::new(CYLINDERS * TRACK);
        assert_eq!(
            (progress.before, progress.swept, progress.of),
            (Sectors::new(before * TRACK), Sectors::ZERO, whole)
        );
        observer.run_out();
        // Every track of the rest costs four turns, but for the seek to it.
        let took = duration(&observer, REBUILD).as_ns();
        let rest = 2 * TURN + (CYLINDERS - before - 1) * 4 * TURN;
        assert!((rest..rest + 5 * TURN).contains(&took), "{level:?}: {took} against {rest}");
        let progress = observer.array().progress().next().unwrap();
        assert_eq!(progress.before.get() + progress.swept.get(), whole.get());
        assert_eq!(observer.array().health(), Health::Healthy);
    }
}

#[test]
fn a_rebuild_of_an_idle_array_keeps_to_the_ceiling() {
    // A track in 30 ms, more than it takes.
    let mut params = rebuilding(plain(Level::Mirrored, 2));
    params.sync.ceiling = Rate::from_bytes_per_s(TRACK * 512 * 1_000 / 30);
    params.sync.floor = Rate::from_bytes_per_s(1);
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let took = duration(&observer, REBUILD).as_ns();
    let begun = (CYLINDERS - 1) * 30_000_000;
    assert!((begun + 3 * TURN..begun + 5 * TURN).contains(&took), "{took}");
}

#[test]
fn hosts_hold_a_rebuild_down_to_the_floor() {
    // A track in 200 ms while there are hosts; they read every 50 ms for 4 s.
    let mut params = rebuilding(plain(Level::Mirrored, 2));
    params.sync.floor = Rate::from_bytes_per_s(TRACK * 512 * 5);
    let mut observer = Observer::new(params, &small());
    observer.send(0, drivelab_core::Access::Read, 29_000, 8);
    for i in 1..80 {
        observer.run_to(50 * i - 1);
        observer.send(50 * i, drivelab_core::Access::Read, 29_000 - 60 * i, 8);
    }
    let swept = observer.array().progress().next().unwrap().swept.get() / TRACK;
    // The array was idle at the instant at which the first window began.
    assert!((19..=21).contains(&swept), "{swept} tracks in 4 s");
    observer.run_out();
    let ended = observer.when(ReportKind::Ended(REBUILD))[0];
    // Idle 100 ms after the last answer, it goes on as fast as it can.
    let left = (CYLINDERS - swept) * 4 * TURN;
    let due = at_ms(3_950 + 100) + Span::from_ns(left);
    assert!((due.as_ns() - 5 * TURN..due.as_ns() + 5 * TURN).contains(&ended.as_ns()), "{ended:?} {due:?}");
}

/// Tracks that are gone over in 2 s beside reads of so many sectors every 20 ms, with so many requests under way.
fn swept_beside(sectors: u64, outstanding: u32, gives_way: GivesWay) -> u64 {
    let mut params = rebuilding(plain(Level::Mirrored, 2));
    let request = Sectors::new(TRACK / 4);
    params.sync =
        SyncParams { floor: Rate::from_bytes_per_s(1_000), request, outstanding, gives_way, ..params.sync };
    let geometry = layout(1, vec![zone(0, 500, TRACK as u32)]);
    let mut observer =
        Observer::new(params, &DriveParams { geometry, seek: flat_seek(ms(1), 500), ..small() });
    for i in 0..100 {
        observer.run_to(20 * i);
        if sectors > 0 {
            observer.send(20 * i, drivelab_core::Access::Read, 290_000 - 600 * i, sectors);
        }
    }
    observer.array().progress().next().unwrap().swept.get() / TRACK
}

#[test]
fn beside_hosts_a_rebuild_goes_on_when_what_is_under_way_is_done() {
    use GivesWay::{ByDraining, ByWaiting};
    let idle = swept_beside(0, 4, ByDraining);
    assert_eq!(swept_beside(0, 4, ByWaiting), idle);
    // 65 sectors are noticed at every look, and one request at a time is what is left.
    let busy = swept_beside(65, 4, ByDraining);
    assert!(busy < idle, "{busy} {idle}");
    let alone = swept_beside(65, 1, ByDraining);
    assert!(busy >= alone, "{busy} {alone}");
    // Of single sectors 64 pass unnoticed.
    let light = swept_beside(1, 4, ByDraining);
    assert!(light > busy, "{light} {busy}");
    assert!(swept_beside(65, 4, ByWaiting) * 20 < busy, "the floor alone");
}

#[test]
fn a_floor_that_busy_members_cannot_keep_is_reported_and_one_that_they_keep_is_not() {
    // Hosts keep eight reads with the members for 10 s, of which a rebuild gets a track now and then.
    let beside_hosts = |tracks_per_s| {
        let mut params = rebuilding(plain(Level::Mirrored, 3));
        params.sync.floor = Rate::from_bytes_per_s(TRACK * 512 * tracks_per_s);
        // Room for a rebuild of ten seconds beside hosts.
        let geometry = layout(1, vec![zone(0, 500, TRACK as u32)]);
        let seek = flat_seek(ms(1), 500);
        let mut observer = Observer::new(params, &DriveParams { geometry, seek, ..small() });
        let mut under_way = 0;
        for ms in 0..10_000 {
            under_way -= observer.run_to(ms).len();
            while under_way < 8 {
                observer.send(ms, drivelab_core::Access::Read, ms * 7_919 % 290_000, 8);
                under_way += 1;
            }
        }
        let (floor, mut loads) = observer.array().under_load(at_ms(10_000));
        (floor.unwrap().bytes_per_s(), loads.next().unwrap())
    };
    let (_, kept) = beside_hosts(1);
    assert_eq!(kept.missed, Span::ZERO);
    assert!((8..=12).contains(&(kept.swept.get() / TRACK)), "{kept:?}");
    let (floor, missed) = beside_hosts(1_000);
    let reached = missed.swept.bytes().get() as f64 / (missed.time.as_ns() as f64 / 1e9);
    assert!(reached < floor as f64 / 2.0, "{reached}");
    // What is not made up for is what was due and not begun, but for the three seconds that may still be caught up.
    let due = missed.time.as_ns() as f64 * (1.0 - reached / floor as f64);
    let short = missed.missed.as_ns() as f64 + 3e9;
    assert!((short - due).abs() < 0.1e9, "{short} {due}");
}

#[test]
fn an_idle_array_has_no_floor_to_miss() {
    let mut params = rebuilding(plain(Level::Mirrored, 2));
    params.sync.floor = Rate::from_bytes_per_s(1 << 40);
    let mut observer = Observer::new(params, &small());
    let end = observer.run_out();
    let (_, mut loads) = observer.array().under_load(end);
    assert_eq!(loads.next(), Some(UnderLoad::default()));
}

#[test]
fn a_second_new_member_restarts_a_rebuild_and_that_is_reported() {
    let level = Level::Parity { parities: 2, rotation: Rotation::LeftSymmetric, groups: 1 };
    let params = ArrayParams { spares: 1, failures: vec![fails(1, 600)], ..rebuilding(plain(level, 5)) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    assert_eq!(observer.when(ReportKind::Began(REBUILD)), [Instant::ZERO]);
    assert_eq!(observer.when(ReportKind::Replaced { slot: 1, drive: 5 }), [at_ms(600)]);
    assert_eq!(observer.when(ReportKind::BeganAnew(REBUILD)), [at_ms(600)]);
    assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
}

#[test]
fn what_lies_below_the_frontier_is_read_from_the_new_member() {
    let mut observer = Observer::new(rebuilding(plain(Level::Mirrored, 2)), &small());
    observer.run_to(300);
    let done = observer.array().progress().next().unwrap().swept.get();
    assert!(done > 0 && done.is_multiple_of(TRACK), "{done}");
    assert_eq!(observer.read(300, 0, 8), (Outcome::Done, Some(0)));
    assert_eq!(observer.read(320, done - 8, 8), (Outcome::Done, Some(0)));
    assert_eq!(observer.read(350, 20_000, 8), (Outcome::Done, Some(1)));
    observer.run_out();
    assert_eq!(observer.read(5_000, 20_000, 8), (Outcome::Done, Some(0)));
}

#[test]
fn a_second_failure_takes_what_is_not_rebuilt() {
    let params = ArrayParams { failures: vec![fails(1, 600)], ..rebuilding(plain(Level::Mirrored, 2)) };
    let mut observer = Observer::new(params, &small());
    observer.run_to(700);
    let done = frontier(&observer);
    assert!(done > 0 && done < 30_000);
    assert_eq!(observer.lost(), [(done, 30_000)]);
    // What is under way comes to its end first.
    let given_up = observer.when(ReportKind::GivenUp(REBUILD))[0];
    assert!(given_up >= at_ms(600) && given_up <= at_ms(630), "{given_up:?}");
    assert_eq!(observer.array().health(), Health::Failed);
    assert_eq!(observer.read(700, 0, 8).0, Outcome::Done);
    assert_eq!(observer.read(800, done - 8, 16).0, Outcome::Lost);
    assert_eq!(observer.read(900, done, 8).0, Outcome::Lost);
}

#[test]
fn of_two_lost_drives_of_raid_5_the_rows_above_the_frontier_lose_both() {
    let params = ArrayParams { failures: vec![fails(1, 600)], ..rebuilding(plain(raid5(), 4)) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let (done, lost) = (frontier(&observer), observer.lost());
    let sectors: u64 = lost.iter().map(|(first, end)| end - first).sum();
    // Of four members two hold nothing that can be had; a quarter of what they hold is parity.
    assert!(sectors.abs_diff((30_000 - done) * 2 * 3 / 4) <= 2 * TRACK, "{sectors}");
    assert!(lost.iter().all(|&(first, end)| first >= done * 3 && end <= 90_000));
}

#[test]
fn sectors_that_cannot_be_read_while_rebuilding_are_lost_alone() {
    let bad = |first, count| (Lba::new(first), Sectors::new(count));
    let faults = FaultParams {
        read_errors: Share::NONE,
        // The second lies across the edge of two windows.
        unreadable: vec![bad(1_003, 1), bad(2_998, 4)],
        retries: Span::ZERO,
    };
    let drive = DriveParams { faults: Some(faults), ..small() };
    for copies in [2, 3] {
        let mut observer = Observer::new(rebuilding(plain(Level::Mirrored, copies)), &drive);
        observer.run_out();
        assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
        assert_eq!(observer.array().health(), Health::Healthy, "the members are all there");
        // Granules of eight sectors, cut at the windows' edges.
        assert_eq!(observer.lost(), [(1_000, 1_008), (2_992, 3_000), (3_000, 3_008)]);
        assert_eq!(observer.read(60_000, 1_000, 8).0, Outcome::Lost);
        assert_eq!(observer.read(60_100, 1_008, 8).0, Outcome::Done);
        observer.go(60_200, drivelab_core::Access::Write, 996, 8);
        assert_eq!(observer.read(60_300, 1_004, 8).0, Outcome::Lost);
        observer.go(60_400, drivelab_core::Access::Write, 1_004, 8);
        assert_eq!(observer.read(60_500, 4, 8).0, Outcome::Done);
    }
}

#[test]
fn a_bad_sector_of_raid_5_takes_the_rebuilt_unit_and_its_own() {
    let faults = FaultParams {
        read_errors: Share::NONE,
        unreadable: vec![(Lba::new(TRACK), Sectors::new(8))],
        retries: Span::ZERO,
    };
    let drive = DriveParams { faults: Some(faults), ..small() };
    let mut observer = Observer::new(rebuilding(plain(raid5(), 3)), &drive);
    observer.run_out();
    // Row 1 of three members: parity on member 1; data on 2 and 0, addresses 1200 and 1800. All have the bad sectors.
    assert_eq!(observer.lost(), [(1_200, 1_208), (1_800, 1_808)]);
    assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
}

#[test]
fn every_level_with_copies_or_parity_is_rebuilt_whole() {
    let parity = |parities, groups| Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups };
    let mirrors = |layout| Level::StripedMirrors { copies: 2, layout };
    for (level, members) in [
        (Level::Mirrored, 3),
        (mirrors(Copies::Near), 4),
        (mirrors(Copies::Near), 5),
        (mirrors(Copies::Far), 4),
        (mirrors(Copies::Offset), 4),
        (Level::MirroredStripes { copies: 2 }, 4),
        (Level::Interleaved { groups: 2 }, 6),
        (parity(1, 2), 6),
        (parity(2, 1), 5),
    ] {
        let mut observer = Observer::new(rebuilding(plain(level, members)), &small());
        observer.run_out();
        assert_eq!(observer.array().health(), Health::Healthy, "{level:?}");
        assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1, "{level:?}");
        let progress = observer.array().progress().next().unwrap();
        assert_eq!(progress.swept, progress.of, "{level:?}");
        assert!(progress.of.get() > 29_000 && progress.of.get() <= 30_000, "{level:?} {progress:?}");
        assert_eq!(observer.lost(), [], "{level:?}");
    }
}

#[test]
fn two_new_members_of_a_mirror_are_written_from_one_read() {
    let params = ArrayParams { missing: vec![0, 1], rebuilding: true, ..plain(Level::Mirrored, 3) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    assert_eq!(observer.array().health(), Health::Healthy);
    let took = observer.when(ReportKind::Ended(REBUILD))[0].as_ns();
    assert!((unbounded()..unbounded() + TURN).contains(&took), "{took}");
}

#[test]
fn two_groups_are_rebuilt_side_by_side() {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 2 };
    let params = ArrayParams { missing: vec![0, 4], rebuilding: true, ..plain(level, 8) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    assert_eq!(observer.array().health(), Health::Healthy);
    for progress in observer.array().progress() {
        let took = progress.ended.unwrap() - progress.began;
        assert!(took.as_ns() < unbounded() + TURN, "{progress:?}");
    }
    assert_eq!(observer.array().progress().count(), 2);
}

#[test]
fn a_second_member_joins_the_rebuild_of_the_first() {
    let level = Level::Parity { parities: 2, rotation: Rotation::LeftSymmetric, groups: 1 };
    let params = ArrayParams { failures: vec![fails(1, 600)], spares: 1, ..rebuilding(plain(level, 5)) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    assert_eq!(observer.array().health(), Health::Healthy);
    assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
    let progress = observer.array().progress().next().unwrap();
    assert!(progress.swept > progress.of && progress.swept.get() < 2 * progress.of.get(), "{progress:?}");
    assert_eq!(observer.lost(), []);
}

#[test]
fn scrub_and_resync_go_over_everything_once_and_wait_for_a_rebuild() {
    for kind in [SyncKind::Scrub, SyncKind::Resync] {
        for (level, members) in [(Level::Mirrored, 2), (raid5(), 4), (Level::Interleaved { groups: 1 }, 3)] {
            let scheduled = vec![Scheduled { kind, at: at_ms(100) }];
            let params = ArrayParams { scheduled, ..plain(level, members) };
            let mut observer = Observer::new(params.clone(), &small());
            observer.run_out();
            assert_eq!(observer.when(ReportKind::Began(kind)), [at_ms(100)]);
            let progress = observer.array().progress().next().unwrap();
            assert_eq!(progress.swept, progress.of);
            let took = duration(&observer, kind).as_ns();
            // A scrub reads a track and loses a turn to the next one; a resync of parity writes before that, with the arm
            // already there, and one of copies as a rebuild does.
            let turns = match (kind, level) {
                (SyncKind::Scrub, _) => 2 * CYLINDERS - 1,
                (_, Level::Mirrored) => 4 * CYLINDERS - 2,
                _ => 3 * CYLINDERS - 1,
            };
            assert!((turns * TURN..(turns + 1) * TURN).contains(&took), "{kind:?} {level:?} {took}");

            let mut both = Observer::new(rebuilding(params), &small());
            both.run_out();
            assert!(both.when(ReportKind::Ended(REBUILD))[0] < both.when(ReportKind::Ended(kind))[0]);
            assert_eq!(both.array().health(), Health::Healthy);
        }
    }
}

#[test]
fn nothing_is_rebuilt_without_copies() {
    for level in [Level::Linear, Level::Striped] {
        let mut observer = Observer::new(rebuilding(plain(level, 2)), &small());
        observer.run_out();
        assert_eq!(observer.array().health(), Health::Failed);
        assert!(!observer.reports.iter().any(|report| matches!(report.what, ReportKind::Replaced { .. })));
        let lost: u64 = observer.lost().iter().map(|(first, end)| end - first).sum();
        assert_eq!(lost, 30_000);
    }
}

#[test]
fn work_gives_up_once_no_member_of_its_group_has_data() {
    let raid10 = Level::StripedMirrors { copies: 2, layout: Copies::Near };
    let levels = [(Level::Mirrored, 2), (raid5(), 4), (raid10, 4)];
    for (level, members) in levels {
        for kind in [SyncKind::Resync, SyncKind::Scrub] {
            let scheduled = vec![Scheduled { kind, at: at_ms(100) }];
            let failures: Vec<_> = (0..members).map(|drive| fails(drive, 150)).collect();
            // New drives in the slots of those that failed have nothing to read either.
            for spares in [0, members] {
                let (scheduled, failures) = (scheduled.clone(), failures.clone());
                let params = ArrayParams { scheduled, failures, spares, ..plain(level, members) };
                let mut observer = Observer::new(params, &small());
                observer.run_out();
                let given_up = observer.when(ReportKind::GivenUp(kind));
                assert_eq!(given_up.len(), 1, "{level:?}: {:?}", observer.reports);
                assert!(at_ms(150) <= given_up[0] && given_up[0] < at_ms(250), "{level:?}: {given_up:?}");
                let work = observer.array().progress().find(|work| work.kind == kind).expect("it began");
                let swept = work.swept.get();
                assert!(swept < CYLINDERS * TRACK / 2, "{level:?}: what is missing is not counted: {swept}");
            }
        }
    }
}
