//! What an initiator that keeps the rules in its head expects of every answer.
use super::Checked;
use super::wire::{BAD, Run, has_struck, is_begun};
use drivelab_core::storage::drive::params::DriveParams;
use drivelab_core::trace::CommandTrace;
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_units::Instant;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub struct Ledger<'a> {
    run: &'a Run,
    depth: usize,
    /// Whether there are bad sectors.
    faulty: bool,
    /// What the drive has taken and not answered.
    pub held: BTreeMap<u64, Command>,
    /// Of those, what an error has cleared.
    cleared: BTreeSet<u64>,
    /// Initiators that are owed a UNIT ATTENTION.
    pub attentions: BTreeSet<u16>,
    /// What will be answered without being taken.
    refused: BTreeMap<u64, Outcome>,
}

impl<'a> Ledger<'a> {
    pub fn new(run: &'a Run, params: &DriveParams) -> Self {
        let (held, refused) = (BTreeMap::new(), BTreeMap::new());
        let (cleared, attentions) = (BTreeSet::new(), BTreeSet::new());
        let (depth, faulty) = (params.queue.depth as usize, params.faults.is_some());
        Ledger { run, depth, faulty, held, cleared, attentions, refused }
    }

    /// Whether a tag of this initiator is in use.
    pub fn is_in_use(&self, command: &Command) -> bool {
        let name = (command.initiator, command.tag);
        self.held.values().any(|held| (held.initiator, held.tag) == name)
    }

    /// A command reaches the drive, which is to refuse it for this reason, or for want of room, or to take it.
    pub fn sent(&mut self, command: &Command, refusal: Option<Outcome>) -> Checked {
        let refusal = refusal.or_else(|| (self.held.len() >= self.depth).then_some(Outcome::Full));
        let taken = self.run.traces.contains_key(&command.id);
        prop_assert_eq!(taken, refusal.is_none(), "{:?} {:?}", refusal, command);
        match refusal {
            Some(refusal) => drop(self.refused.insert(command.id, refusal)),
            None => drop(self.held.insert(command.id, *command)),
        }
        Ok(())
    }

    /// Whether its initiator hears of a UNIT ATTENTION now.
    pub fn attention(&mut self, command: &Command) -> Option<Outcome> {
        self.attentions.remove(&command.initiator).then_some(Outcome::UnitAttention)
    }

    /// An answer has come. Returns the trace of a command that has failed, if that is what it says.
    pub fn answered(&mut self, completion: &Completion) -> Checked<Option<&'a CommandTrace>> {
        if let Some(refusal) = self.refused.remove(&completion.id) {
            prop_assert_eq!(completion.outcome, refusal);
            return Ok(None);
        }
        prop_assert!(self.held.remove(&completion.id).is_some(), "answered twice: {completion:?}");
        let trace = &self.run.traces[&completion.id];
        if self.cleared.remove(&completion.id) {
            prop_assert_eq!(completion.outcome, Outcome::Aborted, "it was cleared: {:?}", trace);
            return Ok(None);
        }
        let strikes = self.faulty && has_struck(trace);
        // A write that was cut off may have come to the media before.
        let may_be_healed = strikes && self.is_healed(trace, |_| true);
        let is_healed = may_be_healed && self.is_healed(trace, |outcome| outcome == Outcome::Done);
        let fails = strikes && !is_healed && !(may_be_healed && completion.outcome == Outcome::Done);
        let expected = if fails { Outcome::MediaError } else { Outcome::Done };
        prop_assert_eq!(completion.outcome, expected, "{:?}", trace);
        Ok((expected == Outcome::MediaError).then_some(trace))
    }

    /// Whether all bad sectors that a read touches had been written over before the head came to them, by writes that
    /// count.
    fn is_healed(&self, read: &CommandTrace, counts: impl Fn(Outcome) -> bool) -> bool {
        let touched = |trace: &CommandTrace| {
            let (first, end) = (trace.command.first.get(), trace.command.end().get());
            first.max(BAD.0)..end.min(BAD.0 + BAD.1)
        };
        let has_written = |trace: &&CommandTrace| {
            let is_write = trace.command.access == Access::Write && is_begun(trace);
            is_write && trace.ended <= read.begun && counts(trace.outcome)
        };
        let writes: Vec<_> = self.run.traces.values().filter(has_written).map(touched).collect();
        touched(read).all(|sector| writes.iter().any(|written| written.contains(&sector)))
    }

    /// An error of this initiator clears some of the others at this instant: what waits ends at once and is not begun
    /// any more, the rest when the mechanism is done with it.
    pub fn clear(&mut self, at: Instant, by: Option<u16>, clears: impl Fn(&Command) -> bool) -> Checked {
        for (&id, command) in self.held.iter().filter(|(_, command)| clears(command)) {
            let trace = &self.run.traces[&id];
            let late = if is_begun(trace) { trace.chosen > at } else { trace.completed != at };
            let newly = self.cleared.insert(id);
            prop_assert!(!(newly && late), "cleared at {at:?}: {trace:?}");
            if newly && by.is_some_and(|by| by != command.initiator) {
                self.attentions.insert(command.initiator);
            }
        }
        Ok(())
    }

    pub fn is_cleared(&self, id: u64) -> bool {
        self.cleared.contains(&id)
    }

    pub fn finish(&self) -> Checked {
        prop_assert!(self.held.is_empty(), "never answered: {:?}", self.held);
        Ok(())
    }
}
