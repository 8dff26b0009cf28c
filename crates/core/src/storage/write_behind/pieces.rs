//! Which write each part of a flush comes from: a chain of pieces for each flush at the device.
use super::buffer_refs::RefChanges;
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors};

/// Part of a write, or all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The command's id.
    pub write: u64,
    /// First sector on the device.
    pub first: Lba,
    /// Sectors, at least one.
    pub count: Sectors,
}

/// The pieces of one flush, upward.
#[derive(Clone, Copy)]
pub struct PieceChain {
    first: Slot,
    last: Slot,
}

impl PieceChain {
    pub const EMPTY: PieceChain = PieceChain { first: NONE, last: NONE };

    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// All chains. Places are allocated only while more pieces are under way than ever before.
pub struct Pieces {
    pieces: Vec<(Piece, Slot)>,
    free: Vec<Slot>,
    /// Changes in the use of buffers.
    pub(super) changes: RefChanges,
}

impl Pieces {
    pub fn new() -> Self {
        Pieces { pieces: Vec::new(), free: Vec::new(), changes: RefChanges::default() }
    }

    pub fn places(&self) -> usize {
        self.pieces.len()
    }

    pub fn push(&mut self, chain: &mut PieceChain, piece: Piece) {
        self.changes.adjust(piece.write, true);
        let place = if let Some(place) = self.free.pop() {
            self.pieces[place as usize] = (piece, NONE);
            place
        } else {
            self.pieces.push((piece, NONE));
            self.pieces.len() as Slot - 1
        };
        match chain.first {
            NONE => chain.first = place,
            _ => self.pieces[chain.last as usize].1 = place,
        }
        chain.last = place;
    }

    pub fn iter(&self, chain: PieceChain) -> impl Iterator<Item = Piece> + '_ {
        let mut at = chain.first;
        core::iter::from_fn(move || {
            let &(piece, next) = self.pieces.get(at as usize)?;
            at = next;
            Some(piece)
        })
    }

    /// Frees the places of a chain.
    pub fn free(&mut self, chain: PieceChain) {
        let mut at = chain.first;
        while at != NONE {
            self.free.push(at);
            let (piece, next) = self.pieces[at as usize];
            self.changes.adjust(piece.write, false);
            at = next;
        }
    }
}
