//! The commands for the units of a row: by column, then by parity.
use super::Plan;
use super::planning::UNREAD;

impl Plan<'_> {
    /// Marks all units of a row of so many members as not read.
    #[inline]
    pub fn bring_nothing(&mut self, members: u64) {
        self.state.planning.units.read[..members as usize].fill(UNREAD);
    }

    /// Notes the command that reads a unit.
    #[inline]
    pub fn note_brought(&mut self, place: u32, id: u64) {
        self.state.planning.units.read[place as usize] = id;
    }

    /// The command that reads a unit.
    #[inline]
    pub fn brought(&self, place: u32) -> Option<u64> {
        Some(self.state.planning.units.read[place as usize]).filter(|&id| id != UNREAD)
    }

    /// Forgets which commands write the units of a row.
    pub fn clear_written(&mut self) {
        self.state.planning.units.written.clear();
    }

    /// Notes the command that writes the next unit, if any does.
    pub fn note_written(&mut self, op: Option<u64>) {
        self.state.planning.units.written.push(op);
    }

    /// The command that writes a unit, if any does.
    pub fn written(&self, place: u32) -> Option<u64> {
        self.state.planning.units.written[place as usize]
    }
}
