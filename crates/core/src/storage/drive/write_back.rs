//! Write-back: a write completes when its data are in the cache, and the arm takes them to the media later.
//!
//! When: with the write itself, when the drive is idle, when the cache fills, when data have waited long enough, or when
//! a command waits for them (FLUSH, a FUA read). Where to: the piece that the arm reaches first, with its neighbours
//! behind it. While host and cache both want the arm they have it in turn, so that neither waits for ever. Start reading
//! at [`Drive::urge`].
use super::cache::dirty::{Dirty, Piece};
use super::cache::params::{Destage, WriteBackParams};
use super::cache::segment::Cover;
use super::joining::Sweep;
use super::mechanism::{Landing, Mechanism};
use super::queue::choose::cost;
use super::queue::{Entry, SlotIndex, Slots, choose};
use super::spindle::Spindle;
use super::{Drive, DriveEvent, Service, Stage};
use crate::command::{Access, Command};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::link::{Carried, Transfer};
use crate::storage::tree::{NONE, Slot};
use crate::trace::Served;
use drivelab_units::{Instant, Lba, Span};

/// How much the cache wants the arm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Urge {
    /// It has nothing that could go now.
    None,
    /// From this instant on, if nothing comes before.
    Later(Instant),
    /// If nobody else does.
    Idle,
    /// As much as the host does.
    Press,
}

/// A command that waits until data that the cache has accepted are on the media.
#[derive(Clone, Copy)]
pub(super) struct Barrier {
    pub slot: SlotIndex,
    /// All accepted before this.
    pub sequence: u64,
}

impl Drive {
    /// Written data that the media do not have, where the drive keeps any.
    #[inline]
    fn dirty(&self) -> Option<&Dirty> {
        self.cache.as_ref()?.dirty.as_ref()
    }

    /// Whether the cache takes writes.
    #[inline]
    pub(super) fn is_write_back(&self) -> bool {
        self.dirty().is_some()
    }

