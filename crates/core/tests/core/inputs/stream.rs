//! One stream of outputs, in the order in which things happened.
use super::small;
use crate::array::rig::array_of;
use crate::common::{Probe, command, target};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Level};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Fault, Target, TargetEvent, TargetInput, TargetOutput, TargetParams};
use drivelab_core::{Access, Machine};
use drivelab_units::{Instant, Sectors};
use std::sync::Arc;

/// All that a target says of these commands, sent at once and heard at the end of everything.
fn outputs_of(mut target: Target, commands: &[(u64, Access)]) -> Vec<TargetOutput> {
    for &(id, access) in commands {
        target.take(Instant::ZERO, &command(id, access, 8 * id, 8)).unwrap();
    }
    // One late wake-up for everything.
    target.pass_to(Instant::from_ns(1 << 40)).unwrap();
    std::iter::from_fn(|| target.poll_output()).collect()
}

/// Of commands that one call ends: each one's data, its life and its completion stand together.
#[test]
fn what_one_call_brings_keeps_its_order() {
    let mut drive = Target::new(&target(&small()), 1);
    drive.keep_traces();
    drive.keep_data();
    let outputs = outputs_of(drive, &[(0, Access::Write), (1, Access::Write), (2, Access::Read)]);
    let of = |output: &TargetOutput| match *output {
        TargetOutput::Data(DataOp::Accept { write, .. }) => ('a', write),
        TargetOutput::Data(DataOp::Persist { write, .. }) => ('p', write),
        TargetOutput::Data(DataOp::Deliver { read, .. }) => ('d', read),
        TargetOutput::Trace(trace) => ('l', trace.command.id),
        TargetOutput::Completed(completion) => ('c', completion.id),
        other => panic!("{other:?}"),
    };
    let expected = [
        ('a', 0),
        ('p', 0),
        ('l', 0),
        ('c', 0),
        ('a', 1),
        ('p', 1),
        ('l', 1),
        ('c', 1),
        ('d', 2),
        ('l', 2),
        ('c', 2),
    ];
    assert_eq!(outputs.iter().map(of).collect::<Vec<_>>(), expected);
}

/// Nothing but completions and what happens is told unless somebody asks.
#[test]
fn traces_and_data_are_reported_on_request() {
    let outputs = outputs_of(Target::new(&target(&small()), 1), &[(0, Access::Write), (1, Access::Read)]);
    assert!(outputs.iter().all(|output| matches!(output, TargetOutput::Completed(_))), "{outputs:?}");
    assert_eq!(outputs.len(), 2);
}

/// A member fails between two answers: that is where it is told.
#[test]
fn what_happens_stands_between_the_answers_before_and_after_it() {
    let mut probe = Probe::new(&array_of(ArrayParams::plain(Level::Mirrored, 2), &small()), 1);
    let first = probe.write(0, 8).completed;
    probe.send(Access::Write, 800, 8);
    let mut target = Target::new(&array_of(ArrayParams::plain(Level::Mirrored, 2), &small()), 1);
    target.take(Instant::ZERO, &command(0, Access::Write, 0, 8)).unwrap();
    target.pass_to(first).unwrap();
    target.take(first, &command(1, Access::Write, 800, 8)).unwrap();
    target.handle(first, TargetInput::Inject(Fault::Fail { drive: 1 })).unwrap();
    target.pass_to(Instant::from_ns(1 << 40)).unwrap();
    let outputs: Vec<TargetOutput> = std::iter::from_fn(|| target.poll_output()).collect();
    let is_in_order = matches!(
        outputs[..],
        [TargetOutput::Completed(before), TargetOutput::Event(TargetEvent::Array(report)), TargetOutput::Completed(after)]
            if before.id == 0 && report.at == first && after.id == 1
    );
    assert!(is_in_order, "{outputs:?}");
}

/// Members that turn alike answer at one instant: in the order in which they were asked.
#[test]
fn commands_go_down_in_the_order_of_their_members() {
    let params = ArrayParams { synchronised: true, ..ArrayParams::plain(Level::Striped, 3) };
    let mut target = Target::new(&array_of(params, &small()), 1);
    target.keep_data();
    // The second unit of the first row and all of the next two: the last member is asked first.
    target.take(Instant::ZERO, &command(0, Access::Write, 2 * 128, 3 * 128)).unwrap();
    target.pass_to(Instant::from_ns(1 << 40)).unwrap();
    let outputs: Vec<TargetOutput> = std::iter::from_fn(|| target.poll_output()).collect();
    let members: Vec<u16> = outputs
        .iter()
        .filter_map(|output| match *output {
            TargetOutput::Data(DataOp::Persist { member, .. }) => Some(member),
            _ => None,
        })
        .collect();
    let last = outputs.last().and_then(|output| output.completed());
    // The last member has the lowest addresses of the three on its media, and the others the next unit.
    assert_eq!(members, [2, 0, 1]);
    assert!(last.is_some_and(|answer| answer.id == 0));
}

/// Of reads that went as one each is answered with its own data before the next, oldest first.
#[test]
fn what_was_merged_is_answered_oldest_first() {
    let elevator = ElevatorParams {
        order: ElevatorOrder::Noop,
        depth: 1,
        merge_limit: Some(Sectors::new(64)),
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    };
    let drive = Arc::new(DriveModel::new(&small()).unwrap());
    let system = SystemParams::of_drive(drive, ControllerParams::PLAIN);
    let mut target =
        Target::new(&TargetParams::System(SystemParams { elevator: Some(elevator), ..system }), 1);
    target.keep_data();
    for (id, first) in [(0, 1_200), (1, 108), (2, 100), (3, 116)] {
        target.take(Instant::ZERO, &command(id, Access::Read, first, 8)).unwrap();
    }
    target.pass_to(Instant::from_ns(1 << 40)).unwrap();
    let outputs: Vec<(char, u64)> = std::iter::from_fn(|| target.poll_output())
        .map(|output| match output {
            TargetOutput::Data(DataOp::Deliver { read, .. }) => ('d', read),
            TargetOutput::Data(DataOp::Keep { kept, .. }) => ('k', kept),
            TargetOutput::Completed(answer) => ('c', answer.id),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [('d', 0), ('c', 0), ('d', 1), ('c', 1), ('k', 2), ('c', 2), ('k', 3), ('c', 3)];
    assert_eq!(outputs, expected);
}

/// What is heard by reference is what is polled.
#[test]
fn outputs_by_reference_are_those_that_are_polled() {
    let mut target = Target::new(&target(&small()), 1);
    target.keep_data();
    for id in 0..5 {
        target.take(Instant::ZERO, &command(id, Access::Write, 80 * id, 8)).unwrap();
    }
    target.pass_to(Instant::from_ns(1 << 40)).unwrap();
    let all: Vec<TargetOutput> = target.outputs().map(drivelab_core::storage::OutputRef::to_owned).collect();
    let polled: Vec<TargetOutput> = std::iter::from_fn(|| {
        let next = target.output().map(drivelab_core::storage::OutputRef::to_owned);
        assert_eq!(target.poll_output(), next);
        next
    })
    .collect();
    assert_eq!(polled, all);
    assert_eq!(all.len(), 15);
}
