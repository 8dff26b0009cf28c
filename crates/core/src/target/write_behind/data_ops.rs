//! The data operations of a memory: what each part of a read that is served by lines has from memory, and what from the
//! fetch that brings the rest.
use super::{State, WriteBehind};
use crate::data::DataOp;
use crate::target::tree::Slot;
use drivelab_units::Lba;

impl WriteBehind {
    /// From now on data operations are kept until [`Self::poll_data`] takes them.
    pub fn keep_data(&mut self) {
        self.ops.get_or_insert_default();
    }

    /// The next data operation. All of them are to be taken before a command is handed on or an answer given.
    #[inline]
    pub fn poll_data(&mut self) -> Option<DataOp> {
        self.ops.as_mut()?.pop_front()
    }

    /// Part of a read gets what memory holds now, and the rest from a fetch.
    pub(super) fn give(&mut self, read: Slot, first: Lba, end: Lba, fetch: Option<u64>) {
        let Some(ops) = &mut self.ops else { return };
        let into = self.table.get(read).command.id;
        let mut mix = |from: Option<u64>, at: Lba, end: Lba| {
            if let Some(from) = from
                && at < end
            {
                ops.push_back(DataOp::Mix { into, at, from, from_at: at, count: end - at, factor: 1 });
            }
        };
        let mut at = first;
        for slot in self.extents.touching(first, end) {
            let extent = self.extents.get(slot);
            if matches!(extent.state, State::Coming(_)) {
                continue;
            }
            let (begins, ends) = (extent.first.max(first), extent.end.min(end));
            mix(fetch, at, begins);
            mix(Some(extent.command), begins, ends);
            at = ends;
        }
        mix(fetch, at, end);
    }

    /// A read gets nothing of all that.
    pub(super) fn forget(&mut self, read: Slot) {
        let Some(ops) = &mut self.ops else { return };
        let command = self.table.get(read).command;
        ops.push_back(DataOp::Forget { id: command.id, first: command.first, count: command.count });
    }
}
