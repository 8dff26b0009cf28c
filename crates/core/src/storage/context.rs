//! What the boxes of a target share while an event runs: the instant, the agenda, the outputs and the digest.
use super::array::report::{Report, ReportKind};
use super::commands::Commands;
use super::events::Event;
use super::link::Wires;
use super::outputs::{Outputs, TargetEvent};
use super::write_behind::WriteBehind;
use crate::agenda::Agenda;
use crate::command::{Access, Command, Completion, OWN_IDS, Outcome};
use crate::data::{DataOp, Word};
use crate::digest::Digest;
use crate::fifo::Fifo;
use crate::trace::CommandTrace;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Lba};

/// How many commands the drives hold, and that number integrated over time.
#[derive(Clone, Copy, Default)]
pub struct InDrives {
    count: u64,
    integral: u128,
    changed: Instant,
}

impl InDrives {
    /// A drive accepts a command.
    #[inline]
    pub fn add_one(&mut self, now: Instant) {
        self.integral = self.until(now);
        self.count += 1;
        self.changed = now;
    }

    /// One command leaves its drive.
    #[inline]
    pub fn drop_one(&mut self, now: Instant) {
        self.drop(now, 1);
    }

    /// Several commands leave their drive at once.
    #[inline]
    pub fn drop(&mut self, now: Instant, count: u32) {
        self.integral = self.until(now);
        self.count -= u64::from(count);
        self.changed = now;
    }

    /// The number integrated up to an instant, in nanoseconds, if it has not changed since.
    #[inline]
    pub fn until(&self, at: Instant) -> u128 {
        self.integral + u128::from(self.count) * u128::from(at.since(self.changed).as_ns())
    }
}

pub struct Context {
    /// The due instant of the event that runs.
    pub now: Instant,
    pub agenda: Agenda<Event>,
    /// The links and buses that carry the drives' data.
    pub wires: Wires,
    pub digest: Digest,
    /// The outputs for whoever drives the target.
    pub outputs: Outputs,
    /// The commands of hosts that are under way.
    pub commands: Commands,
    /// The drives' answers to their controllers.
    pub answers: Fifo<(u16, Completion)>,
    /// Commands that controllers have ended without service by the drives.
    pub refused: Fifo<(u16, Completion)>,
    /// The commands inside the drives.
    pub in_drives: InDrives,
    /// Until when the processor of the controller, or of the host in its place, is busy.
    pub busy_until: Instant,
    pub enabled: EnabledOutputs,
    /// Traces of commands that drives have reported with their answers and that have not been passed on, by
    /// drive.
    pub traces: VecDeque<(u16, CommandTrace)>,
}

