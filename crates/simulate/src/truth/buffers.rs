//! The buffers of commands, each by its command's id: full from the host, filled by a member, or a sum of others'.
//!
//! Sums are kept as they were said and computed when somebody looks: what they are made of may come later. A host's write
//! needs no memory, because its stamps follow from its id.
use super::field::{stamp, times};
use super::sparse::Map;
use drivelab_core::data::{DataOp, Word};
use drivelab_units::{Lba, Sectors};

/// Sums of sums of sums: what an array, two caches and two schedulers make of each other is far below this.
const DEEPEST: u32 = 64;

/// Part of a sum.
#[derive(Clone, Copy, Debug)]
struct Term {
    at: u64,
    count: u64,
    from: u64,
    from_at: u64,
    factor: u8,
}

#[derive(Clone, Default, Debug)]
struct Buffer {
    /// What a member, or whoever plays the host, has brought, by address.
    brought: Vec<(u64, Vec<u64>)>,
    terms: Vec<Term>,
    /// The addresses of a host's write.
    written: Option<(u64, u64)>,
}

#[derive(Default)]
pub struct Buffers {
    buffers: Map<Buffer>,
    /// What sectors of an array's metadata say, by their stamps.
    words: Map<Vec<Word>>,
}

impl Buffers {
    /// A host issues a write: its buffer is full of its own stamps.
    pub fn write(&mut self, id: u64, first: Lba, count: Sectors) {
        self.buffers.entry(id).or_default().written = Some((first.get(), count.get()));
    }

    /// These stamps come from elsewhere.
    pub fn bring(&mut self, id: u64, first: u64, stamps: Vec<u64>) {
        let buffer = self.buffers.entry(id).or_default();
        buffer.cut(first, stamps.len() as u64);
        buffer.brought.push((first, stamps));
    }

    pub fn mix(&mut self, op: &DataOp) {
        let DataOp::Mix { into, at, from, from_at, count, factor } = *op else { return };
        let (at, from_at, count) = (at.get(), from_at.get(), count.get());
        self.buffers.entry(into).or_default().terms.push(Term { at, count, from, from_at, factor });
    }

    /// A sector of a write of an array's own holds this word beside those that were said before. Its stamp is its own,
    /// whatever else is said of it.
    pub fn tell(&mut self, into: u64, at: Lba, word: Word) {
        let told = stamp(into, at.get());
        let words = self.words.entry(told).or_default();
        if words.is_empty() {
            self.buffers.entry(into).or_default().brought.push((at.get(), vec![told]));
        }
        words.push(word);
    }

    /// What a sector with this stamp says, if it is one of metadata.
    pub fn words(&self, stamp: u64) -> &[Word] {
        self.words.get(&stamp).map_or(&[], Vec::as_slice)
    }

    pub fn forget(&mut self, id: u64, first: Lba, count: Sectors) {
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.cut(first.get(), count.get());
        }
    }

    /// The command is done, and nobody will ask for its data.
    pub fn free(&mut self, id: u64) {
        self.buffers.remove(&id);
    }

    /// What is in part of a buffer now. `None` where it is a sum of itself.
    pub fn look(&self, id: u64, first: u64, count: u64) -> Option<Vec<u64>> {
        let mut stamps = vec![0; count as usize];
        self.add(&mut stamps, id, first, 1, DEEPEST).then_some(stamps)
    }

    /// Adds part of a buffer, multiplied with a factor.
    fn add(&self, sum: &mut [u64], id: u64, first: u64, factor: u8, depth: u32) -> bool {
        let Some(buffer) = self.buffers.get(&id) else { return true };
        if depth == 0 {
            return false;
        }
        let end = first + sum.len() as u64;
        if let Some((written, count)) = buffer.written {
            for sector in first.max(written)..end.min(written + count) {
                sum[(sector - first) as usize] ^= times(stamp(id, sector), factor);
            }
        }
        for (at, stamps) in &buffer.brought {
            for sector in first.max(*at)..end.min(at + stamps.len() as u64) {
                sum[(sector - first) as usize] ^= times(stamps[(sector - at) as usize], factor);
            }
        }
        buffer.terms.iter().all(|term| {
            let (from, to) = (first.max(term.at), end.min(term.at + term.count));
            if from >= to {
                return true;
            }
            let part = &mut sum[(from - first) as usize..(to - first) as usize];
            let factor = times(term.factor.into(), factor) as u8;
            self.add(part, term.from, term.from_at + (from - term.at), factor, depth - 1)
        })
    }
}

impl Buffer {
    /// Takes out what was said of these addresses.
    fn cut(&mut self, first: u64, count: u64) {
        let end = first + count;
        for term in std::mem::take(&mut self.terms) {
            let behind = term.at + term.count;
            if term.at < first {
                let count = behind.min(first) - term.at;
                self.terms.push(Term { count, ..term });
            }
            if behind > end {
                let at = term.at.max(end);
                let from_at = term.from_at + (at - term.at);
                self.terms.push(Term { at, from_at, count: behind - at, ..term });
            }
        }
        for (at, stamps) in std::mem::take(&mut self.brought) {
            let behind = at + stamps.len() as u64;
            if at < first {
                self.brought.push((at, stamps[..(behind.min(first) - at) as usize].to_vec()));
            }
            if behind > end {
                let from = at.max(end);
                self.brought.push((from, stamps[(from - at) as usize..].to_vec()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(into: u64, at: u64, from: u64, from_at: u64, count: u64, factor: u8) -> DataOp {
        let (at, from_at, count) = (Lba::new(at), Lba::new(from_at), Sectors::new(count));
        DataOp::Mix { into, at, from, from_at, count, factor }
    }

    #[test]
    fn a_sum_is_computed_when_it_is_looked_at() {
        let mut buffers = Buffers::default();
        buffers.mix(&mix(9, 100, 1, 8, 4, 3));
        buffers.mix(&mix(9, 102, 2, 0, 2, 1));
        buffers.bring(2, 0, vec![70, 80]);
        buffers.write(1, Lba::new(8), Sectors::new(4));
        let of = |sector| times(stamp(1, sector), 3);
        assert_eq!(buffers.look(9, 100, 4), Some(vec![of(8), of(9), of(10) ^ 70, of(11) ^ 80]));
        assert_eq!(buffers.look(9, 103, 2), Some(vec![of(11) ^ 80, 0]));
    }

    #[test]
    fn what_is_forgotten_or_brought_anew_leaves_its_neighbours_alone() {
        let mut buffers = Buffers::default();
        buffers.bring(2, 0, vec![1, 2, 3, 4, 5]);
        buffers.mix(&mix(9, 10, 2, 0, 5, 1));
        buffers.forget(9, Lba::new(11), Sectors::new(2));
        assert_eq!(buffers.look(9, 10, 5), Some(vec![1, 0, 0, 4, 5]));
        buffers.bring(2, 3, vec![40]);
        assert_eq!(buffers.look(9, 10, 5), Some(vec![1, 0, 0, 40, 5]));
    }

    #[test]
    fn a_sum_of_itself_is_found() {
        let mut buffers = Buffers::default();
        buffers.mix(&mix(1, 0, 2, 0, 1, 1));
        buffers.mix(&mix(2, 0, 1, 0, 1, 1));
        assert_eq!(buffers.look(1, 0, 1), None);
    }
}
