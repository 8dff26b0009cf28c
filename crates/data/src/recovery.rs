//! What an array does about its members after a power cut, before it serves any command.
//!
//! The operations are those whose timing is simulated, applied to the data at once: a resync computes parity
//! from data and copies the first copy over the others; a bitmap limits that to the regions that were marked.
//! The contents of a journal are written to the members once more; a partial parity log gives the parity of
//! what was being written.
//!
//! All knowledge of logs and bitmaps comes from the media of drives that are still present: words, and
//! checksums of the data that the words describe. The array's state in memory is lost.
use crate::buffers::Buffers;
use crate::cell::{Cell, Stamp};
use crate::consistent::{Stripe, parity_of, stripes, valid_members};
use crate::media::Media;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use drivelab_core::data::Word;
use drivelab_core::storage::array::levels::{Layout, Redundancy, Spot};
use drivelab_core::storage::array::params::{ArrayParams, ConsistencyPolicy, ManagedBy};
use drivelab_core::storage::array::{Array, Logged};
use drivelab_units::Span;

/// An array is marked clean as long after its last write (md's `safe_mode_delay`).
pub const CLEAN_AFTER: Span = Span::from_ms(200);

/// Whether an array that was being written to when the power went is started without these members. md starts no
/// array with parity that is dirty and lacks data, unless it is told to, or recovers from a log (drivers/md/raid5.c,
/// `raid5_run`). `has_logs` tells whether what logs hold is recovered. A RAID controller starts its arrays in any
/// condition.
pub fn may_start_dirty(params: &ArrayParams, layout: &Layout, missing: &[u16], has_logs: bool) -> bool {
    let policy = params.consistency_policy;
    let is_logged = matches!(policy, ConsistencyPolicy::Journal | ConsistencyPolicy::PartialParityLog);
    let is_hardware = params.managed_by == ManagedBy::Controller;
    let Layout::Rows(rows) = layout else { return true };
    let period = (rows.members() * rows.groups() * rows.turn()).min(rows.rows());
    let lacks = |row| (0..rows.columns()).any(|column| missing.contains(&rows.data(row, column)));
    params.start_dirty_degraded || is_hardware || is_logged && has_logs || !(0..period).any(lacks)
}

/// The input of a recovery, as of the power cut. Of the array only permanent facts may be used: its layout,
/// and which drives are its members. Everything else must be on their media.
pub struct Cut<'a, C = Stamp> {
    /// Its state when the power was cut.
    pub array: &'a Array,
    /// How the array makes its redundancy consistent again.
    pub consistency_policy: ConsistencyPolicy,
    /// The number of the last drive: the journal, if there is one.
    pub last: u16,
    /// Members that are found missing when the array comes up again.
    pub missing: &'a [u16],
    /// The buffers of commands: the words on the media, and the data that their checksums cover.
    pub buffers: &'a Buffers<C>,
    /// With the drives' numbers from before.
    pub media: &'a Media<C>,
}

/// A method of recovery.
pub trait Recovery<C = Stamp> {
    /// Collects what it needs from the state at the power cut.
    fn collect(&mut self, _cut: &Cut<'_, C>) {}

    /// Repairs the members. `drives` names the drive of each slot that has one.
    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media<C>);
}

/// Everything is taken as it is.
pub struct Nothing;

impl<C: Cell> Recovery<C> for Nothing {
    fn recover(&mut self, _: &Layout, _: &[Option<u16>], _: &mut Media<C>) {}
}

/// Everything is made consistent, or only these regions, in the block numbers of [`Array::marked`].
pub struct Resync {
    /// Everything when `None`.
    pub regions: Option<Vec<Range<u64>>>,
}

impl Resync {
    /// Everything.
    pub fn all() -> Self {
        Resync { regions: None }
    }

    fn covers(&self, block: u64) -> bool {
        self.regions.as_ref().is_none_or(|regions| regions.iter().any(|region| region.contains(&block)))
    }
}

impl<C: Cell> Recovery<C> for Resync {
    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media<C>) {
        match layout {
            Layout::Rows(rows) => {
                let block = |stripe: &Stripe| stripe.row * rows.unit() + (stripe.at - rows.at(stripe.row));
                for stripe in stripes(rows, drives, media).iter().filter(|stripe| self.covers(block(stripe)))
                {
                    for which in 0..rows.parities() {
                        let Some(drive) = drives[usize::from(rows.parity(stripe.row, which))] else {
                            continue;
                        };
                        if let Some(right) = parity_of(rows, stripe, which, drives, media) {
                            media.set(drive, stripe.at, right);
                        }
                    }
                }
            }
            _ if layout.redundancy() == Some(Redundancy::Copies) => self.copy_first(layout, drives, media),
            _ => {}
        }
    }
}

