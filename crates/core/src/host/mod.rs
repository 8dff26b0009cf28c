//! The host: the machine that issues commands. Closed and open loops, think time, single I/Os at given times,
//! and I/Os larger than a command.
//!
//! An I/O is what the application asks for; it becomes one command, or several at once when it exceeds the
//! command limit, and is finished with the last of them. A FLUSH is not an I/O: it is issued and finished
//! like one, but it does not count as one in the system. Start reading at [`Host::issue`].
//!
//! I/Os come from jobs, which draw them, or are fed from outside ([`feed`]).
mod calls;
mod ending;
mod error;
pub mod feed;
pub(crate) mod job;
mod output;
pub mod params;
pub mod popularity;
pub mod recording;
mod waits;
pub mod zone_writes;

use crate::agenda::Agenda;
use crate::command::{Access, Command, Completion, Content, Outcome, Priority};
use crate::fifo::Fifo;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors, Span};
pub use error::HostError;
use feed::{FED, Feed, FeedParams};
use job::{Draw, Job};
pub use output::{HostInput, HostOutput, Io};
use params::{Arrivals, JobError, JobParams, Marking, OUTSTANDING_MAX};

#[derive(Clone, Copy)]
struct Outstanding {
    job: u32,
    parts_left: u32,
    access: Access,
    priority: u8,
    first: Lba,
    count: Sectors,
    /// Whether its first command resets its zone.
    resets_zone: bool,
    outcome: Outcome,
    intended: Instant,
    /// When the host's software started to process it.
    taken: Instant,
}

#[derive(Clone, Copy)]
enum HostEvent {
    /// A job's next I/O; `open` when the job issues by its own clock.
    Begin { job: u32, open: bool },
    /// The next command of an I/O that the software has processed.
    Send { slot: u32, part: u32 },
    /// A job's next burst.
    Burst { job: u32 },
    /// The next I/O that was fed.
    Fed,
}

/// Issues the I/Os of its jobs, or those that it is fed, as commands, and turns completions into finished
/// I/Os. A [`Machine`](crate::Machine): it reads no clock.
pub struct Host {
    jobs: Vec<Job>,
    agenda: Agenda<HostEvent>,
    out: Fifo<HostOutput>,
    outstanding: Vec<Outstanding>,
    free: Vec<u32>,
    /// Open-loop arrivals that found [`OUTSTANDING_MAX`] commands under way: (job, intended instant).
    backlog: VecDeque<(u32, Instant)>,
    /// Commands of all I/Os that are not finished.
    under_way: u64,
    /// Maximum number of commands per I/O: an I/O's tags are a range of this length.
    parts: u32,
    next_id: u64,
    /// The state of the feeding, where the host is fed.
    feed: Option<Feed>,
    /// Whether nothing may begin any more.
    is_stopped: bool,
    /// Jobs that have not ended.
    running: usize,
    /// Whether all jobs were told to end.
    is_ending: bool,
    now: Instant,
}

impl Host {
    /// A host that is fed, and has no jobs.
    ///
    /// # Errors
    /// When a command limit, or the depth of the pace, is zero.
    pub fn fed(params: FeedParams) -> Result<Self, JobError> {
        if params.command_limit == Some(Sectors::ZERO) {
            return Err(JobError::ZeroSize { job: 0 });
        }
        if params.pace == feed::Pace::Depth(0) {
            return Err(JobError::ZeroOutstanding { job: 0 });
        }
        let parts = if params.command_limit.is_some() { params::PARTS_MAX as u32 } else { 1 };
        Ok(Host::with(Vec::new(), parts, Some(Feed::new(params))))
    }

    /// A host whose jobs draw its I/Os.
    ///
    /// # Errors
    /// What [`params::check`] finds.
    pub fn new(jobs: &[JobParams], seed: u64) -> Result<Self, JobError> {
        params::check(jobs)?;
        let parts = jobs.iter().map(JobParams::parts_max).max().unwrap_or(1) as u32;
        let jobs: Vec<Job> =
            jobs.iter().enumerate().map(|(i, params)| Job::new(params.clone(), i, seed)).collect();
        let mut host = Host::with(jobs, parts, None);
        for job in 0..host.jobs.len() {
            host.begin(job as u32);
        }
        Ok(host)
    }

