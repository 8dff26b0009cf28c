//! The outputs of a target: one stream, in the order in which things happened.
//!
//! Nearly all of them are completions, so these have a queue of their own that nothing else slows down. Every
//! other output records how many completions come before it.
use super::array::report::Report;
use super::write_behind::{GivenUp, Place};
use crate::command::Completion;
use crate::data::DataOp;
use crate::fifo::Fifo;
use crate::trace::CommandTrace;
use alloc::collections::VecDeque;
use drivelab_units::Instant;

/// Something that happened inside a target, other than an answer to a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetEvent {
    /// To the array.
    Array(Report),
    /// A memory has given up data that it had answered for. The write is named by its number in the target.
    GivenUp {
        /// When it gave up.
        at: Instant,
        /// The memory.
        memory: Place,
        /// Which data of which write.
        what: GivenUp,
    },
    /// A drive outside any array has failed for good.
    DriveFailed {
        /// When it failed.
        at: Instant,
        /// Number of the drive.
        drive: u16,
    },
    /// A drive outside any array has been replaced by a new, empty one.
    DriveReplaced {
        /// When it was replaced.
        at: Instant,
        /// Number of the drive.
        drive: u16,
    },
    /// The power is off: commands under way are never answered.
    PowerCut {
        /// When it was cut.
        at: Instant,
    },
}

/// An output of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::large_enum_variant, reason = "it is handed over, and not kept")]
pub enum TargetOutput {
    /// A command has ended.
    Completed(Completion),
    /// A data operation: only after [`Target::keep_data`](super::Target::keep_data).
    Data(DataOp),
    /// The trace of a command, before its completion: only after
    /// [`Target::keep_traces`](super::Target::keep_traces).
    Trace(CommandTrace),
    /// Something else happened.
    Event(TargetEvent),
}

impl TargetOutput {
    /// The completion, if it is one.
    pub fn completed(self) -> Option<Completion> {
        if let TargetOutput::Completed(completion) = self { Some(completion) } else { None }
    }

    /// The data operation, if it is one.
    pub fn data(self) -> Option<DataOp> {
        if let TargetOutput::Data(op) = self { Some(op) } else { None }
    }

    /// The trace, if it is one.
    pub fn trace(self) -> Option<CommandTrace> {
        if let TargetOutput::Trace(trace) = self { Some(trace) } else { None }
    }

    /// The report of the array, if it is one.
    pub fn report(self) -> Option<Report> {
        if let TargetOutput::Event(TargetEvent::Array(report)) = self { Some(report) } else { None }
    }
}

