//! The engine runs the model for client requests: requests become commands for the target, data go to the store, and
//! replies go back.
//!
//! Every call is given the time, and the engine never waits, so a test can drive it as a server does. Due events run
//! at their own instants, one after the other, each with its data. Start reading at [`Engine::run`].
use crate::action::Action;
use crate::capture::Capture;
use crate::conditions::Conditions;
use crate::damage::Losses;
use crate::error::EmulateError;
use crate::model::Model;
use crate::pending::{PendingRequest, answer, command_of};
use crate::restart::NOT_STARTED;
use crate::scheduled::{DelayedAction, WRITE_TAKES};
use crate::session::SessionLog;
use crate::status::ENDLESS;
use crate::store::{Payload, Store};
use crate::transport::{Answer, DeviceRequest, Failure, Reply, RequestId};
use drivelab_core::storage::{Fault, TargetEvent, TargetOutput, TargetParams};
use drivelab_core::{Access, Command, Completion, Machine, Outcome};
use drivelab_units::{Instant, Lba, SECTOR_BYTES, Sectors, Span};
use std::collections::{BTreeMap, VecDeque};

/// The largest command in sectors, that of the longest ATA command. A longer request becomes several commands in
/// sequence.
const PIECE: u64 = 65_536;

/// The device that is served.
#[derive(Clone, Debug)]
pub struct Device {
    pub target: TargetParams,
    pub seed: u64,
    pub name: String,
}

/// See the module.
pub struct Engine {
    pub(crate) model: Model,
    pub(crate) store: Store,
    pub(crate) orders: BTreeMap<u64, PendingRequest>,
    /// Requests whose next command must be sent, in the order in which the last ones were completed.
    next: VecDeque<PendingRequest>,
    pub(crate) next_id: u64,
    pub(crate) replies: Vec<Reply>,
    /// Scheduled consequences of earlier actions, sorted by instant.
    pub(crate) later: Vec<(Instant, DelayedAction)>,
    /// Conditions of members that last until they are ended.
    pub(crate) conditions: Conditions,
    /// Actions that the scenario has scheduled, sorted by instant.
    pub(crate) planned: VecDeque<(Instant, Action)>,
    /// The latest instant to which the model has advanced.
    pub(crate) advanced: Instant,
    pub(crate) log: SessionLog,
    pub(crate) capture: Option<Capture>,
    /// The session has the clock `untimed`: there is no model, and there are no drives.
    pub(crate) is_untimed: bool,
    /// Whether anything may have happened to the members of an array since this was last looked at.
    pub(crate) have_members_changed: bool,
    pub(crate) losses: Losses,
    /// When a write last ended, and how long it took.
    pub(crate) last_write: Option<Instant>,
    pub(crate) write_takes: Span,
    /// A power cut that waits for the next write.
    pub(crate) armed: Option<Action>,
    /// The error that ends the session.
    failed: Option<EmulateError>,
}

impl Engine {
    pub fn new(device: Device, store: Store, capture: Option<Capture>) -> Self {
        Engine {
            model: Model::new(device, Instant::ZERO),
            store,
            orders: BTreeMap::new(),
            next: VecDeque::new(),
            next_id: 0,
            replies: Vec::new(),
            later: Vec::new(),
            conditions: Conditions::default(),
            planned: VecDeque::new(),
            advanced: Instant::ZERO,
            log: SessionLog::default(),
            capture,
            is_untimed: false,
            have_members_changed: true,
            losses: Losses::default(),
            last_write: None,
            write_takes: WRITE_TAKES,
            armed: None,
            failed: None,
        }
    }

    /// The capacity of the device in sectors.
    pub fn capacity(&self) -> Sectors {
        self.model.target.capacity()
    }

