//! Writes of zeroes, and discards.
use super::{at_ms, forgetful, run_out, small};
use crate::array::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, target};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Level, Rotation};
use drivelab_core::storage::drive::params::{DriveParams, LinkParams, WriteData};
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Command, Completion, Content, Machine};
use drivelab_units::{Instant, Lba, Rate, Sectors, Span};

const PARITY: Level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };

/// Behind a link of a megabyte per second: a sector takes 512 us.
fn slow_link(write_data: WriteData) -> DriveParams {
    let rate = Rate::from_bytes_per_s(1_000_000);
    DriveParams { link: LinkParams { rate, write_rate: None, write_data, full_duplex: false }, ..small() }
}

fn write(content: Content) -> Command {
    Command { content, ..command(0, Access::Write, 96, 40) }
}

/// What a command comes to by itself, and the data operations of it and of what follows.
fn played(params: &TargetParams, command: Command) -> (Completion, Vec<DataOp>) {
    let mut target = drivelab_core::storage::Target::new(params, 1);
    target.keep_data();
    target.handle(Instant::ZERO, TargetInput::Submit(command)).unwrap();
    while let Some(due) = target.poll_timeout() {
        target.handle(due, TargetInput::Tick).unwrap();
    }
    let (mut answer, mut ops) = (None, Vec::new());
    while let Some(output) = target.poll_output() {
        answer = answer.or(output.completed());
        ops.extend(output.data());
    }
    (answer.expect("it is answered"), ops)
}

#[test]
fn one_sector_crosses_the_link_whatever_is_zeroed() {
    let sector = Span::from_us(512);
    for cached in [false, true] {
        for write_data in [WriteData::BeforePositioning, WriteData::WhilePositioning] {
            let cache = if cached { forgetful().cache } else { None };
            let params = target(&DriveParams { cache, ..slow_link(write_data) });
            let link = |content| played(&params, write(content)).0.breakdown.link;
            assert_eq!(link(Content::Zeroes), link(Content::Discarded));
            if cached || write_data == WriteData::BeforePositioning {
                assert_eq!(link(Content::Data), Span::from_ns(40 * sector.as_ns()));
                assert_eq!(link(Content::Zeroes), sector);
            }
        }
    }
}

/// In all else it is a write: where its data are, and what a power cut would take.
#[test]
fn the_data_of_a_discard_go_the_way_of_a_write() {
    for params in [small(), forgetful()] {
        let params = target(&params);
        let ops = |content| played(&params, write(content)).1;
        assert!(ops(Content::Data).iter().any(|op| matches!(op, DataOp::Persist { .. })));
        assert_eq!([ops(Content::Zeroes), ops(Content::Discarded)], [ops(Content::Data), ops(Content::Data)]);
    }
    let mut target = Target::new(&target(&forgetful()), 1);
    let commands = [
        (Command::discard(0, Lba::new(96), Sectors::new(40)), 1),
        (Command::new(1, Access::Flush, Lba::ZERO, Sectors::ZERO), 0),
    ];
    for (command, volatile) in commands {
        target.submit(at_ms(200 * command.id), command);
        while let Some(due) = target.poll_timeout().filter(|due| *due < at_ms(200 * (command.id + 1))) {
            target.handle(due, TargetInput::Tick);
        }
        assert_eq!(target.drive().unwrap().volatile().count(), volatile);
    }
}

/// Members that hold parity are written data, others hear the same command.
#[test]
fn an_array_passes_on_what_its_members_can_take() {
    let drive = slow_link(WriteData::BeforePositioning);
    for (level, members, passes) in
        [(Level::Striped, 2, true), (Level::Mirrored, 2, true), (PARITY, 3, false)]
    {
        let params = array_of(ArrayParams::plain(level, members), &drive);
        let (data, none) =
            (played(&params, write(Content::Data)).0, played(&params, write(Content::Discarded)).0);
        let (with, without) = (data.breakdown.link, none.breakdown.link);
        assert_eq!(without < with, passes, "{level:?}: {without:?} of {with:?}");
    }
}

/// Nothing is left out or doubled where discards and writes meet in a queue.
#[test]
fn discards_and_writes_of_the_same_sectors_end_all() {
    let mut target = Target::new(&target(&forgetful()), 1);
    for id in 0..8 {
        let content = [Content::Data, Content::Discarded, Content::Zeroes][id as usize % 3];
        target.submit(Instant::ZERO, Command { content, ..command(id, Access::Write, 90 + 4 * id, 40) });
    }
    run_out(&mut target);
    let answers: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
    assert!(
        answers.len() == 8
            && answers.iter().all(|answer| answer.breakdown.total() == answer.completed - answer.submitted)
    );
}
