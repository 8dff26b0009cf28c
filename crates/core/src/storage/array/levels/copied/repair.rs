//! What could not be read from one copy is written back from another.
use super::{Copied, Piece};
use crate::storage::array::members::Spot;
use crate::storage::array::plan::{Plan, Source};

impl Copied {
    /// Writes a piece back to the copies that could not deliver it, from the one read at `from` by the
    /// command `read`.
    pub(crate) fn repair_copies(&self, plan: &mut Plan<'_>, piece: &Piece, (read, from): (u64, Spot)) {
        let unreadable = plan.unreadable();
        for copy in (0..self.copies()).filter(|_| !unreadable.is_empty()) {
            let spot = self.spot(piece, copy);
            if !plan.is_right(spot, piece.count) || self.is_given_up(plan.members(), copy) {
                continue;
            }
            let mut rest = unreadable;
            while let Some((at, count, others)) = plan.first_unreadable(rest, spot, piece.count) {
                rest = others;
                let op = plan.repair(Spot { at, ..spot }, count);
                let source = Source { id: read, at: from.at + (at - spot.at), factor: 1 };
                plan.mix(op, at, source, count);
            }
        }
    }
}
