//! What the mechanism does: choose, carry out, join what follows without a gap, read on.
use super::cache::params::ReadAheadParams;
use super::cache::segment::{Cover, Ended, Motion};
use super::cache::segments::Place;
use super::mechanism::{Landing, Passage};
use super::params::WriteData;
use super::queue::choose::least;
use super::queue::{Chooses, Joins, SlotIndex, View, choose, look};
use super::write_back::Urge;
use super::{Drive, DriveEvent, InFlight, Stage, Story};
use crate::command::{Access, Attribute, Outcome};
use crate::data::DataOp;
use crate::life::Served;
use crate::target::context::Context;
use crate::target::link::{Carried, Transfer};
use drivelab_units::{Instant, Lba, Sectors, Span};

/// What the mechanism is carrying out, and what may be joined to it.
#[derive(Clone, Copy)]
pub(super) struct Sweep {
    /// Where it ends.
    end: Lba,
    access: Access,
    /// Until then a command that begins at `end` is carried out in the same sweep; never when `None`.
    join_until: Option<Instant>,
    pub joined: Option<SlotIndex>,
    /// Whether no command is waiting for it.
    pub is_of_the_cache: bool,
}

/// Commands that may go out of turn, because they join or meet the head, while others or the cache wait: then the drive
/// chooses, so that a stream cannot keep those out for ever.
const OUT_OF_TURN_MAX: u32 = 32;

impl Sweep {
    /// Data of the cache on their way to the media: nothing joins them.
    pub fn of_the_cache(end: Lba) -> Self {
        Sweep { end, access: Access::Write, join_until: None, joined: None, is_of_the_cache: true }
    }
}

impl Drive {
    /// The arm is free: pick what goes next, if this is the time to.
    pub(super) fn choose(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        if self.sweep.is_some() {
            return;
        }
        if !(self.writers.is_empty() && self.barriers.is_empty() && self.hits.is_empty()) {
            self.serve_hits(context);
            self.pass_barriers(context);
            self.admit_writers(context);
            if self.sweep.is_some() {
                return;
            }
        }
        let (wanted, urge) = (self.is_wanted(), self.urge(now));
        if !wanted && matches!(urge, Urge::None | Urge::Later(_)) {
            if let Urge::Later(at) = urge {
                self.choose_at(context, at);
            }
            return;
        }
        if now < self.choose_from {
            return self.choose_at(context, self.choose_from);
        }
        if (!wanted || urge == Urge::Press && self.cache_has_turn)
            && let Some(piece) = self.next_piece(now)
        {
            self.draining |= !wanted;
            return self.destage(context, piece);
        }
        self.cache_has_turn = true;
        self.draining = false;
        let left = self.leave_segment(now);
        // With one alone there is nothing to look at.
        let waiting = self.slots.len();
        let from = if waiting > 1 { left.max(now + self.model.queue.look(waiting)) } else { left };
        let view = View {
            mechanism: &self.model.mechanism,
            params: &self.model.queue,
            arm: self.arm,
            upward: self.upward,
            now: from.as_ns(),
            turned: self.spindle.turned(from),
            period: self.spindle.period(),
        };
        let pressed = self.tasks.is_pressed();
        let Some(slot) = (if pressed { self.pressing(&view) } else { choose(&self.slots, &view) }) else {
            return;
        };
        self.take_out(slot);
        self.out_of_turn = 0;
        if let Some((place, at)) = self.goes_on(slot, now) {
            return self.meet_head(context, slot, place, at);
        }
        self.dispatch(context, slot, from, Served::Chosen);
    }

    /// The drive looks again at this instant, unless it does earlier.
    fn choose_at(&mut self, context: &mut Context<'_>, at: Instant) {
        if self.choose_scheduled.is_none_or(|known| at < known || known < context.now) {
            self.choose_scheduled = Some(at);
            self.schedule(context, at, DriveEvent::Choose);
        }
    }

    /// When the head will have read a command that begins where it has just stopped reading, if it simply goes on.
    fn goes_on(&mut self, slot: SlotIndex, now: Instant) -> Option<(Place, Instant)> {
        let command = &self.in_flight[slot as usize].command;
        let bad = self.faults.as_ref().is_some_and(|faults| faults.is_unreadable(command));
        if command.access == Access::Write || command.force_unit_access || bad {
            return None;
        }
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let segments = &mut self.cache.as_mut()?.segments;
        let place = segments.stopped_at(command.first, now)?;
        segments.resume(place);
        match segments.cover(command.first, command.end(), now, motion) {
            (Cover::Coming(at), place) => Some((place, at)),
            _ => {
                segments.stop(now, motion);
                None
            }
        }
    }

