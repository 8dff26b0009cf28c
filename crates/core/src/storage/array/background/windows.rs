//! The life of a window: it gets a stripe request, whose outcome says whether it is done, must be processed
//! in pieces, or cannot be done.
use super::super::levels::Layout;
use super::super::members::Members;
use super::super::plan::Plan;
use super::super::report::SyncKind;
use super::super::state::ArrayState;
use super::super::stripe_request::{Op, Owner, Phase};
use super::Background;
use super::job::{JobStage, WindowRef};
use super::part::WindowPart;
use crate::command::{Access, Outcome};
use crate::storage::context::Context;
use crate::storage::tree::Slot;

/// How often a window that fails for no lasting reason is tried.
const TRIES: u8 = 8;

impl Background {
    /// Makes the commands of a window's stripe request.
    pub fn plan_window(
        &mut self,
        layout: &mut Layout,
        state: &mut ArrayState,
        context: &mut Context,
        stripe_request: Slot,
    ) -> Result<(), Outcome> {
        let window_ref = self.tickets[stripe_request as usize];
        let Some(window) = self.window(window_ref) else { return Ok(()) };
        if window.is_bad {
            return Err(state.stripe_requests.get(stripe_request).outcome);
        }
        let (at, to) = (window.at, window.to);
        let job = &mut self.jobs[window_ref.job];
        if job.stage == JobStage::Flushing {
            self.plan_flush_of_job(layout, &mut Plan::new(state, context, stripe_request), window_ref);
            return Ok(());
        }
        let window = (window_ref.number - job.number) as usize;
        let mut part = WindowPart { job, window, at, to };
        layout.plan_window(&mut Plan::new(state, context, stripe_request), &mut part);
        Ok(())
    }

    /// Members that were written flush their caches.
    fn plan_flush_of_job(&self, layout: &Layout, plan: &mut Plan<'_>, window_ref: WindowRef) {
        let job = &self.jobs[window_ref.job];
        let was_written = |_: &Members, slot| {
            let is_target = job.targets.iter().any(|target| target.slot == slot);
            is_target || job.kind != SyncKind::Rebuild && layout.group_of(slot) == job.group
        };
        plan.flush(Phase::Write, was_written);
    }

    /// The stripe request that another one must wait for although it has none of its blocks.
    #[inline]
    pub fn blocker(&mut self, layout: &mut Layout, state: &ArrayState, slot: Slot) -> Option<Slot> {
        let stripe_request = state.stripe_requests.get(slot);
        let mut window = None;
        if stripe_request.owner == Owner::Background {
            let window_ref = self.tickets[slot as usize];
            let places = self.window(window_ref).map(|window| window.at..window.to);
            window = places.map(|places| (&self.jobs[window_ref.job], places));
        }
        layout.blocker(&state.members, (slot, stripe_request), window)
    }

    /// A command of a window has failed.
    pub fn note_failure(&mut self, state: &mut ArrayState, op: &Op, outcome: Outcome) {
        if op.access != Access::Read {
            // A missing member is not waited for.
            if outcome != Outcome::Failed {
                state.stripe_requests.get_mut(op.stripe_request).outcome = outcome;
            }
            return;
        }
        let stripe_request = state.stripe_requests.get_mut(op.stripe_request);
        stripe_request.plan.is_spoilt = true;
        let Some(window) = self.window(self.tickets[op.stripe_request as usize]) else {
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

    /// A window, or a part of one, has been processed; one in which something could not be read goes on in
    /// pieces of the granule.
    pub fn end_window(&mut self, slot: Slot, outcome: Outcome, granule: u64) {
        let window_ref = self.tickets[slot as usize];
        if let Some(window) = self.window(window_ref) {
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
                        let job = &mut self.jobs[window_ref.job];
                        job.stop_at(first);
                        job.has_skipped = true;
                    }
                }
            }
            if let Some(window) = self.window(window_ref) {
                window.is_done = window.at >= window.end;
                window.waits = !window.is_done;
                let piece = if window.is_fine { granule } else { u64::MAX };
                window.to = window.at.saturating_add(piece - window.at % piece).min(window.end);
            }
        }
    }
}
