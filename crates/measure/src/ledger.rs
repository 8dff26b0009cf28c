//! What is collected during a run: the figures that every record has, and the two parts of a measured
//! response time.
use crate::engine::InFlight;
use crate::failures::Failures;
use crate::report::LoggedCommand;
use crate::steady::{Rounds, Steady, SteadyRecord};
use drivelab_core::digest::Digest;
use drivelab_core::host::Io;
use drivelab_core::{Access, Command, Completion, Outcome, Section, Setup};
use drivelab_record::{Collector, Latencies};
use drivelab_units::{Instant, Span};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;

/// Processor time of the process, and when it was read.
#[derive(Clone, Copy)]
pub struct Processor {
    pub at: Instant,
    pub used: Span,
}

impl Processor {
    pub fn read(at: Instant) -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Processor { at, used: Span::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64) }
    }
}

pub struct Ledger {
    pub collector: Collector,
    /// The jobs that have figures of their own.
    sections: Arc<[Section]>,
    /// When the window begins.
    pub start: Instant,
    /// The rounds until the device is steady; `None` once the window has begun.
    rounds: Option<Rounds>,
    /// I/Os that have begun and not finished.
    in_system: u64,
    accounted_until: Instant,
    pub counted: u64,
    pub submission: Latencies,
    pub device: Latencies,
    pub failures: Failures,
    pub digest: Digest,
    pub processor: Option<Processor>,
    pub log: Vec<LoggedCommand>,
    /// Bytes read and written since the start of the run, whether or not they count.
    pub moved_bytes: [u64; 2],
    /// The same of all that was sent, with what failed or was never answered.
    pub issued_bytes: [u64; 2],
    steady: Option<SteadyRecord>,
}

/// Maximum number of logged commands.
const LOG_MAX: u64 = 1 << 20;

impl Ledger {
    pub fn new(setup: &Setup, steady: Option<Steady>) -> Self {
        let start = Instant::ZERO + setup.warmup;
        Ledger {
            collector: Collector::new(setup.warmup, &setup.sections),
            sections: Arc::clone(&setup.sections),
            start,
            rounds: steady.map(|options| Rounds::new(options, start)),
            in_system: 0,
            accounted_until: Instant::ZERO,
            counted: 0,
            submission: Latencies::default(),
            device: Latencies::default(),
            failures: Failures::default(),
            digest: Digest::default(),
            processor: None,
            log: Vec::with_capacity(setup.traces.min(LOG_MAX) as usize),
            steady: None,
            moved_bytes: [0; 2],
            issued_bytes: [0; 2],
        }
    }

    /// Whether the measured window has begun; before that nothing counts.
    #[inline]
    pub fn is_open(&self, now: Instant) -> bool {
        self.rounds.is_none() && now > self.start
    }

    /// Whether the window is to begin once the device is steady, and has not begun.
    #[inline]
    pub fn waits_for_steady(&self) -> bool {
        self.rounds.is_some()
    }

    /// The record of the wait for a steady device, if there was one.
    pub fn steady_record(&mut self) -> Option<SteadyRecord> {
        self.steady.take().or_else(|| self.rounds.as_ref().map(Rounds::record))
    }

    /// Closes everything before `now`; called before anything at `now` is recorded.
    #[inline]
    pub fn passes(&mut self, now: Instant) {
        if self.collector.piece_ends_at() < now {
            self.collector.passes(now);
        }
        if self.processor.is_none() && self.is_open(now) {
            self.processor = Some(Processor::read(now));
        }
        if now > self.start && self.rounds.as_mut().is_some_and(|rounds| rounds.passes(now)) {
            self.open(now);
        }
    }

    /// The window begins now, with the I/Os that are in the system.
    #[cold]
    fn open(&mut self, now: Instant) {
        self.steady = self.rounds.take().map(|rounds| rounds.record());
        self.start = now;
        self.collector = Collector::new(now.since(Instant::ZERO), &self.sections);
        (0..self.in_system).for_each(|_| self.collector.began(now));
        (self.counted, self.processor) = (0, Some(Processor::read(now)));
    }

    /// An I/O entered the system.
    #[inline]
    pub fn began(&mut self, at: Instant) {
        self.in_system += 1;
        if at < self.accounted_until {
            return self.collector.began_before(at);
        }
        self.accounted_until = at;
        self.collector.began(at);
    }

    /// A command goes to the device.
    #[inline]
    pub fn sent(&mut self, command: &Command) {
        self.digest.fold(command.first.get() << 2 | command.access as u64);
        self.digest.fold(command.count.get());
        self.issued_bytes[usize::from(command.access == Access::Write)] += command.count.bytes().get();
    }

    /// A command's completion was received.
    #[inline]
    pub fn answered(&mut self, flying: &InFlight, completion: &Completion) {
        let (submitted, completed) = (completion.submitted, completion.completed);
        if completion.outcome == Outcome::Done {
            let kind = usize::from(flying.command.access == Access::Write);
            self.moved_bytes[kind] += flying.command.count.bytes().get();
        }
        if !self.is_open(completed) || completion.outcome != Outcome::Done {
            return;
        }
        if flying.command.access != Access::Flush {
            self.submission.record(submitted.since(flying.at).as_ns());
            self.device.record(completed.since(submitted).as_ns());
        }
        if self.log.len() < self.log.capacity() {
            self.log.push(logged(flying, completion));
        }
    }

    /// An I/O left the system.
    #[inline]
    pub fn finished(&mut self, io: &Io) {
        self.accounted_until = self.accounted_until.max(io.finished);
        let is_io = io.access != Access::Flush;
        self.in_system -= u64::from(is_io);
        let in_window = self.collector.finished(io);
        self.counted += u64::from(in_window && is_io);
        if let Some(rounds) = &mut self.rounds
            && is_io
            && in_window
        {
            rounds.finished();
        }
    }
}

#[cold]
fn logged(flying: &InFlight, completion: &Completion) -> LoggedCommand {
    let command = &flying.command;
    LoggedCommand {
        id: command.id,
        access: match command.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Flush => "flush",
        },
        first_sector: command.first.get(),
        sectors: command.count.get(),
        outcome: "done",
        intended_ns: flying.at.as_ns(),
        submitted_ns: completion.submitted.as_ns(),
        completed_ns: completion.completed.as_ns(),
    }
}
