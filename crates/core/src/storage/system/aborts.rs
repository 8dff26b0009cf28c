//! Commands that their hosts abort.
//!
//! A command that a drive or its controller has is withdrawn, as by ABORT TASK. A controller that keeps an
//! array or has its own cache is the target of that ABORT TASK: it cannot withdraw what it has begun on
//! several drives, so it ends the command as aborted once that is over (SAM-5 7.2: the response follows when
//! the task has ended), and a write may have been done completely or in part. A command in the host's own
//! kernel, in its page cache, its I/O scheduler or an array that it keeps itself, cannot be aborted: Linux
//! has no way to withdraw a bio.
use super::System;
use crate::storage::array::params::ManagedBy;
use crate::storage::call::Accepted;
use crate::storage::context::Context;
use crate::storage::device::Device;

impl System {
    /// A host aborts the command with this number.
    #[cold]
    pub fn abort(&mut self, context: &mut Context, number: u64) -> Accepted {
        let mut schedulers = self.hosts.iter().filter_map(|host| host.scheduler.as_ref());
        let is_alone =
            self.elevator.is_none() || schedulers.any(|scheduler| scheduler.elevator.is_out_alone(number));
        let is_hosts = self.array.as_ref().is_some_and(|array| array.params().managed_by == ManagedBy::Host);
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
