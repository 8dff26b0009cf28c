//! Ids are the host's own affair: any value, and the same one again. Figures do not depend on what they are inside.
use super::{forgetful, run_out, small};
use crate::array::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, target};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Level};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::storage::{Accepted, CallError, TargetInput, TargetParams};
use drivelab_core::{Access, Command, Completion, Machine, Outcome};
use drivelab_units::{Instant, Sectors, Share, Span};

/// Ids of the spaces in which an array, a memory and its copies number their own, and others.
const STRANGE: [u64; 8] = [
    u64::MAX,
    1 << 52,
    1 << 52 | 1 << 51,
    1 << 52 | 1 << 50,
    1 << 50,
    (1 << 52 | 1 << 51) + 1,
    0,
    u64::MAX - 1,
];

/// Answers to writes and reads under these ids, and the ids that the data operations name.
fn play(params: &TargetParams, ids: &[u64]) -> (Vec<Completion>, Vec<u64>) {
    let mut target = Target::new(params, 7);
    target.keep_data();
    target.keep_traces();
    for (i, &id) in (0u64..).zip(ids) {
        let access = if i % 3 == 2 { Access::Read } else { Access::Write };
        target.submit(Instant::from_ns(i * 500_000), command(id, access, 40 * i, 8));
    }
    run_out(&mut target);
    let answers = std::iter::from_fn(|| target.poll_output()).collect();
    let named = std::iter::from_fn(|| target.poll_data()).filter_map(|op| match op {
        DataOp::Accept { write, .. } => Some(write),
        _ => None,
    });
    (answers, named.collect())
}

pub fn memory() -> WriteBehindParams {
    WriteBehindParams {
        limit: Sectors::new(64),
        background: Sectors::new(32),
        ..crate::write_behind::params()
    }
}

fn targets() -> Vec<TargetParams> {
    let mirror = array_of(ArrayParams::plain(Level::Mirrored, 2), &small());
    let TargetParams::System(behind) = mirror.clone() else { panic!("an array is a system") };
    let controller = drivelab_core::storage::controller::params::ControllerParams {
        cache: Some(memory()),
        ..behind.controller
    };
    let behind = TargetParams::System(SystemParams { controller, host_cache: Some(memory()), ..behind });
    vec![target(&small()), target(&forgetful()), mirror, behind]
}

#[test]
fn any_id_is_carried_to_its_completion_and_changes_no_other_figure() {
    for params in targets() {
        let upward: Vec<u64> = (0..8).collect();
        let (plain, _) = play(&params, &upward);
        let (strange, named) = play(&params, &STRANGE);
        assert_eq!(plain.len(), 8);
        let ids: Vec<Completion> = plain
            .iter()
            .map(|answer| Completion {
                id: STRANGE[answer.id as usize],
                tag: STRANGE[answer.id as usize] as u32,
                ..*answer
            })
            .collect();
        assert_eq!(strange, ids);
        let own = |id: &u64| *id < 1 << 50;
        assert!(named.iter().any(own) || named.iter().all(|id| *id >= 1 << 52), "{named:?}");
    }
}

/// Whose bytes a data operation names cannot be taken for those of a command that is over.
#[test]
fn an_id_may_come_again_and_its_number_never_does() {
    let mut target = Target::new(&target(&forgetful()), 1);
    target.keep_data();
    let mut numbers = Vec::new();
    let mut now = Instant::ZERO;
    for _ in 0..3 {
        let accepted = target.handle(now, TargetInput::Submit(command(5, Access::Write, 0, 8)));
        let Accepted::Submitted { number } = accepted else { panic!("{accepted:?}") };
        numbers.push(number);
        while target.poll_output().is_none_or(|answer| answer.id != 5) {
            now = target.poll_timeout().unwrap();
            target.handle(now, TargetInput::Tick);
        }
    }
    assert_eq!(numbers, [5, 6, 7]);
    let accepted = std::iter::from_fn(|| target.poll_data()).filter_map(|op| match op {
        DataOp::Accept { write, .. } => Some(write),
        _ => None,
    });
    assert_eq!(accepted.collect::<Vec<_>>(), numbers);
}

#[test]
fn an_id_that_is_under_way_is_refused_and_nothing_happens() {
    let drive = target(&small());
    let (mut plain, mut resubmitted) = (Target::new(&drive, 1), Target::new(&drive, 1));
    for id in [3, 9] {
        let command = command(id, Access::Read, 300, 8);
        plain.submit(Instant::ZERO, command);
        resubmitted.submit(Instant::ZERO, command);
        let again = Command { first: drivelab_units::Lba::new(8), ..command };
        assert_eq!(resubmitted.take(Instant::ZERO, &again), Err(CallError::IdUnderWay { id }));
    }
    run_out(&mut plain);
    run_out(&mut resubmitted);
    assert_eq!(plain.digest(), resubmitted.digest());
    let answers: Vec<Completion> = std::iter::from_fn(|| resubmitted.poll_output()).collect();
    assert_eq!(answers.len(), 2);
}

/// What fails is drawn by the host's id, wherever the command has its number from.
#[test]
fn faults_are_drawn_by_the_hosts_id() {
    let faults = FaultParams {
        read_errors: Share::from_ratio(1, 2).unwrap(),
        unreadable: Vec::new(),
        retries: Span::ZERO,
    };
    let drive = target(&DriveParams { faults: Some(faults), ..small() });
    // Upward the ids are the numbers; downward none of them is, but for the first.
    let outcomes = |ids: &[u64]| -> Vec<Outcome> {
        let mut target = Target::new(&drive, 3);
        let mut now = Instant::ZERO;
        let mut outcomes = Vec::new();
        for &id in ids {
            target.submit(now, command(id, Access::Read, 8, 8));
            outcomes.push(loop {
                if let Some(answer) = target.poll_output() {
                    break answer.outcome;
                }
                now = target.poll_timeout().unwrap();
                target.handle(now, TargetInput::Tick);
            });
        }
        outcomes
    };
    let upward: Vec<u64> = (0..60).collect();
    let downward: Vec<u64> = (0..60).rev().collect();
    let (up, mut down) = (outcomes(&upward), outcomes(&downward));
    down.reverse();
    assert_eq!(up, down);
    assert!(up.contains(&Outcome::Done) && up.contains(&Outcome::MediaError));
}
