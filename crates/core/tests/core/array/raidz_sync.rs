//! A resilver and a scrub of RAID-Z: what they go over and how long it takes, and what a second failure or an unreadable
//! sector costs.
use super::observer::{Observer, at_ms, fails};
use super::rig::array_on;
use crate::common::{TRACK, TURN, drive, flat_seek, layout, ms, zone};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::levels::{Layout, RaidZ};
use drivelab_core::storage::array::members::MemberState;
use drivelab_core::storage::array::params::{ArrayParams, GivesWay, Level, Scheduled, SyncParams};
use drivelab_core::storage::array::report::{Health, ReportKind, SyncKind};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Lba, Rate, Sectors, Share, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const TRACKS: u64 = 50;
const REBUILD: SyncKind = SyncKind::Rebuild;

fn small() -> DriveParams {
    let geometry = layout(1, vec![zone(0, TRACKS as u32, TRACK as u32)]);
    DriveParams { geometry, seek: flat_seek(ms(1), TRACKS as u32), ..drive() }
}

/// A track at once, as fast as the drives can, spindles alike.
fn pool(parities: u8, members: u16, record: u64, fill_percent: u8) -> ArrayParams {
    let level = Level::RaidZ { parities, record: Sectors::new(record), fill_percent };
    let request = Sectors::new(TRACK);
    ArrayParams {
        synchronised: true,
        sync: SyncParams {
            floor: None,
            ceiling: None,
            request,
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

/// Three data columns of 75 sectors of 4 KiB and two of parity: a record is a track of each member.
const OF_A_TRACK: u64 = 3 * TRACK;
/// Four of 74 and one of parity.
const RECORD: u64 = 4 * SHARE;
const SHARE: u64 = 592;

fn laid(observer: &Observer) -> &RaidZ {
    let Layout::RaidZ(pool) = observer.array().layout() else { panic!("another layout") };
    pool
}

fn duration(observer: &Observer) -> u64 {
    let (began, ended) =
        (observer.when(ReportKind::Began(REBUILD)), observer.when(ReportKind::Ended(REBUILD)));
    assert_eq!((began.len(), ended.len()), (1, 1), "{:?}", observer.reports);
    (ended[0] - began[0]).as_ns()
}

/// What is right of the first member.
fn frontier(observer: &Observer) -> u64 {
    match observer.array().members().get(0).state {
        MemberState::Rebuilding { done } => done,
        state => panic!("{state:?}"),
    }
}

/// Each window reads a track and writes one, as in a rebuild of parity rows: a turn for the arm, one for the first sector
/// to come round, and one for each transfer; no arm has to move for the first.
#[test]
fn a_resilver_takes_as_long_as_reading_and_writing_what_exists() {
    for (fill, records) in [(20, 10), (50, 25), (90, 45), (100, 49)] {
        let mut observer = Observer::new(rebuilding(pool(2, 5, OF_A_TRACK, fill)), &small());
        assert_eq!(observer.array().health(), Health::Rebuilding);
        observer.run_out();
        let (took, expected) = (duration(&observer), 2 * TURN + (records - 1) * 4 * TURN);
        assert!((expected..expected + TURN).contains(&took), "{fill} %: {took} against {expected}");
        assert_eq!(observer.array().health(), Health::Healthy);
        let progress = observer.array().progress().next().unwrap();
        assert_eq!((progress.swept.get(), progress.of.get()), (records * TRACK, records * TRACK));
    }
}

#[test]
fn a_resilver_that_was_interrupted_goes_on_where_it_was() {
    let rebuilt = Share::from_ratio(1, 2).unwrap();
    let mut observer =
        Observer::new(ArrayParams { rebuilt, ..rebuilding(pool(2, 5, OF_A_TRACK, 80)) }, &small());
    // Half of the forty records that lie there, not of the fifty places.
    assert_eq!(frontier(&observer), 20 * TRACK);
    observer.run_out();
    let (took, expected) = (duration(&observer), 2 * TURN + 19 * 4 * TURN);
    assert!((expected..expected + 5 * TURN).contains(&took), "{took} against {expected}");
    let progress = observer.array().progress().next().unwrap();
    let reported = (progress.before.get(), progress.swept.get(), progress.of.get());
    assert_eq!(reported, (20 * TRACK, 20 * TRACK, 40 * TRACK));
}

#[test]
fn a_resilver_of_an_idle_pool_keeps_to_the_ceiling() {
    // A track in 60 ms, more than it takes.
    let mut params = rebuilding(pool(2, 5, OF_A_TRACK, 50));
    params.sync.ceiling = Rate::from_bytes_per_s(TRACK * 512 * 1_000 / 60);
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let (took, begun) = (duration(&observer), 24 * 60_000_000);
    assert!((begun + 2 * TURN..begun + 6 * TURN).contains(&took), "{took}");
}

/// By whether they read, and by drive: first sector and count of each command, in the order in which they were done.
fn commands(data: &[DataOp]) -> BTreeMap<(bool, u16), Vec<(u64, u64)>> {
    let mut commands: BTreeMap<(bool, u16), Vec<(u64, u64)>> = BTreeMap::new();
    // Where among them a command is: its data may come in several parts.
    let mut known = HashMap::new();
    for op in data {
        let (is_read, id, drive, first, count) = match *op {
            DataOp::Deliver { read, member, first, count, .. } => (true, read, member, first, count),
            DataOp::Accept { write, member, first, count } => (false, write, member, first, count),
            _ => continue,
        };
        let commands = commands.entry((is_read, drive)).or_default();
        let at = *known.entry((is_read, drive, id)).or_insert(commands.len());
        if at == commands.len() {
            commands.push((first.get(), 0));
        }
        commands[at].0 = commands[at].0.min(first.get());
        commands[at].1 += count.get();
    }
    commands
}

/// Of records that lie side by side, with sectors left over between them, each member has one command a window.
#[test]
fn what_lies_side_by_side_is_one_command() {
    // 32 sectors of 4 KiB on six members: columns of seven and of six, 39 sectors of 40.
    let mut params = rebuilding(pool(1, 6, 256, 80));
    params.sync.request = Sectors::new(1_024);
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let (places, records) = (1_024 / 8 * 6 / 40, laid(&observer).records());
    let all = commands(&observer.data);
    assert_eq!(all.len(), 6);
    for (&(is_read, drive), commands) in &all {
        assert_eq!(is_read, drive > 0);
        assert_eq!(commands.len() as u64, records.div_ceil(places), "drive {drive}");
        assert!(commands.is_sorted());
        let sectors: u64 = commands.iter().map(|&(_, count)| count).sum();
        // Nothing twice, and no more left out than at the edges of the windows.
        let whole = records * 40 / 6 * 8;
        assert!(sectors <= whole + 8 && sectors >= whole - 8 * commands.len() as u64, "{sectors} of {whole}");
    }
}

/// However often records have moved, members are read and written upward, each record once.
#[test]
fn members_are_gone_over_by_place_and_only_where_records_lie() {
    let params = ArrayParams { spares: 1, failures: vec![fails(2, 90_000)], ..pool(1, 5, RECORD, 40) };
    let mut observer = Observer::new(params, &small());
    let records = laid(&observer).records();
    let mut stream = drivelab_core::rng::Stream::named(1, "records");
    for i in 0..400 {
        assert_eq!(
            observer.go(200 * i, Access::Write, stream.below(records) * RECORD, RECORD).0,
            Outcome::Done
        );
    }
    observer.run_to(89_999);
    let from = observer.data.len();
    observer.run_out();
    let lie: BTreeSet<u64> = (0..records).map(|record| laid(&observer).place(record)).collect();
    assert_ne!(lie, (0..records).collect());
    for ((is_read, drive), commands) in commands(&observer.data[from..]) {
        assert_eq!(is_read, drive != 5);
        let gone_over: Vec<u64> = commands
            .iter()
            .flat_map(|&(first, count)| first / SHARE..(first + count).div_ceil(SHARE))
            .collect();
        assert_eq!(gone_over, lie.iter().copied().collect::<Vec<_>>(), "drive {drive}");
    }
    assert_eq!(observer.array().health(), Health::Healthy);
}

/// What hosts write while a pool is resilvered comes to the new member at once, and is not gone over.
#[test]
fn what_is_written_meanwhile_is_not_gone_over() {
    let mut observer = Observer::new(rebuilding(pool(1, 5, RECORD, 60)), &small());
    let records = laid(&observer).records();
    for record in 0..records {
        observer.send(0, Access::Write, (records - 1 - record) * RECORD, RECORD);
    }
    observer.run_out();
    let progress = observer.array().progress().next().unwrap();
    assert!(progress.swept.get() <= records * SHARE / 2, "{progress:?}");
    assert_eq!((progress.swept, observer.array().health()), (progress.of, Health::Healthy));
    // Without another member everything is there.
    let next = observer.when(ReportKind::Ended(REBUILD))[0].as_ns() / 1_000_000 + 1;
    assert_eq!(observer.read(next, 0, records * RECORD).0, Outcome::Done);
}

#[test]
fn what_a_new_member_has_is_read_from_it() {
    let mut observer = Observer::new(rebuilding(pool(1, 5, RECORD, 60)), &small());
    observer.run_to(300);
    let done = frontier(&observer) / SHARE;
    assert!(done > 3, "{done}");
    let reads_parity = |observer: &mut Observer, at, record: u64| {
        let from = observer.data.len();
        assert_eq!(observer.read(at, record * RECORD, RECORD).0, Outcome::Done);
        let place = laid(observer).place(record);
        let parity = laid(observer).column(place, 0);
        let host = |op: &&DataOp| {
            matches!(op, DataOp::Deliver { member, first, .. }
            if *member == parity.slot && first.get() == parity.at)
        };
        observer.data[from..].iter().find(host).is_some()
    };
    // Where the new member has data: parity lies on the first two in turn.
    let has_data = |observer: &Observer, record: u64| {
        let pool = laid(observer);
        let index = pool.map().column_on(pool.place(record) * pool.map().taken(), 0);
        index.is_some_and(|index| index > 0)
    };
    let records = laid(&observer).records();
    let (Some(below), Some(above)) = (
        (0..done).find(|&record| has_data(&observer, record)),
        (records - 4..records).find(|&record| has_data(&observer, record)),
    ) else {
        panic!("data lie everywhere")
    };
    assert!(!reads_parity(&mut observer, 301, below));
    assert!(reads_parity(&mut observer, 340, above));
    // Once it is written anew it is there, wherever the frontier is.
    observer.go(380, Access::Write, above * RECORD, RECORD);
    assert!(frontier(&observer) < laid(&observer).edge(laid(&observer).place(above)));
    if has_data(&observer, above) {
        assert!(!reads_parity(&mut observer, 420, above));
    }
}

#[test]
fn a_second_failure_takes_what_is_neither_gone_over_nor_new() {
    let params = ArrayParams { failures: vec![fails(1, 600)], ..rebuilding(pool(1, 5, RECORD, 80)) };
    let mut observer = Observer::new(params, &small());
    let (records, written) = (laid(&observer).records(), [30, 33]);
    for (record, at) in written.into_iter().zip([200, 300]) {
        assert_eq!(observer.go(at, Access::Write, record * RECORD, RECORD).0, Outcome::Done);
    }
    observer.run_to(700);
    let done = frontier(&observer) / SHARE;
    assert!((5..30).contains(&done), "{done}");
    let at = |record| record * RECORD;
    assert_eq!(observer.lost(), [(at(done), at(30)), (at(31), at(33)), (at(34), at(records))]);
    observer.run_out();
    assert_eq!(observer.when(ReportKind::GivenUp(REBUILD)).len(), 1);
    assert_eq!(observer.array().health(), Health::Failed);
    for record in 0..records {
        let is_there = record < done || written.contains(&record);
        let expected = if is_there { Outcome::Done } else { Outcome::Lost };
        assert_eq!(observer.read(5_000 + record * 100, at(record), 8).0, expected, "record {record}");
    }
    // A record that is written whole is there again; of a part the rest is wanted.
    assert_eq!(observer.go(20_000, Access::Write, at(records - 1), 8).0, Outcome::Lost);
    assert_eq!(observer.go(20_100, Access::Write, at(records - 1), RECORD).0, Outcome::Done);
    assert_eq!(observer.read(20_200, at(records - 1), RECORD).0, Outcome::Done);
}

#[test]
fn with_two_parities_a_second_failure_is_borne_and_a_third_is_not() {
    let failures = vec![fails(1, 300), fails(2, 500)];
    let params = ArrayParams { failures, ..rebuilding(pool(2, 5, OF_A_TRACK, 80)) };
    let one = ArrayParams { failures: params.failures[..1].to_vec(), ..params.clone() };
    let mut observer = Observer::new(one, &small());
    observer.run_out();
    assert_eq!((observer.lost(), observer.array().health()), (vec![], Health::Degraded));
    assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
    // One more takes what is not gone over, and a fourth the rest: what was lost already is not said again.
    let mut observer = Observer::new(params, &small());
    observer.run_to(600);
    let (done, records) = (frontier(&observer) / TRACK, laid(&observer).records());
    assert_eq!(observer.lost(), [(done * OF_A_TRACK, records * OF_A_TRACK)]);
    let three = vec![fails(1, 300), fails(2, 500), fails(3, 600)];
    let mut observer =
        Observer::new(ArrayParams { failures: three, ..rebuilding(pool(2, 5, OF_A_TRACK, 80)) }, &small());
    observer.run_out();
    let sectors: u64 = observer.lost().iter().map(|(first, end)| end - first).sum();
    assert_eq!(sectors, records * OF_A_TRACK);
    assert_eq!(observer.read(9_000, 0, 8).0, Outcome::Lost);
}

#[test]
fn a_second_member_joins_the_resilver_of_the_first() {
    let params =
        ArrayParams { failures: vec![fails(1, 600)], spares: 1, ..rebuilding(pool(2, 5, OF_A_TRACK, 80)) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    assert_eq!(observer.array().health(), Health::Healthy);
    assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
    let swept = observer.array().progress().next().unwrap().swept.get();
    let once = laid(&observer).records() * TRACK;
    assert!(swept > once && swept < 2 * once, "{swept} against {once}");
    // What the first already had is not written to it again.
    for ((is_read, drive), commands) in commands(&observer.data) {
        let sectors: u64 = commands.iter().map(|&(_, count)| count).sum();
        assert!(is_read || sectors <= once + 2 * TRACK, "drive {drive}: {sectors}");
    }
    assert_eq!(observer.lost(), []);
}

/// Members of which one has unreadable sectors.
fn with_faults(params: ArrayParams, faulty: &[u16], bad: &[u64]) -> Observer {
    let unreadable = bad.iter().map(|&at| (Lba::new(at), Sectors::new(1))).collect();
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: Span::ZERO };
    let faults_of = |drive| faulty.contains(&drive).then(|| faults.clone());
    let drives = 0..params.members + params.spares;
    let drives: Vec<DriveParams> =
        drives.map(|drive| DriveParams { faults: faults_of(drive), ..small() }).collect();
    Observer::of(&array_on(params, &drives))
}

/// The records that have one of these sectors of a slot.
fn holding(pool: &RaidZ, slot: u16, bad: &[u64]) -> Vec<u64> {
    let map = pool.map();
    let holds = |&record: &u64| {
        let place = pool.place(record);
        let index = map.column_on(place * map.taken(), slot);
        let column = index.map(|index| pool.column(place, index));
        column.is_some_and(|column| bad.iter().any(|&at| (column.at..column.at + column.count).contains(&at)))
    };
    (0..pool.records()).filter(holds).collect()
}

/// Records of a part of the members, several to a row, and records of several rows.
#[test]
fn records_that_cannot_be_read_while_resilvering_are_lost_alone() {
    let bad = [100, 101, 5_003, 7_777, 7_790];
    for record in [8, 24, 256, RECORD] {
        let mut observer = with_faults(rebuilding(pool(1, 6, record, 80)), &[1], &bad);
        observer.run_out();
        assert_eq!(observer.when(ReportKind::Ended(REBUILD)).len(), 1);
        assert_eq!(observer.array().health(), Health::Healthy, "the members are all there");
        // Only those of which the new member was to have something.
        let needed = |&record: &u64| {
            let pool = laid(&observer);
            pool.map().column_on(pool.place(record) * pool.map().taken(), 0).is_some()
        };
        let lost: Vec<u64> = holding(laid(&observer), 1, &bad).into_iter().filter(needed).collect();
        assert!(!lost.is_empty());
        let ranges: Vec<(u64, u64)> = lost.iter().map(|&lost| (lost * record, (lost + 1) * record)).collect();
        assert_eq!(observer.lost(), ranges, "records of {record}");
        let (first, end) = ranges[0];
        assert_eq!(observer.read(600_000, first, 8).0, Outcome::Lost);
        assert_eq!(observer.read(600_100, end, 8).0, Outcome::Done);
        assert_eq!(observer.go(600_200, Access::Write, first, record).0, Outcome::Done);
        assert_eq!(observer.read(600_300, first, record).0, Outcome::Done);
    }
}

/// Whether a window finds a record lost before, while, or after a host writes it anew: what the host was told is so.
#[test]
fn a_record_written_while_it_is_found_lost_is_there() {
    let mut found_while_written = 0;
    for ms in (0..160).step_by(4) {
        let mut observer = with_faults(rebuilding(pool(1, 5, RECORD, 20)), &[1], &[100]);
        assert_eq!(observer.go(ms, Access::Write, 0, RECORD).0, Outcome::Done);
        observer.run_out();
        found_while_written += observer.lost().len();
        assert_eq!(observer.read(10_000, 0, RECORD).0, Outcome::Done, "written after {ms} ms");
    }
    assert!(found_while_written > 0);
}

/// A write of a part of a lost record needs the rest of it.
#[test]
fn a_lost_record_comes_back_only_as_a_whole() {
    let mut observer = with_faults(rebuilding(pool(1, 5, RECORD, 20)), &[1], &[100]);
    observer.run_out();
    assert_eq!(observer.lost(), [(0, RECORD)]);
    assert_eq!(observer.go(10_000, Access::Write, 0, 8).0, Outcome::Lost);
    assert_eq!(observer.read(11_000, 0, 8).0, Outcome::Lost);
    assert_eq!(observer.go(12_000, Access::Write, 0, RECORD).0, Outcome::Done);
    assert_eq!(observer.read(13_000, 0, RECORD).0, Outcome::Done);
}

#[test]
fn with_two_parities_an_unreadable_sector_is_borne() {
    let mut observer = with_faults(rebuilding(pool(2, 6, 256, 80)), &[3], &[100, 5_003]);
    observer.run_out();
    assert_eq!((observer.lost(), observer.array().health()), (vec![], Health::Healthy));
    // Two members with the same bad sector are too many, where both hold something of one record.
    let mut observer = with_faults(rebuilding(pool(2, 6, 256, 80)), &[3, 4], &[100]);
    observer.run_out();
    assert_eq!(observer.lost(), [(256, 512)]);
}

#[test]
fn a_scrub_goes_over_every_record_once_and_waits_for_a_resilver() {
    let scheduled = vec![Scheduled { kind: SyncKind::Scrub, at: at_ms(100) }];
    let params = ArrayParams { scheduled, ..pool(2, 5, OF_A_TRACK, 40) };
    let mut observer = Observer::new(params.clone(), &small());
    observer.run_out();
    let progress = observer.array().progress().next().unwrap();
    assert_eq!((progress.swept.get(), progress.of.get()), (20 * TRACK, 20 * TRACK));
    let ended = observer.when(ReportKind::Ended(SyncKind::Scrub))[0];
    // It reads a track, and loses a turn to the next one.
    let took = (ended - at_ms(100)).as_ns();
    assert!((39 * TURN..40 * TURN).contains(&took), "{took}");
    for ((is_read, drive), commands) in commands(&observer.data) {
        assert!(is_read && commands.is_sorted() && commands.len() == 20, "drive {drive}");
    }
    let mut both = Observer::new(rebuilding(params), &small());
    both.run_out();
    assert!(both.when(ReportKind::Ended(REBUILD))[0] < both.when(ReportKind::Ended(SyncKind::Scrub))[0]);
    assert_eq!(both.array().health(), Health::Healthy);
}

#[test]
fn a_scrub_leaves_out_what_is_lost() {
    let scheduled = vec![Scheduled { kind: SyncKind::Scrub, at: at_ms(2_000) }];
    let params =
        ArrayParams { scheduled, failures: vec![fails(1, 600)], ..rebuilding(pool(1, 5, RECORD, 80)) };
    let mut observer = Observer::new(params, &small());
    observer.run_out();
    let done = frontier(&observer);
    assert!(done > 3 * SHARE);
    let scrub = observer.array().progress().nth(1).unwrap();
    assert_eq!((scrub.kind, scrub.swept.get(), scrub.of.get()), (SyncKind::Scrub, done, done));
}

#[test]
fn a_scrub_finds_the_records_that_cannot_be_read() {
    let scheduled = vec![Scheduled { kind: SyncKind::Scrub, at: at_ms(100) }];
    let params = ArrayParams { scheduled, ..pool(1, 6, 256, 80) };
    let mut observer = with_faults(params.clone(), &[3], &[100]);
    observer.run_out();
    assert_eq!(observer.lost(), []);
    let mut observer = with_faults(params, &[3, 4], &[100]);
    observer.run_out();
    assert_eq!(observer.lost(), [(256, 512)]);
    assert_eq!(observer.read(100_000, 0, 8).0, Outcome::Done);
}
