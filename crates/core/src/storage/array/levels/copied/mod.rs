//! RAID 0, 1, 01 and 10: stripe units, each stored in a fixed number of copies.
//!
//! - **near**: the copies of a stripe unit are adjacent, member by member and row by row: with two copies on
//!   four members the rows are `0 0 1 1 / 2 2 3 3`; on three, `0 0 1 / 1 2 2`. The number of members need not
//!   be a multiple of the number of copies.
//! - **far**: each member is cut into as many parts as there are copies. The first part is striped as in RAID
//!   0; the others hold the same, each shifted by one more member. The first copy of everything lies on the
//!   first, fastest part of all members: reads of the first copy are those of RAID 0, which is what md
//!   chooses with this layout.
//! - **offset**: each row of stripe units is repeated in the next row, shifted by one member.
//! - **sets**: a striped set of the first members, and further sets with the same contents (RAID 01).
//!
//! Source: the Linux kernel, drivers/md/raid10.c, and md(4), for near, far and offset.
mod level;
mod losses;
mod plan;
mod repair;
mod windows;

use crate::storage::array::levels::raid_level::SectorRole;
use crate::storage::array::members::Spot;
use crate::storage::array::params::Copies;
use core::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CopyLayout {
    Near,
    Far,
    Offset,
    Sets,
}

/// Part of one stripe unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Number of the stripe unit in the array, from 0.
    pub chunk: u64,
    /// Sectors from the beginning of the stripe unit.
    pub offset: u64,
    /// Sectors, at least one.
    pub count: u64,
}

/// The layout of RAID 0, 1, 01 and 10: where each copy of each stripe unit lies. All sizes in sectors.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    kind: CopyLayout,
    members: u64,
    copies: u64,
    unit: u64,
    /// Rows of stripe units on each member.
    rows: u64,
    /// Stripe units of the array.
    chunks: u64,
    /// Where on each member its first stripe unit begins.
    start: u64,
}

impl Copied {
    /// RAID 0 over `members`, of which the smallest has `least` sectors, in stripe units of `unit`.
    pub fn striped(members: u64, unit: u64, least: u64) -> Self {
        Self::new(CopyLayout::Near, members, 1, unit, least)
    }

    /// RAID 1: each of `members` holds everything.
    pub fn mirrored(members: u64, least: u64) -> Self {
        Self::new(CopyLayout::Near, members, members, least, least)
    }

    /// RAID 01: `copies` striped sets of `members / copies` members each.
    pub fn sets(members: u64, copies: u64, unit: u64, least: u64) -> Self {
        Self::new(CopyLayout::Sets, members, copies, unit, least)
    }

    /// RAID 10 in md's near, far or offset layout.
    pub fn spread(members: u64, copies: u64, layout: Copies, unit: u64, least: u64) -> Self {
        let kind = match layout {
            Copies::Near => CopyLayout::Near,
            Copies::Far => CopyLayout::Far,
            Copies::Offset => CopyLayout::Offset,
        };
        Self::new(kind, members, copies, unit, least)
    }

    fn new(kind: CopyLayout, members: u64, copies: u64, unit: u64, least: u64) -> Self {
        let whole = least / unit;
        let (rows, chunks) = match kind {
            CopyLayout::Near => (whole, whole * members / copies),
            // Each part, and each repeated row, must be whole.
            CopyLayout::Far | CopyLayout::Offset => (whole / copies * copies, whole / copies * members),
            CopyLayout::Sets => (whole, whole * (members / copies)),
        };
        Copied { kind, members, copies, unit, rows, chunks, start: 0 }
    }

    /// The same layout behind the first `start` sectors of each member, which are left out.
    pub fn behind(self, start: u64) -> Self {
        Copied { start, ..self }
    }

    /// Sectors that hosts can address.
    pub fn capacity(&self) -> u64 {
        self.chunks * self.unit
    }

    /// Copies of each sector.
    pub fn copies(&self) -> u16 {
        self.copies as u16
    }

    /// Members, all copies counted.
    pub fn members(&self) -> u64 {
        self.members
    }

    /// Sectors of a stripe unit.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Where on each member its first stripe unit begins.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The members of a copy's striped set, where copies are sets: a set is given up as a whole when one of
    /// its members is missing.
    #[inline]
    pub fn set(&self, copy: u16) -> Option<Range<u16>> {
        let columns = (self.members / self.copies) as u16;
        (self.kind == CopyLayout::Sets).then(|| copy * columns..(copy + 1) * columns)
    }

