//! What a flash drive does with commands: reads go to the dies at once and side by side, writes into the buffer, and from
//! there to the dies.
use super::cache::dirty::DirtyPiece;
use super::cache::segment::Cover;
use super::firmware::{BufferAnswer, PickedUp};
use super::flash::Flash;
use super::queue::SlotIndex;
use super::tasks::flight::{Service, TaskState};
use super::{Drive, DriveEvent};
use crate::command::{Access, Command, Outcome};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Sectors, Span};

impl Drive {
    /// The command may begin: the firmware picks it up, one command at a time.
    #[inline(never)]
    pub(super) fn pick_up_for_dies(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.injected.delays() {
            self.note_delay(context, slot);
        }
        let (now, Some(flash)) = (context.now, &self.flash) else { return };
        let command = self.tasks[slot].command;
        let Command { access, first, force_unit_access, .. } = command;
        let (takes, end) = (access == Access::Write, command.end());
        let may_hit = access == Access::Read && !force_unit_access && !self.mechanics.is_unreadable(&command);
        let cover = if may_hit && flash.holds(first, end) { Cover::Hit } else { Cover::Miss };
        let answer = BufferAnswer { cover, takes, continues: false };
        let PickedUp { ready, data, call, last_steps } =
            self.firmware.pick_up(&self.model, &command, answer, now);
        let flight = &mut self.tasks[slot];
        (flight.arrived, flight.ready, flight.begun, flight.link.data_from) = (now, ready, ready, data);
        (flight.state, flight.link.call, flight.media.sought) = (TaskState::Serving, call, first);
        flight.link.last_steps = last_steps;
        flight.breakdown.queue = now - flight.accepted;
        if takes {
            return self.write_back(context, slot);
        }
        if self.wait_for_media(slot) {
            return self.choose(context);
        }
        if access == Access::Flush { self.flushed(context, slot) } else { self.read_dies(context, slot) }
    }

    /// The dies read for this command.
    pub(super) fn read_dies(&mut self, context: &mut Context, slot: SlotIndex) {
        let Some(flash) = &mut self.flash else { return };
        let now = context.now;
        let flight = &self.tasks[slot];
        let command = &flight.command;
        let from = flight.ready.max(now).max(self.injected.hung_until());
        let read = flash.read((command.first, command.end()), from, command.force_unit_access);
        // Only what a die has read can fail.
        let is_of_die = !read.own.is_zero() || self.mechanics.is_unreadable(command);
        let (fails, again) =
            if is_of_die { self.mechanics.media_failure(flight) } else { (false, Span::ZERO) };
        let (done, own) = (read.done + again, read.own + again);
        let served = if own.is_zero() { Served::Buffered } else { Served::Chosen };
        let service = self.mechanics.begin_service(served, now);
        let flight = &mut self.tasks[slot];
        if fails {
            flight.outcome = Outcome::MediaError;
        }
        flight.state = TaskState::Serving;
        // What it waited for its die, or for a page that was on its way.
        let waited = (done - from) - own;
        flight.breakdown.queue += (now - flight.arrived) + waited;
        flight.breakdown.overhead = from - now;
        flight.breakdown.transfer = own;
        (flight.begun, flight.link.data_from) = (from + waited, done.max(flight.link.data_from));
        flight.service = Service { ended: done, ..service };
        let serial = flight.serial;
        if let Some(until) = self.tasks.limits.active_until(&self.tasks[slot].command, now) {
            self.schedule(context, until, DriveEvent::Deadline(slot, serial));
        }
        context.digest.fold(now.as_ns());
        self.schedule(context, done, DriveEvent::MediaEnd(slot));
    }

    /// The dies have read a command's data, or could not.
    pub(super) fn end_of_dies(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let flight = &self.tasks[slot];
        let &Command { id, first, .. } = &flight.command;
        let (end, is_done) = (flight.command.end(), flight.outcome == Outcome::Done);
        let mut sent = now;
        if is_done {
            sent = self.port.send_read(context, flight, now);
            self.buffer.deliver_read(context, id, first, end);
        }
        self.finish(context, slot, now, sent);
        if is_done {
            self.unfile(context, slot);
        }
    }

