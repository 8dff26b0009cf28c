//! A target driven by a test in the place of the host, with the reports and data operations of its array.
use super::rig::array_of;
use crate::common::sorted::Target;
use crate::common::{command, next_due};
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::array::params::{ArrayParams, Failure, When};
use drivelab_core::storage::array::report::{Report, ReportKind, Run};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Completion, Outcome};
use drivelab_units::Instant;

pub const fn at_ms(ms: u64) -> Instant {
    Instant::from_ns(ms * 1_000_000)
}

pub fn fails(drive: u16, ms: u64) -> Failure {
    Failure { drive, when: When::At(at_ms(ms)) }
}

pub struct Observer {
    pub target: Target,
    pub reports: Vec<Report>,
    pub data: Vec<DataOp>,
    next_id: u64,
}

impl Observer {
    pub fn new(params: ArrayParams, drive: &DriveParams) -> Self {
        Self::of(&array_of(params, drive))
    }

    pub fn of(target: &TargetParams) -> Self {
        let mut target = Target::new(target, 1);
        target.keep_data();
        Observer { target, reports: Vec::new(), data: Vec::new(), next_id: 0 }
    }

    pub fn array(&self) -> &Array {
        self.target.system().unwrap().array().unwrap()
    }

    fn collect_outputs(&mut self) {
        self.reports.extend(std::iter::from_fn(|| self.target.poll_report()));
        self.data.extend(std::iter::from_fn(|| self.target.poll_data()));
    }

    /// Lets time pass; returns what was answered.
    pub fn run_to(&mut self, ms: u64) -> Vec<Completion> {
        self.target.handle(at_ms(ms), TargetInput::Tick);
        self.collect_outputs();
        std::iter::from_fn(|| self.target.poll_output()).collect()
    }

    /// Lets everything happen that is still to come.
    pub fn run_out(&mut self) -> Instant {
        let mut now = Instant::ZERO;
        while let Some(due) = next_due(&self.target) {
            now = due;
            self.target.handle(due, TargetInput::Tick);
        }
        self.collect_outputs();
        now
    }

    pub fn send(&mut self, ms: u64, access: Access, first: u64, count: u64) -> u64 {
        let command = command(self.next_id, access, first, count);
        self.next_id += 1;
        self.target.handle(at_ms(ms), TargetInput::Submit(command));
        command.id
    }

    /// How a command ends that is sent at this instant, and which member delivers its last data.
    pub fn go(&mut self, ms: u64, access: Access, first: u64, count: u64) -> (Outcome, Option<u16>) {
        self.collect_outputs();
        let from = self.data.len();
        self.send(ms, access, first, count);
        let completion = loop {
            if let Some(completion) = self.target.poll_output() {
                break completion;
            }
            let due = next_due(&self.target).unwrap();
            self.target.handle(due, TargetInput::Tick);
        };
        self.collect_outputs();
        let host = self.data[from..].iter().find_map(|op| match *op {
            DataOp::Mix { into, from, .. } if into == completion.id => Some(from),
            _ => None,
        });
        let member = self.data[from..].iter().rev().find_map(|op| match *op {
            DataOp::Deliver { read, member, .. } if Some(read) == host => Some(member),
            _ => None,
        });
        (completion.outcome, member)
    }

    pub fn read(&mut self, ms: u64, first: u64, count: u64) -> (Outcome, Option<u16>) {
        self.go(ms, Access::Read, first, count)
    }

    /// When this was reported, each time.
    pub fn when(&self, what: ReportKind) -> Vec<Instant> {
        self.reports.iter().filter(|report| report.what == what).map(|report| report.at).collect()
    }

    /// All addresses that were reported lost: first and end, upward.
    pub fn lost(&self) -> Vec<(u64, u64)> {
        let runs = self.reports.iter().filter_map(|report| match report.what {
            ReportKind::Lost(run) => Some(run),
            _ => None,
        });
        let ranges = runs.flat_map(Run::ranges);
        let mut ranges: Vec<(u64, u64)> =
            ranges.map(|(first, count)| (first.get(), (first + count).get())).collect();
        ranges.sort_unstable();
        ranges
    }
}
