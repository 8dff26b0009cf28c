//! Random histories for a drive on its wire: commands of several initiators, aborts, and what a host does after an
//! error. Playing one writes down everything in its order.
use crate::common::command;
use crate::common::scenarios::drives;
use crate::common::sorted::Target;
use drivelab_core::rng::Stream;
use drivelab_core::storage::drive::cache::params::{CacheParams, ReadAheadParams};
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::protocol::{
    Naca, Protocol, QueueErrors, Reordering, ScsiParams, TaskSets, UntaggedAs,
};
use drivelab_core::storage::{Accepted, Manage, TargetInput, TargetParams};
use drivelab_core::trace::{CommandTrace, Served};
use drivelab_core::{Access, Attribute, Command, Completion, Machine, Outcome, Priority};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub const INITIATORS: u16 = 3;

/// A command before it is known which addresses and tags there are.
#[derive(Clone, Copy, Debug)]
pub struct Draft {
    pub initiator: u16,
    pub attribute: Attribute,
    pub priority: Priority,
    pub force_unit_access: bool,
    pub access: Access,
    pub place: u64,
    pub count: u64,
}

impl Draft {
    /// The command, on a drive of so many sectors.
    pub fn command(&self, id: u64, tag: u32, capacity: u64) -> Command {
        let count = if self.access == Access::Flush { 0 } else { self.count.min(capacity) };
        let first = self.place % (capacity - count + 1);
        let Draft { initiator, attribute, priority, force_unit_access, access, .. } = *self;
        Command {
            initiator,
            tag,
            attribute,
            priority,
            force_unit_access,
            ..command(id, access, first, count)
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    Wait(Span),
    /// Sends it with the lowest tag that its initiator has free.
    Send(Draft),
    /// Sends it with this tag, whether that is in use or not.
    SendAs(Draft, u32),
    /// Gives up one of the outstanding commands.
    Abort(usize),
    /// Gives up whatever has this name.
    AbortTag(u16, u32),
    Clear(u16),
    ReadLog,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    Sent(Command),
    Answered(Completion),
    Aborted(u16, u32),
    Cleared(u16),
    /// The log is read, and names this tag.
    Read(Option<u32>),
}

/// What came of a history.
#[derive(PartialEq, Debug)]
pub struct Run {
    /// Everything that crossed the wire, in order.
    pub log: Vec<(Instant, Event)>,
    /// What the drive took, by number.
    pub traces: BTreeMap<u64, CommandTrace>,
    pub digest: u64,
}

impl Run {
    pub fn answers(&self) -> impl Iterator<Item = &Completion> {
        self.log.iter().filter_map(|(_, event)| match event {
            Event::Answered(completion) => Some(completion),
            _ => None,
        })
    }

    pub fn outcome(&self, id: u64) -> Option<Outcome> {
        self.answers().find(|answer| answer.id == id).map(|answer| answer.outcome)
    }
}

/// Whether the mechanism or the buffer has turned to it.
pub fn is_begun(trace: &CommandTrace) -> bool {
    trace.served != Served::Not
}

pub fn overlap(one: &Command, other: &Command) -> bool {
    one.first < other.end() && other.first < one.end()
}

struct Player {
    target: Target,
    now: Instant,
    log: Vec<(Instant, Event)>,
    /// What is sent and not answered, by initiator and tag: its number.
    outstanding: BTreeMap<(u16, u32), BTreeSet<u64>>,
    ids: u64,
    ticks: Option<Stream>,
}

impl Player {
    /// Lets time pass; with superfluous calls in between, if asked for.
    fn wait(&mut self, until: Instant) {
        while let Some(ticks) = &mut self.ticks
            && self.now < until
            && ticks.below(4) > 0
        {
            self.now += Span::from_ns(ticks.below((until - self.now).as_ns() + 1));
            self.target.handle(self.now, TargetInput::Tick);
            self.note();
        }
        self.now = until;
        self.target.handle(until, TargetInput::Tick);
        self.note();
    }

    fn input(&mut self, event: Event, input: TargetInput) {
        self.log.push((self.now, event));
        self.target.handle(self.now, input);
        self.note();
    }

    /// Writes down what the drive has answered.
    fn note(&mut self) {
        while let Some(completion) = self.target.poll_output() {
            let name = (completion.initiator, completion.tag);
            self.outstanding.get_mut(&name).expect("it was sent").remove(&completion.id);
            self.log.push((completion.completed, Event::Answered(completion)));
        }
    }

    fn is_free(&self, initiator: u16, tag: u32) -> bool {
        self.outstanding.get(&(initiator, tag)).is_none_or(BTreeSet::is_empty)
    }

    fn send(&mut self, draft: &Draft, tag: Option<u32>) {
        let free = || (0..).find(|&tag| self.is_free(draft.initiator, tag)).expect("some tag is free");
        let tag = tag.unwrap_or_else(free);
        let command = draft.command(self.ids, tag, self.target.capacity().get());
        self.ids += 1;
        self.outstanding.entry((command.initiator, tag)).or_default().insert(command.id);
        self.input(Event::Sent(command), TargetInput::Submit(command));
    }

    fn abort(&mut self, initiator: u16, tag: u32) {
        let manage = TargetInput::Manage(Manage::Abort { initiator, tag });
        self.input(Event::Aborted(initiator, tag), manage);
    }

    fn clear(&mut self, initiator: u16) {
        let manage = TargetInput::Manage(Manage::ClearAllegiance { initiator });
        self.input(Event::Cleared(initiator), manage);
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Wait(span) => self.wait(self.now + *span),
            Step::Send(draft) => self.send(draft, None),
            Step::SendAs(draft, tag) => self.send(draft, Some(*tag)),
            Step::Abort(which) => {
                let some: Vec<_> = self.outstanding.iter().filter(|(_, ids)| !ids.is_empty()).collect();
                if let Some(&(&(initiator, tag), _)) = some.get(which % some.len().max(1)) {
                    self.abort(initiator, tag);
                }
            }
            Step::AbortTag(initiator, tag) => self.abort(*initiator, *tag),
            Step::Clear(initiator) => self.clear(*initiator),
            Step::ReadLog => {
                let input = TargetInput::Manage(Manage::ReadLog);
                let Accepted::Log { failed } = self.target.handle(self.now, input) else {
                    panic!("the log is read");
                };
                self.log.push((self.now, Event::Read(failed)));
                self.note();
            }
        }
    }

    /// Lets the drive finish; the initiators clear what holds it up. What it forgets stays unanswered.
    fn finish(&mut self) {
        let mut steps = 0;
        for initiator in (0..INITIATORS).cycle().take(100 * usize::from(INITIATORS)) {
            while let Some(due) = self.target.poll_timeout() {
                self.wait(due);
                steps += 1;
                assert!(steps < 1 << 20, "the drive goes on without an end");
            }
            if self.outstanding.values().all(BTreeSet::is_empty) {
                return;
            }
            self.clear(initiator);
        }
    }
}

/// Plays a history to a drive; with superfluous calls in between if there is a seed for them.
pub fn play(params: &DriveParams, steps: &[Step], ticks: Option<u64>) -> Run {
    let model = Arc::new(DriveModel::new(params).expect("the parameters are sound"));
    let mut player = Player {
        target: Target::new(&TargetParams::Wire(model), 1),
        now: Instant::ZERO,
        log: Vec::new(),
        outstanding: BTreeMap::new(),
        ids: 0,
        ticks: ticks.map(|seed| Stream::named(seed, "test/ticks")),
    };
    player.target.keep_traces();
    steps.iter().for_each(|step| player.step(step));
    player.finish();
    let traces = std::iter::from_fn(|| player.target.poll_trace());
    let traces = traces.map(|trace| (trace.command.id, trace)).collect();
    Run { log: player.log, traces, digest: player.target.digest().value() }
}

pub fn drafts(attributes: &'static [Attribute]) -> BoxedStrategy<Draft> {
    let place = prop_oneof![2 => 0u64..60, 1 => 0u64..600, 1 => any::<u64>()];
    let count = prop_oneof![4 => 1u64..9, 2 => 1u64..40, 1 => 1u64..400];
    let rest = (prop::bool::weighted(0.4), prop::bool::weighted(0.1));
    (0..INITIATORS, prop::sample::select(attributes), place, count, rest)
        .prop_map(|(initiator, attribute, place, count, (write, force_unit_access))| {
            let access = if write { Access::Write } else { Access::Read };
            let priority = Priority::Normal;
            Draft { initiator, attribute, priority, force_unit_access, access, place, count }
        })
        .boxed()
}

pub fn sends(attributes: &'static [Attribute]) -> BoxedStrategy<Step> {
    drafts(attributes).prop_map(Step::Send).boxed()
}

/// Steps of this kind, at once, in quick succession, or with time for a few accesses between them.
pub fn histories(step: BoxedStrategy<Step>) -> BoxedStrategy<Vec<Step>> {
    let wait = prop_oneof![2 => 1u64..2_000, 1 => 1u64..1_000_000, 2 => 1u64..30_000_000];
    let wait = wait.prop_map(|ns| Step::Wait(Span::from_ns(ns)));
    prop::collection::vec(prop_oneof![3 => step, 2 => wait], 1..90).boxed()
}

/// Each write goes to the media, and no read-ahead keeps the arm from a command.
fn without_write_back(cache: CacheParams) -> CacheParams {
    let read_ahead = ReadAheadParams { least: Sectors::ZERO, ..cache.read_ahead };
    CacheParams { write_back: None, read_ahead, ..cache }
}

/// Any drive under this protocol, with sound media and no bound on waiting.
pub fn drives_under(protocol: BoxedStrategy<Protocol>) -> BoxedStrategy<DriveParams> {
    (drives(), protocol)
        .prop_map(|(mut params, protocol)| {
            params.queue.depth = params.queue.depth.min(protocol.depth_max());
            (params.queue.age_limit, params.faults) = (None, None);
            // What a cache answers is held in `cache`; here each write goes to the media.
            params.cache = params.cache.map(without_write_back);
            DriveParams { protocol, ..params }
        })
        .boxed()
}

/// SCSI with any options but NACA, errors that clear nothing.
pub fn scsi(reorderings: &'static [Reordering]) -> BoxedStrategy<Protocol> {
    let untagged = prop_oneof![Just(UntaggedAs::Simple), Just(UntaggedAs::Ordered)];
    (prop::sample::select(reorderings), untagged, any::<[bool; 3]>())
        .prop_map(|(reordering, untagged, [disconnects, each, task_aborted])| {
            let task_sets = if each { TaskSets::Each } else { TaskSets::One };
            let (on_error, naca) = (QueueErrors::Continue, Naca::NOBODY);
            let tags = 256;
            Protocol::ScsiTcq(ScsiParams {
                tags,
                reordering,
                task_sets,
                on_error,
                task_aborted,
                untagged,
                naca,
                disconnects,
            })
        })
        .boxed()
}

/// SCSI with any options but NACA.
pub fn scsi_with_errors() -> BoxedStrategy<Protocol> {
    let on_error = [QueueErrors::Continue, QueueErrors::ClearAll, QueueErrors::ClearNexus];
    (scsi(REORDERINGS), prop::sample::select(on_error.to_vec()))
        .prop_map(|(protocol, on_error)| {
            let Protocol::ScsiTcq(scsi) = protocol else { unreachable!("it speaks SCSI") };
            Protocol::ScsiTcq(ScsiParams { on_error, ..scsi })
        })
        .boxed()
}

/// Some of the steps with a FLUSH in the place of a read or write.
pub fn with_flushes(steps: BoxedStrategy<Vec<Step>>) -> BoxedStrategy<Vec<Step>> {
    (steps, any::<u64>())
        .prop_map(|(mut steps, seed)| {
            let mut draws = Stream::named(seed, "test/flushes");
            for step in &mut steps {
                if let Step::Send(draft) = step
                    && draws.below(6) == 0
                {
                    draft.access = Access::Flush;
                }
            }
            steps
        })
        .boxed()
}

pub const REORDERINGS: &[Reordering] = &[Reordering::Restricted, Reordering::Unrestricted];

/// Sectors that cannot be read.
pub const BAD: (u64, u64) = (20, 12);

/// The same drives with bad sectors, where they have so many.
pub fn with_bad_sectors(drives: BoxedStrategy<DriveParams>) -> BoxedStrategy<DriveParams> {
    (drives, prop_oneof![Just(0), 0u64..20_000])
        .prop_map(|(params, retries)| {
            let unreadable = vec![(Lba::new(BAD.0), Sectors::new(BAD.1))];
            let retries = Span::from_us(retries);
            let faults = Some(FaultParams {
                read_errors: Share::from_ratio(0, 1).expect("it is none"),
                unreadable,
                retries,
            });
            DriveParams { faults, ..params }
        })
        .boxed()
}

/// Whether the media have failed this command.
pub fn has_struck(trace: &CommandTrace) -> bool {
    let Command { access, first, .. } = trace.command;
    let touches = first.get() < BAD.0 + BAD.1 && BAD.0 < trace.command.end().get();
    access == Access::Read && touches && matches!(trace.served, Served::Chosen | Served::Joined)
}
