//! A band of a row: the same stretch of each of its stripe units. Which of its units can be read, which are
//! computed from the rest, and which parts of it a command covers.
use super::super::gf;
use super::{Row, Rows};
use crate::command::{Access, Outcome};
use crate::storage::array::members::Spot;
use crate::storage::array::plan::{Plan, Source};
use crate::storage::array::stripe_request::Phase;
use crate::storage::array::unreadable::UnreadableList;

/// The part of a row that a command covers: from one place in it to another.
#[derive(Clone, Copy)]
pub struct Reach {
    /// The address of the array at which the row begins.
    pub row_begin: u64,
    pub unit: u64,
    /// The first column, and where in its unit the part begins.
    pub first: u32,
    pub begin: u64,
    /// The last column, and where in its unit the part ends.
    pub last: u32,
    pub end: u64,
}

impl Reach {
    /// The reach of the addresses from `at` to before `end`, which lie in one row.
    #[inline]
    pub fn new(rows: &Rows, row: u64, at: u64, end: u64) -> Self {
        let (row_begin, unit) = (row * rows.row_data(), rows.unit());
        let (from, to) = (at - row_begin, end - 1 - row_begin);
        let (first, last) = (from / unit, to / unit);
        let (begin, end) = (from - first * unit, to - last * unit + 1);
        Reach { row_begin, unit, first: first as u32, begin, last: last as u32, end }
    }

    /// The part of a column's unit that it covers between two offsets; nothing when the end is not above the
    /// begin.
    #[inline]
    pub fn part(&self, column: u32, lo: u64, hi: u64) -> (u64, u64) {
        if column < self.first || column > self.last {
            return (hi, lo);
        }
        let begin = if column == self.first { self.begin.max(lo) } else { lo };
        let end = if column == self.last { self.end.min(hi) } else { hi };
        (begin, end)
    }

    /// The columns that it covers between two offsets: they are adjacent.
    #[inline]
    pub fn touched(&self, lo: u64, hi: u64) -> (u32, u32) {
        let has = |column| {
            let (begin, end) = self.part(column, lo, hi);
            begin < end
        };
        let (mut first, mut end) = (self.first, self.last + 1);
        if !has(self.first) {
            first += 1;
        }
        if first < end && !has(self.last) {
            end -= 1;
        }
        (first, end.max(first))
    }

    /// The array's address of an offset in a column's unit.
    #[inline]
    pub fn address(&self, column: u32, offset: u64) -> u64 {
        self.row_begin + u64::from(column) * self.unit + offset
    }
}

/// A stretch of a row on all its members.
#[derive(Clone, Copy)]
pub struct Band {
    pub rows: Rows,
    pub row: Row,
    /// Where on each member it begins, and its length.
    pub at: u64,
    pub count: u64,
    /// Data units that cannot be read: how many, and the first of them.
    pub lost: usize,
    pub lost_columns: [u32; gf::MOST],
    /// As bits: the parity units that can be read, and those on a drive that is present.
    pub readable: u8,
    pub writable: u8,
    /// Members without valid contents here, whatever reads may have found unreadable.
    pub gone: u32,
}

impl Band {
    /// A band of which everything can be read.
    #[inline]
    pub fn whole(rows: &Rows, row: Row, lo: u64, hi: u64) -> Self {
        let all = ((1u32 << rows.parities()) - 1) as u8;
        Band {
            rows: *rows,
            row,
            at: row.at + lo,
            count: hi - lo,
            lost: 0,
            lost_columns: [0; gf::MOST],
            readable: all,
            writable: all,
            gone: 0,
        }
    }

    pub fn columns(&self) -> u32 {
        self.rows.columns()
    }

    #[inline]
    pub fn data(&self, column: u32) -> Spot {
        Spot { slot: self.rows.data_of(&self.row, column), at: self.at }
    }

    #[inline]
    pub fn parity(&self, which: u8) -> Spot {
        Spot { slot: self.rows.parity_of(&self.row, which), at: self.at }
    }

    pub fn parities(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.rows.parities()
    }

    pub fn can_read(&self, column: u32) -> bool {
        // If more are lost than are listed, nothing is computed.
        !self.lost_columns[..self.lost.min(gf::MOST)].contains(&column)
    }

    /// Whether the data that cannot be read can be computed from the rest.
    pub fn can_be_computed(&self) -> bool {
        self.lost <= self.readable.count_ones() as usize
    }

    /// The parities from which the unreadable units are computed.
    pub fn chosen(&self) -> ([u8; gf::MOST], usize) {
        let mut chosen = [0; gf::MOST];
        let readable = self.parities().filter(|which| self.readable >> which & 1 == 1).take(self.lost);
        let mut count = 0;
        for which in readable {
            chosen[count] = which;
            count += 1;
        }
        (chosen, count)
    }
}

