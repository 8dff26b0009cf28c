//! The buffers of commands, each under its command's id: full from the host, filled by a member, or a sum of
//! others.
//!
//! Sums are stored as defined and evaluated when they are read: their terms may arrive later. A host's write
//! without data needs no memory, because its cells follow from its id.
//!
//! A buffer is dropped when its command is over, no memory holds it, no drive has data of it that are not on
//! its media, no sum is computed from it, and no valid record of a log refers to it. See [`DataOp`].
use crate::cell::{Cell, Stamp};
use crate::map::Map;
use crate::words::Words;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_core::data::{DataOp, Word};
use drivelab_core::storage::array::levels::gf;
use drivelab_units::{Lba, Sectors};

/// Maximum depth of nested sums: what an array, two caches and two schedulers produce together is far below
/// this.
const DEEPEST: u32 = 64;
/// Memory of a buffer and of a term of a sum, in bytes.
const BUFFER: u64 = 128;
const TERM: u64 = 48;

/// A term of a sum.
#[derive(Clone, Copy, Debug)]
struct Term {
    at: u64,
    count: u64,
    from: u64,
    from_at: u64,
    factor: u8,
}

#[derive(Clone, Debug)]
struct Buffer<C> {
    /// Data that a member, or whoever plays the host, has delivered, by address.
    fetched: Vec<(u64, Vec<C>)>,
    terms: Vec<Term>,
    /// The addresses of a host's write without data.
    written: Option<(u64, u64)>,
    /// The sectors of an array's metadata in it.
    word_sectors: Vec<u64>,
    /// Terms of sums that refer to it: with them its data may still reach a drive.
    uses: u32,
    /// References to it from logs: these bring none of its data to a drive.
    logged: u32,
    /// Number of memories that have data of it.
    memory_refs: u32,
    /// Sectors that drives have accepted, and that are not on their media yet.
    waiting: u64,
    is_over: bool,
}

impl<C> Buffer<C> {
    fn new() -> Self {
        let (fetched, terms, word_sectors) = (Vec::new(), Vec::new(), Vec::new());
        Buffer {
            fetched,
            terms,
            written: None,
            word_sectors,
            uses: 0,
            logged: 0,
            memory_refs: 0,
            waiting: 0,
            is_over: false,
        }
    }
}

/// All buffers.
pub struct Buffers<C = Stamp> {
    buffers: Map<Buffer<C>>,
    words: Words,
    /// Buffers to be re-checked: they may no longer be needed.
    idle: Vec<u64>,
    /// Memory of all buffers, in bytes.
    size: u64,
}

impl<C> Default for Buffers<C> {
    fn default() -> Self {
        Buffers { buffers: Map::default(), words: Words::default(), idle: Vec::new(), size: 0 }
    }
}

impl<C: Cell> Buffers<C> {
    /// For a target whose power is never cut: its metadata are not needed.
    #[must_use]
    pub fn without_words(self) -> Self {
        Buffers { words: Words::not_kept(), ..self }
    }

    /// Whether the words of metadata are stored.
    pub fn keeps_words(&self) -> bool {
        self.words.is_kept()
    }

    /// The buffer of a command; its memory is counted by [`Self::count`] when it changes.
    fn entry(&mut self, id: u64) -> &mut Buffer<C> {
        let size = &mut self.size;
        self.buffers.get_or_insert_with(id, || {
            *size += BUFFER;
            Buffer::new()
        })
    }

    /// The memory of a buffer has changed.
    fn count(&mut self, before: u64, after: u64) {
        self.size = self.size + after - before;
    }

    /// A host issues a write without data: its buffer is full of [`Cell::version`].
    pub fn write(&mut self, id: u64, first: Lba, count: Sectors) {
        let buffer = self.entry(id);
        (buffer.written, buffer.is_over) = (Some((first.get(), count.get())), false);
    }

    /// The data of these addresses are supplied from outside.
    pub fn bring(&mut self, id: u64, first: u64, cells: Vec<C>) {
        self.cut(id, first, cells.len() as u64);
        self.count(0, cells.len() as u64 * C::SIZE);
        self.entry(id).fetched.push((first, cells));
        self.give_up();
    }

    /// Part of a buffer gets part of another one added; other operations are ignored.
    pub fn mix(&mut self, op: &DataOp) {
        let DataOp::Mix { into, at, from, from_at, count, factor } = *op else { return };
        let (at, from_at, count) = (at.get(), from_at.get(), count.get());
        self.count(0, TERM);
        self.entry(into).terms.push(Term { at, count, from, from_at, factor });
        self.is_used(from);
    }