    /// Whether a command waits that the mechanism may turn to.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        let waits = !(self.slots.is_empty() && self.tasks.interrupted.is_empty());
        self.urgent().is_some() || waits && self.tasks.allegiances.is_empty()
    }

    /// The last HEAD OF QUEUE command; while an allegiance holds, the last that belongs to the recovery.
    #[inline]
    fn urgent(&self) -> Option<SlotIndex> {
        let blocks = |slot| self.tasks.blocks(self.in_flight[slot as usize].command.attribute);
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
    pub(super) fn starts_at_once(&mut self, context: &mut Context<'_>, slot: SlotIndex) -> bool {
        let now = context.now;
        let attribute = self.flight(slot).command.attribute;
        let busy = self.sweep.is_some() || self.is_wanted() || now < self.choose_from;
        if busy || self.tasks.blocks(attribute) || self.urge(now) == Urge::Press && self.cache_has_turn {
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
    fn dispatch(&mut self, context: &mut Context<'_>, slot: SlotIndex, from: Instant, served: Served) {
        let now = context.now;
        let story = self.story(served, now);
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
        let mut passage =
            self.model.mechanism.pass(&self.spindle, started + lead, self.arm, landing, last, access);
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
                read.max(flight.data_from) + self.model.bus.reconnection()
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
        flight.passed = passed;
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
        flight.story = Story { ended: passage.end, to_cylinder: passage.arm.cylinder, ..story };
        self.arm = passage.arm;
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

    /// Whether the media fail this attempt at a command, and how long the drive then tries again before it gives up.
    #[inline]
    fn strike(&self, slot: SlotIndex) -> (bool, Span) {
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

    /// When the first sector that the host can take has been read: the one in which the head landed if data may come out
    /// of order, the first of the command otherwise.
    #[inline]
    fn first_datum(&self, landing: &Landing, started: Instant, passage: &Passage) -> Instant {
        let sector = self.model.mechanism.sector_time(landing);
        let begun = started + passage.seek + passage.rotation;
        let lands_inside = u64::from(landing.longest_wait) < self.spindle.period();
        if !lands_inside || self.model.protocol.delivers_out_of_order() {
            return begun + sector;
        }
        let there = started + passage.seek;
        begun.max(there + Span::from_ns(self.spindle.until(there, landing.start.into()))) + sector
    }

    /// The mechanism is busy until `until` with a command that ends at `end`: settle what may be joined to it.
    fn sweep(&mut self, now: Instant, end: Lba, access: Access, started: Instant, until: Instant) {
        let queue = &self.model.queue;
        let joins = if access == Access::Read { queue.joins_reads } else { queue.joins_writes };
        let join_until = match joins {
            Joins::Never => None,
            Joins::BeforeStart => Some(started),
            Joins::UntilEnd => Some(until),
        };
        let may = join_until.is_some() && self.may_go_out_of_turn(now);
        let joined = if may { self.take_queued(end, access) } else { None };
        self.sweep = Some(Sweep { end, access, join_until, joined, is_of_the_cache: false });
    }

    /// Whether one more command may go past those that wait.
    pub(super) fn may_go_out_of_turn(&self, now: Instant) -> bool {
        let may_pass = self.out_of_turn < OUT_OF_TURN_MAX || self.slots.is_empty() && !self.presses(now);
        may_pass && !self.tasks.is_pressed() && !self.is_overdue(now)
    }

    /// Takes the oldest command out of the queue that goes on at `end` with the same access, if there is one.
    fn take_queued(&mut self, end: Lba, access: Access) -> Option<SlotIndex> {
        if self.slots.is_empty() || end.get() >= self.capacity().get() {
            return None;
        }
        let cylinder = self.model.mechanism.landing(end, Sectors::new(1), access, &self.spindle).cylinder;
        let write = access == Access::Write;
        let mut next = self.slots.at_or_above(self.slots.kind(write), cylinder);
        let slot = loop {
            let slot = next?;
            let entry = self.slots.entry(slot);
            if entry.cylinder != cylinder {
                return None;
            }
            if entry.first == end && entry.write == write {
                break slot;
            }
            next = self.slots.above(slot);
        };
        self.take_out(slot);
        self.flight(slot).stage = Stage::Serving;
        Some(slot)
    }

    /// Whether an arriving command is carried out in the same sweep as the one in service; if so it is noted.
    pub(super) fn joins(&mut self, now: Instant, first: Lba, access: Access, slot: SlotIndex) -> bool {
        let may = self.may_go_out_of_turn(now);
        let Some(sweep) = &mut self.sweep else { return false };
        let fits = may && sweep.joined.is_none() && sweep.end == first && sweep.access == access;
        if fits && sweep.join_until.is_some_and(|until| now <= until) {
            sweep.joined = Some(slot);
            return true;
        }
        false
    }

    /// Puts back into the queue what was to follow the command in service without another choice.
    pub(super) fn unjoin(&mut self) {
        if let Some(joined) = self.sweep.as_mut().and_then(|sweep| sweep.joined.take()) {
            self.interrupt(joined);
        }
    }

    /// A command that was to be next without a choice is next once what came between is over: in the queue it would be
    /// the youngest, and its wait would count from now.
    fn interrupt(&mut self, slot: SlotIndex) {
        if matches!(self.flight(slot).command.attribute, Attribute::HeadOfQueue | Attribute::Aca) {
            return self.file(slot);
        }
        self.flight(slot).stage = Stage::Waiting;
        self.tasks.interrupted.push_back(slot);
    }

    /// A read that the head, reading on, is just about to pass: no arm movement, no rotation.
    pub(super) fn meet_head(
        &mut self,
        context: &mut Context<'_>,
        slot: SlotIndex,
        place: Place,
        at: Instant,
    ) {
        let now = context.now;
        let story = self.story(Served::Met, now);
        self.turned_to += 1;
        self.slots.begin_service();
        let (failing, again) = self.strike(slot);
        let (at, free_since) = (at + again, self.free_since);
        let flight = self.flight(slot);
        let (arrived, ready, end) = (flight.arrived, flight.ready, flight.command.end());
        // The head may read on while the bus still holds back the next choice.
        let base = arrived.max(free_since.min(now));
        let started = base.max(ready);
        flight.stage = Stage::Serving;
        flight.story = Story { ended: at, ..story };
        (flight.begun, flight.data_from) = (started, started);
        flight.breakdown.queue += base - arrived;
        flight.breakdown.overhead = started - base;
        flight.breakdown.transfer = at.since(started);
        flight.track_left = Span::ZERO;
        if failing {
            flight.outcome = Outcome::MediaError;
        }
        self.consume(place, end, now);
        self.out_of_turn = self.out_of_turn.saturating_add(1);
        // The head reads on anyway, so what goes on there can join until the end.
        self.sweep = Some(Sweep {
            end,
            access: Access::Read,
            join_until: Some(at),
            joined: None,
            is_of_the_cache: false,
        });
        context.digest.fold(now.as_ns());
        self.schedule(context, at, DriveEvent::MediaEnd(slot));
        self.begins(context, slot);
    }

    /// The arm has turned to a command: what overlaps it can only come to the arm behind it. The cache could take that
    /// while the arm is still at this one, and so waits for its end.
    #[inline]
    fn begins(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        if !self.is_write_back() {
            self.unfile(context, slot);
        }
    }

    pub(super) fn on_media_end(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        self.end_media(context, slot);
        // Behind an error nothing begins before the host has heard of it.
        if self.flight(slot).outcome == Outcome::Done {
            self.unfile(context, slot);
        }
    }

    fn end_media(&mut self, context: &mut Context<'_>, slot: SlotIndex) {
        let now = context.now;
        let joined = self.sweep.take().and_then(|sweep| sweep.joined);
        self.free_since = now;
        let &mut InFlight {
            ref command,
            ready,
            data_from,
            sought,
            track_left,
            outcome,
            is_released,
            last_steps,
            story,
            ..
        } = self.flight(slot);
        let (id, first, count, access) = (command.id, command.first, command.count, command.access);
        let served = story.served;
        let on_link = self.on_link(count);
        let done = now.max(ready);
        let (mut sent, mut stays) = (done, now);
        if access == Access::Read {
            // The link runs beside the media, sector behind sector: none leaves before it is there.
            let tail = if sought > first { Span::ZERO } else { self.model.bus.reconnection() };
            let service = if is_released { self.model.exchange.serviced() } else { Span::ZERO };
            if outcome == Outcome::Done {
                let from = self.sends_from(slot, data_from, done);
                let (access, last) = (Access::Read, (done + tail).max(from));
                let transfer = Transfer { access, count, from, last, call: service };
                sent = context.wires.carry(self.index, &transfer).ended;
                context.data_op(DataOp::Deliver { read: id, first, count });
            }
            if outcome != Outcome::Done {
                // There is nothing to keep, and nothing behind it to go on to.
                self.read_end = first + count;
                self.stop_reading_on(now);
                if served == Served::Met {
                    // The buffer was to have it.
                    self.forget(first, first + count);
                }
            } else {
                let (begin, ahead) = self.passed_by(slot, first, sought);
                let ended = Ended { at: now, arm: self.arm, track_left, ahead };
                stays = self.read_on((begin, sought, first + count), &ended, joined.is_some());
            }
        } else if outcome == Outcome::Done {
            if last_steps != (Span::ZERO, Span::ZERO) {
                let (release, end) = last_steps;
                sent = done.max(data_from + on_link + release) + end;
            }
            self.overwrite(context, first, first + count);
            let member = self.index;
            context.data_op(DataOp::Accept { write: id, first, count });
            context.data_op(DataOp::Persist { write: id, member, first, count });
        }
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
            if let Some((place, at)) = self.goes_on(next, now) {
                return self.meet_head(context, next, place, at);
            }
            self.out_of_turn = self.out_of_turn.saturating_add(1);
            return self.dispatch(context, next, now, Served::Joined);
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

    /// When a read's data begin to go to the host: with the first of them, or when enough of them are in the buffer.
    #[inline]
    fn sends_from(&self, slot: SlotIndex, data_from: Instant, done: Instant) -> Instant {
        let Some(cache) = &self.cache else { return data_from };
        let share = cache.params.send_from.bits();
        if share == 0 {
            return data_from;
        }
        let flight = &self.in_flight[slot as usize];
        let count = flight.command.count.get();
        let enough = (u128::from(count.min(cache.params.segment().get())) * u128::from(share)) >> 32;
        // The sectors pass the head at an even pace, switches of track apart.
        let passing = u128::from(done.since(flight.begun).as_ns());
        data_from.max(flight.begun + Span::from_ns((passing * enough / u128::from(count)) as u64)).min(done)
    }

    /// What the buffer has got beside the blocks that a read asked for: from which block on, and what lies behind it on the
    /// track, from the first block up to before the second.
    fn passed_by(&self, slot: SlotIndex, first: Lba, sought: Lba) -> (Lba, (Lba, Lba)) {
        let none = (first, (Lba::ZERO, Lba::ZERO));
        let Some(cache) = &self.cache else { return none };
        let flight = &self.in_flight[slot as usize];
        let chosen = flight.story.served == Served::Chosen && flight.landing.is_whole();
        if !(cache.params.keeps_passing && chosen) {
            return none;
        }
        let geometry = &self.model.mechanism.geometry;
        let at = geometry.locate(sought);
        let per_track = u64::from(geometry.sectors_per_track(at.zone));
        let passed = flight.passed * per_track / self.spindle.period();
        let (track, track_end) = geometry.track_blocks(sought);
        let before = passed.min(at.sector.into());
        let begin = Lba::new(sought.get().saturating_sub(before)).max(track).min(first);
        let behind = passed - before;
        if behind == 0 || !self.model.mechanism.settle.read_on_arrival {
            return (begin, none.1);
        }
        let from = Lba::new(track_end.get().saturating_sub(behind)).max(flight.command.end());
        (begin, if from < track_end { (from, track_end) } else { none.1 })
    }

    /// The head goes on behind a read, where the drive reads on at all and nobody else wants the arm.
    /// Returns until when the arm stays whoever wants it.
    fn read_on(&mut self, (first, sought, end): (Lba, Lba, Lba), ended: &Ended, wanted: bool) -> Instant {
        let sequential = first == self.read_end;
        self.read_end = end;
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return ended.at };
        if !cache.segments.continues_to(end) {
            cache.segments.start(first, sought, end, ended, motion);
        }
        let ReadAheadParams { when_queued, when_sequential, least, .. } = cache.params.read_ahead;
        let queued = !self.slots.is_empty() && !when_queued;
        if wanted || when_sequential && !sequential || queued && least == Sectors::ZERO {
            self.stop_reading_on(ended.at);
            return ended.at;
        }
        if least == Sectors::ZERO { ended.at } else { cache.segments.read_by(end + least, motion) }
    }

    /// A read was answered from a segment while the arm has nothing to do: it reads on behind what is there.
    pub(super) fn goes_on_behind(&mut self, context: &mut Context<'_>, place: Place, end: Lba) {
        let now = context.now;
        let idle = self.sweep.is_none() && !self.is_wanted() && self.urge(now) != Urge::Press;
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return };
        if idle && cache.segments.goes_on(place) {
            let from = now.max(self.choose_from) + self.model.firmware.read_miss.after(self.before);
            cache.segments.go_on(place, end, from, self.arm, motion);
        }
    }

    /// The arm is needed elsewhere. Returns how long the sector under the head still keeps it.
    fn stop_reading_on(&mut self, now: Instant) -> Span {
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return Span::ZERO };
        let Some((arm, residue)) = cache.segments.stop(now, motion) else { return Span::ZERO };
        self.arm = arm;
        residue
    }

    /// The arm is called away from a read-ahead: when it can start.
    #[inline]
    pub(super) fn leave_segment(&mut self, now: Instant) -> Instant {
        now + self.stop_reading_on(now)
    }

    /// Whole turns that a write waits on its first sector because the link would bring its data too late.
    #[inline]
    pub(super) fn turns_lost_to_late_data(
        &self,
        slot: SlotIndex,
        started: Instant,
        passage: &Passage,
    ) -> Span {
        let &InFlight { ref command, data_from, is_released, .. } = &self.in_flight[slot as usize];
        if command.access == Access::Read || self.model.link.write_data == WriteData::BeforePositioning {
            return Span::ZERO;
        }
        // A drive that has let go of the bus calls for the data as soon as it has taken the command up.
        let begun = if is_released { data_from + self.model.exchange.serviced() } else { data_from };
        let ended = begun + self.model.link.time_for(command.count);
        self.turns_lost(&Carried { begun, ended }, command.count, started, passage)
    }

    /// A write's data cross the link: at once when the drive has the command, or when the arm turns to it.
    #[inline]
    fn write_data(&self, context: &mut Context<'_>, slot: SlotIndex, started: Instant) -> Carried {
        let &InFlight { ref command, data_from, is_released, .. } = &self.in_flight[slot as usize];
        let (access, count) = (command.access, command.count);
        if access == Access::Read {
            return Carried { begun: started, ended: started };
        }
        // A drive that has let go of the bus must call for the data.
        let call = if is_released { self.model.exchange.serviced() } else { Span::ZERO };
        let from = match self.model.link.write_data {
            WriteData::BeforePositioning => started,
            WriteData::WhilePositioning => data_from,
        };
        context.wires.carry(self.index, &Transfer { access, count, from, last: from, call })
    }

    /// Whole turns that writing waits because its data would not be there as they are needed.
    #[inline]
    pub(super) fn turns_lost(
        &self,
        data: &Carried,
        count: Sectors,
        started: Instant,
        passage: &Passage,
    ) -> Span {
        let flow = (data.ended - data.begun).as_ns();
        let ahead = flow.saturating_sub(passage.transfer.as_ns());
        let sectors = self.sectors_before_media(count);
        let ahead = ahead.max(self.link_sector.as_ns() * sectors);
        let begun = started + passage.seek + passage.rotation;
        let short = (data.begun + Span::from_ns(ahead)).since(begun).as_ns();
        let period = self.spindle.period();
        Span::from_ns(short.div_ceil(period) * period)
    }

    /// How many of a write's sectors must be there before the first can be written.
    #[inline]
    fn sectors_before_media(&self, count: Sectors) -> u64 {
        let least = self.model.bus.sectors_before_media(count.get());
        let Some(cache) = &self.cache else { return least };
        let share = cache.params.write_from.bits();
        if share == 0 {
            return least;
        }
        let at_once = count.get().min(cache.params.segment().get());
        least.max(((u128::from(at_once) * u128::from(share)) >> 32) as u64)
    }
}
