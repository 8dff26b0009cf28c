//! The virtual clock: it jumps from one due instant to the next and passes it to the two machines of the
//! core.
//!
//! What lives here: the loop between `Host` and `Target`, and many runs in parallel with their results in
//! input order; the run in order of arrival that is the baseline for queueing; and a recorded list of
//! requests, one at a time. What never does: a rule of physics (that is the core's), a real clock, a file.
//! Start reading at [`run()`].
pub mod arrival_order;
pub mod capture;
mod ceiling;
pub mod checker;
mod counters;
mod error;
mod feeding;
mod injections;
pub mod many;
mod pending_traces;
pub mod recorded;
pub mod replay;
pub mod run;
mod sampled_rebuild;

pub use arrival_order::in_arrival_order;
pub use ceiling::{Ceiling, ceiling};
pub use many::run_many;
pub use replay::replay;
pub use run::{Control, RunError, run, run_captured};
