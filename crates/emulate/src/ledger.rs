//! What the device owes its clients: the data of sectors that a power cut or a failure may still destroy.
//!
//! A sector is *at rest* when every way back from a power cut or a failure finds its data: all of the drives concerned
//! have it on their media, and parity fits ([`Held`]). The ledger has the expected data of each sector that is not:
//! those of acknowledged writes, and, before a drive accepts anything of a stripe that is at rest, those of all sectors
//! of that stripe, whose data may have to be computed from the others. Ranges are checked in cyclic order, and sectors at
//! rest are removed. So the ledger is hardly larger than the contents of the caches and of the stripes under way,
//! however much is written, and after any damage it tells exactly what is lost.
use crate::held::Held;
use drivelab_data::Bytes;
use drivelab_data::platter::Waiting;
use std::collections::BTreeMap;

/// Ranges that are checked at a time.
const LOOKS: usize = 3;

/// What has destroyed acknowledged data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// They were in the cache of a drive.
    DriveCache,
    /// They were in the controller's memory.
    ControllerMemory,
    /// Their member is missing, and the others do not fit together.
    WriteHole,
    /// Too few members are left to compute them.
    MissingMembers,
    /// The contents of the media were changed (`corrupt`).
    Corrupted,
    /// Their member has failed, and what the others give is something else.
    MemberFailed,
    /// A memory could not write them, and has given them up.
    GivenUp,
    /// A rebuild found sectors that could not be read, and no other member has the data.
    Unreadable,
}

impl Cause {
    /// Words for the answer to an action.
    pub fn in_words(self) -> &'static str {
        match self {
            Cause::DriveCache => "in a drive's cache",
            Cause::ControllerMemory => "in the controller's memory",
            Cause::WriteHole => "by the write hole",
            Cause::MissingMembers => "with missing members",
            Cause::Corrupted => "by corruption",
            Cause::MemberFailed => "by the failure of a member",
            Cause::GivenUp => "given up by a memory",
            Cause::Unreadable => "because no member could be read",
        }
    }
}

/// A range of sectors whose acknowledged data are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Lost {
    pub lba: u64,
    pub sectors: u64,
    pub cause: Cause,
}

/// See the module.
#[derive(Default)]
pub struct Ledger {
    expected: Waiting<Bytes>,
    /// The contents with which a sector was reported as lost.
    told: BTreeMap<u64, Option<Bytes>>,
    /// The sector at which the next check begins.
    next: u64,
}

/// What a read of a sector may find now: several contents where copies differ, `None` where too little is left.
pub type Found = Vec<Option<Bytes>>;

impl Ledger {
    /// A write was acknowledged.
    pub fn answered(&mut self, first: u64, cells: &[Bytes]) {
        self.expected.put(first, cells);
        self.forget_told(first, first + cells.len() as u64);
    }

    /// A write has failed: nothing is promised for its sectors.
    pub fn failed(&mut self, first: u64, count: u64) {
        self.expected.remove(first, first + count);
        self.forget_told(first, first + count);
    }

    fn forget_told(&mut self, first: u64, end: u64) {
        while let Some((&at, _)) = self.told.range(first..end).next() {
            self.told.remove(&at);
        }
    }

    /// The data of these sectors are about to depend on something that is not at rest. What is known of them stays.
    pub fn guard(&mut self, first: u64, count: u64, data: impl FnOnce() -> Vec<Option<Bytes>>) {
        if (first..first + count).all(|at| self.expected.get(at).is_some()) {
            return;
        }
        let mut run: Vec<Bytes> = Vec::new();
        for (at, cell) in (first..).zip(data().into_iter().chain([None])) {
            match cell.filter(|_| self.expected.get(at).is_none()) {
                Some(cell) => run.push(cell),
                None if run.is_empty() => {}
                None => {
                    self.expected.put(at - run.len() as u64, &run);
                    run.clear();
                }
            }
        }
    }

    /// Checks a few ranges, and removes the sectors that are at rest.
    pub fn look(&mut self, held: &Held<'_>) {
        for _ in 0..LOOKS {
            let Some((first, cells)) =
                self.expected.stretch_from(self.next).or_else(|| self.expected.stretch_from(0))
            else {
                return;
            };
            self.next = first + held.together(first, cells.len() as u64);
            let at_rest = held.at_rest(first, self.next - first, |at| self.expected.get(at));
            for (first, end) in at_rest {
                self.expected.remove(first, end);
                self.forget_told(first, end);
            }
        }
    }

