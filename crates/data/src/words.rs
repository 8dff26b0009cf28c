//! What sectors of an array's metadata record: records of logs, bits of bitmaps. Words are stored under the
//! head of the sector that has them.
//!
//! Words are dropped when they can no longer be found: no command is left that may write them, and on the
//! media they were overwritten, or never arrived; or they belong to a record of a journal that the superblock
//! on the same drive has made obsolete. The media contents are identified by the sectors themselves, because
//! a record may arrive with a request that it was merged into.
use crate::map::Map;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use drivelab_core::data::Word;

/// Memory of a sector of metadata and of a word, in bytes.
const SECTOR: u64 = 128;
const WORD: u64 = 96;

#[derive(Default, Debug)]
struct SectorWords {
    words: Vec<Word>,
    /// Number of places on media that have them.
    places: u32,
    /// Whether no command is left that may write them.
    is_written: bool,
}

impl SectorWords {
    fn size(&self) -> u64 {
        SECTOR + self.words.len() as u64 * WORD
    }

    fn record(&self) -> Option<u64> {
        self.words
            .iter()
            .find_map(|word| if let Word::Record { number } = *word { Some(number) } else { None })
    }

    /// The first valid record, if this is a superblock.
    fn tail(&self) -> Option<u64> {
        let tail = |word: &Word| if let Word::Tail { number } = *word { Some(number) } else { None };
        if self.record().is_some() { None } else { self.words.iter().find_map(tail) }
    }
}

/// All words.
#[derive(Default)]
pub struct Words {
    sectors: Map<SectorWords>,
    /// By drive and address: the words stored there, by their heads.
    lying: BTreeMap<u16, BTreeMap<u64, u64>>,
    /// Commands to which a dropped record referred.
    unused: Vec<u64>,
    is_not_kept: bool,
    size: u64,
}

impl Words {
    /// For a target whose metadata are not needed: nothing is stored.
    pub fn not_kept() -> Self {
        Words { is_not_kept: true, ..Words::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sectors.is_empty() && self.lying.values().all(BTreeMap::is_empty)
    }

    /// Whether words are stored.
    pub fn is_kept(&self) -> bool {
        !self.is_not_kept
    }

    /// A sector with this head holds this word too. Returns whether it is stored.
    pub fn add(&mut self, head: u64, word: Word) -> bool {
        if self.is_not_kept {
            return false;
        }
        let size = &mut self.size;
        let sector = self.sectors.get_or_insert_with(head, || {
            *size += SECTOR;
            SectorWords::default()
        });
        sector.words.push(word);
        *size += WORD;
        true
    }

    /// The words of a sector with this head, if it is one of metadata.
    pub fn get(&self, head: u64) -> &[Word] {
        self.sectors.get(head).map_or(&[], |sector| &sector.words)
    }

    /// These addresses of a drive's media are written: by address, the heads of the sectors.
    pub fn record_written(
        &mut self,
        drive: u16,
        first: u64,
        count: u64,
        written: impl Iterator<Item = (u64, u64)>,
    ) {
        let mut gone = Vec::new();
        if let Some(lying) = self.lying.get_mut(&drive).filter(|lying| !lying.is_empty()) {
            gone.extend(lying.range(first..first + count).map(|(&at, _)| at));
        }
        gone.into_iter().for_each(|at| self.take_from(drive, at));
        for (at, head) in written {
            let Some(sector) = self.sectors.get_mut(head) else { continue };
            sector.places += 1;
            let tail = sector.tail();
            self.lying.entry(drive).or_default().insert(at, head);
            if let Some(tail) = tail {
                self.drop_obsolete(drive, tail);
            }
        }
    }

    /// Records of this drive below this number are obsolete from now on.
    fn drop_obsolete(&mut self, drive: u16, tail: u64) {
        let Some(lying) = self.lying.get(&drive) else { return };
        let is_past = |head: u64| {
            self.sectors.get(head).and_then(SectorWords::record).is_some_and(|number| number < tail)
        };
        let past: Vec<u64> = lying.iter().filter(|&(_, &head)| is_past(head)).map(|(&at, _)| at).collect();
        past.into_iter().for_each(|at| self.take_from(drive, at));
    }

    /// The words at an address are no longer there.
    fn take_from(&mut self, drive: u16, at: u64) {
        let Some(head) = self.lying.get_mut(&drive).and_then(|lying| lying.remove(&at)) else { return };
        if let Some(sector) = self.sectors.get_mut(head) {
            sector.places -= 1;
        }
        self.end(head);
    }

    /// A new drive has this number.
    pub fn replace(&mut self, drive: u16) {
        for head in self.lying.remove(&drive).into_iter().flat_map(BTreeMap::into_values) {
            if let Some(sector) = self.sectors.get_mut(head) {
                sector.places -= 1;
            }
            self.end(head);
        }
    }

    /// The command that writes the sector with this head is over, and none of its data wait to be written,
    /// alone or as part of another command.
    pub fn is_written(&mut self, head: u64) {
        if let Some(sector) = self.sectors.get_mut(head) {
            sector.is_written = true;
            self.end(head);
        }
    }

    /// Drops words that can no longer be found.
    fn end(&mut self, head: u64) {
        let is_over = |sector: &SectorWords| sector.is_written && sector.places == 0;
        if self.sectors.get(head).is_some_and(is_over)
            && let Some(sector) = self.sectors.remove(head)
        {
            self.size -= sector.size();
            // As many as were counted when they were added.
            let logged = |word: &Word| match word {
                Word::Logged(entry) if !entry.is_whole => Some(entry.op),
                _ => None,
            };
            self.unused.extend(sector.words.iter().filter_map(logged));
        }
    }

    /// The next command to which a dropped record referred, once for each reference.
    pub fn poll_unused(&mut self) -> Option<u64> {
        self.unused.pop()
    }

    /// Memory of the words, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(words: &mut Words, head: u64, number: u64, at: u64) {
        words.add(head, Word::Record { number });
        words.record_written(0, at, 8, [(at, head)].into_iter());
        words.is_written(head);
    }

    #[test]
    fn words_last_until_they_are_written_over() {
        let mut words = Words::default();
        record(&mut words, 10, 1, 0);
        record(&mut words, 11, 2, 8);
        words.record_written(1, 0, 8, [].into_iter());
        assert_eq!((words.get(10).len(), words.get(11).len()), (1, 1));
        words.record_written(0, 4, 8, [].into_iter());
        assert_eq!((words.get(10).len(), words.get(11).len()), (1, 0));
        words.replace(0);
        assert_eq!((words.get(10).len(), words.size()), (0, 0));
    }

    #[test]
    fn what_a_buffer_may_still_write_stays() {
        let mut words = Words::default();
        words.add(10, Word::Bits);
        words.record_written(0, 0, 1, [(0, 10)].into_iter());
        words.record_written(0, 0, 1, [].into_iter());
        assert_eq!(words.get(10), [Word::Bits]);
        words.is_written(10);
        assert_eq!((words.get(10).len(), words.size()), (0, 0));
    }

    #[test]
    fn a_superblock_ends_the_records_that_it_does_not_count() {
        let mut words = Words::default();
        (0..4).for_each(|number| record(&mut words, 10 + number, number, 8 + 8 * number));
        words.add(20, Word::Tail { number: 2 });
        words.record_written(0, 0, 1, [(0, 20)].into_iter());
        words.is_written(20);
        let left: Vec<bool> = [10, 11, 12, 13, 20].iter().map(|&head| !words.get(head).is_empty()).collect();
        assert_eq!(left, [false, false, true, true, true]);
    }
}
