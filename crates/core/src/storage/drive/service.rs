//! What the arm does for commands: the drive chooses, the arm moves, the media access ends.
use super::buffer::DestageUrgency;
use super::mechanics::Course;
use super::mechanics::reading_on::ReadEnd;
use super::queue::choose::least;
use super::queue::{ChoiceTime, JoinsUntil, SlotIndex, View, choose};
use super::tasks::flight::{AtMedia, InFlight, TaskState};
use super::tasks::precedence::is_head_of_queue;
use super::{Drive, DriveEvent};
use crate::command::{Access, Command, Outcome, Priority};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Span};

/// A host that answers at the very instant of a completion has answered: the choice follows all that arrives
/// then, so that a wait of no time differs from a short one by nothing but its length.
const ANSWER_TIME_LEAST: Span = Span::from_ns(1);

/// Choosing.
impl Drive {
    /// The arm is free: picks the next command, if it is time to.
    #[inline]
    pub(super) fn choose(&mut self, context: &mut Context) {
        // A command that the buffer answers leaves the arm free. Any number of commands may wait for the same
        // sectors: no recursion.
        while self.mechanics.sweep.is_none() && self.choose_next(context) {}
    }

    /// Returns whether a command was served without an access by the arm.
    #[inline(never)]
    fn choose_next(&mut self, context: &mut Context) -> bool {
        if self.flash.is_some() {
            self.program(context);
            return false;
        }
        let now = context.now;
        if !self.buffer.waiting.is_empty() {
            self.serve_waiting_for_cache(context);
            if self.mechanics.sweep.is_some() {
                return false;
            }
        }
        let (wanted, urgency) = (self.is_wanted(), self.urgency(now));
        if !wanted && matches!(urgency, DestageUrgency::None | DestageUrgency::Later(_)) {
            if let DestageUrgency::Later(at) = urgency {
                self.choose_at(context, at);
            }
            return false;
        }
        let from = self.chooses_from(now);
        if now < from {
            self.choose_at(context, from);
            return false;
        }
        if (!wanted || urgency == DestageUrgency::Press) && self.destages(context, wanted) {
            return false;
        }
        self.choose_command(context)
    }

    /// The host gets the arm: the first command in line is served. Returns whether that was without an access
    /// by the arm.
    #[inline(always)]
    fn choose_command(&mut self, context: &mut Context) -> bool {
        let now = context.now;
        self.buffer.give_arm_to_host();
        let left = self.mechanics.leave_segment(&mut self.buffer, now);
        // With only one there is nothing to choose.
        let waiting = self.mechanics.slots.candidates();
        let examines = waiting > 1 && self.mechanics.slots.planned().is_none();
        let from = if examines { left.max(now + self.model.queue.examination_time(waiting)) } else { left };
        let pressed = self.tasks.is_pressed();
        if pressed {
            self.tasks.pass_limits(from);
        }
        let view = self.mechanics.view(from);
        let chosen = if pressed {
            self.pressing(&view)
        } else {
            self.mechanics.next_by_stream(now).or_else(|| choose(&self.mechanics.slots, &view))
        };
        let Some(slot) = chosen else { return false };
        if !pressed
            && let Some(nearest) = self.mechanics.next_on_the_way(&self.buffer, now)
            && nearest != slot
            && self.serve_before_chosen(context, nearest, slot, from)
        {
            return true;
        }
        // As a rule it has waited in the queue and nowhere else.
        if pressed || !self.buffer.waiting.is_empty() {
            self.take_out(slot);
        } else {
            self.mechanics.slots.remove(slot);
        }
        self.mechanics.chosen();
        if let Some(passing) = self.in_passing(slot, now) {
            self.serve_in_passing(context, slot, passing);
            return true;
        }
        self.dispatch(context, slot, from, Served::Chosen);
        false
    }

