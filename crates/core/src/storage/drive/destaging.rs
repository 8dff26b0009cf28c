//! What arm and buffer do for written data: writes are accepted into the cache, the arm destages them, and
//! commands that wait for either proceed.
use super::buffer::DestageUrgency;
use super::cache::dirty::DirtyPiece;
use super::cache::segment::Cover;
use super::queue::SlotIndex;
use super::tasks::flight::{Service, TaskState};
use super::{Drive, DriveEvent};
use crate::command::{Access, Command};
use crate::storage::context::Context;
use crate::storage::link::{Carried, Transfer};
use crate::storage::tree::Slot;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Span};

impl Drive {
    /// The firmware has picked up a write for the cache: its data are transferred once there is room for
    /// them.
    pub(super) fn write_back(&mut self, context: &mut Context, slot: SlotIndex) {
        if !self.buffer.waiting.has_writers() && !self.tasks.is_blocked(slot) && self.admits(slot) {
            self.accept(context, slot);
        } else {
            self.tasks[slot].state = TaskState::Waiting;
            self.buffer.waiting.add_writer(slot);
        }
        self.choose(context);
    }

    fn admits(&self, slot: SlotIndex) -> bool {
        let Command { first, count, .. } = self.tasks[slot].command;
        if let Some(flash) = &self.flash {
            return self.has_room(flash, first, count);
        }
        self.buffer.admits(first, count, self.mechanics.sweep.is_some()) && self.maps_one_more()
    }

    /// The cache accepts a write: the data cross the link, and the command is done when they have.
    fn accept(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let service = self.mechanics.begin_service(Served::Buffered, now);
        let flight = &mut self.tasks[slot];
        let from = flight.ready.max(now);
        flight.state = TaskState::Serving;
        (flight.begun, flight.service) = (from, Service { ended: from, ..service });
        flight.breakdown.queue += now - flight.arrived;
        flight.breakdown.overhead = from - now;
        let (sent, Command { first, count, id: write, .. }) = (flight.command.on_link(), flight.command);
        let data_from = from.max(flight.link.data_from);
        let transfer = Transfer {
            access: Access::Write,
            count: sent,
            from: data_from,
            last: data_from,
            call: Span::ZERO,
        };
        let Carried { begun: coming, ended: there } = self.port.carry(context, &transfer);
        let (since, end) = (now, first + count);
        self.mechanics.heal(first, end);
        let piece = DirtyPiece { first, end, write, sequence: 0, since, from, coming, there };
        if self.flash.is_some() {
            self.store(context, piece);
            if self.waits_for_die(slot, from, there) {
                return;
            }
            self.finish(context, slot, from, there);
            return;
        }
        self.buffer.accept(context, piece, self.mechanics.motion());
        self.shingled.iter_mut().for_each(|shingled| shingled.admitted());
        self.finish(context, slot, from, there);
    }

    /// Serves commands that waited for the cache, as far as possible: reads that waited for the end of
    /// destaging, commands whose data have reached the media, writes for which there is room.
    pub(super) fn serve_waiting_for_cache(&mut self, context: &mut Context) {
        while let Some(slot) = self.buffer.waiting.take_hit(|slot| self.tasks.is_blocked(slot)) {
            self.serve_hit(context, slot);
        }
        while let Some(slot) = self.take_persisted() {
            self.persisted(context, slot);
        }
        while let Some(slot) = self.buffer.waiting.next_writer(|slot| self.tasks.is_blocked(slot))
            && self.admits(slot)
        {
            self.take_out(slot);
            self.accept(context, slot);
        }
    }

    /// Removes the oldest command whose data have reached the media, among those that nothing else holds up.
    fn take_persisted(&mut self) -> Option<SlotIndex> {
        let is_blocked = |slot| self.tasks.is_blocked(slot);
        match &self.flash {
            None => self.buffer.take_persisted(is_blocked),
            Some(flash) => {
                let is_persisted = |sequence| flash.writes.is_persisted(sequence);
                self.buffer.waiting.take_persisted(is_blocked, is_persisted)
            }
        }
    }

    /// Serves a read that waited until the arm had finished destaging.
    fn serve_hit(&mut self, context: &mut Context, slot: SlotIndex) {
        let flight = &mut self.tasks[slot];
        flight.state = TaskState::Serving;
        let Command { first, count, .. } = flight.command;
        match self.buffer.cover(first, first + count, context.now, self.mechanics.motion()) {
            (Cover::Hit, segment) => self.serve_from_buffer(context, slot, segment),
            _ => self.enqueue(context, slot),
        }
    }

