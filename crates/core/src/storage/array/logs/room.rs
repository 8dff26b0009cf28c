//! Stripe requests that wait for room in a log, and what makes room for them.
use super::super::Array;
use super::super::stripe_request::Owner;
use super::WaitingRequest;
use super::ring::RecordState;
use crate::command::Access;
use crate::storage::context::Context;
use crate::storage::tree::Slot;

impl Array {
    /// Whether a stripe request that has been planned waits for room in a log.
    #[inline]
    pub(crate) fn wait_for_room(&mut self, context: &mut Context, slot: Slot) -> bool {
        let Some(ring) = self.state.logs.draft.short.take() else {
            self.state.logs.count_as_passed(slot);
            return false;
        };
        if let Some(number) = self.state.logs.leave(slot) {
            self.state.logs.rings.iter_mut().for_each(|ring| ring.take_back(number));
        }
        self.state.forget_ops(context, slot);
        self.state.renew_serial(slot);
        self.state.stripe_requests.get_mut(slot).plan.computes = 0;
        if self.state.logs.queue.scanned == slot {
            self.state.logs.draft.short = Some(ring);
            return true;
        }
        self.state.logs.queue.waiting.push_back(WaitingRequest { stripe_request: slot, ring, passed: 0 });
        self.make_room(context, ring);
        // Its own given-up records may have been in its way.
        self.admit_to_logs(context);
        true
    }

    /// Plans the stripe requests that wait for room again, as far as there is room.
    pub(crate) fn admit_to_logs(&mut self, context: &mut Context) {
        let any_volatile = self.state.members.any_volatile();
        self.state.logs.queue.again = true;
        if core::mem::replace(&mut self.state.logs.queue.is_scanning, true) {
            return;
        }
        while core::mem::take(&mut self.state.logs.queue.again) {
            self.state.logs.queue.scans += 1;
            self.state.logs.queue.has_given_up = false;
            // Those that start to wait meanwhile queue behind.
            let (mut at, count) = (0, self.state.logs.queue.waiting.len());
            for _ in 0..count {
                let WaitingRequest { stripe_request, ring, .. } = self.state.logs.queue.waiting[at];
                let is_held = at > 0 && self.state.logs.is_held();
                let short = if is_held || !self.state.logs.may_join(ring, any_volatile) {
                    Some(ring)
                } else {
                    self.replan_waiting(context, stripe_request)
                };
                if let Some(ring) = short {
                    self.state.logs.queue.waiting[at].ring = ring;
                    self.make_room(context, ring);
                    at += 1;
                } else {
                    self.state.logs.queue.waiting.remove(at);
                }
            }
        }
        self.state.logs.queue.is_scanning = false;
    }

    /// Plans a stripe request again that has waited for room. Returns the log that still has none.
    fn replan_waiting(&mut self, context: &mut Context, stripe_request: Slot) -> Option<u16> {
        let before = core::mem::replace(&mut self.state.logs.queue.scanned, stripe_request);
        self.begin(context, stripe_request);
        self.state.logs.queue.scanned = before;
        self.state.logs.draft.short.take()
    }

    /// Frees what is no longer needed of a log, because a stripe request waits for room.
    fn make_room(&mut self, context: &mut Context, ring: u16) {
        if self.state.logs.is_journal() {
            self.reclaim(context);
        } else {
            self.flush_if_idle(context, ring);
        }
    }

    /// The stripe request that had this record, if any, is done.
    pub(crate) fn leave_logs(&mut self, context: &mut Context, record: Option<u64>) {
        let Some(number) = record else {
            if self.state.logs.queue.has_given_up && self.state.logs.has_waiting() {
                self.admit_to_logs(context);
            }
            return;
        };
        if self.state.logs.is_journal() {
            self.state.logs.rings[0].set(number, RecordState::Answered);
            self.reclaim(context);
        } else {
            self.note_answered(context, number);
        }
    }

    /// One of the logs' own stripe requests is done.
    pub(crate) fn free_log(&mut self, context: &mut Context, which: u64, number: u64) {
        if self.state.logs.is_journal() {
            self.state.logs.journal.reclaims = false;
            self.state.logs.rings[0].free_below(number);
            self.reclaim(context);
        } else {
            self.state.logs.free_unit(which as u16);
        }
        self.admit_to_logs(context);
    }

    /// Begins one of the logs' own stripe requests.
    pub(crate) fn add_of_log(&mut self, context: &mut Context, which: u64, number: u64) -> Slot {
        self.add_stripe_request(context.now, Owner::Log, Access::Write, which, number)
    }
}
