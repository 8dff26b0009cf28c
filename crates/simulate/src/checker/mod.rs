//! Checks of data without bytes: a target's data operations are executed on a stamp for each sector, and the
//! target's answers are checked against them.
//!
//! The data themselves are those of [`drivelab_data`]: buffers, media, the recovery of an array after a power
//! cut. This module has what belongs only to the checker:
//!
//! - [`oracle`] knows what each sector may hold from the host's point of view.
//! - [`witness`] checks a target against the oracle, operation by operation; [`checked_target`] runs a target under
//!   its observation, including power cuts; [`run_checker`] does the same beside any run, and reports what a
//!   power cut has lost.
//!
//! What is checked: every read returns the last answered write, or one that may be under way; members are
//! consistent when nothing is under way; a power cut loses only what was answered and not durable. Start
//! reading at [`run_checker`], then [`checked_target`]. Memory grows with the sectors that are written, and if a power
//! cut is to come with the writes. It has a limit: see [`run_checker`].
pub mod checked_target;
mod error;
mod extents;
mod map;
pub mod oracle;
mod power;
pub mod run_checker;
mod sector;
mod sharing;
pub mod verdict;
pub mod witness;

pub use checked_target::CheckedTarget;
pub use drivelab_data::{Cut, Nothing, Recovery, Resync};
pub use error::{Found, Violation, Wrong};
pub use run_checker::RunChecker;
pub use witness::Witness;

/// The recovery of an array's own consistency policy, on stamps.
pub type PolicyRecovery = drivelab_data::PolicyRecovery<drivelab_data::Stamp>;
