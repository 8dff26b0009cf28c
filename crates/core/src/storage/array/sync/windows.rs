//! A window on its way: it gets a stripe request, and what comes back says whether it is done, is to be gone over in
//! pieces, or cannot be had.
use super::super::layout::Layout;
use super::super::stripe_request::{Op, Owner};
use super::job::{Job, Stage, Ticket};
use super::{Array, Context};
use crate::command::{Access, Outcome};
use crate::storage::tree::Slot;

/// How often a window is gone over that fails for no lasting reason.
const TRIES: u8 = 8;

impl Array {
    /// The part of a window that is to be gone over gets its stripe request.
    pub(super) fn begin_window(&mut self, context: &mut Context, at: usize, i: usize) {
        let job = &self.sync.jobs[at];
        let ticket = Ticket { job: at, sweep: job.sweep, number: job.number + i as u64 };
        let window = &job.windows[i];
        let flushes = job.stage == Stage::Flushing;
        let (first, end) = if flushes { (0, 0) } else { self.addresses_of(job, window.at, window.to) };
        let access = if flushes { Access::Flush } else { Access::Write };
        let slot = self.add_stripe_request(context.now, Owner::Sync, access, first, end);
        let tickets = &mut self.sync.tickets;
        if tickets.len() <= slot as usize {
            tickets.resize(slot as usize + 1, Ticket::default());
        }
        tickets[slot as usize] = ticket;
        self.enter(context, slot);
    }

    /// A command of a window has failed.
    pub(in super::super) fn sync_op_failed(&mut self, op: &Op, outcome: Outcome) {
        if op.access != Access::Read {
            // A member that is gone is not missed.
            if outcome != Outcome::Failed {
                self.stripe_requests.get_mut(op.stripe_request).outcome = outcome;
            }
            return;
        }
        let stripe_request = self.stripe_requests.get_mut(op.stripe_request);
        stripe_request.is_spoilt = true;
        let Some(window) = self.sync.window(self.sync.tickets[op.stripe_request as usize]) else { return };
        match outcome {
            Outcome::Failed => {}
            Outcome::MediaError if window.is_fine => window.avoids.push(op.slot),
            _ => {
                window.is_bad = true;
                stripe_request.outcome = outcome;
            }
        }
    }

    /// A window, or a part of one, has been gone over.
    pub(in super::super) fn sync_is_done(&mut self, context: &mut Context, slot: Slot) {
        let outcome = self.stripe_requests.get(slot).outcome;
        let is_pool = matches!(self.layout, Layout::RaidZ(_));
        let granule = if is_pool { 1 } else { self.params.parity.granule.get().max(1) };
        let ticket = self.sync.tickets[slot as usize];
        if let Some(window) = self.sync.window(ticket) {
            window.is_bad = false;
            window.avoids.clear();
            match outcome {
                Outcome::Done => window.at = window.to,
                Outcome::MediaError if !window.is_fine => window.is_fine = true,
                _ => {
                    window.tries += 1;
                    if window.tries >= TRIES {
                        let first = window.first;
                        window.at = window.end;
                        let job = &mut self.sync.jobs[ticket.job];
                        job.stop_at(first);
                        job.has_skipped = true;
                    }
                }
            }
            if let Some(window) = self.sync.window(ticket) {
                window.is_done = window.at >= window.end;
                window.waits = !window.is_done;
                let piece = if window.is_fine { granule } else { u64::MAX };
                window.to = window.at.saturating_add(piece - window.at % piece).min(window.end);
            }
        }
        self.pump_sync(context);
    }
}

impl Job {
    /// None of its new members can be had from here on.
    pub(super) fn stop_at(&mut self, first: u64) {
        for target in &mut self.targets {
            target.until = target.until.min(first);
        }
    }
}
