//! The engine: passes the host's commands to a port, and the port's completions to the host, each with the
//! instant of the machine's monotonic clock.
//! A command has three instants: when it was due, when the kernel had accepted it (the submitting call has
//! returned), and when its completion was received. Between any two of them nothing is allocated.
//! when its end was noticed. Between two of them nothing is allocated.
use crate::error::MeasureError;
use crate::failures::FailureClass;
use crate::ledger::Ledger;
use crate::port::Port;
use crate::run::{Control, OnError};
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::{Access, Breakdown, Command, Completion, Machine, Outcome, Setup};
use drivelab_record::point::Ended;
use drivelab_ring::{Done, Kind, Request};
use drivelab_units::{Instant, SECTOR_BYTES, Span};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant as Moment};

/// Maximum time between two checks of the stop flag.
const POLL_MAX: Duration = Duration::from_millis(20);
/// The time between two reports of progress.
const REPORT_EVERY: Span = Span::from_ms(50);
/// Pushed requests are submitted once there are this many, not when all are pushed: the device would be idle
/// meanwhile.
const AT_ONCE: usize = 4;

/// An outstanding command.
#[derive(Clone, Copy)]
pub struct InFlight {
    pub command: Command,
    /// When it was due.
    pub at: Instant,
    pub submitted: Instant,
    /// Bytes not transferred yet.
    left: u32,
}

/// Which slot has which command.
pub struct Slots {
    pub flying: Vec<Option<InFlight>>,
    free: Vec<u32>,
    /// Slots that were pushed and not submitted yet.
    pushed: Vec<u32>,
    /// Whether the rest of a partial transfer was pushed.
    has_rest: bool,
    /// Commands for which no slot was free.
    waiting: VecDeque<(Command, Instant)>,
}

impl Slots {
    fn new(count: u32) -> Self {
        let room = count as usize;
        Slots {
            flying: vec![None; room],
            free: (0..count).rev().collect(),
            pushed: Vec::with_capacity(room),
            has_rest: false,
            waiting: VecDeque::with_capacity(room),
        }
    }
}

/// When a run ends.
#[derive(Clone, Copy)]
struct Limits {
    duration: Option<Span>,
    ios: u64,
    on_error: OnError,
}

pub struct Engine<'a, P: Port> {
    pub host: Host,
    pub ledger: Ledger,
    pub port: &'a mut P,
    pub slots: Slots,
    pub done: Vec<Done>,
    began: Moment,
    limits: Limits,
    ends: Option<Ended>,
}

fn request(slot: u32, command: &Command) -> Request {
    let kind = match command.access {
        Access::Read => Kind::Read,
        Access::Write => Kind::Write { durable: command.force_unit_access },
        Access::Flush => Kind::Flush,
    };
    let offset = command.first.get() * SECTOR_BYTES;
    Request { slot, kind, offset, bytes: (command.count.get() * SECTOR_BYTES) as u32 }
}

fn defect(error: impl std::fmt::Display) -> MeasureError {
    MeasureError::Defect(error.to_string())
}

impl<'a, P: Port> Engine<'a, P> {
    pub fn new(host: Host, ledger: Ledger, port: &'a mut P, setup: &Setup, on_error: OnError) -> Self {
        let slots = port.slots();
        let ios = setup.limit.ios.unwrap_or(u64::MAX);
        Engine {
            host,
            ledger,
            port,
            slots: Slots::new(slots),
            done: Vec::with_capacity(slots as usize),
            began: Moment::now(),
            limits: Limits { duration: setup.limit.duration, ios, on_error },
            ends: None,
        }
    }

    #[inline]
    fn now(&self) -> Instant {
        Instant::from_ns(self.began.elapsed().as_nanos() as u64)
    }

    /// Runs to the limit. Returns when the window closed, and what closed it.
    pub fn run(&mut self, control: &Control<'_>) -> Result<(Instant, Ended), MeasureError> {
        self.began = Moment::now();
        let (mut now, mut report_at) = (Instant::ZERO, Instant::ZERO);
        loop {
            if let Some(found) = self.ended(now) {
                return Ok(found);
            }
            if control.stop.load(Ordering::Relaxed) {
                return Ok((now, Ended::Interrupted));
            }
            if now >= report_at {
                (control.progress)(self.share_done(now));
                report_at = now + REPORT_EVERY;
            }
            if self.host.poll_timeout().is_some_and(|due| due <= now) {
                self.host.handle(now, HostInput::Tick).map_err(defect)?;
            }
            self.process_host_outputs()?;
            self.submit()?;
            self.done.clear();
            self.port.reap(&mut self.done);
            if self.done.is_empty() {
                self.port.wait(self.time_left())?;
                self.port.reap(&mut self.done);
            }
            now = self.now();
            if self.end().is_none_or(|end| now <= end) {
                // Closes what lies before `now`, before anything that happens now is recorded.
                self.ledger.passes(now);
                self.answer(now)?;
                // I/Os that finished at the end of the window belong to it.
                self.process_host_outputs()?;
            }
        }
    }

    /// When the window closes, if it has a duration and has begun.
    #[inline]
    fn end(&self) -> Option<Instant> {
        self.limits
            .duration
            .filter(|_| !self.ledger.waits_for_steady())
            .map(|duration| self.ledger.start + duration)
    }

    fn ended(&self, now: Instant) -> Option<(Instant, Ended)> {
        if let Some(why) = self.ends {
            return Some((now, why));
        }
        if self.host.is_over() {
            return Some((now, Ended::Ios));
        }
        if self.ledger.counted >= self.limits.ios && !self.ledger.waits_for_steady() {
            return Some((now, Ended::Ios));
        }
        self.end().filter(|end| now >= *end).map(|end| (end, Ended::Duration))
    }

