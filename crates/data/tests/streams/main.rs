//! The operations of real targets carried out on stamps and on bytes at once.
#![allow(clippy::print_stdout, reason = "what was measured, for whoever asks for it")]
#[path = "../../../core/tests/core/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the checker's histories use the rest")]
#[path = "../../../simulate/tests/histories/setups.rs"]
mod setups;

mod agree;
mod cuts;
mod disc;
mod lasting;
mod parity;
mod play;
