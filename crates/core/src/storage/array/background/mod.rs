//! What an array does by itself: rebuild, resync, scrub.
//!
//! A *job* makes a pass over one group of members, from the beginning to the end, in *windows* of `request`
//! sectors of each member, up to `outstanding` windows at once. A window is a stripe request with exclusive
//! use of its blocks, so that it and hosts' writes wait for each other; it reads, then writes. Windows of a
//! pool hold no writes back, because a pool writes to other places.
//! What a window reads and writes is defined by its level (`windows.rs` of each), [`windows`] has the life of
//! a window, [`pace`] the rate. As windows are completed in order, everything below becomes readable on a new
//! member; in the end the members flush, and the new members are complete.
//!
//! - A **rebuild** reads all other members of a group with parity, or one other copy of each stripe unit, and
//!   writes to the new members. A member that joins later makes the rebuild start over, for that member alone
//!   up to where the others are. Where too much is missing to continue, a new member stays as it is.
//! - A **resync** reads everything and writes parity, or reads one copy and writes the others.
//! - A **scrub** reads everything. The model knows no data, so it finds no copies that differ.
//!
//! In each group one job runs at a time: a rebuild before all others, then the oldest. A resync or scrub gives up where
//! no member of the group has valid data any more. A window that meets something unreadable is processed again in pieces
//! of the parity's granule; what is lost of such a piece is reported exactly, and the rebuild continues. Start reading at
//! [`Array::pump_background`].
//! Source: the Linux kernel, drivers/md/md.c, raid5.c and raid10.c, for the order of jobs and what is read and written.
mod job;
mod pace;
mod part;
mod windows;

use super::levels::WindowRange;
use super::members::MemberState;
use super::params::{GivesWay, SyncParams};
use super::report::{Progress, ReportKind, SyncKind, UnderLoad};
use super::{Array, ArrayEvent};
use crate::command::{Access, Attribute, Command, Content, Priority};
use crate::storage::context::{Context, Event};
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Rate, Sectors, Share};
pub use job::{JobStage, RebuildTarget, SyncJob};
use job::{Window, WindowRef};
pub use part::WindowPart;

/// The fields of the array's own commands other than their addresses.
pub const COMMAND: Command = Command {
    id: 0,
    initiator: 0,
    logical_unit: 0,
    tag: 0,
    attribute: Attribute::Simple,
    priority: Priority::Normal,
    force_unit_access: false,
    direct: true,
    attempt: 0,
    process: u32::MAX - 1,
    synchronous: false,
    access: Access::Read,
    content: Content::Data,
    first: Lba::ZERO,
    count: Sectors::ZERO,
};

pub struct Background {
    params: SyncParams,
    /// All jobs that ever began, in that order.
    jobs: Vec<SyncJob>,
    /// By stripe request.
    tickets: Vec<WindowRef>,
    /// The next wake-up, if one is on the agenda.
    wakes: Option<Instant>,
    /// Whether some job is held back because the floor is met and hosts use the array.
    is_held: bool,
    /// Something changed while the jobs were being scanned.
    is_pumping: bool,
    again: bool,
}

impl Background {
    pub fn new(params: &SyncParams) -> Self {
        Background {
            params: *params,
            jobs: Vec::new(),
            tickets: Vec::new(),
            wakes: None,
            is_held: false,
            is_pumping: false,
            again: false,
        }
    }

    /// The window that a ticket is for, unless its job has begun anew.
    fn window(&mut self, window_ref: WindowRef) -> Option<&mut Window> {
        let job = &mut self.jobs[window_ref.job];
        if job.sweep != window_ref.sweep || job.is_over() {
            return None;
        }
        job.windows.get_mut((window_ref.number - job.number) as usize)
    }

    /// Whether it is this job's turn in its group.
    fn has_turn(&self, at: usize) -> bool {
        let job = &self.jobs[at];
        let others = self
            .jobs
            .iter()
            .enumerate()
            .filter(|(_, other)| !other.is_over() && other.group == job.group && !other.is_empty());
        let rank = |(at, job): (usize, &SyncJob)| (job.kind != SyncKind::Rebuild, at);
        others.map(rank).min() == Some(rank((at, job)))
    }
}