impl Resync {
    /// The first copy that is present is valid: the others are overwritten with it.
    fn copy_first<C: Cell>(&self, layout: &Layout, drives: &[Option<u16>], media: &mut Media<C>) {
        for (slot, drive) in (0..).zip(drives) {
            let Some(drive) = *drive else { continue };
            for at in media.touched(drive) {
                let Some(address) = layout.address_at(Spot { slot, at }) else { continue };
                if !self.covers(address) {
                    continue;
                }
                let place = |spot: Spot| Some((drives[usize::from(spot.slot)]?, spot.at));
                let there: Vec<(u16, u64)> =
                    layout.copies_of(address).into_iter().filter_map(place).collect();
                let right = media.get(there[0].0, there[0].1);
                there[1..].iter().for_each(|&(drive, at)| media.set(drive, at, right.clone()));
            }
        }
    }
}

/// What a log gives back of one of its entries.
struct LogEntry<C> {
    of: Spot,
    /// The columns whose data are part of the sum; empty for data that are written unchanged.
    columns: Range<u32>,
    cells: Vec<C>,
}

/// The recovery of the array's own consistency policy; a full resync where it has none.
pub struct PolicyRecovery<C = Stamp> {
    /// Log entries that are restored before anything else, in this order.
    kept: Vec<LogEntry<C>>,
    resync: Option<Resync>,
    /// The journal's drive.
    journal: Option<u16>,
}

impl<C> Default for PolicyRecovery<C> {
    fn default() -> Self {
        PolicyRecovery { kept: Vec::new(), resync: None, journal: None }
    }
}

impl<C: Cell> PolicyRecovery<C> {
    /// The regions that are made consistent, if not everything is: see [`Array::marked`].
    pub fn regions(&self) -> Option<&[Range<u64>]> {
        self.resync.as_ref()?.regions.as_deref()
    }

    /// Number of log entries that are written back, or from which parity is computed.
    pub fn entries(&self) -> usize {
        self.kept.len()
    }

    /// The places that log entries are written to, and their sectors.
    pub fn places(&self) -> impl Iterator<Item = (Spot, u64)> + '_ {
        self.kept.iter().map(|entry| (entry.of, entry.cells.len() as u64))
    }

    /// Records of the journal are valid from the one on that its superblock names, each if all of it is on
    /// the media. Those that are no longer needed repeat what is there already, or what a newer one repeats.
    /// Of records written concurrently any may be missing: they are of different rows, and none was reported
    /// as done before all of it was there.
    fn collect_journal(&mut self, cut: &Cut<'_, C>) {
        self.journal = Some(cut.last);
        let mut records = cut.records(cut.last);
        records.sort_by_key(|&(number, _)| number);
        for (_, entries) in records {
            let cells: Option<Vec<_>> = entries.iter().map(|entry| cut.logged(entry, cut.last)).collect();
            for (entry, cells) in entries.iter().zip(cells.into_iter().flatten()) {
                self.kept.push(LogEntry { of: entry.of, columns: 0..0, cells });
            }
        }
    }

    /// Each sum is independent: nothing is written to the members before all sums of a stripe request are on
    /// their media. The newest one of a place comes last. Those below the tail in any other record of the
    /// same log are invalid: newer ones of the same place may be overwritten already.
    fn collect_sums(&mut self, cut: &Cut<'_, C>) {
        let members = cut.survivors();
        let mut records: Vec<_> = members
            .flat_map(|drive| cut.records(drive).into_iter().map(move |record| (drive, record)))
            .collect();
        records.sort_by_key(|&(_, (number, _))| number);
        for (drive, (_, entries)) in records {
            for entry in entries {
                let blank = || Some(vec![C::default(); entry.count as usize]);
                let cells = if entry.is_whole { blank() } else { cut.logged(&entry, drive) };
                let columns = entry.columns.0..entry.columns.1;
                self.kept.extend(cells.map(|cells| LogEntry { of: entry.of, columns, cells }));
            }
        }
    }

    /// The regions that any member has marked.
    fn collect_bitmap(&mut self, cut: &Cut<'_, C>) {
        let bit = |word: &Word| {
            if let Word::Bit { first, count } = *word { Some(first..first + count) } else { None }
        };
        let mut regions: Vec<Range<u64>> = cut
            .survivors()
            .flat_map(|drive| cut.media.touched(drive).into_iter().map(move |at| (drive, at)))
            .flat_map(|(drive, at)| cut.words(drive, at).iter().filter_map(bit))
            .collect();
        regions.sort_by_key(|region| region.start);
        regions.dedup();
        self.resync = Some(Resync { regions: Some(regions) });
    }
}

