//! One run in virtual time.
mod closing;
mod share_done;

use crate::capture::Capture;
use crate::checker::RunChecker;
use crate::counters::Before;
pub use crate::error::RunError;
use crate::feeding::Feeding;
use crate::injections::Injections;
use crate::pending_traces::PendingTraces;
use crate::sampled_rebuild::SampledRebuild;
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::setup::Until;
use drivelab_core::storage::array::report::ReportKind;
use drivelab_core::storage::{Fault, OutputRef, Target, TargetEvent, TargetOutput};
use drivelab_core::{Access, Completion, Limit, Machine, Setup};
use drivelab_record::point::{Ended, Point};
use drivelab_record::{ArrayCollector, Collector, CommandLog, GivenUpCollector};
use drivelab_units::Instant;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// How the caller follows a run and stops it.
pub struct Control<'a> {
    /// When set, the run ends with [`RunError::Interrupted`].
    pub stop: &'a AtomicBool,
    /// Called from time to time with the completed share, from zero to one.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

/// Number of turns of the loop between two checks of the control and of the backlog. Each arrival takes a turn.
const STEPS_PER_CHECK: u32 = 1 << 14;
/// Maximum number of waiting arrivals: a quarter of a gigabyte.
const BACKLOG_MAX: usize = 1 << 24;
/// Later than any run should last; sums with it still fit.
pub(crate) const HORIZON: Instant = Instant::from_ns(1 << 62);

/// Runs a setup to its end.
pub fn run(setup: &Setup, control: &Control<'_>) -> Result<Point, RunError> {
    run_captured(setup, control, None)
}

/// The same, with every command of the host in a trace that is written to `out`.
pub fn run_captured(
    setup: &Setup,
    control: &Control<'_>,
    out: Option<Box<dyn Write + Send>>,
) -> Result<Point, RunError> {
    let mut clock = Clock::new(setup)?;
    clock.capture = out.map(|out| Box::new(Capture::new(out, setup.seed, clock.target.capacity())));
    clock.capture.iter_mut().for_each(|capture| capture.unreadable(&setup.target));
    let (ended, why) = clock.run(setup, control)?;
    if let Some(mut capture) = clock.capture.take() {
        if why == Ended::PowerCut {
            capture.record_event(&TargetEvent::PowerCut { at: ended });
        }
        capture.finish().map_err(uncaptured)?;
    }
    clock.close(setup, ended, why)
}

/// Host and target disagree, which is a defect.
fn defect(error: impl std::fmt::Display) -> RunError {
    RunError::Defect(error.to_string())
}

/// The capture cannot be written.
fn uncaptured(error: impl std::fmt::Display) -> RunError {
    RunError::Capture(error.to_string())
}

struct Clock {
    host: Host,
    /// The source of its I/Os, where the host is fed.
    feeding: Option<Box<Feeding>>,
    target: Target,
    collector: Collector,
    /// When the window begins, and the drives' counters at that time.
    start: Instant,
    before: Option<Before>,
    /// The traces of the first commands, on request.
    log: Option<CommandLog>,
    traces: PendingTraces,
    /// Events of the array, where there is one.
    array: Option<ArrayCollector>,
    /// Data that memories give up.
    given_up: GivenUpCollector,
    /// Faults injected into drives during the run.
    injections: Injections,
    /// The places of a rebuild that is sampled.
    sampled: Option<Box<SampledRebuild>>,
    /// The trace of all commands, on request.
    capture: Option<Box<Capture>>,
    /// The check of its data, on request.
    checker: Option<Box<RunChecker>>,
    counted: u64,
    /// Whether FLUSHes count towards the limit: a list of commands is done when all of it is.
    flushes_count: bool,
}

