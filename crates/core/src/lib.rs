//! The two machines: [`host::Host`] issues commands, [`target::Target`] serves them.
//!
//! What traces here: state machines that do no I/O and never read a clock, and everything they are made of. What never
//! does: files, threads, clocks, hash maps, printing, payload bytes, scenario text. Start reading at [`machine`], then
//! [`target::drive`], then one whole policy in `storage/drive/queue/orders/sptf.rs`.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agenda;
pub mod command;
pub mod data;
pub mod digest;
pub mod fifo;
pub mod host;
pub mod machine;
pub mod rng;
pub mod setup;
pub mod storage;
pub mod trace;

pub use command::{Access, Attribute, Breakdown, Command, Completion, Outcome, Priority};
pub use machine::Machine;
pub use setup::{Limit, Setup};
pub use trace::{CommandTrace, OfMember, Served};

/// Raised whenever the same scenario and seed give another digest than before; the changelog's "Model" says why.
pub const MODEL_VERSION: u32 = 7;
