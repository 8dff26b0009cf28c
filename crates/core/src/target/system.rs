//! A drive as a host sees it: the host's cache and its I/O scheduler, the controller and its cache, the drive. Wiring
//! only.
use super::context::{Context, Event};
use super::controller::Controller;
use super::controller::params::ControllerParams;
use super::drive::Drive;
use super::drive::params::DriveModel;
use super::elevator::{Elevator, ElevatorParams};
use super::write_behind::params::WriteBehindParams;
use super::write_behind::{Answer, Place, WriteBehind};
use crate::command::{Command, Completion};
use crate::life::Life;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors};

#[derive(Clone, Debug)]
pub struct SystemParams {
    pub drive: Arc<DriveModel>,
    pub controller: ControllerParams,
    /// The host's I/O scheduler, one for each initiator; commands go on as they come when `None`.
    pub elevator: Option<ElevatorParams>,
    /// The host's own cache before its I/O scheduler, one for each initiator.
    pub host_cache: Option<WriteBehindParams>,
}

/// What one initiator has before the controller.
struct Host {
    cache: Option<Cache>,
    scheduler: Option<Scheduler>,
}

struct Scheduler {
    elevator: Elevator,
    /// When it is to be asked again, if that is on the agenda.
    wakes: Option<Instant>,
}

struct Cache {
    memory: WriteBehind,
    /// When a copy and when a flush are to be looked after, if that is on the agenda.
    wakes: [Option<Instant>; 2],
}

impl Cache {
    fn new(params: &WriteBehindParams, place: Place) -> Self {
        Cache { memory: WriteBehind::new(params, place), wakes: [None; 2] }
    }

    /// Puts its next instants on the agenda. One that comes too early does no harm, and so needs no other beside it.
    fn schedule(&mut self, context: &mut Context<'_>, event: Event) {
        let due = [self.memory.next_copy(), self.memory.next_flush()];
        for (wakes, due) in self.wakes.iter_mut().zip(due) {
            if let Some(due) = due
                && wakes.is_none_or(|known| due < known)
            {
                *wakes = Some(due);
                // What ends before what begins.
                context.agenda.schedule(due, 1, event);
            }
        }
    }

    /// One of its instants has come, unless an earlier one has taken the place of this. Returns whether one has.
    fn wake(&mut self, now: Instant) -> bool {
        let mut due = false;
        for wakes in &mut self.wakes {
            due |= wakes.take_if(|wakes| *wakes == now).is_some();
        }
        if due {
            self.memory.tick(now);
        }
        due
    }
}

pub struct System {
    /// By initiator; none without a cache or an I/O scheduler.
    hosts: Vec<Host>,
    host_cache: Option<WriteBehindParams>,
    elevator: Option<ElevatorParams>,
    /// The controller's.
    cache: Option<Cache>,
    controller: Controller,
    drive: Drive,
    /// Behind an I/O scheduler: lives of requests that their commands' own are still to be made of.
    attempts: Vec<Life>,
    /// Whether nothing stands before the controller.
    is_plain: bool,
}

