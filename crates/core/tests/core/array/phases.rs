//! The phases of what an array does: each begins when the one before has ended, and all of them end.
use super::parity::{parity, small};
use super::rig::{array, array_on};
use super::stamps::Stamped;
use crate::common::sorted::Target;
use crate::common::{TURN, command, drive, ms, next_due};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Failure, Level, ReadChoice, SyncParams, When,
};
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::trace::Served;
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_units::{Instant, Lba, Rate, Sectors, Share, Span};

/// What the members did, in order: when, which, whether it was a write, where.
type Did = (Instant, u16, Access, u64);

/// All that happens from some commands that come at once.
fn play(target: &TargetParams, commands: &[Command]) -> (Vec<Completion>, Vec<Did>) {
    let mut target = Target::new(target, 1);
    target.keep_data();
    for command in commands {
        target.handle(Instant::ZERO, TargetInput::Submit(*command));
    }
    let (mut now, mut did, mut answers) = (Instant::ZERO, Vec::new(), Vec::new());
    loop {
        for op in std::iter::from_fn(|| target.poll_data()) {
            match op {
                DataOp::Deliver { member, first, .. } => did.push((now, member, Access::Read, first.get())),
                DataOp::Accept { member, first, .. } => did.push((now, member, Access::Write, first.get())),
                _ => {}
            }
        }
        answers.extend(std::iter::from_fn(|| target.poll_output()));
        let Some(due) = next_due(&target) else { return (answers, did) };
        now = due;
        target.handle(due, TargetInput::Tick);
    }
}

fn write(id: u64, first: u64, count: u64) -> Command {
    command(id, Access::Write, first, count)
}

fn took(answers: &[Completion], id: u64) -> Span {
    let answer = answers.iter().find(|answer| answer.id == id).expect("it is answered");
    assert_eq!(answer.outcome, Outcome::Done);
    answer.completed - answer.submitted
}

#[test]
fn nothing_is_written_before_all_that_must_be_known_has_come() {
    // Members whose platters have nothing to do with each other answer at different times.
    let unequal = |parities, members| ArrayParams { synchronised: false, ..parity(parities, members) };
    for params in [unequal(1, 5), unequal(2, 6), unequal(3, 7)] {
        for (first, count) in [(3, 1), (0, 8), (100, 60), (8, 300)] {
            let (answers, did) = play(&array(params.clone()), &[write(0, first, count)]);
            assert_eq!(answers.len(), 1);
            let last_read = did.iter().filter(|did| did.2 == Access::Read).map(|did| did.0).max();
            let first_write = did.iter().filter(|did| did.2 == Access::Write).map(|did| did.0).min();
            assert!(last_read < first_write, "{first}, {count}: {did:?}");
            let last_write = did.iter().map(|did| did.0).max().expect("it wrote");
            assert_eq!(answers[0].completed, last_write, "answered with the last of its writes");
        }
    }
}

/// The journal has data and parity before the members do.
#[test]
fn what_is_to_be_on_record_is_there_before_the_members_are_written() {
    let params =
        ArrayParams { consistency_policy: ConsistencyPolicy::Journal, synchronised: false, ..parity(1, 4) };
    let drives: Vec<DriveParams> = (0..5).map(|_| drive()).collect();
    let (answers, did) = play(&array_on(params, &drives), &[write(0, 0, 8)]);
    assert_eq!(answers.len(), 1);
    let logged = did.iter().filter(|did| did.1 == 4 && did.2 == Access::Write).map(|did| did.0);
    let members = did.iter().filter(|did| did.1 < 4 && did.2 == Access::Write).map(|did| did.0);
    assert!(logged.clone().count() > 0 && members.clone().count() > 1);
    // The superblock may be told of it once more behind.
    assert!(logged.min() < members.min());
    let read = did.iter().filter(|did| did.1 < 4 && did.2 == Access::Read).map(|did| did.0).max();
    assert!(read.is_some_and(|read| did.iter().all(|did| did.2 == Access::Read || did.0 > read)));
}

