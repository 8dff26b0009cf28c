//! The faults that a scenario has scheduled for a drive, and their effect.
use serde::Serialize;

/// One entry of `target.faults` with an instant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InjectionRecord {
    /// The key under which it was given: `slow`, `hang`, `media`, `corrupt`, `reset`, `lie`.
    pub what: &'static str,
    pub drive: u16,
    /// When it was due; for bursts the first time.
    pub at_ns: u64,
    /// How often it has occurred: bursts several times, faults after the end of the run not at all.
    pub times: u64,
    /// Why the target refused it, the last time.
    pub refused: Option<String>,
}
