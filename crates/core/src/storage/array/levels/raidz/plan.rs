//! RAID-Z: records are read and written as a whole.
//!
//! A read takes all data of each record that it touches, because the record's checksum covers them; parity is
//! read only in place of missing columns. A write of a part reads the record first. Each write puts the whole
//! record, data and parity, at a new place, so no write leaves parity that does not match its data. Not
//! modelled: blocks of metadata, the intent log, transaction groups, which collect writes for seconds, and
//! reads that continue over the gaps that parity leaves between adjacent records (the drives' read-ahead
//! covers those).
//! Source: OpenZFS, vdev_raidz.c.
use super::super::gf;
use super::RaidZ;
use super::map::{Column, Map};
use super::sums::Solved;
use crate::command::{Access, Outcome};
use crate::storage::array::background::SyncJob;
use crate::storage::array::members::Members;
use crate::storage::array::members::Spot;
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::{Owner, Phase, StripeRequest};
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::tree::Slot;
use core::ops::Range;

/// A record at its current place, and the commands that read it.
pub(crate) struct Old {
    pub place: u64,
    /// By column: the command that reads it.
    pub(crate) ops: [u64; Map::COLUMNS_MAX],
    /// The missing columns that parity is read for.
    pub(crate) solved: Solved,
}

/// The part of a record that a host's command covers.
#[derive(Clone, Copy)]
struct Covered {
    id: u64,
    /// The array's address of the record.
    record_at: u64,
    /// Offsets in the record.
    first: u64,
    end: u64,
}

/// A stretch of a column.
#[derive(Clone, Copy)]
pub(crate) struct ColumnPart {
    pub column: usize,
    pub offset: u64,
    pub count: u64,
}

impl Old {
    pub(crate) fn at(place: u64) -> Self {
        Old { place, ops: [0; Map::COLUMNS_MAX], solved: Solved::default() }
    }
}

impl RaidZ {
    /// A write is cut at record boundaries: an incomplete record at either end needs its old contents. Each
    /// part must find enough free places.
    pub(crate) fn cut_at_records(&self, at: u64, end: u64) -> u64 {
        let end = end.min((at / self.record() + self.most_at_once()) * self.record());
        let (next, last) = (at.next_multiple_of(self.record()), end / self.record() * self.record());
        if at < next && next < end {
            next
        } else if at < last {
            last
        } else {
            end
        }
    }

    /// The part of the record at an address that a stripe request covers.
    fn covered(&self, plan: &Plan<'_>, at: u64) -> Covered {
        let ((_, end), record) = (plan.range(), self.record());
        let (record_at, first) = (at / record * record, at % record);
        Covered { id: plan.command_id(), record_at, first, end: (end - record_at).min(record) }
    }

    /// A pool with more members missing than it has parities is given up as a whole, as OpenZFS does.
    fn is_pool_lost(&self, members: &Members) -> bool {
        members.impaired > 0 && members.missing() > self.map().parities().into()
    }

