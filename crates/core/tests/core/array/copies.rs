//! RAID 0, 1, 01 and 10: what is read where, and what a failure changes.
use super::bytes::{Bytes, bytes, sets};
use super::rig::{array, array_on, probe};
use crate::common::sorted::Target;
use crate::common::{Probe, command, drive, ms, next_due, response};
use drivelab_core::data::DataOp;
use drivelab_core::storage::TargetInput;
use drivelab_core::storage::array::levels::Layout;
use drivelab_core::storage::array::params::{
    ArrayParams, Copies, Failure, Level, ReadChoice, SplitReads, When,
};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::{Access, Outcome};
use drivelab_units::{Instant, Lba, Rpm, Sectors, Share};

fn failing(level: Level, members: u16, drives: &[u16]) -> ArrayParams {
    let failures = drives
        .iter()
        .map(|&drive| Failure { drive, when: When::At(Instant::from_ns(1_000_000_000)) })
        .collect();
    ArrayParams { failures, ..ArrayParams::plain(level, members) }
}

#[test]
fn a_large_read_takes_all_members_of_a_striped_set_at_once() {
    let alone = response(&probe(ArrayParams::plain(Level::Striped, 1)).read(0, 4 * 600));
    let four = response(&probe(ArrayParams { ..ArrayParams::plain(Level::Striped, 4) }).read(0, 4 * 600));
    assert!(four < alone * 6 / 10, "{four} against {alone}");
}

#[test]
fn a_mirror_bears_the_loss_of_one_member_and_a_striped_set_none() {
    let mut mirror = probe(failing(Level::Mirrored, 2, &[0]));
    mirror.wait(ms(2_000));
    assert_eq!(mirror.read(5, 8).outcome, Outcome::Done);
    assert_eq!(mirror.write(5, 8).outcome, Outcome::Done);
    let mut striped = probe(failing(Level::Striped, 2, &[0]));
    striped.wait(ms(2_000));
    assert_eq!(striped.read(5, 8).outcome, Outcome::Lost);
    assert_eq!(striped.read(130, 8).outcome, Outcome::Done);
}

#[test]
fn a_failure_spares_the_commands_that_are_with_the_member() {
    let mut mirror = probe(failing(Level::Mirrored, 2, &[0]));
    mirror.wait(ms(999));
    let answer = mirror.read(300_000, 8);
    assert_eq!(answer.outcome, Outcome::Done);
    assert!(answer.completed > Instant::from_ns(1_000_000_000));
}

/// Commands to members, sorted.
fn sorted(mut commands: Vec<(u16, u64, u64)>) -> Vec<(u16, u64, u64)> {
    commands.sort_unstable();
    commands
}

const fn raid10(layout: Copies) -> Level {
    Level::StripedMirrors { copies: 2, layout }
}

fn reading(level: Level, members: u16, reads: ReadChoice) -> ArrayParams {
    ArrayParams { reads, ..ArrayParams::plain(level, members) }
}

/// A drive on which these sectors cannot be read.
fn unreadable(first: u64, count: u64) -> DriveParams {
    let unreadable = vec![(Lba::new(first), Sectors::new(count))];
    DriveParams {
        faults: Some(FaultParams { read_errors: Share::NONE, unreadable, retries: ms(10) }),
        ..drive()
    }
}

#[test]
fn what_lies_one_behind_the_other_on_a_member_is_one_command() {
    for reads in [ReadChoice::First, ReadChoice::NearestHead, ReadChoice::LeastQueued, ReadChoice::RoundRobin]
    {
        let mut array = Bytes::new(&array(reading(raid10(Copies::Near), 4, reads)));
        array.read(64, 8 * 128 - 64);
        let lengths: Vec<u64> = array.reads.iter().map(|&(_, _, count)| count).collect();
        assert_eq!(lengths, [4 * 128 - 64, 4 * 128], "{reads:?}: one command for each pair");
    }
}

