//! The blocks that stripe requests hold exclusively, or wait for.
//!
//! As a rule they are few, and scanning all of them costs less than keeping them sorted. While there are more
//! they are in a tree as well, which gives the same answers.
use crate::storage::overlap::{Claim, Overlaps};
use crate::storage::tree::Slot;
use alloc::vec::Vec;

/// Up to this many claims are scanned one by one; once there are more, a tree is kept until they are down to
/// half as many.
const FEW: usize = 64;

#[derive(Default)]
pub struct Claims {
    /// In any order.
    all: Vec<(Slot, Claim)>,
    /// In the same order: the first block and the one after the last. Most claims overlap no other, and these
    /// spans show that quickly.
    spans: Vec<(u64, u64)>,
    /// By stripe request: the index of its claim.
    places: Vec<u32>,
    tree: Overlaps,
    is_in_tree: bool,
}

impl Claims {
    #[inline]
    pub fn insert(&mut self, stripe_request: Slot, claim: &Claim) {
        let place = stripe_request as usize;
        if self.places.len() <= place {
            self.places.resize(place + 1, 0);
        }
        self.places[place] = self.all.len() as u32;
        self.all.push((stripe_request, *claim));
        self.spans.push((claim.first.get(), claim.end.get()));
        if self.is_in_tree {
            self.tree.insert(stripe_request, claim);
        } else if self.all.len() > FEW {
            self.is_in_tree = true;
            self.all.iter().for_each(|(stripe_request, claim)| self.tree.insert(*stripe_request, claim));
        }
    }

    #[inline]
    pub fn remove(&mut self, stripe_request: Slot) {
        let at = self.places[stripe_request as usize];
        let (_, Claim { write, .. }) = self.all.swap_remove(at as usize);
        self.spans.swap_remove(at as usize);
        if let Some(&(moved, _)) = self.all.get(at as usize) {
            self.places[moved as usize] = at;
        }
        if self.is_in_tree {
            self.tree.remove(stripe_request, write);
            if self.all.len() <= FEW / 2 {
                self.is_in_tree = false;
                self.all
                    .iter()
                    .for_each(|(stripe_request, claim)| self.tree.remove(*stripe_request, claim.write));
            }
        }
    }

    /// The youngest stripe request that this claim must wait for: older than this one, overlapping, and at
    /// least one of the two a write.
    #[inline]
    pub fn blocker(&self, claim: &Claim) -> Option<Slot> {
        if self.is_in_tree {
            return self.tree.blocker(claim);
        }
        let &Claim { write, first, end, age } = claim;
        let meets =
            |met: bool, &(from, until): &(u64, u64)| met | ((from < end.get()) & (first.get() < until));
        if !self.spans.iter().fold(false, meets) {
            return None;
        }
        // Not short-circuited: each test alone is unpredictable, all of them together are rarely true.
        let hinders = |other: &Claim| {
            (other.first < end) & (first < other.end) & (write | other.write) & (other.age < age)
        };
        let hindering = self.all.iter().filter(|(_, other)| hinders(other));
        hindering.max_by_key(|(_, other)| other.age).map(|&(stripe_request, _)| stripe_request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_units::Lba;
    use proptest::prelude::*;
    use std::vec;

    /// The claim that blocks another by definition, from a scan of all of them.
    fn plainly(all: &[Option<Claim>], sought: &Claim) -> Option<Slot> {
        let hinders = |claim: &Claim| {
            let in_common = claim.first.max(sought.first) < claim.end.min(sought.end);
            in_common && claim.age < sought.age && !(sought.write, claim.write).eq(&(false, false))
        };
        let there = (0..).zip(all).filter_map(|(slot, claim)| claim.map(|claim| (slot, claim)));
        there.filter(|(_, claim)| hinders(claim)).max_by_key(|(_, claim)| claim.age).map(|(slot, _)| slot)
    }

    proptest! {
        /// Up to 100 at once, so that the tree comes and goes.
        #[test]
        fn few_and_many_find_what_the_definition_finds(
            steps in prop::collection::vec((0usize..100, any::<bool>(), 0u64..60, 1u64..9), 1..600),
            adds in 0u64..3,
        ) {
            let (mut claims, mut plain) = (Claims::default(), vec![None; 100]);
            for ((slot, write, first, count), age) in steps.into_iter().zip(1..) {
                let claim = Claim { write, first: Lba::new(first), end: Lba::new(first + count), age };
                prop_assert_eq!(claims.blocker(&claim), plainly(&plain, &claim));
                // An older claim that checks again.
                if let Some(known) = plain[slot] {
                    prop_assert_eq!(claims.blocker(&known), plainly(&plain, &known));
                }
                // Their number rises and falls in turn.
                let is_more = age / 150 % 2 == 0 || age % 5 < adds;
                match plain[slot] {
                    Some(_) if !is_more => {
                        claims.remove(slot as Slot);
                        plain[slot] = None;
                    }
                    None if is_more => {
                        claims.insert(slot as Slot, &claim);
                        plain[slot] = Some(claim);
                    }
                    _ => {}
                }
            }
        }
    }
}
