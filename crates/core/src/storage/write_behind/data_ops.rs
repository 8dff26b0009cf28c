//! The data operations of a memory: which write each part of a flush comes from, and which part of a read
//! came from memory.
//!
//! A flush's data are those of the writes that memory accepted. A read that memory answers gets what memory
//! held at its arrival; so does a part of a read that the device answers, in place of what the device
//! delivers for it, which may be older. A read that is served by lines gets each part from memory, or from
//! the fetch that delivers it. What memory keeps of a read's data is a copy: the read goes on to memories
//! above, which may have newer or older contents. Data that memory gives up are named. It also reports which
//! buffers it needs (see `buffer_refs.rs`), and when one of its own commands ends.
use super::WriteBehind;
use super::buffer_refs::BufferRefs;
use super::extents::{Extent, State};
use super::pieces::{Piece, PieceChain};
use crate::data::DataOp;
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use drivelab_units::{Lba, Sectors};

/// The data operations of a memory, where they are recorded.
pub struct Data {
    pub ops: Option<VecDeque<DataOp>>,
    /// The buffers that it needs, where they are recorded.
    buffer_refs: BufferRefs,
    /// The buffer id of its next copy of a read's data.
    copied: u64,
}

impl Data {
    /// The buffers of its copies are numbered from `first_copy` on.
    pub fn new(first_copy: u64) -> Self {
        Data { ops: None, buffer_refs: BufferRefs::default(), copied: first_copy }
    }
}

impl WriteBehind {
    /// From now on data operations are recorded until [`Self::poll_data`] takes them.
    pub fn keep_data(&mut self) {
        self.data.ops.get_or_insert_default();
        self.extents.changes.keep();
        self.pieces.changes.keep();
    }

    /// The next data operation. All of them must be taken before a command is passed on or an answer given.
    #[inline]
    pub fn poll_data(&mut self) -> Option<DataOp> {
        let ops = self.data.ops.as_mut()?;
        if ops.is_empty() && !(self.extents.changes.is_empty() && self.pieces.changes.is_empty()) {
            self.data.buffer_refs.settle([&mut self.extents.changes, &mut self.pieces.changes], ops);
        }
        ops.pop_front()
    }

    /// One of its own commands is done.
    pub(super) fn end_own(&mut self, id: u64) {
        self.data.ops.iter_mut().for_each(|ops| ops.push_back(DataOp::Over { id }));
    }

    /// A part of a read gets what memory holds now, and the rest from a fetch.
    pub(super) fn give(&mut self, read: Slot, first: Lba, end: Lba, fetch: Option<u64>) {
        let Some(ops) = &mut self.data.ops else { return };
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

    /// What memory keeps of a read's data is a copy of them.
    pub(super) fn keep_copies(&mut self, slot: Slot) {
        let Some(ops) = &mut self.data.ops else { return };
        let command = self.table.get(slot).command;
        let copied = &mut self.data.copied;
        self.extents.each(command.first, command.end(), |extents, place| {
            let &Extent { first, end, state, .. } = extents.get(place);
            if state == State::Coming(slot) {
                let (kept, read) = (*copied, command.id);
                *copied += 1;
                ops.push_back(DataOp::Keep { kept, read, first, count: end - first });
                ops.push_back(DataOp::Over { id: kept });
                extents.refer(place, kept);
            }
        });
    }

    /// Earlier operations on a read's buffer no longer apply.
    pub(super) fn forget(&mut self, read: Slot) {
        let Some(ops) = &mut self.data.ops else { return };
        let command = self.table.get(read).command;
        ops.push_back(DataOp::Forget { id: command.id, first: command.first, count: command.count });
    }

    /// What memory has accepted and the device has not answered, with or without a battery: first what is
    /// under way to it, then what is newer.
    pub fn unwritten(&self) -> impl Iterator<Item = Piece> + '_ {
        self.sent().chain(self.unsent())
    }

    /// The pieces of a flush have been determined.
    pub(super) fn compose(&mut self, flush: u64, pieces: PieceChain) {
        let Some(ops) = &mut self.data.ops else { return };
        ops.extend(self.pieces.iter(pieces).map(|piece| mix(flush, piece)));
    }

    /// A read that memory answers gets what memory holds now.
    pub(super) fn read_memory(&mut self, slot: Slot) {
        if self.data.ops.is_none() {
            return;
        }
        let chain = self.held_now(slot);
        self.overlay(slot, chain);
    }

    /// Records what memory holds of a read's sectors, although the device is to answer it: for
    /// [`Self::overlay`] when it has.
    pub(super) fn remember(&mut self, slot: Slot) {
        if self.data.ops.is_some() {
            self.table.get_mut(slot).pieces = self.held_now(slot);
        }
    }

    fn held_now(&mut self, slot: Slot) -> PieceChain {
        let claim = self.table.get(slot).claim();
        let mut chain = PieceChain::EMPTY;
        for place in self.extents.touching(claim.first, claim.end) {
            let &Extent { first, end, command: write, state, .. } = self.extents.get(place);
            if matches!(state, State::Coming(_)) {
                continue;
            }
            let (first, end): (Lba, Lba) = (first.max(claim.first), end.min(claim.end));
            let count: Sectors = end - first;
            self.pieces.push(&mut chain, Piece { write, first, count });
        }
        chain
    }

    /// What memory had replaces what the device has delivered for a read.
    pub(super) fn overlay(&mut self, slot: Slot, chain: PieceChain) {
        if chain.is_empty() {
            return;
        }
        let id = self.table.get(slot).command.id;
        if let Some(ops) = &mut self.data.ops {
            for piece in self.pieces.iter(chain) {
                let Piece { first, count, .. } = piece;
                ops.push_back(DataOp::Forget { id, first, count });
                ops.push_back(mix(id, piece));
            }
        }
        self.pieces.free(chain);
    }
}

fn mix(into: u64, piece: Piece) -> DataOp {
    let Piece { write: from, first, count } = piece;
    DataOp::Mix { into, at: first, from, from_at: first, count, factor: 1 }
}
