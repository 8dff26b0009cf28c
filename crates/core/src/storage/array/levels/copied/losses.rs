//! What levels with copies still have when members are missing, or have failed a write.
use super::{Copied, Piece};
use crate::storage::array::defects::Defects;
use crate::storage::array::levels::losses::{Runs, Units};
use crate::storage::array::members::Spot;
use crate::storage::array::members::{ALL, Members};
use crate::storage::array::report::Run;
use crate::storage::array::stripe_request::Op;
use alloc::vec::Vec;

impl Copied {
    /// From which offset on no copy of a stripe unit can be read.
    fn readable_upto(&self, chunk: u64, frontiers: &[u64]) -> u64 {
        let from = |copy| {
            let Spot { slot, at } = self.spot(&self.whole(chunk), copy);
            let frontier = frontiers[usize::from(slot)];
            if frontier == ALL { ALL } else { frontier.saturating_sub(at) }
        };
        (0..self.copies()).map(from).max().unwrap_or(0)
    }

    /// The piece that is a whole stripe unit.
    fn whole(&self, chunk: u64) -> Piece {
        Piece { chunk, offset: 0, count: self.unit() }
    }

    /// What is lost with the frontiers `after` and was not with those `before`.
    pub(crate) fn losses_between(&self, before: &[u64], after: &[u64]) -> Vec<Run> {
        let mut runs = Runs::default();
        let (members, unit) = (after.len() as u64, self.unit());
        let chunks = self.capacity() / unit;
        let at = |chunk| self.spot(&self.whole(chunk), 0).at;
        for chunk in 0..members.min(chunks) {
            let (stride, times) = (at(chunk + members) - at(chunk), (chunks - chunk).div_ceil(members));
            let units = Units { address: chunk * unit, band: members * unit, stride, unit, times };
            let from = |frontiers| self.readable_upto(chunk, frontiers);
            runs.lose(&units, from(after), from(before));
        }
        runs.joined()
    }

    /// Up to which place the others have everything that belongs on a slot.
    pub(crate) fn reach_of(&self, frontiers: &[u64], slot: u16) -> u64 {
        let chunks = 0..(self.capacity() / self.unit()).min(frontiers.len() as u64);
        let reach = |chunk| self.reach_of_chunk(chunk, frontiers, slot);
        chunks.map(reach).min().unwrap_or(ALL)
    }

    /// The first place on a slot at which a stripe unit, or one that recurs at its place in a later band, is
    /// lost.
    fn reach_of_chunk(&self, chunk: u64, frontiers: &[u64], slot: u16) -> u64 {
        let (members, unit) = (frontiers.len() as u64, self.unit());
        let from = self.readable_upto(chunk, frontiers);
        let spot = |chunk, copy| self.spot(&self.whole(chunk), copy);
        let mut here = (0..self.copies()).map(|copy| spot(chunk, copy)).filter(|spot| spot.slot == slot);
        let Some(at) = here.next().filter(|_| from < ALL).map(|spot| spot.at) else { return ALL };
        let stride = spot(chunk + members, 0).at - spot(chunk, 0).at;
        let from = if from % stride < unit { from } else { from.next_multiple_of(stride) };
        let times = (self.capacity() / unit - chunk).div_ceil(members);
        if from / stride < times { at + from } else { ALL }
    }

    /// Which parts of a write that a member failed are read from other copies from now on.
    pub(super) fn readable_elsewhere(
        &self,
        members: &Members,
        defects: &Defects,
        op: &Op,
    ) -> Vec<(u64, u64)> {
        let (slot, end, mut found, mut began) = (op.slot, op.at + op.count, Vec::new(), None);
        for at in op.at..=end {
            let has_other = at < end && self.has_other_copy(members, defects, Spot { slot, at });
            match (began, has_other) {
                (None, true) => began = Some(at),
                (Some(first), false) => {
                    began = None;
                    found.push((first, at));
                }
                _ => {}
            }
        }
        found
    }

    /// Where a failed member had the only valid copy, the addresses are lost.
    pub(super) fn only_stale_left(&self, members: &Members, defects: &Defects) -> Vec<Run> {
        let sectors = |(slot, first, end)| (first..end).map(move |at| Spot { slot, at });
        let mut runs = Runs::default();
        for spot in defects.stale().flat_map(sectors) {
            let Some((piece, _)) = self.pieces_of(spot.slot, spot.at, spot.at + 1).next() else { continue };
            if members.can_read(spot, 1) && !self.has_other_copy(members, defects, spot) {
                runs.add(piece.chunk * self.unit() + piece.offset, 1, 1, 1);
            }
        }
        runs.joined()
    }

    /// Whether a sector of a member can be read from another copy.
    fn has_other_copy(&self, members: &Members, defects: &Defects, spot: Spot) -> bool {
        let mut pieces = self.pieces_of(spot.slot, spot.at, spot.at + 1);
        pieces.any(|(piece, _)| {
            let spots = (0..self.copies()).map(|copy| (copy, self.spot(&piece, copy)));
            let mut others = spots.filter(|(_, other)| other.slot != spot.slot || other.at != spot.at);
            others
                .any(|(copy, other)| defects.is_right(members, other, 1) && !self.is_given_up(members, copy))
        })
    }
}
