//! The drive's buffer at work: what the cache does for reads and writes, which commands wait for it, and how
//! urgently it needs the arm.
//!
//! With write-back a write completes when its data are in the cache, and the arm destages them later: with
//! the write itself, when the drive is idle, when the cache fills, when data have waited long enough, or when
//! a command waits for them (FLUSH, a FUA read). The piece that the arm reaches first goes first, together
//! with adjacent pieces behind it. While host and cache both want the arm they take turns, so that neither
//! starves.
//!
//! The buffer never moves the arm: it is given the positions of arm and platter ([`Motion`], [`View`]), and
//! the drive carries out what it asks for. Start reading at [`Buffer::destage_urgency`].
mod appending;
mod data_ops;
pub(crate) mod waiting;

use super::cache::Cache;
use super::cache::dirty::{Dirty, DirtyPiece};
use super::cache::params::{Destage, WriteBackParams};
use super::cache::segment::{Cover, Motion};
use super::cache::segments::SegmentIndex;
use super::mechanism::Landing;
use super::params::DriveModel;
use super::queue::{Entry, SlotIndex, Slots, View, choose};
use crate::command::{Access, Command};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::link::Carried;
use crate::storage::tree::{NONE, Slot};
use drivelab_units::{Instant, Lba, Sectors};
use waiting::Waiting;

/// How urgently the cache needs the arm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestageUrgency {
    /// Nothing could be destaged now.
    None,
    /// From this instant on, unless something happens before.
    Later(Instant),
    /// If no command needs the arm.
    Idle,
    /// As urgently as the host.
    Press,
}

/// Whose turn it is when cache and host need the arm equally.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Host,
    Cache,
}

/// Which piece goes next, once some have waited long enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NextPiece {
    Oldest,
    Nearest,
}

/// Why the cache destages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Destaging {
    /// One of its own rules asks for it.
    ByRule,
    /// The drive is idle: the cache empties itself.
    Draining,
}

/// Data that the arm is to destage.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    pub first: Lba,
    pub end: Lba,
    /// The earliest instant at which the arm may start for them.
    pub from: Instant,
    /// When the data of the chosen piece arrive over the link.
    pub data: Carried,
}

/// The cache of a drive, and the commands that wait for it.
pub struct Buffer {
    /// Index of the drive in the target.
    drive: u16,
    cache: Option<Cache>,
    /// The commands that wait for the cache.
    pub waiting: Waiting,
    turn: Turn,
    next: NextPiece,
    destaging: Destaging,
}

/// The cache.
impl Buffer {
    /// The buffer of the drive with this index.
    pub fn new(drive: u16, model: &DriveModel) -> Self {
        let new = |params| Cache::new(params, &model.mechanism, model.period.as_ns());
        Buffer {
            drive,
            cache: model.cache.as_ref().map(new),
            waiting: Waiting::default(),
            turn: Turn::Host,
            next: NextPiece::Oldest,
            destaging: Destaging::ByRule,
        }
    }

    /// The cache with its segments, where the drive has one.
    #[inline]
    pub fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// The cache, mutable: to change what its segments hold.
    #[inline]
    pub fn cache_mut(&mut self) -> Option<&mut Cache> {
        self.cache.as_mut()
    }

    /// Written data that are not on the media, where the drive caches writes.
    #[inline]
    fn dirty(&self) -> Option<&Dirty> {
        self.cache.as_ref()?.dirty.as_ref()
    }

    /// Whether the cache takes writes.
    #[inline]
    pub fn is_write_back(&self) -> bool {
        self.dirty().is_some()
    }

    /// What the buffer has for a read, and the segment that has it.
    #[inline]
    pub fn cover(&mut self, first: Lba, end: Lba, now: Instant, motion: Motion<'_>) -> (Cover, SegmentIndex) {
        let Some(cache) = &mut self.cache else { return (Cover::Miss, NONE) };
        cache.cover(first, end, now, motion)
    }

    /// From which sector on the buffer, at the end of a read, still holds what it held for it: data written
    /// meanwhile may have displaced it, and may be on the media by now. And the segment that holds it.
    #[inline]
    pub fn held_before(
        &mut self,
        first: Lba,
        sought: Lba,
        now: Instant,
        motion: Motion<'_>,
    ) -> (Lba, SegmentIndex) {
        if first == sought {
            return (first, NONE);
        }
        match self.cover(first, sought, now, motion) {
            (Cover::Hit, segment) => (first, segment),
            _ => (sought, NONE),
        }
    }

    /// A segment has served a read that ends at `end`.
    #[inline]
    pub fn consume(&mut self, context: &mut Context, segment: SegmentIndex, end: Lba, motion: Motion<'_>) {
        if segment != NONE
            && let Some(cache) = &mut self.cache
        {
            let before = cache.segments.limit(segment);
            cache.segments.consume(segment, end, context.now, motion);
            let behind = cache.segments.limit(segment);
            self.loads(context, segment, before, behind);
        }
    }

    /// Invalidates these sectors in the buffer.
    #[inline]
    pub fn forget(&mut self, first: Lba, end: Lba) {
        self.cache.iter_mut().for_each(|cache| cache.segments.forget(first, end));
    }