    /// Written data whose transfer has begun go into the buffer of a flash drive.
    #[cold]
    pub(super) fn store(&mut self, context: &mut Context, piece: DirtyPiece) {
        let Some(flash) = &mut self.flash else { return };
        let DirtyPiece { first, end, write, .. } = piece;
        let (member, count) = (self.index, end - first);
        let is_volatile = !flash.params.is_protected;
        flash.accept(piece, |write, first, count| {
            if is_volatile {
                context.data_op(DataOp::Drop { write, member, first, count });
            }
        });
        context.data_op(DataOp::Accept { write, member, first, count });
        if !is_volatile {
            // Whatever happens, it reaches a die.
            context.data_op(DataOp::Persist { write, member, first, count });
        }
    }

    /// Whether the buffer has room for a write now.
    pub(super) fn has_room(&self, flash: &Flash, first: Lba, count: Sectors) -> bool {
        // Data that a FLUSH waits for must reach a die before newer data replace them.
        let flushing = self.buffer.waiting.has_barriers() && flash.writes.waits(first, first + count);
        flash.writes.has_room(count) && !flushing
    }

    /// Whether a write that the buffer has accepted ends only when its data are on a die; it then waits for that.
    #[cold]
    pub(super) fn waits_for_die(&mut self, slot: SlotIndex, from: Instant, there: Instant) -> bool {
        let Some(flash) = &self.flash else { return false };
        let flight = &mut self.tasks[slot];
        if flash.params.answers_early && (!flight.command.force_unit_access || flash.params.is_protected) {
            return false;
        }
        // Its times are entered when it ends: it may be given up before.
        flight.breakdown.overhead = Span::ZERO;
        (flight.begun, flight.link.data_until, flight.state) = (from, there, TaskState::Waiting);
        self.buffer.waiting.add_barrier(slot, flash.writes.accepted());
        true
    }

    /// The data of a write that had to reach a die are there.
    pub(super) fn on_die(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let flight = &mut self.tasks[slot];
        flight.state = TaskState::Serving;
        flight.service.ended = now;
        let (from, there) = (flight.begun, flight.link.data_until);
        (flight.breakdown.link, flight.breakdown.transfer) = (there - from, now - there);
        flight.breakdown.overhead = now - (flight.submitted + flight.breakdown.total());
        self.finish(context, slot, now, now);
    }

    /// Starts the programs that may begin, and serves what waited for those that have ended.
    #[cold]
    pub(super) fn program(&mut self, context: &mut Context) {
        if !self.buffer.waiting.is_empty() {
            self.serve_waiting_for_cache(context);
        }
        let now = context.now;
        let hung = self.injected.hung_until();
        if now < hung {
            return self.choose_at(context, hung);
        }
        let presses = self.buffer.waiting.presses();
        while let Some(flash) = &mut self.flash
            && flash.may_program(now, presses)
        {
            let ended = flash.program(now);
            context.digest.fold(now.as_ns() ^ ended.as_ns() << 32);
            self.schedule(context, ended, DriveEvent::Destaged);
        }
        // What is due waits for the program of its die to end.
        let from = self.flash.as_ref().and_then(|flash| flash.programs_from());
        if let Some(from) = from.filter(|&from| from > now && !presses) {
            self.choose_at(context, from);
        }
    }

    /// The oldest program has ended.
    #[cold]
    pub(super) fn on_programmed(&mut self, context: &mut Context) {
        let (member, Some(flash)) = (self.index, &mut self.flash) else { return };
        let is_volatile = !flash.params.is_protected;
        flash.land(|&DirtyPiece { write, first, end, .. }| {
            if is_volatile {
                context.data_op(DataOp::Persist { write, member, first, count: end - first });
            }
        });
        self.choose(context);
    }
}
