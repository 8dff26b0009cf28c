//! What a drive answers from its buffer is what was written last: histories of single drives at few places, where most
//! reads find something in a segment and every write has one to take care of.
use crate::setups::{self, Dice};
use drivelab_core::data::{DataOp, Source};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Access, Completion};
use drivelab_data::Fault;
use drivelab_simulate::checker::checked_target::Tap;
use drivelab_simulate::checker::{CheckedTarget, Violation, Wrong};
use drivelab_units::Sectors;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

const SEEDS: u64 = 60;
/// Sectors that are read and written.
const PLACES: u64 = 160;

/// Reads and writes of a few sectors each, some of them past the cache.
fn drafts(dice: &mut Dice) -> Vec<setups::Draft> {
    let mut drafts = setups::drafts(dice, PLACES, 1, 80, 0);
    for draft in &mut drafts {
        let longest = Sectors::new(24);
        draft.command.count = draft.command.count.min(longest);
        draft.command.direct = false;
    }
    drafts
}

fn play(params: &SystemParams, seed: u64, tap: Option<Tap>) -> Result<Vec<Completion>, Violation> {
    let mut dice = Dice::new(seed, "buffers");
    let mut watched = CheckedTarget::new(params, seed);
    tap.into_iter().for_each(|tap| watched.tap(tap));
    for draft in drafts(&mut dice) {
        watched.run_until(watched.now() + draft.gap)?;
        watched.submit(&draft.command)?;
        // While commands are under way at once, a read may bring what is old by its end.
        while !dice.one_in(4) && watched.outstanding() > 0 && watched.advance()? {}
    }
    watched.read_back()?;
    Ok(std::iter::from_fn(|| watched.poll_answer()).map(|(completion, _)| completion).collect())
}

/// Counts what drives deliver from segments.
fn counted(hits: &Rc<Cell<u64>>) -> Tap {
    let hits = Rc::clone(hits);
    Box::new(move |op| {
        if let DataOp::Deliver { from: Source::Segment(_), .. } = op {
            hits.set(hits.get() + 1);
        }
        Some(op)
    })
}

#[test]
fn what_a_buffer_answers_is_what_was_written_last() {
    for drive in setups::WITH_BUFFERS {
        let hits = Rc::new(Cell::new(0));
        for seed in 0..SEEDS {
            let checked = play(&setups::alone(drive), seed, Some(counted(&hits)));
            checked.unwrap_or_else(|wrong| panic!("drive {drive}: {wrong}"));
        }
        assert!(hits.get() > 2 * SEEDS, "drive {drive}: {} hits", hits.get());
    }
}

/// As if segments were never given up: a read of what one has ever had is answered from there.
fn kept_for_ever() -> Tap {
    let mut had: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    Box::new(move |op| {
        match op {
            DataOp::Begin { segment, .. } => _ = had.remove(&segment),
            DataOp::Load { segment, first, count, .. } => {
                let (from, to) = had.entry(segment).or_insert((first.get(), first.get()));
                (*from, *to) = (first.get().min(*from), (first + count).get().max(*to));
            }
            DataOp::Deliver { read, member, first, count, from: Source::Media } => {
                let covers = |&(_, &(from, to)): &(&u32, &(u64, u64))| {
                    from <= first.get() && (first + count).get() <= to
                };
                if let Some((&segment, _)) = had.iter().find(covers) {
                    let from = Source::Segment(segment);
                    return Some(DataOp::Deliver { read, member, first, count, from });
                }
            }
            _ => {}
        }
        Some(op)
    })
}

#[test]
fn a_segment_that_is_not_given_up_is_found() {
    for drive in setups::WITH_BUFFERS {
        let mut found = 0;
        for seed in 0..SEEDS {
            if let Err(Violation { wrong, .. }) = play(&setups::alone(drive), seed, Some(kept_for_ever())) {
                assert!(
                    matches!(wrong, Wrong::Read { .. } | Wrong::Contradiction(Fault::NotHeld { .. })),
                    "drive {drive}: {wrong}"
                );
                found += u64::from(matches!(wrong, Wrong::Read { .. }));
            }
        }
        assert!(found > SEEDS / 4, "drive {drive}: {found} of {SEEDS}");
    }
}

/// Where a segment is kept for writes alone, reads never hit written data: that a drive keeps them for reads as well makes
/// no difference then.
#[test]
fn with_a_segment_for_writes_alone_written_data_are_never_kept_for_reads() {
    let [kept, not_kept] = [true, false].map(setups::separates);
    for seed in 0..SEEDS {
        let play = |params| play(params, seed, None).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(play(&kept), play(&not_kept), "seed {seed}");
    }
}

/// The same seen from the host: what was written and is on the media is not answered by the buffer until it was read.
#[test]
fn with_a_segment_for_writes_alone_a_read_of_what_was_written_goes_to_the_media() {
    for (params, is_held) in [(setups::separates(true), false), (setups::alone(5), true)] {
        let from_segments = Rc::new(Cell::new(0));
        let mut watched = CheckedTarget::new(&params, 1);
        watched.tap(counted(&from_segments));
        let mut go = |access, count| watched.go(access, 40, count).unwrap_or_else(|wrong| panic!("{wrong}"));
        go(Access::Write, 8);
        go(Access::Flush, 0);
        go(Access::Read, 8);
        assert_eq!(from_segments.get() > 0, is_held);
    }
}
