//! Reads at a memory: from its sectors if it has them all, otherwise from the device; fetched data are kept
//! where the parameters say so.
use super::WriteBehind;
use super::extents::{Extent, State};
use super::pieces::PieceChain;
use crate::command::Command;
use crate::storage::tree::Slot;
use drivelab_units::{Instant, Lba};

impl WriteBehind {
    pub(super) fn read(&mut self, now: Instant, slot: Slot) {
        let Command { first, .. } = self.table.get(slot).command;
        let end = self.table.get(slot).command.end();
        if let Some(params) = &self.params.read_ahead {
            self.lines.observe_read(first, end, params);
        }
        if !self.extents.covers(first, end) {
            if self.params.read_ahead.is_some() {
                self.table.get_mut(slot).waits = true;
                return self.lines.wait(slot);
            }
            if self.params.keeps_reads {
                self.reserve(slot, first, end);
            }
            self.remember(slot);
            return self.send(slot);
        }
        self.read_memory(slot);
        self.use_memory(first, end);
        self.copy(now, slot);
    }

    /// Marks what memory has of these sectors as used now.
    pub(super) fn use_memory(&mut self, first: Lba, end: Lba) {
        if !self.params.keeps_reads && self.params.read_ahead.is_none() {
            return;
        }
        let used = self.tick_clock();
        self.extents.each(first, end, |extents, slot| {
            if extents.get(slot).state == State::Clean {
                extents.set(slot, State::Clean, used);
            }
        });
    }

    /// Reserves room for those sectors of a read that memory does not have.
    pub(super) fn reserve(&mut self, slot: Slot, first: Lba, end: Lba) {
        let command = self.table.get(slot).command.id;
        let mut at = first;
        while let Some((from, to)) = self.extents.hole(at, end) {
            if !self.make_room((to - from).get()) {
                break;
            }
            let (version, age, since, tries, state) = (0, 0, Instant::ZERO, 0, State::Coming(slot));
            let extent = Extent { first: from, end: to, command, version, age, since, tries, state };
            self.extents.insert(extent);
            self.table.get_mut(slot).fills = true;
            at = to;
        }
    }

    /// The device has answered a read.
    pub(super) fn read_done(&mut self, slot: Slot, done: bool) {
        let entry = self.table.get_mut(slot);
        let (fills, pieces) = (entry.fills, core::mem::replace(&mut entry.pieces, PieceChain::EMPTY));
        self.overlay(slot, pieces);
        if fills {
            self.fill(slot, done);
        }
    }

    /// A read has fetched the data that memory reserved room for.
    pub(super) fn fill(&mut self, slot: Slot, done: bool) {
        let Command { first, .. } = self.table.get(slot).command;
        let end = self.table.get(slot).command.end();
        let used = self.tick_clock();
        if done {
            self.keep_copies(slot);
        }
        self.extents.each(first, end, |extents, place| {
            if extents.get(place).state != State::Coming(slot) {
                return;
            }
            if done {
                extents.set(place, State::Clean, used);
            } else {
                extents.remove(place);
            }
        });
    }
}
