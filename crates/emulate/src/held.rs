//! What the drives hold of the sectors of a target, and whether that is at rest: whether nothing can be lost any more
//! by a power cut or by the failure of a member that the array survives.
use crate::ledger::Found;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::{Layout, Redundancy, Rows, SectorRole, Spot};
use drivelab_core::storage::array::members::MemberState;
use drivelab_data::consistent::{self, Stripe};
use drivelab_data::{Bytes, Contents, Media};

/// The most sectors that are looked at together.
const TOGETHER: u64 = 256;

/// The drives of a target and what they hold.
pub struct Held<'a> {
    array: Option<&'a Array>,
    /// The drive of each slot whose drive has all of its data.
    drives: Vec<Option<u16>>,
    media: &'a Media<Bytes>,
}

/// A run of sectors of the same data unit of a row.
struct Run {
    row: u64,
    /// The first sector, on each member.
    at: u64,
    column: u32,
    count: u64,
}

impl<'a> Held<'a> {
    pub fn new(array: Option<&'a Array>, media: &'a Media<Bytes>) -> Self {
        Held { array, drives: crate::store::drives(array), media }
    }

    fn layout(&self) -> Option<&'a Layout> {
        self.array.map(Array::layout)
    }

    fn rows(&self) -> Option<&'a Rows> {
        match self.layout() {
            Some(Layout::Rows(rows)) => Some(rows),
            _ => None,
        }
    }

    fn run(rows: &Rows, address: u64, most: u64) -> Run {
        let cell = rows.cell(address, address + most);
        Run {
            row: cell.row,
            at: rows.at(cell.row) + cell.offset,
            column: cell.column,
            count: cell.count.min(most),
        }
    }

    /// The address of a sector of a data unit.
    fn address(rows: &Rows, run: &Run, column: u32) -> u64 {
        run.row * rows.row_data() + u64::from(column) * rows.unit() + (run.at - rows.at(run.row))
    }

    /// How many sectors from an address on are looked at together, at most `most`.
    pub fn together(&self, address: u64, most: u64) -> u64 {
        let most = most.min(TOGETHER);
        self.rows().map_or(most, |rows| Self::run(rows, address, most).count)
    }

    /// Whether an address cannot be read until it is written.
    fn is_bad(&self, address: u64) -> bool {
        self.array.is_some_and(|array| array.bad_blocks().touch(address, address + 1))
    }

    /// What a read finds if only complete members count; `None` where too few are left.
    fn get(&self, address: u64) -> Option<Bytes> {
        if self.is_bad(address) {
            return None;
        }
        Contents::new(self.layout(), &self.drives, self.media).get(address)
    }

    /// The same on the media alone.
    pub fn found_on_media(&self, address: u64) -> Option<Bytes> {
        Contents::new(self.layout(), &self.drives, self.media).without_caches().get(address)
    }

    /// Whether the data of an address are computed from other members.
    pub fn is_computed(&self, address: u64) -> bool {
        self.rows().is_some_and(|rows| {
            let run = Self::run(rows, address, 1);
            self.drives[usize::from(rows.data(run.row, run.column))].is_none()
        })
    }

    /// What reads may find: of an address with copies, what each has. A member that is being rebuilt counts as far as
    /// it is.
    pub fn found(&self, address: u64) -> Found {
        let Some(array) = self.array else { return vec![Some(self.media.get(0, address))] };
        let layout = array.layout();
        if self.is_bad(address) {
            return vec![None];
        }
        if layout.redundancy() == Some(Redundancy::Copies) {
            let is_valid = |spot: &Spot| !array.is_stale(*spot, 1);
            let copies = layout.copies_of(address).into_iter().filter(is_valid);
            let there: Found = copies
                .filter_map(|spot| Some(Some(self.media.get(self.drives[usize::from(spot.slot)]?, spot.at))))
                .collect();
            return if there.is_empty() { vec![None] } else { there };
        }
        let home = layout.home(address);
        let member = array.members().get(home.slot);
        if matches!(member.state, MemberState::Rebuilding { done } if home.at < done) {
            return vec![Some(self.media.get(member.drive, home.at))];
        }
        vec![self.get(address)]
    }

    /// Before a drive's sectors change: calls `guard` with all addresses of their stripes, in runs, and a function that
    /// reads their data. `is_corruption` tells that the contents of the media change.
    pub fn stripes_of(
        &self,
        drive: u16,
        (first, count): (u64, u64),
        is_corruption: bool,
        mut guard: impl FnMut(u64, u64, &dyn Fn() -> Vec<Option<Bytes>>),
    ) {
        let Some(array) = self.array else {
            if is_corruption {
                guard(first, count, &|| self.media.read(drive, first, count).into_iter().map(Some).collect());
            }
            return;
        };
        let mut slots = array.members().iter();
        let Some((slot, member)) = slots.find(|(_, member)| member.drive == drive) else { return };
        let Some(rows) = self.rows() else {
            for at in (first..first + count).filter(|_| is_corruption) {
                let address = array.layout().address_at(Spot { slot, at });
                address.into_iter().for_each(|address| guard(address, 1, &|| vec![self.get(address)]));
            }
            return;
        };
        // A rebuild fills a new drive from what is at rest.
        if !is_corruption && member.state != MemberState::Whole {
            return;
        }
        let (mut at, end) = (first, first + count);
        while at < end {
            let (role, left) = rows.held(Spot { slot, at });
            let run_count = left.min(end - at);
            if !matches!(role, SectorRole::Nothing) {
                let row = rows.row_at(u64::from(slot) / rows.members(), at);
                let run = Run { row, at, column: 0, count: run_count };
                for column in 0..rows.columns() {
                    let address = Self::address(rows, &run, column);
                    guard(address, run_count, &|| self.data_of(rows, &run, column));
                }
            }
            at += run_count;
        }
    }

    /// The data of a unit in a run: read, or computed from the other members.
    fn data_of(&self, rows: &Rows, run: &Run, column: u32) -> Vec<Option<Bytes>> {
        let first = Self::address(rows, run, column);
        match self.drives[usize::from(rows.data(run.row, column))] {
            Some(drive) => {
                let found = (first..).zip(self.media.read(drive, run.at, run.count));
                found.map(|(address, cell)| (!self.is_bad(address)).then_some(cell)).collect()
            }
            None => (first..first + run.count).map(|address| self.get(address)).collect(),
        }
    }

    /// The ranges at rest among these sectors, and among those of their stripes. `expected` has the data that are
    /// expected of a sector, if it is in the ledger.
    pub fn at_rest<'b>(
        &self,
        first: u64,
        count: u64,
        expected: impl Fn(u64) -> Option<&'b Bytes>,
    ) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut add = |first: u64, is_at_rest: &[bool]| {
            for (at, _) in (first..).zip(is_at_rest).filter(|(_, is_at_rest)| **is_at_rest) {
                match ranges.last_mut() {
                    Some(last) if last.1 == at => last.1 += 1,
                    _ => ranges.push((at, at + 1)),
                }
            }
        };
        let fits = |at: u64, cell: &Bytes| expected(at).is_none_or(|expected| expected == cell);
        match (self.array, self.rows()) {
            (None, _) => {
                let there = self.media.image(0, first, count);
                add(first, &(first..).zip(&there).map(|(at, cell)| fits(at, cell)).collect::<Vec<_>>());
            }
            (Some(_), Some(rows)) => {
                let run = Self::run(rows, first, count);
                let units: Vec<Vec<Option<Bytes>>> =
                    (0..rows.columns()).map(|column| self.data_of(rows, &run, column)).collect();
                let mut is_at_rest = self.are_stripes_at_rest(rows, &run, &units);
                for (column, unit) in (0..).zip(&units) {
                    let address = Self::address(rows, &run, column);
                    for ((at, cell), is_at_rest) in (address..).zip(unit).zip(&mut is_at_rest) {
                        *is_at_rest &= cell.as_ref().map_or_else(|| self.is_bad(at), |cell| fits(at, cell));
                    }
                }
                (0..rows.columns()).for_each(|column| add(Self::address(rows, &run, column), &is_at_rest));
            }
            (Some(array), None) => {
                let is_at_rest = |at| self.are_copies_at_rest(array, at, |cell| fits(at, cell));
                add(first, &(first..first + count).map(is_at_rest).collect::<Vec<_>>());
            }
        }
        ranges
    }

    /// Whether the drives have put all of these stripes on their media, and each parity is that of these data.
    fn are_stripes_at_rest(&self, rows: &Rows, run: &Run, units: &[Vec<Option<Bytes>>]) -> Vec<bool> {
        let mut is_at_rest = vec![true; run.count as usize];
        let row = rows.row(run.row);
        let slots = (0..rows.columns()).map(|column| rows.data_of(&row, column));
        let parities = (0..rows.parities()).map(|which| rows.parity_of(&row, which));
        for drive in slots.chain(parities).filter_map(|slot| self.drives[usize::from(slot)]) {
            if self.media.waiting(drive).is_some_and(drivelab_data::platter::Waiting::is_empty) {
                continue;
            }
            let accepted = self.media.read(drive, run.at, run.count);
            let persisted = self.media.image(drive, run.at, run.count);
            for ((is_at_rest, accepted), persisted) in is_at_rest.iter_mut().zip(accepted).zip(persisted) {
                *is_at_rest &= accepted == persisted;
            }
        }
        for which in 0..rows.parities() {
            let Some(drive) = self.drives[usize::from(rows.parity_of(&row, which))] else { continue };
            let found = self.media.read(drive, run.at, run.count);
            for (index, found) in
                found.iter().enumerate().filter(|(index, _)| is_at_rest[*index]).collect::<Vec<_>>()
            {
                let stripe = Stripe { row: run.row, at: run.at + index as u64 };
                let data = |column: u32| units[column as usize][index].clone();
                let parity = consistent::parity_of_data::<Bytes>(rows, &stripe, which, data);
                is_at_rest[index] &= parity.is_none_or(|parity| parity == *found);
            }
        }
        is_at_rest
    }

    /// Whether every copy that counts is on its media.
    fn are_copies_at_rest(&self, array: &Array, address: u64, fits: impl Fn(&Bytes) -> bool) -> bool {
        let layout = array.layout();
        if layout.redundancy() != Some(Redundancy::Copies) {
            return self.found_on_media(address).is_some_and(|cell| fits(&cell));
        }
        let mut there = 0;
        let are_all =
            layout.copies_of(address).into_iter().filter(|spot| !array.is_stale(*spot, 1)).all(|spot| {
                let Some(drive) = self.drives[usize::from(spot.slot)] else { return true };
                there += 1;
                let sector = self.media.sector(drive, spot.at);
                sector.accepted == sector.persisted && fits(&sector.persisted)
            });
        are_all && there > 0
    }
}
