//! What a read of any address of a target would find on its drives: where it lies, or, where that member is missing, what
//! the others make of it. Without the way there: what is under way, and what memories hold, is not looked at.
use super::consistent::{index_of, touched};
use super::field::{BLANK, solve, times, weight};
use super::media::{Media, Sector};
use super::sparse::PAGE;
use drivelab_core::storage::array::layout::{Layout, RaidZ, Rows, Spot};
use std::cell::Cell;

/// The drives of a target and what is on them.
pub struct Contents<'a> {
    /// None where there is one drive.
    layout: Option<&'a Layout>,
    /// The drive of each slot that has one.
    pub drives: &'a [Option<u16>],
    pub media: &'a Media,
    /// The drive's page that was looked at last: addresses mostly come one behind the other.
    last: Cell<(u16, u64, &'a [Sector])>,
}

impl<'a> Contents<'a> {
    /// `drives` are those of the slots that have one; without a layout there is one.
    pub fn new(layout: Option<&'a Layout>, drives: &'a [Option<u16>], media: &'a Media) -> Self {
        Contents { layout, drives, media, last: Cell::new((0, u64::MAX, &[])) }
    }

    pub fn layout(&self) -> Option<&'a Layout> {
        self.layout
    }

    /// What a read finds; `None` where too little is left.
    pub fn get(&self, address: u64) -> Option<u64> {
        let home = self.home(address);
        if let Some(drive) = self.drives[usize::from(home.slot)] {
            return Some(self.on(drive, home.at));
        }
        match self.layout? {
            Layout::Linear(_) => None,
            Layout::Copied(copied) => {
                let piece = copied.piece(address, address + 1);
                let spots = (0..copied.copies()).map(|copy| copied.spot(&piece, copy));
                spots.filter_map(|spot| self.at(spot)).next()
            }
            Layout::Rows(rows) => self.made_of_row(rows, address),
            Layout::RaidZ(pool) => self.made_of_record(pool, address),
        }
    }

    fn at(&self, spot: Spot) -> Option<u64> {
        Some(self.media.get(self.drives[usize::from(spot.slot)]?, spot.at))
    }

    /// What a drive has at a place of its own.
    fn on(&self, drive: u16, at: u64) -> u64 {
        let (of, page, mut sectors) = self.last.get();
        if (of, page) != (drive, at / PAGE) {
            sectors = self.media.page(drive, at / PAGE).unwrap_or(&[]);
            self.last.set((drive, at / PAGE, sectors));
        }
        sectors.get((at % PAGE) as usize).map_or(BLANK, |sector| sector.accepted)
    }

    /// Where an address lies while nothing is missing: of copies the first.
    pub fn home(&self, address: u64) -> Spot {
        self.layout.map_or(Spot { slot: 0, at: address }, |layout| layout.home(address))
    }

    fn made_of_row(&self, rows: &Rows, address: u64) -> Option<u64> {
        let cell = rows.cell(address, address + 1);
        let row = rows.row(cell.row);
        let at = row.at + cell.offset;
        let data = |column| self.at(Spot { slot: rows.data_of(&row, column), at });
        let parity = |which| self.at(Spot { slot: rows.parity_of(&row, which), at });
        let factor = |which, column| weight(which, index_of(rows, cell.row, column));
        made_of_sums(cell.column, rows.columns(), rows.parities(), data, parity, factor)
    }

    fn made_of_record(&self, pool: &RaidZ, address: u64) -> Option<u64> {
        let map = pool.map();
        let (parities, columns) = (map.parities(), map.columns());
        let (place, wanted, offset) = pool.column_at(address);
        let found = |index: usize| {
            let column = pool.column(place, index);
            let spot = Spot { slot: column.slot, at: column.at + offset };
            if offset < column.count { self.at(spot) } else { Some(BLANK) }
        };
        let first = usize::from(parities);
        let data = |column: u32| found(first + column as usize);
        let factor = |which, column: u32| weight(which, (columns - 1 - first) as u32 - column);
        let parity = |which: u8| found(which.into());
        made_of_sums((wanted - first) as u32, (columns - first) as u32, parities, data, parity, factor)
    }

    /// All addresses that lie where any drive has been touched, upward.
    pub fn addresses(&self) -> Vec<u64> {
        let Some(layout) = self.layout else { return touched(self.drives, self.media) };
        let mut all = Vec::new();
        for (slot, drive) in (0..).zip(self.drives) {
            let Some(drive) = *drive else { continue };
            let there = self.media.touched(drive).into_iter();
            all.extend(there.filter_map(|at| layout.address_at(Spot { slot, at })));
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// One datum of a row from the others and its parities; `None` where more are missing than there are parities left.
fn made_of_sums(
    wanted: u32,
    columns: u32,
    parities: u8,
    data: impl Fn(u32) -> Option<u64>,
    parity: impl Fn(u8) -> Option<u64>,
    factor: impl Fn(u8, u32) -> u8,
) -> Option<u64> {
    let mut missing = vec![wanted];
    missing.extend((0..columns).filter(|&column| column != wanted && data(column).is_none()));
    let equation = |which: u8| {
        let there = (0..columns).filter_map(|column| Some(times(data(column)?, factor(which, column))));
        let sum = there.fold(parity(which)?, |sum, part| sum ^ part);
        Some((missing.iter().map(|&column| factor(which, column)).collect(), sum))
    };
    let equations: Vec<(Vec<u8>, u64)> = (0..parities).filter_map(equation).take(missing.len()).collect();
    if equations.len() < missing.len() { None } else { solve(equations) }
}
