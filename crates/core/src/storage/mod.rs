//! The target: the machine that serves commands. One agenda drives every box inside it.
//!
//! Boxes ([`controller`], [`drive`], [`server`]; [`system`] wires them) are state with an `on_event`; the three calls of
//! the contract exist only here. What boxes share is in their [`context`]: the agenda, the ways out, and the [`link`]s.
pub mod array;
mod bad_blocks;
pub mod context;
pub mod controller;
mod device;
pub mod drive;
pub mod elevator;
mod index;
pub mod link;
pub mod overlap;
pub mod server;
mod slab;
pub mod system;
pub mod tree;
pub mod write_behind;

use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::data::DataOp;
use crate::digest::Digest;
use crate::machine::Machine;
use crate::trace::CommandTrace;
use alloc::boxed::Box;
use alloc::sync::Arc;
use array::report::Report;
use context::{Context, Event};
use controller::params::ControllerParams;
use drive::params::DriveModel;
use drive::protocol::names::Name;
use drive::{Drive, Turns};
use drivelab_units::{Instant, Sectors};
use link::Wires;
use server::{Server, ServerParams};
use system::{System, SystemParams};
use write_behind::WriteBehind;
use write_behind::{GivenUp, Place};

/// What a target is made of.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for a run")]
pub enum TargetParams {
    /// Abstract stations; with no service time, a null target.
    Server(ServerParams),
    /// One drive behind a controller that costs nothing.
    Drive(Arc<DriveModel>),
    /// One drive with all that stands before it.
    System(SystemParams),
    /// One drive without a controller: whoever submits speaks the drive's protocol.
    Wire(Arc<DriveModel>),
}

pub enum TargetInput {
    /// Nothing but the time.
    Tick,
    Submit(Command),
    /// On the wire: what a controller asks beside commands.
    Manage(Manage),
}

/// Task management, on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manage {
    Abort {
        initiator: u16,
        tag: u32,
    },
    ClearAllegiance {
        initiator: u16,
    },
    /// The drive's log of a failed queue is read; [`Target::failed_tag`] tells what it said.
    ReadLog,
}

/// Events at one instant that set each other off: more of them are a mistake of the program.
const AT_ONCE_MAX: u32 = 1 << 22;

enum Body {
    Server(Server),
    System(Box<System>),
    Wire(Box<Drive>),
}

pub struct Target {
    body: Body,
    context: Context,
    capacity: Sectors,
    failed_tag: Option<u32>,
    now: Instant,
}

impl Target {
    pub fn new(params: &TargetParams, seed: u64) -> Self {
        let body = match params {
            TargetParams::Server(params) => Body::Server(Server::new(params.clone(), seed)),
            TargetParams::Drive(model) => {
                let controller = ControllerParams::PLAIN;
                let plain = SystemParams::of_drive(Arc::clone(model), controller);
                Body::System(Box::new(System::new(&plain, seed)))
            }
            TargetParams::System(params) => Body::System(Box::new(System::new(params, seed))),
            TargetParams::Wire(model) => Body::Wire(Box::new(Drive::new(Arc::clone(model), 0, seed))),
        };
        let wires = match params {
            TargetParams::Server(_) => Wires::default(),
            TargetParams::Drive(model) | TargetParams::Wire(model) => Wires::of_drive(&model.link, None),
            TargetParams::System(system) => system.wires(),
        };
        let context = Context::new(wires);
        let capacity = match &body {
            Body::Server(server) => server.capacity(),
            Body::System(system) => system.capacity(),
            Body::Wire(drive) => drive.capacity(),
        };
        let mut target = Target { body, context, capacity, failed_tag: None, now: Instant::ZERO };
        if let Body::System(system) = &mut target.body {
            system.start(&mut target.context);
        }
        target
    }

    pub fn capacity(&self) -> Sectors {
        self.capacity
    }

    /// The cache of a host that has issued something.
    pub fn host_cache(&self, initiator: u16) -> Option<&WriteBehind> {
        if let Body::System(system) = &self.body { system.host_cache(initiator) } else { None }
    }

    /// The cache of the controller.
    pub fn controller_cache(&self) -> Option<&WriteBehind> {
        if let Body::System(system) = &self.body { system.controller_cache() } else { None }
    }

    /// The digest of all events so far.
    pub fn digest(&self) -> Digest {
        self.context.digest
    }

    /// From now on the trace of every command is kept until [`Self::poll_trace`] takes it.
    pub fn keep_traces(&mut self) {
        self.context.traces.get_or_insert_default();
    }

    /// The trace of the next finished command, in order of completion; kept only after [`Self::keep_traces`].
    pub fn poll_trace(&mut self) -> Option<CommandTrace> {
        self.context.traces.as_mut()?.pop_front()
    }

    /// From now on every data operation is kept until [`Self::poll_data`] takes it.
    pub fn keep_data(&mut self) {
        self.context.data.get_or_insert_default();
        if let Body::System(system) = &mut self.body {
            system.keep_data();
        }
    }

    /// See [`array::Array::come_up_after`].
    pub fn come_up_after(&mut self, before: &Target) {
        if let (Body::System(system), Body::System(before)) = (&mut self.body, &before.body) {
            system.come_up_after(before);
        }
    }

    /// The next data operation, in the order in which they happened; kept only after [`Self::keep_data`].
    pub fn poll_data(&mut self) -> Option<DataOp> {
        self.context.data.as_mut()?.pop_front()
    }

    /// Commands that the drives have taken and not answered, integrated up to an instant before which everything has
    /// happened, in nanoseconds; none where there is no drive.
    pub fn in_drives_ns(&self, until: Instant) -> Option<u128> {
        (!matches!(self.body, Body::Server(_))).then(|| self.context.held.until(until))
    }

