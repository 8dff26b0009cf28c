//! How the array advances its background work: which windows begin, and what is complete once they are done.
use super::super::Array;
use super::super::members::MemberState;
use super::super::params::GivesWay;
use super::super::report::{Progress, SyncKind, UnderLoad};
use super::super::stripe_request::Owner;
use super::Background;
use super::job::{JobStage, RebuildTarget, SyncJob, Window, WindowRange, WindowRef};
use crate::command::Access;
use crate::storage::context::Context;
use drivelab_units::{Instant, Rate, Share};

impl Array {
    /// The progress of all jobs, in the order in which they began.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        self.background.progress(&self.layout)
    }

    /// The floor that all jobs are to keep, and what each has achieved under hosts' load up to an instant, in
    /// the order of [`Self::progress`].
    pub fn under_load(&self, now: Instant) -> (Option<Rate>, impl Iterator<Item = UnderLoad>) {
        let params = &self.background.params;
        let is_idle = self.is_idle(now);
        let jobs = self.background.jobs.iter();
        (params.floor, jobs.map(move |job| job.pace.under_load_at(now, params, is_idle)))
    }

    /// Rebuilds go on from this share of their work, if they are not beyond it, as if everything before it were
    /// rebuilt: its timing is real, its data are not.
    pub(crate) fn skip_rebuilds(&mut self, share: Share) {
        self.background.skip_rebuilds(&self.layout, share);
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

    /// Begins work of this kind on every group of members.
    pub fn begin_work(&mut self, context: &mut Context, kind: SyncKind) {
        let members = self.state.params.members;
        for group in 0..members / self.layout.group_members().unwrap_or(members) {
            self.background.begin_job(context, &self.layout, kind, group, self.admission.requested());
        }
        self.pump_background(context);
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
        if self.state.members.impaired == 0
            && let Some(bitmap) = &mut self.bitmap
        {
            bitmap.clear_what_is_due(context);
        }
        // A job that was to make members consistent has failed where it had to skip something.
        let is_partial = targets.is_empty() && self.background.jobs[at].has_skipped;
        let is_vain = made == 0 && !targets.is_empty();
        let stage = if is_partial || is_vain { JobStage::GivenUp } else { JobStage::Ended };
        self.condition.note(self.state.members.impaired > 0, context.now);
        let is_idle = self.is_idle(context.now);
        self.background.end_job(context, at, stage, is_idle);
    }

    /// Begins as many windows as may be under way, at the permitted rate.
    fn feed(&mut self, context: &mut Context, at: usize) {
        if self.background.jobs[at].is_over() {
            return;
        }
        if !self.background.has_turn(at) {
            return self.background.jobs[at].pace.rest();
        }
        let SyncJob { kind, stage, next, end, .. } = self.background.jobs[at];
        if kind != SyncKind::Rebuild
            && stage == JobStage::Sweeping
            && next < end
            && self.background.has_no_source(&self.layout, &self.state.members, at)
        {
            // The windows would end at the instant at which they begin, all of them at this one.
            if self.background.jobs[at].windows.is_empty() {
                let is_idle = self.is_idle(context.now);
                self.background.end_job(context, at, JobStage::GivenUp, is_idle);
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
        let Background { params, .. } = self.background;
        let quiet_from = || self.admission.is_quiet().then(|| self.admission.idle_from(params.idle_after));
        let waits = params.gives_way == GivesWay::ByWaiting;
        let idle_from = if waits { quiet_from() } else { Some(Instant::ZERO) };
        let is_idle = self.is_idle(context.now);
        loop {
            let (here, requested) = ((&self.layout, &self.state.members), self.admission.requested());
            let begun = self.background.begin_next(context, here, at, (idle_from, is_idle), requested);
            let Some(window) = begun else { return };
            self.begin_window(context, at, window);
        }
    }

    /// The current part of a window gets its stripe request.
    pub(crate) fn begin_window(&mut self, context: &mut Context, at: usize, i: usize) {
        let job = &self.background.jobs[at];
        let window_ref = WindowRef { job: at, sweep: job.sweep, number: job.number + i as u64 };
        let window = &job.windows[i];
        let flushes = job.stage == JobStage::Flushing;
        let (first, end) = if flushes { (0, 0) } else { self.layout.around(job, window.at, window.to) };
        let access = if flushes { Access::Flush } else { Access::Write };
        let slot = self.add_stripe_request(context.now, Owner::Background, access, first, end);
        let tickets = &mut self.background.tickets;
        if tickets.len() <= slot as usize {
            tickets.resize(slot as usize + 1, WindowRef::default());
        }
        tickets[slot as usize] = window_ref;
        self.enter(context, slot);
    }

    /// Whether no host has used the array for long enough.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        self.admission.is_idle(now, self.background.params.idle_after)
    }
}
