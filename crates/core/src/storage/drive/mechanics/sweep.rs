//! Joining: a command that continues without a gap where the one in service ends is carried out in the same
//! sweep, without a choice.
use super::super::queue::{JoinsUntil, SlotIndex};
use super::{Mechanics, OUT_OF_TURN_MAX};
use crate::command::Access;
use drivelab_units::{Instant, Lba, Sectors};

/// For whom the mechanism works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WorksFor {
    Command,
    /// Destaging: no command waits for it.
    Cache,
}

/// The access under way, and what may join it.
#[derive(Clone, Copy)]
pub struct Sweep {
    /// Where it ends.
    end: Lba,
    access: Access,
    /// Until then a command that begins at `end` is carried out in the same sweep; never when `None`.
    join_until: Option<Instant>,
    /// The command that follows without a choice.
    pub joined: Option<SlotIndex>,
    works_for: WorksFor,
}

impl Sweep {
    /// The sweep of a read that the head meets: a command that continues there can join until its end.
    pub fn reading_on(end: Lba, until: Instant) -> Self {
        let (access, works_for) = (Access::Read, WorksFor::Command);
        Sweep { end, access, join_until: Some(until), joined: None, works_for }
    }

    /// The sweep of a destaging: nothing joins it.
    pub fn of_the_cache(end: Lba) -> Self {
        let (access, works_for) = (Access::Write, WorksFor::Cache);
        Sweep { end, access, join_until: None, joined: None, works_for }
    }

    /// Whether it is a destaging, for which no command waits.
    pub fn is_of_the_cache(&self) -> bool {
        self.works_for == WorksFor::Cache
    }
}

impl Mechanics {
    /// Until when a command may join an access of this kind with this start and end, if it may at all.
    #[inline]
    pub fn joins_until(&self, access: Access, started: Instant, ended: Instant) -> Option<Instant> {
        let queue = &self.model.queue;
        match if access == Access::Read { queue.joins_reads } else { queue.joins_writes } {
            JoinsUntil::Never => None,
            JoinsUntil::BeforeStart => Some(started),
            JoinsUntil::UntilEnd => Some(ended),
        }
    }

    /// The mechanism starts a command that ends at `end`, and what may join it is fixed.
    #[inline]
    pub fn begin_sweep(
        &mut self,
        end: Lba,
        access: Access,
        join_until: Option<Instant>,
        joined: Option<SlotIndex>,
    ) {
        self.sweep = Some(Sweep { end, access, join_until, joined, works_for: WorksFor::Command });
    }

    /// Whether the mechanism is working for a command.
    pub fn serves(&self) -> bool {
        self.sweep.is_some_and(|sweep| !sweep.is_of_the_cache())
    }

    /// Whether the mechanism is destaging.
    pub fn destages(&self) -> bool {
        self.sweep.is_some_and(|sweep| sweep.is_of_the_cache())
    }

    /// The drive has chosen.
    #[inline]
    pub fn chosen(&mut self) {
        self.out_of_turn = 0;
    }

    /// A command passes those that wait.
    #[inline]
    pub fn go_out_of_turn(&mut self) {
        self.out_of_turn = self.out_of_turn.saturating_add(1);
    }

    /// Whether one more command with this access may pass those that wait in the queue, or, if `presses`, for the
    /// cache: so many of them; any number of a stream that the drive stays with; no read when a stream must yield.
    #[inline]
    pub fn may_go_out_of_turn(&self, now: Instant, access: Access, presses: impl FnOnce() -> bool) -> bool {
        let yields = if access == Access::Read { self.stream_yields_at() } else { None };
        let in_time = yields.is_none_or(|at| now < at);
        let passes_any = self.slots.is_empty() || yields.is_some() && self.stream().is_some();
        let may_pass = in_time && (self.out_of_turn < OUT_OF_TURN_MAX || passes_any && !presses());
        may_pass && !self.is_overdue(now)
    }

    /// The oldest command of the queue that continues at `end` with the same access, if there is one.
    pub fn queued_behind(&self, end: Lba, access: Access) -> Option<SlotIndex> {
        if self.slots.is_empty() || end.get() >= self.model.capacity().get() {
            return None;
        }
        let cylinder = self.landing(end, Sectors::new(1), access).cylinder;
        let write = access == Access::Write;
        let kind = self.slots.kind(write);
        let mut at = self.slots.first_from(kind, cylinder);
        loop {
            let slot = self.slots.slot_at(self.slots.row(kind), at)?;
            let entry = self.slots.entry(slot);
            if entry.cylinder != cylinder {
                return None;
            }
            if self.slots.first(slot) == end && entry.write == write {
                return Some(slot);
            }
            at = self.slots.next(self.slots.row(kind), at, true);
        }
    }

    /// Whether a command that arrives continues where the one in service ends, in time to follow it.
    #[inline]
    pub fn fits_sweep(&self, now: Instant, first: Lba, access: Access) -> bool {
        self.sweep.as_ref().is_some_and(|sweep| {
            let goes_on = sweep.joined.is_none() && sweep.end == first && sweep.access == access;
            goes_on && sweep.join_until.is_some_and(|until| now <= until)
        })
    }

    /// Makes a command follow the one in service.
    pub fn join(&mut self, slot: SlotIndex) {
        if let Some(sweep) = &mut self.sweep {
            sweep.joined = Some(slot);
        }
    }

    /// Cancels the command that was to follow the one in service.
    pub fn unjoin(&mut self) -> Option<SlotIndex> {
        self.sweep.as_mut()?.joined.take()
    }

    /// Whether this command follows the one in service.
    pub fn has_joined(&self, slot: SlotIndex) -> bool {
        self.sweep.is_some_and(|sweep| sweep.joined == Some(slot))
    }
}
