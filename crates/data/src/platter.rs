//! Media stored elsewhere: in a file, or in one piece of memory. Data that a drive has accepted and not put
//! on its media are kept here.
//!
//! A drive of [`Media`](crate::Media) stores its sectors in pages of its own, or on a [`Platter`]. Then only
//! data that wait in its cache take memory, so that its memory does not grow however much is written to it.
use crate::cell::Cell;
use crate::sparse::PAGE;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The storage of a drive's media. Calls cannot fail: an implementation records errors and reports them to
/// those that asked for the data.
pub trait Platter<C>: Send + Sync {
    /// The contents of these sectors.
    fn read(&self, first: u64, count: u64) -> Vec<C>;

    /// Writes these cells to the media, starting at a sector.
    fn write(&self, first: u64, cells: &[C]);

    /// A new, empty drive takes this place.
    fn clear(&self);

    /// The numbers of pages of [`PAGE`] sectors that may hold something, in any order.
    fn pages(&self) -> Vec<u64>;
}

/// Data that a drive has accepted and not put on its media, as disjoint stretches.
#[derive(Clone, Debug)]
pub struct Waiting<C> {
    stretches: BTreeMap<u64, Vec<C>>,
    sectors: u64,
}

impl<C> Default for Waiting<C> {
    fn default() -> Self {
        Waiting { stretches: BTreeMap::new(), sectors: 0 }
    }
}

impl<C: Cell> Waiting<C> {
    /// Number of waiting sectors.
    pub fn len(&self) -> u64 {
        self.sectors
    }

    /// Whether no sector waits.
    pub fn is_empty(&self) -> bool {
        self.sectors == 0
    }

    /// Every waiting sector with its data, upward.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &C)> {
        self.stretches.iter().flat_map(|(&first, cells)| (first..).zip(cells))
    }

    /// The waiting data of a sector.
    pub fn get(&self, at: u64) -> Option<&C> {
        let (&first, cells) = self.stretches.range(..=at).next_back()?;
        cells.get((at - first) as usize)
    }

    /// What waits from an address on to the end of its stretch; where nothing waits there, the next stretch.
    pub fn stretch_from(&self, at: u64) -> Option<(u64, &[C])> {
        let before = self.stretches.range(..at).next_back();
        let rest = before.and_then(|(&first, cells)| cells.get((at - first) as usize..));
        match rest.filter(|rest| !rest.is_empty()) {
            Some(rest) => Some((at, rest)),
            None => self.stretches.range(at..).next().map(|(&first, cells)| (first, &cells[..])),
        }
    }

    /// These data wait from now on, and replace waiting ones.
    pub fn put(&mut self, first: u64, cells: &[C]) {
        self.take_out(first, first + cells.len() as u64);
        self.sectors += cells.len() as u64;
        self.stretches.insert(first, cells.to_vec());
    }

    /// These data are on the media: waiting data that are equal wait no longer.
    pub fn settle(&mut self, first: u64, cells: &[C]) {
        // As a rule a stretch is written to the media unchanged.
        if self.stretches.get(&first).is_some_and(|waiting| waiting == cells) {
            self.stretches.remove(&first);
            self.sectors -= cells.len() as u64;
            return;
        }
        let (mut run, end) = (None, first + cells.len() as u64);
        for (at, cell) in (first..).zip(cells) {
            let is_same = self.get(at) == Some(cell);
            match (run, is_same) {
                (None, true) => run = Some(at),
                (Some(from), false) => {
                    self.take_out(from, at);
                    run = None;
                }
                _ => {}
            }
        }
        if let Some(from) = run {
            self.take_out(from, end);
        }
    }

    /// These sectors wait no longer.
    pub fn remove(&mut self, first: u64, end: u64) {
        self.take_out(first, end);
    }

    /// Overlays waiting data on the media contents of these sectors.
    pub fn overlay(&self, first: u64, cells: &mut [C]) {
        let end = first + cells.len() as u64;
        for from in self.overlapping(first, end) {
            let stretch = &self.stretches[&from];
            for at in from.max(first)..(from + stretch.len() as u64).min(end) {
                cells[(at - first) as usize] = stretch[(at - from) as usize].clone();
            }
        }
    }

    /// The first sectors of the stretches that overlap these sectors.
    fn overlapping(&self, first: u64, end: u64) -> Vec<u64> {
        let before = self.stretches.range(..first).next_back();
        let before = before.filter(|(from, cells)| *from + cells.len() as u64 > first);
        before.into_iter().chain(self.stretches.range(first..end)).map(|(&from, _)| from).collect()
    }

    fn take_out(&mut self, first: u64, end: u64) {
        for from in self.overlapping(first, end) {
            let Some(mut head) = self.stretches.remove(&from) else { continue };
            let behind = from + head.len() as u64;
            self.sectors -= behind.min(end) - from.max(first);
            if behind > end {
                let tail = head.split_off((end - from) as usize);
                self.stretches.insert(end, tail);
            }
            if from < first {
                head.truncate((first - from) as usize);
                self.stretches.insert(from, head);
            }
        }
    }
}

/// A drive with its media elsewhere. A clone shares them.
#[derive(Clone)]
pub struct Backed<C> {
    /// The storage of its media.
    pub platter: Arc<dyn Platter<C>>,
    /// The data that it has accepted and not put there.
    pub waiting: Waiting<C>,
}

impl<C: Cell> Backed<C> {
    /// What a read finds.
    pub fn read(&self, first: u64, count: u64) -> Vec<C> {
        let mut cells = self.platter.read(first, count);
        self.waiting.overlay(first, &mut cells);
        cells
    }

    /// The media contents of one sector.
    pub fn persisted(&self, at: u64) -> C {
        self.platter.read(at, 1).pop().unwrap_or_default()
    }

    /// What a read finds in one sector.
    pub fn accepted(&self, at: u64) -> C {
        self.waiting.get(at).cloned().unwrap_or_else(|| self.persisted(at))
    }

    /// Data reach the media.
    pub fn persist(&mut self, first: u64, cells: &[C]) {
        self.platter.write(first, cells);
        self.waiting.settle(first, cells);
    }

    /// The numbers of pages that may hold something, upward.
    pub fn pages(&self) -> Vec<u64> {
        let mut pages = self.platter.pages();
        pages.extend(self.waiting.iter().map(|(at, _)| at / PAGE));
        pages.sort_unstable();
        pages.dedup();
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stretches_hold_what_a_plain_table_holds(
            steps in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..20, 1u64..4), 1..60),
        ) {
            let (mut waiting, mut plain) = (Waiting::<u64>::default(), BTreeMap::new());
            for (is_put, first, count, value) in steps {
                let cells: Vec<u64> = (first..first + count).map(|at| value + (at % 2)).collect();
                if is_put {
                    waiting.put(first, &cells);
                    plain.extend((first..).zip(cells));
                } else {
                    waiting.settle(first, &cells);
                    for (at, cell) in (first..).zip(cells) {
                        if plain.get(&at) == Some(&cell) {
                            plain.remove(&at);
                        }
                    }
                }
                let found: BTreeMap<u64, u64> = waiting.iter().map(|(at, cell)| (at, *cell)).collect();
                prop_assert_eq!(&found, &plain);
                prop_assert_eq!(waiting.len(), plain.len() as u64);
                let mut over = [0; 40];
                waiting.overlay(20, &mut over);
                for (at, cell) in (20..).zip(over) {
                    prop_assert_eq!(cell, plain.get(&at).copied().unwrap_or(0));
                    prop_assert_eq!(waiting.get(at), plain.get(&at));
                }
            }
        }
    }
}
