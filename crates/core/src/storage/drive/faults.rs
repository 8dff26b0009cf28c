//! What goes wrong with the media: sectors that cannot be read.
//!
//! A sector that cannot be read is sound again once it is written: the drive writes it where it is, or gives it another
//! place (reallocation: AWRE of SCSI's recovery page, the pending sectors of ATA drives). That takes no time of its own
//! here, and a sector in another place is read as if it were still in its own.
use crate::command::{Access, Command};
use crate::rng;
use crate::storage::bad_blocks::BadBlocks;
use alloc::format;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors, Share, Span};

#[derive(Clone, Debug)]
pub struct FaultParams {
    /// Share of reads that fail although the media is sound, each attempt for itself.
    pub read_errors: Share,
    /// Ranges that no attempt can read before they are written.
    pub unreadable: Vec<(Lba, Sectors)>,
    /// How long the drive tries again before it gives a read up.
    pub retries: Span,
}

pub struct Faults {
    share: u64,
    unreadable: BadBlocks,
    key: u64,
}

impl Faults {
    pub fn new(params: &FaultParams, index: u16, seed: u64) -> Self {
        let key = rng::Stream::named(seed, &format!("drive/{index}/faults")).bits();
        let mut unreadable = BadBlocks::default();
        params
            .unreadable
            .iter()
            .for_each(|&(first, count)| unreadable.add(first.get(), (first + count).get()));
        Faults { share: params.read_errors.bits(), unreadable, key }
    }

    /// Whether this attempt at a command fails. Keyed by the command's number and the attempt, so that neither the order
    /// of service nor another command's fate changes it.
    pub fn strike(&self, command: &Command) -> bool {
        if command.access == Access::Write {
            return false;
        }
        let drawn = rng::keyed(self.key, command.id << 8 | u64::from(command.attempt)) >> 32;
        drawn < self.share || self.is_unreadable(command)
    }

    /// Whether a command touches sectors that no attempt can read: no buffer ever holds them.
    pub fn is_unreadable(&self, command: &Command) -> bool {
        self.unreadable.touch(command.first.get(), command.end().get())
    }

    /// These sectors are written.
    pub fn heal(&mut self, first: Lba, end: Lba) {
        self.unreadable.fill(first.get(), end.get());
    }
}
