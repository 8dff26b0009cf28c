//! Stripe requests and the write-intent bitmap: one waits until the bits of its regions are set, and others
//! write the bits.
use super::Array;
use super::bitmap::{Bit, IntentBitmap};
use super::stripe_request::{Owner, Phase};
use crate::command::Access;
use crate::storage::context::Context;
use crate::storage::tree::Slot;

impl Array {
    /// The regions that are not clear, in the level's block numbers: the first block, the number of blocks,
    /// and the state of the bit.
    pub fn marked(&self) -> impl Iterator<Item = (u64, u64, Bit)> {
        self.bitmap.iter().flat_map(IntentBitmap::marked)
    }

    /// Ensures that the bits of everything a stripe request is about to write are set. Returns whether it can
    /// continue.
    pub(crate) fn mark(&mut self, context: &mut Context, slot: Slot) -> bool {
        let Some(bitmap) = &self.bitmap else { return true };
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        let Some(regions) = bitmap.regions_of(stripe_request) else { return true };
        let is_new = !core::mem::replace(&mut stripe_request.is_marked, true);
        if stripe_request.phase == Phase::Log {
            self.end_bits(context, slot, regions, true);
        }
        let Some(bitmap) = &mut self.bitmap else { return true };
        let (sets, waits) = bitmap.want_all(regions, slot, is_new);
        if sets {
            bitmap.plan(&mut self.state, context, slot, regions);
        }
        sets || !waits
    }

    /// The granules that a stripe request was writing are on all members, or will not be written.
    fn end_bits(&mut self, context: &mut Context, slot: Slot, regions: (u64, u64), is_there: bool) {
        let Some(bitmap) = &mut self.bitmap else { return };
        if let Some(granules) = bitmap.end_writes(slot, regions, is_there) {
            self.wake_waiting(context);
            granules.for_each(|granule| self.clear_idle(context, granule));
        }
    }

    /// Stripe requests that wait for bits check them again.
    fn wake_waiting(&mut self, context: &mut Context) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let woken = bitmap.take_waiting();
        for &slot in &woken {
            let stripe_request = self.state.stripe_requests.get_mut(slot);
            stripe_request.breakdown.queue += context.now - stripe_request.since;
            stripe_request.since = context.now;
            self.go_on(context, slot);
        }
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.put_back(woken);
        }
    }

    /// A stripe request whose regions were marked is done.
    pub(crate) fn unmark(&mut self, context: &mut Context, slot: Slot) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let Some(regions) = bitmap.regions_of(self.state.stripe_requests.get(slot)) else { return };
        bitmap.drop_writer(context, regions);
        self.end_bits(context, slot, regions, false);
    }

    /// A region may have been without writes for long enough to clear its bit.
    pub(crate) fn clear_region(&mut self, context: &mut Context, at: u32) {
        let is_impaired = self.state.members.impaired > 0;
        let bitmap = self.bitmap.as_mut();
        if let Some(granule) = bitmap.and_then(|bitmap| bitmap.fall_idle(context, at, is_impaired)) {
            self.clear_idle(context, granule);
        }
    }

    /// Writes a granule again if bits of it are no longer needed, or a new member lacks it.
    fn clear_idle(&mut self, context: &mut Context, granule: usize) {
        let is_impaired = self.state.members.impaired > 0;
        if !self.bitmap.as_mut().is_some_and(|bitmap| bitmap.take_idle(granule, is_impaired)) {
            return;
        }
        let at = granule as u64;
        let slot = self.add_stripe_request(context.now, Owner::Bitmap, Access::Write, at, at + 1);
        if let Some(bitmap) = &mut self.bitmap {
            let regions = bitmap.begin_write(granule, slot);
            bitmap.plan(&mut self.state, context, slot, regions);
        }
        self.go_on(context, slot);
    }

    /// A granule that the array has written on its own account is on all members.
    pub(crate) fn end_granule(&mut self, context: &mut Context, granule: usize) {
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.note_written(granule, true);
        }
        self.wake_waiting(context);
        self.clear_idle(context, granule);
    }

    /// Writes all bits to a new member.
    pub(crate) fn copy_bits(&mut self, context: &mut Context) {
        let mut from = 0;
        while let Some(granule) = self.bitmap.as_mut().and_then(|bitmap| bitmap.next_to_copy(from)) {
            self.clear_idle(context, granule);
            from = granule + 1;
        }
    }
}
