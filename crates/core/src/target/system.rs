//! A drive as a host sees it: its I/O scheduler, the controller, the drive. Wiring only.
use super::context::{Context, Event};
use super::controller::Controller;
use super::controller::params::ControllerParams;
use super::drive::Drive;
use super::drive::params::DriveModel;
use crate::command::{Command, Completion};
use alloc::sync::Arc;
use drivelab_units::Sectors;

#[derive(Clone, Debug)]
pub struct SystemParams {
    pub drive: Arc<DriveModel>,
    pub controller: ControllerParams,
}

pub struct System {
    controller: Controller,
    drive: Drive,
}

impl System {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        let drive = Drive::new(Arc::clone(&params.drive), 0, seed);
        System { controller: Controller::new(&params.controller, &drive), drive }
    }

    pub fn capacity(&self) -> Sectors {
        self.drive.capacity()
    }

    pub fn submit(&mut self, context: &mut Context<'_>, command: Command) {
        self.controller.submit(context, &mut self.drive, command);
        self.settle(context);
    }

    pub fn on_event(&mut self, context: &mut Context<'_>, event: Event) {
        match event {
            Event::Drive(_, event) => self.drive.on_event(context, event),
            Event::Controller(event) => {
                if let Some(answer) = self.controller.on_event(context, &mut self.drive, event) {
                    Self::answer(context, &answer);
                }
            }
            Event::Server(_) => unreachable!("an event finds the box that scheduled it"),
        }
        self.settle(context);
    }

    /// Passes on what the drive has answered, until it has nothing left to say.
    fn settle(&mut self, context: &mut Context<'_>) {
        loop {
            while let Some(refused) = self.controller.poll_refused() {
                Self::answer(context, &refused);
            }
            let Some(completion) = context.answers.pop_front() else { return };
            if let Some(answer) = self.controller.completed(context, &mut self.drive, &completion) {
                Self::answer(context, &answer);
            }
        }
    }

    fn answer(context: &mut Context<'_>, answer: &Completion) {
        context.complete(*answer);
    }
}
