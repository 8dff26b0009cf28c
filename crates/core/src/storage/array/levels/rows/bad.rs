//! Rows with bad blocks: addresses that hold nothing, because a rebuild could not read what it needed.
//!
//! What the members hold at such an address is arbitrary, and parity need not fit it. So while a row has any, nothing
//! else is computed from its other units, and nothing is written back to its members. A write to a bad block computes
//! parity anew from what the members hold. Where that needs a unit that cannot be read, the write is refused, as by md
//! (drivers/md/raid5.c, `handle_failed_stripe`).
use super::Rows;
use super::band::Band;
use crate::storage::array::background::WindowPart;
use crate::storage::array::defects::Defects;
use crate::storage::array::members::{Members, Spot};
use crate::storage::array::plan::Plan;
use crate::storage::array::stripe_request::StripeRequest;
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::context::Context;
use alloc::vec::Vec;
use core::ops::Range;

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

    fn has_bad(&self, bad: &BadBlocks, part: Part) -> bool {
        (0..self.columns()).any(|column| {
            let (first, end) = self.addresses(part, column);
            bad.touch(first, end)
        })
    }

    /// Whether a group has bad blocks in these sectors of its members.
    pub(super) fn has_bad_in(&self, bad: &BadBlocks, group: u64, at: u64, count: u64) -> bool {
        !bad.is_empty() && self.parts(group, at, count).any(|part| self.has_bad(bad, part))
    }

    pub(super) fn has_bad_in_band(&self, bad: &BadBlocks, band: &Band) -> bool {
        !bad.is_empty() && self.parts_of(band).any(|part| self.has_bad(bad, part))
    }

    /// Whether what a write puts into some of these columns could not be read again: their members cannot be read here,
    /// and nothing is computed of the band, because bad blocks stay in columns that are not written completely.
    pub(super) fn would_be_lost(
        &self,
        plan: &Plan<'_>,
        band: &Band,
        columns: Range<u32>,
        is_written: impl Fn(u32) -> bool,
    ) -> bool {
        let bad = plan.bad_blocks();
        let is_missing = |column: u32| !plan.members().can_read(band.data(column), band.count);
        let stays_bad = |part| {
            (0..self.columns()).filter(|&column| !is_written(column)).any(|column| {
                let (first, end) = self.addresses(part, column);
                bad.touch(first, end)
            })
        };
        !bad.is_empty() && columns.clone().any(is_missing) && self.parts_of(band).any(stays_bad)
    }

    /// Whether something would be computed of a row with bad blocks: an unreadable unit that is none itself, among the
    /// columns that are needed.
    pub(super) fn needs_bad(&self, bad: &BadBlocks, band: &Band, is_needed: impl Fn(u32) -> bool) -> bool {
        let is_good = |part, column| {
            let (first, end) = self.addresses(part, column);
            !bad.cover(first, end)
        };
        let is_missed = |part| {
            let mut columns = (0..band.columns()).filter(|&column| !band.can_read(column));
            columns.any(|column| is_needed(column) && is_good(part, column))
        };
        band.lost > 0
            && !bad.is_empty()
            && self.parts_of(band).any(|part| self.has_bad(bad, part) && is_missed(part))
    }

    /// The bad blocks that a stripe request has written are good again, unless their member has failed meanwhile.
    pub(super) fn fill_bad(&self, members: &Members, bad: &mut BadBlocks, stripe_request: &StripeRequest) {
        let &StripeRequest { first, end, .. } = stripe_request;
        bad.fill(first, end);
        let row = self.row_data();
        for (_, first, end) in
            self.missing_beside_bad(members, bad, first / row * row..end.next_multiple_of(row))
        {
            bad.add(first, end);
        }
    }

    /// What is missing of rows with bad blocks cannot be computed, and is lost.
    pub(super) fn lose_beside_bad(&self, members: &Members, defects: &mut Defects, context: &mut Context) {
        for (group, first, end) in self.missing_beside_bad(members, &defects.bad_blocks, 0..u64::MAX) {
            defects.lose_range(context, group, first, end - first);
        }
    }

    /// The addresses on missing members in rows that have bad blocks in this range, each with its group. A group that
    /// has lost more members than it has parities has lost these in another way.
    fn missing_beside_bad(
        &self,
        members: &Members,
        bad: &BadBlocks,
        range: Range<u64>,
    ) -> Vec<(u16, u64, u64)> {
        let mut missing = Vec::new();
        if members.impaired == 0 {
            return missing;
        }
        for (first, end) in bad.within(range.start, range.end) {
            let mut at = first;
            while at < end {
                let cell = self.cell(at, end);
                at += cell.count;
                let row = self.row(cell.row);
                let part = Part { row: cell.row, offset: cell.offset, count: cell.count };
                let group = (u64::from(self.data_of(&row, 0)) / self.members()) as u16;
                if self.slots(group).filter(|&slot| !members.can_write(slot)).count() > self.parities().into()
                {
                    continue;
                }
                for column in 0..self.columns() {
                    let spot = Spot { slot: self.data_of(&row, column), at: row.at + cell.offset };
                    if !members.can_read(spot, cell.count) {
                        let (first, end) = self.addresses(part, column);
                        missing.push((group, first, end));
                    }
                }
            }
        }
        missing
    }

    /// Writes a new member row by row where the rows have bad blocks, and reports as lost what it would have to get of
    /// these rows. A unit that is bad itself is written all the same: whatever it gets, parity is computed to fit it.
    pub(super) fn rebuild_beside_bad(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>, spot: Spot) {
        let group = u64::from(spot.slot) / self.members();
        let mut at = spot.at;
        while let Some(one) = self.parts(group, at, part.to - at).next().filter(|_| at < part.to) {
            let (from, mut is_written) = (Spot { at, ..spot }, true);
            at += one.count;
            if self.has_bad(plan.bad_blocks(), one) {
                let row = self.row(one.row);
                for column in (0..self.columns()).filter(|&column| self.data_of(&row, column) == spot.slot) {
                    let (first, end) = self.addresses(one, column);
                    is_written &= plan.bad_blocks().cover(first, end);
                    plan.lose_range(group as u16, first, end - first);
                }
            }
            if is_written {
                self.rebuild_unit(plan, part, from, one.count);
            }
        }
    }
}