    pub(crate) fn read(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        if self.is_pool_lost(plan.members()) {
            return Err(Outcome::Lost);
        }
        let (mut at, end) = plan.range();
        while at < end {
            let part = self.covered(plan, at);
            let place = self.place(part.record_at / self.record());
            let old = self.read_record(plan, place)?;
            self.repair_record(plan, &old);
            if plan.keeps_data() {
                let map = *self.map();
                for column in usize::from(map.parities())..map.columns() {
                    let begins = map.begins(column);
                    let stretch = self.part_of(column, part.first, part.end);
                    let into_at = part.record_at + begins + stretch.offset;
                    self.mix_old_record(plan, (part.id, into_at), &old, stretch, 1);
                }
            }
            at = part.record_at + part.end;
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, plan: &mut Plan<'_>) -> Result<(), Outcome> {
        if self.is_pool_lost(plan.members()) {
            return Err(Outcome::Lost);
        }
        let (first, end) = plan.range();
        let mut at = first;
        while at < end {
            let part = self.covered(plan, at);
            let size = self.record();
            let record = part.record_at / size;
            let old = if part.end - part.first < size {
                if plan.touches_bad_blocks(part.record_at, part.record_at + size) {
                    return Err(Outcome::Lost);
                }
                Some(self.read_record(plan, self.place(record))?)
            } else {
                None
            };
            let place = self.take(plan.slot(), record);
            self.write_record(plan, place, &part, old.as_ref());
            plan.compute(size * 512);
            at = part.record_at + part.end;
        }
        Ok(())
    }

    /// A stripe request has ended: see [`RaidZ::settle`]. During its write too many members may have failed,
    /// or too few of those present now may have received it.
    pub(crate) fn settle_records(
        &mut self,
        members: &Members,
        bad_blocks: &mut BadBlocks,
        slot: Slot,
        stripe_request: &mut StripeRequest,
    ) {
        let StripeRequest { owner, access, first, end, outcome, .. } = *stripe_request;
        if owner == Owner::Background {
            return self.unpin(slot);
        }
        if access != Access::Write {
            return;
        }
        let is_lost =
            self.is_pool_lost(members) || self.targets(slot).any(|place| self.is_record_lost(members, place));
        if is_lost {
            stripe_request.outcome = Outcome::Lost;
        }
        let is_written = !is_lost && outcome == Outcome::Done;
        // A window may have found the records lost at their old places while they were being written to new
        // ones.
        if is_written && !bad_blocks.is_empty() {
            let record = self.record();
            bad_blocks.fill(first / record * record, end.next_multiple_of(record));
        }
        self.settle(slot, is_written);
    }

    /// The stripe request that another one must wait for although nobody has its records: see
    /// [`RaidZ::blocker_of_places`], and for a window [`RaidZ::writer_in`].
    pub(crate) fn blocker(
        &mut self,
        members: &Members,
        (slot, stripe_request): (Slot, &StripeRequest),
        window: Option<(&SyncJob, Range<u64>)>,
    ) -> Option<Slot> {
        let StripeRequest { owner, access, first, end, .. } = *stripe_request;
        // This may be a re-plan.
        if owner == Owner::Background {
            self.unpin(slot);
            let (job, places) = window?;
            return self.writer_in(members, job, places);
        }
        if access != Access::Write {
            return None;
        }
        self.settle(slot, false);
        self.blocker_of_places(end.div_ceil(self.record()) - first / self.record())
    }

    /// Whether a column of the record at a place can be read: on a new member, if it has been rebuilt
    /// already, or written since that member joined.
    pub(crate) fn can_read_column(&self, members: &Members, place: u64, column: &Column) -> bool {
        members.can_read(column.spot(), column.count)
            || members.can_write(column.slot) && self.births().taken_after_join(place, column.slot)
    }

    /// The same for a stripe request, with what it has found unreadable.
    fn can_read_column_now(&self, plan: &Plan<'_>, place: u64, column: &Column) -> bool {
        !plan.is_unreadable(plan.unreadable(), column.spot(), column.count)
            && self.can_read_column(plan.members(), place, column)
    }

    /// Whether more columns of the record at a place are missing than it has parities.
    pub(crate) fn is_record_lost(&self, members: &Members, place: u64) -> bool {
        let map = self.map();
        if members.impaired <= map.parities().into() {
            return false;
        }
        let columns = (0..map.columns()).map(|index| self.column(place, index));
        columns.filter(|column| !self.can_read_column(members, place, column)).count() > map.parities().into()
    }

    /// Reads all data of a record, and parity in place of missing columns.
    fn read_record(&mut self, plan: &mut Plan<'_>, place: u64) -> Result<Old, Outcome> {
        let map = *self.map();
        let parities = usize::from(map.parities());
        let mut old = Old::at(place);
        for index in parities..map.columns() {
            let column = self.column(place, index);
            if self.can_read_column_now(plan, place, &column) {
                old.ops[index] = plan.add(Phase::Read, Access::Read, column.spot(), column.count);
            } else if !old.solved.add_missing(index) {
                return Err(plan.unreadable_outcome());
            }
        }
        for index in 0..parities {
            let column = self.column(place, index);
            if !old.solved.is_short() {
                break;
            }
            if self.can_read_column_now(plan, place, &column) {
                old.ops[index] = plan.add(Phase::Read, Access::Read, column.spot(), column.count);
                old.solved.add_parity(index);
            }
        }
        if old.solved.is_short() {
            return Err(plan.unreadable_outcome());
        }
        if plan.keeps_data() {
            old.solved.solve(map.columns());
        }
        Ok(old)
    }

    /// Writes all columns of a record to the members that are present.
    fn write_record(&mut self, plan: &mut Plan<'_>, place: u64, part: &Covered, old: Option<&Old>) {
        let map = *self.map();
        let parities = usize::from(map.parities());
        for index in 0..map.columns() {
            let column = self.column(place, index);
            if !plan.members().can_write(column.slot) {
                continue;
            }
            let op = plan.add(Phase::Write, Access::Write, column.spot(), column.count);
            if !plan.keeps_data() {
                continue;
            }
            if index >= parities {
                self.mix_new_record(plan, (op, column.at), (index, 1), part, old);
                continue;
            }
            for data in parities..map.columns() {
                let factor = Solved::factor(index, data, map.columns());
                self.mix_new_record(plan, (op, column.at), (data, factor), part, old);
            }
        }
        for spot in self.padding(place) {
            self.write_padding(plan, spot);
        }
    }

    /// The padding behind a record is written together with what lies before it, so that consecutive records
    /// on a member become one command: with the gap the drive would lose a turn at each.
    fn write_padding(&mut self, plan: &mut Plan<'_>, spot: Spot) {
        let before = plan.last_added(spot.slot, Phase::Write);
        if before.is_some_and(|op| op.at + op.count == spot.at) {
            plan.add(Phase::Write, Access::Write, spot, self.map().sector());
        }
    }

    /// The part of a column between two offsets of the record.
    pub(crate) fn part_of(&self, column: usize, first: u64, end: u64) -> ColumnPart {
        let map = self.map();
        let (begins, count) = (map.begins(column), map.column(0, column).count);
        let (first, end) = (first.clamp(begins, begins + count), end.clamp(begins, begins + count));
        ColumnPart { column, offset: first - begins, count: end - first }
    }

    /// The new contents of a column, times a factor: the host's data, and around them the old data.
    fn mix_new_record(
        &self,
        plan: &mut Plan<'_>,
        (into, into_at): (u64, u64),
        (column, factor): (usize, u8),
        part: &Covered,
        old: Option<&Old>,
    ) {
        let begins = self.map().begins(column);
        let ColumnPart { offset, count, .. } = self.part_of(column, part.first, part.end);
        if count > 0 {
            let from = Source { id: part.id, at: part.record_at + begins + offset, factor };
            plan.mix(into, into_at + offset, from, count);
        }
        let Some(old) = old else { return };
        let size = self.record();
        for (first, end) in [(0, part.first), (part.end, size)] {
            let stretch = self.part_of(column, first, end);
            self.mix_old_record(plan, (into, into_at + stretch.offset), old, stretch, factor);
        }
    }

    /// The old contents of a column, times a factor: from its member, or computed from all others and parity.
    pub(crate) fn mix_old_record(
        &self,
        plan: &mut Plan<'_>,
        (into, into_at): (u64, u64),
        old: &Old,
        ColumnPart { column, offset, count }: ColumnPart,
        factor: u8,
    ) {
        if count == 0 {
            return;
        }
        let mut add = |from: usize, factor: u8| {
            let Column { at, count: all, .. } = self.column(old.place, from);
            // A column may be one row shorter than the missing one.
            let count = count.min(all.saturating_sub(offset));
            if count > 0 && factor != 0 {
                let from = Source { id: old.ops[from], at: at + offset, factor };
                plan.mix(into, into_at, from, count);
            }
        };
        if old.solved.has_data(column) {
            return add(column, factor);
        }
        for from in 0..self.map().columns() {
            let share =
                old.solved.share(column, from, usize::from(self.map().parities()), self.map().columns());
            add(from, gf::mul(share, factor));
        }
    }
}
