//! Whether the members of an array are consistent: copies that are equal, parity that is the sum of its data.
//! For an array with nothing under way, over everything that its drives have accepted.
use crate::cell::{Cell, Stamp};
use crate::media::{Media, Sector};
use crate::sparse::{PAGE, addresses};
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::levels::gf;
use drivelab_core::storage::array::levels::raidz::Column;
use drivelab_core::storage::array::levels::{Layout, RaidZ, Redundancy, Rows, Spot};
use drivelab_core::storage::array::members::MemberState;

/// The drive of each slot whose data are completely valid.
pub fn valid_members(array: &Array) -> Vec<Option<u16>> {
    let whole = |state| state == MemberState::Whole;
    array.members().iter().map(|(_, member)| whole(member.state).then_some(member.drive)).collect()
}

/// Whether an array can deliver all of its data without the slots that have no drive.
pub fn can_reconstruct(layout: &Layout, drives: &[Option<u16>]) -> bool {
    let is_there: Vec<bool> = drives.iter().map(Option::is_some).collect();
    layout.can_reconstruct(&is_there)
}

/// The valid data of the members: a stale copy is replaced by the valid one.
pub fn without_stale<'a, C: Cell>(array: &Array, media: &'a Media<C>) -> Cow<'a, Media<C>> {
    let layout = array.layout();
    if layout.redundancy() != Some(Redundancy::Copies) {
        return Cow::Borrowed(media);
    }
    let drives = valid_members(array);
    let mut counts = Cow::Borrowed(media);
    for (slot, first, end) in array.stale() {
        let Some(drive) = drives[usize::from(slot)] else { continue };
        for at in first..end {
            let Some(address) = layout.address_at(Spot { slot, at }) else { continue };
            let stands = |spot: &Spot| !array.is_stale(*spot, 1) && drives[usize::from(spot.slot)].is_some();
            if let Some(other) = layout.copies_of(address).into_iter().find(stands)
                && let Some(from) = drives[usize::from(other.slot)]
            {
                let cell = media.get(from, other.at);
                counts.to_mut().set(drive, at, cell);
            }
        }
    }
    counts
}

/// The kind of an inconsistent sector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MismatchKind {
    /// A copy; the sector is the array's address.
    Copy,
    /// A parity, by its number; the sector is the member's.
    Parity(u8),
}

/// A sector of a member that is inconsistent with the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch<C = Stamp> {
    /// Its kind.
    pub what: MismatchKind,
    /// The slot of its member.
    pub slot: u16,
    /// Its number: see [`MismatchKind`] for the numbering.
    pub sector: u64,
    /// What it should hold if the others are right.
    pub expected: C,
    /// What it holds.
    pub found: C,
}

/// Result of a comparison of the members.
pub struct Comparison<C = Stamp> {
    /// Rows of stripe units, pieces of copies, or records, of which anything was touched and compared.
    pub rows: u64,
    /// The sectors of their members.
    pub sectors: u64,
    /// The inconsistent rows, upward.
    pub mismatched: Vec<u64>,
    /// The first inconsistency.
    pub first: Option<Mismatch<C>>,
}

impl<C> Default for Comparison<C> {
    fn default() -> Self {
        Comparison { rows: 0, sectors: 0, mismatched: Vec::new(), first: None }
    }
}

impl<C: PartialEq> Comparison<C> {
    /// Something of a row was compared. Rows come in any order.
    fn add(&mut self, row: u64, what: MismatchKind, (slot, sector): (u16, u64), expected: C, found: C) {
        self.sectors += 1;
        if expected != found {
            self.mismatched.push(row);
            self.first.get_or_insert(Mismatch { what, slot, sector, expected, found });
        }
    }
}

/// Compares the members with each other, over those slots that have a drive here.
pub fn compare<C: Cell>(layout: &Layout, drives: &[Option<u16>], media: &Media<C>) -> Comparison<C> {
    let mut comparison = Comparison::default();
    match layout {
        Layout::Rows(rows) => compare_rows(rows, drives, media, &mut comparison),
        Layout::RaidZ(pool) => compare_records(pool, drives, media, &mut comparison),
        _ if layout.redundancy() == Some(Redundancy::Copies) => {
            compare_copies(layout, drives, media, &mut comparison);
        }
        _ => {}
    }
    comparison.mismatched.sort_unstable();
    comparison.mismatched.dedup();
    comparison
}

