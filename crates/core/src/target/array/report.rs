//! What happens to an array while it runs: failures, spares, rebuilds, lost data.
use drivelab_units::{Instant, Lba, Sectors};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    pub at: Instant,
    pub what: Happened,
}

/// Why the array goes over its members by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SyncKind {
    /// A new member gets its data.
    Rebuild,
    /// What an unclean shutdown left in doubt is made consistent.
    Resync,
    /// Everything is read and compared.
    Scrub,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// The member in this slot is gone.
    Failed {
        slot: u16,
    },
    /// Another drive has taken the slot.
    Replaced {
        slot: u16,
        drive: u16,
    },
    Began(SyncKind),
    Ended(SyncKind),
    /// These addresses of the array cannot be had any more.
    Lost {
        first: Lba,
        count: Sectors,
    },
}
