//! Writes of levels with parity.
use super::super::layout::Rows;
use super::Array;
use crate::command::Outcome;
use crate::target::context::Context;
use crate::target::tree::Slot;

impl Array {
    /// A large write is cut where whole rows begin and end: its ends need what is already there, its middle does not.
    pub(super) fn cut_at_rows(rows: &Rows, at: u64, end: u64) -> u64 {
        let row = rows.row_data();
        let (next, last) = (at.next_multiple_of(row), end / row * row);
        if at < next && next < end {
            next
        } else if at < last {
            last
        } else {
            end
        }
    }

    pub(super) fn plan_rows_write(&mut self, _context: &mut Context<'_>, _slot: Slot) -> Result<(), Outcome> {
        todo!("writes with parity")
    }
}
