//! What goes to the device, and when: flushes, writes that go through, and commands that wait for either.
use super::WriteBehind;
use super::extents::{Extent, Set, State};
use super::params::FlushOrder;
use super::pieces::{Piece, PieceChain};
use super::table::CommandEntry;
use crate::command::{Access, Command, Outcome};
use crate::storage::overlap::Claim;
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Lba, Sectors};

/// The age of data that a command waits for, or whose flush has failed: they go before all others.
pub(super) const DEMANDED: u64 = 0;

/// A command that waits until older data have been flushed: all of them, or those of its sectors.
#[derive(Clone, Copy)]
struct Barrier {
    slot: Slot,
    /// Everything older than this must have been flushed.
    age: u64,
}

/// The commands that wait until older data have been flushed.
#[derive(Default)]
pub struct Barriers {
    waiting: VecDeque<Barrier>,
    /// The age at which the last FLUSH arrived: everything older has been flushed, or a FLUSH waits for it.
    awaited: u64,
}

impl Barriers {
    /// Whether data of this age have been flushed, or a FLUSH waits for them.
    pub fn awaits(&self, age: u64) -> bool {
        age < self.awaited
    }
}

impl WriteBehind {
    /// A FLUSH waits for everything that memory has accepted so far.
    pub(super) fn wait_for_flushes(&mut self, slot: Slot) {
        self.barriers.awaited = self.clock;
        self.barriers.waiting.push_back(Barrier { slot, age: self.clock });
    }

    /// A read that the device must answer: it waits until the device has all older data of its sectors.
    pub(super) fn read_through(&mut self, slot: Slot) {
        let claim = self.table.get(slot).claim();
        self.extents.each(claim.first, claim.end, |extents, slot| {
            if extents.get(slot).state.is_unsent() {
                extents.set(slot, extents.get(slot).state, DEMANDED);
            }
        });
        let barrier = Barrier { slot, age: self.clock };
        if self.is_over(&barrier) { self.send(slot) } else { self.barriers.waiting.push_back(barrier) }
    }

    /// A write that memory does not accept: it goes when no older command claims its sectors.
    pub(super) fn write_through(&mut self, slot: Slot) {
        self.table.get_mut(slot).age = self.tick_clock();
        let claim = self.table.get(slot).claim();
        let blocker = self.claims.blocker(&claim);
        self.claims.insert(slot, &claim);
        self.extents.each(claim.first, claim.end, |extents, slot| {
            let extent = extents.get(slot);
            if extent.state == State::Dirty {
                extents.set(slot, State::Behind, extent.age);
            }
        });
        match blocker {
            Some(blocker) => self.table.block(blocker, slot),
            None => self.send(slot),
        }
    }

    /// A write that went through is done: data that waited for its sectors before it arrived are obsolete.
    pub(super) fn written_through(&mut self, slot: Slot, done: bool) {
        let Claim { first, end, age, .. } = self.table.get(slot).claim();
        self.extents.carve(first, end, |extent| match extent.state {
            State::Dirty | State::Behind => done && extent.version < age,
            State::Clean | State::Coming(_) => true,
            State::Sent => false,
        });
        self.release(slot);
    }

    /// Whether a flush or a write that goes through claims some of these sectors.
    pub(super) fn is_claimed(&self, first: Lba, end: Lba) -> bool {
        self.claims.blocker(&Claim { write: true, first, end, age: u64::MAX }).is_some()
    }

    /// A flush, or a write that went through, releases its sectors: what waited for them may go.
    fn release(&mut self, slot: Slot) {
        let Claim { first, end, write, .. } = self.table.get(slot).claim();
        self.claims.remove(slot, write);
        while let Some(next) = self.table.pop_held(slot) {
            match self.claims.blocker(&self.table.get(next).claim()) {
                Some(blocker) => self.table.block(blocker, next),
                None => self.send(next),
            }
        }
        self.unblock(first, end);
    }

