//! What a read could not get from one member and got from the others is written back to that member, whose
//! drive then reallocates the sectors.
//!
//! The host gets its answer after that, as with md's mirrors, which repair before they read again, and with
//! OpenZFS, whose read waits for the writes that it has caused; md's levels with parity answer as soon as the
//! data are computed. All sectors of the failed command at that place are written back; md determines the bad
//! sectors page by page, and reads each again once it is written. Stripe requests that repair hold their
//! blocks exclusively, or a newer write could come between what they read and what they write. Sources: the
//! Linux kernel, drivers/md/raid1.c and raid10.c (`fix_read_error`), raid5.c (`R5_ReWrite`); OpenZFS,
//! vdev_mirror.c and vdev_raidz.c ("self-healing").
use super::{Planner, Source};
use crate::command::{Access, Outcome};
use crate::storage::array::errors::is_unread;
use crate::storage::array::levels::Spot;
use crate::storage::array::stripe_request::{Op, Owner, Phase, StripeRequest};
use crate::storage::array::unreadable::UnreadableList;
use crate::storage::context::Context;
use crate::storage::tree::{NONE, Slot};

impl Planner {
    /// Adds a write-back of what could not be read. Returns its id.
    pub(crate) fn repair(&mut self, stripe_request: Slot, spot: Spot, count: u64) -> u64 {
        let id = self.add_to(stripe_request, Phase::Write, (Access::Write, true), spot, count);
        let (_, place) = self.last.0[usize::from(spot.slot)][Phase::Write as usize];
        self.ops.get_mut(place).repairs += count as u32;
        id
    }

    /// The first unreadable stretch in a stripe request's list that is in these sectors of a present member,
    /// and the rest of the list.
    pub(crate) fn bad_of(
        &self,
        unreadable: UnreadableList,
        spot: Spot,
        count: u64,
    ) -> Option<(u64, u64, UnreadableList)> {
        self.defects.unreadable.first(unreadable, spot, count).filter(|_| self.members.can_read(spot, count))
    }

    /// The first of several copies that were read has answered: the host gets its data.
    pub(crate) fn first_answer(&self, context: &mut Context, op: &Op) {
        let StripeRequest { first, .. } = *self.stripe_requests.get(op.stripe_request);
        let (id, from) = (self.command_id(op.stripe_request), Source { id: op.id, at: op.at, factor: 1 });
        self.mix(context, id, first, from, op.count);
    }

    /// Whether a failed read has no consequence, because another copy has answered or may still do so.
    pub(crate) fn is_not_missed(&mut self, op: &Op, outcome: Outcome) -> bool {
        let stripe_request = self.stripe_requests.get_mut(op.stripe_request);
        if stripe_request.owner == Owner::Request(NONE) {
            if is_unread(outcome) {
                self.defects.unreadable.add(&mut stripe_request.unreadable, op.spot(), op.count, outcome);
            }
            // There is something to write back whose data this plan has not read: it is planned anew.
            stripe_request.plan.is_spoilt = !stripe_request.unreadable.is_empty();
            return true;
        }
        if !stripe_request.plan.takes_first || stripe_request.pending == 0 {
            return false;
        }
        if is_unread(outcome) {
            self.defects.unreadable.add(&mut stripe_request.unreadable, op.spot(), op.count, outcome);
        }
        true
    }
}
