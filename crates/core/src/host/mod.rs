//! The host: the machine that issues commands. Closed and open loops, think time, and I/Os larger than a command.
//!
//! An I/O is what the application asked for; it becomes one command, or several at once when it exceeds the command
//! limit, and is finished with the last of them. Start reading at [`Host::issue`].
pub mod job;
pub mod params;

use crate::agenda::Agenda;
use crate::command::{Access, Attribute, Breakdown, Command, Completion, Outcome};
use crate::machine::Machine;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors, Span};
use job::{Draw, Job};
use params::{Arrivals, JobError, JobParams, OUTSTANDING_MAX};

pub enum HostInput {
    /// Nothing but the time.
    Tick,
    Completed(Completion),
}

/// A finished I/O, as the application saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    pub job: u32,
    pub access: Access,
    pub count: Sectors,
    pub outcome: Outcome,
    /// When it was meant to begin; in an open loop maybe before it could.
    pub intended: Instant,
    pub finished: Instant,
    /// Where the time from `intended` to `finished` went: the way of the command that was done last.
    pub breakdown: Breakdown,
}

#[derive(Clone, Copy, Debug)]
pub enum HostOutput {
    /// Send this command at this instant; with it a new I/O enters the system, or not.
    Submit { at: Instant, begins: bool, command: Command },
    /// An I/O entered the system at this instant, but its commands must wait.
    Began(Instant),
    /// An I/O is finished.
    Finished(Io),
}

#[derive(Clone, Copy)]
struct Outstanding {
    job: u32,
    parts_left: u32,
    access: Access,
    count: Sectors,
    outcome: Outcome,
    intended: Instant,
}

/// The next issue of a job is due.
#[derive(Clone, Copy)]
struct Due {
    job: u32,
    /// Whether the job's clock goes on by itself.
    open: bool,
}

pub struct Host {
    jobs: Vec<Job>,
    agenda: Agenda<Due>,
    out: VecDeque<HostOutput>,
    outstanding: Vec<Outstanding>,
    free: Vec<u32>,
    /// Open-loop arrivals that found [`OUTSTANDING_MAX`] commands under way: (job, intended instant).
    backlog: VecDeque<(u32, Instant)>,
    /// Commands that one I/O may become: an I/O's tags are a run of this length.
    parts: u32,
    next_id: u64,
    now: Instant,
}

impl Host {
    pub fn new(jobs: &[JobParams], seed: u64) -> Result<Self, JobError> {
        params::check(jobs)?;
        let parts = jobs.iter().map(JobParams::parts_max).max().unwrap_or(1) as u32;
        let mut host = Host {
            jobs: jobs.iter().enumerate().map(|(i, params)| Job::new(params.clone(), i, seed)).collect(),
            agenda: Agenda::with_capacity(jobs.len() * 2),
            out: VecDeque::with_capacity(64),
            outstanding: Vec::new(),
            free: Vec::new(),
            backlog: VecDeque::new(),
            parts,
            next_id: 0,
            now: Instant::ZERO,
        };
        for job in 0..host.jobs.len() {
            host.begin(job as u32);
        }
        Ok(host)
    }

    /// Commands outstanding that the jobs ask for; `None` with an open loop among them.
    pub fn depth_asked(&self) -> Option<u64> {
        let asked = self.jobs.iter().map(|job| match job.params.arrivals {
            Arrivals::Closed { outstanding, .. } => Some(u64::from(outstanding)),
            Arrivals::Poisson { .. } | Arrivals::Fixed { .. } => None,
        });
        asked.sum()
    }

    /// Schedules a job's first issues.
    fn begin(&mut self, job: u32) {
        match self.jobs[job as usize].params.arrivals {
            Arrivals::Closed { outstanding, .. } => {
                for _ in 0..outstanding {
                    self.agenda.schedule(Instant::ZERO, 0, Due { job, open: false });
                }
            }
            Arrivals::Poisson { .. } | Arrivals::Fixed { .. } => {
                let gap = self.gap(job);
                self.agenda.schedule(Instant::ZERO + gap, 0, Due { job, open: true });
            }
        }
    }

