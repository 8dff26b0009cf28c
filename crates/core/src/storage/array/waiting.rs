//! Stripe requests that wait for another one that has their blocks, in a chain at that one.
use super::stripe_request::StripeRequest;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot};

/// A stripe request waits until another one is done.
pub fn wait_behind(stripe_requests: &mut Slab<StripeRequest>, blocker: Slot, slot: Slot) {
    let held = core::mem::replace(&mut stripe_requests.get_mut(blocker).held, slot);
    stripe_requests.get_mut(slot).next_held = held;
}

/// Those that nothing blocks any more, and that are not re-checked yet.
pub struct Released {
    /// The first of a chain through `next_held`.
    released: Slot,
    /// Whether a re-check of them is under way.
    releases: bool,
}

impl Default for Released {
    fn default() -> Self {
        Released { released: NONE, releases: false }
    }
}

impl Released {
    /// Releases all of a chain. Returns whether the caller is to re-check them: not while a re-check is under
    /// way already.
    pub fn release(&mut self, stripe_requests: &mut Slab<StripeRequest>, held: Slot) -> bool {
        let mut last = held;
        while last != NONE {
            let next = &mut stripe_requests.get_mut(last).next_held;
            last = *next;
            if last == NONE {
                *next = self.released;
                self.released = held;
            }
        }
        !core::mem::replace(&mut self.releases, true)
    }

    /// The next one to re-check; `None` ends the re-check.
    pub fn next(&mut self, stripe_requests: &mut Slab<StripeRequest>) -> Option<Slot> {
        let slot = self.released;
        self.releases = slot != NONE;
        if !self.releases {
            return None;
        }
        self.released = core::mem::replace(&mut stripe_requests.get_mut(slot).next_held, NONE);
        Some(slot)
    }
}
