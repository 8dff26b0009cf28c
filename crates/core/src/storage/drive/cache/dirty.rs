//! Written data that are not on the media yet: what a power cut loses.
//!
//! The data are kept as pieces, each of one write and without overlaps: a newer write replaces what it
//! covers. Pieces are ordered by address (who holds this sector, what is adjacent behind), by age, and by
//! cylinder in [`Slots`] of their own, so that the drive can choose among them as it chooses among commands.
//! What the arm is writing at present is kept apart: newer data may arrive for the same sectors meanwhile and
//! must not be taken for written.
use super::grid::Grid;
use super::params::WriteBackParams;
use crate::storage::drive::queue::{Order, PositionKnowledge, QueueParams, Slots};
use crate::storage::slab::Slab;
use crate::storage::tree::{NONE, Slot, some};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors};

/// At this number of pieces a write must wait. Writes that bypass the cache may still split pieces into more.
pub const PIECES_MAX: u32 = 1 << 14;

/// Part of a write, or all of it.
#[derive(Clone, Copy, Debug)]
pub struct DirtyPiece {
    /// First sector on the drive.
    pub first: Lba,
    /// The sector after the last.
    pub end: Lba,
    /// The id of the command that wrote it.
    pub write: u64,
    /// Its sequence number among everything that the cache has accepted.
    pub sequence: u64,
    /// When the cache accepted it.
    pub since: Instant,
    /// The earliest instant at which the arm may start for it.
    pub from: Instant,
    /// When its first sector begins to arrive over the link.
    pub coming: Instant,
    /// When its last sector is in the cache.
    pub there: Instant,
}

impl DirtyPiece {
    /// Sectors of the piece.
    pub fn count(&self) -> Sectors {
        self.end - self.first
    }
}

#[derive(Clone, Copy)]
struct Kept {
    piece: DirtyPiece,
    older: Slot,
    younger: Slot,
}

/// The written data that a drive's cache holds, and the order in which they go to the media.
pub struct Dirty {
    /// The parameters that it was built with.
    pub params: WriteBackParams,
    /// The drive's parameters for choosing among pieces.
    pub queue: QueueParams,
    kept: Slab<Kept>,
    by_address: Grid,
    oldest: Slot,
    youngest: Slot,
    /// The pieces by cylinder and angle.
    pub slots: Slots,
    /// What the arm is writing, run by run.
    pub flying: Vec<DirtyPiece>,
    /// Groups of adjacent pieces in flight.
    flying_runs: u32,
    /// Groups of adjacent pieces, those in flight included.
    runs: u32,
    sectors: u64,
    accepted: u64,
}

impl Dirty {
    /// An empty cache for a drive with this many cylinders and this period of rotation in nanoseconds.
    pub fn new(params: &WriteBackParams, cylinders: u32, period: u64) -> Self {
        let depth = pieces_max(params);
        // No command waits for a piece, and under any protocol the firmware knows the angle of its platter.
        let queue =
            QueueParams { depth, order: Order::Sptf, knows: PositionKnowledge::Angle, ..QueueParams::NONE };
        Dirty {
            params: *params,
            kept: Slab::default(),
            by_address: Grid::default(),
            oldest: NONE,
            youngest: NONE,
            slots: Slots::new(&queue, cylinders, period),
            queue,
            flying: Vec::new(),
            flying_runs: 0,
            runs: 0,
            sectors: 0,
            accepted: 0,
        }
    }

