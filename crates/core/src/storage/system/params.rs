//! The composition of a system, and the paths of its data.
use crate::storage::array::params::{ArrayParams, Level, ManagedBy};
use crate::storage::controller::params::ControllerParams;
use crate::storage::drive::params::DriveModel;
use crate::storage::elevator::ElevatorParams;
use crate::storage::link::Wires;
use crate::storage::link::params::{BusParams, Hop};
use crate::storage::write_behind::params::WriteBehindParams;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::Sectors;

/// What is behind the hosts. [`SystemParams::of_drive`] is the smallest.
#[derive(Clone, Debug)]
pub struct SystemParams {
    /// A single one without an array; with one the members, then the spares, then the journal, as the array's
    /// parameters count them.
    pub drives: Vec<Arc<DriveModel>>,
    /// The host's end of the protocol, one for each drive.
    pub controller: ControllerParams,
    /// The host's I/O scheduler: one for each initiator, or for each drive of an array that the host keeps.
    /// Commands pass in order of arrival when `None`.
    pub elevator: Option<ElevatorParams>,
    /// The host's own cache before its I/O scheduler, one for each initiator.
    pub host_cache: Option<WriteBehindParams>,
    /// How the drives form an array; `None` with a single drive.
    pub array: Option<ArrayParams>,
    /// Whether all drives sit on one bus instead of each on a link of its own (parallel SCSI).
    pub shares_link: bool,
    /// By drive: the first drive of the same housing. Drives of one housing are the actuators of one physical drive:
    /// they turn as one, share one link, and fail together. Empty when each is a drive of its own.
    pub housings: Vec<u16>,
}

impl SystemParams {
    /// One drive behind a controller, and nothing else.
    pub fn of_drive(drive: Arc<DriveModel>, controller: ControllerParams) -> Self {
        let drives = alloc::vec![drive];
        SystemParams {
            drives,
            controller,
            elevator: None,
            host_cache: None,
            array: None,
            shares_link: false,
            housings: Vec::new(),
        }
    }

    /// The capacity that a host can address.
    ///
    /// # Panics
    /// When the array's parameters contradict each other or the drives: see [`ArrayParams::check`].
    pub fn capacity(&self) -> Sectors {
        let capacities: Vec<Sectors> = self.drives.iter().map(|drive| drive.capacity()).collect();
        match &self.array {
            None => capacities[0],
            Some(array) => array.capacity(&capacities).unwrap_or_else(|error| panic!("{error}")),
        }
    }

    /// The paths of the data: each drive's link, one for the drives of a housing or for all, and the bus of the
    /// host behind the controller.
    pub fn wires(&self) -> Wires {
        let owners = self.link_owners();
        let mut stages: Vec<BusParams> = Vec::new();
        let mut stage_of: Vec<u16> = Vec::with_capacity(owners.len());
        for (drive, &owner) in owners.iter().enumerate() {
            let is_first = usize::from(owner) == drive;
            if is_first {
                stages.push(self.drives[drive].link.bus());
            }
            let stage = if is_first { stages.len() as u16 - 1 } else { stage_of[usize::from(owner)] };
            if !is_first {
                stages[usize::from(stage)].holds = false;
            }
            stage_of.push(stage);
        }
        let bus = self.controller.bus.map(|bus| {
            stages.push(bus);
            stages.len() as u16 - 1
        });
        let hop = |bus| Hop { bus, rate: None };
        let path = |&link: &u16| core::iter::once(hop(link)).chain(bus.map(hop)).collect();
        let paths: Vec<Vec<Hop>> = stage_of.iter().map(path).collect();
        let paths: Vec<&[Hop]> = paths.iter().map(Vec::as_slice).collect();
        Wires::new(&stages, &paths)
    }

    /// Whether the drives are the two actuators of one drive behind one address range.
    pub fn is_one_drive(&self) -> bool {
        let linear =
            self.array.as_ref().is_some_and(|array| array.level == Level::Linear && array.synchronised);
        linear && self.shares_link && self.housings == [0, 0]
    }

    /// By drive: the first drive that is on the same link.
    pub fn link_owners(&self) -> Vec<u16> {
        let drives = 0..self.drives.len() as u16;
        drives.map(|drive| if self.shares_link { 0 } else { self.housing(drive) }).collect()
    }

    /// The first drive of this one's housing: itself, unless it is an actuator behind another one.
    pub fn housing(&self, drive: u16) -> u16 {
        self.housings.get(usize::from(drive)).copied().unwrap_or(drive)
    }

    /// Whether a power cut is not modelled: of a pool whose drives cache writes. A real pool flushes them with each
    /// group of writes.
    pub fn is_pool_with_write_caches(&self) -> bool {
        let is_pool = self.array.as_ref().is_some_and(|array| matches!(array.level, Level::RaidZ { .. }));
        is_pool && self.drives.iter().any(|drive| drive.caches_writes())
    }

    /// Whether the I/O schedulers are one for each drive.
    pub(super) fn schedules_drives(&self) -> bool {
        self.array.as_ref().is_some_and(|array| array.managed_by == ManagedBy::Host)
    }
}
