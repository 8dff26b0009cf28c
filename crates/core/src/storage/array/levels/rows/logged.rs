//! What of a write is logged before it goes to the members: the partial parity of each band, and how much at
//! a time.
use super::Rows;
use super::band::Band;
use super::write::{ParityMethod, Touched};
use crate::data::Word;
use crate::storage::array::logs::{Logged, Logs};
use crate::storage::array::members::Spot;
use crate::storage::array::params::ArrayParams;
use crate::storage::array::plan::Plan;
use crate::storage::array::reserved;

impl Rows {
    /// A write must not need more of a log than its capacity.
    #[inline]
    pub(crate) fn cut_at_log(&self, params: &ArrayParams, logs: &Logs, at: u64, end: u64) -> u64 {
        if !logs.is_kept() {
            return end;
        }
        if logs.is_journal() {
            let room = logs.rings[0].capacity() - reserved::granule(params);
            let most = room / (self.members() * self.unit()) * self.row_data();
            return end.min(at + most);
        }
        // A write of less than a whole row may need the sum over up to a stripe unit.
        let most = reserved::largest_band(params);
        if self.unit() <= most || at.is_multiple_of(self.row_data()) && end - at >= self.row_data() {
            return end;
        }
        let offset = at % self.unit();
        end.min(at - offset + ((offset / most + 1) * most).min(self.unit()))
    }

    /// Writes the partial parity of a band to its log, unless the parity member has no valid contents there.
    pub(crate) fn write_partial_parity(
        &self,
        plan: &mut Plan<'_>,
        band: &Band,
        touched: &Touched,
        method: ParityMethod,
    ) {
        let parity = band.parity(0);
        if !plan.members().can_read(parity, band.count) {
            return;
        }
        let begins = plan.is_log_empty(parity.slot);
        let Some((record, is_open)) = plan.open_log(parity) else { return };
        if touched.is_whole(band) {
            if !is_open && plan.begin_in_log(parity, record, 0).is_none() {
                return;
            }
            let log = Spot { at: plan.description(parity.slot).1, ..parity };
            self.describe(plan, touched, method, (u64::MAX, log, record), band);
        } else {
            let mut done = 0;
            while done < band.count {
                let taken = plan.take_in_log(parity, record, band.count - done);
                let Some((op, at, count)) = taken else { return };
                let log = Spot { at, ..parity };
                let piece = Band { at: band.at + done, count, ..*band };
                self.describe(plan, touched, method, (op, log, record), &piece);
                done += count;
            }
        }
        let columns = (touched.first..touched.end).map(|column| band.data(column).slot);
        plan.join_unit(parity.slot, columns.chain([parity.slot]), begins);
    }

    /// States what a log holds of a band with this command, and what its sum is computed from.
    fn describe(
        &self,
        plan: &mut Plan<'_>,
        touched: &Touched,
        method: ParityMethod,
        (op, log, record): (u64, Spot, u64),
        band: &Band,
    ) {
        if !plan.keeps_data() {
            return;
        }
        let (of, count, is_whole) = (band.parity(0), band.count, touched.is_whole(band));
        let columns = (touched.first, touched.end);
        let (describes, description) = plan.description(of.slot);
        let logged = Logged { op, log, of, count, columns, is_whole, record };
        plan.add_word(describes, description, Word::Logged(logged));
        if is_whole {
            return;
        }
        if method == ParityMethod::ReadModifyWrite {
            self.mix_parity(plan, (op, log.at), band, 0);
        }
        // Either the data that parity loses, or those that stay.
        for column in (0..band.columns())
            .filter(|&column| touched.has(column) == (method == ParityMethod::ReadModifyWrite))
        {
            self.mix_old(plan, (op, log.at), band, (column, band.at, 1), count);
        }
    }
}
