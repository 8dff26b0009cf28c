//! Reading on: what the head does behind a read that nothing else follows, and the reads that it meets on its way.
use super::cache::Cache;
use super::cache::params::ReadAheadParams;
use super::cache::segment::{Cover, Ended, Motion};
use super::cache::segments::Place;
use super::joining::Sweep;
use super::queue::{self, Chooses, SlotIndex};
use super::write_back::Urge;
use super::{Drive, DriveEvent, Service, Stage};
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::NONE;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Sectors, Span};

/// Of so many waiting commands that begin on a cylinder the head's way is looked at; a crowd there may be any number.
const LOOKED_AT: usize = 64;

/// How a read is served that the mechanism need not turn to.
#[derive(Clone, Copy)]
pub(super) enum Passing {
    /// The buffer has it.
    Held(Place),
    /// The head will have read it at this instant.
    Coming(Place, Instant),
}

impl Drive {
    /// The waiting read that begins nearest behind what the head has read last, or in it, on the arm's cylinder.
    pub(super) fn next_on_the_way(&self, now: Instant) -> Option<SlotIndex> {
        let start = self.cache.as_ref()?.segments.front(now)?.start;
        if self.slots.is_empty() || self.tasks.is_pressed() || !self.model.queue.sees_all(self.slots.len()) {
            return None;
        }
        self.waiting_from(start, self.arm.cylinder)
    }

    /// The waiting read on a cylinder that begins at this block or as little behind it as any, of the first few there.
    fn waiting_from(&self, start: Lba, cylinder: u32) -> Option<SlotIndex> {
        let kind = self.slots.kind(false);
        let row = self.slots.row(kind);
        let mut at = self.slots.first_from(kind, cylinder);
        let mut nearest: Option<(Lba, SlotIndex)> = None;
        for _ in 0..LOOKED_AT {
            let Some(slot) = self.slots.slot_at(row, at) else { break };
            let entry = self.slots.entry(slot);
            if entry.cylinder != cylinder {
                break;
            }
            if !entry.write && entry.first >= start && nearest.is_none_or(|(first, _)| entry.first < first) {
                nearest = Some((entry.first, slot));
            }
            at = self.slots.next(row, at, true);
        }
        nearest.map(|(_, slot)| slot)
    }

    /// Serves a read that lies on the head's way before the one that the drive has chosen, unless the order would have that
    /// first although the head is at the read so soon. Returns whether it did.
    pub(super) fn goes_before(
        &mut self,
        context: &mut Context,
        nearest: SlotIndex,
        chosen: SlotIndex,
        from: Instant,
    ) -> bool {
        let now = context.now;
        if !self.may_go_out_of_turn(now) {
            return false;
        }
        let Some(passing) = self.in_passing(nearest, now) else { return false };
        if let Passing::Coming(_, at) = passing {
            let flight = &self.in_flight[nearest as usize];
            let sector = self.model.mechanism.sector_time(&flight.landing).as_ns();
            let begins = at.since(now).as_ns().saturating_sub(sector * flight.command.count.get());
            let view = self.view(&self.model.queue, from);
            let (nearest, chosen) = (self.slots.entry(nearest), self.slots.entry(chosen));
            if !queue::choose::is_cheaper_so(nearest, begins, chosen, &view) {
                self.stop_reading_on(now);
                return false;
            }
        }
        self.take_out(nearest);
        self.serve_in_passing(context, nearest, passing);
        true
    }

    /// How a waiting read can be served without turning to it: the buffer has got it since it came, or the head comes to it
    /// by simply going on where it is, or has just stopped; then it does.
    pub(super) fn in_passing(&mut self, slot: SlotIndex, now: Instant) -> Option<Passing> {
        let command = &self.in_flight[slot as usize].command;
        let (first, end) = (command.first, command.end());
        let bad = self.faults.as_ref().is_some_and(|faults| faults.is_unreadable(command));
        if command.access == Access::Write || command.force_unit_access || bad {
            return None;
        }
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let cache = self.cache.as_mut()?;
        let front = cache.segments.front(now).filter(|front| front.start <= first && first <= front.limit)?;
        if front.has_stopped {
            cache.segments.resume(front.place);
        }
        match cache.cover(first, end, now, motion) {
            (Cover::Hit, place) => {
                // A head that was not to read on behind its read does not begin to.
                if front.has_stopped && !self.may_read_on {
                    cache.segments.stop(now, motion);
                }
                Some(Passing::Held(place))
            }
            (Cover::Coming(at), place) if front.is_at(first) || cache.segments.still_reads(now, motion) => {
                Some(Passing::Coming(place, at))
            }
            _ => {
                if front.has_stopped {
                    cache.segments.stop(now, motion);
                }
                None
            }
        }
    }

    /// Serves a read so.
    pub(super) fn serve_in_passing(&mut self, context: &mut Context, slot: SlotIndex, passing: Passing) {
        match passing {
            Passing::Held(place) => {
                let call = self.model.disconnect.reconnection();
                let flight = self.flight(slot);
                flight.stage = Stage::Serving;
                flight.ready = flight.ready.max(context.now) + call;
                self.serve_from_buffer(context, slot, place);
            }
            Passing::Coming(place, at) => self.meet_head(context, slot, place, at),
        }
    }

    /// Whether a read that comes now is served by the head that is on its way to it, before all that waits: not while the
    /// head reads on only because the drive has yet to choose.
    #[inline]
    pub(super) fn may_be_met(&self, now: Instant) -> bool {
        let when_queued = |cache: &Cache| {
            let ReadAheadParams { when_queued, least, .. } = cache.params.read_ahead;
            when_queued || least > Sectors::ZERO
        };
        let waits = !self.slots.is_empty() && !self.cache.as_ref().is_some_and(when_queued);
        !waits && self.sweep.is_none() && self.may_go_out_of_turn(now)
    }

