//! A drive as a host sees it: its I/O scheduler, the controller, the drive. Wiring only.
use super::context::{Context, Event};
use super::controller::Controller;
use super::controller::params::ControllerParams;
use super::drive::Drive;
use super::drive::params::DriveModel;
use super::elevator::{Elevator, ElevatorParams};
use super::write_behind::params::WriteBehindParams;
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

/// One initiator's I/O scheduler.
struct Host {
    elevator: Elevator,
    /// When it is to be asked again, if that is on the agenda.
    wakes: Option<Instant>,
}

pub struct System {
    /// By initiator; none without an I/O scheduler.
    hosts: Vec<Host>,
    elevator: Option<ElevatorParams>,
    controller: Controller,
    drive: Drive,
    /// Behind an I/O scheduler: lives of requests that their commands' own are still to be made of.
    attempts: Vec<Life>,
}

impl System {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        let drive = Drive::new(Arc::clone(&params.drive), 0, seed);
        let controller = Controller::new(&params.controller, &drive);
        System { hosts: Vec::new(), elevator: params.elevator, controller, drive, attempts: Vec::new() }
    }

    pub fn capacity(&self) -> Sectors {
        self.drive.capacity()
    }

    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    pub fn submit(&mut self, context: &mut Context<'_>, command: &Command) {
        if let Some(params) = self.elevator {
            let initiator = usize::from(command.initiator);
            while self.hosts.len() <= initiator {
                self.hosts.push(Host { elevator: Elevator::new(&params), wakes: None });
            }
            self.hosts[initiator].elevator.submit(context.now, *command);
            self.hand_on(context, command.initiator);
        } else {
            self.controller.submit(context, &mut self.drive, command);
        }
        self.settle(context);
    }

    pub fn on_event(&mut self, context: &mut Context<'_>, event: Event) {
        match event {
            Event::Drive(_, event) => self.drive.on_event(context, event),
            Event::Controller(event) => {
                if let Some(answer) = self.controller.on_event(context, &mut self.drive, event) {
                    self.answer(context, &answer);
                }
            }
            Event::Elevator { initiator } => {
                let wakes = &mut self.hosts[usize::from(initiator)].wakes;
                // A later one that an earlier one has taken the place of is nobody's.
                if *wakes == Some(context.now) {
                    *wakes = None;
                    self.hand_on(context, initiator);
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
                self.answer(context, &refused);
            }
            let Some(completion) = context.answers.pop_front() else { return };
            if let (Some(_), Some(lives)) = (self.elevator, context.lives.as_mut()) {
                let own = lives.iter().rposition(|life| life.command.id == completion.id);
                self.attempts.extend(own.and_then(|own| lives.remove(own)));
            }
            if let Some(answer) = self.controller.completed(context, &mut self.drive, &completion) {
                // Without an I/O scheduler the host hears it as it is.
                if self.elevator.is_none() {
                    context.complete(answer);
                } else {
                    self.answer(context, &answer);
                }
            }
        }
    }

    /// The controller is done with a command: the host hears of everything that was merged into it.
    fn answer(&mut self, context: &mut Context<'_>, answer: &Completion) {
        let Some(host) = self.hosts.get_mut(usize::from(answer.initiator)) else {
            return context.complete(*answer);
        };
        let attempts: Vec<Life> = self.attempts.extract_if(.., |life| life.command.id == answer.id).collect();
        host.elevator.completed(answer, |member, completion| {
            for life in &attempts {
                let command = Command { attempt: life.command.attempt, ..*member };
                let (submitted, carried_by) = (completion.submitted, answer.id);
                context.lives.iter_mut().for_each(|lives| {
                    lives.push_back(Life { command, submitted, carried_by, ..*life });
                });
            }
            context.complete(completion);
        });
        self.hand_on(context, answer.initiator);
    }

    /// The I/O scheduler hands on what may go, and says when to ask it again.
    fn hand_on(&mut self, context: &mut Context<'_>, initiator: u16) {
        let Host { elevator, wakes } = &mut self.hosts[usize::from(initiator)];
        while let Some(request) = elevator.next(context.now) {
            self.controller.submit(context, &mut self.drive, &request);
        }
        if let Some(due) = elevator.wake()
            && wakes.is_none_or(|known| due < known)
        {
            *wakes = Some(due);
            context.agenda.schedule(due, 3, Event::Elevator { initiator });
        }
    }
}
