//! The simulator's host as a client of an emulated device, in real time: the difference between its results and those
//! of the simulation is the error of the emulation.
//!
//! The host is the one of the simulation. Here its commands go through the socket, and completions arrive in real
//! time.
use crate::error::EmulateError;
use crate::lateness::Figures;
use drivelab_core::host::{Host, HostInput, HostOutput, Io};
use drivelab_core::{Access, Breakdown, Command, Completion, Machine, Outcome, Setup};
use drivelab_nbd::{Address, Connection, Endpoint, Kind, NbdError, ReplyEvent, Request};
use drivelab_record::Latencies;
use drivelab_units::{Instant, SECTOR_BYTES, Span, key};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Moment};

/// The longest time between two checks of the stop flag.
const POLL_MAX: Duration = Duration::from_millis(20);
/// The byte that fills the data of writes.
const PAYLOAD: u8 = 0xd1;

/// What the host has measured in its measuring window.
#[derive(Clone, Debug, Serialize)]
pub struct LoopPoint {
    pub ios: u64,
    pub window_ns: u64,
    pub iops: f64,
    pub errors: u64,
    pub latency_ns: Figures,
}

struct LoopRun {
    host: Host,
    connection: Connection,
    began: Moment,
    /// Commands in flight, by id.
    commands: BTreeMap<u64, (Command, Instant)>,
    /// Replies that were received and not yet handed to the host.
    answers: Vec<(u64, u32)>,
    start: Instant,
    end: Instant,
    ios: u64,
    errors: u64,
    latencies: Latencies,
}

fn failed(error: NbdError) -> EmulateError {
    EmulateError::Wait(io::Error::other(error))
}

/// Checks whether the workload of a setup can run in the loop.
///
/// # Errors
/// What is not possible, and a remedy.
pub fn check(setup: &Setup) -> Result<(), EmulateError> {
    let wrong = |what: &str, why: &str| Err(EmulateError::Option { what: what.into(), why: why.into() });
    if setup.power_cut.is_some() {
        let why = "the loop's host loses its connection with the power, and there is no rate to compare: leave it out, or cut \
                   a device that drivelab emulate serves";
        return wrong("target.faults.power_cut", why);
    }
    if setup.fed.is_some() {
        return wrong("the workload", "it is a list of commands, which the loop does not play; give it jobs");
    }
    if setup.limit.duration.is_none() {
        let why = concat!("a run in real time ends after a time: give ", key!("run.duration"));
        return wrong("the workload", why);
    }
    Ok(())
}

/// Runs the workload of a setup against the device at a socket, for its warm-up and its duration.
///
/// # Errors
/// When the workload has no duration or cannot run, or the device cannot be reached.
pub fn run(setup: &Setup, socket: &Path, stop: &AtomicBool) -> Result<LoopPoint, EmulateError> {
    check(setup)?;
    let window = setup.limit.duration.unwrap_or(Span::ZERO);
    let host = Host::new(&setup.jobs, setup.seed)
        .map_err(|error| EmulateError::Option { what: "the workload".into(), why: error.to_string() })?;
    let address = Address { place: Endpoint::Unix(socket.into()), export: String::new() };
    let largest = setup.jobs.iter().map(|job| job.largest().bytes().get()).max().unwrap_or(0);
    let room = host.depth_asked().unwrap_or(0) as usize;
    let connection = Connection::open(&address, room, vec![PAYLOAD; largest as usize]).map_err(failed)?;
    let start = Instant::ZERO + setup.warmup;
    let mut looped = LoopRun {
        host,
        connection,
        began: Moment::now(),
        commands: BTreeMap::new(),
        answers: Vec::new(),
        start,
        end: start + window,
        ios: 0,
        errors: 0,
        latencies: Latencies::default(),
    };
    // A host thread that the machine delays would measure the machine.
    let _ = crate::real_time::request_real_time();
    while looped.now() < looped.end && !stop.load(Ordering::Relaxed) {
        looped.turn()?;
    }
    let window_ns = window.as_ns();
    Ok(LoopPoint {
        ios: looped.ios,
        window_ns,
        iops: looped.ios as f64 * 1e9 / window_ns as f64,
        errors: looped.errors,
        latency_ns: (&looped.latencies).into(),
    })
}

impl LoopRun {
    fn now(&self) -> Instant {
        Instant::from_ns(self.began.elapsed().as_nanos() as u64)
    }

    /// Sends what is due and receives what has arrived.
    fn turn(&mut self) -> Result<(), EmulateError> {
        let now = self.now();
        if self.host.poll_timeout().is_some_and(|due| due <= now) {
            self.host
                .handle(now, HostInput::Tick)
                .map_err(|error| EmulateError::Defect(error.to_string()))?;
        }
        self.submit_outputs(now);
        self.connection.send().map_err(failed)?;
        let due = self.host.poll_timeout().unwrap_or(self.end).min(self.end);
        let now = self.now();
        let timeout =
            if due > now { Duration::from_nanos((due - now).as_ns()).min(POLL_MAX) } else { Duration::ZERO };
        self.connection.wait(timeout).map_err(failed)?;
        self.receive_replies()
    }

    /// Processes the outputs of the host.
    fn submit_outputs(&mut self, now: Instant) {
        while let Some(output) = self.host.poll_output() {
            match output {
                HostOutput::Submit { command, .. } => {
                    let kind = match command.access {
                        Access::Read => Kind::Read,
                        Access::Write => Kind::Write { fua: command.force_unit_access, payload: 0 },
                        Access::Flush => Kind::Flush,
                    };
                    let (offset, length) =
                        (command.first.get() * SECTOR_BYTES, command.count.get() * SECTOR_BYTES);
                    let length = length as u32;
                    self.connection.put(&Request { tag: command.id, kind, offset, length });
                    self.commands.insert(command.id, (command, now));
                }
                HostOutput::Finished(io) => self.finished(&io),
                HostOutput::Began(_) => {}
            }
        }
    }

    fn finished(&mut self, io: &Io) {
        let is_in_window = io.finished > self.start && io.finished <= self.end;
        if io.access == Access::Flush || !is_in_window {
            return;
        }
        self.ios += 1;
        self.errors += u64::from(io.outcome != Outcome::Done);
        self.latencies.record((io.finished - io.intended).as_ns());
    }

    fn receive_replies(&mut self) -> Result<(), EmulateError> {
        let answers = &mut self.answers;
        let received = self.connection.receive(|event| {
            if let ReplyEvent::Answer { tag, errno } = event {
                answers.push((tag, errno));
            }
        });
        received.map_err(failed)?;
        for place in 0..self.answers.len() {
            let (id, errno) = self.answers[place];
            let now = self.now();
            let Some((command, submitted)) = self.commands.remove(&id) else { continue };
            let outcome = if errno == 0 { Outcome::Done } else { Outcome::MediaError };
            let breakdown = Breakdown { wait: now - submitted, ..Breakdown::default() };
            let Command { id, initiator, tag, .. } = command;
            let completion = Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown };
            let taken = self.host.handle(now, HostInput::Completed(completion));
            taken.map_err(|error| EmulateError::Defect(error.to_string()))?;
            self.submit_outputs(now);
        }
        self.answers.clear();
        Ok(())
    }
}
