//! The written data of a flash drive that are not on its dies yet: those that wait for a program, oldest first, and those of
//! the programs under way.
//!
//! Programs end in the order in which they began, because the map that says where data lie is updated in that order. So of
//! two versions of a sector the newer one always reaches a die last.
use super::super::cache::dirty::DirtyPiece;
use super::super::cache::grid::Grid;
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot, some};
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Lba, Sectors};

/// At this number of waiting pieces a write must wait.
pub const PIECES_MAX: u32 = 1 << 16;

/// The newest version of some sectors: it waits, or is being programmed.
#[derive(Clone, Copy)]
struct Newest {
    piece: DirtyPiece,
    /// The program that writes it; `None` while it waits.
    program: Option<u64>,
    older: Slot,
    younger: Slot,
}

/// One program under way.
#[derive(Clone, Copy)]
struct Program {
    pieces: u32,
    sectors: u64,
}

/// See the file.
pub struct WriteBuffer {
    limit: Sectors,
    newest: Slab<Newest>,
    by_address: Grid,
    /// The waiting pieces by age.
    oldest: Slot,
    youngest: Slot,
    waiting: u64,
    waiting_pieces: u32,
    /// The pieces of all programs under way, oldest program first.
    flying: VecDeque<DirtyPiece>,
    programs: VecDeque<Program>,
    flying_sectors: u64,
    /// The number of the next program.
    next_program: u64,
    accepted: u64,
}

impl WriteBuffer {
    pub fn new(limit: Sectors) -> Self {
        WriteBuffer {
            limit,
            newest: Slab::default(),
            by_address: Grid::default(),
            oldest: NONE,
            youngest: NONE,
            waiting: 0,
            waiting_pieces: 0,
            flying: VecDeque::new(),
            programs: VecDeque::new(),
            flying_sectors: 0,
            next_program: 0,
            accepted: 0,
        }
    }

