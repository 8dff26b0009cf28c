//! Reads of levels with parity: each stripe unit from its member, or computed from all others of its row.
use super::super::layout::{Layout, Rows, Spot};
use super::super::strand::{Phase, Strand};
use super::{Array, Source};
use crate::command::{Access, Outcome};
use crate::target::context::Context;
use crate::target::tree::Slot;

impl Array {
    /// Numbers count sectors of a member over the rows of all groups.
    pub(super) fn blocks_of_rows(&self, rows: &Rows, strand: &Strand) -> Option<(bool, u64, u64)> {
        let write = strand.access == Access::Write;
        // What is read whole needs nobody else's parity.
        if !write && self.members.impaired == 0 {
            return None;
        }
        let (first, last) = (rows.cell(strand.first, strand.end), rows.cell(strand.end - 1, strand.end));
        let unit = rows.unit();
        if first.row == last.row && first.column == last.column {
            let begin = first.row * unit + first.offset;
            return Some((write, begin, begin + first.count));
        }
        Some((write, first.row * unit, (last.row + 1) * unit))
    }

    pub(super) fn plan_rows_read(&mut self, context: &mut Context<'_>, slot: Slot) -> Result<(), Outcome> {
        let strand = self.strands.get(slot);
        let (mut at, end) = (strand.first, strand.end);
        let id = self.command_id(slot);
        while at < end {
            let Layout::Rows(rows) = &self.layout else { unreachable!("the plan of rows") };
            let cell = rows.cell(at, end);
            let spot = Spot { slot: rows.data(cell.row, cell.column), at: rows.at(cell.row) + cell.offset };
            if !self.members.can_read(spot, cell.count) {
                return Err(Outcome::Lost);
            }
            let op = self.add(context, slot, Phase::Read, Access::Read, spot, cell.count);
            self.mix(context, id, at, Source { id: op, at: spot.at, factor: 1 }, cell.count);
            at += cell.count;
        }
        Ok(())
    }
}
