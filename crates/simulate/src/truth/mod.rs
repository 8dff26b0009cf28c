//! Data truth without bytes: a target's data operations carried out on a stamp for each sector, and the target held to
//! what it says.
//!
//! The data themselves are those of [`drivelab_data`]: buffers, media, what an array makes of them after a power cut. Here
//! is what is the checker's alone:
//!
//! - [`oracle`] knows what each sector may hold from the host's point of view.
//! - [`witness`] holds a target to the oracle, operation by operation; [`watched`] runs a target in its sight, power cuts
//!   included; [`followed`] does the same beside any run, and says what a power cut has taken.
//!
//! What is proven: every read returns the last answered write, or one that may be under way; members fit each other when
//! nothing is under way; a power cut takes back only what was answered and not durable. Start reading at [`followed`], then
//! [`watched`].
//! Memory grows with the sectors that are written, and with a power cut to come with the writes. It has a bound: see
//! [`followed`].
mod error;
mod extents;
pub mod followed;
mod map;
pub mod oracle;
mod power;
mod sector;
mod sharing;
pub mod verdict;
pub mod watched;
pub mod witness;

pub use drivelab_data::{Cut, Nothing, Recovery, Resync};
pub use error::{Found, Untruth, Wrong};
pub use followed::Followed;
pub use watched::Watched;
pub use witness::Witness;

/// What an array's own consistency policy does, on stamps.
pub type PolicyRecovery = drivelab_data::PolicyRecovery<drivelab_data::Stamp>;
