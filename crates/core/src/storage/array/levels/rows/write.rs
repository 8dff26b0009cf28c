//! Writes of levels with parity.
//!
//! A row that is not written as a whole is cut into bands, where the set of columns written changes, rounded
//! outward to the granule of parity. The parity of each band is computed in the way that reads less, as md
//! counts for each page of a stripe (drivers/md/raid5.c, `handle_stripe_dirtying`): from the old data and the
//! old parity (read-modify-write), or from the data that are not written (reconstruct-write). Where that
//! needs something unreadable, the other way is taken, and if that does as well, everything is read and the
//! missing units are computed.
use super::super::gf;
use super::Rows;
use super::band::{Band, Reach, bands};
use crate::command::{Access, Outcome};
use crate::storage::array::members::Spot;
use crate::storage::array::params::{ConsistencyPolicy, PartialWrites};
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::Phase;

/// How the parity of a band is computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParityMethod {
    /// From the old data and the old parity.
    ReadModifyWrite,
    /// From the data that are not written.
    ReconstructWrite,
    /// From everything that can be read, after computing what is missing.
    Reconstruct,
    /// No parity member is present.
    NoParity,
}

/// The columns of a band that are written, and how.
#[derive(Clone, Copy)]
pub(crate) struct Touched {
    pub first: u32,
    pub end: u32,
    /// How many of them are written completely.
    full: u32,
    /// Sectors of new data from the host.
    new: u64,
}

impl Touched {
    fn new(reach: &Reach, lo: u64, hi: u64) -> Self {
        let (first, end) = reach.touched(lo, hi);
        let (mut full, mut new) = (end - first, u64::from(end - first) * (hi - lo));
        // Only the first and the last can be written in part.
        for column in [first, end.saturating_sub(1)].into_iter().take((end - first).min(2) as usize) {
            let (begin, until) = reach.part(column, lo, hi);
            let kept = hi - lo - (until - begin);
            if kept > 0 {
                (full, new) = (full - 1, new - kept);
            }
        }
        Touched { first, end, full, new }
    }

    pub fn count(&self) -> u32 {
        self.end - self.first
    }

    /// Whether the host writes all of a band.
    pub fn is_whole(&self, band: &Band) -> bool {
        self.full == band.columns()
    }

    pub fn has(&self, column: u32) -> bool {
        (self.first..self.end).contains(&column)
    }
}

impl Rows {
    /// A large write is cut at row boundaries: incomplete rows at its ends need old contents, whole rows in
    /// the middle do not.
    pub(crate) fn cut_at_rows(&self, at: u64, end: u64) -> u64 {
        if self.is_interleaved() {
            return end;
        }
        let row = self.row_data();
        let next = at.next_multiple_of(row);
        if at < next {
            return next.min(end);
        }
        let last = end / row * row;
        if at < last { last } else { end }
    }

    pub(crate) fn write(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let (mut at, end) = plan.range();
        plan.begin_log()?;
        while at < end {
            let row = at / self.row_data();
            let stop = end.min((row + 1) * self.row_data());
            self.write_row(plan, row, &Reach::new(self, row, at, stop))?;
            at = stop;
        }
        plan.write_journal();
        Ok(())
    }

    #[inline]
    fn write_row(&self, plan: &mut Plan<'_>, row: u64, reach: &Reach) -> Result<(), Outcome> {
        let (granule, unit) = (plan.granule(), self.unit());
        let most = plan.largest_band();
        let down = |offset: u64| offset / granule * granule;
        let up = |offset: u64| offset.next_multiple_of(granule).min(unit);
        let (begin, end) = (reach.begin, reach.end);
        // Most writes are whole granules of one column.
        if reach.first == reach.last && down(begin) == begin && up(end) == end && end - begin <= most {
            return self.write_band(plan, row, reach, (begin, end));
        }
        for band in bands([0, down(begin), up(begin), down(end), up(end), unit], most) {
            self.write_band(plan, row, reach, band)?;
        }
        Ok(())
    }