#[test]
fn no_command_to_a_member_is_larger_than_allowed() {
    for level in [Level::Linear, Level::Striped, Level::Mirrored, raid10(Copies::Far)] {
        let params = ArrayParams { request: Sectors::new(100), ..ArrayParams::plain(level, 2) };
        let mut array = Bytes::new(&array(params));
        array.write(30, &bytes(1, 1_000));
        assert_eq!(array.read(30, 1_000), bytes(1, 1_000));
        assert!(array.reads.iter().chain(&array.writes).all(|&(_, _, count)| count <= 100), "{level:?}");
    }
}

/// The member that a read of a mirror goes to.
fn taken(array: &mut Bytes, at: u64) -> u16 {
    array.read(at, 8);
    assert_eq!(array.reads.len(), 1);
    array.reads[0].0
}

#[test]
fn two_streams_keep_a_head_each() {
    let mut array = Bytes::new(&array(reading(Level::Mirrored, 2, ReadChoice::NearestHead)));
    // The head that is a little nearer takes the far stream; the one that stayed behind goes on with the near one.
    assert_eq!([taken(&mut array, 0), taken(&mut array, 500_000)], [0, 0]);
    for step in 1..20 {
        assert_eq!(taken(&mut array, step * 8), 1);
        assert_eq!(taken(&mut array, 500_000 + step * 8), 0);
    }
}

