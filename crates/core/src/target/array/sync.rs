//! What an array does by itself: rebuild, resync, scrub.
use super::Array;
use super::params::SyncParams;
use crate::command::{Access, Attribute, Command, Outcome, Priority};
use crate::target::context::Context;
use crate::target::tree::Slot;
use drivelab_units::{Lba, Sectors};

/// What the array's own commands look like beside their addresses.
pub const COMMAND: Command = Command {
    id: 0,
    initiator: 0,
    logical_unit: 0,
    tag: 0,
    attribute: Attribute::Simple,
    priority: Priority::Normal,
    force_unit_access: false,
    direct: true,
    attempt: 0,
    process: u32::MAX - 1,
    synchronous: false,
    access: Access::Read,
    first: Lba::ZERO,
    count: Sectors::ZERO,
};

pub struct Sync {}

impl Sync {
    pub fn new(_params: &SyncParams) -> Self {
        Sync {}
    }
}

impl Array {
    pub(super) fn pump_sync(&mut self, _context: &mut Context<'_>) {}

    pub(super) fn plan_sync(&mut self, _context: &mut Context<'_>, _slot: Slot) -> Result<(), Outcome> {
        todo!("windows")
    }

    pub(super) fn sync_is_done(&mut self, _context: &mut Context<'_>, _slot: Slot) {}

    pub(super) fn begin_scheduled(&mut self, _context: &mut Context<'_>, _scheduled: u16) {}
}
