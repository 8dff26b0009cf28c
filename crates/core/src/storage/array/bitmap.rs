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
use super::plan::Plan;
use super::reserved;
use super::state::ArrayState;
use super::stripe_request::{Owner, Phase, StripeRequest};
use crate::command::Access;
use crate::data::Word;
use crate::storage::context::Context;
use crate::storage::events::{ArrayEvent, Event};
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use core::ops::Range;
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
    pub fn note_written(&mut self, granule: usize, is_there: bool) {
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

    /// The regions that are not clear, in the level's block numbers: the first block, the number of blocks,
    /// and the state of the bit.
    pub fn marked(&self) -> impl Iterator<Item = (u64, u64, Bit)> {
        let all = (0..).zip(&self.regions).filter(|(_, region)| region.bit != Bit::Clear);
        all.map(|(at, region)| (at * self.region, self.region, region.bit))
    }

    /// The regions that a stripe request writes to: the first, and the one after the last.
    pub fn regions_of(&self, stripe_request: &StripeRequest) -> Option<(u64, u64)> {
        let claim = stripe_request.claim.filter(|claim| claim.write)?;
        if !matches!(stripe_request.owner, Owner::Request(_)) {
            return None;
        }
        Some((claim.first.get() / self.region, claim.end.get().div_ceil(self.region)))
    }

    /// The granules that have bits of these regions.
    fn granules_of(&self, (first, end): (u64, u64)) -> Range<usize> {
        (first / self.bits) as usize..end.div_ceil(self.bits) as usize
    }

    /// Wants the bits of these regions for a stripe request, which `is_new` counts as their writer. Returns
    /// whether it must write some of them itself, and whether it must wait for others.
    pub fn want_all(&mut self, (first, end): (u64, u64), slot: Slot, is_new: bool) -> (bool, bool) {
        let (mut sets, mut waits) = (false, false);
        for at in first..end {
            let region = &mut self.regions[at as usize];
            region.writers += u32::from(is_new);
            let bit = region.bit;
            match bit {
                Bit::Set => {}
                Bit::Clear | Bit::Wanted if self.want(at, slot) => sets = true,
                // This stripe request is between the members' flush and its own write of the bit.
                Bit::Setting if self.granule(at).writer == slot => sets = true,
                Bit::Clear | Bit::Wanted | Bit::Setting | Bit::Clearing => waits = true,
            }
        }
        if waits && !sets {
            self.waiting.push(slot);
        }
        (sets, waits)
    }

    /// Plans the writes of those granules of these regions that a stripe request must write.
    pub fn plan(&mut self, state: &mut ArrayState, context: &mut Context, slot: Slot, regions: (u64, u64)) {
        let mut is_first = true;
        for granule in self.granules_of(regions) {
            let Granule { writer, is_planned, .. } = &mut self.granules[granule];
            if *writer != slot || core::mem::replace(is_planned, true) {
                continue;
            }
            self.take_along(granule);
            if core::mem::take(&mut is_first) {
                // With a new serial, so that nothing is merged with a command that it may have logged before.
                state.renew_serial(slot);
                Plan::new(state, context, slot).flush(Phase::Read, Members::is_volatile);
            }
            self.write(&mut Plan::new(state, context, slot), granule);
        }
    }

    /// Writes a granule to all members.
    fn write(&self, plan: &mut Plan<'_>, granule: usize) {
        let at = reserved::bitmap_at(plan.params(), granule as u64);
        for member in 0..plan.params().members {
            if plan.members().can_write(member) {
                let op = plan.add(Phase::Log, Access::Write, Spot { slot: member, at }, plan.granule());
                if plan.keeps_data() {
                    self.describe(plan, (op, at), granule);
                }
            }
        }
    }

    /// States the contents of a granule.
    fn describe(&self, plan: &mut Plan<'_>, (op, at): (u64, u64), granule: usize) {
        plan.add_word(op, at, Word::Bits);
        for region in self.inside(granule) {
            if matches!(self.regions[region].bit, Bit::Setting | Bit::Set) {
                let first = region as u64 * self.region;
                plan.add_word(op, at, Word::Bit { first, count: self.region });
            }
        }
    }

    /// The granules that a stripe request was writing are on all members, or will not be written. Returns
    /// them all, if it was writing any.
    pub fn end_writes(&mut self, slot: Slot, regions: (u64, u64), is_there: bool) -> Option<Range<usize>> {
        let granules = self.granules_of(regions);
        let mut wakes = false;
        for granule in granules.clone() {
            if self.granules[granule].writer == slot {
                self.note_written(granule, is_there);
                wakes = true;
            }
        }
        wakes.then_some(granules)
    }

    /// A stripe request that wrote to these regions is done.
    pub fn drop_writer(&mut self, context: &mut Context, (first, end): (u64, u64)) {
        for at in first..end {
            let region = &mut self.regions[at as usize];
            region.writers -= 1;
            if region.writers > 0 {
                continue;
            }
            region.last = context.now;
            // It ended before its bit was written.
            if region.bit == Bit::Wanted {
                region.bit = Bit::Clear;
                self.granule(at).wanted -= 1;
                continue;
            }
            if !core::mem::replace(&mut region.is_armed, true) {
                let event = Event::Array(ArrayEvent::Unmark { region: at as u32 });
                context.agenda.schedule(context.now + self.clears_after, 4, event);
            }
        }
    }

    /// Whether a region has been without writes for long enough to clear its bit. Returns its granule.
    pub fn fall_idle(&mut self, context: &mut Context, at: u32, is_impaired: bool) -> Option<usize> {
        let region = &mut self.regions[at as usize];
        region.is_armed = false;
        // The end of the writes that are under way arms it again.
        if region.writers > 0 || region.bit != Bit::Set || is_impaired {
            return None;
        }
        let due = region.last + self.clears_after;
        if due > context.now {
            region.is_armed = true;
            context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Unmark { region: at }));
            return None;
        }
        let granule = (u64::from(at) / self.bits) as usize;
        self.granules[granule].idle.push(at);
        Some(granule)
    }

    /// No member is missing any more: bits that came due meanwhile can be cleared.
    pub fn clear_what_is_due(&mut self, context: &mut Context) {
        let idle = |region: &Region| region.bit == Bit::Set && region.writers == 0 && !region.is_armed;
        for (at, region) in (0..).zip(&mut self.regions).filter(|(_, region)| idle(region)) {
            region.is_armed = true;
            let due = context.now.max(region.last + self.clears_after);
            context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Unmark { region: at }));
        }
    }

    /// Takes the bits of a granule that are no longer needed into its next write; while it is being written,
    /// that is left to the end of the write. Returns whether the granule is to be written.
    pub fn take_idle(&mut self, granule: usize, is_impaired: bool) -> bool {
        let Granule { writer, again, changing, idle, .. } = &mut self.granules[granule];
        if *writer != NONE || idle.is_empty() && !*again {
            return false;
        }
        for region in idle.drain(..).filter(|_| !is_impaired) {
            let Region { bit, writers, .. } = &mut self.regions[region as usize];
            if *bit == Bit::Set && *writers == 0 {
                *bit = Bit::Clearing;
                changing.push(region);
            }
        }
        core::mem::take(again) || !changing.is_empty()
    }

    /// A stripe request of the array's own writes a granule. Returns the granule's regions.
    pub fn begin_write(&mut self, granule: usize, slot: Slot) -> (u64, u64) {
        self.granules[granule].writer = slot;
        (granule as u64 * self.bits, (granule as u64 + 1) * self.bits)
    }

    /// Each granule with a bit that is not clear is written once more, for a new member. Returns the next
    /// such granule, from one on.
    pub fn next_to_copy(&mut self, from: usize) -> Option<usize> {
        let is_used = |region: &Region| region.bit != Bit::Clear;
        let mut granules = from..self.granules.len();
        let found = granules.find(|&granule| self.regions[self.inside(granule)].iter().any(is_used))?;
        self.granules[found].again = true;
        Some(found)
    }

    /// Takes the stripe requests that wait for bits, to be put back once they are re-checked.
    pub fn take_waiting(&mut self) -> Vec<Slot> {
        let mut woken = core::mem::take(&mut self.woken);
        core::mem::swap(&mut woken, &mut self.waiting);
        woken
    }

    /// Those that were taken have been re-checked: keeps their memory.
    pub fn put_back(&mut self, mut woken: Vec<Slot>) {
        woken.clear();
        self.woken = woken;
    }
}
