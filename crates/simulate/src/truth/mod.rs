//! Data truth without bytes: a target's data operations carried out on a stamp for each sector, and the target held to
//! what it says.
//!
//! - [`field`]: stamps, and the arithmetic of parity on them. [`buffers`]: the data of commands, as sums that are
//!   computed when somebody looks. [`media`]: what each drive has accepted, and what is on its media.
//! - [`contents`] says what a read of any address would find on the drives, a missing member's made of the others.
//! - [`segments`]: what a drive's buffer has of its media, which may be older than what the drive has accepted.
//! - [`oracle`] knows what each sector may hold from the host's point of view alone; [`consistent`] whether the members
//!   of an array fit each other; [`recovery`] what is done about them after a power cut.
//! - [`witness`] holds all of these to the stream of operations; [`watched`] runs a target in its sight,
//!   power cuts included; [`followed`] does the same beside any run, and says what a power cut has taken.
//!
//! What is proven: every read returns the last answered write, or one that may be under way; members fit each other when
//! nothing is under way; a power cut takes back only what was answered and not durable. Start reading at [`followed`], then
//! [`watched`].
//! Memory grows with the sectors that are written, and with a power cut to come with the writes. It has a bound: see
//! [`followed`].
pub mod buffers;
pub mod consistent;
pub mod contents;
mod error;
mod extents;
pub mod followed;

pub mod field;
pub mod media;
pub mod oracle;
mod power;
pub mod recovery;
mod sector;
mod segments;
mod sharing;
mod sparse;
pub mod verdict;
pub mod watched;
pub mod witness;

pub use error::{Found, Untruth, Wrong};
pub use followed::Followed;
pub use recovery::{Cut, Nothing, PolicyRecovery, Recovery, Resync};
pub use watched::Watched;
pub use witness::Witness;