/// One processor for all: parity of two writes is computed one after the other, between their reads and their writes.
#[test]
fn parity_is_computed_by_one_for_all_after_the_reads() {
    let with = |rate: Option<u64>, commands: &[Command]| {
        let mut params = small(1, 5, 128, 8);
        params.parity.rate = rate.map(|rate| Rate::from_bytes_per_s(rate).unwrap());
        play(&array(params), commands)
    };
    // Whole rows: no reads, and parity over 4 times 128 sectors.
    let row = 4 * 128;
    let rows = [write(0, 0, row), write(1, row, row)];
    let (plain, _) = with(None, &rows[..1]);
    // Each row takes a whole turn to compute, so that the platters stand where they would have.
    let turn = row * 512 * 1_000_000_000 / TURN;
    let (slow, did) = with(Some(turn), &rows);
    let computing = Rate::from_bytes_per_s(turn).unwrap().time_for(drivelab_units::Bytes::new(row * 512));
    assert!(computing.as_ns().abs_diff(TURN) < 100, "{computing:?}");
    assert!(did.iter().all(|did| did.2 == Access::Write), "whole rows need no reads");
    let first = did.iter().filter(|did| did.3 < 128).map(|did| did.0).min().expect("the first row");
    assert!(first >= Instant::ZERO + computing, "parity first");
    let second = did.iter().filter(|did| did.3 >= 128).map(|did| did.0).min().expect("the second row");
    assert!(second >= Instant::ZERO + computing + computing, "one after the other: {did:?}");
    assert!(took(&slow, 0) >= took(&plain, 0));
    for answer in &slow {
        let overhead = answer.breakdown.overhead;
        let rows = answer.id + 1;
        assert_eq!(overhead.as_ns(), rows * computing.as_ns(), "{answer:?}");
    }
}

fn bad(first: u64, count: u64) -> DriveParams {
    let unreadable = vec![(Lba::new(first), Sectors::new(count))];
    DriveParams {
        faults: Some(FaultParams { read_errors: Share::NONE, unreadable, retries: ms(1) }),
        ..drive()
    }
}

/// What cannot be read is planned anew with what else there is, once; it is computed once more, and written back.
#[test]
fn what_cannot_be_read_is_had_otherwise_and_comes_to_an_end() {
    let mut drives: Vec<DriveParams> = (0..5).map(|_| drive()).collect();
    drives[0] = bad(2, 3);
    let target = array_on(small(1, 5, 16, 8), &drives);
    let (answers, did) = play(&target, &[command(0, Access::Read, 0, 8)]);
    assert_eq!((answers.len(), answers[0].outcome), (1, Outcome::Done));
    // All data of the row but what is bad, and its parity.
    let read: Vec<u16> = did.iter().filter(|did| did.2 == Access::Read).map(|did| did.1).collect();
    assert_eq!(read.len(), 4, "{did:?}");
    assert!(!read.contains(&0));
    assert!(did.iter().any(|did| did.1 == 0 && did.2 == Access::Write), "written back: {did:?}");
    // The same for a write that wanted to know it.
    let (answers, did) = play(&target, &[write(0, 3, 1)]);
    assert_eq!((answers.len(), answers[0].outcome), (1, Outcome::Done));
    assert!(did.iter().any(|did| did.2 == Access::Write && did.1 == 0));
}

/// With all copies bad there is nothing to be had: the read fails, and does not go round for ever.
#[test]
fn what_nobody_can_read_fails_in_the_end() {
    for level in [Level::Mirrored, Level::Parity { parities: 1, rotation: parity_rotation(), groups: 1 }] {
        let members = if level == Level::Mirrored { 2 } else { 3 };
        let drives: Vec<DriveParams> = (0..members).map(|_| bad(0, 64)).collect();
        for reads in [ReadChoice::NearestHead, ReadChoice::AskAll] {
            if level != Level::Mirrored && reads == ReadChoice::AskAll {
                continue;
            }
            let params = ArrayParams { reads, ..ArrayParams::plain(level, members) };
            let (answers, _) = play(&array_on(params, &drives), &[command(0, Access::Read, 0, 8)]);
            assert_eq!(answers.len(), 1);
            assert_ne!(answers[0].outcome, Outcome::Done, "{level:?}");
        }
    }
}

fn parity_rotation() -> drivelab_core::storage::array::params::Rotation {
    drivelab_core::storage::array::params::Rotation::LeftSymmetric
}