    fn write_band(
        &self,
        plan: &mut Plan<'_>,
        row: u64,
        reach: &Reach,
        (lo, hi): (u64, u64),
    ) -> Result<(), Outcome> {
        let touched = Touched::new(reach, lo, hi);
        if touched.count() == 0 {
            return Ok(());
        }
        let unreadable = plan.unreadable();
        let band = self.band(plan, self.row(row), lo, hi, unreadable);
        if band.gone > u32::from(self.parities()) {
            return Err(Outcome::Lost);
        }
        if band.lost > gf::MOST {
            return Err(plan.unreadable_outcome());
        }
        let method = self.parity_method(plan, &band, reach, &touched, lo);
        let method = self.method_beside_bad(plan, &band, reach, &touched, lo, method)?;
        plan.bring_nothing(band.rows.members());
        let units = self.bring_for(plan, &band, (reach, &touched, lo), method)?;
        if method == ParityMethod::Reconstruct {
            self.repair_band(plan, &band, touched.first..touched.end);
        }
        if method != ParityMethod::NoParity {
            plan.compute((units * band.count + touched.new) * 512);
        }
        self.write_data(plan, &band, (reach, &touched, lo), method);
        self.write_parity(plan, &band, (reach, &touched, lo), method);
        if plan.params().consistency_policy == ConsistencyPolicy::PartialParityLog {
            self.write_partial_parity(plan, &band, &touched, method);
        }
        Ok(())
    }

    /// Whether a column's unit in the band is written completely.
    fn is_full(reach: &Reach, column: u32, lo: u64, count: u64) -> bool {
        reach.part(column, lo, lo + count) == (lo, lo + count)
    }

    fn parity_method(
        &self,
        plan: &Plan<'_>,
        band: &Band,
        reach: &Reach,
        touched: &Touched,
        lo: u64,
    ) -> ParityMethod {
        if band.writable == 0 {
            return ParityMethod::NoParity;
        }
        let old = touched.count() + band.writable.count_ones();
        let rest = band.columns() - touched.full;
        let prefers_old = match plan.params().parity.partial {
            PartialWrites::Cheaper { prefers_old } => old < rest || old == rest && prefers_old,
            PartialWrites::Old => rest > 0,
            PartialWrites::Rest => false,
        };
        if band.lost == 0 && band.readable == band.writable {
            return if prefers_old { ParityMethod::ReadModifyWrite } else { ParityMethod::ReconstructWrite };
        }
        let columns = 0..band.columns();
        let can_old = band.writable & !band.readable == 0
            && columns.clone().all(|column| !touched.has(column) || band.can_read(column));
        let can_rest = columns.clone().all(|c| band.can_read(c) || Self::is_full(reach, c, lo, band.count));
        match (prefers_old, can_old, can_rest) {
            (true, true, _) | (false, true, false) => ParityMethod::ReadModifyWrite,
            (false, _, true) | (true, false, true) => ParityMethod::ReconstructWrite,
            (_, false, false) => ParityMethod::Reconstruct,
        }
    }

    /// How the parity of a band is computed where it has bad blocks.
    #[inline]
    fn method_beside_bad(
        &self,
        plan: &Plan<'_>,
        band: &Band,
        reach: &Reach,
        touched: &Touched,
        lo: u64,
        method: ParityMethod,
    ) -> Result<ParityMethod, Outcome> {
        let bad = plan.bad_blocks();
        if bad.is_empty() || !self.has_bad_in_band(bad, band) {
            return Ok(method);
        }
        let is_full = |column| Self::is_full(reach, column, lo, band.count);
        if self.would_be_lost(plan, band, touched.first..touched.end, is_full) {
            return Err(Outcome::Lost);
        }
        let fills = (touched.first..touched.end).any(|column| {
            let (begin, end) = reach.part(column, lo, lo + band.count);
            bad.touch(reach.address(column, begin), reach.address(column, end))
        });
        if fills && method != ParityMethod::NoParity {
            if (0..band.columns()).all(|column| band.can_read(column) || is_full(column)) {
                return Ok(ParityMethod::ReconstructWrite);
            }
            if self.needs_bad(bad, band, |column| !is_full(column)) {
                return Err(Outcome::Lost);
            }
        }
        let computes = method == ParityMethod::Reconstruct;
        if computes && self.needs_bad(bad, band, |column| !is_full(column)) {
            return Err(Outcome::Lost);
        }
        Ok(method)
    }

