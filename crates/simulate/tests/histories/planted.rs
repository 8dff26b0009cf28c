//! Faults planted in the stream of data operations: the witness must find each of them, and nothing without them.
use crate::setups::{self, Dice, Draft};
use drivelab_core::command::OWN_IDS;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::params::{ArrayParams, Failure, Level, Rotation, When};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_simulate::checker::checked_target::Tap;
use drivelab_simulate::checker::{CheckedTarget, Resync, Violation, Wrong};
use drivelab_units::{Instant, Sectors};

const SEEDS: u64 = 40;

fn raid(parities: u8) -> ArrayParams {
    ArrayParams::plain(Level::Parity { parities, rotation: Rotation::Last, groups: 1 }, 5)
}

fn play(params: &SystemParams, seed: u64, tap: Option<Tap>, cuts: bool) -> Result<(), Violation> {
    let mut dice = Dice::new(seed, "planted");
    let mut watched = CheckedTarget::new(params, seed);
    if let Some(tap) = tap {
        watched.tap(tap);
    }
    let capacity = watched.target().capacity().get();
    let drafts: Vec<Draft> = setups::drafts(&mut dice, capacity, 1, 40, 0);
    crate::issue(&mut watched, &drafts)?;
    if cuts {
        watched.run_out()?;
        watched = watched.cut_power(&[], &mut Resync::all())?;
    }
    watched.read_back()
}

/// Plays histories with a fault in each, and without. Returns what was found.
fn caught(params: &SystemParams, cuts: bool, fault: impl Fn() -> Tap) -> Vec<Wrong> {
    let mut found = Vec::new();
    for seed in 0..SEEDS {
        play(params, seed, None, cuts).unwrap_or_else(|wrong| panic!("no fault here: {wrong}"));
        found.extend(play(params, seed, Some(fault()), cuts).err().map(|violation| violation.wrong));
    }
    found
}

/// Keeps the third operation back that is meant.
fn without(meant: impl Fn(&DataOp) -> bool + 'static) -> Tap {
    let mut seen = 0;
    Box::new(move |op| {
        seen += u32::from(meant(&op));
        (!meant(&op) || seen != 3).then_some(op)
    })
}

#[test]
fn a_copy_that_is_not_written() {
    let params = setups::bare(ArrayParams::plain(Level::Mirrored, 2));
    let found = caught(&params, false, || without(|op| matches!(op, DataOp::Accept { member: 1, .. })));
    // A later write may cover it.
    assert!(found.len() as u64 > SEEDS / 2, "{found:?}");
    assert!(found.iter().any(|wrong| matches!(wrong, Wrong::Copy { slot: 1, .. })), "{found:?}");
}

#[test]
fn parity_that_is_not_written() {
    let params = setups::bare(raid(1));
    let found = caught(&params, false, || without(|op| matches!(op, DataOp::Accept { member: 4, .. })));
    assert!(found.len() as u64 > SEEDS / 2, "{found:?}");
    assert!(found.iter().all(|wrong| matches!(wrong, Wrong::Parity { slot: 4, which: 0, .. })), "{found:?}");
}

#[test]
fn a_wrong_factor_of_the_second_parity() {
    let params = setups::bare(raid(2));
    let fault = || -> Tap {
        let mut seen = 0;
        Box::new(move |op| match op {
            // Of what the host brings: what was there before may be blank.
            DataOp::Mix { into, at, from, from_at, count, factor } if factor > 1 && from < OWN_IDS => {
                seen += 1;
                let factor = if seen % 3 == 0 { factor ^ 1 } else { factor };
                Some(DataOp::Mix { into, at, from, from_at, count, factor })
            }
            op => Some(op),
        })
    };
    let found = caught(&params, false, fault);
    assert!(found.len() as u64 > SEEDS / 2, "{found:?}");
    assert!(found.iter().all(|wrong| matches!(wrong, Wrong::Parity { which: 1, .. })), "{found:?}");
}

#[test]
fn a_flush_that_is_answered_too_early() {
    let params = setups::forgetful(ArrayParams::plain(Level::Striped, 2));
    let found = caught(&params, true, || without(|op| matches!(op, DataOp::Persist { .. })));
    assert!(found.iter().any(|wrong| matches!(wrong, Wrong::Read { .. })), "{found:?}");
}

#[test]
fn a_rebuild_that_leaves_the_last_sector_of_each_window_out() {
    let failures = vec![Failure { drive: 1, when: When::At(Instant::from_ns(20_000_000)) }];
    let array = ArrayParams { failures, spares: 1, ..ArrayParams::plain(Level::Mirrored, 2) };
    let params = setups::bare(array);
    let fault = || -> Tap {
        Box::new(|op| match op {
            DataOp::Accept { write, member: 2, first, count } => {
                Some(DataOp::Accept { write, member: 2, first, count: Sectors::new(count.get() - 1) })
            }
            op => Some(op),
        })
    };
    let found = caught(&params, false, fault);
    assert!(found.len() as u64 > SEEDS / 2, "{found:?}");
}

pub fn memory() -> WriteBehindParams {
    WriteBehindParams {
        size: Sectors::new(200),
        limit: Sectors::new(200),
        background: Sectors::new(100),
        age: None,
        order: FlushOrder::Address,
        request: Sectors::new(64),
        outstanding: 2,
        rate: None,
        overhead: drivelab_units::Span::ZERO,
        battery: false,
        force_unit_access: false,
        keeps_reads: false,
        stripe: None,
        stripe_wait: drivelab_units::Span::ZERO,
        write_through: false,
        read_ahead: None,
    }
}

#[test]
fn memory_that_leaves_out_what_it_has_of_a_read() {
    let plain = setups::bare(ArrayParams::plain(Level::Striped, 2));
    let params = SystemParams { host_cache: Some(memory()), ..plain };
    let leaves_out = |op: &DataOp| match op {
        DataOp::Mix { into, from, .. } => *into < OWN_IDS && *from < OWN_IDS,
        _ => false,
    };
    let found = caught(&params, false, || Box::new(move |op| (!leaves_out(&op)).then_some(op)));
    assert!(found.len() as u64 > SEEDS / 2, "{found:?}");
    assert!(found.iter().all(|wrong| matches!(wrong, Wrong::Read { .. })), "{found:?}");
}

#[test]
fn a_flush_of_another_write() {
    let plain = setups::bare(ArrayParams::plain(Level::Striped, 2));
    let params = SystemParams { host_cache: Some(memory()), ..plain };
    let fault = || -> Tap {
        Box::new(|op| match op {
            DataOp::Mix { into, at, from, from_at, count, factor } if into >= OWN_IDS && from < OWN_IDS => {
                Some(DataOp::Mix { into, at, from: from ^ 1, from_at, count, factor })
            }
            op => Some(op),
        })
    };
    let found = caught(&params, false, fault);
    assert_eq!(found.len() as u64, SEEDS, "{found:?}");
}
