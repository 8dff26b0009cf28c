//! What memory holds, by address: extents that do not overlap, each of one write or of one read.
//!
//! Over the same slots there are two indexes, of all extents and of those that may be flushed now, by address;
//! and those that may be flushed, those that may not yet, and those that may be dropped, each by age. Every step costs
//! O(log n), amortized. Slots are allocated only while more extents are held than ever before. In front of an array with
//! parity, extents that may be flushed are also counted by row.
use super::ages::{Aged, Ages};
use super::buffer_refs::RefChanges;
use super::rows::Rows;
use crate::storage::index::Index;
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors};

/// The state of an extent's data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// To be flushed.
    Dirty,
    /// To be flushed, but another command has claimed the device's blocks.
    Behind,
    /// Being flushed.
    Sent,
    /// On the device too.
    Clean,
    /// Not there yet: the read with this tag fetches them.
    Coming(Slot),
}

impl State {
    /// Whether the device does not have them and no flush is under way.
    pub fn is_unsent(self) -> bool {
        matches!(self, State::Dirty | State::Behind)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub first: Lba,
    pub end: Lba,
    /// The id of the command whose data they are.
    pub command: u64,
    /// Their number in the order in which memory accepted data.
    pub version: u64,
    /// Their number in the order of age: data that replace waiting data inherit their age.
    pub age: u64,
    /// Since when there have been data to be flushed here.
    pub since: Instant,
    /// How often their flush has failed.
    pub tries: u8,
    pub state: State,
}

impl Extent {
    pub fn count(&self) -> Sectors {
        self.end - self.first
    }
}

/// The sets by age.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    Dirty,
    Behind,
    Clean,
}

pub struct Extents {
    extents: Vec<Extent>,
    free: Vec<Slot>,
    by_address: Index,
    to_flush: Index,
    /// By [`Set`], each by age and then by address.
    by_age: [Ages; 3],
    /// Sums of sectors, by [`sum_of`] their state.
    sectors: [u64; 4],
    rows: Option<Rows>,
    /// Changes in the use of buffers.
    pub(super) changes: RefChanges,
}

/// The set by age of an extent in this state.
fn set_of(state: State) -> Option<Set> {
    match state {
        State::Dirty => Some(Set::Dirty),
        State::Behind => Some(Set::Behind),
        State::Clean => Some(Set::Clean),
        State::Sent | State::Coming(_) => None,
    }
}

/// The sum that an extent in this state counts in.
fn sum_of(state: State) -> usize {
    match state {
        State::Dirty | State::Behind => 0,
        State::Sent => 1,
        State::Clean => 2,
        State::Coming(_) => 3,
    }
}

/// Whether an entry by age is that of an extent in this set.
fn is_in(extents: &[Extent], set: Set, entry: &Aged) -> bool {
    let Extent { first, age, state, .. } = extents[entry.slot as usize];
    set_of(state) == Some(set) && (age, first.get()) == (entry.age, entry.place)
}

impl Extents {
    /// Empty; collected by rows of `stripe` sectors, if at all.
    pub fn new(stripe: Option<Sectors>) -> Self {
        Extents {
            extents: Vec::new(),
            free: Vec::new(),
            by_address: Index::new(),
            to_flush: Index::new(),
            by_age: [Ages::default(), Ages::default(), Ages::default()],
            sectors: [0; 4],
            rows: stripe.map(|stripe| Rows::new(stripe.get())),
            changes: RefChanges::default(),
        }
    }

    pub fn rows(&self) -> Option<&Rows> {
        self.rows.as_ref()
    }

    pub fn rows_mut(&mut self) -> Option<&mut Rows> {
        self.rows.as_mut()
    }

    /// The end of the row that contains this address, where there are rows.
    pub fn row_end(&self, at: Lba) -> Lba {
        let Some(rows) = &self.rows else { return Lba::new(u64::MAX) };
        Lba::new((rows.number(at) + 1).saturating_mul(rows.stripe()))
    }