    /// A sector of an array's own write holds this word in addition to earlier ones. Its cell is its own
    /// version, whatever else is defined for it.
    pub fn add_word(&mut self, into: u64, at: Lba, word: Word) {
        let cell = C::version(into, at.get());
        if self.words.add(cell.head(), word)
            && let Word::Logged(entry) = word
            && !entry.is_whole
        {
            self.entry(entry.op).logged += 1;
        }
        let buffer = self.entry(into);
        if !buffer.word_sectors.contains(&at.get()) {
            buffer.word_sectors.push(at.get());
            buffer.fetched.push((at.get(), vec![cell]));
            self.count(0, C::SIZE);
        }
    }

    /// The words of the sector with this cell, if it is one of metadata.
    pub fn words(&self, cell: &C) -> &[Word] {
        self.words.get(cell.head())
    }

    /// Earlier operations on part of a buffer no longer apply.
    pub fn forget(&mut self, id: u64, first: Lba, count: Sectors) {
        self.cut(id, first.get(), count.get());
        self.give_up();
    }

    /// A memory has data of this buffer from now on.
    pub fn hold(&mut self, id: u64) {
        self.entry(id).memory_refs += 1;
    }

    /// A memory that had data of it no longer has any.
    pub fn release(&mut self, id: u64) {
        if let Some(buffer) = self.buffers.get_mut(id) {
            buffer.memory_refs = buffer.memory_refs.saturating_sub(1);
            self.idle.push(id);
            self.give_up();
        }
    }

    /// A drive has accepted `count` sectors of a write.
    pub fn accepted(&mut self, id: u64, count: u64) {
        if let Some(buffer) = self.buffers.get_mut(id) {
            buffer.waiting += count;
        }
    }

    /// `count` sectors of a write that a drive has accepted are on its media, or never will be.
    pub fn dropped(&mut self, id: u64, count: u64) {
        if let Some(buffer) = self.buffers.get_mut(id) {
            buffer.waiting = buffer.waiting.saturating_sub(count);
            if buffer.waiting == 0 && buffer.is_over {
                self.idle.push(id);
                self.give_up();
            }
        }
    }

    /// These cells of a write are on the media of a drive: metadata that were there are overwritten. The
    /// cells may belong to another command, which was merged into this one.
    pub fn persisted(&mut self, id: u64, drive: u16, first: u64, cells: &[C]) {
        let count = cells.len() as u64;
        if !self.words.is_empty() {
            self.words.record_written(
                drive,
                first,
                count,
                (first..).zip(cells).map(|(at, cell)| (at, cell.head())),
            );
            self.forget_words();
        }
        self.dropped(id, count);
    }

    /// A new, empty drive has this number.
    pub fn replace(&mut self, drive: u16) {
        self.words.replace(drive);
        self.forget_words();
        self.give_up();
    }

    /// The command is done, and its data are only needed by those that have registered for them.
    pub fn over(&mut self, id: u64) {
        if let Some(buffer) = self.buffers.get_mut(id) {
            buffer.is_over = true;
            self.idle.push(id);
            self.give_up();
        }
    }

    /// Number of buffers.
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// The ids of all buffers, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.buffers.keys()
    }

    /// Memory of all buffers, in bytes.
    pub fn size(&self) -> u64 {
        self.size + self.words.size()
    }

    /// A term of a sum refers to this buffer.
    fn is_used(&mut self, id: u64) {
        self.entry(id).uses += 1;
    }

    fn is_not_used(&mut self, id: u64) {
        if let Some(buffer) = self.buffers.get_mut(id) {
            buffer.uses = buffer.uses.saturating_sub(1);
            self.idle.push(id);
        }
    }

    /// Drops references from logs whose words can no longer be found.
    fn forget_words(&mut self) {
        while let Some(id) = self.words.poll_unused() {
            if let Some(buffer) = self.buffers.get_mut(id) {
                buffer.logged = buffer.logged.saturating_sub(1);
                self.idle.push(id);
            }
        }
    }

    /// Drops the buffers that are no longer needed, and what was kept only for them.
    fn give_up(&mut self) {
        while let Some(id) = self.idle.pop() {
            let Some(buffer) = self.buffers.get_mut(id) else { continue };
            if !buffer.is_over || buffer.memory_refs > 0 || buffer.waiting > 0 || buffer.uses > 0 {
                continue;
            }
            // It will not be written any more. Its metadata may refer to the command itself.
            for at in core::mem::take(&mut buffer.word_sectors) {
                self.words.is_written(C::version(id, at).head());
            }
            self.forget_words();
            if self.buffers.get(id).is_none_or(|buffer| buffer.logged > 0) {
                continue;
            }
            let Some(buffer) = self.buffers.remove(id) else { continue };
            self.count(BUFFER + buffer.size(), 0);
            buffer.terms.iter().for_each(|term| self.is_not_used(term.from));
        }
    }

    /// Removes what was defined for these addresses of a buffer.
    fn cut(&mut self, id: u64, first: u64, count: u64) {
        let Some(buffer) = self.buffers.get_mut(id) else { return };
        if buffer.terms.is_empty() && buffer.fetched.is_empty() {
            return;
        }
        let had = buffer.size();
        let before = core::mem::take(&mut buffer.terms);
        buffer.cut(first, count, &before);
        let has = buffer.size();
        // The remaining terms are counted first, so that none is dropped in between.
        let after: Vec<u64> =
            if before.is_empty() { Vec::new() } else { buffer.terms.iter().map(|term| term.from).collect() };
        self.count(had, has);
        after.into_iter().for_each(|from| self.is_used(from));
        before.iter().for_each(|term| self.is_not_used(term.from));
    }

    /// The present contents of part of a buffer; `None` where it is a sum of itself.
    pub fn peek(&self, id: u64, first: u64, count: u64) -> Option<Vec<C>> {
        let mut cells = vec![C::default(); count as usize];
        self.add(&mut cells, id, first, 1, DEEPEST).then_some(cells)
    }

    /// Adds part of a buffer, multiplied by a factor.
    fn add(&self, sum: &mut [C], id: u64, first: u64, factor: u8, depth: u32) -> bool {
        let end = first + sum.len() as u64;
        let Some(buffer) = self.buffers.get(id) else { return true };
        if depth == 0 {
            return false;
        }
        if let Some((written, count)) = buffer.written {
            for sector in first.max(written)..end.min(written + count) {
                sum[(sector - first) as usize].add(&C::version(id, sector), factor);
            }
        }
        for (at, cells) in &buffer.fetched {
            let (from, to) = (first.max(*at), end.min(at + cells.len() as u64));
            if from < to {
                let sum = &mut sum[(from - first) as usize..(to - first) as usize];
                let there = &cells[(from - at) as usize..];
                sum.iter_mut().zip(there).for_each(|(sum, cell)| sum.add(cell, factor));
            }
        }
        buffer.terms.iter().all(|term| {
            let (from, to) = (first.max(term.at), end.min(term.at + term.count));
            if from >= to {
                return true;
            }
            let part = &mut sum[(from - first) as usize..(to - first) as usize];
            let factor = gf::mul(term.factor, factor);
            self.add(part, term.from, term.from_at + (from - term.at), factor, depth - 1)
        })
    }
}

