//! The stretches that stripe requests have found unreadable, and are re-planned without.
//!
//! A stripe request that has found nothing unreadable carries one number and costs nothing. The lists of all
//! others share a table, for any number of members. An entry covers the stretch that could not be read, not
//! the whole member: the same member may still deliver another part of the same command.
use super::super::slab::Slab;
use super::super::tree::{NONE, Slot};
use super::members::Spot;
use crate::command::Outcome;

/// Whether a read with this outcome is served from other members, and written back.
#[inline]
pub fn is_unread(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::MediaError | Outcome::TimedOut)
}

/// The list of what one stripe request has found unreadable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnreadableList(Slot);

impl UnreadableList {
    pub const NOTHING: UnreadableList = UnreadableList(NONE);

    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == NONE
    }
}

/// A stretch of a member that could not be read.
#[derive(Clone, Copy)]
struct UnreadableRange {
    slot: u16,
    at: u64,
    end: u64,
    why: Outcome,
    next: Slot,
}

/// The lists of all stripe requests.
#[derive(Default)]
pub struct Unreadable(Slab<UnreadableRange>);

impl Unreadable {
    /// Adds to a stripe request's list the `count` sectors of a read that ended with the outcome `why`.
    pub fn add(&mut self, unreadable: &mut UnreadableList, spot: Spot, count: u64, why: Outcome) {
        let Spot { slot, at } = spot;
        unreadable.0 = self.0.add(UnreadableRange { slot, at, end: at + count, why, next: unreadable.0 });
    }

    /// The outcome of the unreadable read added last; [`Outcome::Lost`] where the list is empty.
    pub fn why(&self, unreadable: UnreadableList) -> Outcome {
        if unreadable.is_empty() { Outcome::Lost } else { self.0.get(unreadable.0).why }
    }

    /// Empties a stripe request's list.
    #[inline]
    pub fn clear(&mut self, unreadable: &mut UnreadableList) {
        let mut at = core::mem::replace(&mut unreadable.0, NONE);
        while at != NONE {
            self.0.free(at);
            at = self.0.get(at).next;
        }
    }

    /// Whether any of the `count` sectors from a spot on is in a stripe request's list.
    #[inline]
    pub fn has(&self, unreadable: UnreadableList, spot: Spot, count: u64) -> bool {
        !unreadable.is_empty() && self.first(unreadable, spot, count).is_some()
    }

    /// The first entry of a stripe request's list that overlaps the `count` sectors from a spot on: its first
    /// sector, its length, and the rest of the list.
    pub fn first(
        &self,
        unreadable: UnreadableList,
        spot: Spot,
        count: u64,
    ) -> Option<(u64, u64, UnreadableList)> {
        let mut place = unreadable.0;
        while place != NONE {
            let UnreadableRange { slot, at, end, next, .. } = *self.0.get(place);
            place = next;
            let (at, end) = (at.max(spot.at), end.min(spot.at + count));
            if slot == spot.slot && at < end {
                return Some((at, end - at, UnreadableList(next)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stripe_request_has_its_own_list_of_stretches_of_any_member() {
        let (mut all, mut one, mut other) =
            (Unreadable::default(), UnreadableList::NOTHING, UnreadableList::NOTHING);
        let spot = |slot, at| Spot { slot, at };
        all.add(&mut one, spot(3, 100), 8, Outcome::MediaError);
        all.add(&mut other, spot(3, 0), 50, Outcome::MediaError);
        all.add(&mut one, spot(1_000, 40), 8, Outcome::TimedOut);
        assert_eq!((all.why(one), all.why(other)), (Outcome::TimedOut, Outcome::MediaError));
        assert!(all.has(one, spot(1_000, 47), 1) && !all.has(one, spot(1_000, 48), 8));
        assert!(!all.has(one, spot(1_001, 47), 1) && !all.has(one, spot(3, 0), 100));
        let (at, count, rest) = all.first(one, spot(3, 104), 100).unwrap();
        assert_eq!((at, count), (104, 4));
        assert!(!all.has(rest, spot(3, 104), 100));
        all.clear(&mut one);
        assert!(one.is_empty() && !all.has(one, spot(3, 100), 8) && all.has(other, spot(3, 49), 9));
    }
}
