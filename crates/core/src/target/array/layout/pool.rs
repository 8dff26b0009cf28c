//! Where the records of a RAID-Z pool lie: each written to a new place, round the pool.
//!
//! The pool is cut in places of one record each. Record `i` lies at place `i` until it is first written. A write takes
//! the next free place behind the one that was taken last, and the old place becomes free when the new one is written:
//! until then a reader finds the record where it was. What differs from the beginning is kept in pages that are made on
//! the first change, so that a large pool costs little memory.
use super::super::super::slab::Slab;
use super::super::super::tree::{NONE, Slot};
use super::raidz::{Column, Map};
use alloc::vec;
use alloc::vec::Vec;

/// Records of one page of the map, and places of one word of the other.
const PAGE: u64 = 64;

/// Pages that are made on first change. A page that there is not yet is `None`.
#[derive(Clone)]
struct Pages<T> {
    /// One above the number of the page; zero where there is none, which costs no memory before it is touched.
    index: Vec<u32>,
    pages: Vec<T>,
}

impl<T> Pages<T> {
    fn new(count: u64) -> Self {
        Pages { index: vec![0; count.div_ceil(PAGE) as usize], pages: Vec::new() }
    }

    #[inline]
    fn get(&self, page: u64) -> Option<&T> {
        self.index[page as usize].checked_sub(1).map(|at| &self.pages[at as usize])
    }

    fn get_or_make(&mut self, page: u64, make: impl FnOnce() -> T) -> &mut T {
        let at = &mut self.index[page as usize];
        if *at == 0 {
            self.pages.push(make());
            *at = self.pages.len() as u32;
        }
        &mut self.pages[*at as usize - 1]
    }
}

/// A record on its way to a new place.
#[derive(Clone, Copy)]
struct Move {
    record: u64,
    to: u64,
    next: Slot,
}

pub struct RaidZ {
    map: Map,
    /// Sectors of 512 bytes of a record.
    record: u64,
    records: u64,
    places: u64,
    used: u64,
    /// The place of each record.
    lies: Pages<[u32; PAGE as usize]>,
    /// Which places are taken, as bits.
    taken: Pages<u64>,
    /// The next place to be looked at.
    next: u64,
    moves: Slab<Move>,
    /// By strand: the first of its moves.
    first_move: Vec<Slot>,
}

impl RaidZ {
    /// Of members of `least` sectors of 512 bytes, of which data fill a share; none when there is no room for two
    /// records, or for more than can be counted.
    pub fn new(members: u64, parities: u8, record: u64, fill: u8, sector: u64, least: u64) -> Option<Self> {
        let map = Map::new(members, parities, record, sector);
        let places = least / sector * members / map.taken();
        if !(2..=u64::from(u32::MAX)).contains(&places) {
            return None;
        }
        // One place at least is free, so that a record can be written anew.
        let records = (places * u64::from(fill) / 100).clamp(1, places - 1);
        let used = (places * map.taken()).div_ceil(members) * sector;
        let (lies, taken) = (Pages::new(records), Pages::new(places));
        let (moves, first_move) = (Slab::default(), Vec::new());
        Some(RaidZ { map, record, records, places, used, lies, taken, next: records, moves, first_move })
    }

    pub fn map(&self) -> &Map {
        &self.map
    }

    pub fn capacity(&self) -> u64 {
        self.records * self.record
    }

    /// Sectors of a record.
    pub fn record(&self) -> u64 {
        self.record
    }

    pub fn records(&self) -> u64 {
        self.records
    }

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
        self.lies.get(record / PAGE).map_or(record, |page| page[(record % PAGE) as usize].into())
    }

    /// A column of what lies at a place.
    #[inline]
    pub fn column(&self, place: u64, column: usize) -> Column {
        self.map.column(place * self.map.taken(), column)
    }

    /// Takes over where the records of a pool of the same shape lie, as its metadata tell after a power cut: what was on
    /// its way there is where it was before.
    pub fn lie_as(&mut self, before: &RaidZ) {
        (self.lies, self.taken, self.next) = (before.lies.clone(), before.taken.clone(), before.next);
        for &first in &before.first_move {
            let mut at = first;
            while at != NONE {
                let Move { to, next, .. } = *before.moves.get(at);
                self.turn(to);
                at = next;
            }
        }
    }

    /// Which of the places of a page are taken as the run begins.
    fn at_first(&self, page: u64) -> u64 {
        let taken = self.records.saturating_sub(page * PAGE);
        if taken >= PAGE { u64::MAX } else { (1 << taken) - 1 }
    }

    fn bits(&self, page: u64) -> u64 {
        self.taken.get(page).copied().unwrap_or_else(|| self.at_first(page))
    }

    /// Whether something lies, or is being written, at a place.
    pub fn is_taken(&self, place: u64) -> bool {
        self.bits(place / PAGE) >> (place % PAGE) & 1 == 1
    }

    fn turn(&mut self, place: u64) {
        let page = place / PAGE;
        let at_first = self.at_first(page);
        *self.taken.get_or_make(page, || at_first) ^= 1 << (place % PAGE);
    }

    /// The next free place, round the pool.
    fn free_place(&self) -> Option<u64> {
        let pages = self.places.div_ceil(PAGE);
        let (first, begin) = (self.next / PAGE, self.next % PAGE);
        // The page of the beginning comes twice: its upper part first, its lower one last.
        for step in 0..=pages {
            let page = (first + step) % pages;
            let free = !self.bits(page) & if step == 0 { u64::MAX << begin } else { u64::MAX };
            let place = page * PAGE + u64::from(free.trailing_zeros());
            if free != 0 && place < self.places {
                return Some(place);
            }
        }
        None
    }

    /// Takes a place for a record that a strand writes. Where everything is taken the record stays where it is.
    pub fn take(&mut self, strand: Slot, record: u64) -> u64 {
        let Some(to) = self.free_place() else { return self.place(record) };
        self.next = (to + 1) % self.places;
        self.turn(to);
        let at = strand as usize;
        if self.first_move.len() <= at {
            self.first_move.resize(at + 1, NONE);
        }
        let next = self.first_move[at];
        self.first_move[at] = self.moves.add(Move { record, to, next });
        to
    }

    /// A strand is done: what it has written lies at its new place from now on, and the old one is free. What it has not
    /// written stays, and the new place is free again.
    pub fn settle(&mut self, strand: Slot, is_written: bool) {
        let Some(first) = self.first_move.get_mut(strand as usize) else { return };
        let mut at = core::mem::replace(first, NONE);
        while at != NONE {
            let Move { record, to, next } = *self.moves.get(at);
            self.moves.free(at);
            if is_written {
                let from = self.place(record);
                let (page, inside) = (record / PAGE, (record % PAGE) as usize);
                let identity = || core::array::from_fn(|inside| (page * PAGE) as u32 + inside as u32);
                self.lies.get_or_make(page, identity)[inside] = to as u32;
                self.turn(from);
            } else {
                self.turn(to);
            }
            at = next;
        }
    }
}
