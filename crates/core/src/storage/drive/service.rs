//! What the mechanism does: choose, carry out, join what follows without a gap.
use super::cache::segment::Ended;
use super::mechanism::Landing;
use super::params::WriteData;
use super::queue::choose::least;
use super::queue::{Chooses, QueueParams, SlotIndex, View, choose, look};
use super::write_back::Urge;
use super::{Drive, DriveEvent, InFlight, Service, Stage};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::link::Transfer;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Span};

impl Drive {
    /// The arm is free: pick what goes next, if this is the time to.
    #[inline]
    pub(super) fn choose(&mut self, context: &mut Context) {
        // What the buffer answers leaves the arm free. Any number of commands may wait for the same blocks: no recursion.
        while self.sweep.is_none() && self.choose_next(context) {}
    }

    /// Returns whether a command was served that the arm did not turn to.
    #[inline(never)]
    fn choose_next(&mut self, context: &mut Context) -> bool {
        let now = context.now;
        if !(self.writers.is_empty() && self.barriers.is_empty() && self.hits.is_empty()) {
            self.serve_hits(context);
            self.pass_barriers(context);
            self.admit_writers(context);
            if self.sweep.is_some() {
                return false;
            }
        }
        let (wanted, urge) = (self.is_wanted(), self.urge(now));
        if !wanted && matches!(urge, Urge::None | Urge::Later(_)) {
            if let Urge::Later(at) = urge {
                self.choose_at(context, at);
            }
            return false;
        }
        if now < self.choose_from {
            self.choose_at(context, self.choose_from);
            return false;
        }
        if (!wanted || urge == Urge::Press)
            && let Some(piece) = self.next_piece(now)
            && (!wanted || self.cache_goes_first(piece, now))
        {
            self.draining |= !wanted;
            self.destage(context, piece);
            return false;
        }
        self.cache_has_turn = true;
        self.draining = false;
        let left = self.leave_segment(now);
        // With one alone there is nothing to look at.
        let waiting = self.slots.len();
        let from = if waiting > 1 { left.max(now + self.model.queue.look(waiting)) } else { left };
        let view = self.view(&self.model.queue, from);
        let pressed = self.tasks.is_pressed();
        let Some(slot) = (if pressed { self.pressing(&view) } else { choose(&self.slots, &view) }) else {
            return false;
        };
        if let Some(nearest) = self.next_on_the_way(now).filter(|&nearest| nearest != slot)
            && self.goes_before(context, nearest, slot, from)
        {
            return true;
        }
        // As a rule it has waited in the queue and nowhere else.
        if pressed || !(self.writers.is_empty() && self.barriers.is_empty() && self.hits.is_empty()) {
            self.take_out(slot);
        } else {
            self.slots.remove(slot);
        }
        self.out_of_turn = 0;
        if let Some(passing) = self.in_passing(slot, now) {
            self.serve_in_passing(context, slot, passing);
            return true;
        }
        self.dispatch(context, slot, from, Served::Chosen);
        false
    }

    /// What the drive knows when it chooses by these rules.
    pub(super) fn view<'a>(&'a self, params: &'a QueueParams, now: Instant) -> View<'a> {
        View {
            mechanism: &self.model.mechanism,
            params,
            arm: self.arm,
            upward: self.upward,
            now: now.as_ns(),
            turned: self.spindle.turned(now),
            period: self.spindle.period(),
        }
    }

    /// The drive looks again at this instant, unless it does earlier.
    fn choose_at(&mut self, context: &mut Context, at: Instant) {
        if self.choose_scheduled.is_none_or(|known| at < known || known < context.now) {
            self.choose_scheduled = Some(at);
            self.schedule(context, at, DriveEvent::Choose);
        }
    }