    /// Number of extents.
    pub fn held(&self) -> usize {
        self.extents.len() - self.free.len()
    }

    /// Maximum number of places ever used at once, for extents and for rows.
    pub fn places(&self) -> usize {
        self.extents.len() + self.rows.as_ref().map_or(0, Rows::places)
    }

    /// Sectors that the device does not have and that no flush is taking there.
    pub fn unsent(&self) -> u64 {
        self.sectors[sum_of(State::Dirty)]
    }

    /// Sectors that the device has too, or that are being fetched from it.
    pub fn kept(&self) -> u64 {
        self.sectors[sum_of(State::Clean)] + self.sectors[sum_of(State::Coming(NONE))]
    }

    #[inline]
    pub fn get(&self, slot: Slot) -> &Extent {
        &self.extents[slot as usize]
    }

    /// Adds an extent where there is none.
    pub fn insert(&mut self, extent: Extent) -> Slot {
        self.changes.adjust(extent.command, true);
        let slot = if let Some(slot) = self.free.pop() {
            self.extents[slot as usize] = extent;
            slot
        } else {
            self.extents.push(extent);
            self.extents.len() as Slot - 1
        };
        self.by_address.insert(extent.first.get(), slot);
        self.file(slot);
        slot
    }

    pub fn remove(&mut self, slot: Slot) {
        self.changes.adjust(self.get(slot).command, false);
        self.unfile(slot);
        self.by_address.remove(self.get(slot).first.get());
        // In no set by age.
        self.extents[slot as usize].state = State::Sent;
        self.free.push(slot);
    }

    pub fn set(&mut self, slot: Slot, state: State, age: u64) {
        self.unfile(slot);
        let extent = &mut self.extents[slot as usize];
        (extent.state, extent.age) = (state, age);
        self.file(slot);
    }

    /// The data of an extent are now in another command's buffer.
    pub fn refer(&mut self, slot: Slot, command: u64) {
        let before = core::mem::replace(&mut self.extents[slot as usize].command, command);
        self.changes.adjust(before, false);
        self.changes.adjust(command, true);
    }

    /// The flush of an extent has failed.
    pub fn fail(&mut self, slot: Slot) {
        self.extents[slot as usize].tries += 1;
    }

    /// Files an extent by its state, and counts it.
    fn file(&mut self, slot: Slot) {
        let Extent { first, age, since, state, .. } = *self.get(slot);
        if let Some(set) = set_of(state) {
            let extents = &self.extents;
            let entry = Aged { age, place: first.get(), slot };
            self.by_age[set as usize].insert(entry, |entry| is_in(extents, set, entry));
        }
        if state == State::Dirty {
            self.to_flush.insert(first.get(), slot);
            let count = self.get(slot).count().get();
            self.rows.iter_mut().for_each(|rows| rows.add(first, count, age, since));
        }
        self.sectors[sum_of(state)] += self.get(slot).count().get();
    }

    fn unfile(&mut self, slot: Slot) {
        let Extent { first, age, state, .. } = *self.get(slot);
        if let Some(set) = set_of(state) {
            let extents = &self.extents;
            let entry = Aged { age, place: first.get(), slot };
            self.by_age[set as usize].remove(entry, |entry| is_in(extents, set, entry));
        }
        if state == State::Dirty {
            self.to_flush.remove(first.get());
            let count = self.get(slot).count().get();
            self.rows.iter_mut().for_each(|rows| rows.take(first, count));
        }
        self.sectors[sum_of(state)] -= self.get(slot).count().get();
    }

    /// The extent with the lowest address that ends after this block.
    #[inline]
    fn at_or_behind(&self, lba: Lba) -> Option<Slot> {
        let below = self.by_address.below(lba.get() + 1);
        below.filter(|&slot| self.get(slot).end > lba).or_else(|| self.by_address.at_or_above(lba.get() + 1))
    }

