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
mod pumping;
mod windows;

use super::levels::Layout;
use super::members::{MemberState, Members};
use super::params::{GivesWay, SyncParams};
use super::report::{Progress, ReportKind, SyncKind};
use super::state::ArrayState;
use crate::storage::context::Context;
use crate::storage::events::{ArrayEvent, Event};
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors, Share};
pub use job::{JobStage, RebuildTarget, SyncJob, WindowRange};
use job::{Window, WindowRef};
pub use part::WindowPart;

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

    /// The progress of all jobs, in the order in which they began.
    pub fn progress(&self, layout: &Layout) -> impl Iterator<Item = Progress> {
        self.jobs.iter().map(|job| {
            let share = |numbers| layout.share(job.kind, numbers);
            let of = layout.length(job);
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

    pub fn is_rebuilding(&self) -> bool {
        self.jobs.iter().any(|job| job.kind == SyncKind::Rebuild && !job.is_over())
    }

    /// A wake-up is due. Returns whether an earlier one has not replaced it.
    pub fn take_wake(&mut self, now: Instant) -> bool {
        self.wakes.take_if(|wakes| *wakes == now).is_some()
    }

    pub fn wake_at(&mut self, context: &mut Context, due: Instant) {
        if self.wakes.is_none_or(|known| due < known) {
            self.wakes = Some(due);
            context.agenda.schedule(due, 5, Event::Array(ArrayEvent::Background));
        }
    }

    /// No host command is outstanding any more: work that the floor holds back resumes once the array has
    /// been idle long enough.
    #[inline]
    pub fn note_quiet(&mut self, context: &mut Context) {
        if self.is_held {
            self.wake_at(context, context.now + self.params.idle_after);
        }
    }

    /// Starts the rebuild of a new member, when hosts have `requested` this many sectors.
    pub fn join_rebuild(&mut self, context: &mut Context, layout: &mut Layout, slot: u16, requested: u64) {
        layout.note_join(slot);
        let group = layout.group_of(slot);
        let target = RebuildTarget { slot, until: u64::MAX };
        let runs = |job: &SyncJob| job.kind == SyncKind::Rebuild && job.group == group && !job.is_over();
        if let Some(job) = self.jobs.iter_mut().find(|job| runs(job)) {
            job.targets.push(target);
            job.begin_anew();
            return context.report_array(group, ReportKind::BeganAnew(SyncKind::Rebuild));
        }
        self.begin_job(context, layout, SyncKind::Rebuild, group, requested).targets.push(target);
    }

    /// Rebuilds that begin with the run resume where they were: new members are valid below that.
    pub fn resume_rebuilds(&mut self, layout: &Layout, state: &mut ArrayState) {
        if state.params.rebuilt == Share::NONE {
            return;
        }
        for job in &mut self.jobs {
            job.done.before = passed_by(layout, job, state.params.rebuilt);
            job.next = job.begin + job.done.before;
            let edge = layout.edge(job.next);
            for target in &job.targets {
                state.members.set(target.slot, MemberState::Rebuilding { done: edge });
            }
        }
    }

    /// Rebuilds go on from this share of their work, if they are not beyond it. What is skipped counts as valid once
    /// the first window there is done, but not as processed.
    pub fn skip_rebuilds(&mut self, layout: &Layout, share: Share) {
        for job in self.jobs.iter_mut().filter(|job| job.kind == SyncKind::Rebuild && !job.is_over()) {
            job.next = job.next.max(job.begin + passed_by(layout, job, share));
        }
    }

    /// Members that have failed are no longer rebuilt, and others only as far as the remaining members allow.
    pub fn leave_rebuild(
        &mut self,
        context: &mut Context,
        layout: &Layout,
        members: &Members,
        is_idle: bool,
    ) {
        for at in 0..self.jobs.len() {
            let job = &mut self.jobs[at];
            if job.is_over() || job.targets.is_empty() {
                continue;
            }
            let is_new = |target: &RebuildTarget| {
                matches!(members.get(target.slot).state, MemberState::Rebuilding { .. })
            };
            job.targets.retain(is_new);
            for target in &mut job.targets {
                target.until = layout.reach(members, target.slot).min(target.until);
            }
            if job.targets.is_empty() {
                self.end_job(context, at, JobStage::GivenUp, is_idle);
            }
        }
    }

    /// Begins a job, when hosts have `requested` this many sectors.
    pub fn begin_job(
        &mut self,
        context: &mut Context,
        layout: &Layout,
        kind: SyncKind,
        group: u16,
        requested: u64,
    ) -> &mut SyncJob {
        let (step, range) = layout.range(kind, self.params.request.get().max(1));
        context.report_array(group, ReportKind::Began(kind));
        let at = self.jobs.len();
        self.jobs.push(SyncJob::new(kind, group, step, range, (context.now, requested)));
        &mut self.jobs[at]
    }

    fn end_job(&mut self, context: &mut Context, at: usize, stage: JobStage, is_idle: bool) {
        let job = &mut self.jobs[at];
        job.windows.clear();
        job.pace.account(context.now, &self.params, is_idle);
        (job.stage, job.done.ended) = (stage, Some(context.now));
        let kind = job.kind;
        let what = if stage == JobStage::Ended { ReportKind::Ended(kind) } else { ReportKind::GivenUp(kind) };
        context.report_array(job.group, what);
        // It may now be another job's turn in the group.
        self.again = true;
    }

    /// Whether no member of a job's group has valid data from where it is: members are missing, or new.
    fn has_no_source(&self, layout: &Layout, members: &Members, at: usize) -> bool {
        let SyncJob { kind, group, next, .. } = self.jobs[at];
        let from = layout.share(kind, next);
        !(0..members.count()).any(|slot| layout.group_of(slot) == group && members.frontier(slot) > from)
    }

    /// Begins the next window of a job, if it may begin now. Returns its index among the job's windows.
    /// `requested` is the number of sectors that hosts have requested.
    fn begin_next(
        &mut self,
        context: &mut Context,
        (layout, members): (&Layout, &Members),
        at: usize,
        (idle_from, is_idle): (Option<Instant>, bool),
        requested: u64,
    ) -> Option<usize> {
        let SyncParams { gives_way, outstanding, request, .. } = self.params;
        let job = &mut self.jobs[at];
        if job.next >= job.end || job.windows.len() >= outstanding.max(1) as usize {
            return None;
        }
        // No stretch is left: the job may end now.
        let Some(stretch) = layout.next_stretch(members, job) else {
            (job.next, self.again) = (job.end, true);
            return None;
        };
        // The rate counts sectors of a member, or where copies are compared the addresses themselves.
        let share = layout.share(SyncKind::Rebuild, stretch.count);
        let count = Sectors::new(share.min(request.get()));
        job.next = stretch.first;
        if job.pace.drains && !job.windows.is_empty() && job.pace.meets_minimum_rate(context.now) {
            return None;
        }
        job.pace.drains = false;
        let due = job.pace.due(idle_from);
        if due > context.now {
            self.is_held |= gives_way == GivesWay::ByWaiting && !is_idle;
            self.wake_at(context, due);
            return None;
        }
        job.next = stretch.end;
        job.windows.push_back(Window { waits: false, ..Window::new(stretch) });
        job.pace.begin_window(context.now, &self.params, is_idle, count);
        job.pace.drains = gives_way == GivesWay::ByDraining && job.pace.hosts.note_use(requested);
        Some(job.windows.len() - 1)
    }
}

/// What lies before this share of a job's work, in whole steps of it.
fn passed_by(layout: &Layout, job: &SyncJob, share: Share) -> u64 {
    let whole = layout.filled(job).saturating_sub(job.begin);
    let passed = ((u128::from(whole) * u128::from(share.bits())) >> 32) as u64;
    passed - passed % job.step
}