    /// Whether the cache takes this write and answers for it.
    #[inline]
    pub(super) fn is_cached(&self, command: &Command) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        command.access == Access::Write && !command.force_unit_access && command.count <= dirty.params.limit
    }

    /// The firmware has taken up a write that the cache is to take: its data come when there is room for them.
    pub(super) fn write_back(&mut self, context: &mut Context, slot: SlotIndex) {
        if self.writers.is_empty() && !self.is_blocked(slot) && self.admits(slot) {
            self.accept(context, slot);
        } else {
            self.flight(slot).stage = Stage::Waiting;
            self.writers.push_back(slot);
            if self.writers_queue() {
                // Should the arm come by before there is room, it goes to the media past the cache.
                let Command { first, count, access, .. } = self.flight(slot).command;
                let landing = self.model.mechanism.landing(first, count, access, &self.spindle);
                self.flight(slot).landing = landing;
                self.file(slot, landing);
            }
        }
        self.choose(context);
    }

    /// Whether writes that wait for room are in the queue as well.
    fn writers_queue(&self) -> bool {
        self.dirty().is_some_and(|dirty| dirty.params.while_busy)
    }

    /// Whether the cache's piece goes before what the host wants: in turn with reads; before a write, which is there to
    /// make room as well, when the arm is there sooner.
    pub(super) fn cache_goes_first(&self, piece: Slot, now: Instant) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        if self.tasks.is_pressed() {
            return self.cache_has_turn;
        }
        let view = self.view(&self.model.queue, now);
        let Some(next) = choose(&self.slots, &view) else { return true };
        let entry = self.slots.entry(next);
        if !entry.write || self.is_overdue(now) {
            return self.cache_has_turn;
        }
        let view = self.view(&dirty.queue, now);
        cost(dirty.slots.entry(piece), &view) < cost(entry, &view)
    }

    /// Whether an auto contingent allegiance keeps this command waiting.
    #[inline]
    fn is_blocked(&self, slot: SlotIndex) -> bool {
        self.tasks.blocks(&self.in_flight[slot as usize].command)
    }

    /// Takes the writes that have waited for room, as far as there is room.
    pub(super) fn admit_writers(&mut self, context: &mut Context) {
        while let Some(at) = self.writers.iter().position(|&slot| !self.is_blocked(slot)) {
            let slot = self.writers[at];
            if !self.admits(slot) {
                return;
            }
            self.take_out(slot);
            self.accept(context, slot);
        }
    }

    fn admits(&self, slot: SlotIndex) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        let Command { first, count, .. } = self.in_flight[slot as usize].command;
        let busy = self.sweep.is_some() || !dirty.is_still();
        // What a FLUSH waits for must reach the media before newer data take its place.
        let flushing = !self.barriers.is_empty() && dirty.waits(first, first + count);
        !flushing
            && dirty.has_room(first, count)
            && (dirty.params.while_busy || !busy || dirty.continues(first))
    }

    /// The cache takes a write: the data cross the link, and the command is done when they have.
    fn accept(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let service = self.service(Served::Buffered, now);
        self.turned_to += 1;
        let count = self.flight(slot).command.count;
        let flight = self.flight(slot);
        let from = flight.ready.max(now);
        flight.stage = Stage::Serving;
        (flight.begun, flight.service) = (from, Service { ended: from, ..service });
        flight.breakdown.queue += now - flight.arrived;
        flight.breakdown.overhead = from - now;
        let Command { first, id, .. } = flight.command;
        let data_from = from.max(flight.data_from);
        let transfer =
            Transfer { access: Access::Write, count, from: data_from, last: data_from, call: Span::ZERO };
        let Carried { begun: coming, ended: there } = context.wires.carry(self.index, &transfer);
        let (since, end, write) = (now, first + count, id);
        self.cache_data(context, Piece { first, end, write, sequence: 0, since, from, coming, there });
        self.finish(context, slot, from, there);
    }

    /// Written data are on their way into the cache.
    fn cache_data(&mut self, context: &mut Context, piece: Piece) {
        let Piece { first, end, write, .. } = piece;
        self.faults.iter_mut().for_each(|faults| faults.heal(first, end));
        let member = self.index;
        let (mechanism, spindle) = (&self.model.mechanism, &self.spindle);
        let Some(cache) = &mut self.cache else { return };
        cache.segments.forget(first, end);
        let Some(dirty) = &mut cache.dirty else { return };
        let dropped = |write, first, count| context.data_op(DataOp::Drop { write, member, first, count });
        dirty.accept(piece, dropped, filing(mechanism, spindle));
        cache.share();
        context.data_op(DataOp::Accept { write, member, first, count: end - first });
    }

    /// Data that a write has taken past the cache are newer than what waits there for the same blocks.
    pub(super) fn overwrite(&mut self, context: &mut Context, first: Lba, end: Lba) {
        let member = self.index;
        let (mechanism, spindle) = (&self.model.mechanism, &self.spindle);
        let Some(cache) = &mut self.cache else { return };
        let Some(dirty) = &mut cache.dirty else { return };
        let dropped = |write, first, count| context.data_op(DataOp::Drop { write, member, first, count });
        dirty.carve(first, end, dropped, &mut filing(mechanism, spindle));
        cache.share();
    }

    /// Whether a read that the buffer can answer must wait for the arm.
    pub(super) fn holds_hits(&self) -> bool {
        let beside = self.cache.as_ref().is_none_or(|cache| cache.params.hits_while_busy);
        !beside && self.sweep.is_some_and(|sweep| sweep.is_of_the_cache)
    }

    pub(super) fn hold_hit(&mut self, slot: SlotIndex) {
        self.flight(slot).stage = Stage::Waiting;
        self.hits.push_back(slot);
    }

    /// The arm has done the cache's work: what waited for that is answered.
    pub(super) fn serve_hits(&mut self, context: &mut Context) {
        while let Some(at) = self.hits.iter().position(|&slot| !self.is_blocked(slot))
            && let Some(slot) = self.hits.remove(at)
        {
            self.flight(slot).stage = Stage::Serving;
            let Command { first, count, .. } = self.flight(slot).command;
            match self.cover(first, first + count, context.now) {
                (Cover::Hit, place) => self.serve_from_buffer(context, slot, place),
                _ => self.enqueue(context, slot),
            }
        }
    }

    /// Whether the cache, or a command that waits for it, must have its turn.
    pub(super) fn presses(&self, now: Instant) -> bool {
        !(self.writers.is_empty() && self.barriers.is_empty()) || self.urge(now) == Urge::Press
    }

    /// How much the cache wants the arm now.
    #[inline]
    pub(super) fn urge(&self, now: Instant) -> Urge {
        match self.dirty() {
            Some(dirty) if !dirty.is_still() => self.urge_of(dirty, now),
            _ => Urge::None,
        }
    }

    fn urge_of(&self, dirty: &Dirty, now: Instant) -> Urge {
        let WriteBackParams { destage, idle, age, press_from, .. } = dirty.params;
        let (runs, sectors) = dirty.taken();
        let many =
            u64::from(runs) * dirty.params.limit.get() >= press_from.get() * u64::from(dirty.params.segments);
        let full = sectors >= press_from.get() || many;
        if full || !self.writers.is_empty() || !self.barriers.is_empty() {
            return Urge::Press;
        }
        let due = dirty.oldest().zip(age).map(|(oldest, age)| dirty.piece(oldest).since + age);
        if due.is_some_and(|due| due <= now) {
            return Urge::Press;
        }
        if destage == Destage::AtOnce || self.draining {
            return Urge::Idle;
        }
        let quiet = self.free_since.max(self.taken_up_at) + idle;
        if quiet <= now { Urge::Idle } else { Urge::Later(due.map_or(quiet, |due| due.min(quiet))) }
    }

    /// The piece that goes next: the oldest when it has waited long enough or a command waits for it; else the one that
    /// the arm reaches first.
    pub(super) fn next_piece(&self, now: Instant) -> Option<Slot> {
        let dirty = self.dirty()?;
        let oldest = dirty.oldest()?;
        // In turn with the nearest: once many are that old, going by age alone would only make more of them old.
        if self.oldest_has_turn && dirty.params.age.is_some_and(|age| dirty.piece(oldest).since + age <= now)
        {
            return Some(oldest);
        }
        let nearest = choose(&dirty.slots, &self.view(&dirty.queue, now))?;
        // What comes in meanwhile must not keep a barrier waiting.
        let waited_for = |barrier: &Barrier| dirty.piece(nearest).sequence < barrier.sequence;
        let passes = self.barriers.is_empty() || self.barriers.iter().any(waited_for);
        Some(if passes { nearest } else { oldest })
    }

    /// The arm takes a piece and its neighbours to the media.
    pub(super) fn destage(&mut self, context: &mut Context, piece: Slot) {
        let now = context.now;
        let left = self.leave_segment(now);
        let Some(cache) = &mut self.cache else { return };
        let Some(dirty) = &mut cache.dirty else { return };
        let Piece { from, coming, there, .. } = *dirty.piece(piece);
        let started = left.max(from);
        let (first, end) = dirty.launch(piece, now);
        cache.share();
        let (mechanism, count) = (&self.model.mechanism, end - first);
        let landing = mechanism.landing(first, count, Access::Write, &self.spindle);
        let last = Lba::new(end.get() - 1);
        let hold = self.least_hold(&landing, first, Access::Write);
        let started = started + hold;
        let mut passage = mechanism.pass(&self.spindle, started, self.arm, &landing, last, Access::Write);
        if there > started {
            let data = Carried { begun: coming, ended: there };
            passage.end += self.turns_lost(&data, count, started, &passage);
        }
        (self.arm, self.media_end) = (passage.arm, end);
        self.sweep = Some(Sweep::of_the_cache(end));
        self.cache_has_turn = false;
        self.oldest_has_turn = !self.oldest_has_turn;
        context.digest.fold(now.as_ns() ^ first.get() << 32);
        self.schedule(context, passage.end, DriveEvent::Destaged);
    }

    /// What the arm was taking to the media is there.
    pub(super) fn on_destaged(&mut self, context: &mut Context) {
        let now = context.now;
        self.sweep = None;
        self.free_since = now;
        let member = self.index;
        if let Some(cache) = &mut self.cache
            && let Some(dirty) = &mut cache.dirty
        {
            let (first, end) = dirty.land(|piece| {
                let Piece { write, first, .. } = *piece;
                context.data_op(DataOp::Persist { write, member, first, count: piece.count() });
            });
            // What was read of these blocks while they waited here is older than what lies there now.
            cache.segments.forget(first, end);
            let kept = if dirty.touches(first, end) { NONE } else { cache.segments.keep(first, end, now) };
            self.draining &= !dirty.is_still();
            cache.share();
            if kept != NONE {
                self.begins_segment(context, kept, NONE);
                self.loads(context, kept, first, end);
            }
        }
        self.choose(context);
    }

    /// A command that may only go on when all that the cache has accepted is on the media. Returns whether it is.
    pub(super) fn waits_for_media(&mut self, slot: SlotIndex) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        let command = &self.in_flight[slot as usize].command;
        let waits = match command.access {
            Access::Flush => !dirty.is_empty(),
            Access::Read => command.force_unit_access && dirty.touches(command.first, command.end()),
            Access::Write => false,
        };
        if waits {
            let sequence = dirty.accepted();
            self.flight(slot).stage = Stage::Waiting;
            self.barriers.push(Barrier { slot, sequence });
        }
        waits
    }

    /// Whether a command waits for the cache and for nothing else.
    pub(super) fn waits_for_cache(&self, slot: SlotIndex) -> bool {
        self.hits.contains(&slot)
            || self.barriers.iter().any(|barrier| barrier.slot == slot)
            || self.writers.contains(&slot) && !self.writers_queue()
    }

    /// Takes a command out of those that wait for the cache. Returns whether it waited nowhere else.
    pub(super) fn leaves_cache(&mut self, slot: SlotIndex) -> bool {
        if let Some(at) = self.writers.iter().position(|&other| other == slot) {
            self.writers.remove(at);
            return !self.writers_queue();
        }
        if let Some(at) = self.hits.iter().position(|&other| other == slot) {
            self.hits.remove(at);
            return true;
        }
        let at = self.barriers.iter().position(|barrier| barrier.slot == slot);
        at.map(|at| self.barriers.remove(at)).is_some()
    }

    /// Lets the commands go on whose data have reached the media.
    pub(super) fn pass_barriers(&mut self, context: &mut Context) {
        while let Some(at) = self.barriers.iter().position(|barrier| !self.is_blocked(barrier.slot)) {
            let Barrier { slot, sequence } = self.barriers[at];
            if !self.dirty().is_none_or(|dirty| dirty.is_persisted(sequence)) {
                return;
            }
            self.barriers.remove(at);
            self.persisted(context, slot);
        }
    }

    /// What a command had to wait for is on the media.
    fn persisted(&mut self, context: &mut Context, slot: SlotIndex) {
        let flight = self.flight(slot);
        if flight.command.access == Access::Flush {
            return self.flushed(context, slot);
        }
        flight.stage = Stage::Serving;
        self.enqueue(context, slot);
    }

    /// All that a FLUSH asks for is on the media.
    pub(super) fn flushed(&mut self, context: &mut Context, slot: SlotIndex) {
        let now = context.now;
        let service = self.service(Served::Buffered, now);
        self.turned_to += 1;
        let flight = self.flight(slot);
        let from = flight.ready.max(now);
        flight.breakdown.queue += now - flight.arrived;
        flight.breakdown.overhead = from - now;
        (flight.stage, flight.begun) = (Stage::Serving, from);
        flight.service = Service { ended: from, ..service };
        self.finish(context, slot, from, from);
    }

    /// All that would be lost if power failed now: what the cache has accepted and the media do not have.
    pub fn volatile(&self) -> impl Iterator<Item = Piece> + '_ {
        self.dirty().into_iter().flat_map(|dirty| dirty.by_age().chain(&dirty.flying).copied())
    }

    /// Segments and sectors of the cache that are in use, for reads and for writes.
    pub fn cached(&self) -> Option<[(u32, u64); 2]> {
        let cache = self.cache.as_ref()?;
        Some([cache.segments.kept(), cache.dirty.as_ref().map_or((0, 0), Dirty::taken)])
    }
}

/// Puts a piece into the slots by its place on the media.
fn filing<'a>(
    mechanism: &'a Mechanism,
    spindle: &'a Spindle,
) -> impl FnMut(&mut Slots, Slot, &Piece) + use<'a> {
    move |slots, slot, piece| slots.insert(slot, entry(piece, mechanism, spindle))
}

fn entry(piece: &Piece, mechanism: &Mechanism, spindle: &Spindle) -> Entry {
    let landing = mechanism.landing(piece.first, piece.count(), Access::Write, spindle);
    let Landing { cylinder, head, start, longest_wait, .. } = landing;
    let (arrived, ready) = (piece.since.as_ns(), piece.there.as_ns());
    let (first, write) = (piece.first, true);
    Entry { arrived, ready, first, cylinder, head, start, longest_wait, write, ..Entry::default() }
}