    /// Something has changed at these sectors: extents that no longer wait for others to write them may be
    /// flushed. Adjacent extents may be remainders of ones that were cut there.
    pub(super) fn unblock(&mut self, first: Lba, end: Lba) {
        if self.extents.is_empty(Set::Behind) {
            return;
        }
        let claims = &self.claims;
        let (first, end) = (Lba::new(first.get().saturating_sub(1)), Lba::new(end.get() + 1));
        self.extents.each(first, end, |extents, slot| {
            let &Extent { first, end, age, state, .. } = extents.get(slot);
            let free = || claims.blocker(&Claim { write: true, first, end, age: u64::MAX }).is_none();
            if state == State::Behind && free() {
                extents.set(slot, State::Dirty, age);
            }
        });
    }

    /// Starts what can go: commands that waited for flushes, writes that waited for room, and flushes.
    pub(super) fn pump(&mut self, now: Instant) {
        while let Some(&barrier) = self.barriers.waiting.front()
            && self.is_over(&barrier)
        {
            self.barriers.waiting.pop_front();
            let flush = self.table.get(barrier.slot).command.access == Access::Flush;
            match self.failures.take_flush_error(flush) {
                Some(outcome) => self.fail(now, barrier.slot, outcome),
                None => self.send(barrier.slot),
            }
        }
        while self.takes_no_writes()
            && let Some(slot) = self.writes.waiting.pop_front()
        {
            self.write_through(slot);
        }
        while let Some(&slot) = self.writes.waiting.front()
            && self.admits(self.table.get(slot).command.count)
        {
            self.writes.waiting.pop_front();
            self.writes.reserved += self.table.get(slot).command.count.get();
            self.copy(now, slot);
        }
        self.fetch(now);
        while self.may_flush()
            && now >= self.failures.not_before
            && let Some(slot) = self.pick(now)
        {
            self.launch(now, slot);
        }
    }

    /// Whether there is room for a write below the limit.
    fn admits(&mut self, count: Sectors) -> bool {
        let dirty = self.dirty().get() + self.writes.reserved + count.get();
        dirty <= self.params.limit.get() && self.make_room(count.get())
    }

    /// Whether everything that a barrier waits for has been flushed.
    fn is_over(&self, barrier: &Barrier) -> bool {
        let Command { access, first, .. } = self.table.get(barrier.slot).command;
        let end = self.table.get(barrier.slot).command.end();
        let all = access == Access::Flush;
        let flying = |slot: Slot| {
            let flight = self.table.get(slot);
            let touches = flight.command.first < end && first < flight.command.end();
            flight.oldest < barrier.age && (all || touches)
        };
        if self.flights.iter().any(flying) {
            return false;
        }
        if all {
            let older = |slot: Slot| self.extents.get(slot).age < barrier.age;
            return ![Set::Dirty, Set::Behind]
                .into_iter()
                .any(|set| self.extents.oldest(set).is_some_and(older));
        }
        // A newer write may inherit the age of what it covers elsewhere: that need not be waited for.
        let waits = |slot: Slot| {
            let extent = self.extents.get(slot);
            extent.state.is_unsent() && extent.age == DEMANDED
        };
        !self.extents.touching(first, end).any(waits)
    }

    fn may_flush(&self) -> bool {
        let most = if self.failures.goes_alone { 1 } else { self.params.outstanding as usize };
        self.flights.len() < most
    }

    /// Whether data are flushed although the oldest that may go has not reached its age.
    pub(super) fn is_pressed(&self, oldest: Slot) -> bool {
        self.is_awaited(oldest)
            || !self.writes.waiting.is_empty()
            || self.extents.unsent() > self.params.background.get()
    }

    /// Whether a command waits for this extent to be flushed.
    pub(super) fn is_awaited(&self, slot: Slot) -> bool {
        let age = self.extents.get(slot).age;
        age == DEMANDED || self.barriers.awaits(age)
    }

    /// Whether a command waits for exactly this extent, or its flush has failed.
    pub(super) fn is_demanded(&self, slot: Slot) -> bool {
        self.extents.get(slot).age == DEMANDED
    }

    /// Whether an extent has reached its age.
    pub(super) fn is_old(&self, slot: Slot, now: Instant) -> bool {
        self.params.age.is_some_and(|age| self.extents.get(slot).since + age <= now)
    }