    /// Reads what the parity of a band needs. Returns the number of units.
    fn bring_for(
        &self,
        plan: &mut Plan<'_>,
        band: &Band,
        (reach, touched, lo): (&Reach, &Touched, u64),
        method: ParityMethod,
    ) -> Result<u64, Outcome> {
        let mut units = 0;
        match method {
            ParityMethod::NoParity => {}
            ParityMethod::Reconstruct => units = self.bring_all(plan, band)?,
            ParityMethod::ReadModifyWrite => {
                for column in touched.first..touched.end {
                    self.bring(plan, band, column);
                }
                for which in band.parities().filter(|which| band.writable >> which & 1 == 1) {
                    self.bring_parity(plan, band, which);
                }
                units = u64::from(touched.count() + band.writable.count_ones());
            }
            ParityMethod::ReconstructWrite if touched.is_whole(band) => {}
            ParityMethod::ReconstructWrite => {
                for column in 0..band.columns() {
                    if !Self::is_full(reach, column, lo, band.count) {
                        self.bring(plan, band, column);
                        units += 1;
                    }
                }
            }
        }
        Ok(units)
    }

    /// Writes the data units of a band that the host changes, together with the old data around its data in
    /// them.
    fn write_data(
        &self,
        plan: &mut Plan<'_>,
        band: &Band,
        (reach, touched, lo): (&Reach, &Touched, u64),
        method: ParityMethod,
    ) {
        let hi = lo + band.count;
        for column in touched.first..touched.end {
            let spot = band.data(column);
            if !plan.members().can_write(spot.slot) {
                continue;
            }
            let (begin, end) = reach.part(column, lo, hi);
            // Without parity there is no need for whole granules.
            let (from, until) = if method == ParityMethod::NoParity { (begin, end) } else { (lo, hi) };
            let spot = Spot { slot: spot.slot, at: band.at + (from - lo) };
            let op = plan.add(Phase::Write, Access::Write, spot, until - from);
            plan.note(op, spot, until - from);
            if plan.keeps_data() {
                self.mix_new(plan, (op, spot.at), (reach, column, from, until), (band, lo, 1));
            }
        }
    }

    /// States that a command's data are, between two offsets of a column's unit, what the host writes and the
    /// old data of the rest.
    fn mix_new(
        &self,
        plan: &mut Plan<'_>,
        (into, at): (u64, u64),
        (reach, column, from, until): (&Reach, u32, u64, u64),
        (band, lo, factor): (&Band, u64, u8),
    ) {
        let (begin, end) = reach.part(column, from, until);
        let (begin, end) = if begin < end { (begin, end) } else { (until, until) };
        let place = |offset| (into, at + (offset - from));
        let old = |offset| (column, band.at + (offset - lo), factor);
        self.mix_old(plan, place(from), band, old(from), begin - from);
        if begin < end {
            let id = plan.command_id();
            let host = Source { id, at: reach.address(column, begin), factor };
            plan.mix(into, at + (begin - from), host, end - begin);
        }
        self.mix_old(plan, place(end), band, old(end), until - end);
    }

    fn write_parity(
        &self,
        plan: &mut Plan<'_>,
        band: &Band,
        (reach, touched, lo): (&Reach, &Touched, u64),
        method: ParityMethod,
    ) {
        let hi = lo + band.count;
        for which in band.parities().filter(|which| band.writable >> which & 1 == 1) {
            let spot = band.parity(which);
            let op = plan.add(Phase::Write, Access::Write, spot, band.count);
            plan.note(op, spot, band.count);
            if !plan.keeps_data() {
                continue;
            }
            let factor = |column| gf::factor(which, band.rows.index_of(&band.row, column));
            if method != ParityMethod::ReadModifyWrite {
                for column in 0..band.columns() {
                    let into = (op, spot.at);
                    self.mix_new(plan, into, (reach, column, lo, hi), (band, lo, factor(column)));
                }
                continue;
            }
            self.mix_parity(plan, (op, spot.at), band, which);
            let id = plan.command_id();
            for column in touched.first..touched.end {
                let (begin, end) = reach.part(column, lo, hi);
                let (at, factor, count) = (begin - lo, factor(column), end - begin);
                self.mix_old(plan, (op, spot.at + at), band, (column, band.at + at, factor), count);
                let host = Source { id, at: reach.address(column, begin), factor };
                plan.mix(op, spot.at + at, host, count);
            }
        }
    }
}
