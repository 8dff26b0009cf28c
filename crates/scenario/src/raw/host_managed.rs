//! The zones of a host-managed shingled drive, as typed in a drive file, and how a workload writes them.
use crate::keys::numbers::Count;
use crate::keys::quantities::Extent;
use crate::keys::{choices, section};

/// A number of zones.
pub type Zones = Count<0, 4194304>;

section! {
    facts: true,
    /// Host-managed shingled recording (ZBC, ZAC): the host writes each zone in order, from its write pointer on, and the drive
    /// refuses any other write.
    pub struct HostManagedRaw {
        /// The size of a zone.
        zone: Extent = "256MiB",
        /// Zones at the start of the addresses that are written anywhere.
        conventional: Zones = "0",
        /// The most zones that are open for writing, as the drive reports to its host.
        open: Zones = "128",
    }
}

/// fio's `zonemode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ZoneMode {
    Anywhere,
    Zbd,
}

choices!(ZoneMode {
    "none" => ZoneMode::Anywhere, "writes go anywhere";
    "zbd" => ZoneMode::Zbd, "writes go to the write pointers of zones";
});
