//! A command's path into the drive and out of it: arrival, pickup by the firmware, waiting; its completion,
//! and what happens to other commands when it fails or its host aborts it.
use super::cache::segment::Cover;
use super::firmware::{BufferAnswer, PickedUp};
use super::mechanism::Landing;
use super::protocol::names::Name;
use super::protocol::{Clears, Exceeded, Protocol};
use super::queue::SlotIndex;
use super::tasks::flight::{InFlight, TaskState};
use super::tasks::{Refusal, WaitsIn};
use super::{Drive, DriveEvent};
use crate::command::{Access, Command, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::NONE;
use alloc::vec::Vec;
use drivelab_units::Instant;

/// Arrival.
impl Drive {
    /// Accepts a command under this name.
    ///
    /// # Errors
    /// The refusal, when the protocol rejects the command or the drive's queue is full.
    pub fn submit(
        &mut self,
        context: &mut Context,
        command: &Command,
        name: Name,
        submitted: Instant,
    ) -> Result<(), Outcome> {
        if let Some(refusal) = self.tasks.refusal(command, name) {
            return Err(self.refuse(context, name, refusal));
        }
        let begun = self.tasks.begin(command, name, submitted, context.now);
        let (slot, enabled) = begun.ok_or(Outcome::Full)?;
        context.in_drives.add_one(context.now);
        if let Some(zones) = &mut self.zones {
            zones.arrive(command, slot);
        }
        if self.mechanics.draws() {
            self.tasks[slot].drawn_as = context.commands.id_of(command.id);
        }
        if enabled {
            self.enable(context, slot);
        }
        Ok(())
    }

    /// A command is refused, which may be an error that affects other commands.
    #[cold]
    fn refuse(&mut self, context: &mut Context, name: Name, refusal: Refusal) -> Outcome {
        let Name { initiator, tag, .. } = name;
        match refusal {
            Refusal::Only(outcome) => outcome,
            Refusal::Overlapped(outcome) => {
                self.overlapped(context, initiator, tag);
                outcome
            }
            Refusal::Queue(outcome) => {
                self.fail_queue(context, tag, None);
                outcome
            }
        }
    }

    /// The task set no longer holds this command back; older commands that it overlaps may.
    // Inlined into its callers, as the pickup is: every command takes this path.
    #[inline(always)]
    fn enable(&mut self, context: &mut Context, slot: SlotIndex) {
        if !self.tasks.pass_overlaps(slot) {
            return;
        }
        let flight = &self.tasks[slot];
        for due in self.tasks.limits.may_end_at(self.model.protocol, flight).into_iter().flatten() {
            self.schedule(context, due.max(context.now), DriveEvent::Deadline(slot, flight.serial));
        }
        self.pick_up(context, slot);
    }

    /// The command may begin: the firmware picks it up, one command at a time.
    #[inline(always)]
    fn pick_up(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.flash.is_some() || self.is_refused(slot) {
            return self.pick_up_without_arm(context, slot);
        }
        let now = context.now;
        let command = &self.tasks[slot].command;
        let (access, first, end) = (command.access, command.first, command.end());
        let bad = self.mechanics.is_unreadable(command);
        let may_go = self.tasks.may_go_at_once(command) && !bad;
        let buffered = access == Access::Read && !command.force_unit_access && may_go;
        let motion = self.mechanics.motion();
        let (cover, segment) =
            if buffered { self.buffer.cover(first, end, now, motion) } else { (Cover::Miss, NONE) };
        let takes = self.buffer.takes(command);
        if self.injected.delays() {
            self.note_delay(context, slot);
        }
        let continues = access == Access::Read && self.continues_stream(slot, first, end);
        let command = &self.tasks[slot].command;
        let answer = BufferAnswer { cover, takes, continues };
        let taken_up = self.firmware.pick_up(&self.model, command, answer, now);
        let PickedUp { ready, data, call, last_steps } = taken_up;
        let flight = &mut self.tasks[slot];
        (flight.arrived, flight.ready, flight.begun, flight.link.data_from) = (now, ready, ready, data);
        (flight.state, flight.link.call, flight.media.sought) = (TaskState::Serving, call, first);
        flight.link.last_steps = last_steps;
        flight.breakdown.queue = now - flight.accepted;
        if takes {
            return self.write_back(context, slot);
        }
        match cover {
            Cover::Hit if self.buffer.holds_hits() && self.mechanics.destages() => {
                self.tasks[slot].state = TaskState::Waiting;
                self.buffer.waiting.add_hit(slot);
            }
            Cover::Hit => self.serve_from_buffer(context, slot, segment),
            Cover::Coming(at) if self.mechanics.may_meet() && self.may_go_out_of_turn(now, access) => {
                self.serve_at_head(context, slot, segment, at);
            }
            Cover::Partial(sought) => {
                let id = self.tasks[slot].command.id;
                self.buffer.deliver_held(context, id, first, sought, segment);
                self.tasks[slot].media.sought = sought;
                self.enqueue(context, slot);
            }
            _ if self.wait_for_media(slot) => self.choose(context),
            _ if access == Access::Flush => self.flushed(context, slot),
            _ => self.enqueue(context, slot),
        }
    }

    /// The command needs the mechanism: it joins what the mechanism is serving, or is queued.
    pub(super) fn enqueue(&mut self, context: &mut Context, slot: SlotIndex) {
        let landing = self.land(slot);
        let flight = &self.tasks[slot];
        let (first, access, now) = (flight.media.sought, flight.command.access, context.now);
        if self.mechanics.fits_sweep(now, first, access) && self.may_go_out_of_turn(now, access) {
            self.mechanics.join(slot);
        } else if !self.start_at_once(context, slot) {
            self.file(slot, landing);
            self.choose(context);
        }
    }

    /// Queues a command with this landing for the mechanism.
    // Takes the landing just computed by its caller: to read back what was written in parts a moment ago is
    // slow.
    #[inline(always)]
    pub(super) fn file(&mut self, slot: SlotIndex, landing: Landing) {
        match self.tasks.place_waiting(slot) {
            WaitsIn::Suspended => {}
            WaitsIn::Ahead => {
                self.unjoin();
                self.tasks.ahead.add_urgent(slot);
            }
            WaitsIn::InQueue => {
                let flight = &self.tasks[slot];
                let guideline = self.tasks.limits.guideline(&flight.command);
                self.mechanics.file(slot, flight, landing, self.port.lead(&flight.command), guideline);
                let (mechanics, port) = (&self.mechanics, &self.port);
                self.tasks
                    .add_ahead(slot, |flight| mechanics.longest(flight) + port.longest(&flight.command));
            }
        }
    }

    /// Removes a command from wherever it waits for the mechanism.
    pub(super) fn take_out(&mut self, slot: SlotIndex) {
        if !self.buffer.leave(slot) {
            self.leave_queue(slot);
        }
    }

    /// Removes a waiting command from the queue, or from the commands kept beside it.
    fn leave_queue(&mut self, slot: SlotIndex) {
        if self.tasks.leave_queue(slot) {
            self.mechanics.slots.remove(slot);
        }
    }
}

/// Completion.
impl Drive {
    /// Mechanism and firmware are done at `done`, the link at `sent`: returns when the completion is due.
    pub(super) fn finish(
        &mut self,
        context: &mut Context,
        slot: SlotIndex,
        done: Instant,
        sent: Instant,
    ) -> Instant {
        let flight = &mut self.tasks[slot];
        let completion = self.port.completes(flight.command.access, sent);
        flight.breakdown.link += sent - done;
        flight.breakdown.overhead += completion;
        let completed = sent + completion;
        self.rest(completed, slot);
        self.schedule(context, completed, DriveEvent::Complete(slot));
        completed
    }

    /// A command is done: it is reported, or held back with the others of its round.
    #[inline]
    pub(super) fn on_complete(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.injected.delays() && self.defer_if_hung(context, slot) {
            return;
        }
        if self.port.reports_each() {
            return self.end(context, slot);
        }
        if self.port.hold_back(slot) { self.report(context) } else { self.report_if_idle(context) }
    }

    /// Reports completions that were held back when nothing is left to do: no further completion would end
    /// the round.
    pub(super) fn report_if_idle(&mut self, context: &mut Context) {
        // The cache's own work completes no command.
        if self.port.has_unreported() && !self.mechanics.serves() && !self.is_wanted() {
            self.report(context);
        }
    }

    fn report(&mut self, context: &mut Context) {
        // One of them may end others, which must not begin another report.
        let mut round = self.port.take_round();
        let now = context.now;
        for slot in round.drain(..) {
            let flight = &mut self.tasks[slot];
            // While it was held back the mechanism served other commands.
            let done = flight.submitted + flight.breakdown.total();
            flight.breakdown.queue += now - done;
            self.end(context, slot);
        }
        self.port.give_back(round);
    }

    /// The end of a command is reported to the host, and its slot becomes free.
    fn end(&mut self, context: &mut Context, slot: SlotIndex) {
        let flight = &mut self.tasks[slot];
        self.port.answer(context, flight);
        let state = core::mem::replace(&mut flight.state, TaskState::Free);
        if flight.outcome == Outcome::MediaError {
            let command = flight.command;
            self.failed(context, &command);
        }
        self.tasks.end(slot, state);
        context.in_drives.drop_one(context.now);
        self.unfile(context, slot);
        self.release(context);
    }

    /// Releases the overlapping commands that waited for this one: its media access has begun, or ended where
    /// a cache could have answered in between, or it needs none.
    #[inline(always)]
    pub(super) fn unfile(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.tasks.is_filed(slot) {
            self.let_go(context, slot);
        }
    }

    /// The commands that waited for this one alone may begin.
    #[inline(never)]
    fn let_go(&mut self, context: &mut Context, slot: SlotIndex) {
        for slot in self.tasks.unfile(slot) {
            if self.tasks[slot].outcome == Outcome::Done {
                self.pick_up(context, slot);
            }
        }
    }

    /// Enables the commands that the task set releases.
    #[inline]
    fn release(&mut self, context: &mut Context) {
        if self.tasks.has_dormant() {
            self.release_dormant(context);
        }
    }

    #[inline(never)]
    fn release_dormant(&mut self, context: &mut Context) {
        for initiator in self.tasks.initiators() {
            while let Some(slot) = self.tasks.release(initiator) {
                self.enable(context, slot);
            }
        }
    }
}

/// Errors and aborts.
impl Drive {
    /// A command of this initiator has failed: applies the protocol's effect on other commands.
    fn failed(&mut self, context: &mut Context, command: &Command) {
        let initiator = command.initiator;
        match self.model.protocol {
            protocol if protocol.leaves_allegiance(initiator) => self.begin_allegiance(initiator),
            Protocol::None | Protocol::Nvme => {}
            Protocol::ScsiTcq(_) | Protocol::AtaTcq | Protocol::Ncq(_) => {
                self.fail_queue(context, command.tag, Some(command.initiator));
            }
        }
    }

    /// This initiator has sent a command that overlaps one of its own: its commands are aborted. The effect
    /// on the others is fixed before any of these ends, so that none begins because one has ended.
    fn overlapped(&mut self, context: &mut Context, initiator: u16, tag: u32) {
        let clears = if self.model.protocol.leaves_allegiance(initiator) {
            self.begin_allegiance(initiator);
            Clears::Nexus
        } else {
            match self.tasks.queue_fails(tag) {
                Clears::All => Clears::All,
                Clears::Nothing | Clears::Nexus => Clears::Nexus,
            }
        };
        self.clear_for_error(context, clears, Some(initiator));
    }

    /// Clears the commands that an error clears. `by` is the initiator whose command failed.
    fn fail_queue(&mut self, context: &mut Context, tag: u32, by: Option<u16>) {
        let clears = self.tasks.queue_fails(tag);
        self.clear_for_error(context, clears, by);
    }

    fn clear_for_error(&mut self, context: &mut Context, clears: Clears, by: Option<u16>) {
        if clears == Clears::Nothing {
            return;
        }
        let own = |initiator| by.is_none_or(|by| by == initiator);
        let cleared = self.clear(context, |initiator| clears == Clears::All || own(initiator));
        self.report_if_idle(context);
        self.tasks.set_unit_attention(cleared.into_iter().filter(|&initiator| !own(initiator)));
        if clears == Clears::All {
            self.firmware.drop_rest(context.now);
        }
    }

    /// Aborts all commands of these initiators. Returns the initiators of the aborted commands, once per
    /// command.
    pub(super) fn clear(&mut self, context: &mut Context, whose: impl Fn(u16) -> bool) -> Vec<u16> {
        self.unjoin();
        let slots = self.tasks.slots();
        let mut cleared = Vec::new();
        // All are withdrawn first, so that none begins because another one has ended.
        for slot in slots.clone() {
            let initiator = self.tasks[slot].command.initiator;
            if whose(initiator) && self.withdraw(slot, Outcome::Aborted) {
                cleared.push(initiator);
            }
        }
        for slot in slots {
            self.end_withdrawn(context, slot);
        }
        cleared
    }

    /// Ends a command before it is done. Returns whether it was present and not given up before.
    pub(super) fn give_up(&mut self, context: &mut Context, slot: SlotIndex, outcome: Outcome) -> bool {
        if self.mechanics.has_joined(slot) {
            self.unjoin();
        }
        let given_up = self.withdraw(slot, outcome);
        self.end_withdrawn(context, slot);
        given_up
    }

    /// Fixes how a command will end, whatever happens to it: it leaves the place where it waits.
    fn withdraw(&mut self, slot: SlotIndex, outcome: Outcome) -> bool {
        let Some(state) = self.tasks.give_up(slot, outcome) else { return false };
        if state == TaskState::Waiting {
            self.take_out(slot);
        }
        true
    }

    /// Ends a command that has left the place where it waited. One that the mechanism or the link is serving
    /// ends when they are done.
    fn end_withdrawn(&mut self, context: &mut Context, slot: SlotIndex) {
        let InFlight { state, outcome, .. } = self.tasks[slot];
        if matches!(state, TaskState::Dormant | TaskState::Waiting) && outcome != Outcome::Done {
            self.end(context, slot);
        }
    }

    /// The host aborts a command (ABORT TASK, the abort subcommand). Succeeds even if there is nothing to
    /// abort.
    pub fn abort(&mut self, context: &mut Context, initiator: u16, tag: u32) {
        if let Some(slot) = self.tasks.find(initiator, tag) {
            self.give_up(context, slot, Outcome::Aborted);
            self.report_if_idle(context);
        }
    }

    /// A command's deadline has passed, at which the drive may be set to end it.
    pub(super) fn on_deadline(&mut self, context: &mut Context, slot: SlotIndex, serial: u32) {
        let InFlight { command, state, .. } = self.tasks[slot];
        if state == TaskState::Free || self.tasks[slot].serial != serial {
            return;
        }
        let Some(how) = self.tasks.limits.end_now(&self.tasks[slot], context.now) else { return };
        self.unjoin();
        if self.give_up(context, slot, how.outcome()) && how == Exceeded::Abort {
            self.failed(context, &command);
        }
        self.report_if_idle(context);
    }

    /// An error begins an allegiance: queued commands wait; QERR decides when the initiator clears the
    /// condition.
    fn begin_allegiance(&mut self, initiator: u16) {
        self.unjoin();
        let buffer = &self.buffer;
        for slot in self.tasks.begin_allegiance(initiator, |slot| buffer.is_waiting(slot)) {
            self.leave_queue(slot);
            self.tasks.allegiances.suspend(slot);
        }
    }

    /// Commands that an allegiance kept out of the queue are queued, behind what has arrived meanwhile.
    fn unblock(&mut self, now: Instant) {
        for slot in self.tasks.allegiances.release_suspended() {
            let flight = &mut self.tasks[slot];
            flight.breakdown.queue += now - flight.arrived;
            flight.arrived = now;
            let landing = flight.landing;
            // Another allegiance may keep it out again.
            self.file(slot, landing);
        }
    }

    /// The initiator clears its auto contingent allegiance.
    pub fn clear_allegiance(&mut self, context: &mut Context, initiator: u16) {
        if !self.tasks.allegiances.clear(initiator) {
            return;
        }
        self.fail_queue(context, 0, Some(initiator));
        self.unblock(context.now);
        self.release(context);
        self.choose(context);
    }
}
