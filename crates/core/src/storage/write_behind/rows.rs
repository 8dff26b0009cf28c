//! How much of each row of the array waits to be flushed: whole rows need no parity read back, so they go
//! first, and parts of rows wait a while for the rest.
//!
//! A row that has data to be flushed is in one of three sets: whole; *young*, when it was written to
//! recently; *ripe*, when the rest has not arrived in time. Extents do not cross the end of a row, so each
//! belongs to one. Every step costs O(log n) of the rows that wait, amortized; the row that was last looked up is
//! found at once.
use super::ages::{Aged, Ages};
use super::params::FlushOrder;
use crate::storage::index::Index;
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    Young,
    Ripe,
    Whole,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    number: u64,
    /// Sectors of it that may be flushed.
    ready: u64,
    /// The age of the oldest of them.
    age: u64,
    /// When it was last written to.
    touched: Instant,
    fill: Fill,
}

pub struct Rows {
    /// Sectors of data in a row.
    stripe: u64,
    rows: Vec<Row>,
    free: Vec<Slot>,
    by_number: Index,
    /// By [`Fill`], upward; not used for young rows.
    by_place: [Index; 3],
    /// By [`Fill`], by age; young rows by the time of their last write.
    by_age: [Ages; 3],
    /// The row that was last looked up.
    last: Slot,
}

impl Rows {
    pub fn new(stripe: u64) -> Self {
        Rows {
            stripe,
            rows: Vec::new(),
            free: Vec::new(),
            by_number: Index::new(),
            by_place: [Index::new(), Index::new(), Index::new()],
            by_age: [Ages::default(), Ages::default(), Ages::default()],
            last: NONE,
        }
    }

    pub fn stripe(&self) -> u64 {
        self.stripe
    }

    /// Maximum number of places ever used at once.
    pub fn places(&self) -> usize {
        self.rows.len()
    }

    pub fn number(&self, at: Lba) -> u64 {
        at.get() / self.stripe
    }

    fn find(&self, number: u64) -> Option<Slot> {
        if let Some(row) = self.rows.get(self.last as usize)
            && row.ready > 0
            && row.number == number
        {
            return Some(self.last);
        }
        let found = self.by_number.at_or_above(number)?;
        (self.rows[found as usize].number == number).then_some(found)
    }

    /// More sectors of a row may be flushed.
    pub fn add(&mut self, at: Lba, count: u64, age: u64, since: Instant) {
        let number = self.number(at);
        let Some(slot) = self.find(number) else { return self.begin(number, count, age, since) };
        let Row { ready, age: oldest, .. } = self.rows[slot as usize];
        let (ready, age) = (ready + count, oldest.min(age));
        debug_assert!(ready <= self.stripe);
        self.change(slot, |row| (row.ready, row.age) = (ready, age));
    }

    fn begin(&mut self, number: u64, ready: u64, age: u64, touched: Instant) {
        let row = Row { number, ready, age, touched, fill: Fill::Young };
        let slot = if let Some(slot) = self.free.pop() {
            self.rows[slot as usize] = row;
            slot
        } else {
            self.rows.push(row);
            self.rows.len() as Slot - 1
        };
        self.by_number.insert(number, slot);
        self.rows[slot as usize].fill = if ready == self.stripe { Fill::Whole } else { Fill::Young };
        self.file(slot);
        self.last = slot;
    }

    /// Some sectors of a row are being flushed, or may no longer be.
    pub fn take(&mut self, at: Lba, count: u64) {
        let Some(slot) = self.find(self.number(at)) else { unreachable!("what may be flushed is counted") };
        let ready = self.rows[slot as usize].ready - count;
        if ready > 0 {
            return self.change(slot, |row| row.ready = ready);
        }
        self.unfile(slot);
        self.by_number.remove(self.rows[slot as usize].number);
        self.rows[slot as usize].ready = 0;
        self.free.push(slot);
    }

