//! Where the records of a RAID-Z pool lie: each is written to a new place, round robin over the pool.
//!
//! The pool is divided into places of one record each. Record `i` lies at place `i` until it is first
//! written. A write takes the next free place after the one that was taken last, and the old place becomes
//! free when the new one is written: until then a reader finds the record at its old place.
//!
//! A stripe request that processes the pool by place *pins* its current places: none of them is taken for a
//! new record meanwhile, so that what it reads of a record there, and writes to a new member, belongs to that
//! record and no other. Records may leave a pinned place; the place is not reused before it is unpinned.
mod births;
mod level;
mod losses;
mod map;
mod pages;
mod plan;
mod repair;
mod sums;
mod whole;
mod windows;

use crate::storage::array::background::WindowRange;
use crate::storage::array::members::Spot;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot};
use alloc::vec::Vec;
use births::Births;
use core::ops::Range;
pub use map::{Column, Map};
use pages::{Numbers, PAGE, Pages};

/// A record on its way to a new place.
#[derive(Clone, Copy)]
struct Move {
    record: u64,
    to: u64,
    next: Slot,
}

/// Places that a stripe request of background work has pinned.
#[derive(Clone, Copy)]
struct Pin {
    stripe_request: Slot,
    first: u64,
    end: u64,
}

impl Pin {
    /// The places of a page that it pins, as bits.
    fn bits(&self, page: u64) -> u64 {
        bits_of(page, self.first, self.end)
    }
}

/// The layout of a RAID-Z pool of records of one size, and the current place of each record.
pub struct RaidZ {
    map: Map,
    /// Sectors of 512 bytes of a record.
    record: u64,
    records: u64,
    places: u64,
    used: u64,
    /// The place of each record.
    lies: Numbers,
    /// The last record that was written to each place. It is still there if the record's own place says so.
    came: Numbers,
    /// Which places are taken, as bits, and how many are free.
    taken: Pages<u64>,
    free: u64,
    /// The next place to be examined.
    next: u64,
    moves: Slab<Move>,
    /// By stripe request: the first of its moves.
    first_move: Vec<Slot>,
    births: Births,
    pins: Vec<Pin>,
}

impl RaidZ {
    /// A pool of members of `least` sectors of 512 bytes, of which data fill the share `fill`; `None` where
    /// there is no room for two records, or there are more places than can be counted.
    pub fn new(members: u64, parities: u8, record: u64, fill: u8, sector: u64, least: u64) -> Option<Self> {
        let map = Map::new(members, parities, record, sector);
        let places = least / sector * members / map.taken();
        if !(2..=u64::from(u32::MAX)).contains(&places) {
            return None;
        }
        // At least one place stays free, so that a record can be rewritten.
        let records = (places * u64::from(fill) / 100).clamp(1, places - 1);
        let used = (places * map.taken()).div_ceil(members) * sector;
        Some(RaidZ {
            map,
            record,
            records,
            places,
            used,
            lies: Pages::new(records),
            came: Pages::new(places),
            taken: Pages::new(places),
            free: places - records,
            next: records,
            moves: Slab::default(),
            first_move: Vec::new(),
            births: Births::new(members, places),
            pins: Vec::new(),
        })
    }

    /// How a record is laid out over the members.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Sectors of 512 bytes that hosts can address.
    pub fn capacity(&self) -> u64 {
        self.records * self.record
    }

    /// Sectors of a record.
    pub fn record(&self) -> u64 {
        self.record
    }

    /// Records that hosts can address.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Places for a record; at least one is free at all times.
    pub fn places(&self) -> u64 {
        self.places
    }

    /// Sectors of each member that the pool uses.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Where a record lies.
    #[inline]
    pub fn place(&self, record: u64) -> u64 {
        self.lies.number(record)
    }

    /// The record that lies at a place; one that is still being written there does not count.
    pub fn record_at(&self, place: u64) -> Option<u64> {
        let record = self.came.number(place);
        (record < self.records && self.place(record) == place).then_some(record)
    }

    /// For each page of records: whether some of them were ever moved.
    pub fn moved_pages(&self) -> impl Iterator<Item = (u64, u64, bool)> {
        let pages = (0..).map(|page| page * PAGE).zip(self.lies.made());
        pages.map(|(first, is_moved)| (first, (first + PAGE).min(self.records), is_moved))
    }

    pub(crate) fn births(&self) -> &Births {
        &self.births
    }

