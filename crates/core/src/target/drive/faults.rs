//! What goes wrong with the media: sectors that cannot be read.
use crate::command::{Access, Command};
use crate::rng;
use alloc::format;
use alloc::vec::Vec;
use drivelab_units::{Lba, Sectors, Share, Span};

#[derive(Clone, Debug)]
pub struct FaultParams {
    /// Share of reads that fail although the media is sound, each attempt for itself.
    pub read_errors: Share,
    /// Ranges that no attempt can read.
    pub unreadable: Vec<(Lba, Sectors)>,
    /// How long the drive tries again before it gives a read up.
    pub retries: Span,
}

pub struct Faults {
    share: u64,
    unreadable: Vec<(Lba, Sectors)>,
    key: u64,
}

impl Faults {
    pub fn new(params: &FaultParams, index: u16, seed: u64) -> Self {
        let key = rng::Stream::named(seed, &format!("drive/{index}/faults")).bits();
        Faults { share: params.read_errors.bits(), unreadable: params.unreadable.clone(), key }
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
        let bad = |&(first, count): &(Lba, Sectors)| first < command.end() && command.first < first + count;
        self.unreadable.iter().any(bad)
    }
}