    /// The time until an open-loop job's next arrival.
    fn gap(&mut self, job: u32) -> Span {
        let job = &mut self.jobs[job as usize];
        match job.params.arrivals {
            Arrivals::Poisson { rate } => {
                Span::from_ns(job.arrival_stream.exponential(rate.interval().as_ns()))
            }
            Arrivals::Fixed { rate } => rate.interval(),
            Arrivals::Closed { think, .. } => think,
        }
    }

    fn run_until(&mut self, now: Instant) {
        while let Some((due, Due { job, open })) = self.agenda.pop_due(now) {
            if open {
                let gap = self.gap(job);
                self.agenda.schedule(due + gap, 0, Due { job, open });
            }
            if self.is_full() {
                self.out.push_back(HostOutput::Began(due));
                self.backlog.push_back((job, due));
            } else {
                self.issue(job, due, due, true);
            }
        }
    }

    /// Whether another I/O would exceed the limit on commands under way.
    fn is_full(&self) -> bool {
        self.free.is_empty() && (self.outstanding.len() as u64 + 1) * u64::from(self.parts) > OUTSTANDING_MAX
    }

    /// Draws a job's next I/O and sends its commands at `at`; `begins` unless it was announced before.
    fn issue(&mut self, job: u32, intended: Instant, at: Instant, begins: bool) {
        let Draw { access, first, count } = self.jobs[job as usize].draw();
        let params = &self.jobs[job as usize].params;
        let limit = params.command_limit.unwrap_or(count).min(count);
        let parts_left = count.get().div_ceil(limit.get()) as u32;
        let io = Outstanding { job, parts_left, access, count, outcome: Outcome::Done, intended };
        let slot = if let Some(slot) = self.free.pop() {
            self.outstanding[slot as usize] = io;
            slot
        } else {
            self.outstanding.push(io);
            self.outstanding.len() as u32 - 1
        };
        for part in 0..parts_left {
            let done = Sectors::new(limit.get() * u64::from(part));
            let command = Command {
                id: self.next_id,
                initiator: params.initiator,
                logical_unit: params.logical_unit,
                tag: slot * self.parts + part,
                attribute: Attribute::Simple,
                process: params.process,
                synchronous: params.synchronous,
                access,
                first: first + done,
                count: Sectors::new((count.get() - done.get()).min(limit.get())),
            };
            self.next_id += 1;
            self.out.push_back(HostOutput::Submit { at, begins: begins && part == 0, command });
        }
    }

    fn complete(&mut self, completion: &Completion) {
        let slot = completion.tag / self.parts;
        let io = &mut self.outstanding[slot as usize];
        if completion.outcome != Outcome::Done {
            io.outcome = completion.outcome;
        }
        io.parts_left -= 1;
        if io.parts_left > 0 {
            return;
        }
        let Outstanding { job, access, count, outcome, intended, .. } = *io;
        self.free.push(slot);
        let mut breakdown = completion.breakdown;
        breakdown.wait += completion.submitted - intended;
        let finished = completion.completed;
        self.out.push_back(HostOutput::Finished(Io {
            job,
            access,
            count,
            outcome,
            intended,
            finished,
            breakdown,
        }));
        if let Some((job, intended)) = self.backlog.pop_front() {
            self.issue(job, intended, finished, false);
        }
        if let Arrivals::Closed { think, .. } = self.jobs[job as usize].params.arrivals {
            if think.is_zero() {
                self.issue(job, finished, finished, true);
            } else {
                self.agenda.schedule(finished + think, 0, Due { job, open: false });
            }
        }
    }
}

impl Machine for Host {
    type Input = HostInput;
    type Output = HostOutput;

    fn handle(&mut self, now: Instant, input: HostInput) {
        assert!(now >= self.now, "time went back");
        self.run_until(now);
        self.now = now;
        if let HostInput::Completed(completion) = input {
            self.complete(&completion);
        }
    }

    fn poll_output(&mut self) -> Option<HostOutput> {
        self.out.pop_front()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next_due()
    }
}
