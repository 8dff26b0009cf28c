//! A session: one thread that receives requests, advances the model's time and sends replies. Start reading at
//! [`Server::run`].
use crate::action::Kind;
use crate::clock::{Clock, Pace, Wait};
use crate::control::{Control, Told};
use crate::engine::Engine;
use crate::error::EmulateError;
use crate::folder::Folder;
use crate::lateness::{GAP, Lateness};
use crate::live::Live;
use crate::real_time;
use crate::session::{Scheduling, SessionRecord};
use crate::transcript::Transcript;
use crate::transport::{DeviceRequest, RequestId, RequestSink, Transport};
use drivelab_units::{SECTOR_BYTES, Span};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Moment};

/// A sleep that ends later than planned by more than this counts as a gap.
const OVERSLEPT: Duration = Duration::from_micros(150);

/// A device that is being served.
pub struct Server {
    pub(crate) engine: Engine,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) control: Option<Control>,
    pub(crate) pace: Pace,
    pub(crate) budget: Span,
    pub(crate) folder: Option<Folder>,
    pub(crate) transcript: Option<Arc<Transcript>>,
}

/// Passes requests to the engine, each with its arrival time.
struct Counter<'a> {
    engine: &'a mut Engine,
    clock: &'a mut Clock,
    transcript: Option<&'a Transcript>,
}

impl RequestSink for Counter<'_> {
    fn submit(&mut self, request_id: RequestId, request: DeviceRequest) {
        let now = self.clock.now();
        if let Some(transcript) = self.transcript {
            transcript.read_available(now);
        }
        self.engine.submit(now, request_id, request);
    }
}

/// The loop that serves a session.
struct ServeLoop<'a> {
    server: &'a mut Server,
    clock: Clock,
    lateness: Lateness,
    ready: Vec<PollFlags>,
    /// The number of power cuts after which clients were disconnected.
    cuts: usize,
}

impl Server {
    /// The address at which clients connect.
    pub fn uri(&self) -> String {
        self.transport.uri()
    }

    pub fn size_bytes(&self) -> u64 {
        self.engine.capacity().get() * SECTOR_BYTES
    }

    /// Serves until `stop` is set or the session cannot continue; the record gives the reason.
    pub fn run(mut self, stop: &AtomicBool) -> SessionRecord {
        // Without the model there are no due instants: a thread with priority over its clients would only keep them
        // from sending more requests at once.
        let scheduling =
            if self.pace == Pace::Untimed { Scheduling::default() } else { real_time::request_real_time() };
        let mut clock = Clock::new(self.pace);
        if self.transcript.is_some() {
            clock.is_watched();
        }
        let (lateness, ready) = (Lateness::default(), Vec::new());
        let mut serving = ServeLoop { server: &mut self, clock, lateness, ready, cuts: 0 };
        let failure = serving.run(stop).err();
        let ServeLoop { clock, lateness, .. } = serving;
        self.end(clock, &lateness, scheduling, failure)
    }

    /// Ends the session in order: no acknowledged data are lost if the disk has room for them.
    fn end(
        mut self,
        mut clock: Clock,
        lateness: &Lateness,
        scheduling: Scheduling,
        failure: Option<EmulateError>,
    ) -> SessionRecord {
        let (now, real) = (clock.now(), clock.real());
        if let Some(transcript) = &self.transcript {
            transcript.read_available(now);
        }
        self.transport.drop_clients();
        self.transport.shut(true);
        if let Some(folder) = &self.folder {
            folder.release();
        }
        self.engine.record_not_run(now);
        let unsaved_sectors = self.engine.close(now);
        // What has failed while the images were closed counts like a failure before.
        let failure = failure.or(self.engine.check().err());
        let mut failure = failure.map(|error| error.to_string());
        if let Some(folder) = &self.folder {
            // A write that has failed may have left members that differ: the next session resynchronises them. An array that
            // was not started is still dirty.
            let clean = unsaved_sectors == 0 && failure.is_none() && !self.engine.model.is_stopped;
            let closed = folder.close(self.engine.arrangement(), clean);
            failure = failure.or(closed.err().map(|error| error.to_string()));
        }
        let captured_requests = self.engine.capture.as_ref().map(crate::capture::Capture::requests);
        if let Some(capture) = self.engine.capture.take() {
            let closed = capture.close().map_err(EmulateError::Capture);
            failure = failure.or(closed.err().map(|error| error.to_string()));
        }
        SessionRecord {
            clock: self.pace.to_string(),
            seed: self.engine.model.device.seed,
            size_bytes: self.size_bytes(),
            model_ns: now.as_ns(),
            real_ns: real.as_nanos() as u64,
            log: std::mem::take(&mut self.engine.log),
            lateness: lateness.record(self.budget),
            scheduling,
            transport: self.transport.counts(),
            captured_requests,
            unsaved_sectors,
            digest: format!("{:016x}", self.engine.model.target.digest().value()),
            failure,
        }
    }
}