impl Clock {
    fn new(setup: &Setup) -> Result<Self, RunError> {
        let Limit { duration, ios, until } = setup.limit;
        let is_recorded = setup.fed.as_ref().is_some_and(|fed| fed.recording.is_some());
        let is_limited = duration.is_some() || ios.is_some() || until.is_some() || setup.jobs_end();
        if !is_limited && !is_recorded && setup.power_cut.is_none() {
            return Err(RunError::Endless);
        }
        let mut target = Target::new(&setup.target, setup.seed);
        if until.is_some() && target.array().is_none() {
            return Err(RunError::NoRebuild);
        }
        let sampling = until.and_then(|until| if let Until::Sampled(it) = until { Some(it) } else { None });
        let array = target.array().map(|_| ArrayCollector::default());
        let log = (setup.traces > 0).then(|| CommandLog::new(setup.warmup, setup.traces));
        if log.is_some() {
            target.keep_traces();
        }
        let checks = setup.checks_data || setup.power_cut.is_some();
        if checks && sampling.is_some() {
            return Err(RunError::SampledData);
        }
        let checker = checks.then(|| RunChecker::new(setup, &mut target));
        Ok(Clock {
            checker: checker.transpose()?.map(Box::new),
            host: match &setup.fed {
                Some(fed) => Host::fed(fed.params)?,
                None => Host::new(&setup.jobs, setup.seed)?,
            },
            feeding: setup.fed.as_ref().map(Feeding::new).transpose()?.map(Box::new),
            target,
            traces: PendingTraces::default(),
            collector: Collector::new(setup.warmup, &setup.sections),
            start: Instant::ZERO + setup.warmup,
            before: None,
            log,
            array,
            given_up: GivenUpCollector::default(),
            injections: Injections::new(&setup.injections),
            sampled: sampling
                .map(|sampling| Box::new(SampledRebuild::new(sampling, Instant::ZERO + setup.warmup))),
            capture: None,
            counted: 0,
            flushes_count: setup.fed.is_some(),
        })
    }

    /// Runs to the limit; returns the instant at which the window closes, and the reason.
    fn run(&mut self, setup: &Setup, control: &Control<'_>) -> Result<(Instant, Ended), RunError> {
        let start = Instant::ZERO + setup.warmup;
        let end = setup.limit.duration.map(|duration| start + duration);
        let is_cut = setup.power_cut.is_some_and(|cut| end.is_none_or(|end| cut <= end));
        let mut end = if is_cut { setup.power_cut } else { end };
        let ios = setup.limit.ios.unwrap_or(u64::MAX);
        let every_instant_counts = self.every_instant_counts(setup);
        let mut steps = 0u32;
        let (mut now, mut why) = (Instant::ZERO, Ended::Ios);
        loop {
            if self.host.is_over() {
                return Ok((now.max(start), why));
            }
            if let Some(feeding) = &mut self.feeding {
                feeding.feed(&mut self.host)?;
                if !is_cut && feeding.is_done(&self.host) {
                    return Ok((now.max(start), Ended::Trace));
                }
            }
            let due = match (self.target.poll_timeout(), self.host.poll_timeout()) {
                (Some(target), Some(host)) => target.min(host),
                (Some(due), None) | (None, Some(due)) => due,
                // No activity is left: injected faults only change the data that a power cut finds, and cause
                // no work.
                (None, None) => match (end.filter(|_| is_cut), self.injections.next_at()) {
                    (Some(_), Some(injected)) => injected,
                    (Some(cut), None) => return Ok((cut, Ended::PowerCut)),
                    (None, _) => return Err(RunError::Stalled { at_ns: now.as_ns() }),
                },
            };
            // What is due as the run ends affects nothing that counts; a power cut finds it.
            let is_in_window = |at: &Instant| is_cut || end.is_none_or(|end| *at < end);
            let injected = self.injections.next_at().filter(is_in_window);
            let sampled = self.sampled.as_ref().map(|sampled| sampled.next_at());
            let due = injected.into_iter().chain(sampled).fold(due, Instant::min);
            if let Some(limit) = end
                && due > limit
            {
                if is_cut || !self.host.ends_with_flush() {
                    return Ok((limit, if is_cut { Ended::PowerCut } else { Ended::Duration }));
                }
                (now, end, why) = (limit, None, Ended::Duration);
                self.end_jobs(now, ios)?;
                continue;
            }
            if due > HORIZON {
                return Err(RunError::Endlong);
            }
            now = due;
            self.pass_to(now);
            let quiet_until = if every_instant_counts { now } else { self.quiet_until(end) };
            if injected.is_some_and(|at| at <= now) {
                self.inject_due(now, setup)?;
            }
            now = self.step(now, quiet_until, ios)?;
            self.drain_outputs();
            if self.counted >= ios {
                return Ok((now, Ended::Ios));
            }
            if let Some(why) = self.ends_with_rebuild(now, setup.limit)? {
                return Ok((now.max(start), why));
            }
            steps += 1;
            if steps == STEPS_PER_CHECK {
                steps = 0;
                if self.host.backlog() > BACKLOG_MAX {
                    return Err(RunError::Overloaded { waiting: self.host.backlog() });
                }
                if control.stop.load(Ordering::Relaxed) {
                    return Err(RunError::Interrupted);
                }
                (control.progress)(self.share_done(now, start, end, setup.limit));
            }
        }
    }

