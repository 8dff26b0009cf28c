//! What follows when a member does not do a command in time: a write fails the member, a read is had from elsewhere.
use super::observer::Observer;
use super::rig::array_on;
use crate::common::{drive, flat_seek, ms};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, Level, ReadChoice, Rotation,
};
use drivelab_core::storage::array::report::{Health, ReportKind, SyncKind};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::{DriveParams, FirmwareParams, Overhead};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Access, Outcome};

const RAID5: Level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
const RAID6: Level = Level::Parity { parities: 2, rotation: Rotation::LeftSymmetric, groups: 1 };
const RAID10: Level = Level::StripedMirrors { copies: 2, layout: Copies::Near };

/// A drive whose arm, and whose firmware before a write, take so long that no command is done in time.
fn slow() -> DriveParams {
    let write = Overhead { after_read: ms(500), after_write: ms(500) };
    let firmware = FirmwareParams { write, ..drive().firmware };
    DriveParams { seek: flat_seek(ms(500), 1_000), firmware, ..drive() }
}

/// An array behind a controller that waits 100 ms for a command; the drives with these numbers are too slow for that.
fn behind(params: ArrayParams, slow_ones: &[u16]) -> Observer {
    let journal = u16::from(params.consistency_policy == ConsistencyPolicy::Journal);
    let count = params.members + params.spares + journal;
    let drives: Vec<DriveParams> =
        (0..count).map(|at| if slow_ones.contains(&at) { slow() } else { drive() }).collect();
    let TargetParams::System(system) = array_on(params, &drives) else { unreachable!("an array") };
    let controller = ControllerParams { timeout: Some(ms(100)), ..ControllerParams::PLAIN };
    Observer::of(&TargetParams::System(SystemParams { controller, ..system }))
}

fn plain(level: Level, members: u16) -> ArrayParams {
    ArrayParams::plain(level, members)
}

/// Far from where the arms are.
const FAR: u64 = 4_000;

fn write(observer: &mut Observer, at_ms: u64) -> Outcome {
    observer.go(at_ms, Access::Write, FAR, 8).0
}

fn failed(slot: u16, drive: u16) -> ReportKind {
    ReportKind::Failed { slot, drive }
}

fn timed_out(slot: u16, drive: u16) -> ReportKind {
    ReportKind::WriteError { slot, drive, outcome: Outcome::TimedOut }
}

fn report_kinds(observer: &Observer) -> Vec<ReportKind> {
    observer.reports.iter().map(|report| report.what).collect()
}

#[test]
fn a_write_that_times_out_on_one_member_fails_it_and_the_host_hears_nothing() {
    for (level, members) in [(Level::Mirrored, 2), (RAID10, 4), (RAID5, 3), (RAID6, 4)] {
        let mut observer = behind(plain(level, members), &[0]);
        // Whichever member it is written to, all are written to after some.
        let outcomes: Vec<Outcome> =
            (0..8).map(|i| observer.go(10_000 * i, Access::Write, FAR + 128 * i, 128).0).collect();
        assert_eq!(outcomes, [Outcome::Done; 8], "{level:?}");
        assert_eq!(report_kinds(&observer), [timed_out(0, 0), failed(0, 0)], "{level:?}");
        assert_eq!(observer.array().health(), Health::Degraded);
        assert_eq!(observer.array().member_errors()[1], 1);
    }
}

#[test]
fn a_spare_takes_the_place_of_a_member_that_timed_out() {
    let mut observer = behind(ArrayParams { spares: 1, ..plain(Level::Mirrored, 2) }, &[1]);
    assert_eq!(write(&mut observer, 0), Outcome::Done);
    observer.run_out();
    let replaced = ReportKind::Replaced { slot: 1, drive: 2 };
    let (began, ended) = (ReportKind::Began(SyncKind::Rebuild), ReportKind::Ended(SyncKind::Rebuild));
    assert_eq!(report_kinds(&observer), [timed_out(1, 1), failed(1, 1), replaced, began, ended]);
    assert_eq!(observer.array().health(), Health::Healthy);
}

#[test]
fn the_last_copy_stays_and_writes_are_refused() {
    let mut observer = behind(plain(Level::Mirrored, 2), &[0, 1]);
    assert_eq!(write(&mut observer, 0), Outcome::TimedOut);
    // Which of two at the same instant is the first is the order of the agenda.
    assert_eq!(report_kinds(&observer), [timed_out(0, 0), failed(0, 0), timed_out(1, 1), ReportKind::Broken]);
    assert_eq!(observer.array().health(), Health::Broken);
    assert_eq!(write(&mut observer, 10_000), Outcome::Failed);
    assert_eq!(observer.go(20_000, Access::Flush, 0, 0).0, Outcome::Failed);
    // It can still be read, because the arm is there.
    assert_eq!(observer.read(30_000, FAR, 8).1, Some(1));
    assert_eq!(report_kinds(&observer).len(), 4, "it is said once");
}

