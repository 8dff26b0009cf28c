//! Commands that their host gives up.
use super::ids::memory;
use super::{at_ms, run_out, small};
use crate::array::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, stations, target, us};
use drivelab_core::storage::array::params::{ArrayParams, Level, ManagedBy};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{Accepted, TargetInput, TargetParams};
use drivelab_core::{Access, Completion, Outcome};
use drivelab_units::Instant;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const FAR: u64 = 1 << 60;
/// Before the first of those sectors can have passed.
const SOON: Instant = Instant::from_ns(10_000);

/// Sixteen reads under ids that are no numbers: eight are with the drive, eight wait for a tag.
fn sent(params: &TargetParams) -> Target {
    let mut target = Target::new(params, 1);
    for id in 0..16 {
        target.submit(Instant::ZERO, command(FAR + id, Access::Read, 290 * id, 8));
    }
    target
}

fn outcomes(target: &mut Target) -> BTreeMap<u64, Completion> {
    run_out(target);
    let all: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).collect();
    let by_id: BTreeMap<u64, Completion> = all.iter().map(|answer| (answer.id - FAR, *answer)).collect();
    assert_eq!((all.len(), by_id.len()), (16, 16), "each is answered once");
    by_id
}

#[test]
fn what_waits_is_never_served_and_what_the_drive_has_ends_when_it_can() {
    let mut target = sent(&target(&small()));
    let abort = |target: &mut Target, id| target.handle(SOON, TargetInput::Abort { id: FAR + id });
    // In the queue of the drive, on the media, and waiting before it.
    assert_eq!([5, 0, 12].map(|id| abort(&mut target, id)), [Accepted::Aborting; 3]);
    assert_eq!(abort(&mut target, 12), Accepted::NothingThere, "it has ended");
    assert_eq!(abort(&mut target, 99), Accepted::NothingThere);
    assert_eq!(
        target.handle(SOON, TargetInput::Abort { id: 3 }),
        Accepted::NothingThere,
        "a number is no id"
    );
    let outcomes = outcomes(&mut target);
    for (id, answer) in outcomes {
        let aborted = [0, 5, 12].contains(&id);
        assert_eq!(answer.outcome == Outcome::Aborted, aborted, "{id}");
        assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
        assert!(!aborted || id == 0 || answer.completed == SOON, "{id}");
    }
}

/// While the controller's processor is still at it, a command has a tag and the drive does not have it.
#[test]
fn what_is_on_its_way_to_the_drive_never_gets_there() {
    let drive = Arc::new(DriveModel::new(&small()).unwrap());
    let controller = ControllerParams { issue: us(100), ..ControllerParams::PLAIN };
    let mut target = sent(&TargetParams::System(SystemParams::of_drive(drive, controller)));
    for id in [2, 7] {
        let abort = TargetInput::Abort { id: FAR + id };
        assert_eq!(target.handle(Instant::ZERO + us(150), abort), Accepted::Aborting);
    }
    let outcomes = outcomes(&mut target);
    let aborted: Vec<u64> =
        outcomes.iter().filter(|(_, answer)| answer.outcome == Outcome::Aborted).map(|(&id, _)| id).collect();
    assert_eq!(aborted, [2, 7]);
}

#[test]
fn what_nobody_calls_back_goes_on() {
    let mirror = array_of(ArrayParams::plain(Level::Mirrored, 2), &small());
    let service = drivelab_core::storage::server::Service::Fixed(us(100));
    for params in [mirror, stations(Some(service), 1)] {
        let mut target = sent(&params);
        assert_eq!(target.handle(Instant::ZERO, TargetInput::Abort { id: FAR + 9 }), Accepted::GoesOn);
        assert!(outcomes(&mut target).values().all(|answer| answer.outcome == Outcome::Done));
    }
}

/// A controller's array, and its cache, end what they have begun, and then say that it was aborted.
#[test]
fn what_a_controller_has_begun_ends_as_aborted_when_it_is_over() {
    let keeper = ManagedBy::Controller;
    let mirror =
        array_of(ArrayParams { managed_by: keeper, ..ArrayParams::plain(Level::Mirrored, 2) }, &small());
    let drive = Arc::new(DriveModel::new(&small()).unwrap());
    let controller = ControllerParams { cache: Some(memory()), ..ControllerParams::PLAIN };
    let cached = TargetParams::System(SystemParams::of_drive(drive, controller));
    for params in [mirror, cached] {
        let plain = outcomes(&mut sent(&params));
        let mut target = sent(&params);
        let mut abort = |id| target.handle(SOON, TargetInput::Abort { id: FAR + id });
        assert_eq!(
            [abort(9), abort(9), abort(3)],
            [Accepted::Aborting, Accepted::GoesOn, Accepted::Aborting]
        );
        for (id, answer) in outcomes(&mut target) {
            let expected = if [3, 9].contains(&id) { Outcome::Aborted } else { Outcome::Done };
            assert_eq!((answer.outcome, answer.completed), (expected, plain[&id].completed), "{id}");
        }
    }
}

#[test]
fn on_the_wire_an_abort_by_id_is_one_by_tag() {
    let wire = TargetParams::Wire(Arc::new(DriveModel::new(&small()).unwrap()));
    let mut target = Target::new(&wire, 1);
    for id in 0..8 {
        target.submit(Instant::ZERO, command(FAR + id, Access::Read, 290 * id, 8));
    }
    assert_eq!(target.handle(at_ms(1), TargetInput::Abort { id: FAR + 5 }), Accepted::Aborting);
    run_out(&mut target);
    let aborted = |answer: &Completion| answer.outcome == Outcome::Aborted;
    let all: Vec<Completion> = std::iter::from_fn(|| target.poll_output()).filter(aborted).collect();
    assert_eq!(all.iter().map(|answer| (answer.id, answer.tag)).collect::<Vec<_>>(), [(FAR + 5, 5)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever is given up, and when: every command is answered once, and nothing else is aborted.
    #[test]
    fn aborts_end_what_they_name_and_nothing_else(
        aborts in prop::collection::vec((0u64..60_000, 0u64..16), 0..10),
        issue in 0u64..2,
    ) {
        let drive = Arc::new(DriveModel::new(&small()).unwrap());
        let controller = ControllerParams { issue: us(150 * issue), completion: us(40 * issue), ..ControllerParams::PLAIN };
        let mut target = sent(&TargetParams::System(SystemParams::of_drive(drive, controller)));
        let (mut aborts, mut aborting) = (aborts, Vec::new());
        aborts.sort_unstable();
        for (at, id) in aborts {
            let accepted = target.handle(Instant::ZERO + us(at), TargetInput::Abort { id: FAR + id });
            if accepted == Accepted::Aborting {
                aborting.push(id);
            }
        }
        for (id, answer) in outcomes(&mut target) {
            let is_aborted = answer.outcome == Outcome::Aborted;
            prop_assert!(!is_aborted || aborting.contains(&id), "{}", id);
            prop_assert!(is_aborted || answer.outcome == Outcome::Done);
            prop_assert_eq!(answer.breakdown.total(), answer.completed - answer.submitted);
        }
    }
}
