//! What an array does about its members before it serves anybody after a power cut.
//!
//! The same that its timing is simulated for, done to the data at once: a resync computes parity from data and copies the
//! first copy over the others; a bitmap limits that to the regions that were marked. What a journal holds of writes that
//! were not done goes to the members once more; a partial parity log gives the parity of what was being written.
use super::buffers::Buffers;
use super::consistent::{Stripe, parity_of, stripes};
use super::field::BLANK;
use super::media::Media;
use drivelab_core::target::array::layout::{Held, Layout, Spot};
use drivelab_core::target::array::params::{ArrayParams, Cure};
use drivelab_core::target::array::{Array, Logged};
use std::ops::Range;

/// What there is to recover from, as the power went.
pub struct Cut<'a> {
    pub array: &'a Array,
    pub cure: Cure,
    /// The number of the last drive: the journal, if there is one.
    pub last: u16,
    /// Whether members forget what they have answered: a journal must go over that as well.
    pub is_volatile: bool,
    /// The data of commands that were under way: what a log has of them.
    pub buffers: &'a Buffers,
    /// With the drives' numbers of before.
    pub media: &'a Media,
}

/// A way of recovery.
pub trait Recovery {
    /// Takes what it needs of what was there when the power went.
    fn look(&mut self, _cut: &Cut<'_>) {}

    /// Puts the members right. `drives` names the drive of each slot that has one.
    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media);
}

/// Whatever is there is taken as it is.
pub struct Nothing;

impl Recovery for Nothing {
    fn recover(&mut self, _: &Layout, _: &[Option<u16>], _: &mut Media) {}
}

/// Everything is made consistent, or only what lies in these regions, in the numbers of [`Array::marked`].
pub struct Resync {
    pub regions: Option<Vec<Range<u64>>>,
}

impl Resync {
    pub fn all() -> Self {
        Resync { regions: None }
    }

    fn covers(&self, block: u64) -> bool {
        self.regions.as_ref().is_none_or(|regions| regions.iter().any(|region| region.contains(&block)))
    }
}

impl Recovery for Resync {
    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media) {
        match layout {
            Layout::Copied(copied) => {
                for (slot, drive) in (0..).zip(drives) {
                    let Some(drive) = *drive else { continue };
                    for at in media.touched(drive) {
                        let (Held::Data { first, .. }, _) = copied.held(Spot { slot, at }) else { continue };
                        if !self.covers(first) {
                            continue;
                        }
                        let piece = copied.piece(first, first + 1);
                        let spots = (0..copied.copies()).map(|copy| copied.spot(&piece, copy));
                        let there: Vec<(u16, u64)> = spots
                            .filter_map(|spot| Some((drives[usize::from(spot.slot)]?, spot.at)))
                            .collect();
                        let right = media.get(there[0].0, there[0].1);
                        there[1..].iter().for_each(|&(drive, at)| media.set(drive, at, right));
                    }
                }
            }
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
            _ => {}
        }
    }
}

/// What a log gives back of one of its entries.
struct Kept {
    of: Spot,
    /// The columns whose data belong to the sum; none for what is written as it is.
    columns: Range<u32>,
    stamps: Vec<u64>,
}

/// What the array's own cure does; all of it is made consistent where it has none.
#[derive(Default)]
pub struct Cured {
    /// What is written before anything else, in this order.
    kept: Vec<Kept>,
    resync: Option<Resync>,
}

impl Cured {
    /// The regions that are made consistent, if not everything is: see [`Array::marked`].
    pub fn regions(&self) -> Option<&[Range<u64>]> {
        self.resync.as_ref()?.regions.as_deref()
    }

    /// A record of the journal counts when all of it is on the journal's media.
    fn look_at_journal(&mut self, cut: &Cut<'_>) {
        let entries: Vec<&Logged> = cut.array.log().collect();
        for record in entries.chunk_by(|a, b| a.record == b.record) {
            let stamps: Vec<Option<Vec<u64>>> =
                record.iter().map(|entry| cut.logged(entry, cut.last)).collect();
            let is_needed = cut.is_volatile || record.iter().any(|entry| !entry.is_done);
            if !is_needed || stamps.iter().any(Option::is_none) {
                continue;
            }
            let kept = record.iter().zip(stamps.into_iter().flatten());
            self.kept.extend(kept.map(|(entry, stamps)| Kept { of: entry.of, columns: 0..0, stamps }));
        }
    }

    /// Each sum counts by itself: nothing is written to the members before all sums of a strand are on their media.
    fn look_at_sums(&mut self, cut: &Cut<'_>) {
        for entry in cut.array.log().filter(|entry| !entry.is_done) {
            let blank = || Some(vec![BLANK; entry.count as usize]);
            let drive = cut.array.members().get(entry.of.slot).drive;
            let stamps = if entry.is_whole { blank() } else { cut.logged(entry, drive) };
            let columns = entry.columns.0..entry.columns.1;
            self.kept.extend(stamps.map(|stamps| Kept { of: entry.of, columns, stamps }));
        }
    }

    fn look_at_bitmap(&mut self, cut: &Cut<'_>) {
        let marked = cut.array.marked().map(|(first, count, _)| first..first + count);
        self.resync = Some(Resync { regions: Some(marked.collect()) });
    }
}

impl Cut<'_> {
    /// What the log on a drive has of an entry, when all of it was on the media. Before it was sent nobody knows what it is.
    fn logged(&self, entry: &Logged, drive: u16) -> Option<Vec<u64>> {
        let stamps = self.media.read(drive, entry.log.at, entry.count);
        let is_there = entry.is_sent && self.buffers.look(entry.op, entry.log.at, entry.count)? == stamps;
        is_there.then_some(stamps)
    }
}

impl Recovery for Cured {
    fn look(&mut self, cut: &Cut<'_>) {
        match cut.cure {
            Cure::None => self.resync = Some(Resync::all()),
            Cure::Bitmap { .. } => self.look_at_bitmap(cut),
            Cure::Journal => self.look_at_journal(cut),
            Cure::PartialParityLog => self.look_at_sums(cut),
        }
    }

    fn recover(&mut self, layout: &Layout, drives: &[Option<u16>], media: &mut Media) {
        for Kept { of, columns, stamps } in &self.kept {
            let (Layout::Rows(rows), Some(drive)) = (layout, drives[usize::from(of.slot)]) else { continue };
            let group = u64::from(of.slot) / rows.members();
            for (at, &stamp) in (of.at..).zip(stamps) {
                // With a member that was being written gone as well, nobody knows its part, and nobody needs it.
                let sum = columns.clone().try_fold(stamp, |sum, column| {
                    Some(sum ^ media.get(drives[usize::from(rows.data(rows.row_at(group, at), column))]?, at))
                });
                sum.into_iter().for_each(|sum| media.set(drive, at, sum));
            }
        }
        if let Some(resync) = &mut self.resync {
            resync.recover(layout, drives, media);
        }
    }
}

/// Whether the last drive is a journal.
pub fn has_journal(params: &ArrayParams) -> bool {
    params.cure == Cure::Journal
}
