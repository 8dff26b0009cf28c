//! Drives that are slow, hang, or change what is on their media.
use super::{at_ms, forgetful, run_out, small};
use crate::common::sorted::Target;
use crate::common::{command, ms, target};
use drivelab_core::data::DataOp;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::{CallError, Fault, Slowness, TargetInput, TargetParams};
use drivelab_core::{Access, Completion, Machine, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};

/// What 40 commands come to, 50 ms apart: each is over before the next one comes.
fn played(params: &TargetParams, how: Option<Slowness>, access: impl Fn(u64) -> Access) -> Vec<Completion> {
    let mut target = Target::new(params, 1);
    target.handle(Instant::ZERO, TargetInput::Inject(Fault::Slow { drive: 0, how }));
    for id in 0..40 {
        let access = access(id);
        let (first, count) = if access == Access::Flush { (0, 0) } else { (300 * id % 4_000, 8) };
        target.submit(at_ms(50 * id), command(id, access, first, count));
        while let Some(due) = target.poll_timeout().filter(|due| *due < at_ms(50 * (id + 1))) {
            target.handle(due, TargetInput::Tick);
        }
    }
    run_out(&mut target);
    let answers: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
    for answer in &answers {
        assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
    }
    answers
}

fn overheads(params: &TargetParams, how: Option<Slowness>) -> Vec<Span> {
    played(params, how, |_| Access::Read).iter().map(|answer| answer.breakdown.overhead).collect()
}

#[test]
fn a_slow_firmware_adds_its_time_to_the_overhead_of_each_command() {
    let params = target(&small());
    let (well, by) = (overheads(&params, None), ms(7));
    let late = |slow: Vec<Span>| -> Vec<u64> {
        slow.iter().zip(&well).map(|(slow, well)| (*slow - *well).as_ns()).collect()
    };
    let constant = late(overheads(&params, Some(Slowness::Constant(by))));
    assert_eq!(constant, [by.as_ns(); 40]);
    // Half of it after half the time; all of it from then on.
    let ramp = late(overheads(&params, Some(Slowness::Ramp { by, over: ms(1_000) })));
    let expected: Vec<u64> = (0..40u64).map(|id| 7_000_000 * (50 * id).min(1_000) / 1_000).collect();
    assert_eq!(ramp, expected);
    let at_once = late(overheads(&params, Some(Slowness::Ramp { by, over: Span::ZERO })));
    assert_eq!(at_once, [by.as_ns(); 40]);
}

#[test]
fn a_share_of_the_commands_is_slow_and_always_the_same_ones() {
    let params = target(&small());
    let well = overheads(&params, None);
    let slow = |share| {
        let some = Slowness::Some { by: ms(7), share: Share::from_ratio(share, 4).unwrap() };
        let late = overheads(&params, Some(some));
        late.iter().zip(&well).map(|(slow, well)| *slow > *well).collect::<Vec<bool>>()
    };
    let (one, two) = (slow(1), slow(2));
    let count = |slow: &[bool]| slow.iter().filter(|slow| **slow).count();
    assert!((4..18).contains(&count(&one)) && (12..29).contains(&count(&two)), "{one:?} {two:?}");
    // Who is among a quarter is among a half.
    assert!(one.iter().zip(&two).all(|(one, two)| !one || *two));
    assert_eq!((one, count(&slow(4))), (slow(1), 40));
}

/// Writes into the cache, FLUSH and writes to the media.
#[test]
fn every_kind_of_command_is_late_on_a_slow_drive() {
    let by = ms(7);
    let kinds = |id| [Access::Write, Access::Flush, Access::Read][id as usize % 3];
    // What FLUSH does before it waits for the media is hidden behind that.
    let written = |id| [Access::Write, Access::Read][id as usize % 2];
    let kinds: [(DriveParams, &dyn Fn(u64) -> Access); 2] = [(small(), &kinds), (forgetful(), &written)];
    for (params, kinds) in kinds {
        let params = target(&params);
        let (well, slow) =
            (played(&params, None, kinds), played(&params, Some(Slowness::Constant(by)), kinds));
        for (well, slow) in well.iter().zip(&slow) {
            assert_eq!(slow.breakdown.overhead, well.breakdown.overhead + by, "{}", slow.id);
        }
    }
}

#[test]
fn a_drive_gets_well() {
    let mut target = Target::new(&target(&small()), 1);
    for how in [Some(Slowness::Constant(ms(900))), None] {
        target.handle(Instant::ZERO, TargetInput::Inject(Fault::Slow { drive: 0, how }));
    }
    target.submit(Instant::ZERO, command(0, Access::Read, 0, 8));
    run_out(&mut target);
    assert!(target.poll_output().unwrap().completed < at_ms(100));
}

#[test]
fn a_drive_that_hangs_answers_nothing_and_then_all_of_it() {
    for params in [small(), forgetful(), DriveParams { cache: None, ..small() }] {
        let mut target = Target::new(&target(&params), 1);
        for id in 0..6 {
            target.submit(Instant::ZERO, command(id, Access::Read, 500 * id, 8));
        }
        // One is under way, and the others wait.
        let (from, lasts) = (Instant::from_ns(200_000), ms(500));
        target.handle(from, TargetInput::Inject(Fault::Hang { drive: 0, lasts: Some(lasts) }));
        for (id, access) in [(6, Access::Write), (7, Access::Flush), (8, Access::Read)] {
            let count = if access == Access::Flush { 0 } else { 8 };
            target.submit(at_ms(20 * id), command(id, access, 0, count));
        }
        run_out(&mut target);
        let answers: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
        assert_eq!(answers.len(), 9);
        for answer in answers {
            assert_eq!(
                (answer.outcome, answer.breakdown.total()),
                (Outcome::Done, answer.completed - answer.submitted)
            );
            assert!(answer.completed >= from + lasts, "{} at {:?}", answer.id, answer.completed);
            assert!(answer.completed < from + lasts + ms(300), "{} at {:?}", answer.id, answer.completed);
        }
    }
}

/// The media hold something else, and the target says so to whoever keeps the data alone.
#[test]
fn corruption_is_silent() {
    let mut inner = drivelab_core::storage::Target::new(&target(&small()), 1);
    inner.keep_data();
    let (first, count) = (Lba::new(96), Sectors::new(8));
    let fault = Fault::Corrupt { drive: 0, first, count };
    assert!(inner.handle(Instant::ZERO, TargetInput::Inject(fault)).is_ok());
    let op = inner.poll_output().and_then(drivelab_core::storage::TargetOutput::data);
    assert_eq!(op, Some(DataOp::Corrupt { member: 0, first, count }));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut target = drivelab_core::storage::Target::new(&target(&small()), 1);
    let mut refusal = |fault| target.handle(Instant::ZERO, TargetInput::Inject(fault)).unwrap_err();
    let by = Span::from_s(11);
    assert_eq!(
        refusal(Fault::Slow { drive: 0, how: Some(Slowness::Constant(by)) }),
        CallError::TooSlow { by }
    );
    assert_eq!(
        refusal(Fault::Hang { drive: 1, lasts: Some(ms(1)) }),
        CallError::NoSuchDrive { drive: 1, drives: 1 }
    );
    let (first, count) = (Lba::new(0), Sectors::ZERO);
    assert_eq!(
        refusal(Fault::Corrupt { drive: 0, first, count }),
        CallError::NotOnDrive { drive: 0, first, count }
    );
}
