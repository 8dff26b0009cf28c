//! A target for tests that look at one kind of output at a time: what it says is put aside by kind, and a call that it
//! refuses fails the test.
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::report::Report;
use drivelab_core::storage::{Accepted, CallError, TargetEvent, TargetInput, TargetOutput, TargetParams};
use drivelab_core::{Command, CommandTrace, Completion, Machine};
use drivelab_units::Instant;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// See the head of this file. All else is the target's.
pub struct Target {
    target: drivelab_core::storage::Target,
    completions: VecDeque<Completion>,
    data: VecDeque<DataOp>,
    traces: VecDeque<CommandTrace>,
    happened: VecDeque<TargetEvent>,
}

impl Deref for Target {
    type Target = drivelab_core::storage::Target;

    fn deref(&self) -> &Self::Target {
        &self.target
    }
}

impl DerefMut for Target {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.target
    }
}

impl Target {
    pub fn new(params: &TargetParams, seed: u64) -> Self {
        Target {
            target: drivelab_core::storage::Target::new(params, seed),
            completions: VecDeque::new(),
            data: VecDeque::new(),
            traces: VecDeque::new(),
            happened: VecDeque::new(),
        }
    }

    /// The target, with nothing that it has said and nobody has asked for.
    pub fn into_inner(self) -> drivelab_core::storage::Target {
        self.target
    }

    pub fn handle(&mut self, now: Instant, input: TargetInput) -> Accepted {
        self.target.handle(now, input).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn submit(&mut self, now: Instant, command: Command) {
        self.handle(now, TargetInput::Submit(command));
    }

    pub fn poll_output(&mut self) -> Option<Completion> {
        self.collect_outputs();
        self.completions.pop_front()
    }

    pub fn poll_data(&mut self) -> Option<DataOp> {
        self.collect_outputs();
        self.data.pop_front()
    }

    pub fn poll_trace(&mut self) -> Option<CommandTrace> {
        self.collect_outputs();
        self.traces.pop_front()
    }

    pub fn poll_happened(&mut self) -> Option<TargetEvent> {
        self.collect_outputs();
        self.happened.pop_front()
    }

    pub fn poll_report(&mut self) -> Option<Report> {
        match self.poll_happened()? {
            TargetEvent::Array(report) => Some(report),
            _ => self.poll_report(),
        }
    }

    fn collect_outputs(&mut self) {
        while let Some(output) = self.target.poll_output() {
            match output {
                TargetOutput::Completed(completion) => self.completions.push_back(completion),
                TargetOutput::Data(op) => self.data.push_back(op),
                TargetOutput::Trace(trace) => self.traces.push_back(trace),
                TargetOutput::Event(what) => self.happened.push_back(what),
            }
        }
    }
}

impl Machine for Target {
    type Input = TargetInput;
    type Output = Completion;
    type Accepted = Accepted;
    type Error = CallError;

    fn handle(&mut self, now: Instant, input: TargetInput) -> Result<Accepted, CallError> {
        self.target.handle(now, input)
    }

    fn poll_output(&mut self) -> Option<Completion> {
        Target::poll_output(self)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.target.poll_timeout()
    }
}