    pub(crate) fn births_mut(&mut self) -> &mut Births {
        &mut self.births
    }

    /// Sectors of a member that `places` places take of it.
    pub fn share_of(&self, places: u64) -> u64 {
        (places * self.map.taken()).div_ceil(self.map.members()) * self.map.sector()
    }

    /// The sector of each member below which there is nothing of this place and later ones.
    pub fn edge(&self, place: u64) -> u64 {
        place * self.map.taken() / self.map.members() * self.map.sector()
    }

    /// A column of the record at a place.
    #[inline]
    pub fn column(&self, place: u64, column: usize) -> Column {
        self.map.column(place * self.map.taken(), column)
    }

    /// The place of an address's record, the column that has the address, and the offset in that column.
    pub fn column_at(&self, address: u64) -> (u64, usize, u64) {
        let (record, inside) = (address / self.record, address % self.record);
        let data = usize::from(self.map.parities())..self.map.columns();
        let column = data.rev().find(|&column| self.map.begins(column) <= inside);
        let column = column.unwrap_or(self.map.columns() - 1);
        (self.place(record), column, inside - self.map.begins(column))
    }

    /// The padding sectors at a place.
    pub fn padding(&self, place: u64) -> impl Iterator<Item = Spot> + use<> {
        self.map.padding(place * self.map.taken())
    }

    /// Takes over the places of the records from a pool of the same shape, as its metadata record them after
    /// a power cut: a record that was being written is still at its old place.
    pub fn restore_places(&mut self, before: &RaidZ) {
        (self.lies, self.came) = (before.lies.clone(), before.came.clone());
        (self.taken, self.free, self.next) = (before.taken.clone(), before.free, before.next);
        for &first in &before.first_move {
            let mut at = first;
            while at != NONE {
                let Move { to, next, .. } = *before.moves.get(at);
                self.release(to);
                at = next;
            }
        }
    }

    /// Which of the places of a page are taken when the run begins.
    fn at_first(&self, page: u64) -> u64 {
        let taken = self.records.saturating_sub(page * PAGE);
        if taken >= PAGE { u64::MAX } else { (1 << taken) - 1 }
    }

    fn bits(&self, page: u64) -> u64 {
        self.taken.get(page).copied().unwrap_or_else(|| self.at_first(page))
    }

    /// Whether a record lies, or is being written, at a place.
    pub fn is_taken(&self, place: u64) -> bool {
        self.bits(place / PAGE) >> (place % PAGE) & 1 == 1
    }

    fn turn(&mut self, place: u64) {
        let page = place / PAGE;
        let at_first = self.at_first(page);
        *self.taken.get_or_make(page, || at_first) ^= 1 << (place % PAGE);
    }

    fn release(&mut self, place: u64) {
        self.turn(place);
        self.free += 1;
    }

    /// The places of a page that are pinned, as bits.
    fn pinned(&self, page: u64) -> u64 {
        self.pins.iter().fold(0, |bits, pin| bits | pin.bits(page))
    }

    /// The next free place, round robin over the pool.
    fn free_place(&self) -> Option<u64> {
        if self.free == 0 {
            return None;
        }
        let pages = self.places.div_ceil(PAGE);
        let (first, begin) = (self.next / PAGE, self.next % PAGE);
        // The first page comes twice: its upper part first, its lower part last.
        for step in 0..=pages {
            let page = (first + step) % pages;
            let mut free = !self.bits(page) & if step == 0 { u64::MAX << begin } else { u64::MAX };
            if free != 0 && !self.pins.is_empty() {
                free &= !self.pinned(page);
            }
            let place = page * PAGE + u64::from(free.trailing_zeros());
            if free != 0 && place < self.places {
                return Some(place);
            }
        }
        None
    }

    /// Free places that are pinned.
    fn kept_free(&self) -> u64 {
        let of_pin = |(i, pin): (usize, &Pin)| -> u64 {
            let of_page = |page: u64| {
                let earlier = self.pins[..i].iter().fold(0, |bits, pin| bits | pin.bits(page));
                u64::from((!self.bits(page) & pin.bits(page) & !earlier).count_ones())
            };
            (pin.first / PAGE..pin.end.div_ceil(PAGE)).map(of_page).sum()
        };
        self.pins.iter().enumerate().map(of_pin).sum()
    }

    /// Maximum number of records that are written at once: this many places are free once no other stripe
    /// request is at work.
    pub fn most_at_once(&self) -> u64 {
        self.places - self.records
    }

