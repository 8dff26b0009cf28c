//! The slot table against a list, in one list and in two.
use super::super::*;
use super::play::PERIOD;
use alloc::vec::Vec;
use drivelab_units::Lba;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_slot_table_is_a_list(
        cylinders in 1u32..20_000, apart: bool, deep: bool,
        steps in prop::collection::vec(any::<(bool, u16, u32, bool)>(), 1..200),
    ) {
        const USED: u32 = 24;
        let depth = if deep { 1_000 } else { USED };
        let order = if apart { orders::read_first_sptf::USUAL } else { Order::Sptf };
        let params = QueueParams { depth, order, ..QueueParams::NONE };
        let (mut slots, mut list) = (Slots::new(&params, cylinders, PERIOD), Vec::new());
        for (insert, which, cylinder, write) in steps {
            let free: Vec<SlotIndex> =
                (0..USED).filter(|slot| list.iter().all(|(taken, _, _)| taken != slot)).collect();
            if (insert || list.is_empty()) && !free.is_empty() {
                let (slot, cylinder) = (free[usize::from(which) % free.len()], cylinder % cylinders);
                // Ends where no other begins.
                let sectors = (Lba::new(cylinder.into()), Lba::new(1 << 40));
                slots.insert(slot, Entry { cylinder, write, ..Entry::default() }, sectors);
                list.push((slot, cylinder, write));
            } else {
                let (slot, _, _) = list.remove(usize::from(which) % list.len());
                slots.remove(slot);
            }
            check_table(&slots, &list, cylinders)?;
        }
    }
}

type Row = (SlotIndex, u32, bool);

/// A waiting command by its definition: it waits behind another one for as long as that one waits.
#[derive(Clone, Copy, Debug)]
struct Waits {
    row: Row,
    sectors: (u64, u64),
    behind: Option<SlotIndex>,
}

proptest! {
    /// Commands that continue one another: the table is that of those alone which wait behind no other one.
    #[test]
    fn of_a_run_only_the_first_is_in_the_table(
        apart: bool, deep: bool,
        steps in prop::collection::vec(any::<(bool, u16, u8, u8, bool)>(), 1..200),
    ) {
        const USED: u32 = 24;
        let depth = if deep { 1_000 } else { USED };
        let order = if apart { orders::read_first_sptf::USUAL } else { Order::Sptf };
        let params = QueueParams { depth, order, ..QueueParams::NONE };
        let (mut slots, mut waiting) = (Slots::new(&params, 40, PERIOD), Vec::<Waits>::new());
        for (insert, which, place, count, write) in steps {
            let free: Vec<SlotIndex> =
                (0..USED).filter(|slot| waiting.iter().all(|other| other.row.0 != *slot)).collect();
            if (insert || waiting.is_empty()) && !free.is_empty() {
                let slot = free[usize::from(which) % free.len()];
                // Few places, so that commands continue others, and several begin or end at one.
                let (first, cylinder) = (u64::from(place % 40), u32::from(place % 40) / 4);
                let end = first + 1 + u64::from(count % 3);
                let is_taken = |ahead: &Waits| waiting.iter().any(|other| other.behind == Some(ahead.row.0));
                let ends_there = |other: &&Waits| other.sectors.1 == first && other.row.2 == write;
                let open: Vec<SlotIndex> = waiting
                    .iter().filter(ends_there).filter(|other| !is_taken(other)).map(|other| other.row.0).collect();
                let sectors = (Lba::new(first), Lba::new(end));
                slots.insert(slot, Entry { cylinder, write, ..Entry::default() }, sectors);
                let behind = slots.before(slot);
                prop_assert_eq!(behind.is_some(), !open.is_empty());
                prop_assert!(behind.is_none_or(|behind| open.contains(&behind)));
                waiting.push(Waits { row: (slot, cylinder, write), sectors: (first, end), behind });
            } else {
                let gone = waiting.remove(usize::from(which) % waiting.len()).row.0;
                slots.remove(gone);
                for other in &mut waiting {
                    other.behind = other.behind.filter(|&behind| behind != gone);
                    prop_assert_eq!(slots.before(other.row.0), other.behind);
                }
            }
            let heads: Vec<Row> =
                waiting.iter().filter(|other| other.behind.is_none()).map(|other| other.row).collect();
            prop_assert_eq!((slots.len(), slots.candidates()), (waiting.len(), heads.len()));
            check_orders(&slots, &heads, 40)?;
        }
    }
}

fn slot_of(row: Option<&Row>) -> Option<SlotIndex> {
    row.map(|(slot, _, _)| *slot)
}

