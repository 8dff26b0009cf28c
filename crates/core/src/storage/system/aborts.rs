//! Commands that their hosts give up.
//!
//! What a drive or its controller has is withdrawn, as ABORT TASK does. A controller that keeps an array or has a cache of
//! its own is the target of that ABORT TASK: it cannot call back what it has begun on several drives, so it ends the
//! command as aborted once that is over (SAM-5 7.2: the response follows when the task has ended), and a write may have
//! been done in whole or in part. What the host's own kernel has, in its page cache, its I/O scheduler or an array that it
//! keeps itself, nobody gives up: Linux has no way to call a bio back.
use super::System;
use crate::storage::array::params::Keeper;
use crate::storage::call::Accepted;
use crate::storage::context::Context;
use crate::storage::device::Device;

impl System {
    /// A host gives up the command with a number.
    #[cold]
    pub fn abort(&mut self, context: &mut Context, number: u64) -> Accepted {
        let mut schedulers = self.hosts.iter().filter_map(|host| host.scheduler.as_ref());
        let is_alone =
            self.elevator.is_none() || schedulers.any(|scheduler| scheduler.elevator.is_out_alone(number));
        let is_hosts = self.array.as_ref().is_some_and(|array| array.params().keeper == Keeper::Host);
        if self.host_cache.is_some() || is_hosts || !is_alone {
            return Accepted::GoesOn;
        }
        if self.array.is_some() || self.cache.is_some() {
            let is_new = context.commands.give_up(number);
            return if is_new { Accepted::Aborting } else { Accepted::GoesOn };
        }
        let Device { controller, drive, .. } = &mut self.devices[0];
        let accepted = controller.abort(context, drive, number);
        self.settle(context);
        accepted
    }
}
