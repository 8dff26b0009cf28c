//! What the boxes of a target share while an event runs: the instant, the agenda, the way out and the digest.
use super::array::ArrayEvent;
use super::commands::Commands;
use super::controller::ControllerEvent;
use super::drive::DriveEvent;
use super::link::Wires;
use super::outputs::{Happening, Outputs};
use super::server::ServerEvent;
use super::write_behind::{OWN_IDS, WriteBehind};
use crate::agenda::Agenda;
use crate::command::{Access, Command, Completion, Outcome};
use crate::data::{DataOp, Word};
use crate::digest::Digest;
use crate::fifo::Fifo;
use crate::trace::CommandTrace;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Lba};

/// Everything that a target's agenda can hold; boxes of one kind are told apart by their index.
// The tag as a word of its own in front: no copy then mixes it with the fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Event {
    Drive(u16, DriveEvent),
    Controller(u16, ControllerEvent),
    /// An I/O scheduler is to be asked again.
    Elevator(Before),
    Array(ArrayEvent),
    /// A drive fails for good.
    Fails {
        drive: u16,
    },
    /// A host's cache is to be woken.
    HostCache {
        initiator: u16,
    },
    /// The controller's cache is to be woken.
    ControllerCache,
    Server(ServerEvent),
}

/// What an I/O scheduler stands before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// Everything that this initiator asks for.
    Target { initiator: u16 },
    /// One drive of an array that the host keeps.
    Drive(u16),
}

/// How many commands the drives hold, and that number integrated over time.
#[derive(Clone, Copy, Default)]
pub struct Held {
    count: u64,
    integral: u128,
    changed: Instant,
}

impl Held {
    /// A drive takes a command.
    #[inline]
    pub fn add_one(&mut self, now: Instant) {
        self.integral = self.until(now);
        self.count += 1;
        self.changed = now;
    }

    /// One command leaves its drive.
    #[inline]
    pub fn drop_one(&mut self, now: Instant) {
        self.integral = self.until(now);
        self.count -= 1;
        self.changed = now;
    }

    /// The number integrated up to an instant, in nanoseconds, where it has not changed since.
    #[inline]
    pub fn until(&self, at: Instant) -> u128 {
        self.integral + u128::from(self.count) * u128::from(at.since(self.changed).as_ns())
    }
}

pub struct Context {
    /// The due instant of the event that runs.
    pub now: Instant,
    pub agenda: Agenda<Event>,
    /// What carries the data of the drives.
    pub wires: Wires,
    pub digest: Digest,
    /// What whoever drives the target will hear.
    pub outputs: Outputs,
    /// The commands of hosts that are under way.
    pub commands: Commands,
    /// What the drives have answered to their controllers.
    pub answers: Fifo<(u16, Completion)>,
    /// Commands that controllers have ended without the drives' having served them.
    pub refused: Fifo<(u16, Completion)>,
    /// The commands inside the drives.
    pub held: Held,
    /// The processor of the controller, or of the host that stands for one, is busy until then.
    pub busy_until: Instant,
    pub keeps: Keeps,
    /// What drives have told of commands with their answers, by drive, and nobody has passed on.
    pub lives: VecDeque<(u16, CommandTrace)>,
}

/// What is told beside what always is.
#[derive(Clone, Copy, Default)]
pub struct Keeps {
    /// The traces of commands.
    pub traces: bool,
    /// Data operations.
    pub data: bool,
}

impl Context {
    pub fn new(wires: Wires) -> Self {
        Context {
            now: Instant::ZERO,
            agenda: Agenda::with_capacity(64),
            wires,
            digest: Digest::default(),
            outputs: Outputs::default(),
            commands: Commands::default(),
            answers: Fifo::default(),
            refused: Fifo::default(),
            held: Held::default(),
            busy_until: Instant::ZERO,
            keeps: Keeps::default(),
            lives: VecDeque::new(),
        }
    }

    #[inline]
    pub fn data_op(&mut self, op: DataOp) {
        if self.keeps.data {
            self.outputs.data(op);
        }
    }

    /// Something has happened that is no answer to a command.
    pub fn happened(&mut self, what: Happening) {
        self.outputs.happened(what);
    }