    /// Whether a command waits that the mechanism may serve.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.tasks.needs_mechanism(!self.mechanics.slots.is_empty())
    }

    /// The next command when the policy alone does not decide: the last HEAD OF QUEUE command; else one that was
    /// chosen ahead, which nothing displaces; else what [`Self::preferred`] says.
    #[cold]
    fn pressing(&self, view: &View<'_>) -> Option<SlotIndex> {
        if let Some(slot) = self.tasks.first_in_line() {
            return Some(slot);
        }
        let planned = self.mechanics.slots.planned();
        planned
            .filter(|_| !self.mechanics.is_overdue(Instant::from_ns(view.now)))
            .or_else(|| self.preferred(view))
    }

    /// Of the commands in the queue the next one: high priority, unless another is overdue; else the policy's
    /// choice; but a command goes before these if they could make it miss its deadline.
    fn preferred(&self, view: &View<'_>) -> Option<SlotIndex> {
        let slots = &self.mechanics.slots;
        let now = Instant::from_ns(view.now);
        let overdue = self.mechanics.is_overdue(now);
        // Of a stream of them the first.
        let is_high = |slot: SlotIndex| self.tasks[slot].command.priority == Priority::High;
        let is_next = |slot: SlotIndex| !slots.before(slot).is_some_and(is_high);
        let high = self.tasks.ahead.high().filter(|&slot| !overdue && is_next(slot));
        let next = least(high, slots, view).or_else(|| choose(slots, view))?;
        let endangered = self.tasks.ahead.endangered(|| self.free_after(next, now));
        Some(endangered.unwrap_or(next))
    }

    /// When mechanism and link are free again if the arm starts for this command now.
    fn free_after(&self, slot: SlotIndex, now: Instant) -> Instant {
        let flight = &self.tasks[slot];
        let started = now.max(flight.ready) + self.port.lead(&flight.command);
        let passage = self.mechanics.passage(flight, started);
        let end = passage.end + self.port.turns_lost_to_late_data(flight, started, &passage);
        self.port.across(end, flight.command.access, flight.command.on_link())
    }

    /// Starts a command that has just arrived, when there is nothing to choose and nothing to wait for.
    pub(super) fn start_at_once(&mut self, context: &mut Context, slot: SlotIndex) -> bool {
        let now = context.now;
        let blocked = self.tasks.is_blocked(slot);
        let busy = self.mechanics.sweep.is_some() || self.is_wanted() || now < self.chooses_from(now);
        let presses = self.urgency(now) == DestageUrgency::Press;
        if busy || blocked || presses && (self.buffer.has_turn() || self.must_clean()) {
            return false;
        }
        self.buffer.give_arm_to_host();
        let from = self.mechanics.leave_segment(&mut self.buffer, now);
        self.mechanics.chosen();
        self.dispatch(context, slot, from, Served::Chosen);
        true
    }

    /// Whether a command is the oldest, and neither another one nor the cache is entitled to go before it.
    fn is_in_turn(&self, slot: SlotIndex, now: Instant) -> bool {
        let is_oldest = self.mechanics.slots.oldest() == Some(slot);
        is_oldest && !self.tasks.is_pressed() && !self.buffer.presses(now, self.quiet_since())
    }

    /// Whether one more command may pass those that wait.
    pub(super) fn may_go_out_of_turn(&self, now: Instant, access: Access) -> bool {
        let presses = || self.buffer.presses(now, self.quiet_since());
        self.mechanics.may_go_out_of_turn(now, access, presses) && !self.tasks.is_pressed()
    }

    /// When the drive chooses at the earliest: not before the host can have answered, nor while it stays with a stream.
    #[inline]
    fn chooses_from(&self, now: Instant) -> Instant {
        let from = self.mechanics.choose_from;
        let stays = self.mechanics.stays_until(now).filter(|_| self.may_stay_with_stream(now));
        stays.map_or(from, |until| from.max(until))
    }

    /// Whether the stream's next command may still come, and neither the protocol nor the cache keeps the drive from
    /// waiting for it.
    fn may_stay_with_stream(&self, now: Instant) -> bool {
        let has_room = self.mechanics.slots.len() < self.depth() as usize;
        has_room && !self.tasks.is_pressed() && !self.buffer.presses(now, self.quiet_since())
    }
}

/// The arm at work.
impl Drive {
    /// The arm starts for this command, at `from` at the earliest, as soon as the firmware has picked it up
    /// and its data have arrived.
    fn dispatch(&mut self, context: &mut Context, slot: SlotIndex, from: Instant, served: Served) {
        let now = context.now;
        let service = self.mechanics.begin_service(served, now);
        self.mechanics.slots.begin_service();
        if self.shingled.is_some() {
            self.land(slot);
        }
        // By reference: copies right after partial writes are slow.
        let flight = &self.tasks[slot];
        let (first, end, access) = (flight.command.first, flight.command.end(), flight.command.access);
        let started = from.max(flight.ready);
        let data = self.port.write_data(context, flight, started);
        let lead = if self.port.holds_arm(access) { data.ended - started } else { Span::ZERO };
        let port = &self.port;
        let course = self.mechanics.pass(flight, started + lead, |passage| {
            if access == Access::Read || port.holds_arm(access) {
                return Span::ZERO;
            }
            port.turns_lost(&data, flight.command.on_link(), started, passage)
        });
        let course = if self.shingled.is_none() { course } else { self.pass_rest(slot, course) };
        let (begun, data_from) = self.begin_data(slot, started + lead, &course);
        let base = self.tasks[slot].arrived.max(self.mechanics.free_since);
        let flight = &mut self.tasks[slot];
        let passage = &course.passage;
        flight.link.data_until = data.ended;
        flight.breakdown.queue += base - flight.arrived;
        flight.breakdown.overhead = started - base;
        flight.breakdown.link = lead;
        flight.start(&course, service);
        (flight.begun, flight.link.data_from) = (begun, data_from);
        if let Some(until) = self.tasks.limits.active_until(&self.tasks[slot].command, now) {
            let serial = self.tasks[slot].serial;
            self.schedule(context, until, DriveEvent::Deadline(slot, serial));
        }
        if access == Access::Write {
            self.buffer.forget(first, end);
        }
        // If the arm is there already (at most one track switch away), a command can still join until the
        // media access begins.
        let started = if course.is_near { begun } else { now };
        self.begin_sweep(now, end, access, started, passage.end);
        context.digest.fold(now.as_ns());
        self.schedule(context, passage.end, DriveEvent::MediaEnd(slot));
        self.begin(context, slot);
    }

