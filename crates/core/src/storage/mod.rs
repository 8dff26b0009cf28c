//! The target: the machine that serves commands. One agenda drives every box inside it.
//!
//! Boxes ([`controller`], [`drive`], [`server`]; [`system`] wires them) are state with an `on_event`; the
//! three calls of the contract exist only here. What boxes share is in their [`context`]: the agenda, the
//! outputs, and the [`link`]s.
pub mod array;
pub mod bad_blocks;
pub(crate) mod call;
mod commands;
pub(crate) mod context;
pub mod controller;
mod device;
pub mod drive;
mod driving;
pub mod elevator;
pub(crate) mod events;
pub(crate) mod fault;
mod index;
mod inputs;
pub mod link;
pub(crate) mod outputs;
pub(crate) mod overlap;
pub mod server;
mod slab;
pub mod system;
pub(crate) mod tree;
pub mod write_behind;

use crate::command::{Access, Breakdown, Command, Completion, Outcome};
use crate::digest::Digest;
use crate::machine::Machine;
use alloc::boxed::Box;
use alloc::sync::Arc;
pub use call::{Accepted, CallError, Manage, TargetInput};
use context::Context;
use controller::params::ControllerParams;
use drive::params::DriveModel;
use drive::protocol::names::Name;
use drive::{Drive, Turns};
use drivelab_units::{Instant, Sectors, Share};
use events::Event;
pub use fault::{Cure, Fault, Lasting, Slowness};
use link::Wires;
pub use outputs::{OutputRef, TargetEvent, TargetOutput};
use server::{Server, ServerParams};
use system::{System, SystemParams};
use write_behind::WriteBehind;

/// The composition of a target.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one for a run")]
pub enum TargetParams {
    /// Abstract stations; with no service time, a null target.
    Server(ServerParams),
    /// One drive behind a controller without costs.
    Drive(Arc<DriveModel>),
    /// One drive or several with all boxes above them.
    System(SystemParams),
    /// One drive without a controller: the caller speaks the drive's protocol.
    Wire(Arc<DriveModel>),
}

/// Maximum number of events at one instant that cause each other: more of them are a programming error.
const AT_ONCE_MAX: u32 = 1 << 22;

enum Body {
    Server(Server),
    System(Box<System>),
    Wire(Box<Drive>),
}

/// The machine that serves commands: see [`Machine`].
pub struct Target {
    body: Body,
    context: Context,
    capacity: Sectors,
    now: Instant,
    is_off: bool,
}

