//! Reports: when the host hears of a completion. Most drives report each by itself. One that coalesces holds the
//! completions of a round back and reports them together, as the Set Device Bits of Serial ATA can: one for many tags.
//! The round ends with its last completion, or when the drive has nothing left to do.
//! Source: Serial ATA International Organization, "Serial ATA Revision 2.6", 2007, native command queuing.
use super::Drive;
use super::queue::SlotIndex;
use crate::storage::context::Context;

impl Drive {
    /// A command is done: it is reported, or held back with the others of its round.
    #[inline]
    pub(super) fn on_complete(&mut self, context: &mut Context, slot: SlotIndex) {
        let Some(round) = self.model.queue.coalesces else { return self.end(context, slot) };
        self.unreported.push(slot);
        if self.unreported.len() < usize::from(round) {
            return self.report_if_idle(context);
        }
        self.report(context);
    }

    /// Reports what was held back when nothing is left to do: no completion would end the round.
    pub(super) fn report_if_idle(&mut self, context: &mut Context) {
        // What the cache does for itself completes no command.
        let idle = self.sweep.is_none_or(|sweep| sweep.is_of_the_cache) && !self.is_wanted();
        if idle && !self.unreported.is_empty() {
            self.report(context);
        }
    }

    fn report(&mut self, context: &mut Context) {
        // One of them may take others with it, whose ends must not begin another report.
        let mut round = core::mem::take(&mut self.unreported);
        let now = context.now;
        for slot in round.drain(..) {
            let flight = self.flight(slot);
            // While it was held back the mechanism served others.
            let done = flight.submitted + flight.breakdown.total();
            flight.breakdown.queue += now - done;
            self.end(context, slot);
        }
        self.unreported = round;
    }

    /// The host hears of it; so does whoever keeps the log.
    #[cold]
    pub(super) fn tell_life(&self, context: &mut Context, slot: SlotIndex) {
        let flight = &self.in_flight[slot as usize];
        if let Some(traces) = &mut context.traces {
            traces.push_back(flight.trace(flight.outcome, context.now));
        }
    }
}
