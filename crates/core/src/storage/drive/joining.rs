//! Joining: what goes on without a gap where the command in service ends is carried out in the same sweep, without a
//! choice.
use super::queue::{Joins, SlotIndex};
use super::{Drive, Stage};
use crate::command::{Access, Attribute};
use drivelab_units::{Instant, Lba, Sectors};

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

impl Sweep {
    /// A read that the head meets: what goes on there can join until its end.
    pub fn reading_on(end: Lba, until: Instant) -> Self {
        Sweep { end, access: Access::Read, join_until: Some(until), joined: None, is_of_the_cache: false }
    }

    /// Data of the cache on their way to the media: nothing joins them.
    pub fn of_the_cache(end: Lba) -> Self {
        Sweep { end, access: Access::Write, join_until: None, joined: None, is_of_the_cache: true }
    }
}

/// Commands that may go out of turn, because they join or meet the head, while others or the cache wait: then the drive
/// chooses, so that a stream cannot keep those out for ever.
const OUT_OF_TURN_MAX: u32 = 32;

impl Drive {
    /// The mechanism is busy until `until` with a command that ends at `end`: settle what may be joined to it.
    pub(super) fn sweep(&mut self, now: Instant, end: Lba, access: Access, started: Instant, until: Instant) {
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
        let kind = self.slots.kind(write);
        let mut at = self.slots.first_from(kind, cylinder);
        let slot = loop {
            let slot = self.slots.slot_at(self.slots.row(kind), at)?;
            let entry = self.slots.entry(slot);
            if entry.cylinder != cylinder {
                return None;
            }
            if entry.first == end && entry.write == write {
                break slot;
            }
            at = self.slots.next(self.slots.row(kind), at, true);
        };
        self.take_out(slot);
        self.flight(slot).stage = Stage::Serving;
        Some(slot)
    }

    /// Whether an arriving command is carried out in the same sweep as the one in service; if so it is noted.
    pub(super) fn joins(&mut self, now: Instant, first: Lba, access: Access, slot: SlotIndex) -> bool {
        let fits = |sweep: &Sweep| {
            let goes_on = sweep.joined.is_none() && sweep.end == first && sweep.access == access;
            goes_on && sweep.join_until.is_some_and(|until| now <= until)
        };
        if !self.sweep.as_ref().is_some_and(fits) || !self.may_go_out_of_turn(now) {
            return false;
        }
        if let Some(sweep) = &mut self.sweep {
            sweep.joined = Some(slot);
        }
        true
    }

    /// Puts back into the queue what was to follow the command in service without another choice.
    pub(super) fn unjoin(&mut self) {
        if let Some(joined) = self.sweep.as_mut().and_then(|sweep| sweep.joined.take()) {
            self.interrupt(joined);
        }
    }

    /// A command that was to be next without a choice is next once what came between is over: in the queue it would be
    /// the youngest, and its wait would count from now.
    pub(super) fn interrupt(&mut self, slot: SlotIndex) {
        if matches!(self.flight(slot).command.attribute, Attribute::HeadOfQueue | Attribute::Aca) {
            let landing = self.flight(slot).landing;
            return self.file(slot, landing);
        }
        self.flight(slot).stage = Stage::Waiting;
        self.tasks.interrupted.push_back(slot);
    }
}