#[test]
fn copies_take_turns_and_those_that_are_left_share_evenly() {
    let params = reading(Level::Mirrored, 3, ReadChoice::RoundRobin);
    let mut whole = Bytes::new(&array(params.clone()));
    assert_eq!((0..6).map(|at| taken(&mut whole, at * 999)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    let mut degraded = Bytes::new(&array(ArrayParams { missing: vec![1], ..params }));
    assert_eq!((0..4).map(|at| taken(&mut degraded, at * 999)).collect::<Vec<_>>(), [0, 2, 0, 2]);
    let mut first = Bytes::new(&array(reading(Level::Mirrored, 2, ReadChoice::First)));
    assert_eq!((0..4).map(|at| taken(&mut first, 500_000 - at * 999)).collect::<Vec<_>>(), [0; 4]);
}

/// Which member answers each of some reads that are sent at once, one head being where the first of them begins.
fn taken_at_once(reads: ReadChoice, at: &[u64]) -> Vec<u16> {
    let mut mirror = probe(reading(Level::Mirrored, 2, reads));
    mirror.target().keep_data();
    mirror.read(at[0] - 8, 8);
    for &at in at {
        mirror.send(Access::Read, at, 8);
    }
    mirror.drain();
    let data: Vec<DataOp> = std::iter::from_fn(|| mirror.target().poll_data()).collect();
    let answers = |at: u64| {
        data.iter().find_map(|op| match op {
            DataOp::Deliver { member, first, .. } if first.get() == at => Some(*member),
            _ => None,
        })
    };
    at.iter().map(|&at| answers(at).expect("an answer")).collect()
}

#[test]
fn an_idle_copy_goes_before_the_nearest_one_unless_a_read_goes_on() {
    // The second read lies near the busy head and goes to the idle drive; with both busy the nearest one takes the third,
    // and the last goes on where the first one ends.
    let nearest = taken_at_once(ReadChoice::NearestHead, &[10_000, 10_100, 10_300, 10_008]);
    assert_eq!(nearest, [0, 1, 1, 0]);
    // A stream stays where it is although the other drive is idle.
    assert_eq!(taken_at_once(ReadChoice::NearestHead, &[10_000, 10_008, 10_016]), [0, 0, 0]);
}

#[test]
fn the_least_busy_copy_is_the_nearest_of_equals() {
    assert_eq!(taken_at_once(ReadChoice::LeastQueued, &[10_000, 10_100, 10_108, 10_016]), [0, 1, 1, 0]);
    let mut mirror = Bytes::new(&array(reading(Level::Mirrored, 2, ReadChoice::LeastQueued)));
    assert_eq!(
        [0, 500_000, 8, 500_008, 400_000, 100_000].map(|at| taken(&mut mirror, at)),
        [0, 0, 1, 0, 0, 1]
    );
}

#[test]
fn a_large_read_is_shared_in_turns_and_a_small_one_is_not() {
    let split = Some(SplitReads { from: Sectors::new(1_024), unit: Sectors::new(256) });
    let params = ArrayParams { split, ..ArrayParams::plain(Level::Mirrored, 2) };
    let mut mirror = Bytes::new(&array(params));
    mirror.write(0, &bytes(3, 2_048));
    assert_eq!(mirror.read(100, 1_024), bytes(3, 2_048)[100..1_124]);
    let expected = vec![(0, 100, 156), (0, 512, 256), (0, 1_024, 100), (1, 256, 256), (1, 768, 256)];
    assert_eq!(sorted(mirror.reads.clone()), expected);
    mirror.read(100, 1_023);
    assert_eq!(mirror.reads.len(), 1);
}

#[test]
fn all_copies_are_read_and_the_first_answer_counts() {
    for level in
        [Level::Mirrored, raid10(Copies::Near), raid10(Copies::Far), Level::MirroredStripes { copies: 2 }]
    {
        let mut array = Bytes::new(&array(reading(level, 4, ReadChoice::AskAll)));
        array.write(50, &bytes(4, 700));
        assert_eq!(array.read(60, 600), bytes(4, 700)[10..610], "{level:?}");
        // While answers to the last one are still under way.
        for at in 0..50 {
            assert_eq!(array.read(60 + at, 300), bytes(4, 700)[10 + at as usize..][..300], "{level:?}");
        }
    }
}

#[test]
fn a_copy_that_cannot_be_read_is_not_missed() {
    let levels = [Level::Mirrored, raid10(Copies::Near), raid10(Copies::Far), raid10(Copies::Offset)];
    let choices = [ReadChoice::First, ReadChoice::NearestHead, ReadChoice::RoundRobin, ReadChoice::AskAll];
    for (level, reads) in levels.into_iter().flat_map(|level| choices.map(|reads| (level, reads))) {
        let drives = [unreadable(0, 1_000), drive(), drive()];
        let mut array = Bytes::new(&array(reading(level, 3, reads)));
        array.write(0, &bytes(6, 900));
        let mut array = array.moved_to(&array_on(reading(level, 3, reads), &drives));
        for _ in 0..3 {
            assert_eq!(array.read(0, 900), bytes(6, 900), "{level:?}, {reads:?}");
        }
    }
}

#[test]
fn what_no_copy_can_give_is_an_error_of_the_media() {
    for reads in [ReadChoice::First, ReadChoice::AskAll] {
        let drives = [unreadable(100, 1), unreadable(100, 1)];
        let mut mirror = Bytes::new(&array_on(reading(Level::Mirrored, 2, reads), &drives));
        assert_eq!(mirror.go(Access::Read, 96, &[0; 8]).0, Outcome::MediaError, "{reads:?}");
        assert_eq!(mirror.go(Access::Read, 104, &[0; 8]).0, Outcome::Done, "{reads:?}");
    }
}

#[test]
fn what_is_read_to_be_written_back_is_nobodys_data() {
    let drives = [drive(), unreadable(100, 1)];
    let mut target = Target::new(&array_on(reading(Level::Mirrored, 2, ReadChoice::AskAll), &drives), 1);
    target.keep_data();
    target.handle(Instant::ZERO, TargetInput::Submit(command(1, Access::Read, 96, 8)));
    let mut written_back = 0;
    loop {
        for op in std::iter::from_fn(|| target.poll_data()) {
            assert!(!matches!(op, DataOp::Mix { into: u64::MAX, .. }), "{op:?}");
            written_back += u32::from(matches!(op, DataOp::Accept { .. }));
        }
        let Some(due) = next_due(&target) else { break };
        target.handle(due, TargetInput::Tick);
    }
    assert!(written_back > 0);
}

/// Of so many drives, one on which these sectors cannot be read.
fn with_unreadable(drives: u16, which: u16, first: u64, count: u64) -> Vec<DriveParams> {
    (0..drives).map(|i| if i == which { unreadable(first, count) } else { drive() }).collect()
}

#[test]
fn a_hundred_drives_do_without_what_one_of_them_cannot_read() {
    let level = raid10(Copies::Near);
    for which in [3, 70, 99] {
        let params = reading(level, 100, ReadChoice::First);
        let mut array = Bytes::new(&array(params.clone()));
        let first = u64::from(which / 2) * 128;
        array.write(first, &bytes(7, 128));
        let mut array = array.moved_to(&array_on(params, &with_unreadable(100, which, 0, 64)));
        assert_eq!(array.read(first, 128), bytes(7, 128), "drive {which}");
    }
    // A JBOD has nothing else to read it from, and says so without asking again for ever.
    let drives = with_unreadable(100, 70, 8, 1);
    let mut jbod = Bytes::new(&array_on(ArrayParams::plain(Level::Linear, 100), &drives));
    assert_eq!(jbod.go(Access::Read, 70 * 600_000, &[0; 16]).0, Outcome::MediaError);
    assert_eq!(jbod.go(Access::Read, 70 * 600_000 + 9, &[0; 16]).0, Outcome::Done);
}

#[test]
fn a_copy_is_avoided_where_it_cannot_be_read_and_nowhere_else() {
    let params = ArrayParams { request: Sectors::new(64), ..reading(Level::Mirrored, 2, ReadChoice::First) };
    // Each has what the other lacks.
    let mut mirror = Bytes::new(&array_on(params, &[unreadable(10, 1), unreadable(100, 1)]));
    (0..200).for_each(|at| [0, 1].iter().for_each(|&drive| mirror.put(drive, at, at as u8)));
    assert_eq!(mirror.read(0, 192), (0..192).collect::<Vec<u8>>());
}

#[test]
fn a_drive_that_fails_while_all_copies_are_read_changes_nothing() {
    for drives in [&[0_u16][..], &[1], &[0, 1]] {
        let mut mirror =
            probe(ArrayParams { reads: ReadChoice::AskAll, ..failing(Level::Mirrored, 2, drives) });
        mirror.wait(ms(999));
        let answer = mirror.read(300_000, 8);
        let expected = if drives.len() == 2 { Outcome::Lost } else { Outcome::Done };
        assert_eq!(answer.outcome, expected, "{drives:?}");
        mirror.wait(ms(100));
        assert_eq!(mirror.read(5, 8).outcome, expected, "{drives:?}");
    }
}

/// For each set of missing members: data are served, and right, exactly where a copy is left.
#[test]
fn data_are_served_as_long_as_there_is_a_copy() {
    let triple = Level::StripedMirrors { copies: 3, layout: Copies::Near };
    let levels = [
        (Level::Striped, 3),
        (Level::Mirrored, 3),
        (Level::MirroredStripes { copies: 2 }, 4),
        (Level::MirroredStripes { copies: 3 }, 6),
        (raid10(Copies::Near), 4),
        (raid10(Copies::Near), 5),
        (raid10(Copies::Far), 4),
        (raid10(Copies::Offset), 5),
        (triple, 5),
    ];
    for (level, members) in levels {
        for missing in sets(members, members.into()) {
            let params = ArrayParams { missing: missing.clone(), ..ArrayParams::plain(level, members) };
            let mut array = Bytes::new(&array(params));
            let Layout::Copied(copied) = *array.target.system().unwrap().array().unwrap().layout() else {
                panic!("another layout");
            };
            for chunk in 0..20 {
                let at = chunk * 128;
                let is_there = |copy| {
                    let own = copied.spot(&copied.piece(at, at + 128), copy).slot;
                    let mut set = copied.set(copy).unwrap_or(own..own + 1);
                    set.all(|slot| !missing.contains(&slot))
                };
                let is_served = (0..copied.copies()).any(is_there);
                let expected = if is_served { Outcome::Done } else { Outcome::Lost };
                let data = bytes(chunk as usize, 100);
                let what = format!("{level:?} of {members} without {missing:?}, unit {chunk}");
                assert_eq!(array.go(Access::Write, at, &data).0, expected, "{what}");
                let (outcome, read) = array.go(Access::Read, at, &data);
                assert_eq!(outcome, expected, "{what}");
                assert!(!is_served || read == data, "{what}");
            }
        }
    }
}

#[test]
fn a_set_of_raid_01_is_given_up_whole_and_raid_10_goes_on_with_each_pair() {
    // Member 0 of the first set and member 3 of the second are gone: each half has what the other lacks.
    let missing = vec![0, 3];
    let sets = ArrayParams {
        missing: missing.clone(),
        ..ArrayParams::plain(Level::MirroredStripes { copies: 2 }, 4)
    };
    let mut raid01 = probe(sets);
    assert_eq!(raid01.read(0, 8).outcome, Outcome::Lost);
    let pairs = ArrayParams { missing, ..ArrayParams::plain(raid10(Copies::Near), 4) };
    let mut pairs = probe(pairs);
    assert_eq!(pairs.read(0, 1_000).outcome, Outcome::Done);
    // With one gone, nothing is read from, or written to, the rest of its set.
    let short =
        ArrayParams { missing: vec![0], ..ArrayParams::plain(Level::MirroredStripes { copies: 2 }, 4) };
    let mut short = Bytes::new(&array(short));
    short.write(0, &bytes(1, 512));
    assert!(short.writes.iter().all(|&(member, _, _)| member >= 2));
    assert_eq!(short.read(0, 512), bytes(1, 512));
    assert!(short.reads.iter().all(|&(member, _, _)| member >= 2));
}

#[test]
fn a_write_that_no_drive_is_left_to_keep_is_lost() {
    for (drives, expected) in
        [(&[0_u16][..], Outcome::Done), (&[0, 1], Outcome::Lost), (&[0, 2], Outcome::Done)]
    {
        let mut array = probe(failing(raid10(Copies::Near), 4, drives));
        array.wait(ms(999));
        // With both drives of the first pair as they fail.
        assert_eq!(array.write(77_000 / 256 * 256, 8).outcome, expected, "{drives:?}");
    }
    let mut alone = probe(failing(Level::Linear, 2, &[0]));
    alone.wait(ms(999));
    assert_eq!(alone.write(300_000, 8).outcome, Outcome::Lost);
}

#[test]
fn the_slowest_member_rules_what_is_striped() {
    let slow = DriveParams { rpm: Rpm::from_milli(2_500_000).unwrap(), ..drive() };
    let time = |level, drives: &[DriveParams], at| {
        let params = ArrayParams::plain(level, drives.len() as u16);
        response(&Probe::new(&array_on(params, drives), 1).read(at, 3 * 128 * 100))
    };
    let three = [drive(), slow.clone(), drive()];
    let striped = time(Level::Striped, &three, 0);
    // 100 units of 128 sectors at a quarter of the rate: 600 sectors in 24 ms.
    let alone = response(&Probe::of(&slow).read(0, 128 * 100));
    assert!(striped.abs_diff(alone) < 24_000_000, "{striped} against {alone}");
    let fast = time(Level::Striped, &[drive(), drive(), drive()], 0);
    assert!(striped > fast * 3, "{striped} against {fast}");
    // A JBOD is as slow as the drive that has the address.
    let (own, other) = (time(Level::Linear, &three, 0), time(Level::Linear, &three, 600_000));
    assert!((3 * own..5 * own).contains(&other), "{own}, {other}");
}

#[test]
fn unequal_members_give_what_their_level_can_use() {
    let mut small = drive();
    small.geometry.zones[0].cylinders = 500;
    let capacity = |level| {
        let drives = [drive(), small.clone()];
        Probe::new(&array_on(ArrayParams::plain(level, 2), &drives), 1).capacity()
    };
    assert_eq!(capacity(Level::Linear), 900_000);
    assert_eq!(capacity(Level::Striped), 2 * (300_000 / 128 * 128));
    assert_eq!(capacity(Level::Mirrored), 300_000);
    let mut jbod = Bytes::new(&array_on(ArrayParams::plain(Level::Linear, 2), &[small, drive()]));
    jbod.write(299_900, &bytes(2, 300));
    assert_eq!(sorted(jbod.writes.clone()), [(0, 299_900, 100), (1, 0, 200)]);
    assert_eq!(jbod.read(299_900, 300), bytes(2, 300));
}
