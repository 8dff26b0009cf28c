//! RAID-Z: records are read and written whole.
//!
//! A read takes all data of each record that it touches, because the record's checksum covers them; parity is read only
//! in place of what is missing. A write of a part reads the record first. Each write puts the whole record, data and
//! parity, at a new place, so no write leaves parity that does not fit its data. Not modelled: blocks of metadata, the
//! intent log, transaction groups, which collect writes for seconds, and reads that go on over the gaps that parity leaves
//! between neighbouring records (the drives read on over those).
//! Source: OpenZFS, vdev_raidz.c.
use super::super::gf;
use super::super::layout::raidz::{Column, Map};
use super::super::layout::{Layout, RaidZ, Spot};
use super::super::stripe_request::{Owner, Phase, StripeRequest};
use super::raidz_sums::Solved;
use super::{Array, Avoids, Source};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;

/// A record as it lies on the members, and who reads it.
pub(in super::super) struct Old {
    pub place: u64,
    /// By column: the command that reads it.
    pub(super) ops: [u64; Map::COLUMNS_MAX],
    /// What parity is read for.
    pub(super) solved: Solved,
}

/// The part of a record that a host's command covers.
#[derive(Clone, Copy)]
struct Part {
    id: u64,
    /// The array's address of the record.
    record_at: u64,
    /// In the record.
    first: u64,
    end: u64,
}

/// A stretch of a column.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub column: usize,
    pub offset: u64,
    pub count: u64,
}

impl Old {
    pub(super) fn at(place: u64) -> Self {
        Old { place, ops: [0; Map::COLUMNS_MAX], solved: Solved::default() }
    }
}

impl Array {
    pub(in super::super) fn pool(&self) -> &RaidZ {
        let Layout::RaidZ(pool) = &self.layout else { unreachable!("the plan of records") };
        pool
    }

    pub(in super::super) fn pool_mut(&mut self) -> &mut RaidZ {
        let Layout::RaidZ(pool) = &mut self.layout else { unreachable!("the plan of records") };
        pool
    }

    /// Numbers count records. Readers keep a record from being moved under them.
    pub(super) fn blocks_of_records(pool: &RaidZ, stripe_request: &StripeRequest) -> (bool, u64, u64) {
        let record = pool.record();
        (
            stripe_request.access == Access::Write,
            stripe_request.first / record,
            (stripe_request.end - 1) / record + 1,
        )
    }

    /// A write is cut where whole records begin and end: its ends need what is already there. There must be room for all of
    /// a part.
    pub(super) fn cut_at_records(pool: &RaidZ, at: u64, end: u64) -> u64 {
        let end = end.min((at / pool.record() + pool.most_at_once()) * pool.record());
        let (next, last) = (at.next_multiple_of(pool.record()), end / pool.record() * pool.record());
        if at < next && next < end {
            next
        } else if at < last {
            last
        } else {
            end
        }
    }

    /// What a stripe request covers of the record at an address.
    fn part(&self, slot: Slot, at: u64) -> Part {
        let (StripeRequest { end, .. }, record) = (*self.stripe_requests.get(slot), self.pool().record());
        let (record_at, first) = (at / record * record, at % record);
        Part { id: self.command_id(slot), record_at, first, end: (end - record_at).min(record) }
    }

    /// A pool with more members missing than it has parities is given up whole, as OpenZFS does.
    fn is_pool_lost(&self) -> bool {
        self.members.impaired > 0 && self.members.missing() > self.pool().map().parities().into()
    }

    pub(super) fn plan_raidz_read(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        if self.is_pool_lost() {
            return Err(Outcome::Lost);
        }
        let StripeRequest { first, end, .. } = *self.stripe_requests.get(slot);
        if self.bad_blocks.touch(first, end) {
            return Err(Outcome::Lost);
        }
        let mut at = first;
        while at < end {
            let part = self.part(slot, at);
            let place = self.pool().place(part.record_at / self.pool().record());
            let old = self.read_record(context, slot, place)?;
            self.repair_record(context, slot, &old);
            if context.data.is_some() {
                let map = *self.pool().map();
                for column in usize::from(map.parities())..map.columns() {
                    let begins = map.begins(column);
                    let stretch = self.stretch(column, part.first, part.end);
                    let into_at = part.record_at + begins + stretch.offset;
                    self.mix_old_record(context, (part.id, into_at), &old, stretch, 1);
                }
            }
            at = part.record_at + part.end;
        }
        Ok(())
    }

