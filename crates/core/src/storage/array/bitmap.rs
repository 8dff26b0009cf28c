//! A map of the regions that are being written, on all members: after a power cut only those need a resync
//! (drivers/md/md-bitmap.c, the write-intent bitmap). It shortens the resync; it does not close the write
//! hole.
//!
//! Before the first write to a region its bit is set on the members, before the data; some time after the
//! last write it is cleared again. While a member is missing no bit is cleared: the bits record what it will
//! lack when it comes back. A new member gets all bits at once (`md_bitmap_write_all`).
//!
//! Bits are stored in *granules*. One write of each granule is under way at a time, or an older one could
//! reach the media last; a stripe request that wants another bit of it meanwhile waits, and the next write
//! includes all bits that are wanted. A granule is written with force unit access, and members with a
//! volatile cache flush before (`md_super_write`: REQ_PREFLUSH and REQ_FUA). Before any member clears a bit,
//! all members have flushed: what was written to the region is then on all media.
use super::members::{Members, Spot};
use super::params::{ArrayParams, ConsistencyPolicy};
use super::reserved;
use super::stripe_request::{Owner, Phase};
use super::{Array, ArrayEvent};
use crate::command::Access;
use crate::data::Word;
use crate::storage::context::{Context, Event};
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

/// State of a region's bit in the write-intent bitmap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bit {
    /// No write to the region is under way or recent: after a power cut it needs no resync.
    Clear,
    /// To be set by the next write of its granule.
    Wanted,
    /// Being written.
    Setting,
    /// Set on the media: writes to the region may go on.
    Set,
    /// Being cleared.
    Clearing,
}

#[derive(Clone, Copy)]
struct Region {
    bit: Bit,
    /// Whether an event is scheduled that checks whether it can be cleared.
    is_armed: bool,
    /// Stripe requests that write to it.
    writers: u32,
    /// When the last of them was done.
    last: Instant,
}

/// Bits that are written together.
struct Granule {
    /// The stripe request that writes it.
    writer: Slot,
    /// Whether the stripe request's commands for that are planned.
    is_planned: bool,
    /// Whether it is to be written once more, for a new member.
    again: bool,
    /// Regions whose bits are wanted.
    wanted: u32,
    /// Regions whose bits are changed by the write that is under way.
    changing: Vec<u32>,
    /// Regions whose bits may be cleared by a later write.
    idle: Vec<u32>,
}

pub struct IntentBitmap {
    region: u64,
    /// Bits in a granule.
    bits: u64,
    clears_after: Span,
    regions: Vec<Region>,
    granules: Vec<Granule>,
    /// Stripe requests that wait for bits that others write.
    waiting: Vec<Slot>,
    /// Stripe requests to be re-checked.
    woken: Vec<Slot>,
}

impl IntentBitmap {
    pub fn new(params: &ArrayParams, least: u64) -> Option<Self> {
        let ConsistencyPolicy::Bitmap { region, clears_after } = params.consistency_policy else {
            return None;
        };
        let clear = Region { bit: Bit::Clear, is_armed: false, writers: 0, last: Instant::ZERO };
        let (regions, bits) = (reserved::regions(params, least), reserved::bits(params));
        let granule = || Granule {
            writer: NONE,
            is_planned: false,
            again: false,
            wanted: 0,
            changing: Vec::new(),
            idle: Vec::new(),
        };
        Some(IntentBitmap {
            region: region.get().max(1),
            bits,
            clears_after,
            regions: alloc::vec![clear; regions as usize],
            granules: (0..regions.div_ceil(bits)).map(|_| granule()).collect(),
            waiting: Vec::new(),
            woken: Vec::new(),
        })
    }

    fn granule(&mut self, region: u64) -> &mut Granule {
        &mut self.granules[(region / self.bits) as usize]
    }

    /// The regions of a granule.
    fn inside(&self, granule: usize) -> core::ops::Range<usize> {
        let first = granule * self.bits as usize;
        first..(first + self.bits as usize).min(self.regions.len())
    }

