//! What is destaged to an array with parity, and when: whole rows of stripe units, and parts of rows when the
//! rest does not arrive.
//!
//! The missing part of a row must be read back for its parity, or the data that it replaces; a whole row
//! needs nothing. So whole rows go first, in the cache's order, several together up to the largest request. A
//! part of a row waits until nothing has been written to the row for a while. It waits no longer when a
//! command waits for its data, when they have reached the age at which even few data are flushed, or when a
//! write waits for room and no flush is under way that will make some. Data that have reached their age go
//! before whole rows, or a stream could starve them.
//! Sources: S. Chen, D. Towsley, "The design and evaluation of RAID 5 and parity striping disk array
//! architectures", 1993, for the cost of a part of a row; A. Varma, Q. Jacobson, "Destage algorithms for disk
//! arrays with nonvolatile caches", 1995, for flushing row by row; the Linux kernel, drivers/md/raid5.c,
//! whose rows wait in a separate list while they would need reads.
use super::WriteBehind;
use super::rows::{Fill, Rows};
use crate::storage::tree::Slot;
use drivelab_units::{Instant, Lba};

impl WriteBehind {
    fn rows(&self) -> &Rows {
        let Some(rows) = self.extents.rows() else { unreachable!("flushes are collected by row") };
        rows
    }

    /// The extent that the next flush begins with, if one may go now; `oldest` is the oldest that may.
    pub(super) fn pick_row(&mut self, now: Instant, oldest: Slot) -> Option<Slot> {
        if self.is_demanded(oldest) || self.is_old(oldest, now) {
            return Some(self.first_of_row(oldest));
        }
        if !self.is_pressed(oldest) {
            return None;
        }
        let (order, hand, wait) = (self.params.order, self.flights.position(), self.params.stripe_wait);
        let young = now.as_ns().checked_sub(wait.as_ns()).map(Instant::from_ns);
        let stuck = !self.writes.waiting.is_empty() && self.flights.is_empty();
        let awaited = self.is_awaited(oldest);
        let rows = self.extents.rows_mut()?;
        if let Some(until) = young {
            rows.expire_young(until);
        }
        let whole = rows.next(Fill::Whole, order, hand);
        if awaited {
            // Data that arrive meanwhile must not delay a barrier.
            let whole = whole.filter(|&(_, age)| self.barriers.awaits(age));
            return Some(whole.map_or(oldest, |(row, _)| self.ready_in(row))).map(|at| self.first_of_row(at));
        }
        if whole.is_none() && stuck && rows.is_empty(Fill::Ripe) {
            rows.expire_oldest();
        }
        let (row, _) = whole.or_else(|| rows.next(Fill::Ripe, order, hand))?;
        Some(self.ready_in(row))
    }

    /// The first extent of a row that may be flushed.
    fn ready_in(&self, row: u64) -> Slot {
        let first = self.extents.next_dirty(Lba::new(row * self.rows().stripe()));
        let Some(first) = first else { unreachable!("the row has data to be flushed") };
        first
    }

    /// The first of the extents that go with this one: those contiguously before it, in its row.
    fn first_of_row(&self, slot: Slot) -> Slot {
        let row = self.rows().number(self.extents.get(slot).first);
        let mut first = slot;
        loop {
            let begins = self.extents.get(first).first;
            let before = self.extents.dirty_below(begins).filter(|&before| {
                let extent = self.extents.get(before);
                extent.end == begins && self.rows().number(extent.first) == row
            });
            match before {
                Some(before) => first = before,
                None => return first,
            }
        }
    }

    /// Where a flush that begins here must end: with its row, or with the last of several whole rows that go
    /// together.
    pub(super) fn end_of_flush(&self, first: Lba) -> Lba {
        let Some(rows) = self.extents.rows() else {
            return Lba::new(first.get().saturating_add(self.params.request.get()));
        };
        let (stripe, row) = (rows.stripe(), rows.number(first));
        let mut end = row + 1;
        if first.get() == row * stripe && rows.is_whole(row) {
            let most = self.params.request.get() / stripe;
            while end - row < most && rows.is_whole(end) {
                end += 1;
            }
        }
        Lba::new(end * stripe)
    }

    /// When a row may go although nothing else happens; the oldest data are not awaited by any command.
    pub(super) fn next_row(&self, oldest: Slot) -> Option<Instant> {
        let rows = self.rows();
        let is_ready = !rows.is_empty(Fill::Whole) || !rows.is_empty(Fill::Ripe);
        let stuck = !self.writes.waiting.is_empty() && self.flights.is_empty();
        if self.is_awaited(oldest) || self.is_pressed(oldest) && (is_ready || stuck) {
            return Some(self.failures.not_before);
        }
        let old = self.params.age.map(|age| self.extents.get(oldest).since + age);
        let pressed = self.is_pressed(oldest);
        let ripe = rows.touched().filter(|_| pressed).map(|touched| touched + self.params.stripe_wait);
        let due = [old, ripe].into_iter().flatten().min()?;
        Some(due.max(self.failures.not_before))
    }
}
