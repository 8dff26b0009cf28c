//! drivelab for WebAssembly: what the page in the browser calls.
//!
//! Lives here: the C interface of three functions (`abi.rs`), and the conversions between the JSON that passes it and
//! the rooms below. What never does: a rule of physics, a figure that no room below has, a generated binding.
//!
//! A question is one JSON object, `{"ask": "check", ...}`, and so is its answer; [`Question`] lists them. A run is asked
//! for in steps (`begin`, one `step` for each point of its sweep, `end`), so that a page stays responsive between them;
//! within a step the module reports the share that is done. Start reading at [`answer`].
#![deny(unsafe_code)]
mod abi;
mod answers;
mod catalogue;
mod facts;
mod levels;
mod losses;
mod runs;
mod stripes;

pub use answers::{Question, answer};
