//! Reads of levels with parity: each stripe unit is read from its member, or computed from all others of its
//! row.
//!
//! Where a unit must be computed, the row is read in bands, cut where the set of requested columns changes,
//! so that a unit that both the computation and the host need is read once.
use super::Rows;
use super::band::{Band, Reach, bands};
use crate::command::{Access, Outcome};
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::{Phase, StripeRequest};

impl Rows {
    /// Block numbers count sectors of a member over the rows of all groups. Whatever changes parity, or needs
    /// it, excludes everything else that changes it; parity is changed in whole granules.
    pub(crate) fn claim_of_rows(
        &self,
        members: &Members,
        granule: u64,
        stripe_request: &StripeRequest,
    ) -> Option<(bool, u64, u64)> {
        let write = stripe_request.access == Access::Write;
        // A read of data only, with nothing unreadable, does not depend on parity.
        if !write && members.impaired == 0 && stripe_request.unreadable.is_empty() {
            return None;
        }
        let (first, unit) = (self.cell(stripe_request.first, stripe_request.end), self.unit());
        // It ends in another stripe unit.
        if first.count < stripe_request.end - stripe_request.first {
            let last = self.cell(stripe_request.end - 1, stripe_request.end);
            return Some((write, first.row * unit, (last.row + 1) * unit));
        }
        let spot =
            || Spot { slot: self.data(first.row, first.column), at: self.at(first.row) + first.offset };
        if !write && stripe_request.unreadable.is_empty() && members.can_read(spot(), first.count) {
            return None;
        }
        let granule = if write { granule } else { 1 };
        let begin = first.offset / granule * granule;
        let end = (first.offset + first.count).next_multiple_of(granule).min(unit);
        Some((write, first.row * unit + begin, first.row * unit + end))
    }

    pub(crate) fn read(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let (mut at, end) = plan.range();
        if plan.members().impaired == 0 && plan.unreadable().is_empty() {
            self.read_as_it_lies(plan);
            return Ok(());
        }
        while at < end {
            let row = at / self.row_data();
            let stop = end.min((row + 1) * self.row_data());
            self.read_row(plan, row, &Reach::new(self, row, at, stop))?;
            at = stop;
        }
        Ok(())
    }

    fn read_as_it_lies(&self, plan: &mut Plan<'_>) {
        let (mut at, end) = plan.range();
        let id = plan.command_id();
        let most = plan.most();
        while at < end {
            let cell = self.cell(at, end);
            let count = cell.count.min(most);
            let row = self.row(cell.row);
            let spot = Spot { slot: self.data_of(&row, cell.column), at: row.at + cell.offset };
            let op = plan.add(Phase::Read, Access::Read, spot, count);
            plan.mix(id, at, Source { id: op, at: spot.at, factor: 1 }, count);
            at += count;
        }
    }

    /// Reads a part of a row of which some units may have to be computed.
    fn read_row(&self, plan: &mut Plan<'_>, row: u64, reach: &Reach) -> Result<(), Outcome> {
        let edges = [0, reach.begin, reach.end, self.unit()];
        for band in bands(edges, plan.most()) {
            self.read_band(plan, row, reach, band)?;
        }
        Ok(())
    }

    fn read_band(
        &self,
        plan: &mut Plan<'_>,
        row: u64,
        reach: &Reach,
        (lo, hi): (u64, u64),
    ) -> Result<(), Outcome> {
        let (first, end) = reach.touched(lo, hi);
        if first == end {
            return Ok(());
        }
        let unreadable = plan.unreadable();
        let row = self.row(row);
        // The state of the units that are not requested matters only when they are needed for a computation.
        let mut band = Band::whole(self, row, lo, hi);
        plan.bring_nothing(band.rows.members());
        let is_there = |column| {
            let spot = band.data(column);
            plan.can_read(spot, band.count)
        };
        if !(first..end).all(is_there) {
            band = self.band(plan, row, lo, hi, unreadable);
            if self.needs_bad(plan.bad_blocks(), &band, |column| (first..end).contains(&column)) {
                return Err(Outcome::Lost);
            }
            let units = self.bring_all(plan, &band)?;
            plan.compute(units * band.count * 512);
            self.repair_band(plan, &band, 0..0);
        } else {
            for column in first..end {
                self.bring(plan, &band, column);
            }
        }
        if plan.keeps_data() {
            let id = plan.command_id();
            for column in first..end {
                let into = (id, reach.address(column, lo));
                self.mix_old(plan, into, &band, (column, band.at, 1), band.count);
            }
        }
        Ok(())
    }
}