    /// The data that a command waited for are on the media.
    fn persisted(&mut self, context: &mut Context, slot: SlotIndex) {
        let flight = &mut self.tasks[slot];
        if flight.command.access == Access::Flush {
            return self.flushed(context, slot);
        }
        flight.state = TaskState::Serving;
        match (self.flash.is_some(), flight.command.access) {
            (false, _) => self.enqueue(context, slot),
            (true, Access::Write) => self.on_die(context, slot),
            // Newer data may have come meanwhile.
            (true, _) if self.wait_for_media(slot) => {}
            (true, _) => self.read_dies(context, slot),
        }
    }

    /// Whether a command must wait until written data are on the media.
    #[inline]
    pub(super) fn wait_for_media(&mut self, slot: SlotIndex) -> bool {
        if self.injected.lies && self.tasks[slot].command.access == Access::Flush {
            return false;
        }
        let command = &self.tasks[slot].command;
        let waits = match &self.flash {
            None => self.buffer.queue_behind_barrier(slot, command),
            Some(flash) => flash.writes_before(command).is_some_and(|sequence| {
                self.buffer.waiting.add_barrier(slot, sequence);
                true
            }),
        };
        if waits {
            self.tasks[slot].state = TaskState::Waiting;
        }
        waits
    }

    /// Everything that a FLUSH asks for is on the media, or a command is refused: neither needs the mechanism.
    pub(super) fn flushed(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let service = self.mechanics.begin_service(Served::Buffered, now);
        let flight = &mut self.tasks[slot];
        let from = flight.ready.max(now);
        // A drive that lies does not even save its map.
        let flash = self.flash.as_mut().filter(|_| !self.injected.lies);
        let from = flash.map_or(from, |flash| flash.save_map(from));
        flight.breakdown.queue += now - flight.arrived;
        flight.breakdown.overhead = from - now;
        (flight.state, flight.begun) = (TaskState::Serving, from);
        flight.service = Service { ended: from, ..service };
        self.finish(context, slot, from, from);
    }

    /// How urgently the cache needs the arm now.
    #[inline]
    pub(super) fn urgency(&self, now: Instant) -> DestageUrgency {
        let urgency = self.buffer.destage_urgency(now, self.quiet_since());
        if self.shingled.is_none() { urgency } else { self.urgency_of_cleaning(urgency, now) }
    }

    /// Since when the drive has been idle.
    #[inline]
    pub(super) fn quiet_since(&self) -> Instant {
        self.mechanics.free_since.max(self.firmware.picked_up_at())
    }

    /// The arm is offered to the cache; the host needs it too if `wanted`: they then take turns, so that neither waits
    /// for more than one service of the other. Returns whether the cache takes it.
    pub(super) fn destages(&mut self, context: &mut Context, wanted: bool) -> bool {
        if self.shingled.is_some() {
            return self.works(context, wanted);
        }
        let now = context.now;
        let Some(piece) = self.buffer.next_piece(now, self.mechanics.view(now)) else { return false };
        let goes = !wanted || self.buffer.has_turn();
        if goes {
            self.destage(context, piece, !wanted);
        }
        goes
    }

    /// The arm starts to destage a piece and its neighbours; `idle` when it has nothing else to do.
    fn destage(&mut self, context: &mut Context, piece: Slot, idle: bool) {
        let now = context.now;
        let left = self.mechanics.leave_segment(&mut self.buffer, now);
        let Some(launched) = self.buffer.launch(piece, Lba::new(u64::MAX), now, idle) else { return };
        let (first, end, data) = (launched.first, launched.end, launched.data);
        let port = &self.port;
        let ended = self.mechanics.destage(first, end, left.max(launched.from), |started, passage| {
            if data.ended > started {
                port.turns_lost(&data, end - first, started, passage)
            } else {
                Span::ZERO
            }
        });
        context.digest.fold(now.as_ns() ^ first.get() << 32);
        self.schedule(context, ended, DriveEvent::Destaged);
    }

    /// The destaging under way is complete.
    pub(super) fn on_destaged(&mut self, context: &mut Context) {
        if self.flash.is_some() {
            return self.on_programmed(context);
        }
        self.mechanics.sweep = None;
        self.mechanics.free_since = context.now;
        if self.has_destaged() {
            self.buffer.land(context);
        }
        self.choose(context);
    }
}