/// Whatever a member is at when it fails, its array's commands all end, and none before it was sent.
#[test]
fn a_member_that_fails_at_any_moment_leaves_no_command_behind() {
    for parities in 1..=2 {
        for step in 0..40 {
            let at = Instant::ZERO + Span::from_us(500 * step);
            let failures = vec![Failure { drive: 1, when: When::At(at) }];
            let params = ArrayParams { failures, ..small(parities, 5, 16, 8) };
            let commands: Vec<Command> = (0..12)
                .map(|id| command(id, [Access::Read, Access::Write][id as usize % 2], 40 * id, 24))
                .collect();
            let (answers, did) = play(&array(params), &commands);
            assert_eq!(answers.len(), commands.len(), "{step}");
            assert!(answers.iter().all(|answer| answer.outcome == Outcome::Done), "{step}: {answers:?}");
            let gone = did.iter().filter(|did| did.1 == 1).map(|did| did.0).max();
            assert!(gone.is_none_or(|gone| gone <= at), "nothing is heard of it any more");
        }
    }
}

#[test]
fn an_array_that_has_lost_data_answers_one_command_after_the_other() {
    let failures = [0, 1].map(|drive| Failure { drive, when: When::At(Instant::ZERO) });
    let params = ArrayParams { failures: failures.into(), refusal: ms(2), ..parity(1, 3) };
    let mut target = Target::new(&array(params), 1);
    target.handle(Instant::ZERO + ms(1), TargetInput::Tick);
    for id in 0..5 {
        target.handle(Instant::ZERO + ms(10), TargetInput::Submit(command(id, Access::Read, 0, 8)));
    }
    let mut answers = Vec::new();
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
        answers.extend(std::iter::from_fn(|| target.poll_output()));
    }
    let at: Vec<Span> = answers.iter().map(|answer| answer.completed - answer.submitted).collect();
    assert_eq!(at, [2, 4, 6, 8, 10].map(ms));
    assert!(answers.iter().all(|answer| answer.outcome == Outcome::Lost));
}

/// A write that must be on the media reads what it must know from wherever that is.
#[test]
fn what_a_forced_write_must_know_may_come_from_a_buffer() {
    let cached = DriveParams { cache: Some(CacheParams::reading_on(Sectors::new(1_000))), ..drive() };
    let drives: Vec<DriveParams> = (0..5).map(|_| cached.clone()).collect();
    let mut target = Target::new(&array_on(small(1, 5, 128, 8), &drives), 1);
    target.keep_traces();
    let mut served = Vec::new();
    for (at, command) in [
        (ms(0), command(0, Access::Read, 0, 8)),
        (ms(100), Command { force_unit_access: true, ..write(1, 0, 8) }),
    ] {
        target.handle(Instant::ZERO + at, TargetInput::Submit(command));
        while target.poll_output().is_none() {
            let due = next_due(&target).expect("it is answered");
            target.handle(due, TargetInput::Tick);
        }
        let of_members = std::iter::from_fn(|| target.poll_trace()).filter(|trace| trace.member.is_some());
        served.extend(
            of_members.filter(|trace| trace.command.access == Access::Read).map(|trace| trace.served),
        );
    }
    // The data were read before, parity was not.
    served[1..].sort_by_key(|served| *served == Served::Chosen);
    assert_eq!(served, [Served::Chosen, Served::Buffered, Served::Chosen]);
}

/// The journal gets parity too, so that must have been computed.
#[test]
fn parity_is_computed_before_it_goes_on_record() {
    let mut params = ArrayParams { consistency_policy: ConsistencyPolicy::Journal, ..small(1, 4, 128, 8) };
    // 4 KiB take more than 40 ms.
    params.parity.rate = Rate::from_bytes_per_s(100_000);
    let drives: Vec<DriveParams> = (0..5).map(|_| drive()).collect();
    let (_, did) = play(&array_on(params, &drives), &[write(0, 0, 8)]);
    let read = did.iter().filter(|did| did.1 < 4 && did.2 == Access::Read).map(|did| did.0).max();
    let logged = did.iter().filter(|did| did.1 == 4 && did.2 == Access::Write).map(|did| did.0).min();
    assert!(logged.zip(read).is_some_and(|(logged, read)| logged > read + ms(40)), "{did:?}");
}

