//! The controller: the host's end of the protocol. It gives commands their tags, holds those that the drive
//! cannot accept, resends those that an error of another command has cleared, and costs time for each
//! command.
//!
//! Each initiator has its own queue: the commands that wait, and the commands at the drive, by tag. A
//! queue stops while the drive is full (until one of its commands ends, or for a while if it has none) and
//! while the host's error handler runs. Start reading at [`Controller::pump`].
//!
//! After an error (a failed read, a missed deadline) the host's error handler runs for `recovery`, counted
//! from when the host has processed the error, and the queue sends nothing until it has finished:
//! - NCQ: the queue is aborted and the drive accepts nothing until its log (page 10h) is read; the rest is
//!   resent.
//! - ATA TCQ: the queue is aborted; the host empties the drive's queue (NOP) and resends the rest.
//! - NVMe: the error is its command's alone; the host resends that one or reports it, and the rest goes on.
//! - ATA without a queue: the host's handler is the same, and there is only the failed command to resend.
//! - SCSI with NACA: the allegiance lasts that long; then the host clears it, and QERR determines what is
//!   resent.
//! - SCSI without NACA: no handler. The sense data come with the status (autosense), and the host acts at
//!   once: it resends the failed command, or reports it; commands that QERR has cleared are resent as they
//!   come back.
//!
//! Simplified: a timeout aborts only its own command and wakes no handler; a handler resets nothing.
//! Source: Linux, Documentation/driver-api/libata.rst, "ATA errors and exceptions" (all errors of ATA go
//! through the error handler; others in flight are resent and not counted), and
//! Documentation/scsi/scsi_eh.rst 1.2 to 1.4 (with sense data a command is done, or resent, from its
//! completion; the handler wakes only for what that cannot decide); Linux 2.5 drivers/ide/ide-tcq.c,
//! ide_tcq_invalidate_queue.
mod giving_up;
mod initiator_queue;
pub mod params;

use super::context::Context;
use super::drive::Drive;
use super::drive::protocol::Protocol;
use super::drive::protocol::names::Name;
use super::events::{ControllerEvent, Event};
use crate::command::{Breakdown, Command, Completion, Outcome};
use alloc::vec::Vec;
use drivelab_units::Span;
use initiator_queue::{AbandonedBy, HeldCommand, InitiatorQueue, State};
use params::ControllerParams;

/// How long a queue without a command at the drive waits after TASK SET FULL before it retries.
const TRY_AGAIN: Span = Span::from_ms(1);

/// The controller's end of one drive. Its processor serves all drives behind it: see [`Context::busy_until`].
pub struct Controller {
    params: ControllerParams,
    /// Index of the drive.
    drive: u16,
    protocol: Protocol,
    /// Commands of one queue at the drive at once.
    depth: u32,
    queues: Vec<InitiatorQueue>,
    /// Whether the drive has failed for good.
    is_drive_gone: bool,
}

impl Controller {
    /// A controller for one drive, speaking the drive's protocol.
    pub fn new(params: &ControllerParams, drive: &Drive) -> Self {
        let protocol = drive.protocol();
        let depth = params.depth.unwrap_or_else(|| drive.depth()).min(protocol.tags());
        Controller {
            params: *params,
            drive: drive.index(),
            protocol,
            depth,
            queues: Vec::new(),
            is_drive_gone: false,
        }
    }

    #[inline]
    fn queue_of(&mut self, initiator: u16) -> &mut InitiatorQueue {
        let index = usize::from(initiator);
        if self.queues.len() <= index {
            self.add_queues(index + 1);
        }
        &mut self.queues[index]
    }

    #[cold]
    fn add_queues(&mut self, count: usize) {
        self.queues.resize_with(count, || InitiatorQueue::new(self.depth));
        if self.is_drive_gone {
            self.queues.iter_mut().for_each(|queue| queue.state = State::Failed);
        }
    }

