//! Observes everything that a target does with data, and checks its answers to its hosts against it.
use super::error::{Found, Violation, Wrong};
use super::oracle::Oracle;
use drivelab_core::data::DataOp;
use drivelab_core::storage::array::Array;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::{Access, Command, Completion, Outcome};
use drivelab_data::consistent::{self, Comparison, Mismatch, MismatchKind};
use drivelab_data::{Executor, Fault};
use drivelab_record::data::Corrupted;
use drivelab_units::Instant;
use std::sync::Arc;

/// Checks a target. Give it each command when it is submitted, each data operation in order, and then each
/// completion.
pub struct Witness {
    seed: u64,
    pub(super) data: Executor,
    pub(super) oracle: Oracle,
    /// Whether reads may fail although their drives have not failed.
    pub(super) may_fail: bool,
    /// Whether the target refuses writes, because a box below failed one.
    pub(super) refuses_writes: bool,
    /// Errors found since something was corrupted on purpose; before that, an error ends the run.
    pub(super) corrupted: Option<Corrupted>,
}

/// Whether any of these drives answers writes before they are on its media.
fn has_volatile_drive(drives: &[Arc<DriveModel>]) -> bool {
    drives.iter().any(|drive| drive.caches_writes())
}

impl Witness {
    pub fn new(params: &SystemParams, seed: u64) -> Self {
        let memories = [params.host_cache, params.controller.cache];
        let volatile = |memory: &WriteBehindParams| !memory.battery;
        let mut oracle =
            Oracle::new(has_volatile_drive(&params.drives) || memories.iter().flatten().any(volatile));
        if params.host_cache.is_some() {
            oracle = oracle.with_host_caches();
        }
        Witness {
            seed,
            data: Executor::of_system(params),
            oracle,
            may_fail: params.drives.iter().any(|drive| drive.faults.is_some()),
            refuses_writes: false,
            corrupted: None,
        }
    }

    /// For a target whose power is never cut: less history is stored.
    pub fn without_cuts(self) -> Self {
        Witness { oracle: self.oracle.without_cuts(), data: self.data.without_words(), ..self }
    }

    /// Approximate memory of all that, in bytes.
    pub fn bytes(&self) -> u64 {
        self.data.bytes() + self.oracle.bytes()
    }

    /// The data of the commands and the drives.
    pub fn data(&self) -> &Executor {
        &self.data
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn violation(&self, at: Instant, wrong: Wrong) -> Violation {
        Violation { seed: self.seed, at, wrong }
    }

    /// A host issues a command.
    pub fn submitted(&mut self, command: &Command) {
        if command.access == Access::Write {
            self.data.write(command.id, command.first, command.count);
        }
        self.oracle.submitted(command);
    }

    /// The target has emitted a data operation.
    pub fn observe(&mut self, at: Instant, op: DataOp) -> Result<(), Violation> {
        if let DataOp::GiveUp { write, first, count } = op {
            let stamps = self.data.peek(write, first.get(), count.get());
            let stamps = stamps.map_err(|fault| self.contradicts(at, fault))?;
            self.oracle.give_up(first.get(), &stamps);
        }
        self.data.apply(at, op).map_err(|fault| self.contradicts(at, fault))
    }

    pub(super) fn contradicts(&self, at: Instant, fault: Fault) -> Violation {
        self.violation(at, Wrong::Contradiction(fault))
    }

    /// The target has answered a command. Returns the data of a read.
    pub fn completed(&mut self, command: &Command, completion: &Completion) -> Result<Vec<u64>, Violation> {
        let (id, at, outcome) = (command.id, completion.completed, completion.outcome);
        let found = self.data.answered(command, completion).map_err(|fault| self.contradicts(at, fault))?;
        let fails = matches!(outcome, Outcome::Lost | Outcome::Failed | Outcome::OutOfRange);
        let refused = self.refuses_writes && command.access != Access::Read;
        if fails && !refused && !self.may_fail && !self.oracle.is_lost() {
            return Err(self.violation(at, Wrong::Failed { command: id, outcome }));
        }
        match (self.oracle.completed(id, outcome, &found), &mut self.corrupted) {
            (Ok(()), _) => {}
            (Err(_), Some(corrupted)) => {
                corrupted.reads += 1;
                corrupted.first_read_at_ns.get_or_insert(at.as_ns());
            }
            (Err(found), None) => return Err(self.violation(at, Wrong::Read { command: id, found })),
        }
        Ok(found)
    }

    /// Nothing is under way at the array: its members must be consistent. Returns what was compared; `None`
    /// where too few members are left.
    pub fn check_members(&self, at: Instant, array: &Array) -> Result<Option<Comparison>, Violation> {
        let drives = consistent::valid_members(array);
        if !consistent::can_reconstruct(array.layout(), &drives) {
            return Ok(None);
        }
        let mut comparison = consistent::compare(
            array.layout(),
            &drives,
            &consistent::without_stale(array, self.data.media()),
        );
        match comparison.first.take() {
            Some(mismatch) => Err(self.violation(at, wrong_of(&mismatch))),
            None => Ok(Some(comparison)),
        }
    }
}

/// The error for a member that is inconsistent with the others.
fn wrong_of(mismatch: &Mismatch) -> Wrong {
    let &Mismatch { what, slot, sector, expected, found } = mismatch;
    let found = Found { sector, expected: vec![expected], found };
    match what {
        MismatchKind::Copy => Wrong::Copy { slot, found },
        MismatchKind::Parity(which) => Wrong::Parity { slot, which, found },
    }
}
