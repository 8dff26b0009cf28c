//! What a scenario has put down to go wrong with a drive, and what came of it.
use serde::Serialize;

/// One entry of `target.faults` with an instant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct InjectionRecord {
    /// The key that it stood under: `slow`, `hang`, `media`, `corrupt`, `reset`, `lie`.
    pub what: &'static str,
    pub drive: u16,
    /// When it was due, bursts for the first time.
    pub at_ns: u64,
    /// How often it has struck: bursts more than once, what the run did not reach not at all.
    pub times: u64,
    /// Why the target did not take it, the last time.
    pub refused: Option<String>,
}