    /// A stripe request wants the bit of a region. Returns whether it is the one that must write it.
    fn want(&mut self, region: u64, stripe_request: Slot) -> bool {
        let granule = &mut self.granules[(region / self.bits) as usize];
        let bit = &mut self.regions[region as usize].bit;
        if granule.writer == NONE {
            granule.writer = stripe_request;
        }
        if granule.writer != stripe_request || granule.is_planned {
            granule.wanted += u32::from(*bit == Bit::Clear);
            *bit = Bit::Wanted;
            return false;
        }
        granule.wanted -= u32::from(*bit == Bit::Wanted);
        *bit = Bit::Setting;
        granule.changing.push(region as u32);
        true
    }

    /// The write of a granule includes all bits that are wanted.
    fn take_along(&mut self, granule: usize) {
        if self.granules[granule].wanted == 0 {
            return;
        }
        for region in self.inside(granule) {
            let bit = &mut self.regions[region].bit;
            if *bit == Bit::Wanted {
                *bit = Bit::Setting;
                self.granules[granule].changing.push(region as u32);
            }
        }
        self.granules[granule].wanted = 0;
    }

    /// A granule has been written to all members, or will not be: then its bits become wanted again.
    fn is_written(&mut self, granule: usize, is_there: bool) {
        let Granule { changing, wanted, writer, is_planned, .. } = &mut self.granules[granule];
        (*writer, *is_planned) = (NONE, false);
        for region in changing.drain(..) {
            let Region { bit, writers, .. } = &mut self.regions[region as usize];
            *bit = match *bit {
                Bit::Setting if is_there => Bit::Set,
                Bit::Setting if *writers > 0 => Bit::Wanted,
                Bit::Clearing if !is_there => Bit::Set,
                _ => Bit::Clear,
            };
            *wanted += u32::from(*bit == Bit::Wanted);
        }
    }
}

impl Array {
    /// The regions that are not clear, in the level's block numbers: the first block, the number of blocks,
    /// and the state of the bit.
    pub fn marked(&self) -> impl Iterator<Item = (u64, u64, Bit)> {
        let bitmap = self.bitmap.iter();
        bitmap.flat_map(|bitmap| {
            let all = (0..).zip(&bitmap.regions).filter(|(_, region)| region.bit != Bit::Clear);
            all.map(|(at, region)| (at * bitmap.region, bitmap.region, region.bit))
        })
    }

    /// The regions that a stripe request writes to: the first, and the one after the last.
    fn regions_of(&self, slot: Slot) -> Option<(u64, u64)> {
        let bitmap = self.bitmap.as_ref()?;
        let stripe_request = self.state.stripe_requests.get(slot);
        let claim = stripe_request.claim.filter(|claim| claim.write)?;
        if !matches!(stripe_request.owner, Owner::Request(_)) {
            return None;
        }
        Some((claim.first.get() / bitmap.region, claim.end.get().div_ceil(bitmap.region)))
    }

    /// Ensures that the bits of everything a stripe request is about to write are set. Returns whether it can
    /// continue.
    pub(crate) fn mark(&mut self, context: &mut Context, slot: Slot) -> bool {
        let Some((first, end)) = self.regions_of(slot) else { return true };
        let stripe_request = self.state.stripe_requests.get_mut(slot);
        let is_new = !core::mem::replace(&mut stripe_request.is_marked, true);
        if stripe_request.phase == Phase::Log {
            self.has_written_bits(context, slot, (first, end), true);
        }
        let (mut sets, mut waits) = (false, false);
        for at in first..end {
            let Some(bitmap) = &mut self.bitmap else { return true };
            bitmap.regions[at as usize].writers += u32::from(is_new);
            let bit = bitmap.regions[at as usize].bit;
            match bit {
                Bit::Set => {}
                Bit::Clear | Bit::Wanted if bitmap.want(at, slot) => sets = true,
                // This stripe request is between the members' flush and its own write of the bit.
                Bit::Setting if bitmap.granule(at).writer == slot => sets = true,
                Bit::Clear | Bit::Wanted | Bit::Setting | Bit::Clearing => waits = true,
            }
        }
        if sets {
            self.plan_bits(context, slot, (first, end));
        } else if waits {
            self.bitmap.iter_mut().for_each(|bitmap| bitmap.waiting.push(slot));
        }
        sets || !waits
    }

