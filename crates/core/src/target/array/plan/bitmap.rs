//! A map of the regions that are being written, on all members: after a power cut only those need be made consistent
//! (drivers/md/md-bitmap.c, the write-intent bitmap). It shortens the resync, and closes nothing.
//!
//! Before the first write to a region its bit is written, before the data; a while after the last one it is cleared again.
//! While a member is missing nothing is cleared: the bits tell what it will lack when it comes back.
use super::super::layout::reserved;
use super::super::params::{ArrayParams, Cure};
use super::super::strand::{Owner, Phase};
use super::super::{Array, ArrayEvent};
use crate::command::Access;
use crate::target::array::layout::Spot;
use crate::target::context::{Context, Event};
use crate::target::tree::{NONE, Slot};
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bit {
    Clear,
    /// Being written.
    Setting,
    Set,
    /// Being cleared.
    Clearing,
}

#[derive(Clone, Copy)]
struct Region {
    bit: Bit,
    /// Whether an event will look whether it can be cleared.
    is_armed: bool,
    /// The strand that sets it.
    setter: Slot,
    /// Strands that write to it.
    writers: u32,
    /// When the last of them was done.
    last: Instant,
}

pub struct Bitmap {
    region: u64,
    clears_after: Span,
    regions: Vec<Region>,
    /// Strands that wait for bits that others write.
    waiting: Vec<Slot>,
    /// Those that are looked at again.
    woken: Vec<Slot>,
}

impl Bitmap {
    pub fn new(params: &ArrayParams, least: u64) -> Option<Self> {
        let Cure::Bitmap { region, clears_after } = params.cure else { return None };
        let clear =
            Region { bit: Bit::Clear, is_armed: false, setter: NONE, writers: 0, last: Instant::ZERO };
        Some(Bitmap {
            region: region.get().max(1),
            clears_after,
            regions: alloc::vec![clear; reserved::regions(params, least) as usize],
            waiting: Vec::new(),
            woken: Vec::new(),
        })
    }
}

impl Array {
    /// The regions that are not clear, in the numbers that the level counts its blocks by: the first of its blocks, how
    /// many they are, and the state of its bit.
    pub fn marked(&self) -> impl Iterator<Item = (u64, u64, Bit)> {
        let bitmap = self.bitmap.iter();
        bitmap.flat_map(|bitmap| {
            let all = (0..).zip(&bitmap.regions).filter(|(_, region)| region.bit != Bit::Clear);
            all.map(|(at, region)| (at * bitmap.region, bitmap.region, region.bit))
        })
    }

    /// The regions that a strand writes to, from the first to before the last.
    fn regions_of(&self, slot: Slot) -> Option<(u64, u64)> {
        let bitmap = self.bitmap.as_ref()?;
        let strand = self.strands.get(slot);
        let claim = strand.claim.filter(|claim| claim.write)?;
        if !matches!(strand.owner, Owner::Request(_)) {
            return None;
        }
        Some((claim.first.get() / bitmap.region, claim.end.get().div_ceil(bitmap.region)))
    }

    /// Sees to it that the bits of all that a strand is about to write are set. Returns whether it can go on.
    pub(in super::super) fn mark(&mut self, context: &mut Context<'_>, slot: Slot) -> bool {
        let Some((first, end)) = self.regions_of(slot) else { return true };
        let strand = self.strands.get_mut(slot);
        let is_new = !core::mem::replace(&mut strand.is_marked, true);
        let has_logged = strand.phase == Phase::Log;
        let (mut sets, mut waits, mut wakes, mut last) = (false, false, false, None);
        for at in first..end {
            let Some(bitmap) = &mut self.bitmap else { return true };
            let region = &mut bitmap.regions[at as usize];
            region.writers += u32::from(is_new);
            match region.bit {
                Bit::Set => {}
                Bit::Setting if region.setter == slot => {
                    if has_logged {
                        region.bit = Bit::Set;
                        wakes = true;
                    }
                }
                Bit::Setting | Bit::Clearing => waits = true,
                Bit::Clear => {
                    (region.bit, region.setter, sets) = (Bit::Setting, slot, true);
                    let granule = reserved::bitmap_at(&self.params, at);
                    if last != Some(granule) {
                        self.write_bits(context, slot, granule);
                        last = Some(granule);
                    }
                }
            }
        }
        if waits && !sets {
            self.bitmap.iter_mut().for_each(|bitmap| bitmap.waiting.push(slot));
        }
        if wakes {
            self.wake(context);
        }
        sets || !waits
    }

    /// Writes a granule of the bitmap to all members.
    fn write_bits(&mut self, context: &mut Context<'_>, slot: Slot, at: u64) {
        // Not behind what it may have logged before.
        self.clock += 1;
        self.strands.get_mut(slot).serial = self.clock as u32;
        for member in 0..self.params.members {
            if self.members.can_write(member) {
                let spot = Spot { slot: member, at };
                self.add(context, slot, Phase::Log, Access::Write, spot, self.granule());
            }
        }
    }

    /// Strands that wait for bits look at them again.
    fn wake(&mut self, context: &mut Context<'_>) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let mut woken = core::mem::take(&mut bitmap.woken);
        core::mem::swap(&mut woken, &mut bitmap.waiting);
        for &slot in &woken {
            let strand = self.strands.get_mut(slot);
            strand.breakdown.queue += context.now - strand.since;
            strand.since = context.now;
            self.go_on(context, slot);
        }
        woken.clear();
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.woken = woken;
        }
    }

    /// A strand that had marked what it writes is done.
    pub(in super::super) fn unmark(&mut self, context: &mut Context<'_>, slot: Slot) {
        let Some((first, end)) = self.regions_of(slot) else { return };
        let mut wakes = false;
        for at in first..end {
            let Some(bitmap) = &mut self.bitmap else { return };
            let region = &mut bitmap.regions[at as usize];
            region.writers -= 1;
            // It has ended before its bit was written.
            if region.bit == Bit::Setting && region.setter == slot {
                (region.bit, wakes) = (Bit::Clear, true);
            }
            if region.writers == 0 {
                region.last = context.now;
                if !core::mem::replace(&mut region.is_armed, true) {
                    let event = Event::Array(ArrayEvent::Unmark { region: at as u32 });
                    context.agenda.schedule(context.now + bitmap.clears_after, 4, event);
                }
            }
        }
        if wakes {
            self.wake(context);
        }
    }

    /// A region may have been left alone for long enough.
    pub(in super::super) fn clear_region(&mut self, context: &mut Context<'_>, at: u32) {
        let Some(bitmap) = &mut self.bitmap else { return };
        let region = &mut bitmap.regions[at as usize];
        region.is_armed = false;
        // Whoever writes to it now arms it again.
        if region.writers > 0 || region.bit != Bit::Set || self.members.impaired > 0 {
            return;
        }
        let due = region.last + bitmap.clears_after;
        if due > context.now {
            region.is_armed = true;
            return context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Unmark { region: at }));
        }
        region.bit = Bit::Clearing;
        let at = u64::from(at);
        let slot = self.add_strand(context.now, Owner::Bitmap, Access::Write, at, at + 1);
        self.write_bits(context, slot, reserved::bitmap_at(&self.params, at));
        self.go_on(context, slot);
    }

    /// The granule without a region's bit is on all members.
    pub(in super::super) fn is_cleared(&mut self, context: &mut Context<'_>, at: u64) {
        if let Some(bitmap) = &mut self.bitmap {
            bitmap.regions[at as usize].bit = Bit::Clear;
        }
        self.wake(context);
    }
}
