//! Every wrong call is an error value with words, and leaves the target as it was.
use super::small;
use crate::array::rig::array_of;
use crate::common::{command, stations, target};
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, Level, Rotation};
use drivelab_core::storage::array::report::SyncKind;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::{Accepted, CallError, Cure, Fault, Manage, Target, TargetInput, TargetParams};
use drivelab_core::{Access, Machine};
use drivelab_units::{Instant, Lba, Sectors};
use std::sync::Arc;

const NOW: Instant = Instant::from_ns(5);

fn wire() -> TargetParams {
    TargetParams::Wire(Arc::new(DriveModel::new(&small()).unwrap()))
}

fn mirror() -> TargetParams {
    array_of(ArrayParams::plain(Level::Mirrored, 2), &small())
}

fn journalled() -> TargetParams {
    let level = Level::Parity { parities: 1, rotation: Rotation::LeftSymmetric, groups: 1 };
    let journal = ConsistencyPolicy::Journal;
    array_of(ArrayParams { consistency_policy: journal, ..ArrayParams::plain(level, 3) }, &small())
}

/// What a fresh target says to this input, in words, after these.
fn refused(params: &TargetParams, before: &[TargetInput], input: TargetInput) -> String {
    let mut target = Target::new(params, 1);
    for input in before {
        target.handle(NOW, *input).unwrap();
    }
    let digest = target.digest();
    let error = target.handle(NOW, input).unwrap_err();
    assert_eq!(target.digest(), digest, "{error}");
    error.to_string()
}

#[test]
fn time_goes_forward_only_and_not_for_ever() {
    let mut target = Target::new(&target(&small()), 1);
    target.handle(Instant::from_ns(2), TargetInput::Tick).unwrap();
    let back = target.handle(Instant::from_ns(1), TargetInput::Tick).unwrap_err();
    assert_eq!(back.to_string(), "time went back: 1 ns is given after 2 ns");
    let far = target.take(Instant::from_ns(u64::MAX), &command(0, Access::Read, 0, 8)).unwrap_err();
    assert_eq!(far.to_string(), "18446744073709551615 ns is later than a target can reckon with");
    assert_eq!(target.take(Instant::from_ns(2), &command(0, Access::Read, 0, 8)), Ok(0));
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of inputs")]
fn an_input_that_this_target_cannot_do_is_refused_with_what_it_takes() {
    let drive = target(&small());
    let (read, begin) = (command(7, Access::Read, 0, 8), |work| TargetInput::Inject(Fault::Begin { work }));
    let fail = |drive| TargetInput::Inject(Fault::Fail { drive });
    let replace = |drive| TargetInput::Inject(Fault::Replace { drive });
    let spoil = |drive, first, count| {
        let (first, count) = (Lba::new(first), Sectors::new(count));
        TargetInput::Inject(Fault::MediaError { drive, first, count, until: Cure::Never })
    };
    let needs_array =
        "this target cannot go over its members: that takes an array that has data twice, or parity";
    let needs_controller = |what: &str| {
        format!("this target cannot have a drive {what}: that takes a controller before its drives")
    };
    let submit = TargetInput::Submit(read);
    let stations = stations(None, 0);
    let (mirror, wire, journalled) = (mirror(), wire(), journalled());
    let striped = array_of(ArrayParams::plain(Level::Striped, 2), &small());
    let cases: Vec<(&TargetParams, Vec<TargetInput>, TargetInput, String)> = vec![
        (&drive, vec![submit], submit, "a command with the id 7 is under way".into()),
        (&drive, vec![], fail(1), "there is no drive 1: the target has 1, counted from 0".into()),
        (&stations, vec![], fail(0), "there is no drive 0: the target has 0, counted from 0".into()),
        (&drive, vec![fail(0)], fail(0), "drive 0 has failed before".into()),
        (
            &drive,
            vec![fail(0)],
            TargetInput::Inject(Fault::LinkReset { drive: 0 }),
            "drive 0 has failed before".into(),
        ),
        (
            &drive,
            vec![],
            replace(0),
            "drive 0 has not failed, so that no other can take its place".into(),
        ),
        (&drive, vec![], spoil(0, 4_799, 2), "drive 0 does not have 2 sectors from sector 4799 on".into()),
        (&drive, vec![], spoil(0, 8, 0), "drive 0 does not have 0 sectors from sector 8 on".into()),
        (
            &drive,
            vec![],
            spoil(0, u64::MAX, 2),
            "drive 0 does not have 2 sectors from sector 18446744073709551615 on".into(),
        ),
        (&drive, vec![], begin(SyncKind::Scrub), needs_array.into()),
        (&striped, vec![], begin(SyncKind::Resync), needs_array.into()),
        (
            &mirror,
            vec![],
            begin(SyncKind::Rebuild),
            "there is nothing to rebuild: no member is missing, or no spare is left that could take its place".into(),
        ),
        (
            &drive,
            vec![],
            TargetInput::Manage(Manage::ReadLog),
            "this target cannot be asked to manage tasks: that takes a drive on the wire: a controller does so by itself"
                .into(),
        ),
        (&wire, vec![], fail(0), needs_controller("fail")),
        (&wire, vec![], replace(0), needs_controller("replaced")),
        (
            &journalled,
            vec![fail(3)],
            replace(3),
            "this target cannot have the drive of its journal replaced: that takes an array that is assembled anew".into(),
        ),
        (&drive, vec![TargetInput::Inject(Fault::CutPower)], submit, "the power is gone: the target takes nothing more".into()),
        (
            &drive,
            vec![TargetInput::Inject(Fault::CutPower)],
            TargetInput::Inject(Fault::CutPower),
            "the power is gone: the target takes nothing more".into(),
        ),
    ];
    for (params, before, input, words) in cases {
        assert_eq!(refused(params, &before, input), words, "{input:?}");
    }
}

#[test]
fn addresses_beyond_the_end_are_an_answer_and_no_error() {
    let mut target = Target::new(&target(&small()), 1);
    for (id, first, count) in [(0, 4_800, 1), (1, u64::MAX, 1), (2, u64::MAX, u64::MAX), (3, 0, 0)] {
        let accepted = target.handle(NOW, TargetInput::Submit(command(id, Access::Read, first, count)));
        assert_eq!(accepted, Ok(Accepted::Submitted { number: id }));
        let answer = target.poll_output().and_then(drivelab_core::storage::TargetOutput::completed).unwrap();
        assert_eq!((answer.id, answer.outcome), (id, drivelab_core::Outcome::OutOfRange));
    }
}

#[test]
fn errors_are_errors_in_the_usual_sense() {
    fn is_error(_: &impl std::error::Error) {}
    is_error(&CallError::PowerIsOff);
}
