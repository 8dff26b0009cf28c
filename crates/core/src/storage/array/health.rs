//! What an array does about failures: members that are gone, sectors that cannot be read, spares.
//!
//! What is with a drive that fails comes back as failed: reads are planned anew without it, writes go without it as long as
//! somebody else keeps what was written. A spare takes the slot `replaced_after` later, unless what the slot held cannot be
//! had any more. A new drive that somebody puts in is a spare too: until it is taken it does nothing. In RAID 01 the
//! members of a striped set that misses one stand aside, and are all rebuilt once it is complete again.
use super::errors::is_unread;
use super::layout::Layout;
use super::losses;
use super::members::State;
use super::params::{Level, When};
use super::report::{Happened, Health, Report};
use super::stripe_request::{Op, Owner};
use super::{Array, ArrayEvent};
use crate::command::{Access, Breakdown, Command, Outcome};
use crate::data::DataOp;
use crate::storage::context::{Context, Event};
use crate::storage::tree::Slot;
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

/// How the array has been so far.
#[derive(Default)]
pub struct Condition {
    /// Since when some member has not been whole.
    impaired_since: Option<Instant>,
    /// How long that was before.
    impaired: Span,
    pub(super) has_lost: bool,
    /// Whether writes are refused, because the last copy of something did not do one.
    pub(super) is_broken: bool,
    /// Slots for which a spare is to be taken when its time has come.
    awaited: u32,
}

impl Array {
    /// To be called once, before anything else.
    pub fn start(&mut self, context: &mut Context) {
        let before = self.members.frontiers();
        let missing = self.params.missing.clone();
        for &slot in &missing {
            let drive = self.members.get(slot).drive;
            self.members.set(slot, State::Missing);
            self.report(context, slot, Happened::Failed { slot, drive });
            self.stand_aside(slot);
        }
        self.lose(context, &before, missing.first().copied().unwrap_or(0));
        for slot in missing {
            if !self.params.rebuilding {
                self.await_spare(context, slot);
            } else if self.can_be_rebuilt(slot) {
                self.put_in(context, slot, self.members.get(slot).drive);
            }
        }
        self.resume_rebuilds();
        // Not before everybody has said what is to be told of.
        self.wake_at(context, context.now);
        for failure in &self.params.failures {
            let at = match failure.when {
                When::At(at) => at,
                When::Commands(0) => context.now,
                When::Commands(_) => continue,
            };
            context.agenda.schedule(at, 0, Event::Fails { drive: failure.drive });
        }
        for (scheduled, work) in (0..).zip(&self.params.scheduled) {
            context.agenda.schedule(work.at, 5, Event::Array(ArrayEvent::Begin { scheduled }));
        }
    }

    /// Drives that fail after so many commands.
    pub(super) fn fail_by_count(&mut self, context: &mut Context) {
        for failure in &self.params.failures {
            if failure.when == When::Commands(self.taken) {
                context.agenda.schedule(context.now, 0, Event::Fails { drive: failure.drive });
            }
        }
    }

    /// A drive has failed for good.
    pub fn fail(&mut self, context: &mut Context, drive: u16) {
        if self.logs.drive() == Some(drive) {
            self.report(context, 0, Happened::JournalFailed { drive });
            self.logs.lose();
            self.end_ops_of(context, drive);
            return self.let_in_to_logs(context);
        }
        let Some(slot) = self.members.slot_of(drive) else {
            if self.spares.contains(&drive) {
                self.spares.retain(|&spare| spare != drive);
                self.report(context, 0, Happened::SpareFailed { drive });
            }
            return;
        };
        let before = self.members.frontiers();
        self.members.set(slot, State::Missing);
        self.members.get_mut(slot).outstanding = 0;
        self.report(context, slot, Happened::Failed { slot, drive });
        self.stand_aside(slot);
        self.lose(context, &before, slot);
        self.lose_stale(context);
        self.leave_rebuild(context);
        self.note_condition(context.now);
        self.await_spare(context, slot);
        self.end_ops_of(context, drive);
        self.pump_sync(context);
    }