    /// The stripe request that one which is to write this many records must wait for, for lack of free
    /// places.
    pub fn blocker_of_places(&self, records: u64) -> Option<Slot> {
        // Nearly always many places are free.
        if self.free >= records && (self.pins.is_empty() || self.free - self.kept_free() >= records) {
            return None;
        }
        self.writer_to(0..self.places, |_| true).or_else(|| self.pins.first().map(|pin| pin.stripe_request))
    }

    /// Takes a place for a record that a stripe request writes.
    pub fn take(&mut self, stripe_request: Slot, record: u64) -> u64 {
        let Some(to) = self.free_place() else {
            unreachable!("a stripe request waits until enough places are free")
        };
        self.next = (to + 1) % self.places;
        self.turn(to);
        self.free -= 1;
        self.births.take(to);
        let at = stripe_request as usize;
        if self.first_move.len() <= at {
            self.first_move.resize(at + 1, NONE);
        }
        let next = self.first_move[at];
        self.first_move[at] = self.moves.add(Move { record, to, next });
        to
    }

    /// The places that a stripe request is writing to.
    pub fn targets(&self, stripe_request: Slot) -> impl Iterator<Item = u64> {
        let mut at = self.first_move.get(stripe_request as usize).copied().unwrap_or(NONE);
        core::iter::from_fn(move || {
            let &Move { to, next, .. } = (at != NONE).then(|| self.moves.get(at))?;
            at = next;
            Some(to)
        })
    }

    /// A stripe request that is writing to one of these places.
    pub fn writer_to(&self, places: Range<u64>, matters: impl Fn(u64) -> bool) -> Option<Slot> {
        let mut writing =
            (0..self.first_move.len() as Slot).filter(|&at| self.first_move[at as usize] != NONE);
        writing.find(|&stripe_request| {
            self.targets(stripe_request).any(|to| places.contains(&to) && matters(to))
        })
    }

    /// A stripe request is done: if it has written its records, they lie at their new places from now on, and
    /// the old ones become free. If not, they stay where they are, and the new places become free again.
    pub fn settle(&mut self, stripe_request: Slot, is_written: bool) {
        let Some(first) = self.first_move.get_mut(stripe_request as usize) else { return };
        let mut at = core::mem::replace(first, NONE);
        while at != NONE {
            let Move { record, to, next } = *self.moves.get(at);
            self.moves.free(at);
            at = next;
            if is_written {
                let from = self.place(record);
                self.lies.set_number(record, to);
                self.came.set_number(to, record);
                self.release(from);
            } else {
                self.release(to);
            }
        }
    }

    /// A stripe request pins these places.
    pub fn pin(&mut self, stripe_request: Slot, places: Range<u64>) {
        self.pins.push(Pin { stripe_request, first: places.start, end: places.end });
    }

    /// Unpins the places of a stripe request.
    #[inline]
    pub fn unpin(&mut self, stripe_request: Slot) {
        self.pins.retain(|pin| pin.stripe_request != stripe_request);
    }

    /// The places that are taken, from `from` on.
    pub fn taken_from(&self, from: u64) -> impl Iterator<Item = u64> {
        let pages = from / PAGE..self.places.div_ceil(PAGE);
        pages.flat_map(move |page| {
            let mut bits = self.bits(page) & bits_of(page, from, self.places);
            core::iter::from_fn(move || {
                let inside = (bits != 0).then(|| u64::from(bits.trailing_zeros()))?;
                bits &= bits - 1;
                Some(page * PAGE + inside)
            })
        })
    }

    /// The next places to process, from `from` on: up to `most` taken places that are `wanted`.
    pub fn stretch(&self, from: u64, most: u64, wanted: impl Fn(u64) -> bool) -> Option<WindowRange> {
        let mut places = self.taken_from(from).filter(|&place| wanted(place)).take(most as usize);
        let first = places.next()?;
        let (end, count) = places.fold((first + 1, 1), |(_, count), place| (place + 1, count + 1));
        Some(WindowRange { first, end, count })
    }
}

/// The places of a page among these, as bits.
fn bits_of(page: u64, first: u64, end: u64) -> u64 {
    let inside = |place: u64| place.saturating_sub(page * PAGE).min(PAGE);
    let below = |place: u64| if place == PAGE { u64::MAX } else { (1 << place) - 1 };
    below(inside(end)) & !below(inside(first))
}
