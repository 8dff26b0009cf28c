//! Media faults: sectors that cannot be read.
//!
//! An unreadable sector becomes good again once it is written: the drive rewrites it in place, or reallocates
//! it (AWRE of SCSI's recovery page, the pending sectors of ATA drives). That takes no extra time here, and a
//! reallocated sector is read as if it were still in its own place.
use crate::command::{Access, Command};
use crate::rng;
use crate::storage::bad_blocks::BadBlocks;
use crate::storage::fault::Cure;
use alloc::format;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors, Share, Span};

/// Which reads of a drive fail, from the start.
#[derive(Clone, Debug)]
pub struct FaultParams {
    /// Share of reads that fail although the media is good, independently for each attempt.
    pub read_errors: Share,
    /// Ranges that are unreadable until they are written.
    pub unreadable: Vec<(Lba, Sectors)>,
    /// How long the drive retries before it gives up a read.
    pub retries: Span,
}

/// All media faults of a drive.
#[derive(Default)]
pub struct Faults {
    share: u64,
    /// Unreadable until they are written.
    unreadable: BadBlocks,
    /// Unreadable permanently.
    lasting: BadBlocks,
    /// Unreadable until a number of reads have failed: the first sector, the one after the last, and that
    /// number.
    stubborn: Vec<(Lba, Lba, u8)>,
    key: u64,
    /// How long the drive retries before it gives up a read.
    pub retries: Span,
}

impl Faults {
    /// The faults of drive `index`, drawn from the stream `drive/<index>/faults` of this seed.
    pub fn new(params: &FaultParams, index: u16, seed: u64) -> Self {
        let key = rng::Stream::named(seed, &format!("drive/{index}/faults")).bits();
        let mut unreadable = BadBlocks::default();
        params
            .unreadable
            .iter()
            .for_each(|&(first, count)| unreadable.add(first.get(), (first + count).get()));
        let (share, retries) = (params.read_errors.bits(), params.retries);
        Faults { share, unreadable, key, retries, ..Faults::default() }
    }

    /// Whether this attempt at a command fails. Keyed by the id that its host gave it and the attempt, so
    /// that neither the order of service nor the failure of another command changes it.
    pub fn fails_attempt(&self, command: &Command, id: u64) -> bool {
        if command.access == Access::Write {
            return false;
        }
        let drawn = rng::keyed(self.key, id << 8 | u64::from(command.attempt)) >> 32;
        drawn < self.share || self.is_unreadable(command)
    }

    /// Whether a command touches sectors that this attempt cannot read: no buffer ever holds them.
    pub fn is_unreadable(&self, command: &Command) -> bool {
        let (first, end) = (command.first, command.end());
        let is_in_the_way =
            |&(bad, bad_end, tries): &(Lba, Lba, u8)| bad < end && first < bad_end && command.attempt < tries;
        self.unreadable.touch(first.get(), end.get())
            || self.lasting.touch(first.get(), end.get())
            || self.stubborn.iter().any(is_in_the_way)
    }

    /// Sectors that no attempt can read.
    pub fn unreadable_sectors(&self) -> Sectors {
        Sectors::new(self.unreadable.count() + self.lasting.count())
    }

    /// These sectors cannot be read from now on.
    pub fn make_unreadable(&mut self, first: Lba, end: Lba, until: Cure) {
        match until {
            Cure::Written => self.unreadable.add(first.get(), end.get()),
            Cure::Never => self.lasting.add(first.get(), end.get()),
            Cure::Retries(tries) => self.stubborn.push((first, end, tries)),
        }
    }

    /// These sectors are written.
    pub fn heal(&mut self, first: Lba, end: Lba) {
        self.unreadable.fill(first.get(), end.get());
    }
}