    /// What is with a drive, or on its way there, ends as it fails.
    fn end_ops_of(&mut self, context: &mut Context, drive: u16) {
        self.keep_from(drive);
        let gone: Vec<Slot> =
            self.ops.places().filter(|(_, op)| op.is_out && op.drive == drive).map(|(at, _)| at).collect();
        for at in gone {
            let since = self.stripe_requests.get(self.ops.get(at).stripe_request).since;
            let breakdown = Breakdown { queue: context.now - since, ..Breakdown::default() };
            self.end_op(context, at, Outcome::Failed, &breakdown);
        }
    }

    fn await_spare(&mut self, context: &mut Context, slot: u16) {
        self.condition.awaited += 1;
        let due = context.now + self.params.replaced_after;
        context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Replace { slot }));
    }

    /// A member's command has failed, or there was nobody to send it to: a read is planned anew without it, a write to a
    /// member that is gone is not missed where others keep what it wrote.
    pub(super) fn op_failed(&mut self, op: &Op, outcome: Outcome) {
        // What could not be written back stays as it was.
        if op.repairs > 0 || op.access == Access::Read && self.is_not_missed(op, outcome) {
            return;
        }
        let is_kept = outcome != Outcome::Failed
            || match op.access {
                Access::Read => true,
                Access::Write => self.is_kept_without(op),
                Access::Flush => !self.has_lost(),
            };
        let has_met =
            self.unreadable.has(self.stripe_requests.get(op.stripe_request).avoids, op.spot(), op.count);
        let stripe_request = self.stripe_requests.get_mut(op.stripe_request);
        if stripe_request.owner == Owner::Sync {
            return self.sync_op_failed(op, outcome);
        }
        match (op.access, outcome) {
            (Access::Read, Outcome::Failed) => stripe_request.is_spoilt = true,
            // Several of its commands may have met something unreadable before it is planned anew.
            (Access::Read, _) if is_unread(outcome) && (stripe_request.is_spoilt || !has_met) => {
                self.unreadable.add(&mut stripe_request.avoids, op.spot(), op.count, outcome);
                stripe_request.is_spoilt = true;
            }
            // The journal is missed.
            (_, Outcome::Failed) if op.slot == self.params.members => stripe_request.outcome = outcome,
            (Access::Write | Access::Flush, Outcome::Failed) if !is_kept => {
                stripe_request.outcome = Outcome::Lost;
            }
            (Access::Write | Access::Flush, Outcome::Failed) => {}
            _ => stripe_request.outcome = outcome,
        }
    }

    /// Whether what a write was to bring to a member that is gone can be had without it.
    fn is_kept_without(&self, op: &Op) -> bool {
        if op.slot >= self.members.count() {
            return true;
        }
        match &self.layout {
            Layout::Linear(_) => false,
            Layout::Copied(copied) => {
                let mut pieces = copied.pieces_of(op.slot, op.at, op.at + op.count);
                pieces.all(|(piece, _)| {
                    let mut spots = (0..copied.copies()).map(|copy| copied.spot(&piece, copy));
                    spots.any(|spot| self.members.can_write(spot.slot))
                })
            }
            // Found out as the stripe request ends.
            Layout::RaidZ(_) => true,
            Layout::Rows(rows) => {
                let first = op.slot / rows.members() as u16 * rows.members() as u16;
                let group = first..first + rows.members() as u16;
                let gone = group.filter(|&slot| !self.members.can_write(slot)).count();
                gone <= usize::from(rows.parities())
            }
        }
    }

    /// The time has come for a spare to take the place of a member that has failed.
    pub(super) fn replace(&mut self, context: &mut Context, slot: u16) {
        self.condition.awaited -= 1;
        if self.members.get(slot).state == State::Missing
            && !self.refuses_writes()
            && self.can_be_rebuilt(slot)
            && let Some(drive) = self.spares.pop_front()
        {
            self.put_in(context, slot, drive);
            self.pump_sync(context);
        }
    }

    /// Whether all that a slot is to hold can be had elsewhere.
    pub(super) fn can_be_rebuilt(&self, slot: u16) -> bool {
        self.reach(slot) == losses::ALL
    }

    /// A new drive takes a slot.
    fn put_in(&mut self, context: &mut Context, slot: u16, drive: u16) {
        let member = self.members.get_mut(slot);
        (member.drive, member.outstanding, member.head) = (drive, 0, 0);
        self.report(context, slot, Happened::Replaced { slot, drive });
        context.data_op(DataOp::Replace { member: drive });
        self.members.set(slot, State::Aside);
        let set = self.striped_set(slot);
        if set.clone().all(|other| self.members.get(other).state != State::Missing) {
            for other in set {
                if self.members.get(other).state == State::Aside {
                    self.members.set(other, State::Rebuilding { done: 0 });
                    self.join_rebuild(context, other);
                }
            }
        }
        self.note_condition(context.now);
        self.copy_bits(context);
    }

    /// The members that a slot counts with: in RAID 01 its striped set, elsewhere itself alone.
    pub(super) fn striped_set(&self, slot: u16) -> core::ops::Range<u16> {
        let Level::MirroredStripes { copies } = self.params.level else { return slot..slot + 1 };
        let columns = self.params.members / copies;
        let first = slot / columns * columns;
        first..first + columns
    }

    /// A striped set that misses a member does not count.
    fn stand_aside(&mut self, missing: u16) {
        for slot in self.striped_set(missing) {
            if self.members.get(slot).state != State::Missing {
                self.members.set(slot, State::Aside);
            }
        }
    }

    /// Says what has been lost since the members had these frontiers.
    fn lose(&mut self, context: &mut Context, before: &[u64], slot: u16) {
        if self.members.impaired == 0 {
            return;
        }
        self.note_condition(context.now);
        for run in self.losses_since(before, slot) {
            self.condition.has_lost = true;
            self.report(context, slot, Happened::Lost(run));
        }
    }

    pub(super) fn report(&self, context: &mut Context, slot: u16, what: Happened) {
        context.reports.push_back(Report { at: context.now, group: self.group_of(slot), what });
    }

    /// Which group of members a slot belongs to.
    pub(super) fn group_of(&self, slot: u16) -> u16 {
        if let Layout::Rows(rows) = &self.layout { slot / rows.members() as u16 } else { 0 }
    }

    pub(super) fn note_condition(&mut self, now: Instant) {
        let condition = &mut self.condition;
        match (self.members.impaired > 0, condition.impaired_since) {
            (true, None) => condition.impaired_since = Some(now),
            (false, Some(since)) => {
                condition.impaired += now - since;
                condition.impaired_since = None;
            }
            _ => {}
        }
    }

    /// Whether some addresses cannot be had, because of the members that are missing.
    pub(super) fn has_lost(&self) -> bool {
        self.condition.has_lost
    }

    pub fn health(&self) -> Health {
        let is_missing = |state| matches!(state, State::Missing | State::Aside);
        if self.condition.has_lost {
            Health::Failed
        } else if self.refuses_writes() {
            Health::Broken
        } else if self.members.iter().any(|(_, member)| is_missing(member.state)) {
            Health::Degraded
        } else if self.members.impaired > 0 {
            Health::Rebuilding
        } else {
            Health::Healthy
        }
    }

    /// Whether a rebuild is under way, or may still come by what is known to fail.
    pub fn awaits_rebuild(&self, now: Instant) -> bool {
        let is_to_come = |when| match when {
            When::At(at) => at > now,
            When::Commands(count) => count > self.taken,
        };
        let may_come = || {
            let to_come = self.params.failures.iter().any(|failure| is_to_come(failure.when));
            self.condition.awaited > 0 || to_come
        };
        self.is_rebuilding() || !self.refuses_writes() && !self.spares.is_empty() && may_come()
    }

    /// How long some member was not whole, up to an instant.
    pub fn impaired_for(&self, now: Instant) -> Span {
        let Condition { impaired_since, impaired, .. } = self.condition;
        impaired + impaired_since.map_or(Span::ZERO, |since| now.since(since))
    }

    /// How a command begins: whether what it reads was lost sector by sector. What it writes is not lost any more.
    #[inline]
    pub(super) fn meet_bad_blocks(&mut self, command: &Command) -> Outcome {
        // A pool looks at them when nothing older has the records: see `plan_raidz_read`.
        if self.bad_blocks.is_empty() || matches!(self.layout, Layout::RaidZ(_)) {
            return Outcome::Done;
        }
        let (first, end) = (command.first.get(), command.end().get());
        match command.access {
            Access::Read if self.bad_blocks.touch(first, end) => return Outcome::Lost,
            Access::Write => self.bad_blocks.fill(first, end),
            Access::Read | Access::Flush => {}
        }
        Outcome::Done
    }
}
