//! The buffers of commands, each by its command's id: full from the host, filled by a member, or a sum of others'.
//!
//! Sums are kept as they were said and computed when somebody looks: what they are made of may come later. A host's write
//! needs no memory, because its stamps follow from its id. A buffer is given up when its command is over, no drive has data
//! of it that are not on its media, no sum is made of it, and no log says anything of it. What a
//! memory before the array may still write stays.
use super::field::{stamp, times};
use super::sparse::Map;
use drivelab_core::data::{DataOp, Word};
use drivelab_units::{Lba, Sectors};

/// Sums of sums of sums: what an array, two caches and two schedulers make of each other is far below this.
const DEEPEST: u32 = 64;
/// What a buffer and a part of a sum take, in sectors of a drive.
const BUFFER: u64 = 8;
const TERM: u64 = 3;

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
    /// What a member, or whoever plays the host, has fetched, by address.
    fetched: Vec<(u64, Vec<u64>)>,
    terms: Vec<Term>,
    /// The addresses of a host's write.
    written: Option<(u64, u64)>,
    /// Parts of sums that are made of it, and what logs say of it.
    uses: u32,
    /// Sectors that drives have accepted, and that are not on their media yet.
    waiting: u64,
    is_over: bool,
}

#[derive(Default)]
pub struct Buffers {
    buffers: Map<Buffer>,
    /// What sectors of an array's metadata say, by their stamps. It stays, and with it what logs had of it.
    told: Map<Vec<Word>>,
    /// Whether what metadata say is never asked for.
    is_cut_never: bool,
    /// Buffers to be looked at: they may not be needed any more.
    idle: Vec<u64>,
    /// Memory that all of them take, in sectors of a drive.
    size: u64,
}

impl Buffers {
    /// Of a target whose power is never cut: what its metadata say nobody asks for.
    pub fn without_words(self) -> Self {
        Buffers { is_cut_never: true, ..self }
    }

    /// The buffer of a command, with the memory that it takes counted by [`Self::count`] when it has changed.
    fn entry(&mut self, id: u64) -> &mut Buffer {
        let size = &mut self.size;
        self.buffers.entry(id).or_insert_with(|| {
            *size += BUFFER;
            Buffer::default()
        })
    }

    /// A buffer has more of something, or less.
    fn count(&mut self, before: u64, after: u64) {
        self.size = self.size + after - before;
    }

    /// A host issues a write: its buffer is full of its own stamps.
    pub fn write(&mut self, id: u64, first: Lba, count: Sectors) {
        let buffer = self.entry(id);
        (buffer.written, buffer.is_over) = (Some((first.get(), count.get())), false);
    }

    /// These stamps come from elsewhere.
    pub fn bring(&mut self, id: u64, first: u64, stamps: Vec<u64>) {
        self.cut(id, first, stamps.len() as u64);
        self.count(0, stamps.len() as u64 / 2);
        self.entry(id).fetched.push((first, stamps));
        self.give_up();
    }

    pub fn mix(&mut self, op: &DataOp) {
        let DataOp::Mix { into, at, from, from_at, count, factor } = *op else { return };
        let (at, from_at, count) = (at.get(), from_at.get(), count.get());
        self.count(0, TERM);
        self.entry(into).terms.push(Term { at, count, from, from_at, factor });
        self.is_used(from);
    }

    /// A sector of a write of an array's own holds this word beside those that were said before. Its stamp is its own,
    /// whatever else is said of it.
    pub fn tell(&mut self, into: u64, at: Lba, word: Word) {
        let stamp = stamp(into, at.get());
        if self.is_cut_never {
            let buffer = self.entry(into);
            if buffer.fetched.iter().all(|(other, _)| *other != at.get()) {
                buffer.fetched.push((at.get(), vec![stamp]));
            }
            return;
        }
        let told = self.told.entry(stamp).or_default();
        let is_new = told.is_empty();
        told.push(word);
        self.size += 1;
        if is_new {
            self.size += BUFFER;
            self.entry(into).fetched.push((at.get(), vec![stamp]));
        }
        if let Word::Logged(entry) = word {
            self.is_used(entry.op);
        }
    }

    /// What a sector with this stamp says, if it is one of metadata.
    pub fn words(&self, stamp: u64) -> &[Word] {
        self.told.get(&stamp).map_or(&[], Vec::as_slice)
    }

    pub fn forget(&mut self, id: u64, first: Lba, count: Sectors) {
        self.cut(id, first.get(), count.get());
        self.give_up();
    }

