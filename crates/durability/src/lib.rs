//! The probability that an array loses data, and the share of time in which it is unavailable.
//!
//! Lives here: the question as it is typed ([`asked`]); a checked description of an array, of its failures and repairs ([`Plan`]); a Markov chain if every
//! time is exponential ([`chain`]); event-driven Monte Carlo if not; failure biasing and multilevel splitting if
//! losses are rare; closed forms against which all of them are checked.
//!
//! Never does: I/O, the duration of a rebuild (a simulation of the array gives that).
//!
//! Start reading at [`asked::table`], then [`description`] and [`solve`].
pub mod arrangement;
pub mod array;
pub mod asked;
pub mod chain;
pub mod closed_forms;
pub mod description;
pub mod estimate;
pub mod law;
pub mod monte_carlo;
pub mod outcome;
pub mod plan;
pub mod sets;
pub mod shape;
pub mod splitting;
pub mod states;

pub use description::Description;
pub use outcome::{Method, Outcome, Settings, check, solve, solve_with};
pub use plan::{Plan, Problem};
pub use sets::FailedSets;
pub use shape::Shape;

/// Hours in a year of 365 days, as reliability engineering counts them.
pub const HOURS_PER_YEAR: f64 = 8760.0;