    /// Plans the writes of those granules of these regions that this stripe request must write.
    fn plan_bits(&mut self, context: &mut Context, slot: Slot, (first, end): (u64, u64)) {
        let Some(bitmap) = &self.bitmap else { return };
        let granules = (first / bitmap.bits) as usize..end.div_ceil(bitmap.bits) as usize;
        let mut is_first = true;
        for granule in granules {
            let Some(bitmap) = &mut self.bitmap else { return };
            let Granule { writer, is_planned, .. } = &mut bitmap.granules[granule];
            if *writer != slot || core::mem::replace(is_planned, true) {
                continue;
            }
            bitmap.take_along(granule);
            if core::mem::take(&mut is_first) {
                // With a new serial, so that nothing is merged with a command that it may have logged before.
                self.state.renew_serial(slot);
                self.state.plan(context, slot).flush(Phase::Read, Members::is_volatile);
            }
            self.write_bits(context, slot, granule);
        }
    }

    /// Writes a granule of the bitmap to all members.
    fn write_bits(&mut self, context: &mut Context, slot: Slot, granule: usize) {
        let at = reserved::bitmap_at(&self.state.params, granule as u64);
        for member in 0..self.state.params.members {
            if self.state.members.can_write(member) {
                let spot = Spot { slot: member, at };
                let mut plan = self.state.plan(context, slot);
                let op = plan.add(Phase::Log, Access::Write, spot, plan.granule());
                if context.enabled.data {
                    self.report_bits(context, (op, at), granule);
                }
            }
        }
    }

    /// Reports the contents of a granule.
    fn report_bits(&self, context: &mut Context, (op, at): (u64, u64), granule: usize) {
        context.add_word(op, at, Word::Bits);
        if let Some(bitmap) = &self.bitmap {
            for region in bitmap.inside(granule) {
                if matches!(bitmap.regions[region].bit, Bit::Setting | Bit::Set) {
                    context.add_word(
                        op,
                        at,
                        Word::Bit { first: region as u64 * bitmap.region, count: bitmap.region },
                    );
                }
            }
        }
    }