    /// Segments and sectors of the cache that are in use, for reads and for writes.
    pub fn used(&self) -> Option<[(u32, u64); 2]> {
        let cache = self.cache.as_ref()?;
        Some([cache.segments.kept(), cache.dirty.as_ref().map_or((0, 0), Dirty::taken)])
    }

    /// Everything that a power loss at this moment would lose: what the cache has accepted and is not on the
    /// media.
    pub fn volatile(&self) -> impl Iterator<Item = DirtyPiece> + '_ {
        self.dirty().into_iter().flat_map(|dirty| dirty.by_age().chain(&dirty.flying).copied())
    }
}

/// Writes, and their path to the media.
impl Buffer {
    /// Whether this write goes into the cache and is completed from there.
    #[inline]
    pub fn takes(&self, command: &Command) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        command.access == Access::Write && !command.force_unit_access && command.count <= dirty.params.limit
    }

    /// Whether there is room for a write now, given whether the arm is busy.
    pub fn admits(&self, first: Lba, count: Sectors, arm_works: bool) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        let busy = arm_works || !dirty.is_still();
        // Data that a FLUSH waits for must reach the media before newer data replace them.
        let flushing = self.waiting.has_barriers() && dirty.is_dirty(first, first + count);
        !flushing
            && dirty.has_room(first, count)
            && (dirty.params.while_busy || !busy || dirty.continues(first))
    }

    /// Accepts written data whose transfer into the cache has begun.
    pub fn accept(&mut self, context: &mut Context, piece: DirtyPiece, motion: Motion<'_>) {
        let DirtyPiece { first, end, write, .. } = piece;
        let member = self.drive;
        let Some(cache) = &mut self.cache else { return };
        cache.segments.forget(first, end);
        let Some(dirty) = &mut cache.dirty else { return };
        let dropped = |write, first, count| context.data_op(DataOp::Drop { write, member, first, count });
        dirty.accept(piece, dropped, filing(motion));
        cache.share();
        context.data_op(DataOp::Accept { write, member, first, count: end - first });
    }

    /// A write has gone to the media past the cache: its data are newer than what waits in the cache for the
    /// same sectors.
    pub fn overwrite(&mut self, context: &mut Context, first: Lba, end: Lba, motion: Motion<'_>) {
        let member = self.drive;
        let Some(cache) = &mut self.cache else { return };
        let Some(dirty) = &mut cache.dirty else { return };
        let dropped = |write, first, count| context.data_op(DataOp::Drop { write, member, first, count });
        dirty.carve(first, end, dropped, &mut filing(motion));
        cache.share();
    }

    /// How urgently the cache needs the arm now, where the drive has been idle since `quiet`.
    #[inline]
    pub fn destage_urgency(&self, now: Instant, quiet: Instant) -> DestageUrgency {
        match self.dirty() {
            Some(dirty) if !dirty.is_still() => self.urge_of(dirty, now, quiet),
            _ => DestageUrgency::None,
        }
    }

    fn urge_of(&self, dirty: &Dirty, now: Instant, quiet: Instant) -> DestageUrgency {
        let WriteBackParams { destage, idle, age, press_from, .. } = dirty.params;
        let (runs, sectors) = dirty.taken();
        let many =
            u64::from(runs) * dirty.params.limit.get() >= press_from.get() * u64::from(dirty.params.segments);
        let full = sectors >= press_from.get() || many;
        if full || self.waiting.presses() {
            return DestageUrgency::Press;
        }
        let due = dirty.oldest().zip(age).map(|(oldest, age)| dirty.piece(oldest).since + age);
        if due.is_some_and(|due| due <= now) {
            return DestageUrgency::Press;
        }
        if destage == Destage::AtOnce || self.destaging == Destaging::Draining {
            return DestageUrgency::Idle;
        }
        let quiet = quiet + idle;
        if quiet <= now {
            DestageUrgency::Idle
        } else {
            DestageUrgency::Later(due.map_or(quiet, |due| due.min(quiet)))
        }
    }

    /// Whether the cache, or a command that waits for it, is entitled to a turn.
    pub fn presses(&self, now: Instant, quiet: Instant) -> bool {
        self.waiting.presses() || self.destage_urgency(now, quiet) == DestageUrgency::Press
    }

    /// Whether it is the cache's turn when it needs the arm as much as the host does.
    pub fn has_turn(&self) -> bool {
        self.turn == Turn::Cache
    }

    /// The host gets the arm: the next turn is the cache's.
    #[inline]
    pub fn give_arm_to_host(&mut self) {
        self.turn = Turn::Cache;
        self.destaging = Destaging::ByRule;
    }

    /// The piece that goes next: the oldest if it has waited long enough or a command waits for it; else the
    /// one that the arm reaches first, or the first of its run if no segment is free: the rest of a run that is written
    /// from its middle takes one.
    pub fn next_piece(&self, now: Instant, view: View<'_>) -> Option<Slot> {
        let dirty = self.dirty()?;
        let oldest = dirty.oldest()?;
        // Alternates with the nearest: once many pieces are that old, strict age order would only make more
        // of them old.
        if self.next == NextPiece::Oldest
            && dirty.params.age.is_some_and(|age| dirty.piece(oldest).since + age <= now)
        {
            return Some(oldest);
        }
        let waiting = dirty.slots.len() as u64;
        let nearest = choose(&dirty.slots, &View { params: &dirty.queue, waiting, ..view })?;
        let next = if dirty.has_free_segment() { nearest } else { dirty.first_of_run(nearest) };
        // Data that arrive meanwhile must not delay a barrier.
        let passes = self.waiting.may_destage(dirty.piece(next).sequence);
        Some(if passes { next } else { oldest })
    }

    /// The arm starts to work for the cache; `idle` when it has nothing else to do.
    fn take_arm(&mut self, idle: bool) {
        if idle {
            self.destaging = Destaging::Draining;
        }
        self.turn = Turn::Host;
    }

    /// The arm starts to destage a piece and its neighbours, not beyond `until`; `idle` when it has nothing else to do.
    pub fn launch(&mut self, piece: Slot, until: Lba, now: Instant, idle: bool) -> Option<Launched> {
        self.take_arm(idle);
        let cache = self.cache.as_mut()?;
        let dirty = cache.dirty.as_mut()?;
        let DirtyPiece { from, coming, there, .. } = *dirty.piece(piece);
        let (first, end) = dirty.launch(piece, until, now);
        cache.share();
        self.next = match self.next {
            NextPiece::Oldest => NextPiece::Nearest,
            NextPiece::Nearest => NextPiece::Oldest,
        };
        Some(Launched { first, end, from, data: Carried { begun: coming, ended: there } })
    }

    /// The destaging under way is complete.
    pub fn land(&mut self, context: &mut Context) {
        let (now, member) = (context.now, self.drive);
        let Some(cache) = &mut self.cache else { return };
        let Some(dirty) = &mut cache.dirty else { return };
        let is_one_run = dirty.flying_runs() == 1;
        if !is_one_run {
            dirty.flying.iter().for_each(|piece| cache.segments.forget(piece.first, piece.end));
        }
        let (first, end) = dirty.land(|piece| {
            let DirtyPiece { write, first, .. } = *piece;
            context.data_op(DataOp::Persist { write, member, first, count: piece.count() });
        });
        if dirty.is_still() {
            self.destaging = Destaging::ByRule;
        }
        if !is_one_run {
            return cache.share();
        }
        // Data read of these sectors while newer ones waited here are older than what is on the media now.
        cache.segments.forget(first, end);
        let kept = if dirty.touches(first, end) { NONE } else { cache.segments.keep(first, end, now) };
        cache.share();
        if kept != NONE {
            self.begins_segment(context, kept, NONE);
            self.loads(context, kept, first, end);
        }
    }
}

