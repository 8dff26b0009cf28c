//! What can be read of a system while it runs: its capacity, its boxes and their state.
use super::System;
use crate::storage::array::Array;
use crate::storage::drive::Drive;
use crate::storage::write_behind::WriteBehind;
use drivelab_units::Sectors;

impl System {
    /// Sectors that hosts can address.
    pub fn capacity(&self) -> Sectors {
        self.array.as_ref().map_or_else(|| self.devices[0].drive.capacity(), |array| array.capacity())
    }

    /// Its drives, in the order of their numbers.
    pub fn drives(&self) -> impl Iterator<Item = &Drive> {
        self.devices.iter().map(|device| &device.drive)
    }

    /// The array, if there is one.
    pub fn array(&self) -> Option<&Array> {
        self.array.as_deref()
    }

    /// The cache of a host that has issued a command.
    pub fn host_cache(&self, initiator: u16) -> Option<&WriteBehind> {
        self.hosts.get(usize::from(initiator))?.cache.as_ref().map(|cache| &cache.memory)
    }

    /// The cache of the controller.
    pub fn controller_cache(&self) -> Option<&WriteBehind> {
        self.cache.as_ref().map(|cache| &cache.memory)
    }

    /// The caches, those of hosts that have issued a command first.
    pub fn caches(&self) -> impl Iterator<Item = &WriteBehind> {
        let hosts = self.hosts.iter().filter_map(|host| host.cache.as_ref());
        hosts.chain(&self.cache).map(|cache| &cache.memory)
    }

    /// Whether the array refuses writes: the last copy of something failed a write, or the journal has
    /// failed.
    pub fn refuses_writes(&self) -> bool {
        self.array.as_ref().is_some_and(|array| array.takes_no_writes())
    }
}