/// Both copies are asked; whichever answers first, what the other could not give is written back.
#[test]
fn what_one_copy_could_not_give_is_written_back_whichever_answers_first() {
    for place in 0..12 {
        let first = 650 * place;
        let drives = [drive(), bad(first + 2, 1)];
        let params = ArrayParams { reads: ReadChoice::AskAll, ..ArrayParams::plain(Level::Mirrored, 2) };
        let (answers, did) = play(&array_on(params, &drives), &[command(0, Access::Read, first, 8)]);
        assert_eq!((answers.len(), answers[0].outcome), (1, Outcome::Done));
        assert!(did.iter().any(|did| did.1 == 1 && did.2 == Access::Write), "{place}: {did:?}");
    }
}

/// Of two writes of the same blocks the second begins when the first has ended, so that parity fits both.
#[test]
fn a_write_waits_for_an_older_one_of_its_blocks() {
    for parities in 1..=2 {
        for (one, other) in [((3, 4), (5, 6)), ((0, 8), (0, 8)), ((0, 100), (90, 40))] {
            let mut array = Stamped::new(ArrayParams { synchronised: false, ..small(parities, 5, 16, 8) });
            for (first, count) in [one, other, one] {
                array.send(Access::Write, first, count);
            }
            assert_eq!(array.drain().len(), 3);
            array.check_media();
            array.check_read(0, 200);
        }
    }
}

/// An array with a depth works on so many commands at once, whatever its members could do side by side.
#[test]
fn an_array_works_on_as_many_commands_as_it_may() {
    let reads: Vec<Command> = (0..12).map(|id| command(id, Access::Read, 128 * id, 8)).collect();
    for depth in [1, 2, 5, 12] {
        let params = ArrayParams { depth: Some(depth), ..parity(1, 5) };
        let (answers, _) = play(&array(params), &reads);
        assert_eq!(answers.len(), reads.len());
        let at_work = |at: Instant| {
            let begun = |answer: &&Completion| answer.submitted + answer.breakdown.queue <= at;
            answers.iter().filter(begun).filter(|answer| at < answer.completed).count()
        };
        let most = answers.iter().map(|answer| at_work(answer.submitted + answer.breakdown.queue)).max();
        assert!(most.is_some_and(|most| most <= depth as usize), "{most:?} of {depth}");
        // Those that waited did so for one to end.
        let waited = answers.iter().filter(|answer| answer.breakdown.queue > Span::ZERO).count();
        assert!(waited >= reads.len() - depth as usize, "{waited} waited at a depth of {depth}");
    }
}

/// Of two mirrors the one reads whose last command ended nearer: behind a long read that is not where it began.
#[test]
fn a_members_head_is_where_its_last_command_ended() {
    let mut target = Target::new(&array(ArrayParams::plain(Level::Mirrored, 2)), 1);
    target.keep_data();
    let mut now = Instant::ZERO;
    let mut member = |id: u64, first: u64, count: u64| {
        target.handle(now, TargetInput::Submit(command(id, Access::Read, first, count)));
        while target.poll_output().is_none() {
            now = next_due(&target).expect("it is answered");
            target.handle(now, TargetInput::Tick);
        }
        let deliver = |op| match op {
            DataOp::Deliver { member, .. } => Some(member),
            _ => None,
        };
        std::iter::from_fn(|| target.poll_data()).find_map(deliver).expect("a member delivers")
    };
    // One is left at 100 600, then the other at 50 108.
    let one = member(0, 100_000, 600);
    let other = member(1, 50_100, 8);
    assert_ne!(one, other);
    // 25 260 before the one and 25 232 behind the other.
    assert_eq!(member(2, 75_340, 8), other);
}

/// The array's own work comes to its end beside a host's, and says when.
#[test]
fn a_rebuild_ends() {
    let quick = SyncParams { floor: None, ceiling: None, ..ArrayParams::plain(Level::Mirrored, 2).sync };
    let failures = vec![Failure { drive: 1, when: When::At(Instant::ZERO + ms(50)) }];
    let params = ArrayParams { failures, spares: 1, sync: quick, ..ArrayParams::plain(Level::Mirrored, 2) };
    let mut target = Target::new(&array(params), 1);
    let commands: Vec<Command> = (0..20).map(|id| write(id, 8 * id, 8)).collect();
    for command in &commands {
        target.handle(Instant::ZERO, TargetInput::Submit(*command));
    }
    let mut answers = 0;
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
        answers += std::iter::from_fn(|| target.poll_output()).count();
    }
    assert_eq!(answers, commands.len());
    let array = target.system().and_then(|system| system.array()).expect("an array");
    assert_eq!(array.health(), drivelab_core::storage::array::report::Health::Healthy);
}