    /// A read that the head, reading on, is just about to pass: no arm movement, no rotation.
    pub(super) fn meet_head(&mut self, context: &mut Context, slot: SlotIndex, place: Place, at: Instant) {
        let now = context.now;
        let service = self.service(Served::Met, now);
        self.turned_to += 1;
        self.slots.begin_service();
        let (failing, again) = self.strike(slot);
        let at = at + again;
        let flight = self.flight(slot);
        flight.sought = flight.command.first;
        let (arrived, ready, end) = (flight.arrived, flight.ready, flight.command.end());
        let started = now.max(ready);
        flight.stage = Stage::Serving;
        flight.service = Service { ended: at, ..service };
        (flight.begun, flight.data_from) = (started, started);
        flight.breakdown.queue += now - arrived;
        flight.breakdown.overhead = started - now;
        flight.breakdown.transfer = at.since(started);
        flight.track_left = Span::ZERO;
        if failing {
            flight.outcome = Outcome::MediaError;
        }
        self.consume(context, place, end);
        self.out_of_turn = self.out_of_turn.saturating_add(1);
        // The head reads on anyway, so what goes on there can join until the end.
        self.sweep = Some(Sweep::reading_on(end, at));
        context.digest.fold(now.as_ns());
        self.schedule(context, at, DriveEvent::MediaEnd(slot));
        self.begins(context, slot);
    }

    /// From which block on what a read has had of the buffer is still there as it ends: data that were written meanwhile
    /// have taken its place, and may be on the media by now. And the segment that has it.
    pub(super) fn held_before(&mut self, first: Lba, sought: Lba, now: Instant) -> (Lba, Place) {
        if first == sought {
            return (first, NONE);
        }
        match self.cover(first, sought, now) {
            (Cover::Hit, place) => (first, place),
            _ => (sought, NONE),
        }
    }

    /// The head goes on behind this read, of which the buffer still has what lies between `held` and `sought`, where the
    /// drive reads on at all and nobody else wants the arm. Returns until when the arm stays whoever wants it.
    pub(super) fn read_on(
        &mut self,
        context: &mut Context,
        (first, sought, end): (Lba, Lba, Lba),
        ended: &Ended,
        (held, holder): (Lba, Place),
        wanted: bool,
    ) -> Instant {
        let sequential = first == self.read_end;
        let when_sequential =
            self.cache.as_ref().is_some_and(|cache| cache.params.read_ahead.when_sequential);
        self.may_read_on = sequential || !when_sequential;
        self.read_end = end;
        let waits = !self.slots.is_empty() && !self.is_followed(end);
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return ended.at };
        if !cache.segments.continues_to(end) {
            let places = cache.segments.start(first, sought, end, ended, motion);
            self.tell_segment(context, (first, held, sought), places, holder);
        }
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return ended.at };
        let ReadAheadParams { when_queued, least, .. } = cache.params.read_ahead;
        let queued = waits && !when_queued;
        if wanted || !self.may_read_on || queued && least == Sectors::ZERO {
            self.stop_reading_on(ended.at);
            return ended.at;
        }
        if least == Sectors::ZERO { ended.at } else { cache.segments.read_by(end + least, motion) }
    }

    /// Whether a read waits that begins here or as little ahead as the head may go on for, and the drive has yet to choose:
    /// until then it reads on towards that. For no other command does it: the mixed columns of LKML (docs/accuracy.md) show
    /// reads no faster than the writes between them, so a drive that is to write does not read on meanwhile.
    fn is_followed(&self, end: Lba) -> bool {
        let Some(cache) = self.cache.as_ref().filter(|_| self.model.queue.chooses != Chooses::AtMediaEnd)
        else {
            return false;
        };
        if end.get() >= self.capacity().get() {
            return false;
        }
        let landing = self.model.mechanism.landing(end, Sectors::new(1), Access::Read, &self.spindle);
        let sector = self.model.mechanism.sector_time(&landing).as_ns();
        let soon = |slot: SlotIndex| {
            let gap = (self.slots.entry(slot).first - end).get();
            gap.saturating_mul(sector) <= cache.params.read_ahead.covers_within.as_ns()
        };
        self.waiting_from(end, landing.cylinder).is_some_and(soon)
    }

    /// What the buffer has got beside the blocks of a read that it has from `first` on: from which block on, and what
    /// lies behind it on the track, from the first block up to before the second.
    pub(super) fn passed_by(&self, slot: SlotIndex, first: Lba, sought: Lba) -> (Lba, (Lba, Lba)) {
        let none = (first, (Lba::ZERO, Lba::ZERO));
        let Some(cache) = &self.cache else { return none };
        let flight = &self.in_flight[slot as usize];
        let chosen = flight.service.served == Served::Chosen && flight.landing.is_whole();
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

    /// A read was answered from a segment while the arm has nothing to do: it reads on behind what is there.
    pub(super) fn goes_on_behind(&mut self, context: &mut Context, place: Place, end: Lba) {
        let now = context.now;
        let idle = self.sweep.is_none() && !self.is_wanted() && self.urge(now) != Urge::Press;
        let motion = Motion { mechanism: &self.model.mechanism, spindle: &self.spindle };
        let Some(cache) = &mut self.cache else { return };
        if idle && cache.segments.goes_on(place) {
            let from = now.max(self.choose_from) + self.model.firmware.read_miss.after(self.before);
            if let Some((first, end)) = cache.segments.go_on(place, end, from, self.arm, motion) {
                self.loads(context, place, first, end);
            }
        }
    }

    /// The arm is needed elsewhere. Returns how long the sector under the head still keeps it.
    pub(super) fn stop_reading_on(&mut self, now: Instant) -> Span {
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
}
