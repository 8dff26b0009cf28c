//! Drives as a host sees them: the host's cache and its I/O scheduler, the controller and its cache, the
//! array, the drives. This is wiring only.
//!
//! Behind a controller that keeps the array there is one I/O scheduler for each host, before everything else; an array
//! that the host keeps has one for each drive, behind the array.
//!
//! # The order of what is due at one instant
//!
//! Figures depend on it, so it is fixed:
//!
//! 1. Events run by class, then in the order in which they were scheduled: see [`agenda`](crate::agenda). All
//!    consequences of one event, or of one command of a host, are complete before the next.
//! 2. A command goes down through all boxes, as far as it can, before the box that sent it emits anything
//!    else; an answer goes up likewise. Depth first, and in the order of each box.
//! 3. A box with output in both directions reports its data operations first, then passes its commands down,
//!    then its answers up, and then schedules its next instant. An array drops the drives that it has given
//!    up before all that.
//! 4. Drives are the exception: their answers wait until the event or the command has done everything else.
//!    Then controllers receive one answer at a time, and before each of them goes up, the commands that
//!    controllers have ended without their drives.
//! 5. A controller that receives an answer sends a command that waits for a tag before it passes the answer
//!    on.
//! 6. Of a merged request each command is answered, oldest first, before the scheduler dispatches the next
//!    request.
mod aborts;
mod cache;
mod failures;
mod hosts;
mod params;
mod power;
mod reading;
mod traces;

use super::array::Array;
use super::context::Context;
use super::controller::params::ControllerParams;
use super::device::{Device, Scheduler};
use super::drive::Drive;
use super::elevator::ElevatorParams;
use super::events::{Before, Event};
use super::write_behind::Answer;
use super::write_behind::params::WriteBehindParams;
use crate::command::{Command, Completion};
use crate::trace::CommandTrace;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use cache::CacheStage;
use hosts::host_scheduler;
pub use params::SystemParams;

/// What is needed to build a replacement drive.
struct ReplacementParams {
    seed: u64,
    controller: ControllerParams,
    /// The I/O scheduler before each drive.
    before_drive: Option<ElevatorParams>,
    /// As in [`SystemParams::housings`].
    housings: Vec<u16>,
}

/// The boxes of one initiator, above the controller.
struct HostPath {
    cache: Option<CacheStage>,
    scheduler: Option<Scheduler>,
}

/// All boxes behind a host, wired up: memories, I/O schedulers, array, controllers and drives.
pub struct System {
    /// By initiator; none without a cache or an I/O scheduler.
    hosts: Vec<HostPath>,
    host_cache: Option<WriteBehindParams>,
    /// The I/O scheduler before everything else.
    elevator: Option<ElevatorParams>,
    /// The controller's.
    cache: Option<CacheStage>,
    array: Option<Box<Array>>,
    devices: Vec<Device>,
    /// By drive: whether it has failed for good and is ignored. Contiguous, because it is read at every
    /// event.
    dead: Vec<bool>,
    /// With I/O schedulers of the hosts: traces of requests from which the traces of their commands are still
    /// to be made.
    attempts: Vec<CommandTrace>,
    /// As [`SystemParams::is_one_drive`].
    is_one_drive: bool,
    /// Whether there is neither a cache nor an I/O scheduler before the array, or before the one drive's
    /// controller.
    is_open: bool,
    replacement: ReplacementParams,
}

