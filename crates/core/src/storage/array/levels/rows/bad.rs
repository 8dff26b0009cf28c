//! Rows with bad blocks: addresses that hold nothing, because a rebuild could not read what it needed.
//!
//! What the members hold at such an address is arbitrary, and parity need not fit it. So while a row has any, nothing
//! else is computed from its other units, and nothing is written back to its members. A write to a bad block computes
//! parity anew from what the members hold. Where that needs a unit that cannot be read, the write is refused, as by md
//! (drivers/md/raid5.c, `handle_failed_stripe`).
use super::Rows;
use super::band::Band;
use crate::command::{Access, Outcome};
use crate::storage::array::levels::Spot;
use crate::storage::array::plan::Planner;
use crate::storage::array::stripe_request::{Owner, StripeRequest};
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use alloc::vec::Vec;

/// A part of a band that lies in one row: the row's number, the offset in its units, and the sectors.
#[derive(Clone, Copy)]
struct Part {
    row: u64,
    offset: u64,
    count: u64,
}

impl Rows {
    /// The addresses of a part in a column: the first, and the one after the last.
    fn addresses(&self, part: Part, column: u32) -> (u64, u64) {
        let first = part.row * self.row_data() + u64::from(column) * self.unit() + part.offset;
        (first, first + part.count)
    }

    /// The parts of `count` sectors of a group's members, row by row.
    fn parts(&self, group: u64, at: u64, count: u64) -> impl Iterator<Item = Part> + '_ {
        let mut from = at;
        core::iter::from_fn(move || {
            let row = (from < at + count).then(|| self.row_at(group, from))?;
            let offset = from - self.at(row);
            let part = Part { row, offset, count: (self.unit() - offset).min(at + count - from) };
            from += part.count;
            Some(part)
        })
    }

    fn parts_of(&self, band: &Band) -> impl Iterator<Item = Part> + '_ {
        self.parts(u64::from(band.data(0).slot) / self.members(), band.at, band.count)
    }

    fn has_bad(&self, plan: &Planner, part: Part) -> bool {
        (0..self.columns()).any(|column| {
            let (first, end) = self.addresses(part, column);
            plan.defects.bad_blocks.touch(first, end)
        })
    }

    /// Whether a group has bad blocks in these sectors of its members.
    pub(super) fn has_bad_in(&self, plan: &Planner, group: u64, at: u64, count: u64) -> bool {
        !plan.defects.bad_blocks.is_empty()
            && self.parts(group, at, count).any(|part| self.has_bad(plan, part))
    }

    pub(super) fn has_bad_in_band(&self, plan: &Planner, band: &Band) -> bool {
        !plan.defects.bad_blocks.is_empty() && self.parts_of(band).any(|part| self.has_bad(plan, part))
    }

    /// Whether a band has bad blocks in other columns than those that are written completely.
    pub(super) fn keeps_bad(&self, plan: &Planner, band: &Band, is_written: impl Fn(u32) -> bool) -> bool {
        self.parts_of(band).any(|part| {
            (0..self.columns()).filter(|&column| !is_written(column)).any(|column| {
                let (first, end) = self.addresses(part, column);
                plan.defects.bad_blocks.touch(first, end)
            })
        })
    }

    /// Whether something would be computed of a row with bad blocks: an unreadable unit that is none itself, among the
    /// columns that are needed.
    pub(super) fn needs_bad(&self, plan: &Planner, band: &Band, is_needed: impl Fn(u32) -> bool) -> bool {
        let is_good = |part, column| {
            let (first, end) = self.addresses(part, column);
            !plan.defects.bad_blocks.cover(first, end)
        };
        let is_missed = |part| {
            let mut columns = (0..band.columns()).filter(|&column| !band.can_read(column));
            columns.any(|column| is_needed(column) && is_good(part, column))
        };
        band.lost > 0
            && !plan.defects.bad_blocks.is_empty()
            && self.parts_of(band).any(|part| self.has_bad(plan, part) && is_missed(part))
    }

    /// A read of bad blocks fails.
    #[inline]
    pub(super) fn check_read(&self, plan: &Planner, slot: Slot) -> Result<(), Outcome> {
        let &StripeRequest { first, end, .. } = plan.stripe_requests.get(slot);
        let is_bad = !plan.defects.bad_blocks.is_empty() && plan.defects.bad_blocks.touch(first, end);
        if is_bad { Err(Outcome::Lost) } else { Ok(()) }
    }

    /// Bad blocks that were written are good again, unless their member has failed meanwhile.
    pub(super) fn fill_bad(&self, plan: &mut Planner, slot: Slot) {
        let &StripeRequest { owner, access, outcome, first, end, .. } = plan.stripe_requests.get(slot);
        if access == Access::Write && outcome == Outcome::Done && matches!(owner, Owner::Request(_)) {
            plan.defects.bad_blocks.fill(first, end);
            for (_, first, end) in self.missing_beside_bad(plan) {
                plan.defects.bad_blocks.add(first, end);
            }
        }
    }

    /// What is missing of rows with bad blocks cannot be computed, and is lost.
    pub(super) fn lose_beside_bad(&self, plan: &mut Planner, context: &mut Context) {
        for (group, first, end) in self.missing_beside_bad(plan) {
            plan.lose_range(context, group, first, end - first);
        }
    }

    /// The addresses on missing members in rows with bad blocks, each with its group.
    fn missing_beside_bad(&self, plan: &Planner) -> Vec<(u16, u64, u64)> {
        let mut missing = Vec::new();
        if plan.members.impaired == 0 {
            return missing;
        }
        for (first, end) in plan.defects.bad_blocks.iter() {
            let mut at = first;
            while at < end {
                let cell = self.cell(at, end);
                at += cell.count;
                let row = self.row(cell.row);
                let part = Part { row: cell.row, offset: cell.offset, count: cell.count };
                let group = u64::from(self.data_of(&row, 0)) / self.members();
                for column in 0..self.columns() {
                    let spot = Spot { slot: self.data_of(&row, column), at: row.at + cell.offset };
                    if !plan.members.can_read(spot, cell.count) {
                        let (first, end) = self.addresses(part, column);
                        missing.push((group as u16, first, end));
                    }
                }
            }
        }
        missing
    }

    /// Reports as lost what a new member would have to get of rows with bad blocks in these sectors. Returns whether it
    /// is to be written all the same: parity fits what the members hold then.
    pub(super) fn may_rebuild(
        &self,
        plan: &mut Planner,
        context: &mut Context,
        spot: Spot,
        count: u64,
    ) -> bool {
        let group = u64::from(spot.slot) / self.members();
        if !self.has_bad_in(plan, group, spot.at, count) {
            return true;
        }
        let mut is_made = true;
        let parts: Vec<Part> = self.parts(group, spot.at, count).collect();
        for part in parts.into_iter().filter(|&part| self.has_bad(plan, part)).collect::<Vec<_>>() {
            let row = self.row(part.row);
            for column in (0..self.columns()).filter(|&column| self.data_of(&row, column) == spot.slot) {
                let (first, end) = self.addresses(part, column);
                is_made &= plan.defects.bad_blocks.cover(first, end);
                plan.lose_range(context, group as u16, first, end - first);
            }
        }
        is_made
    }
}