    /// The extent that the next flush begins with, if one may go now.
    fn pick(&mut self, now: Instant) -> Option<Slot> {
        let oldest = self.extents.oldest(Set::Dirty)?;
        if self.extents.rows().is_some() {
            return self.pick_row(now, oldest);
        }
        let extent = self.extents.get(oldest);
        let pressed = self.is_pressed(oldest);
        if extent.age == DEMANDED || self.params.order == FlushOrder::Age && pressed {
            return Some(oldest);
        }
        if !pressed {
            return self.is_old(oldest, now).then_some(oldest);
        }
        let upward = self
            .extents
            .next_dirty(self.flights.position())
            .or_else(|| self.extents.next_dirty(Lba::ZERO))?;
        // Data that arrive meanwhile must not delay a barrier.
        let passed = self.is_awaited(oldest) && !self.is_awaited(upward);
        Some(if passed { oldest } else { upward })
    }

    /// When a flush is due although nothing else happens.
    pub fn next_flush(&self) -> Option<Instant> {
        let oldest = self.extents.oldest(Set::Dirty).filter(|_| self.may_flush())?;
        if self.extents.rows().is_some() {
            return self.next_row(oldest);
        }
        if self.is_pressed(oldest) {
            return Some(self.failures.not_before);
        }
        let old = self.extents.get(oldest).since + self.params.age?;
        Some(old.max(self.failures.not_before))
    }

    /// Sends an extent, and what is contiguous behind it, to the device.
    fn launch(&mut self, now: Instant, slot: Slot) {
        let (first, awaited) = (self.extents.get(slot).first, self.is_awaited(slot));
        let command = self.own_command(Access::Write, first);
        let flush = self.table.add(CommandEntry::new(&command, now));
        let (age, limit) = (self.tick_clock(), self.end_of_flush(first));
        let (mut pieces, mut oldest, mut end, mut next) = (PieceChain::EMPTY, age, first, Some(slot));
        while let Some(slot) = next {
            if self.extents.get(slot).end > limit {
                self.extents.cut(slot, limit);
            }
            let extent = *self.extents.get(slot);
            self.extents.set(slot, State::Sent, extent.age);
            let piece = Piece { write: extent.command, first: extent.first, count: extent.count() };
            self.pieces.push(&mut pieces, piece);
            (oldest, end) = (oldest.min(extent.age), extent.end);
            let behind = |&next: &Slot| self.extents.get(next).first == end;
            next = self.extents.next_dirty(end).filter(|next| end < limit && behind(next));
        }
        let entry = self.table.get_mut(flush);
        (entry.age, entry.oldest, entry.pieces) = (age, oldest, pieces);
        entry.command.count = end - first;
        entry.command.synchronous = awaited;
        let claim = entry.claim();
        self.compose(command.id, pieces);
        self.claims.insert(flush, &claim);
        self.flights.begin(flush, first, end);
        self.send(flush);
    }

    /// Whether the command with this id is one of its flushes, or one of its fetches.
    pub fn has_issued(&self, id: u64) -> bool {
        self.own.has_issued(id)
    }

    /// The next command of its own, without data yet.
    pub(super) fn own_command(&mut self, access: Access, first: Lba) -> Command {
        self.own.command(access, first, self.params.force_unit_access)
    }

    /// A flush is done.
    pub(super) fn land(&mut self, now: Instant, flush: Slot, outcome: Outcome) {
        let done = outcome == Outcome::Done;
        let entry = self.table.get(flush);
        let (first, end, pieces) = (entry.command.first, entry.command.end(), entry.pieces);
        let id = entry.command.id;
        let (keeps, used) = (self.params.keeps_reads, self.tick_clock());
        self.flights.end(flush, end - first);
        if done {
            self.extents.each(first, end, |extents, slot| match extents.get(slot).state {
                State::Sent if keeps => extents.set(slot, State::Clean, used),
                State::Sent => extents.remove(slot),
                _ => {}
            });
            self.failures.goes_alone = self.failures.goes_alone && self.has_failed_data();
        } else {
            self.not_taken(now, (first, end), outcome);
        }
        self.release(flush);
        if !done {
            self.block_again(first, end);
        }
        self.pieces.free(pieces);
        self.table.free(flush);
        self.end_own(id);
    }
}
