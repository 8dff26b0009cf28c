//! RAID 3 and 30: units of one sector, so that every command takes all members of a group at once.
//!
//! A command is rounded outward to whole rows. A read goes to all data members, and to the parity where one of them is
//! missing; a write goes to all, and first reads its first and its last row if it does not cover them.
use super::super::gf;
use super::super::layout::Rows;
use super::super::stripe_request::Phase;
use super::row::Band;
use super::{Array, Source};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;

/// Whole rows of one group, and which of their addresses a command names.
#[derive(Clone, Copy)]
struct Stretch {
    first_row: u64,
    rows: u64,
    begin: u64,
    end: u64,
}

impl Array {
    pub(super) fn plan_interleaved(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        let stripe_request = self.stripe_requests.get(slot);
        let (mut at, end, access) = (stripe_request.first, stripe_request.end, stripe_request.access);
        let rows = self.rows();
        let columns = rows.row_data();
        let most = self.params.request.get();
        while at < end {
            let first_row = at / columns;
            let mut end_row = end.div_ceil(columns).min(first_row + most);
            if rows.groups() > 1 {
                end_row = end_row.min((first_row / rows.turn() + 1) * rows.turn());
            }
            let until = end.min(end_row * columns);
            let stretch = Stretch { first_row, rows: end_row - first_row, begin: at, end: until };
            if access == Access::Read {
                self.read_stretch(context, slot, &rows, &stretch)?;
            } else {
                self.write_stretch(context, slot, &rows, &stretch)?;
            }
            at = until;
        }
        Ok(())
    }

    fn read_stretch(
        &mut self,
        context: &mut Context,
        slot: Slot,
        rows: &Rows,
        stretch: &Stretch,
    ) -> Result<(), Outcome> {
        let avoids = self.stripe_requests.get(slot).avoids;
        let band = self.band(rows, rows.row(stretch.first_row), 0, stretch.rows, avoids);
        self.bring_nothing(&band);
        let units = self.bring_all(context, slot, &band)?;
        if band.lost > 0 {
            self.stripe_requests.get_mut(slot).computes += units * band.count * 512;
            self.repair_band(context, slot, &band, 0..0);
        }
        if context.data.is_some() {
            let id = self.command_id(slot);
            for address in stretch.begin..stretch.end {
                let (column, at) = place(rows, &band, stretch, address);
                self.mix_old(context, (id, address), &band, (column, at, 1), 1);
            }
        }
        Ok(())
    }

    fn write_stretch(
        &mut self,
        context: &mut Context,
        slot: Slot,
        rows: &Rows,
        stretch: &Stretch,
    ) -> Result<(), Outcome> {
        let avoids = self.stripe_requests.get(slot).avoids;
        let row = rows.row(stretch.first_row);
        let whole = self.band(rows, row, 0, stretch.rows, avoids);
        if whole.gone > u32::from(rows.parities()) {
            return Err(Outcome::Lost);
        }
        self.write_all(context, slot, &whole);
        let mut sectors = stretch.end - stretch.begin;
        let (first, last) = (stretch.first_row, stretch.first_row + stretch.rows - 1);
        let columns = rows.row_data();
        for ragged in [first, last].into_iter().take(if first == last { 1 } else { 2 }) {
            if stretch.begin <= ragged * columns && stretch.end >= (ragged + 1) * columns {
                continue;
            }
            let from = ragged - first;
            let band = self.band(rows, row, from, from + 1, avoids);
            self.bring_nothing(&band);
            sectors += self.bring_all(context, slot, &band)?;
            if context.data.is_some() {
                self.mix_around(context, stretch, ragged * columns, &band);
            }
        }
        self.stripe_requests.get_mut(slot).computes += sectors * 512;
        if context.data.is_some() {
            let id = self.command_id(slot);
            for address in stretch.begin..stretch.end {
                let (column, at) = place(rows, &whole, stretch, address);
                for (into, factor) in self.written_with(&whole, column) {
                    self.mix(context, into, at, Source { id, at: address, factor }, 1);
                }
            }
        }
        Ok(())
    }

    /// Writes whole rows to all members that there are, and keeps the commands in mind.
    fn write_all(&mut self, context: &mut Context, slot: Slot, band: &Band) {
        let parities = band.parities().map(|which| band.parity(which));
        self.written.clear();
        for spot in (0..band.columns()).map(|column| band.data(column)).chain(parities) {
            let op = self
                .members
                .can_write(spot.slot)
                .then(|| self.add(context, slot, Phase::Write, Access::Write, spot, band.count));
            self.written.push(op);
        }
    }

    /// The commands that a data unit's sector goes into: its own and the parity's, with the factors.
    fn written_with(&self, band: &Band, column: u32) -> impl Iterator<Item = (u64, u8)> + use<> {
        let parity = |which| {
            let factor = gf::factor(which, band.rows.index_of(&band.row, column));
            self.written[band.columns() as usize + usize::from(which)].map(|op| (op, factor))
        };
        let own = self.written[column as usize].map(|op| (op, 1));
        [own, parity(0)].into_iter().flatten()
    }

    /// Says that a row that is not written whole keeps what it has.
    fn mix_around(&self, context: &mut Context, stretch: &Stretch, row_begin: u64, band: &Band) {
        for column in 0..band.columns() {
            let address = row_begin + u64::from(column);
            if (stretch.begin..stretch.end).contains(&address) {
                continue;
            }
            for (into, factor) in self.written_with(band, column) {
                self.mix_old(context, (into, band.at), band, (column, band.at, factor), 1);
            }
        }
    }
}

/// Where an address of a stretch lies: its column, and the place on the member.
fn place(rows: &Rows, band: &Band, stretch: &Stretch, address: u64) -> (u32, u64) {
    let columns = rows.row_data();
    ((address % columns) as u32, band.at + (address / columns - stretch.first_row))
}
