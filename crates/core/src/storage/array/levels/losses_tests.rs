//! What is lost, against looking at every sector of small arrays.
use crate::storage::array::levels::{Layout, SectorRole, Spot};
use crate::storage::array::members::ALL;
use crate::storage::array::params::{ArrayParams, Copies, Level, Rotation};
use crate::storage::array::report::Run;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Sectors;
use proptest::prelude::*;

fn parity(parities: u8, rotation: Rotation, groups: u16) -> Level {
    Level::Parity { parities, rotation, groups }
}

fn levels() -> Vec<(Level, u16)> {
    let mut levels = vec![
        (Level::Linear, 3),
        (Level::Striped, 3),
        (Level::Mirrored, 3),
        (Level::MirroredStripes { copies: 2 }, 6),
        (Level::Interleaved { groups: 2 }, 6),
        (parity(1, Rotation::Last, 1), 4),
        (parity(1, Rotation::First, 2), 8),
    ];
    for layout in [Copies::Near, Copies::Far, Copies::Offset] {
        for (copies, members) in [(2, 4), (2, 5), (3, 4), (3, 6)] {
            levels.push((Level::StripedMirrors { copies, layout }, members));
        }
    }
    for rotation in [Rotation::LeftSymmetric, Rotation::RightAsymmetric] {
        levels.push((parity(1, rotation, 1), 4));
        levels.push((parity(2, rotation, 2), 8));
    }
    levels
}

/// Whether an address cannot be had, by its definition.
fn is_lost(layout: &Layout, frontiers: &[u64], address: u64) -> bool {
    let is_unreadable = |spot: Spot| spot.at >= frontiers[usize::from(spot.slot)];
    match layout {
        Layout::Linear(linear) => is_unreadable(linear.spot(address).0),
        Layout::Copied(copied) => {
            let piece = copied.piece(address, address + 1);
            (0..copied.copies()).all(|copy| is_unreadable(copied.spot(&piece, copy)))
        }
        Layout::Rows(rows) => {
            let cell = rows.cell(address, address + 1);
            let at = rows.at(cell.row) + cell.offset;
            let slot = rows.data(cell.row, cell.column);
            let members = rows.members() as u16;
            let group = slot / members * members..(slot / members + 1) * members;
            let gone = group.filter(|&slot| is_unreadable(Spot { slot, at })).count();
            is_unreadable(Spot { slot, at }) && gone > usize::from(rows.parities())
        }
        Layout::RaidZ(_) => unreachable!("in a file of its own"),
    }
}

fn losses(layout: &Layout, before: &[u64], after: &[u64]) -> Vec<Run> {
    match layout {
        Layout::Linear(linear) => linear.losses_between(before, after),
        Layout::Copied(copied) => copied.losses_between(before, after),
        Layout::Rows(rows) => rows.losses_between(before, after),
        Layout::RaidZ(_) => unreachable!("in a file of its own"),
    }
}

proptest! {
    #[test]
    fn exactly_what_cannot_be_had_any_more_is_lost(
        level in prop::sample::select(levels()),
        drives in prop::collection::vec((0u8..4, 0u64..64), 8),
        fails in prop::collection::vec(0usize..8, 1..3),
        unit in 1u64..9,
        capacity in 40u64..64,
    ) {
        let (level, members) = level;
        let params = ArrayParams { unit: Sectors::new(unit), ..ArrayParams::plain(level, members) };
        let Ok(layout) = Layout::new(&params, &vec![Sectors::new(capacity); usize::from(members)]) else {
            panic!("a sound array")
        };
        let frontier = |&(kind, done): &(u8, u64)| match kind { 0 => 0, 1 => done, _ => ALL };
        let before: Vec<u64> = drives[..usize::from(members)].iter().map(frontier).collect();
        let mut after = before.clone();
        fails.iter().for_each(|fail| after[fail % usize::from(members)] = 0);
        let mut lost = vec![0; layout.capacity().get() as usize];
        for run in losses(&layout, &before, &after) {
            for (first, count) in run.ranges() {
                let range = first.get() as usize..(first + count).get() as usize;
                lost[range].iter_mut().for_each(|lost| *lost += 1);
            }
        }
        for (address, times) in (0..).zip(&lost) {
            let newly = is_lost(&layout, &after, address) && !is_lost(&layout, &before, address);
            prop_assert_eq!(*times, i32::from(newly), "{} of {:?}", address, level);
        }
        if let Layout::Copied(copied) = &layout {
            for slot in 0..members {
                let place = |at: u64| match copied.held(Spot { slot, at }).0 {
                    SectorRole::Data { first, .. } => is_lost(&layout, &after, first),
                    _ => false,
                };
                let first = (0..copied.used()).find(|&at| place(at));
                let reached = copied.reach_of(&after, slot);
                prop_assert_eq!(first.unwrap_or(copied.used()), reached.min(copied.used()), "{:?}", level);
            }
        }
    }

    /// A rebuild's window claims all addresses that lie in it, and a place and what lies there find each other.
    #[test]
    fn what_lies_in_a_window_is_among_its_addresses(
        level in prop::sample::select(levels()), unit in 1u64..9, first in 0u64..40, count in 1u64..24,
    ) {
        let (level, members) = level;
        let params = ArrayParams { unit: Sectors::new(unit), ..ArrayParams::plain(level, members) };
        let Ok(Layout::Copied(copied)) = Layout::new(&params, &vec![Sectors::new(60); usize::from(members)])
        else { return Ok(()) };
        let end = (first + count).min(copied.used());
        prop_assume!(first < end);
        let (from, to) = copied.around(first, end);
        for slot in 0..members {
            for at in first..end {
                if let (SectorRole::Data { first, .. }, _) = copied.held(Spot { slot, at }) {
                    prop_assert!((from..to).contains(&first));
                }
            }
            let mut places = 0;
            for (piece, at) in copied.pieces_of(slot, first, end) {
                let spots = (0..copied.copies()).map(|copy| copied.spot(&piece, copy));
                let is_there = { spots }.any(|spot| spot == Spot { slot, at });
                prop_assert!(is_there);
                places += piece.count;
            }
            prop_assert!(places <= end - first);
        }
    }
}
