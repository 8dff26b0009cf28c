//! One run, fully decided: what the scenario text becomes and what a driver of either clock takes.
#![deny(missing_docs)]
use crate::host::feed::{FedIo, FeedParams};
use crate::host::params::JobParams;
use crate::host::recording::Recording;
use crate::storage::{Fault, TargetParams};
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
    /// Once the last rebuild of the array has ended, and no other is to come.
    pub until_rebuilt: bool,
}

/// I/Os that the host is fed, in place of jobs that draw them.
#[derive(Clone, Debug)]
pub struct Fed {
    /// How they are fed.
    pub params: FeedParams,
    /// In the order in which they are fed.
    pub ios: Arc<[FedIo]>,
    /// Read behind those as the host has room; the run then ends when all of them are finished, if no limit comes first.
    pub recording: Option<Arc<dyn Recording>>,
}

/// Something that goes wrong with a drive at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Injection {
    /// When it begins.
    pub at: Instant,
    /// What it is.
    pub fault: Fault,
    /// How long a slow drive is slow, or one lies about FLUSHes; for good when `None`. A hang has its own length.
    pub lasts: Option<Span>,
    /// From each beginning to the next; once when `None`.
    pub every: Option<Span>,
}

/// A run: what is simulated, what it is asked, and how long.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What is asked.
    pub target: TargetParams,
    /// None where the host is fed.
    pub jobs: Vec<JobParams>,
    /// None where jobs draw the I/Os.
    pub fed: Option<Fed>,
    /// Left out of every figure.
    pub warmup: Span,
    /// When it ends.
    pub limit: Limit,
    /// All that is drawn follows from it.
    pub seed: u64,
    /// How many commands to keep the traces of, from the end of the warm-up on.
    pub traces: u64,
    /// Whether the data of every command are followed and held to what was written.
    pub checks_data: bool,
    /// What goes wrong with drives, in order of time.
    pub injections: Arc<[Injection]>,
    /// When the power goes, and the run ends; its data are followed then in any case.
    pub power_cut: Option<Instant>,
}
