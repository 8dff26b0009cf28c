//! Commands that their hosts give up.
use super::System;
use crate::storage::call::Accepted;
use crate::storage::context::Context;
use crate::storage::device::Device;

impl System {
    /// A host gives up the command with a number. Only what a drive or its controller has is given up: a memory and an
    /// array have begun what they cannot call back, and what an I/O scheduler has it may have merged with others.
    #[cold]
    pub fn abort(&mut self, context: &mut Context, number: u64) -> Accepted {
        let mut schedulers = self.hosts.iter().filter_map(|host| host.scheduler.as_ref());
        let is_alone =
            self.elevator.is_none() || schedulers.any(|scheduler| scheduler.elevator.is_out_alone(number));
        if self.array.is_some() || self.cache.is_some() || self.host_cache.is_some() || !is_alone {
            return Accepted::GoesOn;
        }
        let Device { controller, drive, .. } = &mut self.devices[0];
        let accepted = controller.abort(context, drive, number);
        self.settle(context);
        accepted
    }
}