    fn with(jobs: Vec<Job>, parts: u32, feed: Option<Feed>) -> Self {
        Host {
            agenda: Agenda::with_capacity(jobs.len() * 2 + 1),
            running: jobs.len(),
            is_ending: false,
            jobs,
            out: Fifo::default(),
            outstanding: Vec::new(),
            free: Vec::new(),
            backlog: VecDeque::new(),
            under_way: 0,
            parts,
            next_id: 0,
            feed,
            is_stopped: false,
            now: Instant::ZERO,
        }
    }

    /// Commands outstanding that the jobs ask for; `None` if any of them waits for nothing.
    pub fn depth_asked(&self) -> Option<u64> {
        if let Some(feed) = &self.feed {
            return feed.depth();
        }
        let depths = self.jobs.iter().map(|job| match job.params.arrivals {
            Arrivals::Closed { outstanding, .. } => Some(u64::from(outstanding)),
            Arrivals::Bursts { outstanding, burst, .. } => Some(u64::from(outstanding.min(burst))),
            Arrivals::Poisson { .. } | Arrivals::Fixed { .. } => None,
        });
        depths.sum()
    }

    /// Schedules a job's first issues.
    fn begin(&mut self, job: u32) {
        match self.jobs[job as usize].params.arrivals {
            Arrivals::Closed { outstanding, .. } => {
                for _ in 0..outstanding {
                    self.agenda.schedule(Instant::ZERO, 0, HostEvent::Begin { job, open: false });
                }
            }
            Arrivals::Bursts { .. } => self.agenda.schedule(Instant::ZERO, 0, HostEvent::Burst { job }),
            Arrivals::Poisson { .. } | Arrivals::Fixed { .. } => {
                let gap = self.next_interarrival(job);
                self.agenda.schedule(Instant::ZERO + gap, 0, HostEvent::Begin { job, open: true });
            }
        }
    }

    /// The time until an open-loop job's next arrival.
    fn next_interarrival(&mut self, job: u32) -> Span {
        let job = &mut self.jobs[job as usize];
        match job.params.arrivals {
            Arrivals::Poisson { rate } => {
                Span::from_ns(job.arrival_stream.exponential(rate.interval().as_ns()))
            }
            Arrivals::Fixed { rate } => rate.interval(),
            Arrivals::Closed { think, .. } | Arrivals::Bursts { think, .. } => think,
        }
    }

    fn run_until(&mut self, now: Instant) {
        while let Some((due, event)) = self.agenda.pop_due(now) {
            match event {
                HostEvent::Begin { .. } | HostEvent::Burst { .. } | HostEvent::Fed if self.is_stopped => {}
                HostEvent::Fed => self.begin_fed(due),
                HostEvent::Burst { job } => self.begin_burst(job, due),
                HostEvent::Begin { job, open } => {
                    if self.jobs[job as usize].progress.left == 0 {
                        continue;
                    }
                    if open {
                        let gap = self.next_interarrival(job);
                        self.agenda.schedule(due + gap, 0, event);
                    }
                    if open && self.is_full(job) {
                        self.out.push_back(HostOutput::Began(due));
                        self.backlog.push_back((job, due));
                    } else {
                        self.issue(job, due, due, true);
                    }
                }
                HostEvent::Send { slot, part } => self.send_prepared(slot, part, due),
            }
        }
    }

    /// Whether an open-loop job's next I/O could exceed the limit on outstanding commands.
    fn is_full(&self, job: u32) -> bool {
        self.under_way + self.jobs[job as usize].params.parts_max() > OUTSTANDING_MAX
    }

    /// Arrivals that wait because too many commands are outstanding.
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// When the oldest unfinished I/O was meant to begin; a FLUSH does not count.
    pub fn oldest_unfinished(&self) -> Option<Instant> {
        let begun = |io: &&Outstanding| io.parts_left > 0 && io.access != Access::Flush;
        let fed = self.feed.as_ref().and_then(|feed| feed.oldest_late(self.now));
        let waiting = self.backlog.iter().map(|&(_, intended)| intended).chain(fed);
        self.outstanding.iter().filter(begun).map(|io| io.intended).chain(waiting).min()
    }