    /// The instant of the next event.
    pub fn next_due(&self) -> Option<Instant> {
        // The end of a hang without an end is never waited for.
        let is_reached = |due: &Instant| *due < Instant::ZERO + ENDLESS;
        let of_target =
            || self.model.target.poll_timeout().map(|due| self.model.session(due)).filter(is_reached);
        let own = self.model.off_until.or_else(|| of_target().filter(|_| !self.model.is_stopped));
        let later = self.later.first().map(|(at, _)| *at);
        let planned = self.planned.front().map(|(at, _)| *at);
        own.into_iter().chain(later).chain(planned).min()
    }

    /// Whether a request is in flight or the power is off.
    pub fn is_busy(&self) -> bool {
        !self.orders.is_empty() || self.model.off_until.is_some()
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.model.off_until.is_some()
    }

    /// The statistics and events recorded so far.
    pub fn log(&self) -> &SessionLog {
        &self.log
    }

    /// The approximate memory in bytes of data that are on no image.
    pub fn store_bytes(&self) -> u64 {
        self.store.bytes()
    }

    /// Removes the capture from the engine.
    pub fn take_capture(&mut self) -> Option<Capture> {
        self.capture.take()
    }

    /// Removes and returns the replies since the last call.
    pub fn take_replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.replies)
    }

    /// Runs everything that is due by `now`.
    ///
    /// # Errors
    /// When the session cannot continue. No write that could not be stored has been acknowledged then.
    pub fn run(&mut self, now: Instant) -> Result<(), EmulateError> {
        self.run_scheduled(now);
        self.advance(now);
        self.check()
    }

    /// Returns the error that ends the session, if there is one.
    pub(crate) fn check(&mut self) -> Result<(), EmulateError> {
        if let Some(failed) = self.failed.take() {
            self.replies.clear();
            return Err(failed);
        }
        if let Some(failed) = self.store.first_failure().get() {
            self.replies.clear();
            return Err(EmulateError::Image(failed));
        }
        Ok(())
    }

    pub(crate) fn fail(&mut self, error: EmulateError) {
        self.failed.get_or_insert(error);
    }

    /// Advances the model to `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        self.advanced = self.advanced.max(now);
        match self.model.off_until {
            Some(until) if now < until => return,
            Some(_) => {
                self.model.off_until = None;
                self.log.record_power_back(now);
            }
            None => {}
        }
        self.step_to(self.model.own(now));
    }

    /// Runs the target's events one after the other, each with its data.
    fn step_to(&mut self, own: Instant) {
        if self.model.is_stopped {
            return;
        }
        while let Some(due) = self.model.target.poll_timeout().filter(|&due| due <= own) {
            if let Err(error) = self.model.target.pass_to(due) {
                return self.fail(EmulateError::Defect(error.to_string()));
            }
            self.process_outputs(due);
        }
        if let Err(error) = self.model.target.pass_to(own) {
            self.fail(EmulateError::Defect(error.to_string()));
        }
    }

    /// Processes the outputs of the target up to this instant of its time. A request that goes on does so then, however
    /// late this thread is.
    pub(crate) fn process_outputs(&mut self, own: Instant) {
        loop {
            while self.model.target.output().is_some() {
                self.process_output(own);
            }
            let Some(order) = self.next.pop_front() else {
                self.have_members_changed |= self.have_bad_blocks_changed();
                return self.judge(self.model.session(own));
            };
            self.send(self.model.session(own), order);
        }
    }

    /// Processes the next output of the target.
    fn process_output(&mut self, own: Instant) {
        match self.model.target.poll_output() {
            Some(TargetOutput::Data(op)) => {
                self.suspect_op(op);
                if let Err(fault) = self.store.apply(&self.model.target, own, op) {
                    self.fail(EmulateError::Defect(fault.to_string()));
                }
            }
            Some(TargetOutput::Completed(completion)) => self.complete(&completion),
            Some(TargetOutput::Event(what)) => {
                let now = self.model.session(own);
                if let TargetEvent::Array(report) = &what {
                    self.have_members_changed = true;
                    self.suspect_report(report);
                    self.model.ended_work(report).iter().for_each(|work| self.log.record_work(now, work));
                }
                if self.model.notes(&what) {
                    self.log.record_event(now, &what);
                }
            }
            Some(TargetOutput::Trace(_)) | None => {}
        }
    }

    fn complete(&mut self, completion: &Completion) {
        let Some(mut order) = self.orders.remove(&completion.id) else { return };
        let command = Command { id: order.number, ..command_of(completion.id, &order) };
        let payload = order.payload.as_ref();
        self.lose_unanswered(&command, completion.outcome);
        let found = match self.store.answered(&self.model.target, &command, completion, payload) {
            Ok(found) => found,
            Err(fault) => return self.fail(EmulateError::Defect(fault.to_string())),
        };
        if let Some(capture) = &mut self.capture
            && let Err(error) = capture.answered(completion.id, completion.completed - completion.submitted)
        {
            return self.fail(EmulateError::Capture(error));
        }
        let due = self.model.session(completion.completed);
        let took = completion.completed - completion.submitted;
        if order.access == Access::Write {
            self.note_written(&order, completion.outcome);
            self.last_write = Some(due);
            self.write_takes = took;
        }
        self.log.served(order.access, order.count, completion.outcome, took);
        if completion.outcome == Outcome::Done && order.rest > 0 {
            order.payload = None;
            return self.next.push_back(order);
        }
        let answer = answer(&order, completion.outcome, found);
        self.replies.push(Reply { request_id: order.request_id, due: Some(due), answer });
    }

    /// Accepts a client request at `now`.
    pub fn submit(&mut self, now: Instant, request_id: RequestId, request: DeviceRequest) {
        self.run_scheduled(now);
        self.advance(now);
        if self.is_off() {
            return;
        }
        if self.model.is_stopped && !matches!(request, DeviceRequest::Status { .. }) {
            let answer = Err(Failure::Io(NOT_STARTED));
            return self.replies.push(Reply { request_id, due: Some(now), answer });
        }
        let range = |offset: u64, length: u64| (offset / SECTOR_BYTES, length / SECTOR_BYTES);
        let mut order = |access, (first, rest), fua, sends, payload| {
            let (number, at, count) = (0, first, 0);
            let order =
                PendingRequest { request_id, access, sends, fua, first, rest, number, at, count, payload };
            self.send(now, order);
        };
        match request {
            DeviceRequest::Read { offset, length } => {
                order(Access::Read, range(offset, length.into()), false, true, None);
            }
            DeviceRequest::Cache { offset, length } => {
                order(Access::Read, range(offset, length.into()), false, false, None);
            }
            DeviceRequest::Zero { offset, length, fua } => {
                order(Access::Write, range(offset, length.into()), fua, false, None);
            }
            DeviceRequest::Flush => order(Access::Flush, (0, 0), false, false, None),
            DeviceRequest::Write { offset, data, fua } => {
                let (first, rest) = range(offset, data.len() as u64);
                let payload = Some(self.store.payload(data));
                let (number, at, count, access, sends) = (0, first, 0, Access::Write, false);
                let order = PendingRequest {
                    request_id,
                    access,
                    sends,
                    fua,
                    first,
                    rest,
                    number,
                    at,
                    count,
                    payload,
                };
                self.send(now, order);
            }
            DeviceRequest::Trim { offset, length, .. } => {
                if let Some(capture) = &mut self.capture {
                    capture.discarded(now, offset, length.into());
                }
                self.log.count_trim(length.into());
                self.replies.push(Reply { request_id, due: None, answer: Ok(Answer::Done) });
            }
            DeviceRequest::Status { offset, length, one } => {
                let mut extents = self.store.extents(&self.model.target, offset, length);
                extents.truncate(if one { 1 } else { EXTENTS_MAX });
                self.replies.push(Reply { request_id, due: None, answer: Ok(Answer::Extents(extents)) });
            }
        }
        self.process_outputs(self.model.own(now));
    }

    /// Sends the next command of a request to the target. Its outputs are not processed here.
    fn send(&mut self, now: Instant, mut order: PendingRequest) {
        order.at = order.first;
        order.count = order.rest.min(PIECE);
        order.first += order.count;
        order.rest -= order.count;
        if order.access == Access::Write && order.payload.is_none() {
            order.payload = Some(self.store.zeros(order.count));
        }
        let command = command_of(self.next_id, &order);
        self.issue(now, order, &command);
    }

    /// Sends a command to the target.
    fn issue(&mut self, now: Instant, mut order: PendingRequest, command: &Command) {
        self.next_id = command.id + 1;
        if let Some(capture) = &mut self.capture {
            let data = order.payload.as_ref().filter(|_| order.access == Access::Write);
            if let Err(error) = capture.submitted(now, command, order.request_id.cookie, data) {
                return self.fail(EmulateError::Capture(error));
            }
        }
        let own = self.model.own(now);
        match self.model.target.take(own, command) {
            Ok(number) => order.number = number,
            Err(error) => return self.fail(EmulateError::Defect(error.to_string())),
        }
        if let Some(payload) = &order.payload {
            self.store.submitted(order.number, order.at, payload);
        }
        self.orders.insert(command.id, order);
        if command.access == Access::Write
            && let Some(action) = self.armed.take()
        {
            self.arm_cut(now, &action);
        }
    }

    /// Replays a command of an earlier session, with the data that it wrote. Its reply carries this cookie.
    pub(crate) fn replay_command(
        &mut self,
        now: Instant,
        command: &Command,
        cookie: u64,
        payload: Option<Payload>,
    ) {
        let (at, count) = (command.first.get(), command.count.get());
        let order = PendingRequest {
            request_id: RequestId { client: 0, cookie },
            access: command.access,
            sends: false,
            fua: command.force_unit_access,
            first: at + count,
            rest: 0,
            number: 0,
            at,
            count,
            payload,
        };
        self.issue(now, order, command);
        self.process_outputs(self.model.own(now));
    }

    /// Replays a fault that the target received in an earlier session.
    pub(crate) fn replay_fault(&mut self, now: Instant, fault: Fault) {
        let own = self.model.own(now);
        // What was refused then is refused again.
        let _ = self.model.handle(own, fault);
        self.process_outputs(own);
    }

    /// Runs a command that no client has sent, with these data if it is a write, in virtual time until it completes.
    /// Returns its outcome and the completion time in the target's time; `None` if it never completes.
    pub(crate) fn execute(
        &mut self,
        own: Instant,
        access: Access,
        first: u64,
        payload: Option<&Payload>,
    ) -> Option<(Outcome, Instant)> {
        let id = self.next_id;
        self.next_id += 1;
        let count = match payload {
            Some(Payload::Sectors(cells)) => cells.len() as u64,
            Some(Payload::Plain(bytes)) => bytes.len() as u64 / SECTOR_BYTES,
            None => 0,
        };
        let command =
            Command { direct: true, ..Command::new(id, access, Lba::new(first), Sectors::new(count)) };
        let number = self.model.target.take(own, &command).ok()?;
        if let Some(payload) = payload {
            self.store.submitted(number, first, payload);
        }
        let mut here = own;
        for _ in 0..GO_STEPS_MAX {
            // Its completion belongs to no client; it is searched for before other outputs are processed.
            while let Some(output) = self.model.target.output() {
                if let Some(completion) =
                    output.to_owned().completed().filter(|completion| completion.id == id)
                {
                    let own_command = Command { id: number, ..command };
                    self.model.target.drop_output();
                    // These data are not acknowledged to a client, so they are not recorded as acknowledged.
                    self.store.answered(&self.model.target, &own_command, &completion, None).ok()?;
                    return Some((completion.outcome, completion.completed));
                }
                self.process_output(here);
            }
            here = self.model.target.poll_timeout()?;
            self.model.target.pass_to(here).ok()?;
        }
        None
    }
}

/// The most target events that one such command may take.
const GO_STEPS_MAX: u32 = 50_000_000;
/// The most ranges in one reply to a request for the allocation.
const EXTENTS_MAX: usize = 4_096;