    /// A drive has taken so many sectors of a write.
    pub fn accepted(&mut self, id: u64, count: u64) {
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.waiting += count;
        }
    }

    /// So many sectors of a write that a drive has taken are on its media, or never will be.
    pub fn dropped(&mut self, id: u64, count: u64) {
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.waiting = buffer.waiting.saturating_sub(count);
            self.idle.push(id);
            self.give_up();
        }
    }

    /// The command is done, and nobody will ask for its data but those who have said so.
    pub fn over(&mut self, id: u64) {
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.is_over = true;
            self.idle.push(id);
            self.give_up();
        }
    }

    /// How much memory all of them take, in sectors of a drive.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Something is made of this buffer, or tells of it.
    fn is_used(&mut self, id: u64) {
        self.entry(id).uses += 1;
    }

    fn is_not_used(&mut self, id: u64) {
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.uses = buffer.uses.saturating_sub(1);
            self.idle.push(id);
        }
    }

    /// Gives up the buffers that nobody needs, and what was kept for them alone.
    fn give_up(&mut self) {
        while let Some(id) = self.idle.pop() {
            let Some(buffer) = self.buffers.get(&id) else { continue };
            if !buffer.is_over || buffer.uses > 0 || buffer.waiting > 0 {
                continue;
            }
            let Some(buffer) = self.buffers.remove(&id) else { continue };
            self.count(BUFFER + buffer.size(), 0);
            buffer.terms.iter().for_each(|term| self.is_not_used(term.from));
        }
    }

    /// Takes out what was said of these addresses of a buffer.
    fn cut(&mut self, id: u64, first: u64, count: u64) {
        let Some(buffer) = self.buffers.get_mut(&id) else { return };
        if buffer.terms.is_empty() && buffer.fetched.is_empty() {
            return;
        }
        let had = buffer.size();
        let before = std::mem::take(&mut buffer.terms);
        buffer.cut(first, count, &before);
        let has = buffer.size();
        // Those that are left are counted first, so that none is given up between.
        let after: Vec<u64> =
            if before.is_empty() { Vec::new() } else { buffer.terms.iter().map(|term| term.from).collect() };
        self.count(had, has);
        after.into_iter().for_each(|from| self.is_used(from));
        before.iter().for_each(|term| self.is_not_used(term.from));
    }

    /// What is in part of a buffer now. `None` where it is a sum of itself.
    pub fn look(&self, id: u64, first: u64, count: u64) -> Option<Vec<u64>> {
        let mut stamps = vec![0; count as usize];
        self.add(&mut stamps, id, first, 1, DEEPEST).then_some(stamps)
    }

    /// Adds part of a buffer, multiplied with a factor.
    fn add(&self, sum: &mut [u64], id: u64, first: u64, factor: u8, depth: u32) -> bool {
        let end = first + sum.len() as u64;
        let Some(buffer) = self.buffers.get(&id) else { return true };
        if depth == 0 {
            return false;
        }
        if let Some((written, count)) = buffer.written {
            for sector in first.max(written)..end.min(written + count) {
                sum[(sector - first) as usize] ^= times(stamp(id, sector), factor);
            }
        }
        for (at, stamps) in &buffer.fetched {
            let (from, to) = (first.max(*at), end.min(at + stamps.len() as u64));
            if from < to {
                let sum = &mut sum[(from - first) as usize..(to - first) as usize];
                let there = &stamps[(from - at) as usize..];
                sum.iter_mut().zip(there).for_each(|(sum, &stamp)| *sum ^= times(stamp, factor));
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
    /// What is in it, in sectors of a drive.
    fn size(&self) -> u64 {
        let fetched: u64 = self.fetched.iter().map(|(_, stamps)| stamps.len() as u64 / 2).sum();
        fetched + self.terms.len() as u64 * TERM
    }

    /// Takes out what was said of these addresses: these parts of sums, and what was fetched.
    fn cut(&mut self, first: u64, count: u64, terms: &[Term]) {
        let end = first + count;
        for &term in terms {
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
        for (at, stamps) in std::mem::take(&mut self.fetched) {
            let behind = at + stamps.len() as u64;
            if at < first {
                self.fetched.push((at, stamps[..(behind.min(first) - at) as usize].to_vec()));
            }
            if behind > end {
                let from = at.max(end);
                self.fetched.push((from, stamps[(from - at) as usize..].to_vec()));
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
