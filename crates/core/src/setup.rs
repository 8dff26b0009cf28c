//! One run, fully specified: the result of parsing a scenario and the input of a driver with either clock.
#![deny(missing_docs)]
use crate::command::Priority;
use crate::host::feed::{FedIo, FeedParams};
use crate::host::params::JobParams;
use crate::host::recording::Recording;
use crate::storage::{Fault, Lasting, TargetParams};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

/// When a run ends: at whichever limit comes first. At least one must be set.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Limit {
    /// Measured time, after the warm-up.
    pub duration: Option<Span>,
    /// I/Os finished after the warm-up.
    pub ios: Option<u64>,
    /// A condition of the array's rebuild.
    pub until: Option<Until>,
}

/// A condition of the array's rebuild that ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// The last rebuild of the array has ended, and no further one is to come.
    Rebuilt,
    /// The rebuild was sampled at all its places.
    Sampled(Sampling),
}

/// How a rebuild is sampled: it goes on for a while at each of several places, and what lies between them is
/// skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// The number of places, each in the middle of an equal share of the work; at least 1.
    pub places: u32,
    /// The time at each place.
    pub stay: Span,
}

impl Setup {
    /// Whether the run ends because its jobs do: all of them after their data, or all with one of them.
    pub fn jobs_end(&self) -> bool {
        let ends = |job: &JobParams| job.ending.after.is_some();
        let is_last = |job: &JobParams| ends(job) && job.ending.ends_all;
        !self.jobs.is_empty() && (self.jobs.iter().all(ends) || self.jobs.iter().any(is_last))
    }
}

/// I/Os that the host is fed, in place of jobs that draw them.
#[derive(Clone, Debug)]
pub struct Fed {
    /// How they are fed.
    pub params: FeedParams,
    /// The I/Os, in the order in which they are fed.
    pub ios: Arc<[FedIo]>,
    /// Read after those as the host has room; the run then ends when all of them are finished, if no limit
    /// comes first.
    pub recording: Option<Arc<dyn Recording>>,
}

/// A fault injected at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Injection {
    /// When it begins.
    pub at: Instant,
    /// What it is.
    pub fault: Fault,
    /// How long it lasts.
    pub lasting: Lasting,
}

/// A job as the workload names it, with its copies, whose figures are told together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Section {
    /// Its name in the workload.
    pub name: String,
    /// Its copies, adjacent in [`Setup::jobs`].
    pub copies: u32,
    /// The priorities of its I/Os, by their index in [`Io`](crate::host::Io).
    pub priorities: Vec<Priority>,
}

/// A run: what is simulated, the workload, and how long.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What is simulated.
    pub target: TargetParams,
    /// Empty where the host is fed.
    pub jobs: Vec<JobParams>,
    /// The names of these, in their order; may be empty, and is where the host is fed.
    pub sections: Arc<[Section]>,
    /// `None` where jobs draw the I/Os.
    pub fed: Option<Fed>,
    /// Excluded from every figure.
    pub warmup: Span,
    /// When it ends.
    pub limit: Limit,
    /// Everything drawn at random follows from it.
    pub seed: u64,
    /// Number of commands whose traces are kept, from the end of the warm-up on.
    pub traces: u64,
    /// Whether the data of every command are checked against what was written.
    pub checks_data: bool,
    /// The faults injected into drives, in order of time.
    pub injections: Arc<[Injection]>,
    /// When the power is cut and the run ends; its data are then checked in any case.
    pub power_cut: Option<Instant>,
}
