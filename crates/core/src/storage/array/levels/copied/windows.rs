//! Windows of levels with copies: a rebuild reads one other copy of each piece, a resync and a scrub process
//! all copies.
use super::{Copied, Piece};
use crate::command::Access;
use crate::storage::array::background::WindowPart;
use crate::storage::array::levels::raid_level::SectorRole;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::report::SyncKind;
use crate::storage::array::stripe_request::{Op, Phase};

impl Copied {
    pub(super) fn rebuild_copies(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        for i in 0..part.job.targets.len() {
            let Some((slot, mut at)) = part.needs(plan, i) else { continue };
            while at < part.to {
                let (held, left) = self.held(Spot { slot, at });
                let count = left.min(part.to - at);
                if let SectorRole::Data { first, copy } = held {
                    let piece = self.piece(first, first + count);
                    match self.other_copy(plan, part, &piece, copy) {
                        Some(from) => {
                            self.copy(plan, from, Spot { slot, at }, count);
                        }
                        None if part.has_met_errors() => {
                            plan.lose_range(part.job.group, first, count);
                        }
                        None => {
                            let target = &mut part.job.targets[i];
                            target.until = target.until.min(at);
                            break;
                        }
                    }
                }
                at += count;
            }
        }
    }

    /// Where a piece can be read other than from the copy `but`.
    fn other_copy(&self, plan: &Plan<'_>, part: &WindowPart<'_>, piece: &Piece, but: u16) -> Option<Spot> {
        let copies = (0..self.copies()).filter(|&copy| copy != but);
        for copy in copies {
            let spot = self.spot(piece, copy);
            if part.can_read(plan, spot, piece.count) {
                return Some(spot);
            }
        }
        None
    }

    fn copy(&self, plan: &mut Plan<'_>, from: Spot, to: Spot, count: u64) {
        // Data that go to several members are read once.
        let is_read = |op: &&Op| op.at <= from.at && from.at + count <= op.at + op.count;
        let known = plan.last_added(from.slot, Phase::Read).filter(is_read).map(|op| op.id);
        let read = known.unwrap_or_else(|| plan.add(Phase::Read, Access::Read, from, count));
        let write = plan.add(Phase::Write, Access::Write, to, count);
        plan.mix(write, to.at, Source { id: read, at: from.at, factor: 1 }, count);
    }

    /// Reads every copy; a resync reads the first that is present and writes the others.
    pub(super) fn compare_copies(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>) {
        let mut at = part.at;
        while at < part.to {
            let piece = self.piece(at, part.to);
            let mut source = None;
            for copy in 0..self.copies() {
                let spot = self.spot(&piece, copy);
                if !part.can_read(plan, spot, piece.count) {
                    continue;
                }
                match (part.job.kind, source) {
                    (SyncKind::Resync, Some(from)) => {
                        self.copy(plan, from, spot, piece.count);
                    }
                    _ => {
                        plan.add(Phase::Read, Access::Read, spot, piece.count);
                        source = Some(spot);
                    }
                }
            }
            if source.is_none() && part.has_met_errors() {
                plan.lose_range(part.job.group, at, piece.count);
            }
            if let Some(from) = source {
                self.rewrite_copies(plan, part, &piece, from);
            }
            at += piece.count;
        }
    }

    /// Writes a piece back to the copies that could not deliver it.
    fn rewrite_copies(&self, plan: &mut Plan<'_>, part: &mut WindowPart<'_>, piece: &Piece, from: Spot) {
        for copy in 0..self.copies() {
            let spot = self.spot(piece, copy);
            if part.is_bad(plan, spot, piece.count)
                && let Some(&Op { id, .. }) = plan.last_added(from.slot, Phase::Read)
            {
                let write = plan.repair(spot, piece.count);
                plan.mix(write, spot.at, Source { id, at: from.at, factor: 1 }, piece.count);
            }
        }
    }
}