/// The commands that wait for the cache.
impl Buffer {
    /// Whether a read that hits must wait while the arm destages.
    #[inline]
    pub fn holds_hits(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| !cache.params.hits_while_busy)
    }

    /// Whether a command must wait until everything that the cache has accepted is on the media: it is then
    /// queued here.
    #[inline]
    pub fn queue_behind_barrier(&mut self, slot: SlotIndex, command: &Command) -> bool {
        let Some(dirty) = self.dirty() else { return false };
        let waits = match command.access {
            Access::Flush => !dirty.is_empty(),
            Access::Read => command.force_unit_access && dirty.touches(command.first, command.end()),
            Access::Write => false,
        };
        if waits {
            let sequence = dirty.accepted();
            self.waiting.add_barrier(slot, sequence);
        }
        waits
    }

    /// Removes the oldest command whose data have reached the media, among those that nothing else holds up.
    pub fn take_persisted(&mut self, is_blocked: impl FnMut(SlotIndex) -> bool) -> Option<SlotIndex> {
        let dirty = self.cache.as_ref().and_then(|cache| cache.dirty.as_ref());
        let is_persisted = |sequence| dirty.is_none_or(|dirty| dirty.is_persisted(sequence));
        self.waiting.take_persisted(is_blocked, is_persisted)
    }

    /// Whether a command waits for the cache.
    pub fn is_waiting(&self, slot: SlotIndex) -> bool {
        self.waiting.waits_for(slot).is_some()
    }

    /// A command no longer waits for the cache. Returns whether it did.
    pub fn leave(&mut self, slot: SlotIndex) -> bool {
        self.waiting.forget(slot)
    }
}

/// Files a piece in the slots by its place on the media.
fn filing(motion: Motion<'_>) -> impl FnMut(&mut Slots, Slot, &DirtyPiece) {
    move |slots, slot, piece| slots.insert(slot, entry(piece, motion), (piece.first, piece.end))
}

fn entry(piece: &DirtyPiece, motion: Motion<'_>) -> Entry {
    let landing = motion.mechanism.landing(piece.first, piece.count(), Access::Write, motion.spindle);
    let Landing { cylinder, head, start, longest_wait, .. } = landing;
    let (arrived, ready) = (piece.since.as_ns(), piece.there.as_ns());
    Entry { arrived, ready, cylinder, head, start, longest_wait, write: true, ..Entry::default() }
}
