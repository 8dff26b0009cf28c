//! What of a write is logged before it goes to the members: the partial parity of each band, and how much at
//! a time.
use super::Rows;
use super::band::Band;
use super::write::{ParityMethod, Touched};
use crate::data::Word;
use crate::storage::array::levels::Spot;
use crate::storage::array::logs::Logged;
use crate::storage::array::plan::Planner;
use crate::storage::array::stripe_request::Phase;
use crate::storage::context::Context;
use crate::storage::tree::Slot;

impl Rows {
    /// A write must not need more of a log than its capacity.
    #[inline]
    pub(crate) fn cut_at_log(&self, plan: &Planner, at: u64, end: u64) -> u64 {
        if !plan.logs.is_kept() {
            return end;
        }
        if plan.logs.is_journal() {
            let room = plan.logs.rings[0].capacity() - plan.granule();
            let most = room / (self.members() * self.unit()) * self.row_data();
            return end.min(at + most);
        }
        // A write of less than a whole row may need the sum over up to a stripe unit.
        let most = plan.largest_band();
        if self.unit() <= most || at.is_multiple_of(self.row_data()) && end - at >= self.row_data() {
            return end;
        }
        let offset = at % self.unit();
        end.min(at - offset + ((offset / most + 1) * most).min(self.unit()))
    }
}

impl Rows {
    /// Writes the partial parity of a band to its log, unless the parity member has no valid contents there.
    pub(crate) fn write_partial_parity(
        &self,
        plan: &mut Planner,
        context: &mut Context,
        slot: Slot,
        band: &Band,
        touched: &Touched,
        method: ParityMethod,
    ) {
        let parity = band.parity(0);
        if !plan.members.can_read(parity, band.count) {
            return;
        }
        let whole = touched.is_whole(band);
        let body = if whole { 0 } else { band.count };
        let is_open = plan.last.has(parity.slot, Phase::Log, plan.stripe_requests.get(slot).plan.serial);
        if !is_open && (plan.must_queue(slot) || !plan.may_join(parity.slot)) {
            return plan.logs.is_short(parity.slot);
        }
        let member = usize::from(parity.slot);
        let is_empty = plan.logs.rings[member].is_empty();
        let record = plan.logs.record(slot);
        if body == 0 {
            if !is_open && plan.begin_in_log(context, slot, parity, record, 0).is_none() {
                return plan.logs.is_short(parity.slot);
            }
            let log = Spot { at: plan.logs.draft.described[member].1, ..parity };
            self.describe(plan, context, touched, method, (u64::MAX, log, record), band);
        }
        let mut done = 0;
        while done < body {
            let goes_on = plan.goes_on_in_log(context, slot, parity, record, body - done);
            let taken = goes_on.or_else(|| plan.begin_in_log(context, slot, parity, record, body - done));
            let Some((op, at, count)) = taken else { return plan.logs.is_short(parity.slot) };
            let log = Spot { at, ..parity };
            let piece = Band { at: band.at + done, count, ..*band };
            self.describe(plan, context, touched, method, (op, log, record), &piece);
            done += count;
        }
        if plan.members.any_volatile() {
            self.join_unit(plan, band, touched, is_empty);
        }
    }

    /// States what a log holds of a band with this command, and what its sum is computed from.
    fn describe(
        &self,
        plan: &Planner,
        context: &mut Context,
        touched: &Touched,
        method: ParityMethod,
        (op, log, record): (u64, Spot, u64),
        band: &Band,
    ) {
        if !context.enabled.data {
            return;
        }
        let (of, count, is_whole) = (band.parity(0), band.count, touched.is_whole(band));
        let columns = (touched.first, touched.end);
        let (describes, description) = plan.logs.draft.described[usize::from(of.slot)];
        let logged = Logged { op, log, of, count, columns, is_whole, record };
        context.add_word(describes, description, Word::Logged(logged));
        if is_whole {
            return;
        }
        if method == ParityMethod::ReadModifyWrite {
            self.mix_parity(plan, context, (op, log.at), band, 0);
        }
        // Either the data that parity loses, or those that stay.
        for column in (0..band.columns())
            .filter(|&column| touched.has(column) == (method == ParityMethod::ReadModifyWrite))
        {
            self.mix_old(plan, context, (op, log.at), band, (column, band.at, 1), count);
        }
    }

    /// A record of a log on members with a volatile cache: notes the members that it writes to.
    fn join_unit(&self, plan: &mut Planner, band: &Band, touched: &Touched, begins: bool) {
        let scans = plan.logs.scans();
        let unit = &mut plan.logs.units[usize::from(band.parity(0).slot)];
        if begins {
            unit.began = scans;
            unit.written.clear();
        }
        let columns = (touched.first..touched.end).map(|column| band.data(column).slot);
        for slot in columns.chain([band.parity(0).slot]) {
            if !unit.written.contains(&slot) {
                unit.written.push(slot);
            }
        }
    }
}