impl<C: Cell> Cut<'_, C> {
    /// The drives of complete members that are still present.
    fn survivors(&self) -> impl Iterator<Item = u16> {
        let whole = (0..).zip(valid_members(self.array));
        whole.filter_map(|(slot, drive)| drive.filter(|_| !self.missing.contains(&slot)))
    }

    /// The words of a sector on the media.
    fn words(&self, drive: u16, at: u64) -> &[Word] {
        self.buffers.words(&self.media.get(drive, at))
    }

    /// The valid records that begin on a drive.
    fn records(&self, drive: u16) -> Vec<(u64, Vec<Logged>)> {
        let record = |at| {
            let words = self.words(drive, at);
            let number = words.iter().find_map(|word| match *word {
                Word::Record { number } => Some(number),
                _ => None,
            });
            let entries = words.iter().filter_map(|word| match *word {
                Word::Logged(entry) => Some(entry),
                _ => None,
            });
            number.map(|number| (number, entries.collect()))
        };
        let touched = self.media.touched(drive);
        let of_tail = |word: &Word| if let Word::Tail { number } = *word { Some(number) } else { None };
        let tails = touched.iter().flat_map(|&at| self.words(drive, at)).filter_map(of_tail);
        let tail = tails.max().unwrap_or(0);
        touched.into_iter().filter_map(record).filter(|&(number, _)| number >= tail).collect()
    }

    /// The data of an entry in the log on a drive, if they match the entry's checksum.
    fn logged(&self, entry: &Logged, drive: u16) -> Option<Vec<C>> {
        let cells = self.media.read(drive, entry.log.at, entry.count);
        (self.buffers.peek(entry.op, entry.log.at, entry.count)? == cells).then_some(cells)
    }
}

impl<C: Cell> Recovery<C> for PolicyRecovery<C> {
    fn collect(&mut self, cut: &Cut<'_, C>) {
        match cut.consistency_policy {
            ConsistencyPolicy::None => self.resync = Some(Resync::all()),
            ConsistencyPolicy::Bitmap { .. } => self.collect_bitmap(cut),
            ConsistencyPolicy::Journal => self.collect_journal(cut),
            ConsistencyPolicy::PartialParityLog => self.collect_sums(cut),
        }
    }

    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media<C>) {
        // The newest entry of a place counts, also where nothing can be computed from it: what it covers was written
        // since the older ones.
        let mut decided = BTreeSet::new();
        for LogEntry { of, columns, cells } in self.kept.iter().rev() {
            let (Layout::Rows(rows), Some(drive)) = (layout, drives[usize::from(of.slot)]) else { continue };
            let group = u64::from(of.slot) / rows.members();
            for (at, cell) in (of.at..).zip(cells).filter(|(at, _)| decided.insert((drive, *at))) {
                // If a member that was being written is missing as well, its part is unknown: the parity stays.
                let sum = columns.clone().try_fold(cell.clone(), |mut sum, column| {
                    sum.add(
                        &media.get(drives[usize::from(rows.data(rows.row_at(group, at), column))]?, at),
                        1,
                    );
                    Some(sum)
                });
                sum.into_iter().for_each(|sum| media.set(drive, at, sum));
            }
        }
        if let Some(resync) = &mut self.resync {
            resync.recover(layout, drives, media);
        }
        // What has been made good is not to be found again, as md writes logs anew that hold nothing.
        let start = layout.start();
        let logs = drives.iter().flatten().map(|&drive| (drive, start));
        for (drive, end) in logs.chain(self.journal.map(|journal| (journal, u64::MAX))) {
            for at in media.touched(drive).into_iter().filter(|&at| at < end) {
                media.set(drive, at, C::default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Bytes;
    use drivelab_core::storage::array::params::{Level, Rotation};
    use drivelab_units::Sectors;
    use std::vec::Vec;

    #[test]
    fn of_two_entries_of_one_place_the_newer_one_is_written_back() {
        let raid5 = Level::Parity { parities: 1, rotation: Rotation::Last, groups: 1 };
        let params = ArrayParams { unit: Sectors::new(8), ..ArrayParams::plain(raid5, 4) };
        let layout = Layout::new(&params, &[Sectors::new(64); 4]).expect("a sound array");
        let drives: Vec<Option<u16>> = (0..4).map(Some).collect();
        let [older, newer] = [1, 2].map(|byte| Bytes::from([byte; 512]));
        let entry = |at, cells: &[&Bytes]| LogEntry {
            of: Spot { slot: 2, at },
            columns: 0..0,
            cells: cells.iter().map(|&cell| cell.clone()).collect(),
        };
        let mut media: Media<Bytes> = Media::new(4);
        let kept = vec![entry(16, &[&older, &older]), entry(17, &[&newer, &newer])];
        PolicyRecovery { kept, resync: None, journal: None }.recover(&layout, &drives, &mut media);
        assert_eq!(media.image(2, 16, 3), [older, newer.clone(), newer]);
    }
}