    /// Whether no piece is waiting or in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty() && self.flying.is_empty()
    }

    /// Whether no piece is waiting for the arm.
    #[inline]
    pub fn is_still(&self) -> bool {
        self.by_address.is_empty()
    }

    /// Segments and sectors that written data take.
    #[inline]
    pub fn taken(&self) -> (u32, u64) {
        (self.runs, self.sectors)
    }

    /// How many pieces the cache has accepted so far: the next one gets this sequence number.
    #[inline]
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Whether there is room for a write.
    #[inline]
    pub fn has_room(&self, first: Lba, count: Sectors) -> bool {
        let pieces = self.by_address.len();
        // One write may cut another in two, and never takes more than two new slots.
        self.sectors + count.get() <= self.params.limit.get()
            && pieces + 2 <= pieces_max(&self.params)
            && (self.has_free_segment() || self.continues(first))
    }

    /// Whether written data may take another segment.
    #[inline]
    pub fn has_free_segment(&self) -> bool {
        self.runs < self.params.segments
    }

    /// The first piece of the run of adjacent pieces to which this one belongs.
    pub fn first_of_run(&self, slot: Slot) -> Slot {
        let mut first = slot;
        while let Some(before) = self.by_address.ending_at(self.piece(first).first.get()) {
            first = before;
        }
        first
    }

    /// Whether this sector follows data that wait.
    #[inline]
    pub fn continues(&self, first: Lba) -> bool {
        self.by_address.ending_at(first.get()).is_some()
            || self.flying.last().is_some_and(|piece| piece.end == first)
    }

    /// The piece in this slot, which must hold one.
    #[inline]
    pub fn piece(&self, slot: Slot) -> &DirtyPiece {
        &self.kept.get(slot).piece
    }

    /// The waiting piece that begins at exactly this sector.
    #[inline]
    pub fn at(&self, first: Lba) -> Option<Slot> {
        self.by_address.beginning_at(first.get())
    }

    /// The piece that has waited longest.
    #[inline]
    pub fn oldest(&self) -> Option<Slot> {
        some(self.oldest)
    }

    /// The pieces that wait, oldest first.
    pub fn by_age(&self) -> impl Iterator<Item = &DirtyPiece> + '_ {
        let mut at = self.oldest;
        core::iter::from_fn(move || {
            let kept = self.kept.get(some(at)?);
            at = kept.younger;
            Some(&kept.piece)
        })
    }

    /// The waiting piece with the lowest address of those that have one of these sectors.
    #[inline]
    fn lowest(&self, first: Lba, end: Lba) -> Option<Slot> {
        self.by_address.lowest(first.get(), end.get())
    }

    /// The sector up to which the data from `first` on are here without a gap at `now`; `first` itself if its
    /// own data are not here.
    pub fn held_from(&self, first: Lba, end: Lba, now: Instant) -> Lba {
        let mut at = first;
        while at < end
            && !self.is_empty()
            && let Some((_, until)) = self.newest(at, now)
        {
            at = until;
        }
        at
    }

    /// The write whose data a read of this sector finds here at `now`, and the sector up to which it covers
    /// them. Waiting data are newer than data in flight, also while they are still coming.
    #[inline]
    pub fn newest(&self, at: Lba, now: Instant) -> Option<(u64, Lba)> {
        if let Some(slot) = self.lowest(at, at + Sectors::new(1)) {
            let DirtyPiece { write, end, there, .. } = *self.piece(slot);
            return (there <= now).then_some((write, end));
        }
        let flies = self.flying.iter().find(|piece| piece.first <= at && at < piece.end)?;
        let newer = self.lowest(at, flies.end).map_or(flies.end, |slot| self.piece(slot).first);
        (flies.there <= now).then_some((flies.write, newer))
    }

    /// Whether data of these sectors wait for the arm.
    pub fn is_dirty(&self, first: Lba, end: Lba) -> bool {
        self.lowest(first, end).is_some()
    }

    /// Whether data of these sectors are waiting or in flight.
    pub fn touches(&self, first: Lba, end: Lba) -> bool {
        self.is_dirty(first, end) || self.flying.iter().any(|piece| piece.first < end && first < piece.end)
    }

    /// Accepts a write: older data of its sectors are replaced. `file` files a piece in the slots; the
    /// sequence number is set here.
    pub fn accept(
        &mut self,
        new: DirtyPiece,
        dropped: impl FnMut(u64, Lba, Sectors),
        mut file: impl FnMut(&mut Slots, Slot, &DirtyPiece),
    ) -> Slot {
        self.carve(new.first, new.end, dropped, &mut file);
        let piece = DirtyPiece { sequence: self.accepted, ..new };
        self.accepted += 1;
        let slot = self.add(piece, NONE);
        file(&mut self.slots, slot, &piece);
        slot
    }

    /// Removes these sectors from what waits: newer data have replaced them.
    pub fn carve(
        &mut self,
        first: Lba,
        end: Lba,
        mut dropped: impl FnMut(u64, Lba, Sectors),
        file: &mut impl FnMut(&mut Slots, Slot, &DirtyPiece),
    ) {
        while let Some(slot) = self.lowest(first, end) {
            let Kept { piece, younger, .. } = *self.kept.get(slot);
            self.take(slot);
            let (from, to) = (piece.first.max(first), piece.end.min(end));
            dropped(piece.write, from, to - from);
            // The rest of it keeps its age.
            let left = DirtyPiece { end: first, ..piece };
            let right = DirtyPiece { first: end, ..piece };
            for rest in [left, right] {
                if rest.first < rest.end {
                    let slot = self.add(rest, younger);
                    file(&mut self.slots, slot, &rest);
                }
            }
        }
    }

    /// Adds a piece, in age order before another one, or as the youngest.
    fn add(&mut self, piece: DirtyPiece, younger: Slot) -> Slot {
        self.runs = self.runs + 1 - self.neighbours(&piece);
        self.sectors += piece.count().get();
        let older = if younger == NONE { self.youngest } else { self.kept.get(younger).older };
        let kept = Kept { piece, older, younger };
        let slot = self.kept.add(kept);
        self.slots.reach(slot);
        if older == NONE {
            self.oldest = slot;
        } else {
            self.kept.get_mut(older).younger = slot;
        }
        if younger == NONE {
            self.youngest = slot;
        } else {
            self.kept.get_mut(younger).older = slot;
        }
        self.by_address.insert(slot, piece.first.get(), piece.end.get());
        slot
    }

    /// How many of the two sectors adjacent to a piece are waiting too.
    fn neighbours(&self, piece: &DirtyPiece) -> u32 {
        let before = self.by_address.ending_at(piece.first.get()).is_some();
        u32::from(before) + u32::from(self.at(piece.end).is_some())
    }

    /// Removes a waiting piece.
    pub fn take(&mut self, slot: Slot) -> DirtyPiece {
        let Kept { piece, older, younger } = *self.kept.get(slot);
        self.by_address.remove(slot);
        self.slots.remove(slot);
        if older == NONE {
            self.oldest = younger;
        } else {
            self.kept.get_mut(older).younger = younger;
        }
        if younger == NONE {
            self.youngest = older;
        } else {
            self.kept.get_mut(younger).older = older;
        }
        self.kept.free(slot);
        self.sectors -= piece.count().get();
        self.runs = self.runs + self.neighbours(&piece) - 1;
        piece
    }

    /// Sends a piece and the pieces adjacent behind it to the media, not beyond `until`.
    pub fn launch(&mut self, slot: Slot, until: Lba, now: Instant) -> (Lba, Lba) {
        let first = self.piece(slot).first;
        let until = until.min(first + self.params.run);
        (first, self.launch_run(slot, until, now))
    }

    /// Sends the oldest pieces to the media, each with those adjacent behind it as far as `border` says for its first sector:
    /// at most `runs` groups of them, and no more than `most` sectors unless one piece is larger. `run` is called for each
    /// group.
    pub fn launch_oldest(
        &mut self,
        (runs, most): (u32, Sectors),
        now: Instant,
        border: impl Fn(Lba) -> Lba,
        mut run: impl FnMut(Lba, Lba),
    ) {
        let mut left = most.get();
        while self.flying_runs < runs
            && let Some(oldest) = self.oldest()
        {
            let piece = self.piece(oldest);
            let (first, count) = (piece.first, piece.count().get());
            if !self.flying.is_empty() && (piece.there > now || count > left) {
                break;
            }
            let end = self.launch_run(oldest, border(first).min(first + Sectors::new(left)), now);
            left = left.saturating_sub((end - first).get());
            run(first, end);
        }
    }

    fn launch_run(&mut self, slot: Slot, until: Lba, now: Instant) -> Lba {
        let piece = self.take(slot);
        let (first, mut end) = (piece.first, piece.end);
        self.flying.push(piece);
        while let Some(next) = self.at(end).filter(|&next| self.piece(next).there <= now) {
            if self.piece(next).end > until {
                break;
            }
            let piece = self.take(next);
            end = piece.end;
            self.flying.push(piece);
        }
        self.sectors += (end - first).get();
        self.runs += 1;
        self.flying_runs += 1;
        end
    }

    /// What was in flight is on the media: the first sector of the first piece, and the one after the last's.
    ///
    /// # Panics
    /// When nothing was in flight.
    pub fn land(&mut self, persisted: impl FnMut(&DirtyPiece)) -> (Lba, Lba) {
        let (first, end) = (self.flying[0].first, self.flying[self.flying.len() - 1].end);
        self.flying.iter().for_each(persisted);
        self.sectors -= self.flying.iter().map(|piece| piece.count().get()).sum::<u64>();
        self.runs -= core::mem::take(&mut self.flying_runs);
        self.flying.clear();
        (first, end)
    }

    /// Groups of adjacent pieces in flight.
    pub fn flying_runs(&self) -> u32 {
        self.flying_runs
    }

    /// Where the waiting data that are contiguous from this piece on end, as far as `until`.
    pub fn run_end(&self, slot: Slot, until: Lba) -> Lba {
        let mut end = self.piece(slot).end;
        while end < until
            && let Some(next) = self.at(end)
        {
            end = self.piece(next).end;
        }
        end
    }

    /// Cuts the waiting piece that has sectors on both sides of this border, if there is one.
    pub fn cut(&mut self, border: Lba, file: &mut impl FnMut(&mut Slots, Slot, &DirtyPiece)) {
        let Some(slot) = self.lowest(border, border + Sectors::new(1)) else { return };
        let Kept { piece, younger, .. } = *self.kept.get(slot);
        if piece.first == border {
            return;
        }
        self.take(slot);
        for part in [DirtyPiece { end: border, ..piece }, DirtyPiece { first: border, ..piece }] {
            let slot = self.add(part, younger);
            file(&mut self.slots, slot, &part);
        }
    }

    /// Whether everything accepted before this sequence number is on the media.
    pub fn is_persisted(&self, sequence: u64) -> bool {
        self.flying.iter().all(|piece| piece.sequence >= sequence)
            && self.oldest().is_none_or(|slot| self.piece(slot).sequence >= sequence)
    }
}

/// Maximum number of pieces that writes may fill the cache with.
fn pieces_max(params: &WriteBackParams) -> u32 {
    (params.limit.get().saturating_add(2)).min(u64::from(PIECES_MAX)) as u32
}