    /// The number of recorded sectors.
    pub fn len(&self) -> u64 {
        self.expected.len() + self.told.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sectors that are neither what is expected nor what was reported before, upward, with the cause that
    /// `cause_of` names. `found` returns what reads may get, or nothing for a sector that cannot be judged now;
    /// `unanswered` tells whether a sector may hold the data of a write that was in flight.
    pub fn lost(
        &mut self,
        found: impl Fn(u64) -> Found,
        unanswered: impl Fn(u64, &Bytes) -> bool,
        cause_of: impl Fn(u64, Option<&Bytes>) -> Cause,
    ) -> Vec<Lost> {
        let mut lost: Vec<Lost> = Vec::new();
        for (at, expected) in self.expected.iter() {
            let told = self.told.get(&at);
            let is_wrong = |found: &&Option<Bytes>| match found {
                _ if told == Some(*found) => false,
                Some(found) => found != expected && !unanswered(at, found),
                None => true,
            };
            let all = found(at);
            let Some(wrong) = all.iter().find(is_wrong) else { continue };
            let cause = cause_of(at, wrong.as_ref());
            self.told.insert(at, wrong.clone());
            match lost.last_mut() {
                Some(last) if last.lba + last.sectors == at && last.cause == cause => last.sectors += 1,
                _ => lost.push(Lost { lba: at, sectors: 1, cause }),
            }
        }
        lost
    }

    /// After a power cut, once the losses are known: what is there of a write that was in flight is expected from now
    /// on.
    pub fn settle(&mut self, found: impl Fn(u64) -> Found) {
        let all: Vec<u64> = self.expected.iter().map(|(at, _)| at).collect();
        for at in all {
            let found = found(at).pop().flatten();
            // What was reported stays so while it is there.
            if self.told.get(&at).is_some_and(|told| *told == found) {
                continue;
            }
            self.told.remove(&at);
            match found {
                Some(cell) if self.expected.get(at) == Some(&cell) => {}
                Some(cell) => self.expected.put(at, &[cell]),
                None => self.expected.remove(at, at + 1),
            }
        }
    }

    /// The sectors that are not at rest.
    pub fn not_at_rest(&self, held: &Held<'_>) -> u64 {
        let is_there = |(at, cell): &(u64, &Bytes)| {
            held.found_on_media(*at).is_some_and(|found| found == **cell) || self.told.contains_key(at)
        };
        self.expected.iter().filter(|noted| !is_there(noted)).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_data::Media;

    fn data(byte: u8) -> Bytes {
        Bytes::from([byte; 512])
    }

    fn all_lost(ledger: &mut Ledger, media: &Media<Bytes>) -> Vec<(u64, u64)> {
        let found = |at| vec![Some(media.get(0, at))];
        let lost = ledger.lost(found, |_, _| false, |_, _| Cause::DriveCache);
        lost.iter().map(|lost| (lost.lba, lost.sectors)).collect()
    }

    #[test]
    fn it_is_no_longer_than_what_waits() {
        let (mut ledger, mut media) = (Ledger::default(), Media::new(1));
        for turn in 0..20_000_u64 {
            let (first, byte) = (turn * 7919 % 50_000 * 8, turn as u8 | 1);
            ledger.answered(first, &vec![data(byte); 8]);
            ledger.look(&Held::new(None, &media));
            // What was answered 100 writes ago is on the media.
            if let Some(old) = turn.checked_sub(100) {
                let (first, byte) = (old * 7919 % 50_000 * 8, old as u8 | 1);
                media.accept(0, first, &vec![data(byte); 8]);
                media.persist(0, first, &vec![data(byte); 8]);
            }
            assert!(ledger.len() < 8 * 400, "turn {turn}: {} sectors", ledger.len());
        }
        assert_eq!(all_lost(&mut ledger, &media).iter().map(|lost| lost.1).sum::<u64>(), 800);
    }

    #[test]
    fn a_loss_is_told_once_until_the_contents_change_again() {
        let (mut ledger, mut media) = (Ledger::default(), Media::new(1));
        ledger.answered(10, &[data(1), data(2), data(3)]);
        assert_eq!(all_lost(&mut ledger, &media), [(10, 3)]);
        assert_eq!(all_lost(&mut ledger, &media), []);
        media.set(0, 10, data(1));
        media.set(0, 11, data(9));
        assert_eq!(all_lost(&mut ledger, &media), [(11, 1)], "10 is right, 12 as it was told");
        ledger.answered(12, &[data(4)]);
        assert_eq!(all_lost(&mut ledger, &media), [(12, 1)]);
        ledger.failed(12, 1);
        assert_eq!(all_lost(&mut ledger, &media), []);
    }

    #[test]
    fn what_cannot_be_read_is_lost() {
        let mut ledger = Ledger::default();
        ledger.answered(10, &[data(1), data(2)]);
        let found = |at| vec![(at == 10).then(|| data(1))];
        let cause =
            |_, found: Option<&Bytes>| if found.is_none() { Cause::MissingMembers } else { Cause::Corrupted };
        // A write under way there may have left anything, and this is nothing.
        let lost = ledger.lost(found, |_, _| true, cause);
        assert_eq!(lost, [Lost { lba: 11, sectors: 1, cause: Cause::MissingMembers }]);
        assert_eq!(ledger.lost(found, |_, _| true, cause), [], "it is told once");
    }

    #[test]
    fn what_may_be_there_of_writes_under_way_is_no_loss() {
        let mut ledger = Ledger::default();
        ledger.answered(10, &[data(1), data(2), data(3)]);
        let found = |at| vec![Some(if at == 11 { data(9) } else { Bytes::default() })];
        let lost = ledger.lost(found, |_, found| *found == data(9), |_, _| Cause::DriveCache);
        let one = |lba| Lost { lba, sectors: 1, cause: Cause::DriveCache };
        assert_eq!(lost, [one(10), one(12)]);
        ledger.settle(found);
        // From now on that data is expected.
        let lost = ledger.lost(|_| vec![Some(Bytes::default())], |_, _| false, |_, _| Cause::DriveCache);
        assert_eq!(lost, [one(11)]);
    }

    #[test]
    fn what_is_known_of_a_sector_is_not_replaced_by_what_it_depends_on() {
        let mut ledger = Ledger::default();
        ledger.answered(10, &[data(1)]);
        ledger.guard(8, 4, || vec![Some(data(7)), None, Some(data(7)), Some(data(7))]);
        let noted: Vec<_> = ledger.expected.iter().map(|(at, cell)| (at, cell.clone())).collect();
        assert_eq!(noted, [(8, data(7)), (10, data(1)), (11, data(7))]);
    }
}