    /// Accepts a command from the host.
    pub fn submit(&mut self, context: &mut Context, drive: &mut Drive, command: &Command) {
        // Only SCSI has several initiators: an ATA drive has one host port, and so have most NVMe drives.
        let several = matches!(self.protocol, Protocol::ScsiTcq(_));
        let initiator = if several { command.initiator } else { 0 };
        let alone = initiator_queue::is_alone(command, self.protocol);
        let queue = self.queue_of(initiator);
        if queue.first().is_none()
            && queue.may_send(command, alone)
            && let Some(tag) = queue.send_new(command, context.now, alone)
        {
            return self.issue(context, drive, initiator, tag);
        }
        if queue.state == State::Failed {
            return self.fail_at_once(context, command);
        }
        queue.enqueue(command, context.now);
    }

    /// Sends what can be sent.
    fn pump(&mut self, context: &mut Context, drive: &mut Drive, initiator: u16) {
        while let Some(tag) = self.next(initiator) {
            self.issue(context, drive, initiator, tag);
        }
    }

    /// Gives the next waiting command a tag, if it may be sent now.
    #[inline]
    fn next(&mut self, initiator: u16) -> Option<u32> {
        let queue = &mut self.queues[usize::from(initiator)];
        let first = *queue.first()?;
        let alone = initiator_queue::is_alone(&first.command, self.protocol);
        if !queue.may_send(&first.command, alone) {
            return None;
        }
        let tag = queue.send(&first, alone)?;
        queue.pop_first();
        Some(tag)
    }

    /// A command with a tag is sent to the drive.
    #[inline]
    fn issue(&mut self, context: &mut Context, drive: &mut Drive, initiator: u16, tag: u32) {
        if self.params.issue.is_zero() {
            return self.deliver(context, drive, initiator, tag);
        }
        context.busy_until = context.busy_until.max(context.now) + self.params.issue;
        let event = ControllerEvent::Deliver { initiator, tag };
        context.agenda.schedule(context.busy_until, 3, Event::Controller(self.drive, event));
    }

    /// A command reaches the drive.
    #[inline(always)]
    fn deliver(&mut self, context: &mut Context, drive: &mut Drive, initiator: u16, tag: u32) {
        let queue = &mut self.queues[usize::from(initiator)];
        if queue.sent(tag).given_up == AbandonedBy::Host {
            return self.end_on_its_way(context, initiator, tag);
        }
        // A command that was under way when the host learned of an error is held back.
        if queue.state == State::Recovering || queue.pass_returned(tag) {
            let held = *queue.take(tag);
            return self.hold_back(context, initiator, held);
        }
        let held = queue.sent(tag);
        let name = Name { initiator, tag, attempt: held.tries };
        if let Err(outcome) = drive.submit(context, &held.command, name, held.submitted) {
            return self.refuse(context, drive, initiator, tag, outcome);
        }
        if let Some(timeout) = self.params.timeout {
            let serial = self.queues[usize::from(initiator)].sent(tag).serial;
            let event = ControllerEvent::TimeOut { initiator, tag, serial };
            context.agenda.schedule(context.now + timeout, 4, Event::Controller(self.drive, event));
        }
    }

    /// The drive refused a command.
    fn refuse(
        &mut self,
        context: &mut Context,
        drive: &mut Drive,
        initiator: u16,
        tag: u32,
        outcome: Outcome,
    ) {
        let queue = &mut self.queues[usize::from(initiator)];
        let held = *queue.take(tag);
        match outcome {
            Outcome::Full | Outcome::Busy | Outcome::AcaActive => {
                if queue.state == State::Flowing {
                    queue.state = State::Full;
                }
                self.hold_back(context, initiator, held);
            }
            // The drive has reported its UNIT ATTENTION: the command is resent.
            Outcome::UnitAttention => {
                queue.put_back(held);
                self.pump(context, drive, initiator);
            }
            // It crossed with an error.
            Outcome::Aborted => {
                queue.put_back(held);
                if queue.state != State::Recovering {
                    self.recover(context, initiator);
                }
            }
            _ => {
                let wait = context.now - held.submitted;
                let breakdown = Breakdown { wait, ..Breakdown::default() };
                context.refused.push_back((self.drive, held.ended(context.now, outcome, breakdown)));
            }
        }
    }