impl<C: Cell> Buffer<C> {
    /// Memory of its contents, in bytes.
    fn size(&self) -> u64 {
        let fetched: u64 = self.fetched.iter().map(|(_, cells)| cells.len() as u64).sum();
        fetched * C::SIZE + self.terms.len() as u64 * TERM
    }

    /// Removes what was defined for these addresses: these terms of sums, and delivered data.
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
        for (at, cells) in core::mem::take(&mut self.fetched) {
            let behind = at + cells.len() as u64;
            if at < first {
                self.fetched.push((at, cells[..(behind.min(first) - at) as usize].to_vec()));
            }
            if behind > end {
                let from = at.max(end);
                self.fetched.push((from, cells[(from - at) as usize..].to_vec()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::{stamp, times};

    fn mix(into: u64, at: u64, from: u64, from_at: u64, count: u64, factor: u8) -> DataOp {
        let (at, from_at, count) = (Lba::new(at), Lba::new(from_at), Sectors::new(count));
        DataOp::Mix { into, at, from, from_at, count, factor }
    }

    #[test]
    fn a_sum_is_computed_when_it_is_read() {
        let mut buffers = Buffers::<Stamp>::default();
        buffers.mix(&mix(9, 100, 1, 8, 4, 3));
        buffers.mix(&mix(9, 102, 2, 0, 2, 1));
        buffers.bring(2, 0, vec![70, 80]);
        buffers.write(1, Lba::new(8), Sectors::new(4));
        let of = |sector| times(stamp(1, sector), 3);
        assert_eq!(buffers.peek(9, 100, 4), Some(vec![of(8), of(9), of(10) ^ 70, of(11) ^ 80]));
        assert_eq!(buffers.peek(9, 103, 2), Some(vec![of(11) ^ 80, 0]));
    }

    #[test]
    fn what_is_forgotten_or_brought_anew_leaves_its_neighbours_alone() {
        let mut buffers = Buffers::<Stamp>::default();
        buffers.bring(2, 0, vec![1, 2, 3, 4, 5]);
        buffers.mix(&mix(9, 10, 2, 0, 5, 1));
        buffers.forget(9, Lba::new(11), Sectors::new(2));
        assert_eq!(buffers.peek(9, 10, 5), Some(vec![1, 0, 0, 4, 5]));
        buffers.bring(2, 3, vec![40]);
        assert_eq!(buffers.peek(9, 10, 5), Some(vec![1, 0, 0, 40, 5]));
    }

    #[test]
    fn a_sum_of_itself_is_found() {
        let mut buffers = Buffers::<Stamp>::default();
        buffers.mix(&mix(1, 0, 2, 0, 1, 1));
        buffers.mix(&mix(2, 0, 1, 0, 1, 1));
        assert_eq!(buffers.peek(1, 0, 1), None);
    }
}