    /// Whether something must be done at each instant, so that the target may not run on to its next output.
    fn every_instant_counts(&self, setup: &Setup) -> bool {
        self.feeding.is_some()
            || self.checker.is_some()
            || self.log.is_some()
            || setup.limit.until == Some(Until::Rebuilt)
            || !setup.injections.is_empty()
    }

    /// The time of a run is over whose jobs flush before they end: the window closes when that is done.
    #[cold]
    fn end_jobs(&mut self, now: Instant, ios: u64) -> Result<(), RunError> {
        self.pass_to(now);
        self.host.end_jobs(now);
        self.step(now, now, ios)?;
        self.drain_outputs();
        Ok(())
    }

    /// A fault due at an instant affects the commands under way before the host does anything more.
    #[cold]
    fn inject_due(&mut self, now: Instant, setup: &Setup) -> Result<(), RunError> {
        self.target.pass_to(now).map_err(defect)?;
        self.follow()?;
        while self.injections.next_at().is_some_and(|at| at <= now) {
            let injected = self.injections.inject_next(now, &mut self.target, &setup.injections);
            if let (Some(fault), Some(capture)) = (injected, &mut self.capture) {
                capture.record_injection(now, fault);
            }
            if let (Some(Fault::Corrupt { .. }), Some(checker)) = (injected, &mut self.checker) {
                checker.corrupted();
            }
            self.follow()?;
        }
        Ok(())
    }

    /// Before anything happens at an instant, closes what was before it.
    #[inline]
    fn pass_to(&mut self, now: Instant) {
        if self.before.is_none() && now > self.start {
            self.before = Some(Before::of(&self.target, self.start));
        }
        if self.collector.piece_ends_at() < now {
            self.collector.passes(now);
        }
        if let Some(array) = &mut self.array
            && array.series.ends_at() < now
        {
            let seen = self.target.array().map(drivelab_record::array::seen).unwrap_or_default();
            array.series.passes(now, |_| seen);
        }
    }

    /// An instant is over, or the run is: takes the remaining outputs, and the traces of members' commands.
    #[inline]
    fn drain_outputs(&mut self) {
        if self.target.output().is_some() {
            let event = |output| if let OutputRef::Event(&what) = output { Some(what) } else { None };
            let left: Vec<TargetEvent> = self.target.outputs().filter_map(event).collect();
            left.iter().for_each(|what| self.handle_event(what));
        }
        if let (Some(_), Some(log)) = (&self.array, &mut self.log) {
            self.traces.write_to_log(log, &self.target);
        }
    }

    /// Takes the target's outputs other than completions.
    fn take_next_output(&mut self, now: Instant) -> Result<(), RunError> {
        match self.target.poll_output() {
            Some(TargetOutput::Data(op)) => {
                if let Some(checker) = &mut self.checker {
                    checker.observe(&self.target, now, op)?;
                }
            }
            Some(TargetOutput::Trace(trace)) => self.traces.receive(trace),
            Some(TargetOutput::Event(what)) => self.handle_event(&what),
            Some(TargetOutput::Completed(_)) | None => {}
        }
        Ok(())
    }

    /// Something has happened to the array, or to a memory.
    #[cold]
    fn handle_event(&mut self, what: &TargetEvent) {
        self.capture.iter_mut().for_each(|capture| capture.record_event(what));
        match what {
            TargetEvent::GivenUp { at, memory, what } => self.given_up.gave_up(*at, *memory, what),
            TargetEvent::Array(report) => {
                self.array.iter_mut().for_each(|array| array.record_report(report));
                if let (ReportKind::Failed { .. }, Some(checker)) = (report.what, &mut self.checker) {
                    checker.check_for_losses(&self.target);
                }
            }
            TargetEvent::DriveFailed { .. }
            | TargetEvent::DriveReplaced { .. }
            | TargetEvent::PowerCut { .. } => {}
        }
    }

