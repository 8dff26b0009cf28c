//! RAID 3 and 30: units of one sector, so that every command uses all members of a group at once.
//!
//! A command is rounded outward to whole rows. A read goes to all data members, and to the parity where one of them is
//! missing; a write goes to all, and first reads its first and its last row if it does not cover them.
use super::super::gf;
use super::Rows;
use super::band::Band;
use crate::command::{Access, Outcome};
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::Phase;

/// Whole rows of one group, and which of their addresses a command covers.
#[derive(Clone, Copy)]
struct RowRange {
    first_row: u64,
    rows: u64,
    begin: u64,
    end: u64,
}

impl Rows {
    pub(crate) fn plan_interleaved(&self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        let ((mut at, end), access) = (plan.range(), plan.access());
        let columns = self.row_data();
        let most = plan.most();
        while at < end {
            let first_row = at / columns;
            let mut end_row = end.div_ceil(columns).min(first_row + most);
            if self.groups() > 1 {
                end_row = end_row.min((first_row / self.turn() + 1) * self.turn());
            }
            let until = end.min(end_row * columns);
            let stretch = RowRange { first_row, rows: end_row - first_row, begin: at, end: until };
            if access == Access::Read {
                self.read_stretch(plan, &stretch)?;
            } else {
                self.write_stretch(plan, &stretch)?;
            }
            at = until;
        }
        Ok(())
    }

    fn read_stretch(&self, plan: &mut Plan<'_>, stretch: &RowRange) -> Result<(), Outcome> {
        let unreadable = plan.unreadable();
        let band = self.band(plan, self.row(stretch.first_row), 0, stretch.rows, unreadable);
        if self.needs_bad(plan.bad_blocks(), &band, |_| true) {
            return Err(Outcome::Lost);
        }
        plan.bring_nothing(band.rows.members());
        let units = self.bring_all(plan, &band)?;
        if band.lost > 0 {
            plan.compute(units * band.count * 512);
            self.repair_band(plan, &band, 0..0);
        }
        if plan.keeps_data() {
            let id = plan.command_id();
            for address in stretch.begin..stretch.end {
                let (column, at) = place(self, &band, stretch, address);
                self.mix_old(plan, (id, address), &band, (column, at, 1), 1);
            }
        }
        Ok(())
    }

    fn write_stretch(&self, plan: &mut Plan<'_>, stretch: &RowRange) -> Result<(), Outcome> {
        let unreadable = plan.unreadable();
        let row = self.row(stretch.first_row);
        let whole = self.band(plan, row, 0, stretch.rows, unreadable);
        if whole.gone > u32::from(self.parities()) {
            return Err(Outcome::Lost);
        }
        self.write_all(plan, &whole);
        let mut sectors = stretch.end - stretch.begin;
        let (first, last) = (stretch.first_row, stretch.first_row + stretch.rows - 1);
        let columns = self.row_data();
        for ragged in [first, last].into_iter().take(if first == last { 1 } else { 2 }) {
            if stretch.begin <= ragged * columns && stretch.end >= (ragged + 1) * columns {
                continue;
            }
            let from = ragged - first;
            let band = self.band(plan, row, from, from + 1, unreadable);
            let is_written =
                |column: u32| (stretch.begin..stretch.end).contains(&(ragged * columns + u64::from(column)));
            let bad = plan.bad_blocks();
            if self.needs_bad(bad, &band, |_| true)
                || self.would_be_lost(plan, &band, 0..band.columns(), is_written)
            {
                return Err(Outcome::Lost);
            }
            plan.bring_nothing(band.rows.members());
            sectors += self.bring_all(plan, &band)?;
            if plan.keeps_data() {
                self.mix_around(plan, stretch, ragged * columns, &band);
            }
        }
        plan.compute(sectors * 512);
        if plan.keeps_data() {
            let id = plan.command_id();
            for address in stretch.begin..stretch.end {
                let (column, at) = place(self, &whole, stretch, address);
                for (into, factor) in self.written_with(plan, &whole, column) {
                    plan.mix(into, at, Source { id, at: address, factor }, 1);
                }
            }
        }
        Ok(())
    }

    /// Writes whole rows to all members that are present, and records the commands.
    fn write_all(&self, plan: &mut Plan<'_>, band: &Band) {
        let parities = band.parities().map(|which| band.parity(which));
        plan.clear_written();
        for spot in (0..band.columns()).map(|column| band.data(column)).chain(parities) {
            let can_write = plan.members().can_write(spot.slot);
            let op = can_write.then(|| plan.add(Phase::Write, Access::Write, spot, band.count));
            plan.note_written(op);
        }
    }

    /// The commands that a data unit's sector goes into: its own and the parities', with the factors.
    fn written_with(
        &self,
        plan: &Plan<'_>,
        band: &Band,
        column: u32,
    ) -> impl Iterator<Item = (u64, u8)> + use<> {
        let parity = |which| {
            let factor = gf::factor(which, band.rows.index_of(&band.row, column));
            plan.written(band.columns() + u32::from(which)).map(|op| (op, factor))
        };
        let own = plan.written(column).map(|op| (op, 1));
        [own, parity(0)].into_iter().flatten()
    }

    /// States that a row that is written in part keeps its other contents.
    fn mix_around(&self, plan: &mut Plan<'_>, stretch: &RowRange, row_begin: u64, band: &Band) {
        for column in 0..band.columns() {
            let address = row_begin + u64::from(column);
            if (stretch.begin..stretch.end).contains(&address) {
                continue;
            }
            for (into, factor) in self.written_with(plan, band, column) {
                self.mix_old(plan, (into, band.at), band, (column, band.at, factor), 1);
            }
        }
    }
}

/// Where an address of a stretch lies: its column, and the place on the member.
fn place(rows: &Rows, band: &Band, stretch: &RowRange, address: u64) -> (u32, u64) {
    let columns = rows.row_data();
    ((address % columns) as u32, band.at + (address / columns - stretch.first_row))
}