    /// A command that the drive refused waits again. If no command of its queue will end, a stopped queue is
    /// woken by a timer.
    fn hold_back(&mut self, context: &mut Context, initiator: u16, held: HeldCommand) {
        let queue = &mut self.queues[usize::from(initiator)];
        queue.put_back(held);
        // Only once: a queue that is refused again before it wakes must not retry twice as often.
        if queue.state == State::Full && queue.outstanding == 0 && !queue.wakes {
            queue.wakes = true;
            let event = ControllerEvent::GoOn { initiator };
            context.agenda.schedule(context.now + TRY_AGAIN, 3, Event::Controller(self.drive, event));
        }
    }

    /// The drive has completed a command. Turns its answer into the completion for the host; returns whether
    /// the host gets it now.
    #[inline]
    pub fn completed(&mut self, context: &mut Context, drive: &mut Drive, answer: &mut Completion) -> bool {
        let (initiator, tag) = (answer.initiator, answer.tag);
        let queue = &mut self.queues[usize::from(initiator)];
        if queue.state == State::Full {
            queue.state = State::Flowing;
        }
        if is_error(answer.outcome) && !matches!(self.protocol, Protocol::ScsiTcq(_) | Protocol::Nvme) {
            // An ATA drive's error keeps the host from sending more before it has processed the error.
            queue.state = State::Recovering;
        }
        if !self.params.completion.is_zero() && self.pass_to_host(initiator, answer) {
            context.busy_until = context.busy_until.max(context.now) + self.params.completion;
            self.queues[usize::from(initiator)].answers.push((tag, *answer));
            let event = ControllerEvent::Taken { initiator, tag };
            context.agenda.schedule(context.busy_until, 3, Event::Controller(self.drive, event));
            return false;
        }
        self.taken(context, drive, initiator, answer)
    }

    /// The host has processed the drive's answer to a command. Returns whether the application gets a
    /// completion.
    #[inline]
    fn taken(
        &mut self,
        context: &mut Context,
        drive: &mut Drive,
        initiator: u16,
        answer: &mut Completion,
    ) -> bool {
        let queue = &mut self.queues[usize::from(initiator)];
        // It may have found the drive full while this answer, to its last command outstanding, was being
        // processed.
        if queue.state == State::Full {
            queue.state = State::Flowing;
        }
        if answer.outcome != Outcome::Done {
            return self.failed(context, drive, initiator, answer);
        }
        queue.take(answer.tag).address(answer, context.now, self.params.issue);
        if self.queues.len() > 1 {
            self.wake_others(context, drive, initiator);
        }
        if self.queues[usize::from(initiator)].first().is_some() {
            self.pump(context, drive, initiator);
        }
        true
    }

    /// There is room at the drive: initiators that it refused and that have nothing there come first, or the
    /// one that has just got an answer would take the room each time.
    fn wake_others(&mut self, context: &mut Context, drive: &mut Drive, initiator: u16) {
        let others = self.queues.len() as u16;
        for other in (initiator + 1..others).chain(0..initiator) {
            let queue = &mut self.queues[usize::from(other)];
            if queue.state == State::Full && queue.outstanding == 0 {
                queue.state = State::Flowing;
                self.pump(context, drive, other);
            }
        }
    }