    pub(super) fn plan_raidz_write(&mut self, context: &mut Context, slot: Slot) -> Result<(), Outcome> {
        if self.is_pool_lost() {
            return Err(Outcome::Lost);
        }
        let StripeRequest { first, end, .. } = *self.stripe_requests.get(slot);
        let mut at = first;
        while at < end {
            let part = self.part(slot, at);
            let size = self.pool().record();
            let record = part.record_at / size;
            let old = if part.end - part.first < size {
                if self.bad_blocks.touch(part.record_at, part.record_at + size) {
                    return Err(Outcome::Lost);
                }
                Some(self.read_record(context, slot, self.pool().place(record))?)
            } else {
                None
            };
            let place = self.pool_mut().take(slot, record);
            self.write_record(context, slot, place, &part, old.as_ref());
            self.stripe_requests.get_mut(slot).computes += size * 512;
            at = part.record_at + part.end;
        }
        Ok(())
    }

    /// A stripe request has ended: see [`RaidZ::settle`]. What it has written may have lost too many members on the way,
    /// or come to too few of those that are there now.
    pub(in super::super) fn settle_records(&mut self, slot: Slot) {
        if !matches!(self.layout, Layout::RaidZ(_)) {
            return;
        }
        let StripeRequest { owner, access, outcome, .. } = *self.stripe_requests.get(slot);
        if owner == Owner::Sync {
            return self.pool_mut().unpin(slot);
        }
        if access != Access::Write {
            return;
        }
        let is_lost =
            self.is_pool_lost() || self.pool().targets(slot).any(|place| self.is_record_lost(place));
        if is_lost {
            self.stripe_requests.get_mut(slot).outcome = Outcome::Lost;
        }
        let is_written = !is_lost && outcome == Outcome::Done;
        // A window may have found them lost where they lay while they were on their way.
        if is_written && !self.bad_blocks.is_empty() {
            let StripeRequest { first, end, .. } = *self.stripe_requests.get(slot);
            let record = self.pool().record();
            self.bad_blocks.fill(first / record * record, end.next_multiple_of(record));
        }
        self.pool_mut().settle(slot, is_written);
    }

    /// Whom a stripe request must wait for although nobody has its records: see [`RaidZ::keeper_of_places`], and for a
    /// window [`Array::writer_in`].
    pub(in super::super) fn keeper(&mut self, slot: Slot) -> Option<Slot> {
        let Layout::RaidZ(pool) = &mut self.layout else { return None };
        let StripeRequest { owner, access, first, end, .. } = *self.stripe_requests.get(slot);
        // It may be planned anew.
        if owner == Owner::Sync {
            pool.unpin(slot);
            return self.writer_in(slot);
        }
        if access != Access::Write {
            return None;
        }
        pool.settle(slot, false);
        pool.keeper_of_places(end.div_ceil(pool.record()) - first / pool.record())
    }

    /// Whether a column of what lies at a place can be read: on a new member, if it was gone over there already, or written
    /// since that member came.
    pub(in super::super) fn can_read_column(&self, place: u64, column: &Column) -> bool {
        self.members.can_read(column.spot(), column.count)
            || self.members.can_write(column.slot) && self.pool().births().knows(place, column.slot)
    }

    /// The same for a stripe request that has met what cannot be read.
    fn can_read_column_now(&self, place: u64, column: &Column, avoids: Avoids) -> bool {
        !self.unreadable.has(avoids, column.spot(), column.count) && self.can_read_column(place, column)
    }

    /// Whether more columns of what lies at a place are gone than it has parities.
    pub(in super::super) fn is_record_lost(&self, place: u64) -> bool {
        let (pool, map) = (self.pool(), self.pool().map());
        if self.members.impaired <= map.parities().into() {
            return false;
        }
        let columns = (0..map.columns()).map(|index| pool.column(place, index));
        columns.filter(|column| !self.can_read_column(place, column)).count() > map.parities().into()
    }

