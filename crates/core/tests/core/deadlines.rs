//! When a command with a deadline goes before what the drive would choose: to the nanosecond.
//!
//! The drive in round numbers is at its worst for a command after 1 ms of seek, a turn of 6 ms, and the transfer with a
//! switch of track that costs another turn: so much is put by for each command with a deadline. Another command goes
//! before them as long as all of that fits in behind it.
use crate::common;
use crate::common::sorted::Target;
use crate::common::{TURN, drive, flat_seek, ms, next_due, queue, us};
use drivelab_core::storage::drive::params::{DriveModel, DriveParams, LinkParams, WriteData};
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::trace::CommandTrace;
use drivelab_core::{Access, Command, Outcome, Priority};
use drivelab_units::{Instant, Rate, Sectors, Span};
use std::sync::Arc;

const SECTORS: u64 = 8;
/// The worst positioning and turn, the transfer of 8 sectors, and a turn for a switch of track.
const LONGEST: Span = Span::from_ns(1_000_000 + TURN + SECTORS * 10_000 + TURN);

fn ncq(deadline_aborts: bool) -> DriveParams {
    let protocol =
        Protocol::Ncq(NcqParams { rdnc: deadline_aborts, wdnc: deadline_aborts, ..NcqParams::USUAL });
    DriveParams { queue: queue(16, Order::Fcfs), protocol, ..drive() }
}

/// A command of 8 sectors at a place of its own.
fn command(id: u64, access: Access, priority: Priority) -> Command {
    let plain = common::command(id, access, 30_000 * (id + 1), SECTORS);
    Command { tag: id as u32, priority, ..plain }
}

/// What becomes of commands that all come at once, and of those that come later.
fn play(params: &DriveParams, commands: &[(Instant, Command)]) -> Vec<(CommandTrace, Outcome)> {
    let model = Arc::new(DriveModel::new(params).expect("sound"));
    let mut target = Target::new(&TargetParams::Wire(model), 1);
    target.keep_traces();
    let mut traces = Vec::new();
    let mut sent = commands.iter().peekable();
    loop {
        while let Some(completion) = target.poll_output() {
            let trace =
                std::iter::from_fn(|| target.poll_trace()).find(|trace| trace.command.id == completion.id);
            traces.push((trace.expect("each leaves its service"), completion.outcome));
        }
        let due = next_due(&target);
        match sent.next_if(|(at, _)| due.is_none_or(|due| *at <= due)) {
            Some((at, command)) => target.handle(*at, TargetInput::Submit(*command)),
            None => match due {
                Some(due) => target.handle(due, TargetInput::Tick),
                None => return traces,
            },
        };
    }
}

fn at_once(params: &DriveParams, commands: &[Command]) -> Vec<CommandTrace> {
    let commands: Vec<_> = commands.iter().map(|command| (Instant::ZERO, *command)).collect();
    let ended = play(params, &commands);
    assert!(ended.iter().all(|(_, outcome)| *outcome == Outcome::Done));
    ended.into_iter().map(|(trace, _)| trace).collect()
}

/// In the order in which the arm turned to them.
fn chosen(mut traces: Vec<CommandTrace>) -> Vec<u64> {
    traces.sort_by_key(|trace| trace.rank);
    traces.iter().map(|trace| trace.command.id).collect()
}

/// The command that has no deadline, so far behind the beginning of its track.
fn other(access: Access, shift: u64) -> Command {
    let plain = command(1, access, Priority::Normal);
    Command { first: plain.first + Sectors::new(shift), ..plain }
}

/// A drive that is busy when another command and then `deadlines` come, each with so much time. Whether the other one still
/// goes first.
fn other_goes_first(params: &DriveParams, other: Command, deadlines: u64, within: Span) -> bool {
    let mut commands = vec![command(0, Access::Read, Priority::Normal), other];
    let access = other.access;
    commands.extend((0..deadlines).map(|id| command(id + 2, access, Priority::Isochronous(within))));
    let order = chosen(at_once(params, &commands));
    assert_eq!(order[0], 0, "what the drive found alone");
    order[1] == 1
}

/// When mechanism and link are free of the other command, if that goes first.
fn free_of_other(params: &DriveParams, other: Command) -> Span {
    let traces = at_once(params, &[command(0, Access::Read, Priority::Normal), other]);
    let other = traces.iter().find(|trace| trace.command.id == 1).expect("it ended");
    other.ended - Instant::ZERO
}

#[test]
fn another_command_goes_first_as_long_as_all_deadlines_can_be_met_behind_it() {
    for access in [Access::Read, Access::Write] {
        let params = ncq(false);
        let other = other(access, 0);
        let free = free_of_other(&params, other);
        for deadlines in 1..6 {
            let all = Span::from_ns(LONGEST.as_ns() * deadlines);
            let enough = free + all;
            assert!(other_goes_first(&params, other, deadlines, enough), "{deadlines} within {enough:?}");
            let less = Span::from_ns(enough.as_ns() - 1);
            assert!(!other_goes_first(&params, other, deadlines, less), "{deadlines} within {less:?}");
        }
    }
}