impl Target {
    /// A new target at instant zero, with nothing written on it. All its random draws follow from the seed.
    ///
    /// # Panics
    /// When the parameters of an array contradict each other or its drives: see
    /// [`ArrayParams::check`](array::params::ArrayParams::check).
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
        let mut target = Target { body, context, capacity, now: Instant::ZERO, is_off: false };
        if let Body::System(system) = &mut target.body {
            system.start(&mut target.context);
        }
        target
    }

    /// Sectors that hosts can address.
    pub fn capacity(&self) -> Sectors {
        self.capacity
    }

    /// The cache of a host that has issued a command.
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

    /// From now on the trace of every command is reported: [`TargetOutput::Trace`], before the command's
    /// completion.
    /// ```
    /// use drivelab_core::storage::drive::geometry::GeometryParams;
    /// use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
    /// use drivelab_core::storage::drive::seek::SeekParams;
    /// use drivelab_core::storage::{Target, TargetInput, TargetOutput, TargetParams};
    /// use drivelab_core::{Access, Command, Machine, Served};
    /// use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
    ///
    /// let rpm = Rpm::from_milli(7_200_000).unwrap();
    /// let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
    /// let drive = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
    /// let mut target = Target::new(&TargetParams::Drive(DriveModel::new(&drive).unwrap().into()), 1);
    /// target.keep_traces();
    /// let read = Command::new(0, Access::Read, Lba::new(1_200_000), Sectors::new(8));
    /// target.handle(Instant::ZERO, TargetInput::Submit(read)).unwrap();
    /// while let Some(due) = target.poll_timeout() {
    ///     target.handle(due, TargetInput::Tick).unwrap();
    /// }
    /// let (Some(TargetOutput::Trace(trace)), Some(TargetOutput::Completed(answer))) =
    ///     (target.poll_output(), target.poll_output())
    /// else {
    ///     panic!("a trace, then the completion")
    /// };
    /// assert_eq!(trace.served, Served::Chosen);
    /// // 4 heads of 600 sectors: the arm has gone from the first cylinder to the 500th.
    /// assert_eq!((trace.from_cylinder, trace.cylinder), (0, 500));
    /// // From its choice to its first sector it moved and waited for the platter.
    /// assert_eq!(trace.begun - trace.chosen, answer.breakdown.seek + answer.breakdown.rotation);
    /// ```
    pub fn keep_traces(&mut self) {
        self.context.enabled.traces = true;
    }

    /// From now on every data operation is reported: [`TargetOutput::Data`]. With them one sees what a power
    /// cut loses: a write that the cache has answered is lost until its data are on the media.
    ///
    /// ```
    /// use drivelab_core::data::DataOp;
    /// use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
    /// use drivelab_core::storage::drive::geometry::GeometryParams;
    /// use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
    /// use drivelab_core::storage::drive::seek::SeekParams;
    /// use drivelab_core::storage::{Fault, Target, TargetInput, TargetOutput, TargetParams};
    /// use drivelab_core::{Access, Command, Machine};
    /// use drivelab_units::{Instant, Lba, Rpm, Sectors, Span};
    ///
    /// let rpm = Rpm::from_milli(7_200_000).unwrap();
    /// let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (1_000, Span::from_ms(15))]);
    /// let room = Sectors::new(4_096);
    /// let write_back = WriteBackParams {
    ///     limit: room,
    ///     segments: 1,
    ///     destage: Destage::WhenIdle,
    ///     idle: Span::from_s(1),
    ///     age: None,
    ///     press_from: room,
    ///     run: room,
    ///     while_busy: true,
    /// };
    /// let cache = Some(CacheParams { write_back: Some(write_back), ..CacheParams::reading_on(room) });
    /// let plain = DriveParams::plain(rpm, GeometryParams::one_zone(4, 1_000, 600), seek);
    /// let model = DriveModel::new(&DriveParams { cache, ..plain }).unwrap();
    /// let mut target = Target::new(&TargetParams::Drive(model.into()), 1);
    /// target.keep_data();
    /// let write = Command::new(0, Access::Write, Lba::new(500_000), Sectors::new(8));
    /// target.handle(Instant::ZERO, TargetInput::Submit(write)).unwrap();
    /// let mut now = Instant::ZERO;
    /// let mut outputs: Vec<TargetOutput> = std::iter::from_fn(|| target.poll_output()).collect();
    /// while !outputs.iter().any(|output| output.completed().is_some()) {
    ///     now = target.poll_timeout().unwrap();
    ///     target.handle(now, TargetInput::Tick).unwrap();
    ///     outputs.extend(std::iter::from_fn(|| target.poll_output()));
    /// }
    /// target.handle(now, TargetInput::Inject(Fault::CutPower)).unwrap();
    /// outputs.extend(std::iter::from_fn(|| target.poll_output()));
    /// let ops: Vec<DataOp> = outputs.into_iter().filter_map(|output| output.data()).collect();
    /// assert!(ops.iter().any(|op| matches!(op, DataOp::Accept { write: 0, .. })));
    /// assert!(!ops.iter().any(|op| matches!(op, DataOp::Persist { .. })));
    /// let lost: Vec<_> = target.drive().unwrap().volatile().map(|piece| (piece.write, piece.count())).collect();
    /// assert_eq!(lost, [(0, Sectors::new(8))]);
    /// ```
    pub fn keep_data(&mut self) {
        self.context.enabled.data = true;
        if let Body::System(system) = &mut self.body {
            system.keep_data();
        }
    }

    /// See [`array::Array::restore_after`].
    pub fn restore_after(&mut self, before: &Target) {
        if let (Body::System(system), Body::System(before)) = (&mut self.body, &before.body) {
            system.restore_after(before);
        }
    }

    /// The number of commands that the drives have accepted and not answered, integrated up to an instant
    /// before which all events have run, in nanoseconds; `None` where there is no drive.
    pub fn in_drives_ns(&self, until: Instant) -> Option<u128> {
        (!matches!(self.body, Body::Server(_))).then(|| self.context.in_drives.until(until))
    }

    /// The turns that were lost so far, summed over all drives; `None` where no arm scatters and every sector is one of
    /// the media's.
    pub fn turns(&self) -> Option<Turns> {
        let each = |drive: &Drive| {
            let mechanism = &drive.model().mechanism;
            (mechanism.scatter.is_some() || mechanism.settle.physical_sectors > 1).then(|| drive.turns())
        };
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

    /// The system inside, unless it is a station.
    pub fn system(&self) -> Option<&System> {
        if let Body::System(system) = &self.body { Some(system) } else { None }
    }

    /// The array inside, if there is one.
    pub fn array(&self) -> Option<&array::Array> {
        self.system()?.array()
    }

    /// Rebuilds of the array go on from this share of their work, if they are not beyond it: what lies before it is
    /// skipped, and counts as valid. Timing alone is real from then on, data are not.
    pub fn skip_rebuilds(&mut self, share: Share) {
        if let Body::System(system) = &mut self.body {
            system.skip_rebuilds(share);
        }
    }

    /// Written data that wait in caches: runs of adjacent data in those of drives, sectors in those of hosts and of the
    /// controller. A stream is one run, however much of it waits.
    pub fn held_in_caches(&self) -> (u64, Sectors) {
        let Some(system) = self.system() else { return (0, Sectors::ZERO) };
        let of_drive = |drive: &Drive| drive.cached().map_or(0, |[_, (runs, _)]| u64::from(runs));
        let memories = system.caches().map(|memory| memory.dirty().get()).sum();
        (system.drives().map(of_drive).sum(), Sectors::new(memories))
    }

    /// Whether the array refuses writes: see [`Array::takes_no_writes`](array::Array::takes_no_writes).
    pub fn refuses_writes(&self) -> bool {
        self.system().is_some_and(System::refuses_writes)
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

    /// A command arrives. Returns its number, or `None` for a reason given by [`Self::not_taken`].
    fn submit(&mut self, now: Instant, command: &Command) -> Option<u64> {
        let number = self.context.commands.begin(command)?;
        if number == command.id {
            self.begin(now, command);
        } else {
            self.begin_renamed(now, &Command { id: number, ..*command });
        }
        Some(number)
    }

    #[cold]
    fn not_taken(&self, command: &Command) -> CallError {
        if self.is_off { CallError::PowerIsOff } else { CallError::IdUnderWay { id: command.id } }
    }

    #[cold]
    fn begin_renamed(&mut self, now: Instant, command: &Command) {
        self.begin(now, command);
    }

    /// A command arrives under the target's own number.
    #[inline(always)]
    fn begin(&mut self, now: Instant, command: &Command) {
        let Target { body, context, capacity, .. } = self;
        context.now = now;
        let empty = command.count.get() == 0 && command.access != Access::Flush;
        let end = command.first.get().checked_add(command.count.get());
        if empty || end.is_none_or(|end| end > capacity.get()) {
            return context.complete(refused(command, Outcome::OutOfRange, now));
        }
        match body {
            Body::Server(server) => server.submit(context, *command),
            Body::System(system) => system.submit(context, command),
            Body::Wire(drive) => {
                if let Err(outcome) = drive.submit(context, command, Name::own(command), now) {
                    context.answer(0, refused(command, outcome, now));
                }
                context.answer_host();
            }
        }
    }
}

/// The answer to a command that ends on arrival.
fn refused(command: &Command, outcome: Outcome, now: Instant) -> Completion {
    let Command { id, initiator, tag, .. } = *command;
    let breakdown = Breakdown::default();
    Completion { id, initiator, tag, outcome, submitted: now, completed: now, breakdown }
}

impl Machine for Target {
    type Input = TargetInput;
    type Output = TargetOutput;
    type Accepted = Accepted;
    type Error = CallError;

    #[inline]
    fn handle(&mut self, now: Instant, input: TargetInput) -> Result<Accepted, CallError> {
        match input {
            TargetInput::Tick => self.pass_to(now).map(|()| Accepted::Done),
            TargetInput::Submit(command) => {
                self.take(now, &command).map(|number| Accepted::Submitted { number })
            }
            input => {
                self.pass_to(now)?;
                let accepted = self.handle_input(now, input);
                self.run_until(now);
                accepted
            }
        }
    }

    fn poll_output(&mut self) -> Option<TargetOutput> {
        let output = self.output()?.to_owned();
        self.drop_output();
        Some(output)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.context.agenda.next_due()
    }
}
