//! How an array handles failures: missing members, unreadable sectors, spares.
//!
//! Commands that are with a drive when it fails come back as failed: reads are planned anew without it,
//! writes do without it as long as another member keeps what was written. A spare takes the slot
//! `replaced_after` later, unless what the slot held can no longer be reconstructed. A new drive that
//! somebody puts in is a spare too: until it is taken it does nothing. In RAID 01 the members of a striped
//! set with a member missing stand aside, and are all rebuilt once the set is complete again.
use super::members::{ALL, Member, MemberState};
use super::params::{ArrayParams, When};
use super::report::{Health, Report, ReportKind};
use super::stripe_request::{Op, Owner};
use super::unreadable::is_unread;
use super::{Array, ArrayEvent};
use crate::command::{Access, Breakdown, Command, Outcome};
use crate::data::DataOp;
use crate::storage::context::{Context, Event};
use crate::storage::outputs::TargetEvent;
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;
use drivelab_units::{Instant, Span};

/// The condition of the array so far.
#[derive(Default)]
pub struct Condition {
    /// Since when some member has not been complete.
    impaired_since: Option<Instant>,
    /// How long that was the case in earlier periods.
    impaired: Span,
    pub(crate) has_lost: bool,
    /// Whether writes are refused, because the last copy of something failed a write.
    pub(crate) is_broken: bool,
    /// Slots for which a spare is to be taken later.
    awaited: u32,
    /// The spares that are left.
    spares: VecDeque<u16>,
}

impl Condition {
    /// A condition with these spares.
    pub fn new(spares: Range<u16>) -> Self {
        Condition { spares: spares.collect(), ..Condition::default() }
    }
}

impl Array {
    /// To be called once, before anything else.
    pub fn start(&mut self, context: &mut Context) {
        let before = self.state.members.frontiers();
        let missing = self.state.params.missing.clone();
        for &slot in &missing {
            let drive = self.state.members.get(slot).drive;
            self.state.members.set(slot, MemberState::Missing);
            self.report(context, slot, ReportKind::Failed { slot, drive });
            self.fail_rest_of_set(slot);
        }
        self.lose(context, &before, missing.first().copied().unwrap_or(0));
        for slot in missing {
            if !self.state.params.rebuilding {
                self.await_spare(context, slot);
            } else if self.can_be_rebuilt(slot) {
                self.assign_slot(context, slot, self.state.members.get(slot).drive);
            }
        }
        self.resume_rebuilds();
        // Only once every box has stated which events it reports.
        self.wake_at(context, context.now);
        for failure in &self.state.params.failures {
            let at = match failure.when {
                When::At(at) => at,
                When::Commands(0) => context.now,
                When::Commands(_) => continue,
            };
            context.agenda.schedule(at, 0, Event::Fails { drive: failure.drive });
        }
        for (scheduled, work) in (0..).zip(&self.state.params.scheduled) {
            context.agenda.schedule(work.at, 5, Event::Array(ArrayEvent::Begin { scheduled }));
        }
    }

    /// Drives that fail once the array has received a given number of commands.
    pub(crate) fn fail_by_count(&mut self, context: &mut Context) {
        for failure in &self.state.params.failures {
            if failure.when == When::Commands(self.admission.received()) {
                context.agenda.schedule(context.now, 0, Event::Fails { drive: failure.drive });
            }
        }
    }

    /// A drive has failed for good.
    pub fn fail(&mut self, context: &mut Context, drive: u16) {
        if self.state.logs.drive() == Some(drive) {
            self.report(context, 0, ReportKind::JournalFailed { drive });
            self.state.logs.lose();
            self.end_ops_of(context, drive);
            return self.admit_to_logs(context);
        }
        let Some(slot) = self.state.members.slot_of(drive) else {
            if self.condition.spares.contains(&drive) {
                self.condition.spares.retain(|&spare| spare != drive);
                self.report(context, 0, ReportKind::SpareFailed { drive });
            }
            return;
        };
        let before = self.state.members.frontiers();
        self.state.members.set(slot, MemberState::Missing);
        self.state.members.get_mut(slot).outstanding = 0;
        self.report(context, slot, ReportKind::Failed { slot, drive });
        self.fail_rest_of_set(slot);
        self.lose(context, &before, slot);
        self.lose_stale(context);
        self.leave_rebuild(context);
        self.note_condition(context.now);
        self.await_spare(context, slot);
        self.end_ops_of(context, drive);
        self.pump_background(context);
    }

    /// Commands that are with a drive, or waiting for it, end as it fails.
    fn end_ops_of(&mut self, context: &mut Context, drive: u16) {
        self.below.drop_for(&mut self.state.ops, drive);
        let gone: Vec<Slot> = self
            .state
            .ops
            .places()
            .filter(|(_, op)| op.is_out && op.drive == drive)
            .map(|(at, _)| at)
            .collect();
        for at in gone {
            let since = self.state.stripe_requests.get(self.state.ops.get(at).stripe_request).since;
            let breakdown = Breakdown { queue: context.now - since, ..Breakdown::default() };
            self.end_op(context, at, Outcome::Failed, &breakdown);
        }
    }