    /// Whether a command waits that the mechanism may turn to.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        let waits = !(self.slots.is_empty() && self.tasks.interrupted.is_empty());
        waits && !self.tasks.stands_still() || !self.tasks.urgent.is_empty() && self.urgent().is_some()
    }

    /// The last HEAD OF QUEUE command; while an allegiance holds, the last that belongs to the recovery.
    #[cold]
    fn urgent(&self) -> Option<SlotIndex> {
        let blocks = |slot| self.tasks.blocks(&self.in_flight[slot as usize].command);
        self.tasks.urgent.iter().rev().copied().find(|&slot| !blocks(slot))
    }

    /// What goes next when not the policy alone decides: the last HEAD OF QUEUE command; else high priority, unless
    /// another is overdue; else the policy's choice; but before these a command whose deadline they could make it miss.
    #[cold]
    fn pressing(&self, view: &View<'_>) -> Option<SlotIndex> {
        if let Some(slot) = self.urgent() {
            return Some(slot);
        }
        if let Some(&slot) = self.tasks.interrupted.front() {
            return Some(slot);
        }
        let overdue = self.is_overdue(Instant::from_ns(view.now));
        let high = self.tasks.high.iter().copied().filter(|_| !overdue);
        let next = least(high, &self.slots, view).or_else(|| choose(&self.slots, view))?;
        Some(self.endangered_by(next, view).unwrap_or(next))
    }

    /// Starts a command that has just arrived, when there is nothing to choose and nothing to wait for.
    pub(super) fn starts_at_once(&mut self, context: &mut Context, slot: SlotIndex) -> bool {
        let now = context.now;
        let command = &self.in_flight[slot as usize].command;
        let blocked = self.tasks.blocks(command);
        let busy = self.sweep.is_some() || self.is_wanted() || now < self.choose_from;
        if busy || blocked || self.urge(now) == Urge::Press && self.cache_has_turn {
            return false;
        }
        self.cache_has_turn = true;
        self.draining = false;
        let from = self.leave_segment(now);
        self.out_of_turn = 0;
        self.dispatch(context, slot, from, Served::Chosen);
        true
    }

    /// The arm starts for this command, at `from` at the earliest, as soon as the firmware has taken it up and its data
    /// are there.
    fn dispatch(&mut self, context: &mut Context, slot: SlotIndex, from: Instant, served: Served) {
        let now = context.now;
        let service = self.service(served, now);
        self.turned_to += 1;
        self.slots.begin_service();
        // By reference: copies of what was written a moment ago in parts are slow.
        let flight = &self.in_flight[slot as usize];
        let (first, end, access) = (flight.command.first, flight.command.end(), flight.command.access);
        let started = from.max(flight.ready);
        let data = self.write_data(context, slot, started);
        let flight = &self.in_flight[slot as usize];
        let (command, landing) = (&flight.command, &flight.landing);
        let waits = access == Access::Write && self.model.link.write_data == WriteData::BeforePositioning;
        let lead = if waits { data.ended - started } else { Span::ZERO };
        let cylinders = self.arm.cylinder.abs_diff(landing.cylinder);
        self.upward = look::upward_after(self.arm.cylinder, landing.cylinder, self.upward);
        let last = Lba::new(end.get() - 1);
        let hold = self.least_hold(landing, first, access);
        let mut passage =
            self.model.mechanism.pass(&self.spindle, started + lead + hold, self.arm, landing, last, access);
        passage.seek += hold;
        let late = if access == Access::Read || waits {
            Span::ZERO
        } else {
            self.turns_lost(&data, command.count, started, &passage)
        };
        let (failing, again) = self.strike(slot);
        passage.rotation += late + again;
        passage.end += late + again;
        let is_partial = flight.sought > first;
        let data_from = if is_partial {
            // The buffer's part goes first.
            flight.data_from
        } else {
            let read = self.first_datum(landing, started + lead, &passage);
            if access == Access::Read {
                read.max(flight.data_from) + self.model.disconnect.reconnection()
            } else {
                flight.data_from
            }
        };
        // What passes from the landing to the first sector; all of the track when the head lands inside.
        let inside = u64::from(landing.longest_wait) < self.spindle.period()
            && passage.rotation.as_ns() == u64::from(landing.longest_wait);
        let passed = if inside { self.spindle.period() } else { passage.rotation.as_ns() };
        let free_since = self.free_since;
        let flight = self.flight(slot);
        let base = flight.arrived.max(free_since);
        (flight.passed, flight.data_until) = (passed, data.ended);
        flight.stage = Stage::Serving;
        flight.breakdown.queue += base - flight.arrived;
        if failing {
            flight.outcome = Outcome::MediaError;
        }
        flight.breakdown.overhead = started - base;
        flight.breakdown.link = lead;
        flight.breakdown.seek = passage.seek;
        flight.breakdown.rotation = passage.rotation;
        flight.breakdown.transfer = passage.transfer;
        flight.begun = started + lead + passage.seek + passage.rotation;
        flight.data_from = data_from;
        flight.track_left = passage.track_left;
        let begun = flight.begun;
        flight.service = Service { ended: passage.end, to_cylinder: passage.arm.cylinder, ..service };
        (self.arm, self.media_end) = (passage.arm, end);
        if access == Access::Write {
            self.forget(first, end);
        }
        // With the arm there already (at most a switch to the next track) a command can still join until the media.
        let started = if cylinders <= 1 { begun } else { now };
        self.sweep(now, end, access, started, passage.end);
        context.digest.fold(now.as_ns());
        self.schedule(context, passage.end, DriveEvent::MediaEnd(slot));
        self.begins(context, slot);
    }

    /// How much longer than the arm needs a write's positioning takes, where it must take a while.
    #[inline]
    pub(super) fn least_hold(&self, landing: &Landing, first: Lba, access: Access) -> Span {
        let least = self.model.mechanism.settle.write_least;
        if least.is_zero() || access != Access::Write || first == self.media_end {
            return Span::ZERO;
        }
        let Landing { cylinder, head, .. } = *landing;
        let moved = self.model.mechanism.positioning(self.arm, cylinder, head, access);
        Span::from_ns(least.as_ns().saturating_sub(moved))
    }

    /// Whether the media fail this attempt at a command, and how long the drive then tries again before it gives up.
    #[inline]
    pub(super) fn strike(&self, slot: SlotIndex) -> (bool, Span) {
        let (Some(faults), Some(params)) = (&self.faults, &self.model.faults) else {
            return (false, Span::ZERO);
        };
        let failing = faults.strike(&self.in_flight[slot as usize].command);
        (failing, if failing { params.retries } else { Span::ZERO })
    }

    /// What the buffer holds of these blocks is no longer good.
    fn forget(&mut self, first: Lba, end: Lba) {
        self.cache.iter_mut().for_each(|cache| cache.segments.forget(first, end));
    }

    /// The arm has turned to a command: what overlaps it can only come to the arm behind it. The cache could take that
    /// while the arm is still at this one, and so waits for its end.
    #[inline]
    pub(super) fn begins(&mut self, context: &mut Context, slot: SlotIndex) {
        if !self.is_write_back() {
            self.unfile(context, slot);
        }
    }

    #[inline(never)]
    pub(super) fn on_media_end(&mut self, context: &mut Context, slot: SlotIndex) {
        self.end_media(context, slot);
        // Behind an error nothing begins before the host has heard of it.
        if self.flight(slot).outcome == Outcome::Done {
            self.unfile(context, slot);
        }
    }

    fn end_media(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let joined = self.sweep.take().and_then(|sweep| sweep.joined);
        self.free_since = now;
        let &mut InFlight { ref command, ready, outcome, .. } = self.flight(slot);
        let access = command.access;
        let done = now.max(ready);
        let (sent, stays) = if access == Access::Read {
            self.end_read(context, slot, done, joined.is_some())
        } else {
            (self.end_write(context, slot, done), now)
        };
        let completed = self.finish(context, slot, done, sent);
        if outcome == Outcome::MediaError && self.model.protocol.stops_at_error() {
            // Nothing begins before the host hears of it: what waits is cleared, or waits for the host.
            joined.into_iter().for_each(|next| self.interrupt(next));
            self.choose_from = completed;
            // Behind the completion, even if that takes no time.
            return self.choose_at(context, completed);
        }
        if let Some(next) = joined {
            self.stop_reading_on(now);
            let Some(passing) = self.in_passing(next, now) else {
                self.out_of_turn = self.out_of_turn.saturating_add(1);
                return self.dispatch(context, next, now, Served::Joined);
            };
            self.serve_in_passing(context, next, passing);
            if self.sweep.is_some() {
                return;
            }
        }
        if self.model.queue.chooses == Chooses::AtCompletion {
            self.free_since = completed;
        }
        self.choose_from = match self.model.queue.chooses {
            // With nothing else to do there is nothing to choose: it starts with what comes first.
            Chooses::AfterAnswer if self.is_wanted() => now + self.model.queue.answer_time,
            Chooses::AtCompletion => completed,
            _ => now,
        }
        .max(stays);
        self.choose(context);
    }

    /// A read's data have passed the head, or could not be read: when the last of them has left, and until when the arm
    /// stays to read on.
    fn end_read(
        &mut self,
        context: &mut Context,
        slot: SlotIndex,
        done: Instant,
        followed: bool,
    ) -> (Instant, Instant) {
        let now = context.now;
        let &mut InFlight {
            ref command, data_from, sought, track_left, outcome, is_released, service, ..
        } = self.flight(slot);
        let (id, first, count) = (command.id, command.first, command.count);
        if outcome != Outcome::Done {
            // There is nothing to keep, and nothing behind it to go on to.
            self.read_end = first + count;
            self.stop_reading_on(now);
            if service.served == Served::Met {
                // The buffer was to have it.
                self.forget(first, first + count);
            }
            return (done, now);
        }
        // The link runs beside the media, sector behind sector: none leaves before it is there.
        let tail = if sought > first { Span::ZERO } else { self.model.disconnect.reconnection() };
        let call = if is_released { self.model.exchange.serviced() } else { Span::ZERO };
        let from = self.sends_from(slot, data_from, done);
        let (access, last) = (Access::Read, (done + tail).max(from));
        let sent = context.wires.carry(self.index, &Transfer { access, count, from, last, call }).ended;
        let end = first + count;
        let met = self.cache.as_ref().filter(|_| service.served == Served::Met);
        match met.and_then(|cache| cache.segments.met(end)) {
            Some(place) => self.deliver_met(context, id, (first, end), place),
            None => self.deliver_read(context, id, sought, end),
        }
        let (held, holder) = self.held_before(first, sought, now);
        let (begin, ahead) = self.passed_by(slot, held, sought);
        let ended = Ended { at: now, arm: self.arm, track_left, ahead };
        (sent, self.read_on(context, (begin, sought, end), &ended, (held, holder), followed))
    }
}
