//! The target: the machine that serves commands. One agenda drives every box inside it.
//!
//! Boxes ([`drive`], [`server`]) are state with an `on_event`; the three calls of the contract exist only here.
pub mod context;
pub mod drive;
pub mod elevator;
pub mod server;

use crate::agenda::Agenda;
use crate::command::{Breakdown, Command, Completion, Outcome};
use crate::digest::Digest;
use crate::life::Life;
use crate::machine::Machine;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use context::{Context, Event};
use drive::Drive;
use drive::params::DriveModel;
use drivelab_units::{Instant, Sectors};
use server::{Server, ServerParams};

/// What a target is made of.
#[derive(Clone, Debug)]
pub enum TargetParams {
    /// Abstract stations; with no service time, a null target.
    Server(ServerParams),
    /// One drive.
    Drive(Arc<DriveModel>),
}

pub enum TargetInput {
    /// Nothing but the time.
    Tick,
    Submit(Command),
}

enum Body {
    Server(Server),
    Drive(Box<Drive>),
}

pub struct Target {
    body: Body,
    agenda: Agenda<Event>,
    digest: Digest,
    out: VecDeque<Completion>,
    lives: Option<VecDeque<Life>>,
    now: Instant,
}

impl Target {
    pub fn new(params: &TargetParams, seed: u64) -> Self {
        let body = match params {
            TargetParams::Server(params) => Body::Server(Server::new(params.clone(), seed)),
            TargetParams::Drive(model) => Body::Drive(Box::new(Drive::new(Arc::clone(model), 0, seed))),
        };
        Target {
            body,
            agenda: Agenda::with_capacity(64),
            digest: Digest::default(),
            out: VecDeque::with_capacity(64),
            lives: None,
            now: Instant::ZERO,
        }
    }

    pub fn capacity(&self) -> Sectors {
        match &self.body {
            Body::Server(server) => server.capacity(),
            Body::Drive(drive) => drive.capacity(),
        }
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// From now on the life of every command is kept until [`Self::poll_life`] takes it.
    pub fn keep_lives(&mut self) {
        self.lives.get_or_insert_default();
    }

    /// The life of the next finished command, in order of completion; kept only after [`Self::keep_lives`].
    pub fn poll_life(&mut self) -> Option<Life> {
        self.lives.as_mut()?.pop_front()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some((due, event)) = self.agenda.pop_due(now) {
            let Target { body, agenda, digest, out, lives, .. } = self;
            let context = &mut Context { now: due, agenda, digest, out, lives };
            match (body, event) {
                (Body::Drive(drive), Event::Drive(_, event)) => drive.on_event(context, event),
                (Body::Server(server), Event::Server(event)) => server.on_event(context, event),
                _ => unreachable!("an event finds the box that scheduled it"),
            }
        }
    }

    fn submit(&mut self, now: Instant, command: Command) {
        let capacity = self.capacity().get();
        let Target { body, agenda, digest, out, lives, .. } = self;
        let context = &mut Context { now, agenda, digest, out, lives };
        if command.count.get() == 0 || command.end().get() > capacity {
            let Command { id, initiator, tag, .. } = command;
            let (outcome, breakdown) = (Outcome::OutOfRange, Breakdown::default());
            context.complete(Completion {
                id,
                initiator,
                tag,
                outcome,
                submitted: now,
                completed: now,
                breakdown,
            });
            return;
        }
        match body {
            Body::Server(server) => server.submit(context, command),
            Body::Drive(drive) => drive.submit(context, command),
        }
    }
}

impl Machine for Target {
    type Input = TargetInput;
    type Output = Completion;

    fn handle(&mut self, now: Instant, input: TargetInput) {
        assert!(now >= self.now, "time went back");
        self.run_until(now);
        self.now = now;
        if let TargetInput::Submit(command) = input {
            self.submit(now, command);
            // What the command made due at once runs now, so that `poll_timeout` always lies ahead.
            self.run_until(now);
        }
    }

    fn poll_output(&mut self) -> Option<Completion> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next_due()
    }
}