/// Sectors of the members that any of them has touched.
pub fn touched<C: Cell>(drives: &[Option<u16>], media: &Media<C>) -> Vec<u64> {
    addresses(drives.iter().flatten().flat_map(|&drive| media.pages(drive)).collect())
}

fn compare_copies<C: Cell>(
    layout: &Layout,
    drives: &[Option<u16>],
    media: &Media<C>,
    comparison: &mut Comparison<C>,
) {
    let (mut chunks, piece) = (Vec::new(), layout.compared_as_one());
    for (slot, drive) in (0..).zip(drives) {
        let Some(drive) = *drive else { continue };
        for at in media.touched(drive) {
            let Some(address) = layout.address_at(Spot { slot, at }) else { continue };
            let chunk = address / piece;
            if chunks.last() != Some(&chunk) {
                chunks.push(chunk);
            }
            let expected = media.get(drive, at);
            let is_other = |other: &Spot| other.slot != slot || other.at != at;
            for other in layout.copies_of(address).into_iter().filter(is_other) {
                let Some(drive_of_other) = drives[usize::from(other.slot)] else { continue };
                let found = media.get(drive_of_other, other.at);
                comparison.add(chunk, MismatchKind::Copy, (other.slot, address), expected.clone(), found);
            }
        }
    }
    chunks.sort_unstable();
    chunks.dedup();
    comparison.rows = chunks.len() as u64;
}

/// Corresponding sectors of all members of a group.
pub struct Stripe {
    /// The row that they belong to.
    pub row: u64,
    /// Their sector number on each member.
    pub at: u64,
}

/// The stripes that any member has touched.
pub fn stripes<C: Cell>(rows: &Rows, drives: &[Option<u16>], media: &Media<C>) -> Vec<Stripe> {
    let members = rows.members() as usize;
    let groups = (0..).zip(drives.chunks(members));
    let stripes = groups.flat_map(|(group, drives)| {
        let touched = touched(drives, media).into_iter();
        let touched = touched.filter(|&at| at >= rows.start());
        touched.map(move |at| Stripe { row: rows.row_at(group, at), at })
    });
    stripes.filter(|stripe| stripe.row < rows.rows()).collect()
}

/// What a parity of a stripe should be, when all of its data can be read.
pub fn parity_of<C: Cell>(
    rows: &Rows,
    stripe: &Stripe,
    which: u8,
    drives: &[Option<u16>],
    media: &Media<C>,
) -> Option<C> {
    let drive = |column| drives[usize::from(rows.data(stripe.row, column))];
    parity_of_data(rows, stripe, which, |column| Some(media.get(drive(column)?, stripe.at)))
}

/// The same of these data, by column.
pub fn parity_of_data<C: Cell>(
    rows: &Rows,
    stripe: &Stripe,
    which: u8,
    data: impl Fn(u32) -> Option<C>,
) -> Option<C> {
    (0..rows.columns()).try_fold(C::default(), |mut sum, column| {
        sum.add(&data(column)?, gf::factor(which, index_of(rows, stripe.row, column)));
        Some(sum)
    })
}

/// The index of a data unit in the sums of RAID 6: as in md, its distance behind the parities, wrapping
/// around the group.
pub fn index_of(rows: &Rows, row: u64, column: u32) -> u32 {
    let inside = |slot: u16| u64::from(slot) % rows.members();
    let (data, parity) = (inside(rows.data(row, column)), inside(rows.parity(row, 0)));
    ((data + 2 * rows.members() - parity - u64::from(rows.parities())) % rows.members()) as u32
}

