//! A drive with the boxes for it alone: its end of the controller and, in an array that the host keeps, an
//! I/O scheduler.
use super::controller::Controller;
use super::controller::params::ControllerParams;
use super::drive::Drive;
use super::drive::zones::ZonesParams;
use super::elevator::{Elevator, ElevatorParams};
use crate::trace::CommandTrace;
use alloc::vec::Vec;
use drivelab_units::Instant;

/// An I/O scheduler, and the traces of its requests.
pub struct Scheduler {
    pub elevator: Elevator,
    /// The next call that is on the agenda.
    pub wakes: Option<Instant>,
    /// Traces of requests from which the traces of their commands are still to be made.
    pub attempts: Vec<CommandTrace>,
}

impl Scheduler {
    /// The scheduler of a device with these zones, if it has any.
    pub fn new(params: &ElevatorParams, zones: Option<ZonesParams>) -> Self {
        let mut elevator = Elevator::new(params);
        if let Some(zones) = zones {
            elevator = elevator.with_zones(zones, params.merge_limit);
        }
        Scheduler { elevator, wakes: None, attempts: Vec::new() }
    }

    /// Removes and returns the traces of a request.
    pub fn attempts_of(&mut self, request: u64) -> Vec<CommandTrace> {
        self.attempts.extract_if(.., |trace| trace.command.id == request).collect()
    }
}

pub struct Device {
    pub scheduler: Option<Scheduler>,
    pub controller: Controller,
    pub drive: Drive,
}

impl Device {
    pub fn new(drive: Drive, controller: &ControllerParams, elevator: Option<&ElevatorParams>) -> Self {
        let controller = Controller::new(controller, &drive);
        let zones = drive.model().medium.zones().copied();
        Device { scheduler: elevator.map(|params| Scheduler::new(params, zones)), controller, drive }
    }
}