    /// Sectors of each member that the array uses.
    pub fn used(&self) -> u64 {
        self.start + self.rows * self.unit
    }

    /// The piece that begins at an address and ends with its stripe unit, or before `end`.
    #[inline]
    pub fn piece(&self, at: u64, end: u64) -> Piece {
        let (chunk, offset) = (at / self.unit, at % self.unit);
        Piece { chunk, offset, count: (end - at).min(self.unit - offset) }
    }

    /// Where a copy of a piece lies.
    #[inline]
    pub fn spot(&self, piece: &Piece, copy: u16) -> Spot {
        let (n, k, copy) = (self.members, self.copies, u64::from(copy));
        let (slot, row) = match self.kind {
            CopyLayout::Near => {
                let place = piece.chunk * k + copy;
                (place % n, place / n)
            }
            CopyLayout::Far => ((piece.chunk + copy) % n, copy * (self.rows / k) + piece.chunk / n),
            CopyLayout::Offset => ((piece.chunk + copy) % n, piece.chunk / n * k + copy),
            CopyLayout::Sets => {
                let columns = n / k;
                (copy * columns + piece.chunk % columns, piece.chunk / columns)
            }
        };
        Spot { slot: slot as u16, at: self.start + row * self.unit + piece.offset }
    }

    /// What a place holds, and how many sectors of its stripe unit follow from there.
    pub fn held(&self, spot: Spot) -> (SectorRole, u64) {
        let (n, k, slot) = (self.members, self.copies, u64::from(spot.slot));
        let Some(at) = spot.at.checked_sub(self.start) else {
            return (SectorRole::Nothing, self.start - spot.at);
        };
        let (row, offset) = (at / self.unit, at % self.unit);
        let left = self.unit - offset;
        // The member `copy` places before this one.
        let before = |copy: u64| (slot + n - copy % n) % n;
        let (chunk, copy) = match self.kind {
            CopyLayout::Near => ((row * n + slot) / k, (row * n + slot) % k),
            CopyLayout::Far => {
                let part = self.rows / k;
                let copy = row / part.max(1);
                (row % part.max(1) * n + before(copy), copy)
            }
            CopyLayout::Offset => (row / k * n + before(row % k), row % k),
            CopyLayout::Sets => {
                let columns = n / k;
                (row * columns + slot % columns, slot / columns)
            }
        };
        if row >= self.rows || chunk >= self.chunks || copy >= k {
            return (SectorRole::Nothing, left);
        }
        (SectorRole::Data { first: chunk * self.unit + offset, copy: copy as u16 }, left)
    }

    /// The first and the end of the address range that contains everything stored on any member from `first`
    /// up to `end`.
    pub fn around(&self, first: u64, end: u64) -> (u64, u64) {
        let (n, k) = (self.members, self.copies);
        let (first, end) = (first.saturating_sub(self.start), end.saturating_sub(self.start));
        let (from, to) = (first / self.unit, end.div_ceil(self.unit));
        let (from, to) = match self.kind {
            // Every member has the same at the same place.
            CopyLayout::Near if n == k => return (first, end.min(self.capacity())),
            CopyLayout::Near => (from * n / k, (to * n).div_ceil(k)),
            CopyLayout::Far => {
                let part = (self.rows / k).max(1);
                let is_one = from / part == (to - 1) / part;
                if is_one { (from % part * n, ((to - 1) % part + 1) * n) } else { (0, part * n) }
            }
            CopyLayout::Offset => (from / k * n, to.div_ceil(k) * n),
            CopyLayout::Sets => (from * (n / k), to * (n / k)),
        };
        (from * self.unit, (to * self.unit).min(self.capacity()))
    }

    /// What a member stores from `first` up to `end`: pieces, and where each begins on it.
    pub fn pieces_of(&self, slot: u16, first: u64, end: u64) -> impl Iterator<Item = (Piece, u64)> {
        let mut at = first;
        let next = move || {
            (at < end).then(|| {
                let spot = Spot { slot, at };
                let (held, left) = self.held(spot);
                let count = left.min(end - at);
                at += count;
                let SectorRole::Data { first, .. } = held else { return None };
                Some((self.piece(first, first + count), spot.at))
            })
        };
        core::iter::from_fn(next).flatten()
    }
}