    fn await_spare(&mut self, context: &mut Context, slot: u16) {
        self.condition.awaited += 1;
        let due = context.now + self.state.params.replaced_after;
        context.agenda.schedule(due, 4, Event::Array(ArrayEvent::Replace { slot }));
    }

    /// A member's command has failed, or there was no drive to send it to: a read is planned anew without it;
    /// the failure of a write to a missing member does not matter where others keep what it wrote.
    pub(crate) fn op_failed(&mut self, op: &Op, outcome: Outcome) {
        // What could not be written back stays as it was.
        if op.repairs > 0 || op.access == Access::Read && self.state.excuse_read(op, outcome) {
            return;
        }
        let is_kept = outcome != Outcome::Failed
            || match op.access {
                Access::Read => true,
                Access::Write => {
                    op.slot >= self.state.members.count()
                        || self.layout.is_kept_without(&self.state.members, op)
                }
                Access::Flush => !self.has_lost(),
            };
        let has_met = self.state.defects.unreadable.has(
            self.state.stripe_requests.get(op.stripe_request).unreadable,
            op.spot(),
            op.count,
        );
        let stripe_request = self.state.stripe_requests.get_mut(op.stripe_request);
        if stripe_request.owner == Owner::Background {
            return self.window_op_failed(op, outcome);
        }
        match (op.access, outcome) {
            (Access::Read, Outcome::Failed) => stripe_request.plan.is_spoilt = true,
            // Several of its commands may have met unreadable sectors before it is planned anew.
            (Access::Read, _) if is_unread(outcome) && (stripe_request.plan.is_spoilt || !has_met) => {
                self.state.defects.unreadable.add(
                    &mut stripe_request.unreadable,
                    op.spot(),
                    op.count,
                    outcome,
                );
                stripe_request.plan.is_spoilt = true;
            }
            // A failure of the journal matters.
            (_, Outcome::Failed) if op.slot == self.state.params.members => {
                stripe_request.outcome = outcome;
            }
            (Access::Write | Access::Flush, Outcome::Failed) if !is_kept => {
                stripe_request.outcome = Outcome::Lost;
            }
            (Access::Write | Access::Flush, Outcome::Failed) => {}
            _ => stripe_request.outcome = outcome,
        }
    }

    /// It is time for a spare to take the place of a failed member.
    pub(crate) fn replace(&mut self, context: &mut Context, slot: u16) {
        self.condition.awaited -= 1;
        if self.takes_spare(context, slot) {
            self.pump_background(context);
        }
    }

    /// A new drive is present in the place of a failed one: it gets that one's slot if everything that
    /// belongs on it can be reconstructed, or becomes a spare.
    pub fn insert_drive(&mut self, context: &mut Context, drive: u16) {
        let has =
            |&(_, member): &(u16, &Member)| member.drive == drive && member.state == MemberState::Missing;
        let slot = self.state.members.iter().find(has).map(|(slot, _)| slot);
        match slot.filter(|&slot| !self.refuses_writes() && self.can_be_rebuilt(slot)) {
            Some(slot) => {
                self.assign_slot(context, slot, drive);
                self.pump_background(context);
            }
            None => self.condition.spares.push_back(drive),
        }
    }

    /// Spares take all slots that can be rebuilt, without waiting for their time. Returns whether there were
    /// any.
    pub fn rebuild_now(&mut self, context: &mut Context) -> bool {
        let mut has_begun = false;
        for slot in 0..self.state.members.count() {
            has_begun |= self.takes_spare(context, slot);
        }
        if has_begun {
            self.pump_background(context);
        }
        has_begun
    }

    /// A spare takes the place of a failed member, if there is one and the slot can be rebuilt. Returns
    /// whether it does.
    fn takes_spare(&mut self, context: &mut Context, slot: u16) -> bool {
        if self.state.members.get(slot).state == MemberState::Missing
            && !self.refuses_writes()
            && self.can_be_rebuilt(slot)
            && let Some(drive) = self.condition.spares.pop_front()
        {
            self.assign_slot(context, slot, drive);
            return true;
        }
        false
    }

    /// Whether a drive belongs to a missing slot: at the start such a drive is absent.
    pub fn misses(&self, drive: u16) -> bool {
        let has = |member: &Member| member.drive == drive && member.state == MemberState::Missing;
        self.state.members.iter().any(|(_, member)| has(member))
    }

