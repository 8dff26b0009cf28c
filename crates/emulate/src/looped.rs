//! Our own host as a client of our own device, in real time: what comes out beside what the simulator says is the error of
//! the emulation.
//!
//! The host is the one that simulations run. Here its commands go through the socket, and its completions come when they
//! come.
use crate::error::EmulateError;
use crate::lateness::Figures;
use crate::nbd::client::{Client, Kind, go};
use drivelab_core::host::{Host, HostInput, HostOutput, Io};
use drivelab_core::{Access, Breakdown, Command, Completion, Machine, Outcome, Setup};
use drivelab_record::Latencies;
use drivelab_units::{Instant, SECTOR_BYTES};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Moment};

/// At the most so long between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What the host has seen in its window.
#[derive(Clone, Debug, Serialize)]
pub struct LoopPoint {
    pub ios: u64,
    pub window_ns: u64,
    pub iops: f64,
    pub errors: u64,
    pub latency_ns: Figures,
}

struct Looped {
    host: Host,
    client: Client,
    stream: UnixStream,
    began: Moment,
    /// Commands under way, by their ids.
    commands: BTreeMap<u64, (Command, Instant)>,
    out: Vec<u8>,
    start: Instant,
    end: Instant,
    ios: u64,
    errors: u64,
    latencies: Latencies,
}

fn failed(error: io::Error) -> EmulateError {
    EmulateError::Wait(error)
}

/// Runs the workload of a setup against the device at a socket, for its warm-up and its duration.
///
/// # Errors
/// When the workload has no duration or cannot run, or the device cannot be reached.
pub fn run(setup: &Setup, socket: &Path, stop: &AtomicBool) -> Result<LoopPoint, EmulateError> {
    let Some(window) = setup.limit.duration else {
        let why = "a run in real time ends after a time: give --runtime (run.duration)";
        return Err(EmulateError::Option { what: "the workload".into(), why: why.into() });
    };
    let option = |why: String| EmulateError::Option { what: "the workload".into(), why };
    let host = match &setup.fed {
        Some(_) => {
            return Err(option(
                "it is a list of commands, which the loop does not play; give it jobs".into(),
            ));
        }
        None => Host::new(&setup.jobs, setup.seed).map_err(|error| option(error.to_string()))?,
    };
    let mut stream = UnixStream::connect(socket).map_err(failed)?;
    go(&mut stream).map_err(failed)?;
    stream.set_nonblocking(true).map_err(failed)?;
    let start = Instant::ZERO + setup.warmup;
    let mut looped = Looped {
        host,
        client: Client::default(),
        stream,
        began: Moment::now(),
        commands: BTreeMap::new(),
        out: Vec::new(),
        start,
        end: start + window,
        ios: 0,
        errors: 0,
        latencies: Latencies::default(),
    };
    // A host that the machine keeps waiting would measure the machine.
    let _ = crate::punctual::ask();
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

impl Looped {
    fn now(&self) -> Instant {
        Instant::from_ns(self.began.elapsed().as_nanos() as u64)
    }

    /// What is due is sent, what has come is taken.
    fn turn(&mut self) -> Result<(), EmulateError> {
        let now = self.now();
        if self.host.poll_timeout().is_some_and(|due| due <= now) {
            self.host
                .handle(now, HostInput::Tick)
                .map_err(|error| EmulateError::Defect(error.to_string()))?;
        }
        self.say(now);
        self.send().map_err(failed)?;
        let due = self.host.poll_timeout().unwrap_or(self.end).min(self.end);
        let now = self.now();
        let timeout =
            if due > now { Duration::from_nanos((due - now).as_ns()).min(LOOK) } else { Duration::ZERO };
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, !self.out.is_empty());
        let mut fds = [PollFd::from_borrowed_fd(self.stream.as_fd(), flags)];
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
            Ok(_) => self.hear(),
            Err(error) => Err(EmulateError::Wait(error.into())),
        }
    }

    /// What the host says.
    fn say(&mut self, now: Instant) {
        while let Some(output) = self.host.poll_output() {
            match output {
                HostOutput::Submit { command, .. } => {
                    let kind = match command.access {
                        Access::Read => Kind::Read,
                        Access::Write => Kind::Write { fua: command.force_unit_access },
                        Access::Flush => Kind::Flush,
                    };
                    let (offset, length) =
                        (command.first.get() * SECTOR_BYTES, command.count.get() * SECTOR_BYTES);
                    self.client.put(&mut self.out, kind, command.id, offset, length as u32);
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

    fn send(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => _ = self.out.drain(..count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn hear(&mut self) -> Result<(), EmulateError> {
        let mut bytes = vec![0; 256 << 10];
        let count = match self.stream.read(&mut bytes) {
            Ok(0) => return Err(failed(ErrorKind::UnexpectedEof.into())),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(failed(error)),
        };
        let mut answers = Vec::new();
        self.client.take(&bytes[..count], |answer| answers.push(answer)).map_err(failed)?;
        for answer in answers {
            let now = self.now();
            let Some((command, submitted)) = self.commands.remove(&answer.cookie) else { continue };
            let outcome = if answer.errno == 0 { Outcome::Done } else { Outcome::MediaError };
            let breakdown = Breakdown { wait: now - submitted, ..Breakdown::default() };
            let Command { id, initiator, tag, .. } = command;
            let completion = Completion { id, initiator, tag, outcome, submitted, completed: now, breakdown };
            let taken = self.host.handle(now, HostInput::Completed(completion));
            taken.map_err(|error| EmulateError::Defect(error.to_string()))?;
            self.say(now);
        }
        Ok(())
    }
}