/// The same by reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputRef<'a> {
    /// A command has ended.
    Completed(&'a Completion),
    /// A data operation; only if enabled at the target.
    Data(&'a DataOp),
    /// The trace of a command; only if enabled at the target.
    Trace(&'a CommandTrace),
    /// Something happened that is not an answer to a command.
    Event(&'a TargetEvent),
}

impl OutputRef<'_> {
    /// An owned copy.
    pub fn to_owned(self) -> TargetOutput {
        match self {
            OutputRef::Completed(&completion) => TargetOutput::Completed(completion),
            OutputRef::Data(&op) => TargetOutput::Data(op),
            OutputRef::Trace(&trace) => TargetOutput::Trace(trace),
            OutputRef::Event(&what) => TargetOutput::Event(what),
        }
    }
}

/// The kind of an output other than a completion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputKind {
    Data,
    Trace,
    Event,
}

/// Outputs that have not been taken.
pub struct Outputs {
    completions: Fifo<Completion>,
    /// Number of completions that have been taken.
    taken: u64,
    /// The other outputs: the number of completions before each, counted from the very first.
    others: VecDeque<(u64, OutputKind)>,
    /// That number for the first of them, or one that is never reached.
    next_other: u64,
    data: VecDeque<DataOp>,
    traces: VecDeque<CommandTrace>,
    events: VecDeque<TargetEvent>,
}

impl Default for Outputs {
    fn default() -> Self {
        Outputs {
            completions: Fifo::default(),
            taken: 0,
            others: VecDeque::new(),
            next_other: u64::MAX,
            data: VecDeque::new(),
            traces: VecDeque::new(),
            events: VecDeque::new(),
        }
    }
}

impl Outputs {
    #[inline]
    pub fn complete(&mut self, completion: Completion) {
        self.completions.push_back(completion);
    }

    #[inline]
    pub fn data(&mut self, op: DataOp) {
        self.note(OutputKind::Data);
        self.data.push_back(op);
    }

    pub fn trace(&mut self, trace: CommandTrace) {
        self.note(OutputKind::Trace);
        self.traces.push_back(trace);
    }

    pub fn event(&mut self, what: TargetEvent) {
        self.note(OutputKind::Event);
        self.events.push_back(what);
    }

    fn note(&mut self, kind: OutputKind) {
        let before = self.taken + self.completions.len() as u64;
        self.next_other = self.next_other.min(before);
        self.others.push_back((before, kind));
    }

    /// The next output; it stays in place until [`Self::drop_front`].
    #[inline]
    pub fn front(&self) -> Option<OutputRef<'_>> {
        if self.next_other <= self.taken {
            return self.other().and_then(|kind| self.at(kind, 0));
        }
        self.completions.front().map(OutputRef::Completed)
    }

    /// Removes the front.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn drop_front(&mut self) {
        if self.next_other <= self.taken {
            return self.drop_other();
        }
        self.completions.drop_front();
        self.taken += 1;
    }

    /// All outputs, in order.
    pub fn iter(&self) -> impl Iterator<Item = OutputRef<'_>> {
        let (mut taken, mut passed, mut of) = (self.taken, 0, [0usize; 3]);
        let mut completions = self.completions.iter();
        core::iter::from_fn(move || {
            if let Some(&(before, kind)) = self.others.get(passed)
                && before <= taken
            {
                passed += 1;
                let place = of[kind as usize];
                of[kind as usize] += 1;
                return self.at(kind, place);
            }
            taken += 1;
            completions.next().map(OutputRef::Completed)
        })
    }

    /// The kind of the first output other than a completion.
    fn other(&self) -> Option<OutputKind> {
        self.others.front().map(|&(_, kind)| kind)
    }

    fn at(&self, kind: OutputKind, place: usize) -> Option<OutputRef<'_>> {
        match kind {
            OutputKind::Data => self.data.get(place).map(OutputRef::Data),
            OutputKind::Trace => self.traces.get(place).map(OutputRef::Trace),
            OutputKind::Event => self.events.get(place).map(OutputRef::Event),
        }
    }

    #[inline(never)]
    fn drop_other(&mut self) {
        match self.others.pop_front().map(|(_, kind)| kind) {
            Some(OutputKind::Data) => _ = self.data.pop_front(),
            Some(OutputKind::Trace) => _ = self.traces.pop_front(),
            Some(OutputKind::Event) => _ = self.events.pop_front(),
            None => {}
        }
        self.next_other = self.others.front().map_or(u64::MAX, |&(before, _)| before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Breakdown, Outcome};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn output(kind: u8, id: u64) -> TargetOutput {
        let at = Instant::from_ns(id);
        match kind {
            0 => TargetOutput::Data(DataOp::Over { id }),
            1 => TargetOutput::Event(TargetEvent::PowerCut { at }),
            _ => TargetOutput::Completed(Completion {
                id,
                initiator: 0,
                tag: 0,
                outcome: Outcome::Done,
                submitted: at,
                completed: at,
                breakdown: Breakdown::default(),
            }),
        }
    }

    proptest! {
        #[test]
        fn outputs_keep_their_order(steps in prop::collection::vec(0u8..8, 0..200)) {
            let (mut outputs, mut plain) = (Outputs::default(), VecDeque::new());
            for (id, kind) in (0..).zip(steps) {
                if kind > 4 {
                    prop_assert_eq!(outputs.front().map(OutputRef::to_owned), plain.pop_front());
                    if outputs.front().is_some() {
                        outputs.drop_front();
                    }
                } else {
                    let output = output(kind, id);
                    plain.push_back(output);
                    match output {
                        TargetOutput::Completed(completion) => outputs.complete(completion),
                        TargetOutput::Data(op) => outputs.data(op),
                        TargetOutput::Event(what) => outputs.event(what),
                        TargetOutput::Trace(trace) => outputs.trace(trace),
                    }
                }
                let all: Vec<TargetOutput> = outputs.iter().map(OutputRef::to_owned).collect();
                prop_assert!(all.iter().eq(&plain));
            }
        }
    }
}