    /// A row has just been written to: the rest may follow.
    pub fn touch(&mut self, at: Lba, now: Instant) {
        let Some(slot) = self.find(self.number(at)) else { return };
        self.last = slot;
        self.change(slot, |row| {
            row.touched = now;
            if row.fill == Fill::Ripe {
                row.fill = Fill::Young;
            }
        });
    }

    /// Changes a row and moves it to the set where it then belongs.
    fn change(&mut self, slot: Slot, change: impl FnOnce(&mut Row)) {
        let before = self.rows[slot as usize];
        let mut row = before;
        change(&mut row);
        row.fill = match row.fill {
            _ if row.ready == self.stripe => Fill::Whole,
            Fill::Whole => Fill::Young,
            other => other,
        };
        if row.fill == before.fill && age(&row) == age(&before) {
            self.rows[slot as usize] = row;
            return;
        }
        self.unfile(slot);
        self.rows[slot as usize] = row;
        self.file(slot);
    }

    fn file(&mut self, slot: Slot) {
        let row = self.rows[slot as usize];
        let entry = Aged { age: age(&row), place: row.number, slot };
        let rows = &self.rows;
        self.by_age[row.fill as usize].insert(entry, |entry| is_in(rows, row.fill, entry));
        if row.fill != Fill::Young {
            self.by_place[row.fill as usize].insert(row.number, slot);
        }
    }

    fn unfile(&mut self, slot: Slot) {
        let row = self.rows[slot as usize];
        let entry = Aged { age: age(&row), place: row.number, slot };
        let rows = &self.rows;
        self.by_age[row.fill as usize].remove(entry, |entry| is_in(rows, row.fill, entry));
        if row.fill != Fill::Young {
            self.by_place[row.fill as usize].remove(row.number);
        }
    }

    /// Rows last written to at this instant or before no longer wait for the rest.
    pub fn expire_young(&mut self, until: Instant) {
        while let Some((slot, touched)) = self.youngest()
            && touched <= until
        {
            self.change(slot, |row| row.fill = Fill::Ripe);
        }
    }

    /// The young row whose last write is the oldest need not wait.
    pub fn expire_oldest(&mut self) {
        if let Some((slot, _)) = self.youngest() {
            self.change(slot, |row| row.fill = Fill::Ripe);
        }
    }

    fn youngest(&self) -> Option<(Slot, Instant)> {
        let slot = self.by_age[Fill::Young as usize].oldest()?;
        Some((slot, self.rows[slot as usize].touched))
    }

    /// When the young row that has waited longest was last written to.
    pub fn touched(&self) -> Option<Instant> {
        self.youngest().map(|(_, touched)| touched)
    }

    pub fn is_empty(&self, fill: Fill) -> bool {
        self.by_age[fill as usize].is_empty()
    }

    /// The next row of a set of rows that do not wait for more: its number, and the age of its oldest data.
    pub fn next(&self, fill: Fill, order: FlushOrder, from: Lba) -> Option<(u64, u64)> {
        debug_assert!(fill != Fill::Young);
        let slot = match order {
            FlushOrder::Age => self.by_age[fill as usize].oldest(),
            FlushOrder::Address => {
                let places = &self.by_place[fill as usize];
                places.at_or_above(self.number(from)).or_else(|| places.first())
            }
        }?;
        let Row { number, age, .. } = self.rows[slot as usize];
        Some((number, age))
    }

    pub fn is_whole(&self, number: u64) -> bool {
        self.find(number).is_some_and(|slot| self.rows[slot as usize].fill == Fill::Whole)
    }
}

/// The age by which a row is found.
fn age(row: &Row) -> u64 {
    if row.fill == Fill::Young { row.touched.as_ns() } else { row.age }
}

/// Whether an entry by age is that of a row in this set.
fn is_in(rows: &[Row], fill: Fill, entry: &Aged) -> bool {
    let row = &rows[entry.slot as usize];
    row.ready > 0 && row.fill == fill && (age(row), row.number) == (entry.age, entry.place)
}
