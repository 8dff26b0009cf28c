//! Unreadable parts of a row are written back, computed from the rest.
use super::super::gf;
use super::Rows;
use super::band::Band;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;
use core::ops::Range;

impl Rows {
    /// Writes the unreadable units of a band back to their members; all data of the band are read or
    /// computed, unless the band has bad blocks. The columns in `but` are written anyway, and so is parity if there are any.
    pub(crate) fn repair_band(&self, plan: &mut Plan<'_>, band: &Band, but: Range<u32>) {
        let unreadable = plan.unreadable();
        if unreadable.is_empty() || self.has_bad_in_band(plan.bad_blocks(), band) {
            return;
        }
        for column in (0..band.columns()).filter(|column| !but.contains(column)) {
            let (spot, mut rest) = (band.data(column), unreadable);
            while let Some((at, count, others)) = plan.bad_of(rest, spot, band.count) {
                rest = others;
                let op = plan.repair(Spot { at, ..spot }, count);
                self.mix_old(plan, (op, at), band, (column, at, 1), count);
            }
        }
        for which in band.parities().filter(|_| but.is_empty()) {
            let (spot, mut rest) = (band.parity(which), unreadable);
            while let Some((at, count, others)) = plan.bad_of(rest, spot, band.count) {
                rest = others;
                let op = plan.repair(Spot { at, ..spot }, count);
                for column in 0..band.columns() {
                    let factor = gf::factor(which, band.rows.index_of(&band.row, column));
                    self.mix_old(plan, (op, at), band, (column, at, factor), count);
                }
            }
        }
    }
}