    /// Tells what a command lived through, under the ids of the hosts.
    pub fn lived(&mut self, mut trace: CommandTrace) {
        if !self.keeps.traces {
            return;
        }
        let id_of = |number: u64| if number < OWN_IDS { self.commands.id_of(number) } else { number };
        trace.command.id = id_of(trace.command.id);
        trace.carried_by = id_of(trace.carried_by);
        if let Some(member) = &mut trace.member {
            member.part_of = member.part_of.map(id_of);
        }
        self.outputs.lived(trace);
    }

    /// What a drive told of a command with its answer.
    pub fn life_of(&mut self, drive: u16, completion: &Completion) -> Option<CommandTrace> {
        let is_its = |(of, trace): &(u16, CommandTrace)| *of == drive && trace.command.id == completion.id;
        let at = self.lives.iter().position(is_its)?;
        self.lives.remove(at).map(|(_, trace)| trace)
    }

    /// A sector that a command of the array's own carries holds this word.
    pub fn tell(&mut self, into: u64, at: u64, word: Word) {
        self.data_op(DataOp::Tell { into, at: Lba::new(at), word });
    }

    /// Passes on the data operations of a memory.
    #[inline]
    pub fn take_data(&mut self, memory: &mut WriteBehind) {
        if self.keeps.data {
            while let Some(op) = memory.poll_data() {
                self.outputs.data(op);
            }
        }
    }

    /// Several commands go on as one, under the number of the oldest: the data of the others' writes go with it.
    pub fn merged<'c>(&mut self, request: &Command, commands: impl Iterator<Item = &'c Command>) {
        if request.access == Access::Write {
            commands.for_each(|command| self.carries(request.id, command));
        }
    }

    /// A command that has gone as part of another ends: what the other has read of its addresses is its own, as it is now.
    /// The other's buffer goes back to its host, and a read by lines is not yet answered then.
    #[inline]
    pub fn parted(&mut self, read: u64, command: &Command) {
        let &Command { id: kept, first, count, access, .. } = command;
        if access == Access::Read && kept != read {
            self.data_op(DataOp::Keep { kept, read, first, count });
        }
    }

    /// One buffer gets what a write has of its addresses, for what it had.
    fn carries(&mut self, into: u64, write: &Command) {
        let &Command { id: from, first, count, .. } = write;
        if into != from {
            self.data_op(DataOp::Forget { id: into, first, count });
            self.data_op(DataOp::Mix { into, at: first, from, from_at: first, count, factor: 1 });
        }
    }

    /// A drive answers its controller.
    #[inline]
    pub fn answer(&mut self, drive: u16, completion: Completion) {
        self.answers.push_back((drive, completion));
    }

    /// A command of a host has ended.
    #[inline]
    pub fn complete(&mut self, completion: Completion) {
        if self.commands.has_given_up() {
            return self.complete_given_up(completion);
        }
        self.complete_as_it_is(completion);
    }

    /// The same where hosts have given up commands: such a one was aborted, however far it got.
    #[cold]
    fn complete_given_up(&mut self, completion: Completion) {
        let aborted = self.commands.take_given_up(completion.id);
        let outcome = if aborted { Outcome::Aborted } else { completion.outcome };
        self.complete_as_it_is(Completion { outcome, ..completion });
    }

    #[inline(always)]
    fn complete_as_it_is(&mut self, completion: Completion) {
        let id = self.commands.end(completion.id, self.now);
        // As it is: to copy what was written a moment ago in parts is slow.
        if id == completion.id { self.answer_as(completion) } else { self.answer_renamed(id, completion) }
    }

    #[cold]
    fn answer_renamed(&mut self, id: u64, completion: Completion) {
        self.answer_as(Completion { id, ..completion });
    }

    /// Hands a completion with the host's own id to the host, and folds it into the digest.
    #[inline]
    pub fn answer_as(&mut self, completion: Completion) {
        self.digest.fold(completion.id ^ (completion.outcome as u64) << 62);
        self.digest.fold(completion.completed.as_ns());
        let parts = completion.breakdown.parts();
        self.digest.fold((0u32..).zip(parts).fold(0, |mix, (i, part)| mix ^ part.as_ns().rotate_left(9 * i)));
        self.outputs.complete(completion);
    }

    /// On the wire the host hears what the drive answers.
    pub fn answer_host(&mut self) {
        while let Some((drive, completion)) = self.answers.pop_front() {
            if self.keeps.traces
                && let Some(trace) = self.life_of(drive, &completion)
            {
                self.lived(trace);
            }
            self.complete(completion);
        }
    }
}
