//! Which reads fail by chance: drawn from the command's number and its attempt, for each drive by itself, so that neither
//! the order of service nor another command's fate changes a draw.
use crate::common;
use crate::common::sorted::Target;
use crate::common::{drive, ms, next_due, queue};
use drivelab_core::storage::drive::faults::{FaultParams, Faults};
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Command, Outcome};
use drivelab_units::{Instant, Lba, Sectors, Share};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

fn failing(percent: u64) -> FaultParams {
    let read_errors = Share::from_ratio(percent, 100).unwrap();
    FaultParams { read_errors, unreadable: Vec::new(), retries: ms(2) }
}

fn read(id: u64, attempt: u8) -> Command {
    Command { attempt, ..common::command(id, Access::Read, 8 * (id % 1_000), 8) }
}

/// How many of many draws agree. Of two that have nothing to do with each other at 50 %, half do.
fn agreeing(one: impl Fn(u64) -> bool, other: impl Fn(u64) -> bool) -> u64 {
    (0..10_000).filter(|&id| one(id) == other(id)).count() as u64
}

#[test]
fn every_draw_is_by_itself() {
    let of = |drive, seed| Faults::new(&failing(50), drive, seed);
    let (plain, other_drive, other_seed) = (of(0, 1), of(1, 1), of(0, 2));
    let draw = |faults: &Faults, id, attempt| faults.fails_attempt(&read(id, attempt), id);
    let pairs: [(&str, u64); 7] = [
        ("attempts", agreeing(|id| draw(&plain, id, 0), |id| draw(&plain, id, 1))),
        ("later attempts", agreeing(|id| draw(&plain, id, 6), |id| draw(&plain, id, 7))),
        ("neighbours", agreeing(|id| draw(&plain, id, 0), |id| draw(&plain, id + 1, 0))),
        ("a neighbour's attempt", agreeing(|id| draw(&plain, id, 1), |id| draw(&plain, id + 1, 0))),
        ("numbers far apart", agreeing(|id| draw(&plain, id, 0), |id| draw(&plain, id + (1 << 32), 0))),
        ("drives", agreeing(|id| draw(&plain, id, 0), |id| draw(&other_drive, id, 0))),
        ("seeds", agreeing(|id| draw(&plain, id, 0), |id| draw(&other_seed, id, 0))),
    ];
    for (what, same) in pairs {
        // Six standard deviations of 50 each.
        assert!((4_700..5_300).contains(&same), "{what}: {same} of 10 000 agree");
    }
}

#[test]
fn so_many_reads_fail_and_no_write() {
    for percent in [0, 1, 10, 50, 90, 100] {
        let faults = Faults::new(&failing(percent), 0, 1);
        let failed = (0..100_000).filter(|&id| faults.fails_attempt(&read(id, 0), id)).count() as u64;
        assert!(failed.abs_diff(1_000 * percent) < 1_000, "{failed} of 100 000 at {percent} %");
        assert!(percent % 100 != 0 || failed == 1_000 * percent, "none or all");
        let write = |id| Command { access: Access::Write, ..read(id, 0) };
        assert!((0..1_000).all(|id| !faults.fails_attempt(&write(id), id)));
    }
}

/// What ends in an error, of these reads sent after these pauses.
fn failed(order: Order, ids: &[u64], pauses: &[u64]) -> BTreeSet<u64> {
    let params = DriveParams { faults: Some(failing(30)), queue: queue(32, order), ..drive() };
    let model = Arc::new(DriveModel::new(&params).unwrap());
    let mut target = Target::new(&TargetParams::Wire(model), 9);
    let (mut now, mut all, mut failed) = (Instant::ZERO, 0, BTreeSet::new());
    let mut look = |target: &mut Target| {
        for done in std::iter::from_fn(|| target.poll_output()) {
            all += 1;
            if done.outcome == Outcome::MediaError {
                failed.insert(done.id);
            }
        }
    };
    for (tag, (&id, &pause)) in ids.iter().zip(pauses).enumerate() {
        now += drivelab_units::Span::from_us(pause);
        target.handle(now, TargetInput::Submit(Command { tag: tag as u32, ..read(id, 0) }));
        look(&mut target);
    }
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
        look(&mut target);
    }
    assert_eq!(all, ids.len());
    failed
}

proptest! {
    #[test]
    fn the_order_of_service_changes_no_draw(
        ids in Just((0..20).collect::<Vec<u64>>()).prop_shuffle(), pauses in prop::collection::vec(0u64..9_000, 20),
    ) {
        let alone: Vec<u64> = (0..20).collect();
        let expected = failed(Order::Fcfs, &alone, &[20_000; 20]);
        prop_assert!(!expected.is_empty() && expected.len() < 20);
        let drawn = Faults::new(&failing(30), 0, 9);
        prop_assert!(alone.iter().all(|&id| drawn.fails_attempt(&read(id, 0), id) == expected.contains(&id)));
        prop_assert_eq!(failed(Order::Sptf, &ids, &pauses), expected);
    }
}

/// A failed read takes what the drive's own attempts take, and what cannot be read is sound once it is written.
#[test]
fn a_sector_that_cannot_be_read_is_sound_once_it_is_written() {
    let unreadable = vec![(Lba::new(10), Sectors::new(5)), (Lba::new(30), Sectors::new(1))];
    let mut faults = Faults::new(&FaultParams { unreadable, ..failing(0) }, 0, 1);
    let touched = |faults: &Faults| {
        (0..40)
            .filter(|&at| faults.fails_attempt(&common::command(0, Access::Read, at, 1), 0))
            .collect::<Vec<u64>>()
    };
    assert_eq!(touched(&faults), [10, 11, 12, 13, 14, 30]);
    assert!(faults.is_unreadable(&common::command(0, Access::Read, 5, 6)));
    assert!(!faults.is_unreadable(&common::command(0, Access::Read, 5, 5)));
    assert!(!faults.is_unreadable(&common::command(0, Access::Read, 15, 15)));
    faults.heal(Lba::new(12), Lba::new(14));
    assert_eq!(touched(&faults), [10, 11, 14, 30]);
    faults.heal(Lba::new(0), Lba::new(12));
    assert_eq!(touched(&faults), [14, 30]);
}