    /// Draws a job's next I/O, which the software processes from `at` on; `begins` unless it was announced
    /// before.
    fn issue(&mut self, job: u32, intended: Instant, at: Instant, begins: bool) {
        let source = &mut self.jobs[job as usize];
        // What was announced before is issued all the same.
        if begins && source.progress.left == 0 {
            return;
        }
        if source.progress.flushing {
            source.progress.held += 1;
            return;
        }
        let Draw { access, priority, first, count, resets_zone } = source.draw();
        source.count_issued(count);
        // A FLUSH is not an I/O: it moves no data and counts in no figure of the system.
        let begins = begins && access != Access::Flush;
        let size = self.part_size(job, count);
        // Most I/Os are one command, and a division would be the slowest step here.
        let parts_left = if size == count { 1 } else { count.get().div_ceil(size.get()) as u32 };
        let slot = self.store(job, (access, priority, first, count), parts_left, (intended, at));
        self.outstanding[slot as usize].resets_zone = resets_zone;
        let io = self.outstanding[slot as usize];
        let cost = self.jobs[job as usize].draw_submit(count);
        if cost.is_zero() {
            self.send(slot, &io, 0, at, begins);
            if parts_left > 1 {
                self.send_others(slot, parts_left, at);
            }
        } else {
            if begins {
                self.out.push_back(HostOutput::Began(at));
            }
            self.agenda.schedule(at + cost, 0, HostEvent::Send { slot, part: 0 });
        }
    }

    /// Stores an I/O until it is finished: what it asks for, when it was meant to begin, and when its
    /// processing started. Returns its index.
    #[inline(always)]
    fn store(
        &mut self,
        job: u32,
        (access, priority, first, count): (Access, u8, Lba, Sectors),
        parts_left: u32,
        (intended, taken): (Instant, Instant),
    ) -> u32 {
        self.under_way += u64::from(parts_left);
        let outcome = Outcome::Done;
        let io = Outstanding {
            job,
            parts_left,
            access,
            priority,
            first,
            count,
            resets_zone: false,
            outcome,
            intended,
            taken,
        };
        if let Some(slot) = self.free.pop() {
            self.outstanding[slot as usize] = io;
            return slot;
        }
        self.outstanding.push(io);
        self.outstanding.len() as u32 - 1
    }

    /// Sends all commands of an I/O but the first. The fixed cost is included there, so there is none between
    /// them either.
    #[inline(never)]
    fn send_others(&mut self, slot: u32, parts: u32, at: Instant) {
        let io = self.outstanding[slot as usize];
        for part in 1..parts {
            self.send(slot, &io, part, at, false);
        }
    }

    /// Sends one command of an I/O; the next one follows after the software's fixed cost.
    fn send_prepared(&mut self, slot: u32, part: u32, at: Instant) {
        let io = self.outstanding[slot as usize];
        self.send(slot, &io, part, at, false);
        let Outstanding { job, count, .. } = io;
        if u64::from(part + 1) * self.part_size(job, count).get() < count.get() {
            let fixed = self.jobs[job as usize].params.submit.fixed;
            self.agenda.schedule(at + fixed, 0, HostEvent::Send { slot, part: part + 1 });
        }
    }

    /// The size of an I/O's commands, except for the last.
    fn part_size(&self, job: u32, count: Sectors) -> Sectors {
        let limit = match self.jobs.get(job as usize) {
            Some(job) => job.params.command_limit,
            None => self.feed.as_ref().and_then(Feed::command_limit),
        };
        limit.map_or(count, |limit| limit.min(count))
    }

