//! How likely an array loses data, and how long it is not available.
//!
//! Lives here: a checked description of an array, of what fails in it and of how it is repaired ([`Plan`]); a Markov
//! chain where every time is exponential ([`chain`]); Monte Carlo, event by event, where it is not; failure biasing
//! and multilevel splitting where losses are rare; closed forms to hold all of them to.
//!
//! Never does: I/O, parsing of units, how a rebuild comes to its hours (a simulation of the array gives those).
//!
//! Start reading at [`description`], then [`solve`].
pub mod arrangement;
pub mod array;
pub mod chain;
pub mod closed_forms;
pub mod description;
pub mod estimate;
pub mod law;
pub mod monte_carlo;
pub mod outcome;
pub mod plan;
pub mod splitting;
pub mod states;

pub use description::Description;
pub use outcome::{Method, Outcome, Settings, check, solve, solve_elsewhere};
pub use plan::{Plan, Problem};

/// Hours in a year of 365 days, as reliability engineering counts them.
pub const HOURS_PER_YEAR: f64 = 8760.0;
