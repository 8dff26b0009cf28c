//! Members' commands that have not been handed to a drive yet, first in first out.
use super::stripe_request::Op;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot};

/// The first and the last of a chain linked through `next`.
pub struct Below {
    first: Slot,
    last: Slot,
}

impl Default for Below {
    fn default() -> Self {
        Below { first: NONE, last: NONE }
    }
}

impl Below {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == NONE
    }

    #[inline]
    pub fn push(&mut self, ops: &mut Slab<Op>, place: Slot) {
        if self.first == NONE {
            self.first = place;
        } else {
            ops.get_mut(self.last).next = place;
        }
        self.last = place;
    }

    /// Removes the first, of which there must be one.
    #[inline]
    pub fn pop(&mut self, ops: &Slab<Op>) -> Slot {
        let place = self.first;
        self.first = ops.get(place).next;
        place
    }

    /// Removes the commands for a drive: they are not to be handed over.
    pub fn drop_for(&mut self, ops: &mut Slab<Op>, drive: u16) {
        let mut at = core::mem::take(self).first;
        while at != NONE {
            let op = ops.get_mut(at);
            let (place, is_dropped) = (at, op.drive == drive);
            at = core::mem::replace(&mut op.next, NONE);
            if !is_dropped {
                self.push(ops, place);
            }
        }
    }
}
