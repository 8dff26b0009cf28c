//! A list of requests served one after the other, as in a recording: compares a real drive's service times
//! with the model's.
//!
//! One request is outstanding at a time. The first is issued at instant zero to an idle target, each further
//! one a given gap after the completion of the one before: whatever the target does between two requests
//! happens in that gap.
use crate::run::{Control, HORIZON};
use drivelab_core::storage::{Target, TargetOutput, TargetParams};
use drivelab_core::{Access, Breakdown, Command, Completion, Machine, Outcome};
use drivelab_record::commands::outcome as spelled;
use drivelab_units::{Instant, Lba, Sectors, Span};
use std::sync::atomic::Ordering;
use thiserror::Error;

/// A request of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    pub access: Access,
    pub first: Lba,
    pub count: Sectors,
    /// From its completion to the next request.
    pub gap: Span,
}

/// The result of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    pub issued: Instant,
    pub completed: Instant,
    /// Where the time in between went; the parts add up to it.
    pub breakdown: Breakdown,
}

impl Served {
    pub fn service(&self) -> Span {
        self.completed - self.issued
    }
}

/// A whole list, served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replay {
    /// The target's capacity.
    pub capacity: Sectors,
    /// In the order of the list.
    pub served: Vec<Served>,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ReplayError {
    #[error("interrupted")]
    Interrupted,
    #[error(
        "request {number} needs {end} sectors, and the target has {capacity}; it was measured on a larger drive"
    )]
    BeyondEnd { number: usize, end: u64, capacity: u64 },
    #[error(
        "request {number} was not done ({}): measured requests run on a target without faults; leave target.faults out",
        spelled(*.outcome)
    )]
    NotDone { number: usize, outcome: Outcome },
    #[error("request {number} is never done: nothing is due")]
    Stalled { number: usize },
    #[error("the list would last longer than a century of virtual time")]
    Endlong,
    #[error("a defect of drivelab: {0}")]
    Defect(String),
}

/// Requests between two checks of the control.
const REQUESTS_PER_CHECK: usize = 1 << 12;

/// Serves the requests in order. In messages the first request has the number 1.
pub fn replay(
    target: &TargetParams,
    seed: u64,
    requests: &[Request],
    control: &Control<'_>,
) -> Result<Replay, ReplayError> {
    let mut target = Target::new(target, seed);
    let capacity = target.capacity();
    for (number, request) in (1..).zip(requests) {
        let end = request.first.get().saturating_add(request.count.get());
        if end > capacity.get() {
            return Err(ReplayError::BeyondEnd { number, end, capacity: capacity.get() });
        }
    }
    let (mut now, mut served) = (Instant::ZERO, Vec::with_capacity(requests.len()));
    for (number, request) in (1..).zip(requests) {
        if number % REQUESTS_PER_CHECK == 0 {
            if control.stop.load(Ordering::Relaxed) {
                return Err(ReplayError::Interrupted);
            }
            (control.progress)(number as f64 / requests.len() as f64);
        }
        if now > HORIZON {
            return Err(ReplayError::Endlong);
        }
        target
            .take(now, &command(number, request))
            .map_err(|error| ReplayError::Defect(error.to_string()))?;
        let done = completion(&mut target).ok_or(ReplayError::Stalled { number })?;
        if done.outcome != Outcome::Done {
            return Err(ReplayError::NotDone { number, outcome: done.outcome });
        }
        served.push(Served { issued: now, completed: done.completed, breakdown: done.breakdown });
        now = done.completed + request.gap;
    }
    Ok(Replay { capacity, served })
}

/// Lets time pass until the target answers; `None` when it never does.
fn completion(target: &mut Target) -> Option<Completion> {
    loop {
        while let Some(output) = target.poll_output() {
            if let TargetOutput::Completed(done) = output {
                return Some(done);
            }
        }
        target.pass_to(target.poll_timeout()?).ok()?;
    }
}

fn command(number: usize, request: &Request) -> Command {
    let &Request { access, first, count, .. } = request;
    Command { direct: true, ..Command::new(number as u64, access, first, count) }
}
