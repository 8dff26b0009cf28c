//! What the elevator is built from, held to lists: the ordered index and its balance, chains, lists by age, and the
//! search for what a command must wait for. The elevator as a whole is held to its definition in `tests/core/elevator`.
use super::fifo::Fifos;
use super::requests::{Chain, NONE, Slot, Table};
use crate::command::{Access, Command};
use crate::storage::overlap::Overlaps;
use crate::storage::tree::{Summary, Tree};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn command(access: Access, first: u64, count: u64) -> Command {
    Command::new(0, access, Lba::new(first), Sectors::new(count))
}

/// The least and the greatest of a group.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Bounds(u64, u64);

impl Summary for Bounds {
    fn join(self, other: Self) -> Self {
        Bounds(self.0.min(other.0), self.1.max(other.1))
    }
}

/// The greatest depth below a root, after looking at every summary.
fn depth(tree: &Tree<(u64, u64), Bounds>, at: Slot) -> usize {
    if at == NONE {
        return 0;
    }
    let node = tree.node(at);
    let children = [node.left, node.right].into_iter().filter(|&child| child != NONE);
    let all = children.fold(node.own, |all, child| all.join(tree.node(child).all));
    assert_eq!(node.all, all, "a summary is of the whole subtree");
    1 + depth(tree, node.left).max(depth(tree, node.right))
}

proptest! {
    #[test]
    fn the_index_is_a_sorted_list(
        steps in prop::collection::vec((any::<bool>(), 0u32..40, 0u64..30, any::<bool>()), 1..200),
    ) {
        let (mut tree, mut roots) = (Tree::<(u64, u64), Bounds>::new(), [NONE; 2]);
        let mut lists = [BTreeSet::new(), BTreeSet::new()];
        for (insert, slot, key, second) in steps {
            let in_list = |list: &BTreeSet<(u64, u64)>| list.iter().any(|&(_, of)| of == u64::from(slot));
            let held = lists.iter().position(in_list);
            match held {
                Some(set) if !insert => {
                    tree.remove(&mut roots[set], slot);
                    lists[set].retain(|&(_, of)| of != u64::from(slot));
                }
                None if insert => {
                    let set = usize::from(second);
                    tree.insert(&mut roots[set], slot, (key, slot.into()), Bounds(key, key));
                    lists[set].insert((key, slot.into()));
                }
                _ => {}
            }
            for (&root, list) in roots.iter().zip(&lists) {
                depth(&tree, root);
                let above = list.range((key, 0)..).next().map(|&(_, slot)| slot as Slot);
                prop_assert_eq!(tree.at_or_above(root, &(key, 0)), above);
                let below = list.range(..(key, 0)).next_back().map(|&(_, slot)| slot as Slot);
                prop_assert_eq!(tree.below(root, &(key, 0)), below);
            }
        }
    }

    #[test]
    fn a_sorted_chain_has_the_same_commands_oldest_first(
        order in Just((0..50).collect::<Vec<Slot>>()).prop_shuffle(), count in 0usize..50,
    ) {
        let mut table = Table::default();
        for _ in 0..50 {
            table.add(command(Access::Read, 0, 1), Instant::ZERO);
        }
        let mut expected = order[..count].to_vec();
        let chain = expected.iter().fold(Chain::EMPTY, |chain, &slot| table.push_back(chain, slot));
        let mut sorted = table.sorted(chain);
        let found: Vec<Slot> = core::iter::from_fn(|| table.pop_front(&mut sorted)).collect();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn lists_by_age_are_queues(steps in prop::collection::vec((any::<bool>(), 0u32..20, 0usize..2), 1..100)) {
        let (mut fifos, mut lists) = (Fifos::<2>::new(), [Vec::new(), Vec::new()]);
        for (insert, slot, list) in steps {
            match lists.iter().position(|list: &Vec<Slot>| list.contains(&slot)) {
                Some(list) if !insert => {
                    fifos.remove(list, slot);
                    lists[list].retain(|&held| held != slot);
                }
                None if insert => {
                    fifos.push(list, slot);
                    lists[list].push(slot);
                }
                _ => {}
            }
            for (i, list) in lists.iter().enumerate() {
                prop_assert_eq!(fifos.oldest(i), list.first().copied());
            }
        }
    }

    #[test]
    fn a_command_waits_for_the_youngest_older_one_that_it_overlaps(
        commands in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..12, any::<bool>()), 1..60),
    ) {
        let (mut table, mut overlaps, mut held) = (Table::default(), Overlaps::new(), Vec::<Slot>::new());
        for (write, first, count, gone) in commands {
            let access = if write { Access::Write } else { Access::Read };
            let slot = table.add(command(access, first, count), Instant::ZERO);
            overlaps.insert(slot, &table.claim(slot));
            held.push(slot);
            if gone {
                let gone = held.remove(held.len() / 2);
                overlaps.remove(gone, table.claim(gone).write);
            }
            for &slot in &held {
                let one = table.request(slot);
                let must_wait_for = |&&other: &&Slot| {
                    let other_request = table.request(other);
                    let writes = one.access == Access::Write || other_request.access == Access::Write;
                    let shares = one.first < other_request.end && other_request.first < one.end;
                    other < slot && writes && shares
                };
                // Nothing is freed here, so slots are in order of arrival.
                let expected = held.iter().filter(must_wait_for).max().copied();
                prop_assert_eq!(overlaps.blocker(&table.claim(slot)), expected);
            }
        }
    }
}

#[test]
fn the_index_is_shallow_whatever_the_order_of_arrival() {
    const COUNT: u32 = 1 << 16;
    type Order = fn(u32) -> u64;
    let orders: [Order; 3] =
        [u64::from, |slot| u64::from(COUNT - slot), |slot| u64::from(slot % 2 * COUNT + slot)];
    for order in orders {
        let (mut tree, mut root) = (Tree::<(u64, u64), Bounds>::new(), NONE);
        for slot in 0..COUNT {
            tree.insert(&mut root, slot, (order(slot), 0), Bounds(0, 0));
        }
        let found = depth(&tree, root);
        assert!(found <= 64, "{found} levels");
    }
}