impl System {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        let drive = Drive::new(Arc::clone(&params.drive), 0, seed);
        let controller = Controller::new(&params.controller, &drive);
        let cache = params.controller.cache.as_ref().map(|cache| Cache::new(cache, Place::Controller));
        let is_plain = params.host_cache.is_none() && params.elevator.is_none() && cache.is_none();
        System {
            hosts: Vec::new(),
            host_cache: params.host_cache,
            elevator: params.elevator,
            cache,
            controller,
            drive,
            attempts: Vec::new(),
            is_plain,
        }
    }

    pub fn capacity(&self) -> Sectors {
        self.drive.capacity()
    }

    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The cache of a host that has issued something.
    pub fn host_cache(&self, initiator: u16) -> Option<&WriteBehind> {
        self.hosts.get(usize::from(initiator))?.cache.as_ref().map(|cache| &cache.memory)
    }

    /// The cache of the controller.
    pub fn controller_cache(&self) -> Option<&WriteBehind> {
        self.cache.as_ref().map(|cache| &cache.memory)
    }

    pub fn submit(&mut self, context: &mut Context<'_>, command: &Command) {
        if self.is_plain {
            self.controller.submit(context, &mut self.drive, command);
        } else {
            self.enter_host(context, command);
        }
        self.settle(context);
    }

    pub fn on_event(&mut self, context: &mut Context<'_>, event: Event) {
        match event {
            Event::Drive(_, event) => self.drive.on_event(context, event),
            Event::Controller(event) => {
                if let Some(answer) = self.controller.on_event(context, &mut self.drive, event) {
                    self.leave_controller(context, &answer);
                }
            }
            Event::Elevator { initiator } => {
                let scheduler = &mut self.hosts[usize::from(initiator)].scheduler;
                // A later one that an earlier one has taken the place of is nobody's.
                if let Some(scheduler) = scheduler
                    && scheduler.wakes == Some(context.now)
                {
                    scheduler.wakes = None;
                    self.hand_on(context, initiator);
                }
            }
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
            Event::Server(_) => unreachable!("an event finds the box that scheduled it"),
        }
        self.settle(context);
    }

    /// Passes on what the drive has answered, until it has nothing left to say.
    #[inline]
    fn settle(&mut self, context: &mut Context<'_>) {
        if self.controller.has_refused() || !context.answers.is_empty() {
            self.pass_on(context);
        }
    }

    fn pass_on(&mut self, context: &mut Context<'_>) {
        loop {
            while let Some(refused) = self.controller.poll_refused() {
                self.leave_controller(context, &refused);
            }
            let Some(completion) = context.answers.pop_front() else { return };
            let flushes = |cache: &Cache| cache.memory.has_issued(completion.id);
            if let (Some(_), Some(lives)) = (self.elevator, context.lives.as_mut())
                && !self.cache.as_ref().is_some_and(flushes)
            {
                let own = lives.iter().rposition(|life| life.command.id == completion.id);
                self.attempts.extend(own.and_then(|own| lives.remove(own)));
            }
            if let Some(answer) = self.controller.completed(context, &mut self.drive, &completion) {
                // With nothing else the host hears it as it is.
                if self.is_plain {
                    context.complete(answer);
                } else {
                    self.leave_controller(context, &answer);
                }
            }
        }
    }

    /// A host issues a command.
    fn enter_host(&mut self, context: &mut Context<'_>, command: &Command) {
        let initiator = usize::from(command.initiator);
        while self.hosts.len() <= initiator {
            let place = Place::Host(self.hosts.len() as u16);
            let scheduler =
                self.elevator.map(|params| Scheduler { elevator: Elevator::new(&params), wakes: None });
            let cache = self.host_cache.map(|params| Cache::new(&params, place));
            self.hosts.push(Host { cache, scheduler });
        }
        match &mut self.hosts[initiator].cache {
            Some(cache) => {
                cache.memory.submit(context.now, command);
                self.pump_host_cache(context, command.initiator);
            }
            None => self.enter_scheduler(context, command),
        }
    }

    /// The host's cache passes on what it has to say in either direction, and says when to wake it.
    fn pump_host_cache(&mut self, context: &mut Context<'_>, initiator: u16) {
        let host = usize::from(initiator);
        while let Some(command) = self.hosts[host].cache.as_mut().and_then(|cache| cache.memory.poll_below())
        {
            self.enter_scheduler(context, &command);
        }
        let Some(cache) = &mut self.hosts[host].cache else { return };
        while let Some(Answer { completion, in_memory }) = cache.memory.poll_answer() {
            if let (Some(command), Some(lives)) = (in_memory, context.lives.as_mut()) {
                lives.push_back(Life::in_memory(&command, &completion));
            }
            context.complete(completion);
        }
        cache.schedule(context, Event::HostCache { initiator });
    }

    fn enter_scheduler(&mut self, context: &mut Context<'_>, command: &Command) {
        match &mut self.hosts[usize::from(command.initiator)].scheduler {
            Some(scheduler) => {
                scheduler.elevator.submit(context.now, *command);
                self.hand_on(context, command.initiator);
            }
            None => self.enter_cache(context, command),
        }
    }

    /// The I/O scheduler hands on what may go, and says when to ask it again.
    fn hand_on(&mut self, context: &mut Context<'_>, initiator: u16) {
        let host = usize::from(initiator);
        let now = context.now;
        let next = |scheduler: &mut Scheduler| scheduler.elevator.next(now);
        while let Some(request) = self.hosts[host].scheduler.as_mut().and_then(next) {
            self.enter_cache(context, &request);
        }
        let Some(Scheduler { elevator, wakes }) = &mut self.hosts[host].scheduler else { return };
        if let Some(due) = elevator.wake()
            && wakes.is_none_or(|known| due < known)
        {
            *wakes = Some(due);
            context.agenda.schedule(due, 3, Event::Elevator { initiator });
        }
    }

    fn enter_cache(&mut self, context: &mut Context<'_>, command: &Command) {
        match &mut self.cache {
            Some(cache) => {
                cache.memory.submit(context.now, command);
                self.pump_cache(context);
            }
            None => self.controller.submit(context, &mut self.drive, command),
        }
    }

    /// The controller's cache passes on what it has to say in either direction, and says when to wake it.
    fn pump_cache(&mut self, context: &mut Context<'_>) {
        while let Some(command) = self.cache.as_mut().and_then(|cache| cache.memory.poll_below()) {
            self.controller.submit(context, &mut self.drive, &command);
        }
        let next = |cache: &mut Cache| cache.memory.poll_answer();
        while let Some(Answer { completion, in_memory }) = self.cache.as_mut().and_then(next) {
            if let (Some(command), Some(lives)) = (in_memory, context.lives.as_mut()) {
                let life = Life::in_memory(&command, &completion);
                if self.elevator.is_some() { self.attempts.push(life) } else { lives.push_back(life) }
            }
            self.leave_cache(context, &completion);
        }
        if let Some(cache) = &mut self.cache {
            cache.schedule(context, Event::ControllerCache);
        }
    }

    /// The controller is done with a command.
    fn leave_controller(&mut self, context: &mut Context<'_>, answer: &Completion) {
        match &mut self.cache {
            Some(cache) => {
                cache.memory.completed(context.now, answer);
                self.pump_cache(context);
            }
            None => self.leave_cache(context, answer),
        }
    }

    /// What a scheduler has handed on is done: its host hears of everything that was merged into it.
    fn leave_cache(&mut self, context: &mut Context<'_>, answer: &Completion) {
        let Some(Host { cache, scheduler }) = self.hosts.get_mut(usize::from(answer.initiator)) else {
            return context.complete(*answer);
        };
        let mut heard = |context: &mut Context<'_>, completion: Completion| match cache {
            Some(cache) => cache.memory.completed(context.now, &completion),
            None => context.complete(completion),
        };
        let Some(scheduler) = scheduler else {
            heard(context, *answer);
            return self.pump_host_cache(context, answer.initiator);
        };
        let attempts: Vec<Life> = self.attempts.extract_if(.., |life| life.command.id == answer.id).collect();
        scheduler.elevator.completed(answer, |member, completion| {
            for life in &attempts {
                let command = Command { attempt: life.command.attempt, ..*member };
                let (submitted, carried_by) = (completion.submitted, answer.id);
                context.lives.iter_mut().for_each(|lives| {
                    lives.push_back(Life { command, submitted, carried_by, ..*life });
                });
            }
            heard(context, completion);
        });
        self.hand_on(context, answer.initiator);
        self.pump_host_cache(context, answer.initiator);
    }
}