impl Rows {
    /// A part of a row, and what of it a stripe request with this list of unreadable stretches can read.
    #[inline]
    pub(crate) fn band(
        &self,
        plan: &Plan<'_>,
        row: Row,
        lo: u64,
        hi: u64,
        unreadable: UnreadableList,
    ) -> Band {
        let mut band = Band::whole(self, row, lo, hi);
        if plan.members().impaired > 0 || !unreadable.is_empty() {
            self.find_unreadable(plan, &mut band, unreadable);
        }
        band
    }

    /// Determines which units of a band cannot be read.
    fn find_unreadable(&self, plan: &Plan<'_>, band: &mut Band, unreadable: UnreadableList) {
        for column in 0..band.columns() {
            let spot = band.data(column);
            let is_there = plan.members().can_read(spot, band.count);
            band.gone += u32::from(!is_there);
            if !is_there || plan.is_unreadable(unreadable, spot, band.count) {
                if let Some(place) = band.lost_columns.get_mut(band.lost) {
                    *place = column;
                }
                band.lost += 1;
            }
        }
        for which in band.parities() {
            let spot = band.parity(which);
            let is_there = plan.members().can_read(spot, band.count);
            band.gone += u32::from(!is_there);
            if !is_there || plan.is_unreadable(unreadable, spot, band.count) {
                band.readable &= !(1 << which);
            }
            if !plan.members().can_write(spot.slot) {
                band.writable &= !(1 << which);
            }
        }
    }

    /// Reads a data unit of a band.
    #[inline]
    pub(crate) fn bring(&self, plan: &mut Plan<'_>, band: &Band, column: u32) -> u64 {
        let id = plan.add(Phase::Read, Access::Read, band.data(column), band.count);
        plan.note_brought(column, id);
        id
    }

    #[inline]
    pub(crate) fn bring_parity(&self, plan: &mut Plan<'_>, band: &Band, which: u8) {
        let id = plan.add(Phase::Read, Access::Read, band.parity(which), band.count);
        plan.note_brought(band.columns() + u32::from(which), id);
    }

    /// Reads all readable data of a band, and as many parities as data units are unreadable. Returns the
    /// number of units.
    pub(crate) fn bring_all(&self, plan: &mut Plan<'_>, band: &Band) -> Result<u64, Outcome> {
        if !band.can_be_computed() {
            return Err(plan.unreadable_outcome());
        }
        let mut units = 0;
        for column in 0..band.columns() {
            if band.can_read(column) {
                self.bring(plan, band, column);
                units += 1;
            }
        }
        let (chosen, count) = band.chosen();
        for &which in &chosen[..count] {
            self.bring_parity(plan, band, which);
        }
        Ok(units + count as u64)
    }

    /// States that a command's data include, from `at` on, the old contents of a data unit from `from` on,
    /// times a factor: as read, or computed from everything else.
    pub(crate) fn mix_old(
        &self,
        plan: &mut Plan<'_>,
        (into, at): (u64, u64),
        band: &Band,
        (column, from, factor): (u32, u64, u8),
        count: u64,
    ) {
        if !plan.keeps_data() || count == 0 {
            return;
        }
        if let Some(id) = plan.brought(column) {
            return plan.mix(into, at, Source { id, at: from, factor }, count);
        }
        let row = &band.row;
        let index = |column| self.index_of(row, column);
        let Some(place) = band.lost_columns[..band.lost].iter().position(|&lost| lost == column) else {
            return;
        };
        let lost = band.lost_columns.map(index);
        let (chosen, parities) = band.chosen();
        let solved = gf::solve(&lost[..band.lost], &chosen[..parities])[place];
        for (&which, times) in chosen[..parities].iter().zip(solved) {
            if let Some(id) = plan.brought(band.columns() + u32::from(which)) {
                let factor = gf::mul(factor, times);
                plan.mix(into, at, Source { id, at: from, factor }, count);
            }
        }
        for other in (0..band.columns()).filter(|&other| band.can_read(other)) {
            let Some(id) = plan.brought(other) else { continue };
            let times = chosen[..parities]
                .iter()
                .zip(solved)
                .fold(0, |sum, (&which, times)| sum ^ gf::mul(times, gf::factor(which, index(other))));
            let factor = gf::mul(factor, times);
            plan.mix(into, at, Source { id, at: from, factor }, count);
        }
    }

    /// States that a command's data include, from the band's begin on, its old parity.
    pub(crate) fn mix_parity(&self, plan: &mut Plan<'_>, (into, at): (u64, u64), band: &Band, which: u8) {
        if let Some(id) = plan.brought(band.columns() + u32::from(which)) {
            plan.mix(into, at, Source { id, at: band.at, factor: 1 }, band.count);
        }
    }
}

/// The stretches of a stripe unit between these offsets, in ascending order, none longer than `most`.
pub fn bands<const N: usize>(mut edges: [u64; N], most: u64) -> impl Iterator<Item = (u64, u64)> {
    edges.sort_unstable();
    let (mut at, mut next) = (edges[0], 1);
    core::iter::from_fn(move || {
        while next < N && edges[next] == at {
            next += 1;
        }
        let from = at;
        at = (*edges.get(next)?).min(from + most);
        Some((from, at))
    })
}
