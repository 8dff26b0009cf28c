//! Reads that need no access of their own: those that the head meets on its path, and those that the buffer
//! answers.
use super::buffer::DestageUrgency;
use super::cache::segments::SegmentIndex;
use super::mechanics::reading_on::Passing;
use super::mechanics::sweep::Sweep;
use super::queue::SlotIndex;
use super::queue::choose::is_cheaper_so;
use super::tasks::flight::{Service, TaskState};
use super::{Drive, DriveEvent};
use crate::command::{Access, Command, Outcome};
use crate::storage::context::Context;
use crate::storage::link::Transfer;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Span};

impl Drive {
    /// A read is picked up. Returns whether it continues the one that was picked up before, which is not answered yet.
    #[inline]
    pub(super) fn continues_stream(&mut self, slot: SlotIndex, first: Lba, end: Lba) -> bool {
        let continues = self.firmware.continued_by(first).is_some_and(|(slot, serial)| {
            let before = &self.tasks[slot];
            before.state != TaskState::Free && before.serial == serial
        });
        self.firmware.note_read(slot, self.tasks[slot].serial, end);
        continues
    }

    /// Serves a read on the head's path before the one that the drive has chosen, unless the order would
    /// prefer the chosen one although the head reaches the read so soon. Returns whether it did.
    pub(super) fn serve_before_chosen(
        &mut self,
        context: &mut Context,
        nearest: SlotIndex,
        chosen: SlotIndex,
        from: Instant,
    ) -> bool {
        let now = context.now;
        if !self.may_go_out_of_turn(now, Access::Read) {
            return false;
        }
        let Some(passing) = self.in_passing(nearest, now) else { return false };
        if let Passing::Coming(_, at) = passing {
            let begins = self.mechanics.time_to_first_sector(&self.tasks[nearest], at, now);
            let (view, slots) = (self.mechanics.view(from), &self.mechanics.slots);
            if !is_cheaper_so(slots.entry(nearest), begins, slots.entry(chosen), &view) {
                self.mechanics.stop_reading_on(&mut self.buffer, now);
                return false;
            }
        }
        self.take_out(nearest);
        self.serve_in_passing(context, nearest, passing);
        true
    }

    /// How a waiting read can be served without an access of its own.
    pub(super) fn in_passing(&mut self, slot: SlotIndex, now: Instant) -> Option<Passing> {
        self.mechanics.in_passing(&mut self.buffer, &self.tasks[slot].command, now)
    }

    /// Serves a read in this way.
    pub(super) fn serve_in_passing(&mut self, context: &mut Context, slot: SlotIndex, passing: Passing) {
        match passing {
            Passing::Held(segment) => {
                let call = self.model.disconnect.reconnection();
                let flight = &mut self.tasks[slot];
                flight.state = TaskState::Serving;
                flight.ready = flight.ready.max(context.now) + call;
                self.serve_from_buffer(context, slot, segment);
            }
            Passing::Coming(segment, at) => self.serve_at_head(context, slot, segment, at),
        }
    }

    /// Serves a read that the head, reading on, is just about to pass: no arm movement, no rotation.
    pub(super) fn serve_at_head(
        &mut self,
        context: &mut Context,
        slot: SlotIndex,
        segment: SegmentIndex,
        at: Instant,
    ) {
        let now = context.now;
        let service = self.mechanics.begin_service(Served::Met, now);
        self.mechanics.slots.begin_service();
        let (failing, again) = self.mechanics.media_failure(&self.tasks[slot]);
        let at = at + again;
        let flight = &mut self.tasks[slot];
        flight.media.sought = flight.command.first;
        let (arrived, ready, end) = (flight.arrived, flight.ready, flight.command.end());
        let started = now.max(ready);
        flight.state = TaskState::Serving;
        flight.service = Service { ended: at, ..service };
        (flight.begun, flight.link.data_from) = (started, started);
        flight.breakdown.queue += now - arrived;
        flight.breakdown.overhead = started - now;
        flight.breakdown.transfer = at.since(started);
        flight.media.track_left = Span::ZERO;
        if failing {
            flight.outcome = Outcome::MediaError;
        }
        self.buffer.consume(context, segment, end, self.mechanics.motion());
        self.mechanics.go_out_of_turn();
        // The head reads on anyway, so a command that continues there can join until the end.
        self.mechanics.sweep = Some(Sweep::reading_on(end, at));
        context.digest.fold(now.as_ns());
        self.schedule(context, at, DriveEvent::MediaEnd(slot));
        self.begin(context, slot);
    }

    /// Serves a read whose data are all in the buffer: it needs only the link.
    pub(super) fn serve_from_buffer(
        &mut self,
        context: &mut Context,
        slot: SlotIndex,
        segment: SegmentIndex,
    ) {
        let service = self.mechanics.begin_service(Served::Buffered, context.now);
        let flight = &mut self.tasks[slot];
        let Command { id, first, count, .. } = flight.command;
        let (ready, end, call) = (flight.ready, first + count, flight.link.call);
        let base = flight.arrived.max(context.now);
        let ready = ready.max(base);
        flight.breakdown.queue += base - flight.arrived;
        flight.breakdown.overhead = ready - base;
        (flight.ready, flight.begun, flight.service) = (ready, ready, Service { ended: ready, ..service });
        self.buffer.deliver_held(context, id, first, end, segment);
        self.buffer.consume(context, segment, end, self.mechanics.motion());
        self.continue_read_ahead(context, segment, end);
        self.mechanics.note_read(first, end);
        self.mechanics.stay_with_stream(&self.buffer, context.now);
        // A command that waited for the media is disconnected and must reselect.
        let transfer = Transfer { access: Access::Read, count, from: ready, last: ready, call };
        let sent = self.port.carry(context, &transfer).ended;
        self.finish(context, slot, ready, sent);
        self.unfile(context, slot);
    }

    /// A read was answered from a segment: if the arm is idle, it reads on behind what is there.
    fn continue_read_ahead(&mut self, context: &mut Context, segment: SegmentIndex, end: Lba) {
        let now = context.now;
        let idle =
            self.mechanics.sweep.is_none() && !self.is_wanted() && self.urgency(now) != DestageUrgency::Press;
        if idle && !self.is_scattered(end, end) {
            let from = now.max(self.mechanics.choose_from) + self.firmware.read_miss(&self.model);
            self.mechanics.go_on_behind(context, &mut self.buffer, segment, end, from);
        }
    }
}