    /// Whether a drive is, or was, the journal's: its number is behind members and spares.
    pub fn is_of_journal(&self, drive: u16) -> bool {
        let ArrayParams { members, spares, .. } = self.state.params;
        drive >= members + spares
    }

    /// Whether everything that belongs on a slot can be read or computed from the others.
    pub(crate) fn can_be_rebuilt(&self, slot: u16) -> bool {
        self.layout.reach(&self.state.members, slot) == ALL
    }

    /// A new drive takes a slot.
    fn assign_slot(&mut self, context: &mut Context, slot: u16, drive: u16) {
        let member = self.state.members.get_mut(slot);
        (member.drive, member.outstanding, member.head) = (drive, 0, 0);
        self.report(context, slot, ReportKind::Replaced { slot, drive });
        context.data_op(DataOp::Replace { member: drive });
        self.state.members.set(slot, MemberState::Aside);
        let set = self.layout.companions(slot);
        if set.clone().all(|other| self.state.members.get(other).state != MemberState::Missing) {
            for other in set {
                if self.state.members.get(other).state == MemberState::Aside {
                    self.state.members.set(other, MemberState::Rebuilding { done: 0 });
                    self.join_rebuild(context, other);
                }
            }
        }
        self.note_condition(context.now);
        self.copy_bits(context);
    }

    /// The other members of a striped set with a member missing stand aside.
    fn fail_rest_of_set(&mut self, missing: u16) {
        for slot in self.layout.companions(missing) {
            if self.state.members.get(slot).state != MemberState::Missing {
                self.state.members.set(slot, MemberState::Aside);
            }
        }
    }

    /// Reports what has been lost since the members had the frontiers `before`.
    fn lose(&mut self, context: &mut Context, before: &[u64], slot: u16) {
        if self.state.members.impaired == 0 {
            return;
        }
        self.note_condition(context.now);
        for run in self.layout.losses(&self.state.members, before, slot) {
            self.condition.has_lost = true;
            self.report(context, slot, ReportKind::Lost(run));
        }
    }

    pub(crate) fn report(&self, context: &mut Context, slot: u16, what: ReportKind) {
        let report = Report { at: context.now, group: self.layout.group_of(slot), what };
        context.report_event(TargetEvent::Array(report));
    }

    pub(crate) fn note_condition(&mut self, now: Instant) {
        let condition = &mut self.condition;
        match (self.state.members.impaired > 0, condition.impaired_since) {
            (true, None) => condition.impaired_since = Some(now),
            (false, Some(since)) => {
                condition.impaired += now - since;
                condition.impaired_since = None;
            }
            _ => {}
        }
    }

    /// Whether some addresses are lost, because of the members that are missing.
    pub(crate) fn has_lost(&self) -> bool {
        self.condition.has_lost
    }

    /// The state of the array as a whole, from its members' states and its losses.
    pub fn health(&self) -> Health {
        let is_missing = |state| matches!(state, MemberState::Missing | MemberState::Aside);
        if self.condition.has_lost {
            Health::Failed
        } else if self.refuses_writes() {
            Health::Broken
        } else if self.state.members.iter().any(|(_, member)| is_missing(member.state)) {
            Health::Degraded
        } else if self.state.members.impaired > 0 {
            Health::Rebuilding
        } else {
            Health::Healthy
        }
    }

    /// Whether a rebuild is under way, or a failure that is scheduled may still start one.
    pub fn awaits_rebuild(&self, now: Instant) -> bool {
        let is_to_come = |when| match when {
            When::At(at) => at > now,
            When::Commands(count) => count > self.admission.received(),
        };
        let may_come = || {
            let to_come = self.state.params.failures.iter().any(|failure| is_to_come(failure.when));
            self.condition.awaited > 0 || to_come
        };
        self.is_rebuilding() || !self.refuses_writes() && !self.condition.spares.is_empty() && may_come()
    }

    /// How long some member was not whole, up to an instant.
    pub fn impaired_for(&self, now: Instant) -> Span {
        let Condition { impaired_since, impaired, .. } = self.condition;
        impaired + impaired_since.map_or(Span::ZERO, |since| now.since(since))
    }

    /// The outcome that a command starts with: [`Outcome::Lost`] where it reads a bad block. Bad blocks that
    /// it writes become good again.
    #[inline]
    pub(crate) fn check_bad_blocks(&mut self, command: &Command) -> Outcome {
        // A pool does so itself, once no older stripe request has the records.
        if self.state.defects.bad_blocks.is_empty() || self.layout.checks_bad_blocks() {
            return Outcome::Done;
        }
        let (first, end) = (command.first.get(), command.end().get());
        match command.access {
            Access::Read if self.state.defects.bad_blocks.touch(first, end) => return Outcome::Lost,
            Access::Write => self.state.defects.bad_blocks.fill(first, end),
            Access::Read | Access::Flush => {}
        }
        Outcome::Done
    }
}
