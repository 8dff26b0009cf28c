//! What a read could not get from one member and has had from the others is written back to that member, whose drive then
//! gives the sectors another place.
//!
//! The host hears of its read when that is done, as with md's mirrors, which repair before they read again, and with
//! OpenZFS, whose read waits for the writes that it has caused; md's levels with parity answer as soon as the data are
//! computed. What is written back is all that the failed command asked for of the place; md finds the sectors that are
//! bad page by page, and reads each again once it is written. Stripe requests that repair have their blocks to
//! themselves, or a newer write could come between what they read and what they write. Sources: the Linux kernel,
//! drivers/md/raid1.c and raid10.c (`fix_read_error`), raid5.c (`R5_ReWrite`); OpenZFS, vdev_mirror.c and vdev_raidz.c
//! ("self-healing").
use super::super::gf;
use super::super::layout::{Copied, Layout, Piece, Spot};
use super::super::stripe_request::Phase;
use super::raidz::{Old, Stretch};
use super::raidz_sums::Solved;
use super::row::Band;
use super::{Array, Source};
use crate::command::Access;
use crate::storage::context::Context;
use crate::storage::tree::Slot;
use core::ops::Range;

impl Array {
    /// Sectors that could not be read, and that have been written back since the run began.
    pub fn repaired(&self) -> u64 {
        self.repaired
    }

    /// Adds a write of what could not be read. Returns its id.
    pub(in super::super) fn repair(&mut self, stripe_request: Slot, spot: Spot, count: u64) -> u64 {
        let id = self.add_to(stripe_request, Phase::Write, (Access::Write, true), spot, count);
        let (_, place) = self.last.0[usize::from(spot.slot)][Phase::Write as usize];
        self.ops.get_mut(place).repairs += count as u32;
        id
    }

    /// Writes a piece back to the copies that could not give it, from the one that is read at `from` by the command `read`.
    pub(super) fn repair_copies(
        &mut self,
        context: &mut Context,
        stripe_request: Slot,
        copied: &Copied,
        piece: &Piece,
        (read, from): (u64, Spot),
    ) {
        let avoids = self.stripe_requests.get(stripe_request).avoids;
        for copy in (0..copied.copies()).filter(|_| !avoids.is_empty()) {
            let spot = copied.spot(piece, copy);
            if !self.is_right(spot, piece.count) || self.is_given_up(copied, copy) {
                continue;
            }
            let mut rest = avoids;
            while let Some((at, count, others)) = self.unreadable.first(rest, spot, piece.count) {
                rest = others;
                let op = self.repair(stripe_request, Spot { at, ..spot }, count);
                let source = Source { id: read, at: from.at + (at - spot.at), factor: 1 };
                self.mix(context, op, at, source, count);
            }
        }
    }

    /// Writes what could not be read of a band back to its members; all data of the band are read or computed. The columns
    /// `but` are written anyway, and so is parity if there are any.
    pub(super) fn repair_band(
        &mut self,
        context: &mut Context,
        stripe_request: Slot,
        band: &Band,
        but: Range<u32>,
    ) {
        let avoids = self.stripe_requests.get(stripe_request).avoids;
        if avoids.is_empty() {
            return;
        }
        for column in (0..band.columns()).filter(|column| !but.contains(column)) {
            let (spot, mut rest) = (band.data(column), avoids);
            while let Some((at, count, others)) = self.bad_of(rest, spot, band.count) {
                rest = others;
                let op = self.repair(stripe_request, Spot { at, ..spot }, count);
                self.mix_old(context, (op, at), band, (column, at, 1), count);
            }
        }
        for which in band.parities().filter(|_| but.is_empty()) {
            let (spot, mut rest) = (band.parity(which), avoids);
            while let Some((at, count, others)) = self.bad_of(rest, spot, band.count) {
                rest = others;
                let op = self.repair(stripe_request, Spot { at, ..spot }, count);
                for column in 0..band.columns() {
                    let factor = gf::factor(which, band.rows.index_of(&band.row, column));
                    self.mix_old(context, (op, at), band, (column, at, factor), count);
                }
            }
        }
    }

    /// The first stretch of a spot on a member that is there that a stripe request has met as unreadable, and the rest of
    /// what it has met.
    fn bad_of(&self, avoids: super::Avoids, spot: Spot, count: u64) -> Option<(u64, u64, super::Avoids)> {
        self.unreadable.first(avoids, spot, count).filter(|_| self.members.can_read(spot, count))
    }

    /// Writes what could not be read of a record back to where it lies.
    pub(super) fn repair_record(&mut self, context: &mut Context, stripe_request: Slot, old: &Old) {
        let avoids = self.stripe_requests.get(stripe_request).avoids;
        let Layout::RaidZ(pool) = &self.layout else { return };
        let map = *pool.map();
        let parities = usize::from(map.parities());
        let column = |index| map.column(old.place * map.taken(), index);
        for index in (0..map.columns()).filter(|_| !avoids.is_empty()) {
            let (spot, whole, mut rest) = (column(index).spot(), column(index).count, avoids);
            while let Some((at, count, others)) = self.bad_of(rest, spot, whole) {
                rest = others;
                let (op, offset) = (self.repair(stripe_request, Spot { at, ..spot }, count), at - spot.at);
                if index >= parities {
                    let stretch = Stretch { column: index, offset, count };
                    self.mix_old_record(context, (op, at), old, stretch, 1);
                    continue;
                }
                for data in parities..map.columns() {
                    // A column may be a row shorter than its parity.
                    let count = count.min(column(data).count.saturating_sub(offset));
                    let factor = Solved::factor(index, data, map.columns());
                    self.mix_old_record(
                        context,
                        (op, at),
                        old,
                        Stretch { column: data, offset, count },
                        factor,
                    );
                }
            }
        }
    }
}
