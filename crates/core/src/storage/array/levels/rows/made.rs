//! The contents of a stripe unit, computed from what is read of the others of its row: for rebuilds and
//! resyncs.
use super::super::gf;
use super::Rows;
use super::band::Band;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::Plan;
use crate::storage::array::stripe_request::{Op, Phase};
use crate::storage::array::unreadable::UnreadableList;

impl Rows {
    /// States that a command's data are the computed contents of `count` sectors of a row from a spot on,
    /// given the last command with which a stripe request reads each member. Parity is computed from the
    /// others even where it is itself read.
    pub(crate) fn mix_made(&self, plan: &mut Plan<'_>, (into, row): (u64, u64), spot: Spot, count: u64) {
        let band = self.band_of_reads(plan, row, spot.at, count);
        let into = (into, spot.at);
        for which in band.parities().filter(|&which| band.parity(which).slot == spot.slot) {
            for column in 0..band.columns() {
                let factor = gf::factor(which, band.rows.index_of(&band.row, column));
                self.mix_old(plan, into, &band, (column, spot.at, factor), count);
            }
        }
        for column in (0..band.columns()).filter(|&column| band.data(column).slot == spot.slot) {
            self.mix_old(plan, into, &band, (column, spot.at, 1), count);
        }
    }

    /// A band whose readable units are those that a stripe request has planned to read.
    fn band_of_reads(&self, plan: &mut Plan<'_>, row: u64, at: u64, count: u64) -> Band {
        let lo = at - self.at(row);
        let mut band = self.band(plan, self.row(row), lo, lo + count, UnreadableList::NOTHING);
        (band.lost, band.readable) = (0, 0);
        plan.bring_nothing(band.rows.members());
        for column in 0..band.columns() {
            if let Some(&Op { id, .. }) = plan.last_added(band.data(column).slot, Phase::Read) {
                plan.note_brought(column, id);
                continue;
            }
            if let Some(place) = band.lost_columns.get_mut(band.lost) {
                *place = column;
            }
            band.lost += 1;
        }
        for which in band.parities() {
            if let Some(&Op { id, .. }) = plan.last_added(band.parity(which).slot, Phase::Read) {
                plan.note_brought(band.columns() + u32::from(which), id);
                band.readable |= 1 << which;
            }
        }
        band
    }
}