/// Everything that the table reports about itself, against the list of what is in it, oldest first.
fn check_table(slots: &Slots, list: &[Row], cylinders: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!((slots.len(), slots.is_empty()), (list.len(), list.is_empty()));
    prop_assert!(list.iter().all(|&(slot, cylinder, _)| slots.first(slot) == Lba::new(cylinder.into())));
    check_orders(slots, list, cylinders)
}

/// The orders by age and by cylinder, against the list of those that may be chosen, oldest first.
fn check_orders(slots: &Slots, list: &[Row], cylinders: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!(slots.oldest(), slot_of(list.first()));
    let row = |slot| (slot, slots.entry(slot).cylinder, slots.entry(slot).write);
    let ages: Vec<Row> = slots.by_age().map(row).collect();
    prop_assert_eq!(&ages[..], list);
    prop_assert!(slots.by_age().map(|slot| slots.entry(slot).sequence).is_sorted());
    for kind in [slots.kind(false), slots.kind(true)] {
        let list: Vec<Row> =
            list.iter().filter(|(_, _, write)| slots.kind(*write) == kind).copied().collect();
        check_list(slots, kind, &list, cylinders)?;
    }
    Ok(())
}

fn check_list(slots: &Slots, kind: Kind, list: &[Row], cylinders: u32) -> Result<(), TestCaseError> {
    prop_assert_eq!(slots.oldest_of(kind), slot_of(list.first()));
    for (i, &(slot, _, _)) in list.iter().enumerate() {
        prop_assert_eq!(slots.younger(slot), slot_of(list.get(i + 1)));
    }
    let mut upward = list.to_vec();
    // Stable: entries of one cylinder stay in order of arrival.
    upward.sort_by_key(|&(_, cylinder, _)| cylinder);
    prop_assert_eq!(slots.highest(kind), slot_of(upward.last()));
    let walk = |upward: bool| {
        let from = if upward { slots.first_from(kind, 0) } else { slots.last_below(kind, cylinders) };
        let next = |&at: &_| {
            Some(slots.next(slots.row(kind), at, upward))
                .filter(|&at| slots.slot_at(slots.row(kind), at).is_some())
        };
        let walk = core::iter::successors(
            Some(from).filter(|&at| slots.slot_at(slots.row(kind), at).is_some()),
            next,
        );
        walk.map_while(|at| slots.slot_at(slots.row(kind), at)).collect::<Vec<SlotIndex>>()
    };
    let expected: Vec<SlotIndex> = upward.iter().map(|&(slot, _, _)| slot).collect();
    prop_assert_eq!(walk(true), &expected[..]);
    prop_assert_eq!(walk(false), expected.into_iter().rev().collect::<Vec<SlotIndex>>());
    let places =
        [0, cylinders / 3, cylinders - 1].into_iter().chain(list.iter().map(|&(_, cylinder, _)| cylinder));
    for from in places {
        let expected = upward.iter().find(|&&(_, cylinder, _)| cylinder >= from);
        prop_assert_eq!(slots.at_or_above(kind, from), slot_of(expected));
        let expected = upward.iter().rev().find(|&&(_, cylinder, _)| cylinder < from);
        prop_assert_eq!(slots.slot_at(slots.row(kind), slots.last_below(kind, from)), slot_of(expected));
    }
    Ok(())
}

/// Counts around which a bitmap gets another level, each with its last cylinder.
#[test]
fn the_last_cylinder_has_its_place() {
    let counts =
        [1, 4_096, 4_097, 8_192, 8_193, 16_387, 65_551, 1 << 18, (1 << 18) + 1, (1 << 22) - 1, 1 << 22];
    for (cylinders, depth) in counts.into_iter().flat_map(|count| [(count, 2), (count, 257)]) {
        let mut slots = Slots::new(&QueueParams { depth, ..QueueParams::NONE }, cylinders, PERIOD);
        let sectors = (Lba::ZERO, Lba::new(8));
        slots.insert(0, Entry { cylinder: cylinders - 1, ..Entry::default() }, sectors);
        slots.insert(1, Entry { cylinder: 0, ..Entry::default() }, sectors);
        // On a drive of one cylinder the order of arrival decides.
        let (lowest, highest) = if cylinders == 1 { (0, 1) } else { (1, 0) };
        assert_eq!(
            (slots.at_or_above(Kind::Main, 0), slots.highest(Kind::Main)),
            (Some(lowest), Some(highest))
        );
        slots.remove(0);
        assert_eq!(slots.highest(Kind::Main), Some(1));
    }
}
