//! Acknowledged writes that may not be on the media yet.
//!
//! Each acknowledged write is recorded with its data; newer data replace older ones. With every further
//! acknowledgement a few ranges are checked in cyclic order, and the sectors that the media hold by now are removed.
//! So the ledger is hardly larger than the contents of the caches, however much is written, and after a power cut it
//! tells exactly what is lost.
use drivelab_data::Bytes;
use drivelab_data::platter::Waiting;

/// Ranges that are checked at every acknowledgement.
const LOOKS: usize = 3;

/// Acknowledged writes that may be lost.
#[derive(Default)]
pub struct Ledger {
    noted: Waiting<Bytes>,
    /// The sector at which the next check begins.
    next: u64,
}

/// A range of sectors whose data were lost in a power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Lost {
    pub lba: u64,
    pub sectors: u64,
}

impl Ledger {
    /// A write was acknowledged. `on_media` returns the media contents of some sectors, or `None` where they are
    /// unknown.
    pub fn answered(
        &mut self,
        first: u64,
        cells: &[Bytes],
        on_media: impl Fn(u64, u64) -> Option<Vec<Bytes>>,
    ) {
        self.noted.put(first, cells);
        for _ in 0..LOOKS {
            let Some((first, cells)) =
                self.noted.stretch_from(self.next).or_else(|| self.noted.stretch_from(0))
            else {
                return;
            };
            let count = cells.len() as u64;
            self.next = first + count;
            if let Some(there) = on_media(first, count) {
                self.noted.settle(first, &there);
            }
        }
    }

    /// The number of recorded sectors.
    pub fn len(&self) -> u64 {
        self.noted.len()
    }

    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// The acknowledged sectors that are lost when the power is back. `found` returns what a read gets now, or `None`
    /// where too little is left to reconstruct it; `unanswered` tells whether a sector may hold the data of a write
    /// that was in flight.
    pub fn lost(
        &self,
        found: impl Fn(u64) -> Option<Bytes>,
        unanswered: impl Fn(u64, &Bytes) -> bool,
    ) -> Vec<Lost> {
        let mut lost: Vec<Lost> = Vec::new();
        for (at, cell) in self.noted.iter() {
            let is_there = found(at).is_some_and(|found| found == *cell || unanswered(at, &found));
            if is_there {
                continue;
            }
            match lost.last_mut() {
                Some(last) if last.lba + last.sectors == at => last.sectors += 1,
                _ => lost.push(Lost { lba: at, sectors: 1 }),
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    fn data(byte: u8) -> Bytes {
        Bytes::from([byte; 512])
    }

    #[test]
    fn it_is_no_longer_than_what_waits() {
        let media = RefCell::new(BTreeMap::<u64, Bytes>::new());
        let look = |first, count| {
            let at = |at| media.borrow().get(&at).cloned().unwrap_or_default();
            Some((first..first + count).map(at).collect::<Vec<_>>())
        };
        let mut ledger = Ledger::default();
        for turn in 0..100_000_u64 {
            let (first, byte) = (turn * 7919 % 50_000 * 8, turn as u8 | 1);
            ledger.answered(first, &vec![data(byte); 8], look);
            // What was answered 100 writes ago is on the media.
            if let Some(old) = turn.checked_sub(100) {
                let (first, byte) = (old * 7919 % 50_000 * 8, old as u8 | 1);
                media.borrow_mut().extend((first..first + 8).map(|at| (at, data(byte))));
            }
            assert!(ledger.len() < 8 * 400, "turn {turn}: {} sectors", ledger.len());
        }
        let lost = ledger.lost(|at| media.borrow().get(&at).cloned(), |_, _| false);
        assert_eq!(lost.iter().map(|lost| lost.sectors).sum::<u64>(), 800);
    }

    #[test]
    fn what_may_be_there_of_writes_under_way_is_no_loss() {
        let mut ledger = Ledger::default();
        ledger.answered(10, &[data(1), data(2), data(3)], |_, _| None);
        let found = |at| Some(if at == 11 { data(9) } else { Bytes::default() });
        assert_eq!(
            ledger.lost(found, |_, found| *found == data(9)),
            [Lost { lba: 10, sectors: 1 }, Lost { lba: 12, sectors: 1 }]
        );
        assert_eq!(ledger.lost(found, |_, _| false), [Lost { lba: 10, sectors: 3 }]);
    }
}