fn compare_rows<C: Cell>(
    rows: &Rows,
    drives: &[Option<u16>],
    media: &Media<C>,
    comparison: &mut Comparison<C>,
) {
    let mut last = None;
    let mut glance = PageView { media, page: None, sectors: vec![None; drives.len()] };
    for stripe in stripes(rows, drives, media) {
        let mut is_known = false;
        glance.load_page(stripe.at / PAGE, drives, media);
        let row = rows.row(stripe.row);
        for which in 0..rows.parities() {
            let slot = rows.parity_of(&row, which);
            let Some(found) = glance.get(slot, stripe.at) else { continue };
            let expected = (0..rows.columns()).try_fold(C::default(), |mut sum, column| {
                let data = glance.get(rows.data_of(&row, column), stripe.at)?;
                let factor =
                    if which == 0 { 1 } else { gf::factor(which, index_of(rows, stripe.row, column)) };
                sum.add(&data, factor);
                Some(sum)
            });
            let Some(expected) = expected else { continue };
            is_known = true;
            comparison.add(stripe.row, MismatchKind::Parity(which), (slot, stripe.at), expected, found);
        }
        // In ascending order on the members of a group, the rows of the array ascend too.
        if is_known && last != Some(stripe.row) {
            last = Some(stripe.row);
            comparison.rows += 1;
        }
    }
}

/// A slot's drive and its sectors of a page: `None` for a page never written, or a drive on a platter.
type Seen<'a, C> = (u16, &'a [Sector<C>]);

/// One page of all slots, looked up once.
struct PageView<'a, C> {
    media: &'a Media<C>,
    page: Option<u64>,
    /// `None` where there is no drive.
    sectors: Vec<Option<Seen<'a, C>>>,
}

impl<'a, C: Cell> PageView<'a, C> {
    fn load_page(&mut self, page: u64, drives: &[Option<u16>], media: &'a Media<C>) {
        if self.page.replace(page) == Some(page) {
            return;
        }
        for (sectors, drive) in self.sectors.iter_mut().zip(drives) {
            *sectors = drive.map(|drive| (drive, media.page(drive, page).unwrap_or(&[])));
        }
    }

    fn get(&self, slot: u16, at: u64) -> Option<C> {
        let (drive, sectors) = self.sectors[usize::from(slot)]?;
        if sectors.is_empty() && self.media.platter(drive).is_some() {
            return Some(self.media.get(drive, at));
        }
        Some(sectors.get((at % PAGE) as usize).map_or_else(C::default, |sector| sector.accepted.clone()))
    }
}

fn compare_records<C: Cell>(
    pool: &RaidZ,
    drives: &[Option<u16>],
    media: &Media<C>,
    comparison: &mut Comparison<C>,
) {
    let map = pool.map();
    let (parities, columns) = (usize::from(map.parities()), map.columns());
    let is_touched = touched_places(pool, drives, media);
    let places = (0..pool.records()).map(|record| (record, pool.place(record)));
    for (record, place) in places.filter(|&(_, place)| is_touched(place)) {
        comparison.rows += 1;
        let found = |column, offset| {
            let Column { slot, at, count } = pool.column(place, column);
            // A column may be one row shorter than the others.
            let drive = drives[usize::from(slot)]?;
            Some(if offset < count { media.get(drive, at + offset) } else { C::default() })
        };
        for which in 0..parities {
            let Column { slot, at, count } = pool.column(place, which);
            for offset in 0..count {
                let Some(parity) = found(which, offset) else { continue };
                let sum = (parities..columns).try_fold(C::default(), |mut sum, column| {
                    let factor = gf::factor(which as u8, (columns - 1 - column) as u32);
                    sum.add(&found(column, offset)?, factor);
                    Some(sum)
                });
                let Some(sum) = sum else { continue };
                comparison.add(record, MismatchKind::Parity(which as u8), (slot, at + offset), sum, parity);
            }
        }
    }
}

/// Whether a member has touched any sector of a place of a pool.
fn touched_places<C: Cell>(
    pool: &RaidZ,
    drives: &[Option<u16>],
    media: &Media<C>,
) -> impl Fn(u64) -> bool + use<C> {
    let (members, taken) = (drives.len() as u64, pool.map().taken());
    // The number of 512-byte sectors per sector of the pool.
    let sector = pool.used() / (pool.places() * taken).div_ceil(members).max(1);
    let mut bits = vec![0u64; pool.places() as usize / 64 + 1];
    for (slot, drive) in (0..).zip(drives) {
        for at in drive.iter().flat_map(|&drive| media.touched(drive)).filter(|&at| at < pool.used()) {
            let place = ((at / sector * members + slot) / taken).min(pool.places());
            bits[(place / 64) as usize] |= 1 << (place % 64);
        }
    }
    move |place| bits[(place / 64) as usize] >> (place % 64) & 1 == 1
}
