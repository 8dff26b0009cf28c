//! Keys that may be set in the scenario or in the drive file, and how one overrides another.
//!
//! A drive's key that loses its effect through a key of the scenario, or of a drive file based on it, is
//! dropped without a message: a user who sets `protocol = "none"` need not set `depth = 1` too. Two keys of
//! one author that contradict each other are a problem.
use crate::keys::At;
use crate::text::problem::{Log, Place};

/// A key's value, and whether it was set by the scenario.
pub struct Layered<T> {
    pub at: At<T>,
    pub above: bool,
}

pub fn pick<T: Clone>(above: Option<&At<T>>, below: Option<&At<T>>) -> Option<Layered<T>> {
    let layered = |at: &At<T>, above| Layered { at: at.clone(), above };
    above.map(|at| layered(at, true)).or_else(|| below.map(|at| layered(at, false)))
}

/// A key that can remove the effect of another: whether it was set by the scenario, and where.
pub type Decider = Option<(bool, Place)>;

pub fn decider<T>(layered: Option<&Layered<T>>) -> Decider {
    layered.map(|layered| (layered.above, layered.at.place))
}

/// Drops a key that loses its effect through a key of the scenario, or of a file that changes the drive.
pub fn unless_displaced<T>(dependent: Option<Layered<T>>, by: &[Decider], log: &Log) -> Option<Layered<T>> {
    dependent.filter(|dependent| {
        let displaces = |(above, place): &(bool, Place)| {
            *above && !dependent.above || log.changes(*place, dependent.at.place)
        };
        !by.iter().flatten().any(displaces)
    })
}