    /// When the first sector of an access reaches the head, and when its data can begin to cross the link.
    #[inline(always)]
    fn begin_data(&mut self, slot: SlotIndex, started: Instant, course: &Course) -> (Instant, Instant) {
        let passage = &course.passage;
        let begun = started + passage.seek + passage.rotation;
        let flight = &self.tasks[slot];
        let (command, landing) = (&flight.command, &flight.landing);
        let passed = self.mechanics.passed(landing, passage);
        // The buffer's part of a read is sent first; a write's data have arrived, or arrive when they can.
        let data_from = if flight.media.sought > command.first || command.access != Access::Read {
            flight.link.data_from
        } else {
            let read = self.mechanics.first_datum(landing, started, passage);
            read.max(flight.link.data_from) + self.model.disconnect.reconnection()
        };
        self.tasks[slot].media.passed = passed;
        (begun, data_from)
    }

    /// The mechanism is busy until `until` with a command that ends at `end`: fixes what may join it.
    fn begin_sweep(&mut self, now: Instant, end: Lba, access: Access, started: Instant, until: Instant) {
        let join_until = self.mechanics.joins_until(access, started, until);
        let next = join_until.and_then(|_| self.mechanics.queued_behind(end, access));
        let joined = next.filter(|&next| self.is_in_turn(next, now) || self.may_go_out_of_turn(now, access));
        if let Some(slot) = joined {
            self.take_out(slot);
            self.tasks[slot].state = TaskState::Serving;
        }
        self.mechanics.begin_sweep(end, access, join_until, joined);
        if self.model.queue.chooses == ChoiceTime::OneAhead {
            self.plan_ahead(until);
        }
    }

    /// Chooses now, from the present queue, what goes next once the command in service has ended.
    #[inline(never)]
    fn plan_ahead(&mut self, ended: Instant) {
        let pressed = self.tasks.is_pressed();
        if pressed {
            self.tasks.pass_limits(ended);
        }
        let view = self.mechanics.view(ended);
        let next = if pressed { self.preferred(&view) } else { choose(&self.mechanics.slots, &view) };
        self.mechanics.slots.plan(next);
    }

    /// Takes back the command that was to follow the one in service without another choice.
    pub(super) fn unjoin(&mut self) {
        if let Some(joined) = self.mechanics.unjoin() {
            self.interrupt(joined);
        }
    }

    /// A command that was to be next without a choice will be next once the interruption is over: in the
    /// queue it would be the youngest, and its wait would count from now.
    fn interrupt(&mut self, slot: SlotIndex) {
        let flight = &mut self.tasks[slot];
        if is_head_of_queue(flight.command.attribute) {
            let landing = flight.landing;
            return self.file(slot, landing);
        }
        flight.state = TaskState::Waiting;
        self.tasks.ahead.add_interrupted(slot);
    }

    /// The arm has started for a command: commands that overlap it can only reach the arm after it. But the
    /// cache could serve them while the arm is still working on this one, so with write-back they wait for
    /// its end.
    #[inline]
    pub(super) fn begin(&mut self, context: &mut Context, slot: SlotIndex) {
        if !self.buffer.is_write_back() {
            self.unfile(context, slot);
        }
    }

    #[inline(never)]
    pub(super) fn on_media_end(&mut self, context: &mut Context, slot: SlotIndex) {
        self.end_media(context, slot);
        // After an error nothing begins before the error has been reported to the host.
        if self.tasks[slot].outcome == Outcome::Done {
            self.unfile(context, slot);
        }
    }

