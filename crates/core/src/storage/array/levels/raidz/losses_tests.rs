//! What a pool has lost, against looking at every record.
use super::{ALL, PoolView, losses_between};
use crate::storage::array::levels::RaidZ;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

/// Columns of what lies at a place that cannot be read, by its definition.
fn unreadable(pool: &RaidZ, members: &[(u64, bool)], place: u64) -> Vec<u16> {
    let columns = (0..pool.map().columns()).map(|index| pool.column(place, index));
    let is_unreadable = |&(slot, end): &(u16, u64)| {
        let (frontier, is_there) = members[usize::from(slot)];
        let has_been_written = is_there && pool.births().taken_after_join(place, slot);
        end > frontier && !has_been_written
    };
    columns
        .map(|column| (column.slot, column.at + column.count))
        .filter(is_unreadable)
        .map(|(slot, _)| slot)
        .collect()
}

fn is_lost(pool: &RaidZ, members: &[(u64, bool)], place: u64) -> bool {
    let parities = usize::from(pool.map().parities());
    members.iter().filter(|(_, is_there)| !is_there).count() > parities
        || unreadable(pool, members, place).len() > parities
}

fn drawn(kind: u8, frontier: u64) -> (u64, bool) {
    match kind {
        0 => (0, false),
        1 | 2 => (frontier, true),
        _ => (ALL, true),
    }
}

proptest! {
    #[test]
    fn exactly_what_cannot_be_had_any_more_is_lost(
        (members, parities) in (1u8..4).prop_flat_map(|parities| (u64::from(parities) + 1..9, Just(parities))),
        sectors in 1u64..20,
        fill in 1u8..=100,
        least in 40u64..900,
        moves in prop::collection::vec((0u64..900, any::<bool>()), 0..40),
        joins in prop::collection::vec((0u16..8, 0usize..40), 0..4),
        states in prop::collection::vec((0u8..6, 0u64..900), 8),
        fails in 0u16..8,
    ) {
        let Some(mut pool) = RaidZ::new(members, parities, sectors, fill, 1, least) else { return Ok(()) };
        let states = &states[..members as usize];
        for (step, &(record, is_written)) in moves.iter().enumerate() {
            for &(slot, _) in joins.iter().filter(|&&(slot, at)| at == step && u64::from(slot) < members) {
                pool.births_mut().join(slot);
            }
            pool.take(3, record % pool.records());
            pool.settle(3, is_written);
        }
        let before: Vec<(u64, bool)> = states.iter().map(|&(kind, frontier)| drawn(kind, frontier)).collect();
        let mut after = before.clone();
        after[usize::from(fails % members as u16)] = (0, false);
        let views = [&before, &after].map(|members| PoolView { pool: &pool, members: members.clone() });
        let mut lost = vec![0; pool.capacity() as usize];
        for run in losses_between(&views[0], &views[1]) {
            for (first, count) in run.ranges() {
                let range = first.get() as usize..(first + count).get() as usize;
                lost[range].iter_mut().for_each(|lost| *lost += 1);
            }
        }
        for (address, &times) in (0..).zip(&lost) {
            let place = pool.place(address / pool.record());
            let newly = is_lost(&pool, &after, place) && !is_lost(&pool, &before, place);
            prop_assert_eq!(times, i32::from(newly), "{}", address);
        }
        for slot in 0..members as u16 {
            let stops = |&place: &u64| {
                pool.record_at(place).is_some()
                    && is_lost(&pool, &after, place)
                    && unreadable(&pool, &after, place).contains(&slot)
            };
            let first = (0..pool.places()).find(stops);
            let reached = views[1].reach(slot);
            if !views[1].is_pool_lost() {
                prop_assert_eq!(first.unwrap_or(ALL), reached);
            }
        }
    }

    /// Records and places find each other, free places are counted, and nothing is put where somebody is at work.
    #[test]
    fn places_and_records_find_each_other(
        sectors in 1u64..9,
        fill in 1u8..=100,
        steps in prop::collection::vec((0u32..4, 0u64..300, 0u8..5), 1..120),
    ) {
        let Some(mut pool) = RaidZ::new(5, 1, sectors, fill, 1, 300) else { return Ok(()) };
        let mut pinned: [core::ops::Range<u64>; 4] = core::array::from_fn(|_| 0..0);
        // What a stripe request writes, and where it is to be.
        let mut writes: [Option<(u64, u64)>; 4] = [None; 4];
        for (stripe_request, number, what) in steps {
            let (at, record) = (stripe_request as usize, number % pool.records());
            match what {
                0 if pinned[at].is_empty() => {
                    let first = number % pool.places();
                    pinned[at] = first..(first + 20).min(pool.places());
                    pool.pin(stripe_request + 8, pinned[at].clone());
                }
                1 => {
                    pool.unpin(stripe_request + 8);
                    pinned[at] = 0..0;
                }
                2 | 3 => {
                    if let Some((record, to)) = writes[at].take() {
                        let from = pool.place(record);
                        pool.settle(stripe_request, what == 2);
                        prop_assert_eq!(pool.place(record), if what == 2 { to } else { from });
                    }
                }
                _ if writes.iter().flatten().all(|&(other, _)| other != record) && writes[at].is_none() => {
                    if let Some(blocker) = pool.blocker_of_places(1) {
                        let is_at_work = if blocker < 8 { writes[blocker as usize].is_some() } else { true };
                        prop_assert!(is_at_work);
                        let at_work = |place| pinned.iter().any(|pinned| pinned.contains(&place));
                        prop_assert!((0..pool.places()).all(|place| pool.is_taken(place) || at_work(place)));
                        continue;
                    }
                    let to = pool.take(stripe_request, record);
                    prop_assert!(pinned.iter().all(|pinned| !pinned.contains(&to)));
                    prop_assert_eq!(pool.targets(stripe_request).collect::<Vec<_>>(), [to]);
                    prop_assert_eq!(pool.writer_to(to..to + 1, |_| true), Some(stripe_request));
                    writes[at] = Some((record, to));
                }
                _ => {}
            }
            let mut taken: Vec<u64> = (0..pool.records()).map(|record| pool.place(record)).collect();
            prop_assert!(taken.iter().zip(0..).all(|(&place, record)| pool.record_at(place) == Some(record)));
            taken.extend(writes.iter().flatten().map(|&(_, to)| to));
            taken.sort_unstable();
            taken.dedup();
            prop_assert_eq!(pool.taken_from(0).collect::<Vec<_>>(), taken.clone());
            let lying = (0..pool.places()).filter(|&place| pool.record_at(place).is_some()).count() as u64;
            prop_assert_eq!(lying, pool.records());
            let found = pool.stretch(number % pool.places(), 7, |place| place % 3 > 0);
            let expected: Vec<u64> =
                taken.into_iter().filter(|&place| place >= number % pool.places() && place % 3 > 0).take(7).collect();
            let bounds = found.map(|found| (found.first, found.end - 1, found.count));
            let of = |all: &Vec<u64>| Some((*all.first()?, *all.last()?, all.len() as u64));
            prop_assert_eq!(bounds, of(&expected));
        }
    }
}
