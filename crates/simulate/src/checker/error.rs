//! Errors found by a check.
use drivelab_core::Outcome;
use drivelab_core::storage::CallError;
use drivelab_data::Fault;
use drivelab_units::Instant;
use std::fmt;
use thiserror::Error;

/// A sector with invalid contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub sector: u64,
    /// The stamps of all versions that it may hold.
    pub expected: Vec<u64>,
    pub found: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// A read has delivered a version that it must not.
    Read { command: u64, found: Found },
    /// The target's data operations contradict each other: a drive has delivered from a segment of its buffer
    /// something that the segment does not have, or the data of a command are a sum of themselves.
    Contradiction(Fault),
    /// With nothing under way, a sector does not hold its last write.
    Kept { found: Found },
    /// Copies of the array's address differ; `found.sector` is that address.
    Copy { slot: u16, found: Found },
    /// Parity does not match its data; `found.sector` is the member's.
    Parity { slot: u16, which: u8, found: Found },
    /// A command has failed without a reason.
    Failed { command: u64, outcome: Outcome },
    /// Commands are unanswered although nothing is due any more.
    Unanswered { commands: usize },
    /// The target rejects an input.
    Refused(CallError),
}

/// A false statement of the target about data: what, in which run, and when.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("seed {seed}, at {} ns: {wrong}", at.as_ns())]
pub struct Violation {
    pub seed: u64,
    pub at: Instant,
    pub wrong: Wrong,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sector {}: {:016x} in place of", self.sector, self.found)?;
        self.expected.iter().try_for_each(|expected| write!(f, " {expected:016x}"))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Read { command, found } => write!(f, "read {command} has fetched, of {found}"),
            Wrong::Contradiction(fault) => write!(f, "{fault}"),
            Wrong::Kept { found } => write!(f, "after all that, there is at {found}"),
            Wrong::Copy { slot, found } => write!(f, "member {slot} has another copy of {found}"),
            Wrong::Parity { slot, which, found } => {
                write!(f, "parity {which} on member {slot} does not fit, of {found}")
            }
            Wrong::Failed { command, outcome } => write!(f, "command {command} has ended as {outcome:?}"),
            Wrong::Refused(error) => write!(f, "{error}"),
            Wrong::Unanswered { commands } => write!(f, "nothing is due, and {commands} are not answered"),
        }
    }
}