    fn end_media(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let joined = self.mechanics.sweep.take().and_then(|sweep| sweep.joined);
        self.mechanics.free_since = now;
        let &InFlight { ref command, ready, outcome, .. } = &self.tasks[slot];
        let done = now.max(ready);
        // A stream: it continues the read before it.
        let streams = command.access == Access::Read && command.first == self.mechanics.last.read_end;
        let (sent, stays) = if command.access == Access::Read {
            let followed = joined.is_some() || self.is_scattered(command.first, command.end());
            self.end_read(context, slot, done, followed)
        } else {
            (self.end_write(context, slot, done), now)
        };
        let completed = self.finish(context, slot, done, sent);
        if outcome == Outcome::MediaError && self.model.protocol.stops_at_error() {
            // Nothing begins before the error has been reported: waiting commands are cleared, or wait for the
            // host.
            joined.into_iter().for_each(|next| self.interrupt(next));
            self.mechanics.choose_from = completed.max(self.injected.hung_until());
            // After the completion, even if that takes no time.
            return self.choose_at(context, completed);
        }
        if let Some(next) = joined
            && self.go_on_with(context, next)
        {
            return;
        }
        let goes_on = || {
            let flight = &self.tasks[slot];
            let (end, access) = (flight.command.end(), flight.command.access);
            // A drive that joins reads, or has recognized a stream, does not wait while the head runs into a read that it
            // already holds: that would cost a revolution.
            let joins = access == Access::Read && self.model.queue.joins_reads == JoinsUntil::UntilEnd;
            (streams || joins) && self.mechanics.queued_behind(end, access).is_some()
        };
        let from = match self.model.queue.chooses {
            // With nothing else waiting there is nothing to choose: it starts with the first command that arrives.
            ChoiceTime::AfterAnswer if self.is_wanted() && !goes_on() => {
                now + self.model.queue.answer_time.max(ANSWER_TIME_LEAST)
            }
            ChoiceTime::AtCompletion if !goes_on() => {
                self.mechanics.free_since = completed;
                completed
            }
            _ => now,
        };
        self.mechanics.choose_from = from.max(stays).max(self.injected.hung_until());
        self.choose(context);
    }

    /// Starts the command that was to follow without a choice. Returns whether it uses the arm.
    fn go_on_with(&mut self, context: &mut Context, next: SlotIndex) -> bool {
        let now = context.now;
        if !self.hangs_for(now).is_zero() {
            self.interrupt(next);
            return false;
        }
        self.mechanics.stop_reading_on(&mut self.buffer, now);
        if let Some(passing) = self.in_passing(next, now) {
            self.serve_in_passing(context, next, passing);
            return self.mechanics.sweep.is_some();
        }
        self.mechanics.go_out_of_turn();
        self.dispatch(context, next, now, Served::Joined);
        true
    }

    /// A read's data have passed the head, or could not be read: returns when the last of them has been sent,
    /// and until when the arm stays to read on.
    fn end_read(
        &mut self,
        context: &mut Context,
        slot: SlotIndex,
        done: Instant,
        followed: bool,
    ) -> (Instant, Instant) {
        let now = context.now;
        let flight = &self.tasks[slot];
        let &InFlight { ref command, media: AtMedia { sought, .. }, outcome, service, .. } = flight;
        let (id, first, end) = (command.id, command.first, command.end());
        if outcome != Outcome::Done {
            // There is nothing to keep, and nothing to read on behind.
            self.mechanics.note_read(first, end);
            self.mechanics.stop_reading_on(&mut self.buffer, now);
            if service.served == Served::Met {
                // The buffer was to have these sectors.
                self.buffer.forget(first, end);
            }
            return (done, now);
        }
        let sent = self.port.send_read(context, flight, done);
        let met = self.buffer.cache().filter(|_| service.served == Served::Met);
        match met.and_then(|cache| cache.segments.read_ahead_segment(end)) {
            Some(segment) => self.buffer.deliver_met(context, id, (first, end), segment),
            None => self.buffer.deliver_read(context, id, sought, end),
        }
        let (held, holder) = self.buffer.held_before(first, sought, now, self.mechanics.motion());
        let (begin, ended) = self.mechanics.left_by(flight, held, now);
        let is_sequential = first == self.mechanics.last.read_end;
        self.mechanics.note_read(first, end);
        let may_stay = self.mechanics.stream().is_some() && self.may_stay_with_stream(now);
        let read = ReadEnd { first: begin, sought, end, held, holder, is_sequential, may_stay };
        (sent, self.mechanics.read_on(context, &mut self.buffer, &read, &ended, followed))
    }

    /// A write's data are on the media: returns when the drive can report that.
    fn end_write(&mut self, context: &mut Context, slot: SlotIndex, done: Instant) -> Instant {
        let flight = &self.tasks[slot];
        if flight.outcome != Outcome::Done {
            return done;
        }
        let &Command { id: write, first, count, .. } = &flight.command;
        self.buffer.overwrite(context, first, first + count, self.mechanics.motion());
        self.mechanics.heal(first, first + count);
        let member = self.index;
        context.data_op(DataOp::Accept { write, member, first, count });
        context.data_op(DataOp::Persist { write, member, first, count });
        self.port.ends_write(flight, done)
    }
}
