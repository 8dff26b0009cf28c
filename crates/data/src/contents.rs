//! What a read of any address of a target would find on its drives: at its place, or, where that member is
//! missing, as computed from the others. The path there is ignored: commands under way and the contents of
//! memories are not considered.
use crate::cell::{Cell, Stamp};
use crate::consistent::{index_of, touched};
use crate::media::{Media, Sector};
use crate::sparse::PAGE;
use alloc::vec;
use alloc::vec::Vec;
use core::cell;
use drivelab_core::storage::array::levels::gf;
use drivelab_core::storage::array::levels::{Layout, RaidZ, Rows, Spot};

/// The drives of a target and their contents.
pub struct Contents<'a, C = Stamp> {
    /// `None` where there is one drive.
    layout: Option<&'a Layout>,
    /// The drive of each slot that has one.
    pub drives: &'a [Option<u16>],
    /// What the drives hold.
    pub media: &'a Media<C>,
    /// Whether only the contents of the media count.
    without_caches: bool,
    /// The drive's page that was read last: addresses mostly come in sequence.
    last: cell::Cell<(u16, u64, &'a [Sector<C>])>,
}

impl<'a, C: Cell> Contents<'a, C> {
    /// `drives` are those of the slots that have one; without a layout there is one.
    pub fn new(layout: Option<&'a Layout>, drives: &'a [Option<u16>], media: &'a Media<C>) -> Self {
        Contents { layout, drives, media, without_caches: false, last: cell::Cell::new((0, u64::MAX, &[])) }
    }

    /// The same for the media only: the contents of the drives' caches are left out.
    #[must_use]
    pub fn without_caches(self) -> Self {
        Contents { without_caches: true, ..self }
    }

    /// The layout of the addresses on the members; `None` where there is one drive.
    pub fn layout(&self) -> Option<&'a Layout> {
        self.layout
    }

    /// What a read finds; `None` where too few members are left.
    pub fn get(&self, address: u64) -> Option<C> {
        let home = self.home(address);
        if let Some(drive) = self.drives[usize::from(home.slot)] {
            return Some(self.on(drive, home.at));
        }
        match self.layout? {
            Layout::Rows(rows) => self.made_of_row(rows, address),
            Layout::RaidZ(pool) => self.made_of_record(pool, address),
            layout => layout.copies_of(address).into_iter().find_map(|spot| self.at(spot)),
        }
    }

    fn at(&self, spot: Spot) -> Option<C> {
        Some(self.on(self.drives[usize::from(spot.slot)]?, spot.at))
    }

    /// What a drive has at one of its sectors.
    fn on(&self, drive: u16, at: u64) -> C {
        if self.without_caches {
            return self.media.sector(drive, at).persisted;
        }
        if self.media.platter(drive).is_some() {
            return self.media.get(drive, at);
        }
        let (of, page, mut sectors) = self.last.get();
        if (of, page) != (drive, at / PAGE) {
            sectors = self.media.page(drive, at / PAGE).unwrap_or(&[]);
            self.last.set((drive, at / PAGE, sectors));
        }
        sectors.get((at % PAGE) as usize).map_or_else(C::default, |sector| sector.accepted.clone())
    }

    /// Where an address lies while no member is missing: the first of its copies.
    pub fn home(&self, address: u64) -> Spot {
        self.layout.map_or(Spot { slot: 0, at: address }, |layout| layout.home(address))
    }

    fn made_of_row(&self, rows: &Rows, address: u64) -> Option<C> {
        let cell = rows.cell(address, address + 1);
        let row = rows.row(cell.row);
        let at = row.at + cell.offset;
        let data = |column| self.at(Spot { slot: rows.data_of(&row, column), at });
        let parity = |which| self.at(Spot { slot: rows.parity_of(&row, which), at });
        let index = |column| index_of(rows, cell.row, column);
        made_of_sums(cell.column, rows.columns(), rows.parities(), data, parity, index)
    }

    fn made_of_record(&self, pool: &RaidZ, address: u64) -> Option<C> {
        let map = pool.map();
        let (parities, columns) = (map.parities(), map.columns());
        let (place, wanted, offset) = pool.column_at(address);
        let found = |index: usize| {
            let column = pool.column(place, index);
            let spot = Spot { slot: column.slot, at: column.at + offset };
            if offset < column.count { self.at(spot) } else { Some(C::default()) }
        };
        let first = usize::from(parities);
        let data = |column: u32| found(first + column as usize);
        let index = |column: u32| (columns - 1 - first) as u32 - column;
        let parity = |which: u8| found(which.into());
        made_of_sums((wanted - first) as u32, (columns - first) as u32, parities, data, parity, index)
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

/// One data unit of a row, computed from the others and its parities; `None` where more are missing than
/// there are parities.
fn made_of_sums<C: Cell>(
    wanted: u32,
    columns: u32,
    parities: u8,
    data: impl Fn(u32) -> Option<C>,
    parity: impl Fn(u8) -> Option<C>,
    index: impl Fn(u32) -> u32,
) -> Option<C> {
    let (mut missing, mut there) = (vec![index(wanted)], Vec::new());
    for column in (0..columns).filter(|&column| column != wanted) {
        match data(column) {
            Some(data) => there.push((index(column), data)),
            None => missing.push(index(column)),
        }
    }
    let left: Vec<(u8, C)> = (0..parities).filter_map(|which| Some((which, parity(which)?))).collect();
    if left.len() < missing.len() {
        return None;
    }
    let which: Vec<u8> = left.iter().map(|(which, _)| *which).take(missing.len()).collect();
    let shares = gf::solve(&missing, &which)[0];
    let mut sum = C::default();
    for ((which, parity), share) in left.iter().zip(&shares[..missing.len()]) {
        sum.add(parity, *share);
        there.iter().for_each(|(index, data)| sum.add(data, gf::mul(*share, gf::factor(*which, *index))));
    }
    Some(sum)
}