    /// Until when the target may run on by itself while it has no output: the next instant that matters to host or
    /// record.
    #[inline]
    fn quiet_until(&self, end: Option<Instant>) -> Instant {
        let mut until = self.collector.piece_ends_at().min(end.unwrap_or(HORIZON));
        if let Some(due) = self.host.poll_timeout() {
            until = until.min(due);
        }
        if let Some(array) = &self.array {
            until = until.min(array.series.ends_at());
        }
        if self.before.is_none() {
            until = until.min(self.start);
        }
        if let Some(sampled) = &self.sampled {
            until = until.min(sampled.next_at());
        }
        until
    }

    /// Processes everything that is due at `now`, in both machines, until neither has an output left; without an
    /// output at `now`, the same at the first instant at which there is one, up to `quiet_until`. Returns that
    /// instant.
    fn step(&mut self, now: Instant, quiet_until: Instant, ios: u64) -> Result<Instant, RunError> {
        let now = self.target.run_to_output(now, quiet_until).map_err(defect)?;
        self.follow()?;
        if self.host.poll_timeout().is_some_and(|due| due <= now) {
            self.host.handle(now, HostInput::Tick).map_err(defect)?;
        }
        // A target that answers at once and a host that issues again at once would never let time pass.
        let mut answers = 0u32;
        loop {
            while let Some(output) = self.host.output() {
                match output {
                    HostOutput::Submit { at, begins, command } => {
                        if *begins {
                            self.collector.began(*at);
                        }
                        if let Some(feeding) = &mut self.feeding {
                            feeding.sent(&self.host, *at, command);
                        }
                        if let Some(capture) = &mut self.capture {
                            capture.submitted(*at, command).map_err(uncaptured)?;
                        }
                        let number = self.target.take(*at, command).map_err(defect)?;
                        if let Some(checker) = &mut self.checker {
                            checker.submitted(number, command);
                            checker.process_outputs(&self.target)?;
                        }
                    }
                    // A fed I/O may begin late, and has been in the system since its time.
                    HostOutput::Began(at) if self.feeding.is_some() => self.collector.began_before(*at),
                    HostOutput::Began(at) => self.collector.began(*at),
                    HostOutput::Finished(io) => {
                        let in_window = self.collector.finished(io);
                        if let Some(feeding) = &mut self.feeding {
                            feeding.finished(io, in_window);
                        }
                        if let Some(array) = &mut self.array {
                            array.series.finished(io);
                        }
                        let counts = io.access != Access::Flush || self.flushes_count;
                        self.counted += u64::from(in_window && counts);
                        if self.counted >= ios {
                            return Ok(now);
                        }
                    }
                }
                self.host.drop_output();
            }
            let Some(output) = self.target.output() else { return Ok(now) };
            let OutputRef::Completed(completion) = output else {
                self.take_next_output(now)?;
                continue;
            };
            answers += 1;
            if answers > 1 << 22 {
                return Err(RunError::Timeless { at_ns: now.as_ns() });
            }
            if let Some(checker) = &mut self.checker {
                checker.answered(&self.target, completion)?;
            }
            if let Some(capture) = &mut self.capture {
                capture.answered(completion).map_err(uncaptured)?;
            }
            if let Some(feeding) = &mut self.feeding {
                feeding.answered(&self.host, completion.tag);
            }
            self.host.take(completion).map_err(defect)?;
            if self.log.is_some() {
                let completion = *completion;
                self.log_command(completion);
            }
            self.target.drop_output();
        }
    }

    /// Passes control to the data check.
    #[inline]
    fn follow(&mut self) -> Result<(), RunError> {
        match &mut self.checker {
            Some(checker) => checker.process_outputs(&self.target),
            None => Ok(()),
        }
    }

    /// Puts the trace of the completed command into the log.
    fn log_command(&mut self, completion: Completion) {
        let Some(log) = &mut self.log else { return };
        self.traces.write_to_log(log, &self.target);
        log.completed(&completion);
    }
}