    /// How many pieces were accepted so far: the next one gets this sequence number.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Whether no data wait or are being programmed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0 && self.programs.is_empty()
    }

    /// Sectors that wait for a program.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Pieces, and sectors, that are in the buffer.
    pub fn taken(&self) -> (u32, u64) {
        (self.waiting_pieces + self.flying.len() as u32, self.waiting + self.flying_sectors)
    }

    /// The piece that has waited longest.
    pub fn oldest(&self) -> Option<&DirtyPiece> {
        some(self.oldest).map(|slot| &self.newest.get(slot).piece)
    }

    /// Whether there is room for a write. One that is larger than the buffer goes in alone.
    pub fn has_room(&self, count: Sectors) -> bool {
        let taken = self.waiting + self.flying_sectors;
        (taken + count.get() <= self.limit.get() || taken == 0) && self.waiting_pieces + 2 <= PIECES_MAX
    }

    /// Whether data of these sectors wait.
    pub fn waits(&self, first: Lba, end: Lba) -> bool {
        let mut found = false;
        self.by_address.meeting(first.get(), end.get(), |slot, _, limit| {
            found |= limit > first.get() && self.newest.get(slot).program.is_none();
        });
        found
    }

    /// Whether data of these sectors are here.
    pub fn touches(&self, first: Lba, end: Lba) -> bool {
        // An older version that is still being programmed is here only beside a newer one.
        self.by_address.lowest(first.get(), end.get()).is_some()
    }

    /// When the last of what is here of these sectors has come over the link; the beginning of time if nothing is.
    pub fn there(&self, first: Lba, end: Lba) -> Instant {
        let mut there = Instant::ZERO;
        self.by_address.meeting(first.get(), end.get(), |slot, _, limit| {
            if limit > first.get() {
                there = there.max(self.newest.get(slot).piece.there);
            }
        });
        there
    }

    /// Whether all of these sectors are here.
    #[inline]
    pub fn covers(&self, first: Lba, end: Lba) -> bool {
        let mut at = first;
        while at < end {
            let Some(slot) = self.by_address.lowest(at.get(), at.get() + 1) else { return false };
            at = self.newest.get(slot).piece.end;
        }
        true
    }

    /// Whether everything accepted before this sequence number is on a die.
    pub fn is_persisted(&self, sequence: u64) -> bool {
        // Both are in the order in which they were accepted.
        self.flying.front().is_none_or(|piece| piece.sequence >= sequence)
            && self.oldest().is_none_or(|piece| piece.sequence >= sequence)
    }

    /// What is here: the programs under way, then what waits, oldest first.
    pub fn pieces(&self) -> impl Iterator<Item = DirtyPiece> + '_ {
        let mut at = self.oldest;
        let waiting = core::iter::from_fn(move || {
            let newest = self.newest.get(some(at)?);
            at = newest.younger;
            Some(newest.piece)
        });
        self.flying.iter().copied().chain(waiting)
    }

    /// Accepts a write; `dropped` is called for what waited for the same sectors. The sequence number is set here.
    pub fn accept(&mut self, new: DirtyPiece, mut dropped: impl FnMut(u64, Lba, Sectors)) {
        self.carve(new.first, new.end, &mut dropped);
        let piece = DirtyPiece { sequence: self.accepted, ..new };
        self.accepted += 1;
        self.add(Newest { piece, program: None, older: self.youngest, younger: NONE });
    }

    /// Removes these sectors from the newest versions: newer ones replace them.
    fn carve(&mut self, first: Lba, end: Lba, dropped: &mut impl FnMut(u64, Lba, Sectors)) {
        while let Some(slot) = self.by_address.lowest(first.get(), end.get()) {
            let old = *self.newest.get(slot);
            self.take(slot);
            let piece = old.piece;
            let (from, to) = (piece.first.max(first), piece.end.min(end));
            if old.program.is_none() {
                dropped(piece.write, from, to - from);
            }
            let (left, right) = (DirtyPiece { end: first, ..piece }, DirtyPiece { first: end, ..piece });
            for rest in [left, right] {
                if rest.first < rest.end {
                    // The rest keeps its age: it goes before the one that was younger.
                    let older = match (old.program, some(old.younger)) {
                        (Some(_), _) => NONE,
                        (None, None) => self.youngest,
                        (None, Some(younger)) => self.newest.get(younger).older,
                    };
                    self.add(Newest { piece: rest, older, ..old });
                }
            }
        }
    }

    fn add(&mut self, new: Newest) {
        let slot = self.newest.add(new);
        self.by_address.insert(slot, new.piece.first.get(), new.piece.end.get());
        if new.program.is_some() {
            return;
        }
        self.waiting += new.piece.count().get();
        self.waiting_pieces += 1;
        match some(new.older) {
            None => self.oldest = slot,
            Some(older) => self.newest.get_mut(older).younger = slot,
        }
        match some(new.younger) {
            None => self.youngest = slot,
            Some(younger) => self.newest.get_mut(younger).older = slot,
        }
    }

    fn take(&mut self, slot: Slot) {
        let Newest { piece, program, older, younger } = *self.newest.get(slot);
        self.by_address.remove(slot);
        self.newest.free(slot);
        if program.is_some() {
            return;
        }
        self.waiting -= piece.count().get();
        self.waiting_pieces -= 1;
        match some(older) {
            None => self.oldest = younger,
            Some(older) => self.newest.get_mut(older).younger = younger,
        }
        match some(younger) {
            None => self.youngest = older,
            Some(younger) => self.newest.get_mut(younger).older = older,
        }
    }

    /// A program begins with the oldest data, as many as fit into it. Returns when the last of them have come over the link,
    /// and how many sectors they are.
    pub fn launch(&mut self, most: Sectors) -> (Instant, u64) {
        let (mut there, mut sectors, mut pieces) = (Instant::ZERO, 0, 0);
        let program = Some(self.next_program);
        while sectors < most.get()
            && let Some(slot) = some(self.oldest)
        {
            let whole = self.newest.get(slot).piece;
            let end = whole.end.min(whole.first + Sectors::new(most.get() - sectors));
            let piece = DirtyPiece { end, ..whole };
            let younger = self.newest.get(slot).younger;
            self.take(slot);
            self.add(Newest { piece, program, older: NONE, younger: NONE });
            if end < whole.end {
                self.add(Newest {
                    piece: DirtyPiece { first: end, ..whole },
                    program: None,
                    older: NONE,
                    younger,
                });
            }
            self.flying.push_back(piece);
            there = there.max(piece.there);
            sectors += piece.count().get();
            pieces += 1;
        }
        self.next_program += 1;
        self.flying_sectors += sectors;
        self.programs.push_back(Program { pieces, sectors });
        (there, sectors)
    }

    /// The oldest program has ended: `persisted` is called for what it has written.
    ///
    /// # Panics
    /// When no program was under way.
    pub fn land(&mut self, mut persisted: impl FnMut(&DirtyPiece)) {
        let number = self.next_program - self.programs.len() as u64;
        let program = self.programs.pop_front().expect("a program is under way");
        self.flying_sectors -= program.sectors;
        for _ in 0..program.pieces {
            let piece = self.flying.pop_front().expect("a program has its pieces");
            persisted(&piece);
            let mut at = piece.first.get();
            while let Some(slot) = self.by_address.lowest(at, piece.end.get()) {
                let newest = self.newest.get(slot);
                at = newest.piece.end.get();
                if newest.program == Some(number) {
                    self.take(slot);
                }
            }
        }
    }
}