impl System {
    /// Builds and wires the boxes. Panics on parameters of an array that
    /// [`Layout::new`](super::array::levels::Layout::new) refuses.
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        let schedules_drives = params.schedules_drives();
        let before_drive = params.elevator.as_ref().filter(|_| schedules_drives);
        let elevator = params.elevator.filter(|_| !schedules_drives);
        let models = (0..).zip(&params.drives);
        let drives = models.map(|(index, model)| match &params.array {
            None => Drive::new(Arc::clone(model), index, seed),
            Some(array) => array.drive(model, index, params.housing(index), seed),
        });
        let devices: Vec<Device> =
            drives.map(|drive| Device::new(drive, &params.controller, before_drive)).collect();
        let array = params.array.as_ref().map(|array| {
            let drives: Vec<&Drive> = devices.iter().map(|device| &device.drive).collect();
            Box::new(Array::new(array, &drives))
        });
        let capacity = array.as_ref().map_or_else(|| devices[0].drive.capacity(), |array| array.capacity());
        let of_controller = |cache| CacheStage::of_controller(cache, array.as_deref(), capacity);
        let cache = params.controller.cache.as_ref().map(of_controller);
        let is_open = params.host_cache.is_none() && elevator.is_none() && cache.is_none();
        System {
            hosts: Vec::new(),
            host_cache: params.host_cache,
            elevator,
            cache,
            array,
            dead: alloc::vec![false; devices.len()],
            devices,
            attempts: Vec::new(),
            is_one_drive: params.is_one_drive(),
            is_open,
            replacement: ReplacementParams {
                seed,
                controller: params.controller,
                before_drive: before_drive.copied(),
                housings: params.housings.clone(),
            },
        }
    }

    /// To be called once, before anything else happens.
    pub fn start(&mut self, context: &mut Context) {
        if let Some(array) = &mut self.array {
            array.start(context);
            self.pump_array(context);
        }
    }

    /// From now on the caches record their data operations too.
    pub fn keep_data(&mut self) {
        let hosts = self.hosts.iter_mut().filter_map(|host| host.cache.as_mut());
        hosts.chain(&mut self.cache).for_each(|cache| cache.memory.keep_data());
    }

    /// Accepts a command of a host; its answer comes as an output.
    pub fn submit(&mut self, context: &mut Context, command: &Command) {
        if self.is_open {
            self.enter_array(context, command);
        } else {
            self.enter_host(context, command);
        }
        self.settle(context);
    }

    pub(crate) fn on_event(&mut self, context: &mut Context, event: Event) {
        match event {
            Event::Drive(drive, event) => {
                if !self.dead[usize::from(drive)] {
                    self.devices[usize::from(drive)].drive.on_event(context, event);
                }
            }
            Event::Controller(at, event) => {
                let Device { controller, drive, .. } = &mut self.devices[usize::from(at)];
                if !self.dead[usize::from(at)]
                    && let Some(answer) = controller.on_event(context, drive, event)
                {
                    self.leave_controller(context, at, &answer);
                }
            }
            Event::Elevator(before) => self.poll_scheduler(context, before),
            Event::HostCache { initiator } => {
                let cache = &mut self.hosts[usize::from(initiator)].cache;
                if cache.as_mut().is_some_and(|cache| cache.wake(context.now)) {
                    self.pump_host_cache(context, initiator);
                }
            }
            Event::ControllerCache => {
                if self.cache.as_mut().is_some_and(|cache| cache.wake(context.now)) {
                    self.pump_cache(context);
                }
            }
            Event::Array(event) => {
                if let Some(array) = &mut self.array {
                    array.on_event(context, event);
                    self.pump_array(context);
                }
            }
            Event::Fails { drive } => _ = self.fail(context, drive),
            Event::Server(_) => unreachable!("an event finds the box that scheduled it"),
        }
        self.settle(context);
    }

    /// Passes on the drives' answers, until there are none left.
    #[inline]
    pub fn settle(&mut self, context: &mut Context) {
        if !context.answers.is_empty() || !context.refused.is_empty() {
            self.pass_on(context);
        }
    }

    // Separate from the check whether there is anything, which runs far more often.
    #[inline(never)]
    fn pass_on(&mut self, context: &mut Context) {
        loop {
            while let Some((at, refused)) = context.refused.pop_front() {
                self.leave_controller(context, at, &refused);
            }
            let Some(&(at, mut completion)) = context.answers.front() else { return };
            context.answers.drop_front();
            if context.enabled.traces {
                self.keep_trace(context, at, &completion);
            }
            if self.dead[usize::from(at)] {
                continue;
            }
            let Device { controller, drive, .. } = &mut self.devices[usize::from(at)];
            if controller.completed(context, drive, &mut completion) {
                self.leave_controller(context, at, &completion);
            }
        }
    }

    fn enter_scheduler(&mut self, context: &mut Context, command: &Command) {
        match host_scheduler(&mut self.hosts, command.initiator) {
            Some(scheduler) => {
                scheduler.elevator.submit(context.now, *command);
                self.dispatch(context, Before::Target { initiator: command.initiator });
            }
            None => self.enter_cache(context, command),
        }
    }

    fn scheduler(&mut self, before: Before) -> Option<&mut Scheduler> {
        match before {
            Before::Target { initiator } => host_scheduler(&mut self.hosts, initiator),
            Before::Drive(at) => self.devices[usize::from(at)].scheduler.as_mut(),
        }
    }

    /// An I/O scheduler is due to be polled again, unless an earlier instant has replaced this one.
    fn poll_scheduler(&mut self, context: &mut Context, before: Before) {
        if let Before::Drive(at) = before
            && self.dead[usize::from(at)]
        {
            return;
        }
        if let Some(scheduler) = self.scheduler(before)
            && scheduler.wakes == Some(context.now)
        {
            scheduler.wakes = None;
            self.dispatch(context, before);
        }
    }

    /// An I/O scheduler dispatches what may go, and schedules when to ask it again.
    fn dispatch(&mut self, context: &mut Context, before: Before) {
        let now = context.now;
        let next = |scheduler: &mut Scheduler| scheduler.elevator.next(now);
        while let Some(request) = self.scheduler(before).and_then(next) {
            if context.enabled.data
                && let Some(scheduler) = self.scheduler(before)
            {
                context.note_merged(&request, scheduler.elevator.merged(request.tag));
            }
            match before {
                Before::Target { .. } => self.enter_cache(context, &request),
                Before::Drive(at) => self.enter_controller(context, at, &request),
            }
        }
        let Some(Scheduler { elevator, wakes, .. }) = self.scheduler(before) else { return };
        if let Some(due) = elevator.wake()
            && wakes.is_none_or(|known| due < known)
        {
            *wakes = Some(due);
            context.agenda.schedule(due, 3, Event::Elevator(before));
        }
    }

    fn enter_cache(&mut self, context: &mut Context, command: &Command) {
        match &mut self.cache {
            Some(cache) => {
                cache.memory.submit(context.now, command);
                self.pump_cache(context);
            }
            None => self.enter_array(context, command),
        }
    }

    /// The controller's cache passes on its data operations, commands and answers, and schedules its next
    /// instant.
    fn pump_cache(&mut self, context: &mut Context) {
        if let Some(cache) = &mut self.cache {
            cache.pass_on_outputs(context);
        }
        while let Some(command) = self.cache.as_mut().and_then(|cache| cache.memory.poll_below()) {
            self.enter_array(context, &command);
        }
        let next = |cache: &mut CacheStage| cache.memory.poll_answer();
        while let Some(Answer { completion, in_memory }) = self.cache.as_mut().and_then(next) {
            if let Some(command) = in_memory
                && context.enabled.traces
            {
                self.receive_trace(context, CommandTrace::in_memory(&command, &completion));
            }
            self.leave_cache(context, &completion);
        }
        if let Some(cache) = &mut self.cache {
            cache.schedule(context, Event::ControllerCache);
        }
    }

    #[inline]
    fn enter_array(&mut self, context: &mut Context, command: &Command) {
        match &mut self.array {
            Some(array) => {
                array.submit(context, command);
                self.pump_array(context);
            }
            None => {
                let Device { controller, drive, .. } = &mut self.devices[0];
                controller.submit(context, drive, command);
            }
        }
    }

    /// The array passes on its commands and answers.
    #[inline]
    fn pump_array(&mut self, context: &mut Context) {
        self.forget_given_up(context);
        while let Some(array) = &mut self.array
            && array.has_below()
        {
            let (at, command) = array.next_below();
            self.enter_device(context, at, &command);
        }
        while let Some(array) = &mut self.array
            && let Some(&completion) = array.answer_above()
        {
            array.drop_answer();
            if context.enabled.traces
                && let Some(trace) = self.array.as_mut().and_then(|array| array.poll_trace())
            {
                self.receive_trace(context, trace);
            }
            self.leave_array(context, &completion);
        }
    }

    fn enter_device(&mut self, context: &mut Context, at: u16, command: &Command) {
        match &mut self.devices[usize::from(at)].scheduler {
            Some(scheduler) => {
                scheduler.elevator.submit(context.now, *command);
                self.dispatch(context, Before::Drive(at));
            }
            None => self.enter_controller(context, at, command),
        }
    }

    fn enter_controller(&mut self, context: &mut Context, at: u16, command: &Command) {
        let Device { controller, drive, .. } = &mut self.devices[usize::from(at)];
        controller.submit(context, drive, command);
    }

    /// The controller has completed a command of a drive.
    #[inline(always)]
    fn leave_controller(&mut self, context: &mut Context, at: u16, answer: &Completion) {
        let Some(array) = &mut self.array else { return self.leave_array(context, answer) };
        match &mut self.devices[usize::from(at)].scheduler {
            Some(scheduler) => {
                let attempts = scheduler.attempts_of(answer.id);
                scheduler.elevator.completed(answer, |member, completion| {
                    context.note_parted(answer.id, member);
                    if let Some(trace) = attempts.last() {
                        let (submitted, carried_by) = (completion.submitted, answer.id);
                        array.receive_trace(CommandTrace {
                            command: *member,
                            submitted,
                            carried_by,
                            ..*trace
                        });
                    }
                    array.completed(context, &completion);
                });
                self.forget_given_up(context);
                if !self.dead[usize::from(at)] {
                    self.dispatch(context, Before::Drive(at));
                }
            }
            None => array.completed(context, answer),
        }
        self.pump_array(context);
    }

    /// The array, or the one drive, has completed a command.
    #[inline]
    fn leave_array(&mut self, context: &mut Context, answer: &Completion) {
        // With no box above it goes to the host unchanged.
        if self.is_open {
            return context.complete(*answer);
        }
        match &mut self.cache {
            Some(cache) => {
                cache.memory.completed(context.now, answer);
                self.pump_cache(context);
            }
            None => self.leave_cache(context, answer),
        }
    }

    /// A request that a scheduler dispatched is done: its host gets an answer to each command that was merged
    /// into it.
    fn leave_cache(&mut self, context: &mut Context, answer: &Completion) {
        let Some(HostPath { cache, scheduler }) = self.hosts.get_mut(usize::from(answer.initiator)) else {
            return context.complete(*answer);
        };
        let mut received = |context: &mut Context, completion: Completion| match cache {
            Some(cache) => cache.memory.completed(context.now, &completion),
            None => context.complete(completion),
        };
        let Some(scheduler) = scheduler else {
            received(context, *answer);
            return self.pump_host_cache(context, answer.initiator);
        };
        let own = |trace: &mut CommandTrace| trace.command.id == answer.id;
        let attempts: Vec<CommandTrace> = self.attempts.extract_if(.., own).collect();
        scheduler.elevator.completed(answer, |member, completion| {
            context.note_parted(answer.id, member);
            for trace in &attempts {
                let command = Command { attempt: trace.command.attempt, ..*member };
                let (submitted, carried_by) = (completion.submitted, answer.id);
                context.report_trace(CommandTrace { command, submitted, carried_by, ..*trace });
            }
            received(context, completion);
        });
        self.dispatch(context, Before::Target { initiator: answer.initiator });
        self.pump_host_cache(context, answer.initiator);
    }
}