    /// The lowest extent that overlaps these blocks.
    fn next_touching(&self, first: Lba, end: Lba) -> Option<Slot> {
        if first >= end {
            return None;
        }
        self.at_or_behind(first).filter(|&slot| self.get(slot).first < end)
    }

    /// Whether any extent overlaps these blocks: most often none does, and one lookup is enough.
    fn is_touched(&self, first: Lba, end: Lba) -> bool {
        let below = self.by_address.below(end.get());
        below.is_some_and(|slot| self.get(slot).end > first)
    }

    /// The extents that overlap these blocks, upward.
    pub fn touching(&self, first: Lba, end: Lba) -> impl Iterator<Item = Slot> + '_ {
        let mut at = first;
        core::iter::from_fn(move || {
            let slot = self.next_touching(at, end)?;
            at = self.get(slot).end;
            Some(slot)
        })
    }

    /// Calls `each` with the extents that overlap these blocks, upward; it may change or remove the one that
    /// it gets.
    pub fn each(&mut self, first: Lba, end: Lba, mut each: impl FnMut(&mut Self, Slot)) {
        let mut at = first;
        while let Some(slot) = self.next_touching(at, end) {
            at = self.get(slot).end;
            each(self, slot);
        }
    }

    /// Whether a set is empty.
    pub fn is_empty(&self, set: Set) -> bool {
        self.by_age[set as usize].is_empty()
    }

    /// The oldest of a set.
    pub fn oldest(&self, set: Set) -> Option<Slot> {
        self.by_age[set as usize].oldest()
    }

    /// The next extent upward that may be flushed.
    pub fn next_dirty(&self, from: Lba) -> Option<Slot> {
        self.to_flush.at_or_above(from.get())
    }

    /// The next extent downward that may be flushed.
    pub fn dirty_below(&self, at: Lba) -> Option<Slot> {
        self.to_flush.below(at.get())
    }

    /// Whether memory has all of these blocks.
    pub fn covers(&self, first: Lba, end: Lba) -> bool {
        let mut at = first;
        for slot in self.touching(first, end) {
            let extent = self.get(slot);
            if extent.first > at || matches!(extent.state, State::Coming(_)) {
                return false;
            }
            at = extent.end;
        }
        at >= end
    }

    /// The first stretch of these blocks without an extent.
    pub fn hole(&self, first: Lba, end: Lba) -> Option<(Lba, Lba)> {
        let mut at = first;
        for slot in self.touching(first, end) {
            let extent = self.get(slot);
            if extent.first > at {
                return Some((at, extent.first));
            }
            at = extent.end;
        }
        (at < end).then_some((at, end))
    }

    /// Splits an extent: the lower part stays in its slot.
    pub fn cut(&mut self, slot: Slot, at: Lba) {
        let whole = *self.get(slot);
        self.unfile(slot);
        self.extents[slot as usize].end = at;
        self.file(slot);
        self.insert(Extent { first: at, ..whole });
    }

    /// Splits extents that extend beyond either end of these blocks.
    fn isolate(&mut self, first: Lba, end: Lba) {
        for edge in [first, end] {
            if let Some(slot) = self.at_or_behind(edge).filter(|&slot| self.get(slot).first < edge) {
                self.cut(slot, edge);
            }
        }
    }

    /// Drops those parts of extents within these blocks for which `goes` is true.
    pub fn carve(&mut self, first: Lba, end: Lba, mut goes: impl FnMut(&Extent) -> bool) {
        if !self.is_touched(first, end) {
            return;
        }
        self.isolate(first, end);
        self.each(first, end, |extents, slot| {
            if goes(extents.get(slot)) {
                extents.remove(slot);
            }
        });
    }

    /// All extents, upward.
    pub fn iter(&self) -> impl Iterator<Item = &Extent> + '_ {
        self.touching(Lba::ZERO, Lba::new(u64::MAX)).map(|slot| self.get(slot))
    }
}