impl Array {
    /// The progress of all jobs, in the order in which they began.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        self.background.jobs.iter().map(|job| {
            let share = |numbers| self.layout.share(job.kind, numbers);
            let of = self.layout.length(job);
            Progress {
                kind: job.kind,
                group: job.group,
                began: job.done.began,
                ended: job.done.ended,
                is_given_up: job.stage == JobStage::GivenUp,
                before: Sectors::new(share(job.done.before)),
                swept: Sectors::new(share(job.done.swept)),
                of: Sectors::new(share(of)),
            }
        })
    }

    /// The floor that all jobs are to keep, and what each has achieved under hosts' load up to an instant, in
    /// the order of [`Self::progress`].
    pub fn under_load(&self, now: Instant) -> (Option<Rate>, impl Iterator<Item = UnderLoad>) {
        let params = &self.background.params;
        let is_idle = self.is_idle(now);
        let jobs = self.background.jobs.iter();
        (params.floor, jobs.map(move |job| job.pace.under_load_at(now, params, is_idle)))
    }

    pub(crate) fn is_rebuilding(&self) -> bool {
        self.background.jobs.iter().any(|job| job.kind == SyncKind::Rebuild && !job.is_over())
    }

    /// A wake-up of the background work is due; ignored if an earlier one has replaced it.
    pub(crate) fn wake_background(&mut self, context: &mut Context) {
        if self.background.wakes.take_if(|wakes| *wakes == context.now).is_some() {
            self.pump_background(context);
        }
    }

    /// Advances the background work as far as it can go now.
    pub(crate) fn pump_background(&mut self, context: &mut Context) {
        self.background.again = true;
        if core::mem::replace(&mut self.background.is_pumping, true) {
            return;
        }
        while core::mem::take(&mut self.background.again) {
            self.background.is_held = false;
            for at in 0..self.background.jobs.len() {
                if !self.background.jobs[at].is_over() {
                    self.advance(context, at);
                    self.feed(context, at);
                }
            }
        }
        self.background.is_pumping = false;
    }

    /// No host command is outstanding any more: work that the floor holds back resumes once the array has
    /// been idle long enough.
    #[inline]
    pub(crate) fn may_become_idle(&mut self, context: &mut Context) {
        if self.background.is_held {
            self.wake_at(context, context.now + self.background.params.idle_after);
        }
    }

    pub(crate) fn wake_at(&mut self, context: &mut Context, due: Instant) {
        if self.background.wakes.is_none_or(|known| due < known) {
            self.background.wakes = Some(due);
            context.agenda.schedule(due, 5, Event::Array(ArrayEvent::Background));
        }
    }

    /// Starts the rebuild of a new member.
    pub(crate) fn join_rebuild(&mut self, context: &mut Context, slot: u16) {
        self.layout.joins(slot);
        let group = self.layout.group_of(slot);
        let target = RebuildTarget { slot, until: u64::MAX };
        let runs = |job: &SyncJob| job.kind == SyncKind::Rebuild && job.group == group && !job.is_over();
        if let Some(job) = self.background.jobs.iter_mut().find(|job| runs(job)) {
            job.targets.push(target);
            job.begin_anew();
            return self.report(context, slot, ReportKind::BeganAnew(SyncKind::Rebuild));
        }
        self.begin_job(context, SyncKind::Rebuild, group);
        if let Some(job) = self.background.jobs.last_mut() {
            job.targets.push(target);
        }
    }

    /// Rebuilds that begin with the run resume where they were: new members are valid below that.
    pub(crate) fn resume_rebuilds(&mut self) {
        if self.state.params.rebuilt == Share::NONE {
            return;
        }
        for job in &mut self.background.jobs {
            let whole = self.layout.filled(job).saturating_sub(job.begin);
            let passed = ((u128::from(whole) * u128::from(self.state.params.rebuilt.bits())) >> 32) as u64;
            job.done.before = passed - passed % job.step;
            job.next = job.begin + job.done.before;
            let edge = self.layout.edge(job.next);
            for target in &job.targets {
                self.state.members.set(target.slot, MemberState::Rebuilding { done: edge });
            }
        }
    }

    /// Members that have failed are no longer rebuilt, and others only as far as the remaining members allow.
    pub(crate) fn leave_rebuild(&mut self, context: &mut Context) {
        for at in 0..self.background.jobs.len() {
            let members = &self.state.members;
            let job = &mut self.background.jobs[at];
            if job.is_over() || job.targets.is_empty() {
                continue;
            }
            let is_new = |target: &RebuildTarget| {
                matches!(members.get(target.slot).state, MemberState::Rebuilding { .. })
            };
            job.targets.retain(is_new);
            for i in 0..job.targets.len() {
                let reach = self.layout.reach(&self.state.members, self.background.jobs[at].targets[i].slot);
                let until = &mut self.background.jobs[at].targets[i].until;
                *until = reach.min(*until);
            }
            if self.background.jobs[at].targets.is_empty() {
                self.end_job(context, at, JobStage::GivenUp);
            }
        }
    }

    pub(crate) fn begin_scheduled(&mut self, context: &mut Context, scheduled: u16) {
        let kind = self.state.params.scheduled[usize::from(scheduled)].kind;
        self.begin_work(context, kind);
    }

    /// Begins work of this kind on every group of members.
    pub fn begin_work(&mut self, context: &mut Context, kind: SyncKind) {
        let members = self.state.params.members;
        for group in 0..members / self.layout.group_members().unwrap_or(members) {
            self.begin_job(context, kind, group);
        }
        self.pump_background(context);
    }

    fn begin_job(&mut self, context: &mut Context, kind: SyncKind, group: u16) {
        let (step, range) = self.layout.range(kind, self.background.params.request.get().max(1));
        self.background.jobs.push(SyncJob::new(
            kind,
            group,
            step,
            range,
            (context.now, self.admission.requested()),
        ));
        let slot = self.first_slot(group);
        self.report(context, slot, ReportKind::Began(kind));
    }

    fn end_job(&mut self, context: &mut Context, at: usize, stage: JobStage) {
        let is_idle = self.is_idle(context.now);
        let Background { params, jobs, .. } = &mut self.background;
        let job = &mut jobs[at];
        job.windows.clear();
        job.pace.passes(context.now, params, is_idle);
        (job.stage, job.done.ended) = (stage, Some(context.now));
        let (kind, group) = (job.kind, job.group);
        let what = if stage == JobStage::Ended { ReportKind::Ended(kind) } else { ReportKind::GivenUp(kind) };
        self.report(context, self.first_slot(group), what);
        // It may now be another job's turn in the group.
        self.background.again = true;
    }

    /// Whether no member of a job's group has valid data from where it is: members are missing, or new.
    fn has_no_source(&self, at: usize) -> bool {
        let SyncJob { kind, group, next, .. } = self.background.jobs[at];
        let from = self.layout.share(kind, next);
        let mut slots = 0..self.state.params.members;
        !slots.any(|slot| self.layout.group_of(slot) == group && self.state.members.frontier(slot) > from)
    }

    fn first_slot(&self, group: u16) -> u16 {
        group * self.layout.group_members().unwrap_or(0)
    }

    /// Everything below the first window that is not done is now valid; after the last one the job ends.
    fn advance(&mut self, context: &mut Context, at: usize) {
        let job = &mut self.background.jobs[at];
        while let Some(&Window { end, count, is_done: true, .. }) = job.windows.front() {
            job.windows.pop_front();
            job.number += 1;
            job.done.swept += count;
            for target in &job.targets {
                let end = end.min(target.until);
                let edge = self.layout.edge(end);
                let member = self.state.members.get_mut(target.slot);
                if let MemberState::Rebuilding { done } = &mut member.state {
                    *done = edge.max(*done);
                }
            }
        }
        if job.targets.iter().map(|target| target.until).max().is_some_and(|until| until <= job.next) {
            job.next = job.end;
        }
        if job.next < job.end || !job.windows.is_empty() {
            return;
        }
        // Nothing was written, so there is nothing to flush.
        if job.stage == JobStage::Sweeping && job.kind != SyncKind::Scrub && !job.is_empty() {
            job.stage = JobStage::Flushing;
            let nothing = WindowRange { first: job.end, end: job.end, count: 0 };
            return job.windows.push_back(Window::new(nothing));
        }
        let targets = core::mem::take(&mut job.targets);
        let is_made = |target: &&RebuildTarget| target.until == u64::MAX;
        let made = targets.iter().filter(is_made).count();
        for target in targets.iter().filter(is_made) {
            self.state.members.set(target.slot, MemberState::Whole);
        }
        self.clear_what_is_due(context);
        // A job that was to make members consistent has failed where it had to skip something.
        let is_partial = targets.is_empty() && self.background.jobs[at].has_skipped;
        let is_vain = made == 0 && !targets.is_empty();
        let stage = if is_partial || is_vain { JobStage::GivenUp } else { JobStage::Ended };
        self.note_condition(context.now);
        self.end_job(context, at, stage);
    }

    /// Begins as many windows as may be under way, at the permitted rate.
    fn feed(&mut self, context: &mut Context, at: usize) {
        if self.background.jobs[at].is_over() {
            return;
        }
        if !self.background.has_turn(at) {
            return self.background.jobs[at].pace.rests();
        }
        let SyncJob { kind, stage, next, end, .. } = self.background.jobs[at];
        if kind != SyncKind::Rebuild && stage == JobStage::Sweeping && next < end && self.has_no_source(at) {
            // The windows would end at the instant at which they begin, all of them at this one.
            if self.background.jobs[at].windows.is_empty() {
                self.end_job(context, at, JobStage::GivenUp);
            }
            return;
        }
        let mut i = 0;
        // A window that begins may end at once; nothing else changes the windows meanwhile.
        while let Some(window) = self.background.jobs[at].windows.get_mut(i) {
            if core::mem::take(&mut window.waits) {
                self.begin_window(context, at, i);
            }
            i += 1;
        }
        let waits = self.background.params.gives_way == GivesWay::ByWaiting;
        let idle_from =
            if waits { self.admission.is_quiet().then(|| self.idle_from()) } else { Some(Instant::ZERO) };
        let is_idle = self.is_idle(context.now);
        while self.begins_next(context, at, idle_from, is_idle) {}
    }

    /// Begins the next window of a job, if it may begin now. Returns whether it did.
    fn begins_next(
        &mut self,
        context: &mut Context,
        at: usize,
        idle_from: Option<Instant>,
        is_idle: bool,
    ) -> bool {
        let SyncParams { gives_way, outstanding, request, .. } = self.background.params;
        let job = &self.background.jobs[at];
        if job.next >= job.end || job.windows.len() >= outstanding.max(1) as usize {
            return false;
        }
        // No stretch is left: the job may end now.
        let Some(stretch) = self.layout.next_stretch(&self.state.members, job) else {
            (self.background.jobs[at].next, self.background.again) = (job.end, true);
            return false;
        };
        // The rate counts sectors of a member, or where copies are compared the addresses themselves.
        let share = self.layout.share(SyncKind::Rebuild, stretch.count);
        let count = Sectors::new(share.min(request.get()));
        let job = &mut self.background.jobs[at];
        job.next = stretch.first;
        if job.pace.drains && !job.windows.is_empty() && job.pace.meets_minimum_rate(context.now) {
            return false;
        }
        job.pace.drains = false;
        let due = job.pace.due(idle_from);
        if due > context.now {
            self.background.is_held |= gives_way == GivesWay::ByWaiting && !is_idle;
            self.wake_at(context, due);
            return false;
        }
        job.next = stretch.end;
        job.windows.push_back(Window { waits: false, ..Window::new(stretch) });
        job.pace.begins(context.now, &self.background.params, is_idle, count);
        job.pace.drains =
            gives_way == GivesWay::ByDraining && job.pace.hosts.were_busy(self.admission.requested());
        let i = job.windows.len() - 1;
        self.begin_window(context, at, i);
        true
    }

    /// Whether no host has used the array for `idle_after`.
    fn is_idle(&self, now: Instant) -> bool {
        self.admission.is_quiet() && self.idle_from() <= now
    }

    /// When the array will have been idle long enough, unless another command arrives.
    fn idle_from(&self) -> Instant {
        self.admission.idle_from(self.background.params.idle_after)
    }
}
