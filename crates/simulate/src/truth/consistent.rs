//! Whether the members of an array fit each other: copies that are alike, parity that is the sum of its data. For an array
//! at which nothing is under way, over all that its drives have accepted.
use super::error::{Found, Wrong};
use super::field::{BLANK, times, weight};
use super::media::Media;
use drivelab_core::target::array::Array;
use drivelab_core::target::array::layout::raidz::Column;
use drivelab_core::target::array::layout::{Copied, Layout, RaidZ, Rows, Spot};
use drivelab_core::target::array::members::State;

/// The drive of each slot of which all data are right.
pub fn whole(array: &Array) -> Vec<Option<u16>> {
    let whole = |state| state == State::Whole;
    array.members().iter().map(|(_, member)| whole(member.state).then_some(member.drive)).collect()
}

/// Whether an array can give all of its data without the slots that have no drive.
pub fn bears(layout: &Layout, drives: &[Option<u16>]) -> bool {
    match layout {
        Layout::Copied(copied) => {
            // Where copies lie repeats itself long before this.
            let chunks = copied.capacity() / copied.unit();
            let looked_at = chunks.min(4 * (drives.len() as u64 + 1) * u64::from(copied.copies()));
            (0..looked_at).all(|chunk| {
                let piece = copied.piece(chunk * copied.unit(), (chunk + 1) * copied.unit());
                (0..copied.copies()).any(|copy| drives[usize::from(copied.spot(&piece, copy).slot)].is_some())
            })
        }
        Layout::Rows(rows) => drives
            .chunks(rows.members() as usize)
            .all(|group| group.iter().filter(|drive| drive.is_none()).count() <= rows.parities().into()),
        Layout::RaidZ(pool) => {
            drives.iter().filter(|drive| drive.is_none()).count() <= pool.map().parities().into()
        }
        Layout::Linear(_) => drives.iter().all(Option::is_some),
    }
}

/// The first place where the members do not fit each other, over those slots that have a drive here.
pub fn check(layout: &Layout, drives: &[Option<u16>], media: &Media) -> Result<(), Wrong> {
    match layout {
        Layout::Copied(copied) => check_copies(copied, drives, media),
        Layout::Rows(rows) => check_rows(rows, drives, media),
        Layout::RaidZ(pool) => check_records(pool, drives, media),
        Layout::Linear(_) => Ok(()),
    }
}

/// Sectors of the members that any of them has touched.
pub fn touched(drives: &[Option<u16>], media: &Media) -> Vec<u64> {
    let mut all: Vec<u64> = drives.iter().flatten().flat_map(|&drive| media.touched(drive)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn check_copies(copied: &Copied, drives: &[Option<u16>], media: &Media) -> Result<(), Wrong> {
    for (slot, drive) in (0..).zip(drives) {
        let Some(drive) = *drive else { continue };
        for at in media.touched(drive) {
            let Some(address) = copied.address(Spot { slot, at }) else { continue };
            for other in copied.places(address) {
                let Some(drive_of_other) = drives[usize::from(other.slot)] else { continue };
                let (expected, found) = (media.get(drive, at), media.get(drive_of_other, other.at));
                if expected != found {
                    let found = Found { sector: address, expected: vec![expected], found };
                    return Err(Wrong::Copy { slot: other.slot, found });
                }
            }
        }
    }
    Ok(())
}

/// A sector of each member of a group that belong together.
pub struct Stripe {
    pub row: u64,
    pub at: u64,
}

/// The stripes that any member has touched.
pub fn stripes(rows: &Rows, drives: &[Option<u16>], media: &Media) -> Vec<Stripe> {
    let members = rows.members() as usize;
    let groups = (0..).zip(drives.chunks(members));
    let stripes = groups.flat_map(|(group, drives)| {
        let touched = touched(drives, media).into_iter();
        let touched = touched.filter(|&at| at >= rows.start());
        touched.map(move |at| Stripe { row: rows.row_at(group, at), at })
    });
    stripes.filter(|stripe| stripe.row < rows.rows()).collect()
}

/// What a parity of a stripe is to be, when all of its data can be read.
pub fn parity_of(
    rows: &Rows,
    stripe: &Stripe,
    which: u8,
    drives: &[Option<u16>],
    media: &Media,
) -> Option<u64> {
    (0..rows.columns()).try_fold(0, |sum, column| {
        let drive = drives[usize::from(rows.data(stripe.row, column))]?;
        Some(sum ^ times(media.get(drive, stripe.at), weight(which, index_of(rows, stripe.row, column))))
    })
}

/// The index of a data unit in the sums of RAID 6: as in md, how far it lies behind the parities, round the group.
fn index_of(rows: &Rows, row: u64, column: u32) -> u32 {
    let inside = |slot: u16| u64::from(slot) % rows.members();
    let (data, parity) = (inside(rows.data(row, column)), inside(rows.parity(row, 0)));
    ((data + 2 * rows.members() - parity - u64::from(rows.parities())) % rows.members()) as u32
}

fn check_rows(rows: &Rows, drives: &[Option<u16>], media: &Media) -> Result<(), Wrong> {
    for stripe in stripes(rows, drives, media) {
        for which in 0..rows.parities() {
            let slot = rows.parity(stripe.row, which);
            let Some(drive) = drives[usize::from(slot)] else { continue };
            let Some(expected) = parity_of(rows, &stripe, which, drives, media) else { continue };
            let found = media.get(drive, stripe.at);
            if found != expected {
                let found = Found { sector: stripe.at, expected: vec![expected], found };
                return Err(Wrong::Parity { slot, which, found });
            }
        }
    }
    Ok(())
}

fn check_records(pool: &RaidZ, drives: &[Option<u16>], media: &Media) -> Result<(), Wrong> {
    let map = pool.map();
    let (parities, columns) = (usize::from(map.parities()), map.columns());
    for place in (0..pool.records()).map(|record| pool.place(record)) {
        let found = |column, offset| {
            let Column { slot, at, count } = pool.column(place, column);
            // A column may be a row shorter than the others.
            let drive = drives[usize::from(slot)]?;
            Some(if offset < count { media.get(drive, at + offset) } else { BLANK })
        };
        for which in 0..parities {
            let Column { slot, at, count } = pool.column(place, which);
            for offset in 0..count {
                let Some(parity) = found(which, offset) else { continue };
                let sum = (parities..columns).try_fold(BLANK, |sum, column| {
                    let factor = weight(which as u8, (columns - 1 - column) as u32);
                    Some(sum ^ times(found(column, offset)?, factor))
                });
                if let Some(sum) = sum.filter(|&sum| sum != parity) {
                    let found = Found { sector: at + offset, expected: vec![sum], found: parity };
                    return Err(Wrong::Parity { slot, which: which as u8, found });
                }
            }
        }
    }
    Ok(())
}

/// The address of the array at a place of a member, and all places of an address.
trait Places {
    fn address(&self, spot: Spot) -> Option<u64>;
    fn places(&self, address: u64) -> Vec<Spot>;
}

impl Places for Copied {
    fn address(&self, spot: Spot) -> Option<u64> {
        use drivelab_core::target::array::layout::Held;
        match self.held(spot) {
            (Held::Data { first, .. }, _) => Some(first),
            _ => None,
        }
    }

    fn places(&self, address: u64) -> Vec<Spot> {
        let piece = self.piece(address, address + 1);
        (0..self.copies()).map(|copy| self.spot(&piece, copy)).collect()
    }
}
