//! Which of the members' data are known to be invalid or unreadable.
use super::members::{Members, Spot};
use super::params::ArrayParams;
use super::report::{ReportKind, Run};
use super::unreadable::Unreadable;
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use alloc::vec::Vec;

#[derive(Default)]
pub struct Defects {
    /// The stretches that stripe requests have found unreadable.
    pub unreadable: Unreadable,
    /// By slot, or empty: the sectors whose writes failed on members that stay.
    stale: Vec<BadBlocks>,
    /// Addresses of the array that background work could not read anywhere.
    pub bad_blocks: BadBlocks,
    /// Sectors that were written back because they could not be read.
    pub repaired: u64,
}

impl Defects {
    /// Those of an array that begins: its bad blocks.
    pub fn new(params: &ArrayParams) -> Self {
        let mut defects = Defects::default();
        params.bad_blocks.iter().for_each(|&(first, end)| defects.bad_blocks.add(first, end));
        defects
    }

    /// Whether any of these sectors of a member are read from other copies, because a write to them failed.
    #[inline]
    pub fn is_stale(&self, spot: Spot, count: u64) -> bool {
        let stale = self.stale.get(usize::from(spot.slot));
        stale.is_some_and(|stale| stale.touch(spot.at, spot.at + count))
    }

    #[inline]
    pub fn has_stale(&self) -> bool {
        !self.stale.is_empty()
    }

    /// All stale stretches: the slot, the first sector, and the one after the last.
    pub fn stale(&self) -> impl Iterator<Item = (u16, u64, u64)> {
        let slots = (0..).zip(&self.stale);
        slots.flat_map(|(slot, stale)| stale.iter().map(move |(first, end)| (slot, first, end)))
    }

    /// A write of these sectors failed on a member that stays; the array has `members` of them.
    pub fn make_stale(&mut self, members: u16, slot: u16, (first, end): (u64, u64)) {
        self.stale.resize_with(usize::from(members), BadBlocks::default);
        self.stale[usize::from(slot)].add(first, end);
    }

    /// Whether a member is present and its data in the `count` sectors from a spot on are valid.
    #[inline]
    pub fn is_right(&self, members: &Members, spot: Spot, count: u64) -> bool {
        members.can_read(spot, count) && !self.is_stale(spot, count)
    }

    /// These addresses are lost, because sectors could not be read; reported for a group of members.
    pub fn lose_range(&mut self, context: &mut Context, group: u16, first: u64, count: u64) {
        if !self.bad_blocks.cover(first, first + count) {
            self.bad_blocks.add(first, first + count);
            context.report_array(group, ReportKind::Lost(Run::once(first, count)));
        }
    }
}
