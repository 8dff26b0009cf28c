//! The life of a window: it gets a stripe request, whose outcome says whether it is done, must be processed
//! in pieces, or cannot be done.
use super::super::members::Members;
use super::super::report::SyncKind;
use super::super::stripe_request::{Op, Owner, Phase};
use super::job::{JobStage, SyncJob, WindowRef};
use super::part::WindowPart;
use super::{Array, Context};
use crate::command::{Access, Outcome};
use crate::storage::tree::Slot;

/// How often a window that fails for no lasting reason is tried.
const TRIES: u8 = 8;

impl Array {
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

    /// Makes the commands of a window's stripe request.
    pub(crate) fn plan_window(&mut self, context: &mut Context, stripe_request: Slot) -> Result<(), Outcome> {
        let window_ref = self.background.tickets[stripe_request as usize];
        let Some(window) = self.background.window(window_ref) else { return Ok(()) };
        if window.is_bad {
            return Err(self.state.stripe_requests.get(stripe_request).outcome);
        }
        let (at, to) = (window.at, window.to);
        let job = &mut self.background.jobs[window_ref.job];
        if job.stage == JobStage::Flushing {
            self.plan_flush_of_job(context, stripe_request, window_ref);
            return Ok(());
        }
        let window = (window_ref.number - job.number) as usize;
        let mut part = WindowPart { job, window, at, to };
        self.layout.plan_window(&mut self.state.plan(context, stripe_request), &mut part);
        Ok(())
    }

    /// Members that were written flush their caches.
    fn plan_flush_of_job(&mut self, context: &mut Context, stripe_request: Slot, window_ref: WindowRef) {
        let job = &self.background.jobs[window_ref.job];
        let layout = &self.layout;
        let was_written = |_: &Members, slot| {
            let is_target = job.targets.iter().any(|target| target.slot == slot);
            is_target || job.kind != SyncKind::Rebuild && layout.group_of(slot) == job.group
        };
        self.state.plan(context, stripe_request).flush(Phase::Write, was_written);
    }

    /// The stripe request that another one must wait for although it has none of its blocks.
    #[inline]
    pub(crate) fn blocker(&mut self, slot: Slot) -> Option<Slot> {
        let stripe_request = self.state.stripe_requests.get(slot);
        let mut window = None;
        if stripe_request.owner == Owner::Background {
            let window_ref = self.background.tickets[slot as usize];
            let places = self.background.window(window_ref).map(|window| window.at..window.to);
            window = places.map(|places| (&self.background.jobs[window_ref.job], places));
        }
        self.layout.blocker(&self.state.members, (slot, stripe_request), window)
    }

    /// A command of a window has failed.
    pub(crate) fn window_op_failed(&mut self, op: &Op, outcome: Outcome) {
        if op.access != Access::Read {
            // A missing member is not waited for.
            if outcome != Outcome::Failed {
                self.state.stripe_requests.get_mut(op.stripe_request).outcome = outcome;
            }
            return;
        }
        let stripe_request = self.state.stripe_requests.get_mut(op.stripe_request);
        stripe_request.plan.is_spoilt = true;
        let Some(window) = self.background.window(self.background.tickets[op.stripe_request as usize]) else {
            return;
        };
        match outcome {
            Outcome::Failed => {}
            Outcome::MediaError if window.is_fine => window.unreadable.push(op.slot),
            _ => {
                window.is_bad = true;
                stripe_request.outcome = outcome;
            }
        }
    }

    /// A window, or a part of one, has been processed.
    pub(crate) fn window_is_done(&mut self, context: &mut Context, slot: Slot) {
        let outcome = self.state.stripe_requests.get(slot).outcome;
        let granule = self.layout.smallest_window(self.state.granule());
        let window_ref = self.background.tickets[slot as usize];
        if let Some(window) = self.background.window(window_ref) {
            window.is_bad = false;
            window.unreadable.clear();
            match outcome {
                Outcome::Done => window.at = window.to,
                Outcome::MediaError if !window.is_fine => window.is_fine = true,
                _ => {
                    window.tries += 1;
                    if window.tries >= TRIES {
                        let first = window.first;
                        window.at = window.end;
                        let job = &mut self.background.jobs[window_ref.job];
                        job.stop_at(first);
                        job.has_skipped = true;
                    }
                }
            }
            if let Some(window) = self.background.window(window_ref) {
                window.is_done = window.at >= window.end;
                window.waits = !window.is_done;
                let piece = if window.is_fine { granule } else { u64::MAX };
                window.to = window.at.saturating_add(piece - window.at % piece).min(window.end);
            }
        }
        self.pump_background(context);
    }
}

impl SyncJob {
    /// None of its new members can be rebuilt from here on.
    pub(crate) fn stop_at(&mut self, first: u64) {
        for target in &mut self.targets {
            target.until = target.until.min(first);
        }
    }
}
