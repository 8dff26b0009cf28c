//! How an array handles failures: missing members, unreadable sectors, spares.
//!
//! Commands that are with a drive when it fails come back as failed: reads are planned anew without it,
//! writes do without it as long as another member keeps what was written. A spare takes the slot
//! `replaced_after` later, unless what the slot held can no longer be reconstructed. A new drive that
//! somebody puts in is a spare too: until it is taken it does nothing. In RAID 01 the members of a striped
//! set with a member missing stand aside, and are all rebuilt once the set is complete again.
use super::Array;
use super::members::MemberState;
use super::params::When;
use super::report::{Health, ReportKind};
use super::state::ArrayState;
use super::stripe_request::{Op, Owner};
use super::unreadable::is_unread;
use crate::command::{Access, Breakdown, Outcome};
use crate::data::DataOp;
use crate::storage::context::Context;
use crate::storage::events::{ArrayEvent, Event};
use crate::storage::tree::Slot;
use alloc::vec::Vec;
use drivelab_units::{Instant, Span};

impl Array {
    /// To be called once, before anything else.
    pub fn start(&mut self, context: &mut Context) {
        let before = self.state.members.frontiers();
        let missing = self.state.params.missing.clone();
        for &slot in &missing {
            let drive = self.state.members.get(slot).drive;
            self.state.members.set(slot, MemberState::Missing);
            context.report_array(self.layout.group_of(slot), ReportKind::Failed { slot, drive });
            self.state.members.set_aside(self.layout.companions(slot));
        }
        self.lose(context, &before, missing.first().copied().unwrap_or(0));
        for slot in missing {
            if !self.state.params.rebuilding {
                self.condition.await_spare(context, context.now + self.state.params.replaced_after, slot);
            } else if self.layout.can_be_rebuilt(&self.state.members, slot) {
                self.assign_slot(context, slot, self.state.members.get(slot).drive);
            }
        }
        self.background.resume_rebuilds(&self.layout, &mut self.state);
        // Only once every box has stated which events it reports.
        self.background.wake_at(context, context.now);
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
            context.report_array(0, ReportKind::JournalFailed { drive });
            self.state.logs.lose();
            self.end_ops_of(context, drive);
            return self.admit_to_logs(context);
        }
        let Some(slot) = self.state.members.slot_of(drive) else {
            if self.condition.spares.contains(&drive) {
                self.condition.spares.retain(|&spare| spare != drive);
                context.report_array(0, ReportKind::SpareFailed { drive });
            }
            return;
        };
        let before = self.state.members.frontiers();
        self.state.members.set(slot, MemberState::Missing);
        self.state.members.get_mut(slot).outstanding = 0;
        context.report_array(self.layout.group_of(slot), ReportKind::Failed { slot, drive });
        self.state.members.set_aside(self.layout.companions(slot));
        self.lose(context, &before, slot);
        self.lose_stale(context);
        let is_idle = self.is_idle(context.now);
        self.background.leave_rebuild(context, &self.layout, &self.state.members, is_idle);
        self.condition.note(self.state.members.impaired > 0, context.now);
        self.condition.await_spare(context, context.now + self.state.params.replaced_after, slot);
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
                Access::Flush => !self.condition.has_lost,
            };
        let has_met = self.state.defects.unreadable.has(
            self.state.stripe_requests.get(op.stripe_request).unreadable,
            op.spot(),
            op.count,
        );
        let stripe_request = self.state.stripe_requests.get_mut(op.stripe_request);
        if stripe_request.owner == Owner::Background {
            return self.background.note_failure(&mut self.state, op, outcome);
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
        if self.take_spare(context, slot) {
            self.pump_background(context);
        }
    }

    /// A new drive is present in the place of a failed one: it gets that one's slot if everything that
    /// belongs on it can be reconstructed, or becomes a spare.
    pub fn insert_drive(&mut self, context: &mut Context, drive: u16) {
        let slot = self.state.members.slot_missing(drive);
        match slot.filter(|&slot| {
            !self.condition.is_broken && self.layout.can_be_rebuilt(&self.state.members, slot)
        }) {
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
            has_begun |= self.take_spare(context, slot);
        }
        if has_begun {
            self.pump_background(context);
        }
        has_begun
    }

    /// A spare takes the place of a failed member, if there is one and the slot can be rebuilt. Returns
    /// whether it does.
    fn take_spare(&mut self, context: &mut Context, slot: u16) -> bool {
        if self.state.members.get(slot).state == MemberState::Missing
            && !self.condition.is_broken
            && self.layout.can_be_rebuilt(&self.state.members, slot)
            && let Some(drive) = self.condition.spares.pop_front()
        {
            self.assign_slot(context, slot, drive);
            return true;
        }
        false
    }

    /// A new drive takes a slot.
    fn assign_slot(&mut self, context: &mut Context, slot: u16, drive: u16) {
        let member = self.state.members.get_mut(slot);
        (member.drive, member.outstanding, member.head) = (drive, 0, 0);
        context.report_array(self.layout.group_of(slot), ReportKind::Replaced { slot, drive });
        context.data_op(DataOp::Replace { member: drive });
        self.state.members.set(slot, MemberState::Aside);
        let set = self.layout.companions(slot);
        if set.clone().all(|other| self.state.members.get(other).state != MemberState::Missing) {
            for other in set {
                if self.state.members.get(other).state == MemberState::Aside {
                    self.state.members.set(other, MemberState::Rebuilding { done: 0 });
                    self.background.join_rebuild(
                        context,
                        &mut self.layout,
                        other,
                        self.admission.requested(),
                    );
                }
            }
        }
        self.condition.note(self.state.members.impaired > 0, context.now);
        self.copy_bits(context);
    }

    /// Reports what has been lost since the members had the frontiers `before`.
    fn lose(&mut self, context: &mut Context, before: &[u64], slot: u16) {
        if self.state.members.impaired == 0 {
            return;
        }
        self.condition.note(self.state.members.impaired > 0, context.now);
        for run in self.layout.losses(&self.state.members, before, slot) {
            self.condition.has_lost = true;
            context.report_array(self.layout.group_of(slot), ReportKind::Lost(run));
        }
        let ArrayState { members, defects, .. } = &mut self.state;
        self.layout.lose_beside_bad_blocks(members, defects, context);
    }

    /// The state of the array as a whole, from its members' states and its losses.
    pub fn health(&self) -> Health {
        let is_missing = |state| matches!(state, MemberState::Missing | MemberState::Aside);
        if self.condition.has_lost {
            Health::Failed
        } else if self.condition.is_broken {
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
        self.background.is_rebuilding()
            || !self.condition.is_broken && !self.condition.spares.is_empty() && may_come()
    }

    /// How long some member was not complete, up to an instant.
    pub fn impaired_for(&self, now: Instant) -> Span {
        self.condition.impaired_for(now)
    }
}