    /// What the scatter of the arms has cost so far, of all drives together; none where no arm scatters.
    pub fn turns(&self) -> Option<Turns> {
        let each = |drive: &Drive| drive.model().mechanism.scatter.is_some().then(|| drive.turns());
        match &self.body {
            Body::Server(_) => None,
            Body::System(system) => system.drives().filter_map(each).reduce(Turns::and),
            Body::Wire(drive) => each(drive),
        }
    }

    /// The first drive inside, where there is one.
    pub fn drive(&self) -> Option<&Drive> {
        match &self.body {
            Body::Server(_) => None,
            Body::System(system) => system.drives().next(),
            Body::Wire(drive) => Some(drive),
        }
    }

    /// What is inside, where it is more than a station.
    pub fn system(&self) -> Option<&System> {
        if let Body::System(system) = &self.body { Some(system) } else { None }
    }

    /// Whether the array refuses writes: see [`Array::takes_no_writes`](array::Array::takes_no_writes).
    pub fn refuses_writes(&self) -> bool {
        self.system().is_some_and(System::refuses_writes)
    }

    /// What has happened to the array, oldest first.
    pub fn poll_report(&mut self) -> Option<Report> {
        self.context.reports.pop_front()
    }

    /// What memories had answered for and have given up, oldest first: when, and which.
    pub fn poll_given_up(&mut self) -> Option<(Instant, Place, GivenUp)> {
        self.context.given_up.pop_front()
    }

    #[inline]
    fn run_until(&mut self, now: Instant) {
        if self.context.agenda.next_due().is_some_and(|due| due <= now) {
            self.run_events(now);
        }
    }

    fn run_events(&mut self, now: Instant) {
        let Target { body, context, .. } = self;
        let mut at_once = 0_u32;
        while let Some((due, event)) = context.agenda.pop_due(now) {
            at_once = if due > context.now { 0 } else { at_once + 1 };
            debug_assert!(at_once < AT_ONCE_MAX, "time stands still at {due:?}");
            context.now = due;
            match (&mut *body, event) {
                (Body::System(system), event) => system.on_event(context, event),
                (Body::Server(server), Event::Server(event)) => server.on_event(context, event),
                (Body::Wire(drive), Event::Drive(_, event)) => {
                    drive.on_event(context, event);
                    context.answer_host();
                }
                _ => unreachable!("an event finds the box that scheduled it"),
            }
        }
    }

    fn submit(&mut self, now: Instant, command: &Command) {
        let capacity = self.capacity().get();
        let Target { body, context, .. } = self;
        context.now = now;
        let empty = command.count.get() == 0 && command.access != Access::Flush;
        if empty || command.end().get() > capacity {
            let Command { id, initiator, tag, .. } = *command;
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
            Body::Server(server) => server.submit(context, *command),
            Body::System(system) => system.submit(context, command),
            Body::Wire(drive) => {
                let Command { id, initiator, tag, .. } = *command;
                if let Err(outcome) = drive.submit(context, command, Name::own(command), now) {
                    let breakdown = Breakdown::default();
                    let (submitted, completed) = (now, now);
                    let refused = Completion { id, initiator, tag, outcome, submitted, completed, breakdown };
                    context.answer(0, refused);
                }
                context.answer_host();
            }
        }
    }
}

/// What a driver needs that is in a hurry: inputs and outputs by reference.
impl Target {
    /// As [`Machine::handle`] with this command.
    #[inline]
    pub fn take(&mut self, now: Instant, command: &Command) {
        self.pass_to(now);
        self.submit(now, command);
        // What the input made due at once runs now, so that `poll_timeout` always lies ahead.
        self.run_until(now);
    }

    /// As [`Machine::handle`] with nothing but the time.
    #[inline]
    pub fn pass_to(&mut self, now: Instant) {
        assert!(now >= self.now, "time went back");
        self.run_until(now);
        self.now = now;
    }

    /// The next output, which stays the next one until [`Self::drop_output`].
    #[inline]
    pub fn output(&self) -> Option<&Completion> {
        self.context.out.front()
    }

    #[inline]
    pub fn drop_output(&mut self) {
        self.context.out.drop_front();
    }
}

impl Target {
    /// The tag that the last [`Manage::ReadLog`] found to have failed.
    pub fn failed_tag(&self) -> Option<u32> {
        self.failed_tag
    }

    fn manage(&mut self, now: Instant, manage: Manage) {
        let Target { body, context, .. } = self;
        context.now = now;
        // A controller does this by itself.
        let Body::Wire(drive) = body else { return };
        let mut failed = None;
        match manage {
            Manage::Abort { initiator, tag } => drive.abort(context, initiator, tag),
            Manage::ClearAllegiance { initiator } => drive.clear_allegiance(context, initiator),
            Manage::ReadLog => failed = drive.read_log(),
        }
        context.answer_host();
        if manage == Manage::ReadLog {
            self.failed_tag = failed;
        }
    }
}

impl Machine for Target {
    type Input = TargetInput;
    type Output = Completion;

    #[inline]
    fn handle(&mut self, now: Instant, input: TargetInput) {
        match input {
            TargetInput::Tick => self.pass_to(now),
            TargetInput::Submit(command) => self.take(now, &command),
            TargetInput::Manage(manage) => {
                self.pass_to(now);
                self.manage(now, manage);
                self.run_until(now);
            }
        }
    }

    fn poll_output(&mut self) -> Option<Completion> {
        self.context.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.context.agenda.next_due()
    }
}
