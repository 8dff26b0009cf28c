//! Faults that are put into a running target.
use super::{at_ms, forgetful, run_out, small};
use crate::array::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, target};
use drivelab_core::storage::array::params::{ArrayParams, Level};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Cure, Fault, TargetInput, TargetParams};
use drivelab_core::{Access, Completion, Machine, Outcome};
use drivelab_units::{Instant, Lba, Sectors};
use std::sync::Arc;

/// A target and its time: commands go one after the other.
struct Rig {
    target: Target,
    now: Instant,
    ids: u64,
}

impl Rig {
    fn new(params: &TargetParams) -> Self {
        Rig { target: Target::new(params, 1), now: Instant::ZERO, ids: 0 }
    }

    fn go(&mut self, access: Access, first: u64, count: u64) -> Completion {
        self.target.submit(self.now, command(self.ids, access, first, count));
        self.ids += 1;
        loop {
            if let Some(answer) = self.target.poll_output() {
                return answer;
            }
            self.now = self.target.poll_timeout().expect("it is answered");
            self.target.handle(self.now, TargetInput::Tick);
        }
    }

    fn read(&mut self, first: u64) -> Outcome {
        self.go(Access::Read, first, 8).outcome
    }

    fn spoil(&mut self, first: u64, until: Cure) {
        let (first, count) = (Lba::new(first), Sectors::new(8));
        self.target
            .handle(self.now, TargetInput::Inject(Fault::MediaError { drive: 0, first, count, until }));
    }
}

fn behind(retries: u8) -> TargetParams {
    let drive = Arc::new(DriveModel::new(&small()).unwrap());
    let controller = ControllerParams { retries, ..ControllerParams::PLAIN };
    TargetParams::System(SystemParams::of_drive(drive, controller))
}

#[test]
fn a_media_error_stays_until_its_cure() {
    let (done, failed) = (Outcome::Done, Outcome::MediaError);
    for (until, after_write) in [(Cure::Written, done), (Cure::Never, failed)] {
        let mut rig = Rig::new(&behind(2));
        assert_eq!(rig.read(96), done);
        rig.spoil(100, until);
        assert_eq!([rig.read(96), rig.read(104), rig.read(108), rig.read(88)], [failed, failed, done, done]);
        // Half of it is written.
        assert_eq!(rig.go(Access::Write, 96, 8).outcome, done);
        assert_eq!([rig.read(96), rig.read(104)], [after_write, failed]);
        assert_eq!(rig.go(Access::Write, 104, 8).outcome, done);
        assert_eq!(rig.read(104), after_write);
    }
}

#[test]
fn a_media_error_is_overcome_by_as_many_retries_as_it_takes() {
    for (takes, retries) in [(1, 0), (1, 1), (2, 1), (2, 2), (2, 5)] {
        let mut rig = Rig::new(&behind(retries));
        rig.spoil(100, Cure::Retries(takes));
        let expected = if retries < takes { Outcome::MediaError } else { Outcome::Done };
        // Each read anew.
        assert_eq!([rig.read(96), rig.read(96)], [expected; 2], "{takes} of {retries}");
        assert_eq!(rig.read(200), Outcome::Done);
    }
}

/// A member's sector that cannot be read is had from the other copy, and written back.
#[test]
fn an_array_repairs_what_was_spoiled() {
    let mut rig = Rig::new(&array_of(ArrayParams::plain(Level::Mirrored, 2), &small()));
    rig.spoil(100, Cure::Written);
    for _ in 0..4 {
        assert_eq!(rig.read(96), Outcome::Done);
    }
    run_out(&mut rig.target);
    let array = rig.target.system().unwrap().array().unwrap();
    assert!(array.repaired() > 0 && array.member_errors()[0] == 1);
}

/// Commands that a reset takes away are sent again, and each is answered once.
#[test]
fn a_link_reset_costs_time_and_no_command() {
    let play = |resets: bool| {
        let mut target = Target::new(&target(&small()), 1);
        for id in 0..12 {
            target.submit(Instant::ZERO, command(id, Access::Read, 300 * id, 8));
        }
        if resets {
            target.handle(at_ms(5), TargetInput::Inject(Fault::LinkReset { drive: 0 }));
        }
        run_out(&mut target);
        std::iter::from_fn(|| target.poll_output()).collect::<Vec<Completion>>()
    };
    let (plain, reset) = (play(false), play(true));
    let mut ids: Vec<u64> = reset.iter().map(|answer| answer.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..12).collect::<Vec<u64>>());
    assert!(reset.iter().all(|answer| answer.outcome == Outcome::Done));
    assert!(reset.last().unwrap().completed > plain.last().unwrap().completed);
}

#[test]
fn on_the_wire_a_link_reset_aborts_what_the_drive_has() {
    let mut target = Target::new(&TargetParams::Wire(Arc::new(DriveModel::new(&small()).unwrap())), 1);
    for id in 0..8 {
        target.submit(Instant::ZERO, command(id, Access::Read, 300 * id, 8));
    }
    target.handle(at_ms(5), TargetInput::Inject(Fault::LinkReset { drive: 0 }));
    run_out(&mut target);
    let answers: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
    let aborted = answers.iter().filter(|answer| answer.outcome == Outcome::Aborted).count();
    assert!(answers.len() == 8 && aborted > 4, "{aborted}");
}

/// A FLUSH that lies is answered at once, and what it was about would not survive a power cut.
#[test]
fn a_flush_that_lies_leaves_written_data_behind() {
    let played = |lies: bool| {
        let mut rig = Rig::new(&target(&forgetful()));
        rig.target.handle(rig.now, TargetInput::Inject(Fault::LyingFlush { drive: 0, lies }));
        rig.go(Access::Write, 1_000, 8);
        let flush = rig.go(Access::Flush, 0, 0);
        (flush.outcome, flush.completed - flush.submitted, rig.target.drive().unwrap().volatile().count())
    };
    let ((done, honest, left), (outcome, lied, kept)) = (played(false), played(true));
    assert_eq!((done, left, outcome, kept), (Outcome::Done, 0, Outcome::Done, 1));
    assert!(lied < honest);
    // It may become honest again.
    let mut rig = Rig::new(&target(&forgetful()));
    for lies in [true, false] {
        rig.target.handle(rig.now, TargetInput::Inject(Fault::LyingFlush { drive: 0, lies }));
    }
    rig.go(Access::Write, 1_000, 8);
    rig.go(Access::Flush, 0, 0);
    assert_eq!(rig.target.drive().unwrap().volatile().count(), 0);
}
