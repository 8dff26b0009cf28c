//! The entries of a deep queue by cylinder and angle, for where many crowd on one cylinder.
//!
//! A turn is cut into slices, at most 256 of them. Each row of cells has one cell a slice and holds the entries of the
//! cylinders that share its last digits, neighbours never among them; a row stands for about 128 entries of a full
//! queue. A cell is a linked list through the slots, in no order. Nothing allocates.
use super::slots::{Entry, NONE, SlotIndex, some};
use alloc::vec;
use alloc::vec::Vec;

const SLICES: u32 = 256;

/// Neighbours in a cell.
#[derive(Clone, Copy)]
struct Links {
    previous: SlotIndex,
    next: SlotIndex,
}

pub struct Angles {
    /// The first entry of each cell, row by row.
    cells: Vec<SlotIndex>,
    /// By slot; here and not beside the entries, which a shallow queue then has closer together.
    links: Vec<Links>,
    /// The digits of a cylinder that name its row.
    row_mask: u32,
    /// A slice lasts `1 << shift` nanoseconds.
    shift: u32,
    /// The least of all longest waits so far: rotation can cost any entry that little.
    least_wait: u32,
}

impl Angles {
    pub(super) fn new(depth: u32, period: u64) -> Self {
        let mut shift = 0;
        while (period - 1) >> shift >= SLICES.into() {
            shift += 1;
        }
        let rows = depth.div_ceil(SLICES / 2).next_power_of_two();
        let cells = vec![NONE; (rows * SLICES) as usize];
        let links = vec![Links { previous: NONE, next: NONE }; depth as usize];
        Angles { cells, links, row_mask: rows - 1, shift, least_wait: u32::MAX }
    }

    pub(super) fn reach(&mut self, slot: SlotIndex) {
        while self.links.len() <= slot as usize {
            self.links.push(Links { previous: NONE, next: NONE });
        }
    }

    fn cell(&self, cylinder: u32, slice: u32) -> usize {
        ((cylinder & self.row_mask) * SLICES + slice) as usize
    }

    pub(super) fn insert(&mut self, slot: SlotIndex, entry: &Entry) {
        self.least_wait = self.least_wait.min(entry.longest_wait);
        let cell = self.cell(entry.cylinder, entry.start >> self.shift);
        let next = self.cells[cell];
        self.links[slot as usize] = Links { previous: NONE, next };
        if next != NONE {
            self.links[next as usize].previous = slot;
        }
        self.cells[cell] = slot;
    }

    pub(super) fn remove(&mut self, slot: SlotIndex, entry: &Entry) {
        let Links { previous, next } = self.links[slot as usize];
        match previous {
            NONE => {
                let cell = self.cell(entry.cylinder, entry.start >> self.shift);
                self.cells[cell] = next;
            }
            previous => self.links[previous as usize].next = next,
        }
        if next != NONE {
            self.links[next as usize].previous = previous;
        }
    }

    /// The next entry in the same cell.
    #[inline]
    pub fn next(&self, slot: SlotIndex) -> Option<SlotIndex> {
        some(self.links[slot as usize].next)
    }

    /// The first entry of each slice of this cylinder's row, from the slice that passes at `turned` on for one turn; with
    /// the least time that rotation from there can cost any entry of the slice, which never falls.
    pub fn from(
        &self,
        cylinder: u32,
        turned: u64,
        period: u64,
    ) -> impl Iterator<Item = (u64, Option<SlotIndex>)> + '_ {
        let (first, count) = ((turned >> self.shift) as u32, ((period - 1) >> self.shift) as u32 + 1);
        (0..count).map(move |step| {
            let (slice, round) =
                if first + step < count { (first + step, 0) } else { (first + step - count, period) };
            let begins = (u64::from(slice) << self.shift) + round;
            let wait = begins.saturating_sub(turned).min(self.least_wait.into());
            (wait, some(self.cells[self.cell(cylinder, slice)]))
        })
    }
}
