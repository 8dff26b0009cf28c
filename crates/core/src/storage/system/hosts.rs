//! The hosts' end of a system: what a host issues, and its own cache.
use super::{CacheStage, HostPath, System};
use crate::command::Command;
use crate::storage::context::Context;
use crate::storage::device::Scheduler;
use crate::storage::events::Event;
use crate::storage::write_behind::{Answer, Place};
use crate::trace::CommandTrace;

impl System {
    /// A host issues a command.
    pub(super) fn enter_host(&mut self, context: &mut Context, command: &Command) {
        let initiator = usize::from(command.initiator);
        if self.host_cache.is_none() && self.elevator.is_none() {
            return self.enter_cache(context, command);
        }
        while self.hosts.len() <= initiator {
            let place = Place::Host(self.hosts.len() as u16);
            // No array writes its members zone by zone.
            let zones =
                self.devices[0].drive.model().medium.zones().filter(|_| self.array.is_none()).copied();
            let scheduler = self.elevator.as_ref().map(|params| Scheduler::new(params, zones));
            let mut cache = self.host_cache.map(|params| CacheStage::new(&params, place, self.capacity()));
            if let Some(cache) = cache.as_mut().filter(|_| context.enabled.data) {
                cache.memory.keep_data();
            }
            self.hosts.push(HostPath { cache, scheduler });
        }
        match &mut self.hosts[initiator].cache {
            Some(cache) => {
                cache.memory.submit(context.now, command);
                self.pump_host_cache(context, command.initiator);
            }
            None => self.enter_scheduler(context, command),
        }
    }

    /// The host's cache passes on its data operations, commands and answers, and schedules its next instant.
    pub(super) fn pump_host_cache(&mut self, context: &mut Context, initiator: u16) {
        let host = usize::from(initiator);
        if let Some(cache) = &mut self.hosts[host].cache {
            cache.pass_on_outputs(context);
        }
        while let Some(command) = self.hosts[host].cache.as_mut().and_then(|cache| cache.memory.poll_below())
        {
            self.enter_scheduler(context, &command);
        }
        let Some(cache) = &mut self.hosts[host].cache else { return };
        while let Some(Answer { completion, in_memory }) = cache.memory.poll_answer() {
            if let Some(command) = in_memory {
                context.report_trace(CommandTrace::in_memory(&command, &completion));
            }
            context.complete(completion);
        }
        cache.schedule(context, Event::HostCache { initiator });
    }
}

/// The I/O scheduler of a host, where there is one before everything else.
pub(super) fn host_scheduler(hosts: &mut [HostPath], initiator: u16) -> Option<&mut Scheduler> {
    hosts.get_mut(usize::from(initiator))?.scheduler.as_mut()
}