/// Records on disk what has happened to the members of an array. Nothing may be answered before: a process that is killed
/// then would leave the image of a failed member behind as a whole one.
fn keep_members(engine: &mut Engine, folder: Option<&mut Folder>) -> Result<(), EmulateError> {
    match (folder, engine.changed_arrangement()) {
        (Some(folder), Some(members)) => folder.keep(members),
        _ => Ok(()),
    }
}

impl ServeLoop<'_> {
    fn run(&mut self, stop: &AtomicBool) -> Result<(), EmulateError> {
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            self.server.engine.run(now)?;
            keep_members(&mut self.server.engine, self.server.folder.as_mut())?;
            // Also what was answered just before a cut.
            self.send();
            self.server.transport.expire(Moment::now());
            self.drop_clients_after_cut();
            let (due, is_busy) = (self.server.engine.next_due(), self.server.engine.is_busy());
            let wait = self.clock.wait(due, is_busy);
            if self.wait_for_input(wait)? {
                self.clock.input_arrived();
                self.receive();
            }
        }
        Ok(())
    }

    /// Disconnects the clients after a power cut.
    fn drop_clients_after_cut(&mut self) {
        let cuts = self.server.engine.log.power_cuts.len();
        if cuts > self.cuts {
            self.cuts = cuts;
            self.server.transport.drop_clients();
        }
        self.server.transport.shut(self.server.engine.is_off());
    }

    /// Sends the pending replies.
    fn send(&mut self) {
        let replies = self.server.engine.take_replies();
        if replies.is_empty() {
            return;
        }
        let dues: Vec<_> = replies.iter().filter_map(|reply| reply.due).collect();
        replies.into_iter().for_each(|reply| self.server.transport.answer(reply));
        self.server.transport.flush();
        if self.server.transcript.is_some() {
            // The output that a reply causes is waited for.
            self.clock.input_arrived();
        }
        let now = self.clock.now();
        for due in dues {
            self.lateness.answered(due, now, self.clock.as_real(now - due));
        }
    }

    /// Waits for input. Returns whether any has arrived.
    fn wait_for_input(&mut self, wait: Wait) -> Result<bool, EmulateError> {
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        self.server.transport.wait_for(&mut fds);
        if let Some(control) = &self.server.control {
            control.wait_for(&mut fds);
        }
        if let Some(transcript) = &self.server.transcript {
            transcript.wait_for(&mut fds);
        }
        let (timeout, patience) = match wait {
            Wait::Spin => (Duration::ZERO, GAP),
            Wait::Sleep(time) => (time, time + OVERSLEPT),
        };
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: timeout.subsec_nanos().into() };
        let before = Moment::now();
        let found = match poll(&mut fds, Some(&timeout)) {
            Ok(found) => found,
            Err(rustix::io::Errno::INTR) => 0,
            Err(error) => return Err(EmulateError::Wait(error.into())),
        };
        let took = before.elapsed();
        self.ready.clear();
        self.ready.extend(fds.iter().map(PollFd::revents));
        if took > patience {
            let now = self.clock.now();
            let gap = if wait == Wait::Spin { took } else { took - (patience - OVERSLEPT) };
            self.lateness.gap(now, Span::from_ns(gap.as_nanos() as u64));
        }
        Ok(found > 0)
    }

    fn receive(&mut self) {
        let ServeLoop { server, clock, ready, lateness, .. } = self;
        let mut fds: Vec<PollFd<'_>> = Vec::new();
        server.transport.wait_for(&mut fds);
        let of_door = fds.len();
        drop(fds);
        let (of_door, of_control) = ready.split_at(of_door);
        let transcript = server.transcript.as_deref();
        if let Some(transcript) = transcript {
            transcript.read_available(clock.now());
        }
        server.transport.receive(of_door, &mut Counter { engine: &mut server.engine, clock, transcript });
        let Server { engine, folder, control, .. } = &mut **server;
        if let Some(control) = control {
            control.receive(of_control, &mut |action| {
                let now = clock.now();
                let text = engine.act(now, action)?;
                keep_members(engine, folder.as_mut()).map_err(|error| {
                    let why = error.to_string();
                    engine.fail(error);
                    why
                })?;
                let is_status = action.kind == Kind::Status;
                let figures = is_status.then(|| Live::of(engine, clock, lateness));
                Ok(Told { text, figures })
            });
        }
    }
}

#[cfg(test)]
#[path = "serve_tests.rs"]
mod tests;
