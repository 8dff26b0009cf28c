//! Reads of levels with parity: each stripe unit from its member, or computed from all others of its row.
//!
//! Where a unit must be computed, the row is read in bands at whose edges the set of columns asked for changes, so that
//! what a computation needs and the host wants too is read once.
use super::super::layout::{Layout, Rows, Spot};
use super::super::stripe_request::{Phase, StripeRequest};
use super::row::{Band, Reach, bands};
use super::{Array, Source};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;

impl Array {
    /// The layout of a level with parity.
    #[inline]
    pub(in super::super) fn rows(&self) -> Rows {
        let Layout::Rows(rows) = &self.layout else { unreachable!("a plan of rows") };
        *rows
    }

    /// Numbers count sectors of a member over the rows of all groups. What changes parity, or needs it, excludes all else
    /// that does; parity is changed in whole granules.
    pub(super) fn blocks_of_rows(
        &self,
        rows: &Rows,
        stripe_request: &StripeRequest,
    ) -> Option<(bool, u64, u64)> {
        let write = stripe_request.access == Access::Write;
        // What is read as it lies needs nobody else's parity.
        if !write && self.members.impaired == 0 && stripe_request.avoids.is_empty() {
            return None;
        }
        let (first, unit) = (rows.cell(stripe_request.first, stripe_request.end), rows.unit());
        // It ends in another stripe unit.
        if first.count < stripe_request.end - stripe_request.first {
            let last = rows.cell(stripe_request.end - 1, stripe_request.end);
            return Some((write, first.row * unit, (last.row + 1) * unit));
        }
        let spot =
            || Spot { slot: rows.data(first.row, first.column), at: rows.at(first.row) + first.offset };
        if !write && stripe_request.avoids.is_empty() && self.members.can_read(spot(), first.count) {
            return None;
        }
        let granule = if write { self.granule() } else { 1 };
        let begin = first.offset / granule * granule;
        let end = (first.offset + first.count).next_multiple_of(granule).min(unit);
        Some((write, first.row * unit + begin, first.row * unit + end))
    }

    pub(super) fn plan_rows_read(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let stripe_request = self.stripe_requests.get(slot);
        let (mut at, end, avoids) = (stripe_request.first, stripe_request.end, stripe_request.avoids);
        let rows = self.rows();
        if self.members.impaired == 0 && avoids.is_empty() {
            self.read_as_it_lies(context, slot, &rows);
            return Ok(());
        }
        while at < end {
            let row = at / rows.row_data();
            let stop = end.min((row + 1) * rows.row_data());
            self.read_row(context, slot, &rows, row, &Reach::new(&rows, row, at, stop))?;
            at = stop;
        }
        Ok(())
    }

    fn read_as_it_lies(&mut self, context: &mut Context, slot: Slot, rows: &Rows) {
        let stripe_request = self.stripe_requests.get(slot);
        let (mut at, end) = (stripe_request.first, stripe_request.end);
        let id = self.command_id(slot);
        let most = self.params.request.get();
        while at < end {
            let cell = rows.cell(at, end);
            let count = cell.count.min(most);
            let row = rows.row(cell.row);
            let spot = Spot { slot: rows.data_of(&row, cell.column), at: row.at + cell.offset };
            let op = self.add(context, slot, Phase::Read, Access::Read, spot, count);
            self.mix(context, id, at, Source { id: op, at: spot.at, factor: 1 }, count);
            at += count;
        }
    }

    /// Reads part of a row of which some may have to be computed.
    fn read_row(
        &mut self,
        context: &mut Context,
        slot: Slot,
        rows: &Rows,
        row: u64,
        reach: &Reach,
    ) -> Result<(), Outcome> {
        let edges = [0, reach.begin, reach.end, rows.unit()];
        for band in bands(edges, self.params.request.get()) {
            self.read_band(context, slot, rows, row, reach, band)?;
        }
        Ok(())
    }

    fn read_band(
        &mut self,
        context: &mut Context,
        slot: Slot,
        rows: &Rows,
        row: u64,
        reach: &Reach,
        (lo, hi): (u64, u64),
    ) -> Result<(), Outcome> {
        let (first, end) = reach.touched(lo, hi);
        if first == end {
            return Ok(());
        }
        let avoids = self.stripe_requests.get(slot).avoids;
        let row = rows.row(row);
        // What the units are that nobody asks for matters only when they must help out.
        let mut band = Band::whole(rows, row, lo, hi);
        self.bring_nothing(&band);
        let is_there = |column| {
            let spot = band.data(column);
            self.can_read(spot, band.count, avoids)
        };
        if !(first..end).all(is_there) {
            band = self.band(rows, row, lo, hi, avoids);
            let units = self.bring_all(context, slot, &band)?;
            self.stripe_requests.get_mut(slot).computes += units * band.count * 512;
            self.repair_band(context, slot, &band, 0..0);
        } else {
            for column in first..end {
                self.bring(context, slot, &band, column);
            }
        }
        if context.data.is_some() {
            let id = self.command_id(slot);
            for column in first..end {
                let into = (id, reach.address(column, lo));
                self.mix_old(context, into, &band, (column, band.at, 1), band.count);
            }
        }
        Ok(())
    }
}