/// Optional outputs that are enabled.
#[derive(Clone, Copy, Default)]
pub struct EnabledOutputs {
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
            in_drives: InDrives::default(),
            busy_until: Instant::ZERO,
            enabled: EnabledOutputs::default(),
            traces: VecDeque::new(),
        }
    }

    #[inline]
    pub fn data_op(&mut self, op: DataOp) {
        if self.enabled.data {
            self.outputs.data(op);
        }
    }

    /// Reports something other than an answer to a command.
    pub fn report_event(&mut self, what: TargetEvent) {
        self.outputs.event(what);
    }

    /// Reports what happened to a group of an array's members.
    pub fn report_array(&mut self, group: u16, what: ReportKind) {
        self.report_event(TargetEvent::Array(Report { at: self.now, group, what }));
    }

    /// Reports the trace of a command, under the ids of the hosts.
    pub fn report_trace(&mut self, mut trace: CommandTrace) {
        if !self.enabled.traces {
            return;
        }
        let id_of = |number: u64| if number < OWN_IDS { self.commands.id_of(number) } else { number };
        trace.command.id = id_of(trace.command.id);
        trace.carried_by = id_of(trace.carried_by);
        if let Some(member) = &mut trace.member {
            member.part_of = member.part_of.map(id_of);
        }
        self.outputs.trace(trace);
    }

    /// The trace of a command that a drive reported with its answer.
    pub fn take_trace(&mut self, drive: u16, completion: &Completion) -> Option<CommandTrace> {
        let is_its = |(of, trace): &(u16, CommandTrace)| *of == drive && trace.command.id == completion.id;
        let at = self.traces.iter().position(is_its)?;
        self.traces.remove(at).map(|(_, trace)| trace)
    }

    /// A sector of one of the array's own writes holds this word.
    pub fn add_word(&mut self, into: u64, at: u64, word: Word) {
        self.data_op(DataOp::AddWord { into, at: Lba::new(at), word });
    }

    /// Passes on the data operations of a memory.
    #[inline]
    pub fn take_data(&mut self, memory: &mut WriteBehind) {
        if self.enabled.data {
            while let Some(op) = memory.poll_data() {
                self.outputs.data(op);
            }
        }
    }

    /// Several commands are sent as one, under the number of the oldest: its buffer gets the data of the
    /// others' writes.
    pub fn note_merged<'c>(&mut self, request: &Command, commands: impl Iterator<Item = &'c Command>) {
        if request.access == Access::Write {
            commands.for_each(|command| self.carry(request.id, command));
        }
    }

    /// A command that was merged into another one ends: it gets its own copy of what the other has read of
    /// its addresses, as of now. The other's buffer goes back to its host, and a read by lines is not
    /// answered yet at that time.
    #[inline]
    pub fn note_parted(&mut self, read: u64, command: &Command) {
        let &Command { id: kept, first, count, access, .. } = command;
        if access == Access::Read && kept != read {
            self.data_op(DataOp::Keep { kept, read, first, count });
        }
    }

    /// A buffer gets the data of a write at its addresses, in place of what it had.
    fn carry(&mut self, into: u64, write: &Command) {
        let &Command { id: from, first, count, .. } = write;
        if into != from {
            self.data_op(DataOp::Forget { id: into, first, count });
            self.data_op(DataOp::Mix { into, at: first, from, from_at: first, count, factor: 1 });
        }
    }

    /// A drive sends an answer to its controller.
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

    /// The same where hosts have aborted commands: such a one ends as aborted, however far it got.
    #[cold]
    fn complete_given_up(&mut self, completion: Completion) {
        let aborted = self.commands.take_given_up(completion.id);
        let outcome = if aborted { Outcome::Aborted } else { completion.outcome };
        self.complete_as_it_is(Completion { outcome, ..completion });
    }

    #[inline(always)]
    fn complete_as_it_is(&mut self, completion: Completion) {
        let id = self.commands.end(completion.id, self.now);
        // Passed on unchanged: to copy what was written in parts a moment ago is slow.
        if id == completion.id { self.answer_as(completion) } else { self.answer_renamed(id, completion) }
    }

    #[cold]
    fn answer_renamed(&mut self, id: u64, completion: Completion) {
        self.answer_as(Completion { id, ..completion });
    }

    /// Delivers a completion with the host's own id to the host, and folds it into the digest.
    #[inline]
    pub fn answer_as(&mut self, completion: Completion) {
        self.digest.fold(completion.id ^ (completion.outcome as u64) << 62);
        self.digest.fold(completion.completed.as_ns());
        let parts = completion.breakdown.parts();
        self.digest.fold((0u32..).zip(parts).fold(0, |mix, (i, part)| mix ^ part.as_ns().rotate_left(9 * i)));
        self.outputs.complete(completion);
    }

    /// On the wire the drive's answers go directly to the host.
    pub fn answer_host(&mut self) {
        while let Some((drive, completion)) = self.answers.pop_front() {
            if self.enabled.traces
                && let Some(trace) = self.take_trace(drive, &completion)
            {
                self.report_trace(trace);
            }
            self.complete(completion);
        }
    }
}