    fn share_done(&self, now: Instant) -> f64 {
        let by_count = self.ledger.counted as f64 / self.limits.ios as f64;
        let by_time = self.end().map_or(0.0, |end| now.as_ns() as f64 / end.as_ns().max(1) as f64);
        by_count.max(by_time).min(1.0)
    }

    /// How long the port may wait.
    fn time_left(&self) -> Duration {
        let due = match (self.host.poll_timeout(), self.end()) {
            (Some(due), Some(end)) => due.min(end),
            (Some(due), None) | (None, Some(due)) => due,
            (None, None) => return POLL_MAX,
        };
        let now = self.now();
        if due > now { Duration::from_nanos((due - now).as_ns()).min(POLL_MAX) } else { Duration::ZERO }
    }

    /// Passes the host's outputs to the port and the ledger.
    #[inline]
    fn process_host_outputs(&mut self) -> Result<(), MeasureError> {
        while let Some(output) = self.host.output() {
            match output {
                HostOutput::Submit { at, begins, command } => {
                    if *begins {
                        self.ledger.began(*at);
                    }
                    let (command, at) = (*command, *at);
                    match self.slots.free.pop() {
                        Some(slot) => self.push(slot, command, at)?,
                        None => self.slots.waiting.push_back((command, at)),
                    }
                }
                HostOutput::Began(at) => self.ledger.began(*at),
                HostOutput::Finished(io) => self.ledger.finished(io),
            }
            self.host.drop_output();
        }
        Ok(())
    }

    #[inline]
    fn push(&mut self, slot: u32, command: Command, at: Instant) -> Result<(), MeasureError> {
        self.ledger.sent(&command);
        let request = request(slot, &command);
        self.port.push(&request)?;
        self.slots.flying[slot as usize] = Some(InFlight { command, at, submitted: at, left: request.bytes });
        self.slots.pushed.push(slot);
        if self.slots.pushed.len() >= AT_ONCE {
            return self.submit();
        }
        Ok(())
    }

    #[inline]
    pub fn submit(&mut self) -> Result<(), MeasureError> {
        if self.slots.pushed.is_empty() && !self.slots.has_rest {
            return Ok(());
        }
        self.slots.has_rest = false;
        self.port.submit()?;
        let submitted = self.now();
        for slot in self.slots.pushed.drain(..) {
            if let Some(flying) = &mut self.slots.flying[slot as usize] {
                flying.submitted = submitted;
            }
        }
        Ok(())
    }

    /// Passes completions to the host.
    #[inline]
    fn answer(&mut self, now: Instant) -> Result<(), MeasureError> {
        for place in 0..self.done.len() {
            let Done { slot, result } = self.done[place];
            let Some(mut flying) = self.slots.flying.get_mut(slot as usize).and_then(Option::take) else {
                return Err(MeasureError::Defect(format!("slot {slot} has answered without a request")));
            };
            if result > 0
                && (result as u32) < flying.left
                && self.continue_short(slot, &mut flying, result)?
            {
                continue;
            }
            let Command { id, initiator, tag, .. } = flying.command;
            let outcome = self.outcome(&flying, result);
            let submitted = flying.submitted;
            let breakdown = Breakdown { wait: now - submitted, ..Breakdown::default() };
            let completion = Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown };
            self.ledger.answered(&flying, &completion);
            self.host.take(&completion).map_err(defect)?;
            match self.slots.waiting.pop_front() {
                Some((command, at)) => self.push(slot, command, at)?,
                None => self.slots.free.push(slot),
            }
            // No more I/Os than the run counts.
            self.count()?;
            if self.ledger.counted >= self.limits.ios && !self.ledger.waits_for_steady() {
                // The remaining completions came after the end of the run.
                self.done.drain(..=place);
                return Ok(());
            }
        }
        self.done.clear();
        Ok(())
    }

    /// Continues a partial transfer with the rest, as long as whole sectors were transferred.
    #[cold]
    fn continue_short(&mut self, slot: u32, flying: &mut InFlight, moved: i32) -> Result<bool, MeasureError> {
        if !(moved as u64).is_multiple_of(SECTOR_BYTES) {
            return Ok(false);
        }
        flying.left -= moved as u32;
        let whole = request(slot, &flying.command);
        let offset = whole.offset + u64::from(whole.bytes - flying.left);
        self.port.push(&Request { offset, bytes: flying.left, ..whole })?;
        self.slots.flying[slot as usize] = Some(*flying);
        self.slots.has_rest = true;
        Ok(true)
    }

    /// Collects finished I/Os after each completion, so that a run by count ends with exactly the last one.
    #[inline]
    fn count(&mut self) -> Result<(), MeasureError> {
        if self.limits.ios == u64::MAX { Ok(()) } else { self.process_host_outputs() }
    }

    #[inline]
    fn outcome(&mut self, flying: &InFlight, result: i32) -> Outcome {
        if result >= 0 && result as u32 == flying.left {
            self.ledger.failures.record_success();
            return Outcome::Done;
        }
        let (meaning, outcome) = self.ledger.failures.add(&flying.command, result);
        let end = match meaning {
            FailureClass::DeviceGone => Some(Ended::DeviceGone),
            FailureClass::DiskFull => Some(Ended::DiskFull),
            FailureClass::Bad => (self.limits.on_error == OnError::Stop).then_some(Ended::Error),
        };
        self.ends = self.ends.or(end);
        outcome
    }
}