/// At 10 MB/s 8 sectors take 409.6 us, behind the media for a read, beside the arm for a write: late data cost a turn.
#[test]
fn the_way_to_the_host_counts() {
    let sectors = Span::from_ns(SECTORS * 51_200);
    let rate = Rate::from_bytes_per_s(10_000_000);
    for (write_data, access, each) in [
        (WriteData::WhilePositioning, Access::Read, sectors),
        (WriteData::WhilePositioning, Access::Write, Span::from_ns(TURN)),
        (WriteData::BeforePositioning, Access::Write, sectors),
    ] {
        let params = DriveParams {
            link: LinkParams { rate, write_rate: None, write_data, full_duplex: false },
            ..ncq(false)
        };
        // So near to each other that the way to the host costs some of them a turn.
        for shift in (0..592).step_by(37) {
            let other = other(access, shift);
            let free = free_of_other(&params, other) + sectors;
            for deadlines in 1..4 {
                let all = Span::from_ns((LONGEST + each).as_ns() * deadlines);
                let enough = free + all;
                assert!(other_goes_first(&params, other, deadlines, enough), "{access:?}, {write_data:?}");
                let less = Span::from_ns(enough.as_ns() - 1);
                assert!(!other_goes_first(&params, other, deadlines, less), "{access:?}, {write_data:?}");
            }
        }
    }
}

#[test]
fn the_completion_and_the_longest_seek_count() {
    let mut params = ncq(false);
    params.firmware.read_completion = us(30);
    params.firmware.write_completion = us(70);
    params.seek = flat_seek(ms(3), 1_000);
    params.settle.write_settle_ns = 500_000;
    let other = other(Access::Read, 0);
    let free = free_of_other(&params, other);
    let each = LONGEST + ms(2) + us(500) + us(70);
    for deadlines in 1..4 {
        let enough = free + Span::from_ns(each.as_ns() * deadlines);
        assert!(other_goes_first(&params, other, deadlines, enough));
        assert!(!other_goes_first(&params, other, deadlines, Span::from_ns(enough.as_ns() - 1)));
    }
}

#[test]
fn of_several_deadlines_the_first_goes_first() {
    let priorities = [30, 10, 40, 20].map(|within| Priority::Isochronous(ms(within)));
    let mut commands =
        vec![command(0, Access::Read, Priority::Normal), command(1, Access::Read, Priority::Normal)];
    commands.extend((2..).zip(priorities).map(|(id, priority)| command(id, Access::Read, priority)));
    assert_eq!(chosen(at_once(&ncq(false), &commands)), [0, 3, 5, 2, 4, 1]);
}

/// A deadline that has been met puts nothing by any more.
#[test]
fn a_command_that_is_served_counts_no_more() {
    let read = |id, priority| command(id, Access::Read, priority);
    let isochronous = Priority::Isochronous(Span::from_ns(1));
    let plenty = Priority::Isochronous(ms(200));
    // The second deadline is far enough away for all others to go first, once the first is over.
    let commands = [
        read(0, Priority::Normal),
        read(1, Priority::Normal),
        read(2, isochronous),
        read(3, plenty),
        read(4, Priority::Normal),
    ];
    assert_eq!(chosen(at_once(&ncq(false), &commands)), [0, 2, 1, 3, 4]);
}

#[test]
fn a_deadline_that_passes_ends_the_command_where_the_host_requested_that() {
    for aborts in [true, false] {
        let late = command(1, Access::Read, Priority::Isochronous(us(1_500)));
        let commands = [(Instant::ZERO, command(0, Access::Read, Priority::Normal)), (Instant::ZERO, late)];
        let ended = play(&ncq(aborts), &commands);
        let (trace, outcome) = ended.iter().find(|(trace, _)| trace.command.id == 1).expect("it ended");
        let expected = if aborts { Outcome::TimedOut } else { Outcome::Done };
        assert_eq!(*outcome, expected);
        assert_eq!(trace.completed == Instant::ZERO + us(1_500), aborts, "{trace:?}");
    }
}

/// A command that takes the place of one with a deadline has none.
#[test]
fn a_deadline_ends_with_its_command() {
    let first = command(0, Access::Read, Priority::Isochronous(ms(40)));
    let first_ends = play(&ncq(true), &[(Instant::ZERO, first)])[0].0.completed;
    assert!(first_ends < Instant::ZERO + ms(20));
    // These keep the drive busy beyond the first one's deadline, and what comes last takes its tag and its place.
    let mut commands = vec![(Instant::ZERO, first)];
    for id in 1..9 {
        commands.push((Instant::ZERO + us(1), command(id, Access::Read, Priority::Normal)));
    }
    commands.push((first_ends + us(1), Command { tag: 0, ..command(9, Access::Read, Priority::Normal) }));
    let ended = play(&ncq(true), &commands);
    assert_eq!(ended.len(), 10);
    assert!(ended.iter().all(|(_, outcome)| *outcome == Outcome::Done), "{ended:?}");
    let last = ended.iter().find(|(trace, _)| trace.command.id == 9).expect("it ended");
    assert!(last.0.accepted < Instant::ZERO + ms(40) && last.0.completed > Instant::ZERO + ms(40));
}