    /// A command has failed at the drive: it is resent, or the application gets the error.
    #[cold]
    fn failed(
        &mut self,
        context: &mut Context,
        drive: &mut Drive,
        initiator: u16,
        answer: &mut Completion,
    ) -> bool {
        let (now, issue, outcome) = (context.now, self.params.issue, answer.outcome);
        let queue = &mut self.queues[usize::from(initiator)];
        let held = queue.take(answer.tag);
        let goes_again = match outcome {
            Outcome::MediaError if held.tries < self.params.retries && held.given_up != AbandonedBy::Host => {
                held.tries += 1;
                true
            }
            Outcome::Aborted => held.given_up == AbandonedBy::Nobody,
            _ => false,
        };
        if goes_again {
            let held = *held;
            queue.put_back(held);
        } else {
            let by_time = outcome == Outcome::Aborted && held.given_up == AbandonedBy::Timeout;
            held.address(answer, now, issue);
            answer.outcome = if by_time { Outcome::TimedOut } else { outcome };
        }
        if is_error(outcome) {
            self.recover(context, initiator);
        }
        self.wake_others(context, drive, initiator);
        self.pump(context, drive, initiator);
        !goes_again
    }

    /// Whether a completion ends its command for the host.
    fn pass_to_host(&mut self, initiator: u16, completion: &Completion) -> bool {
        let retries = self.params.retries;
        let held = self.queues[usize::from(initiator)].sent(completion.tag);
        match completion.outcome {
            Outcome::Aborted => held.given_up != AbandonedBy::Nobody,
            Outcome::MediaError => held.tries >= retries || held.given_up == AbandonedBy::Host,
            _ => true,
        }
    }

    /// A command has failed: where that wakes the host's error handler, the queue stops until it has finished.
    fn recover(&mut self, context: &mut Context, initiator: u16) {
        if !self.protocol.wakes_error_handler(initiator) {
            return;
        }
        let state = match self.protocol {
            Protocol::ScsiTcq(_) => State::Allegiance,
            Protocol::None | Protocol::AtaTcq | Protocol::Ncq(_) | Protocol::Nvme => State::Recovering,
        };
        let recovered = context.now + self.params.recovery;
        let queue = &mut self.queues[usize::from(initiator)];
        (queue.state, queue.recovered) = (state, recovered);
        let event = ControllerEvent::Recovered { initiator };
        context.agenda.schedule(recovered, 3, Event::Controller(self.drive, event));
    }

    pub(crate) fn on_event(
        &mut self,
        context: &mut Context,
        drive: &mut Drive,
        event: ControllerEvent,
    ) -> Option<Completion> {
        match event {
            ControllerEvent::Deliver { initiator, tag } => {
                self.deliver(context, drive, initiator, tag);
                self.pump(context, drive, initiator);
            }
            ControllerEvent::Taken { initiator, tag } => {
                let answers = &mut self.queue_of(initiator).answers;
                let at = answers.iter().position(|&(answered, _)| answered == tag)?;
                let (_, mut answer) = answers.swap_remove(at);
                return self.taken(context, drive, initiator, &mut answer).then_some(answer);
            }
            ControllerEvent::GoOn { initiator } => {
                let queue = self.queue_of(initiator);
                queue.wakes = false;
                if queue.state == State::Full {
                    queue.state = State::Flowing;
                }
                self.pump(context, drive, initiator);
            }
            // Another error may have occurred while the handler was working on the one before.
            ControllerEvent::Recovered { initiator } if context.now < self.queue_of(initiator).recovered => {}
            ControllerEvent::Recovered { initiator } => {
                drive.read_log();
                self.queue_of(initiator).state = State::Flowing;
                drive.clear_allegiance(context, initiator);
                self.pump(context, drive, initiator);
            }
            ControllerEvent::TimeOut { initiator, tag, serial } => {
                let queue = self.queue_of(initiator);
                if queue.is_sent(tag, serial) {
                    queue.sent(tag).given_up = AbandonedBy::Timeout;
                    drive.abort(context, initiator, tag);
                }
            }
        }
        None
    }
}

/// Whether this outcome means that the command itself failed, and not another one.
fn is_error(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::MediaError | Outcome::TimedOut)
}