    /// The granules that a stripe request was writing are on all members, or will not be written.
    fn has_written_bits(
        &mut self,
        context: &mut Context,
        slot: Slot,
        (first, end): (u64, u64),
        is_there: bool,
    ) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let granules = (first / bitmap.bits) as usize..end.div_ceil(bitmap.bits) as usize;
        let mut wakes = false;
        for granule in granules.clone() {
            if bitmap.granules[granule].writer == slot {
                bitmap.is_written(granule, is_there);
                wakes = true;
            }
        }
        if wakes {
            self.wake(context);
            granules.for_each(|granule| self.clear_idle(context, granule));
        }
    }

    /// Stripe requests that wait for bits check them again.
    fn wake(&mut self, context: &mut Context) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let mut woken = core::mem::take(&mut bitmap.woken);
        core::mem::swap(&mut woken, &mut bitmap.waiting);
        for &slot in &woken {
            let stripe_request = self.state.stripe_requests.get_mut(slot);
            stripe_request.breakdown.queue += context.now - stripe_request.since;
            stripe_request.since = context.now;
            self.go_on(context, slot);
        }
        woken.clear();
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.woken = woken;
        }
    }

    /// A stripe request whose regions were marked is done.
    pub(crate) fn unmark(&mut self, context: &mut Context, slot: Slot) {
        let Some((first, end)) = self.regions_of(slot) else { return };
        for at in first..end {
            let Some(bitmap) = &mut self.bitmap else { return };
            let region = &mut bitmap.regions[at as usize];
            region.writers -= 1;
            if region.writers > 0 {
                continue;
            }
            region.last = context.now;
            // It ended before its bit was written.
            if region.bit == Bit::Wanted {
                region.bit = Bit::Clear;
                bitmap.granule(at).wanted -= 1;
                continue;
            }
            if !core::mem::replace(&mut region.is_armed, true) {
                let event = Event::Array(ArrayEvent::Unmark { region: at as u32 });
                context.agenda.schedule(context.now + bitmap.clears_after, 4, event);
            }
        }
        self.has_written_bits(context, slot, (first, end), false);
    }

    /// A region may have been without writes for long enough to clear its bit.
    pub(crate) fn clear_region(&mut self, context: &mut Context, at: u32) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let region = &mut bitmap.regions[at as usize];
        region.is_armed = false;
        // The end of the writes that are under way arms it again.
        if region.writers > 0 || region.bit != Bit::Set || self.state.members.impaired > 0 {
            return;
        }
        let due = region.last + bitmap.clears_after;
        if due > context.now {
            region.is_armed = true;
            return context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Unmark { region: at }));
        }
        let granule = (u64::from(at) / bitmap.bits) as usize;
        bitmap.granules[granule].idle.push(at);
        self.clear_idle(context, granule);
    }

    /// A member is complete again: if it was the last one missing, bits that came due meanwhile can be
    /// cleared.
    pub(crate) fn clear_what_is_due(&mut self, context: &mut Context) {
        let Some(bitmap) = self.bitmap.as_mut().filter(|_| self.state.members.impaired == 0) else {
            return;
        };
        let idle = |region: &Region| region.bit == Bit::Set && region.writers == 0 && !region.is_armed;
        for (at, region) in (0..).zip(&mut bitmap.regions).filter(|(_, region)| idle(region)) {
            region.is_armed = true;
            let due = context.now.max(region.last + bitmap.clears_after);
            context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Unmark { region: at }));
        }
    }

    /// Clears the bits of a granule that are no longer needed; while it is being written, defers that to the
    /// end of the write.
    fn clear_idle(&mut self, context: &mut Context, granule: usize) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let Granule { writer, again, changing, idle, .. } = &mut bitmap.granules[granule];
        if *writer != NONE || idle.is_empty() && !*again {
            return;
        }
        for region in idle.drain(..).filter(|_| self.state.members.impaired == 0) {
            let Region { bit, writers, .. } = &mut bitmap.regions[region as usize];
            if *bit == Bit::Set && *writers == 0 {
                *bit = Bit::Clearing;
                changing.push(region);
            }
        }
        if !core::mem::take(again) && changing.is_empty() {
            return;
        }
        let at = granule as u64;
        let slot = self.add_stripe_request(context.now, Owner::Bitmap, Access::Write, at, at + 1);
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.granules[granule].writer = slot;
            self.plan_bits(context, slot, (at * self.bits(), (at + 1) * self.bits()));
        }
        self.go_on(context, slot);
    }

    fn bits(&self) -> u64 {
        self.bitmap.as_ref().map_or(1, |bitmap| bitmap.bits)
    }

    /// A granule that the array has written on its own account is on all members.
    pub(crate) fn is_cleared(&mut self, context: &mut Context, granule: u64) {
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.is_written(granule as usize, true);
        }
        self.wake(context);
        self.clear_idle(context, granule as usize);
    }

    /// Writes all bits to a new member.
    pub(crate) fn copy_bits(&mut self, context: &mut Context) {
        for granule in 0..self.bitmap.as_ref().map_or(0, |bitmap| bitmap.granules.len()) {
            let Some(bitmap) = &mut self.bitmap else { return };
            let mut regions = bitmap.regions[bitmap.inside(granule)].iter();
            if regions.any(|region| region.bit != Bit::Clear) {
                bitmap.granules[granule].again = true;
                self.clear_idle(context, granule);
            }
        }
    }
}