    // Inlined into its callers, which have its arguments at hand.
    #[inline(always)]
    fn send(&mut self, slot: u32, io: &Outstanding, part: u32, at: Instant, begins: bool) {
        let &Outstanding { job, access, first, count, .. } = io;
        let size = self.part_size(job, count).get();
        let done = size * u64::from(part);
        let (id, tag) = (self.next_id, slot * self.parts + part);
        let (first, count) = (first + Sectors::new(done), Sectors::new((count.get() - done).min(size)));
        self.next_id += 1;
        let Some(job) = self.jobs.get(job as usize) else {
            let command = self.fed_command(slot, id, tag, (first, count));
            return self.out.push_back(HostOutput::Submit { at, begins, command });
        };
        let params = &job.params;
        let Marking { attribute, priority: _, force_unit_access, sync, direct } = params.marking;
        let mut priority = job.priority(io.priority);
        let mut force_unit_access = force_unit_access || sync && access == Access::Write;
        if access == Access::Flush {
            // It has no data to be read from the media, and no protocol has a priority for it.
            (priority, force_unit_access) = (Priority::Normal, false);
        }
        // Built in place: to copy what was written in parts a moment ago is slow.
        self.out.push_back(HostOutput::Submit {
            at,
            begins,
            command: Command {
                id,
                initiator: params.initiator,
                logical_unit: params.logical_unit,
                tag,
                attribute,
                priority,
                force_unit_access,
                direct,
                attempt: 0,
                process: params.process,
                synchronous: params.synchronous,
                access,
                content: if io.resets_zone && part == 0 { Content::AfterReset } else { Content::Data },
                first,
                count,
            },
        });
    }

    // Inlined into `handle`, and with it into the caller, so that the completion is not copied.
    #[inline(always)]
    fn complete(&mut self, completion: &Completion) -> Result<(), HostError> {
        let slot = if self.parts == 1 { completion.tag } else { completion.tag / self.parts };
        let Some(io) = self.outstanding.get_mut(slot as usize).filter(|io| io.parts_left > 0) else {
            return Err(HostError::UnknownTag { tag: completion.tag });
        };
        if completion.submitted < io.taken || completion.completed < completion.submitted {
            let (sent, completed) = (io.taken, completion.completed);
            return Err(HostError::BeforeSubmission { tag: completion.tag, sent, completed });
        }
        if completion.outcome != Outcome::Done {
            io.outcome = completion.outcome;
        }
        io.parts_left -= 1;
        self.under_way -= 1;
        if io.parts_left > 0 {
            return Ok(());
        }
        let Outstanding { job, access, priority, first, count, outcome, intended, taken, .. } = *io;
        if outcome != Outcome::Done
            && access == Access::Write
            && let Some(job) = self.jobs.get_mut(job as usize)
        {
            job.write_failed(first);
        }
        self.free.push(slot);
        let mut breakdown = completion.breakdown;
        breakdown.wait += taken - intended;
        breakdown.overhead += completion.submitted - taken;
        let finished = completion.completed;
        self.out.push_back(HostOutput::Finished(Io {
            job,
            access,
            priority,
            count,
            outcome,
            intended,
            finished,
            breakdown,
        }));
        self.go_on(job, access, finished);
        if self.jobs.get(job as usize).is_some_and(Job::is_done) {
            self.end_job(job, finished);
        }
        Ok(())
    }

    /// Issues what a finished I/O makes room for: a waiting I/O, or the job's next.
    #[inline(always)]
    fn go_on(&mut self, job: u32, access: Access, finished: Instant) {
        if job == FED || self.is_stopped {
            self.end_feed(finished);
            return;
        }
        self.jobs[job as usize].progress.unfinished -= 1;
        if self.backlog.front().is_some_and(|&(job, _)| !self.is_full(job))
            && let Some((job, intended)) = self.backlog.pop_front()
        {
            self.issue(job, intended, finished, false);
        }
        if access == Access::Flush && self.jobs[job as usize].progress.flushing {
            self.flush_done(job, finished);
            return;
        }
        if let Arrivals::Closed { think, .. } = self.jobs[job as usize].params.arrivals {
            if think.is_zero() {
                self.issue(job, finished, finished, true);
            } else {
                self.agenda.schedule(finished + think, 0, HostEvent::Begin { job, open: false });
            }
        } else if let Arrivals::Bursts { .. } = self.jobs[job as usize].params.arrivals {
            self.go_on_in_burst(job, finished);
        }
    }
}