    /// Reads all data of a record, and parity in place of what is missing.
    fn read_record(&mut self, context: &mut Context, slot: Slot, place: u64) -> Result<Old, Outcome> {
        let avoids = self.stripe_requests.get(slot).avoids;
        let map = *self.pool().map();
        let parities = usize::from(map.parities());
        let mut old = Old::at(place);
        for index in parities..map.columns() {
            let column = self.pool().column(place, index);
            if self.can_read_column_now(place, &column, avoids) {
                old.ops[index] =
                    self.add(context, slot, Phase::Read, Access::Read, column.spot(), column.count);
            } else if !old.solved.wants(index) {
                return Err(self.gone(avoids));
            }
        }
        for index in 0..parities {
            let column = self.pool().column(place, index);
            if !old.solved.is_short() {
                break;
            }
            if self.can_read_column_now(place, &column, avoids) {
                old.ops[index] =
                    self.add(context, slot, Phase::Read, Access::Read, column.spot(), column.count);
                old.solved.has(index);
            }
        }
        if old.solved.is_short() {
            return Err(self.gone(avoids));
        }
        if context.data.is_some() {
            old.solved.solve(map.columns());
        }
        Ok(old)
    }

    /// Writes all columns of a record to the members that there are.
    fn write_record(
        &mut self,
        context: &mut Context,
        slot: Slot,
        place: u64,
        part: &Part,
        old: Option<&Old>,
    ) {
        let map = *self.pool().map();
        let parities = usize::from(map.parities());
        for index in 0..map.columns() {
            let column = self.pool().column(place, index);
            if !self.members.can_write(column.slot) {
                continue;
            }
            let op = self.add(context, slot, Phase::Write, Access::Write, column.spot(), column.count);
            if context.data.is_none() {
                continue;
            }
            if index >= parities {
                self.mix_new_record(context, (op, column.at), index, part, old, 1);
                continue;
            }
            for data in parities..map.columns() {
                let factor = Solved::factor(index, data, map.columns());
                self.mix_new_record(context, (op, column.at), data, part, old, factor);
            }
        }
        for spot in self.pool().padding(place) {
            self.write_padding(context, slot, spot);
        }
    }

    /// What rounding leaves over behind a record is written along with what lies before it, so that records that follow
    /// each other on a member are one command: with the gap the drive would lose a turn at each.
    fn write_padding(&mut self, context: &mut Context, slot: Slot, spot: Spot) {
        let before = self.last_added(slot, spot.slot, Phase::Write);
        if before.is_some_and(|op| op.at + op.count == spot.at) {
            self.add(context, slot, Phase::Write, Access::Write, spot, self.pool().map().sector());
        }
    }

    /// What lies of a column between two places of the record.
    pub(super) fn stretch(&self, column: usize, first: u64, end: u64) -> Stretch {
        let map = self.pool().map();
        let (begins, count) = (map.begins(column), map.column(0, column).count);
        let (first, end) = (first.clamp(begins, begins + count), end.clamp(begins, begins + count));
        Stretch { column, offset: first - begins, count: end - first }
    }

    /// What a column will hold, times a factor: the host's data, and around them what was there.
    fn mix_new_record(
        &self,
        context: &mut Context,
        (into, into_at): (u64, u64),
        column: usize,
        part: &Part,
        old: Option<&Old>,
        factor: u8,
    ) {
        let begins = self.pool().map().begins(column);
        let Stretch { offset, count, .. } = self.stretch(column, part.first, part.end);
        if count > 0 {
            let from = Source { id: part.id, at: part.record_at + begins + offset, factor };
            self.mix(context, into, into_at + offset, from, count);
        }
        let Some(old) = old else { return };
        let size = self.pool().record();
        for (first, end) in [(0, part.first), (part.end, size)] {
            let stretch = self.stretch(column, first, end);
            self.mix_old_record(context, (into, into_at + stretch.offset), old, stretch, factor);
        }
    }

    /// What was read of a column, times a factor: from its member, or computed from all others and parity.
    pub(super) fn mix_old_record(
        &self,
        context: &mut Context,
        (into, into_at): (u64, u64),
        old: &Old,
        Stretch { column, offset, count }: Stretch,
        factor: u8,
    ) {
        if count == 0 {
            return;
        }
        let pool = self.pool();
        let mut add = |from: usize, factor: u8| {
            let Column { at, count: all, .. } = pool.column(old.place, from);
            // A column may be a row shorter than the one that is missing.
            let count = count.min(all.saturating_sub(offset));
            if count > 0 && factor != 0 {
                let from = Source { id: old.ops[from], at: at + offset, factor };
                self.mix(context, into, into_at, from, count);
            }
        };
        if old.solved.has_data(column) {
            return add(column, factor);
        }
        for from in 0..pool.map().columns() {
            let share =
                old.solved.share(column, from, usize::from(pool.map().parities()), pool.map().columns());
            add(from, gf::mul(share, factor));
        }
    }
}