#[test]
fn a_level_with_parity_fails_members_until_it_has_lost_data() {
    let mut observer = behind(plain(RAID5, 3), &[0, 1, 2]);
    assert_eq!(observer.go(0, Access::Write, 4_096, 256).0, Outcome::Lost);
    assert_eq!(observer.array().health(), Health::Failed);
    assert!(!observer.lost().is_empty());
    assert_eq!(write(&mut observer, 10_000), Outcome::Lost);
}

#[test]
fn without_redundancy_the_host_hears_it_and_the_member_stays() {
    for (level, members) in [(Level::Striped, 2), (Level::Linear, 2)] {
        let mut observer = behind(plain(level, members), &[0, 1]);
        assert_eq!(write(&mut observer, 0), Outcome::TimedOut, "{level:?}");
        assert_eq!((report_kinds(&observer), observer.array().health()), (vec![], Health::Healthy));
        assert_eq!(observer.read(10_000, 2 * FAR, 8).0, Outcome::TimedOut, "{level:?}");
        assert_eq!(observer.array().member_errors(), [1, 1]);
    }
}

#[test]
fn a_pool_does_without_as_many_as_it_has_parities_and_then_refuses_writes() {
    let pool = Level::RaidZ { parities: 1, record: drivelab_units::Sectors::new(256), fill_percent: 50 };
    let mut observer = behind(plain(pool, 4), &[2]);
    let outcomes: Vec<Outcome> =
        (0..4).map(|i| observer.go(10_000 * i, Access::Write, 256 * i, 256).0).collect();
    assert_eq!(outcomes, [Outcome::Done; 4]);
    assert_eq!(report_kinds(&observer), [timed_out(2, 2), failed(2, 2)]);
    let mut observer = behind(plain(pool, 4), &[1, 2]);
    let outcomes: Vec<Outcome> =
        (0..4).map(|i| observer.go(10_000 * i, Access::Write, 256 * i, 256).0).collect();
    assert!(outcomes.contains(&Outcome::TimedOut) && outcomes[3] == Outcome::Failed, "{outcomes:?}");
    assert_eq!(observer.array().health(), Health::Broken);
}

#[test]
fn a_read_that_times_out_is_had_from_another_copy_and_written_back() {
    let params = ArrayParams { reads: ReadChoice::First, ..plain(Level::Mirrored, 2) };
    let mut observer = behind(params, &[0]);
    assert_eq!(observer.read(0, FAR, 8).0, Outcome::Done);
    // What is written back comes in time or fails the member.
    assert_eq!(observer.array().member_errors()[0], 1);
    let repaired = observer.array().repaired();
    assert!(repaired == 8 || report_kinds(&observer) == [timed_out(0, 0), failed(0, 0)], "{repaired}");
}

#[test]
fn a_journal_that_does_not_take_a_write_is_gone() {
    let mut observer =
        behind(ArrayParams { consistency_policy: ConsistencyPolicy::Journal, ..plain(RAID5, 3) }, &[3]);
    assert_eq!(write(&mut observer, 0), Outcome::Failed);
    assert_eq!(report_kinds(&observer), [timed_out(3, 3), ReportKind::JournalFailed { drive: 3 }]);
}

/// Three members of which each has copies of the other two's: two of them are needed once one is missing.
#[test]
fn where_members_that_are_needed_differ_one_copy_stands() {
    let params = ArrayParams { missing: vec![2], reads: ReadChoice::First, ..plain(RAID10, 3) };
    let mut observer = behind(params, &[0]);
    // A stripe unit whose copies are on the first two.
    let chunk = FAR / 128 / 3 * 3 * 128;
    assert_eq!(observer.go(0, Access::Write, chunk, 8).0, Outcome::TimedOut);
    let stale: Vec<(u16, u64)> =
        observer.array().stale().map(|(slot, first, end)| (slot, end - first)).collect();
    assert_eq!(stale, [(0, 8)]);
    assert_eq!(observer.array().health(), Health::Broken);
    for at_ms in [10_000, 20_000] {
        assert_eq!(observer.read(at_ms, chunk, 16), (Outcome::Done, Some(1)), "nobody reads the other one");
    }
}
