//! The operations of real targets carried out on stamps and on bytes at once.
#[path = "../../../core/tests/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the checker's histories use the rest")]
#[path = "../../../simulate/tests/histories/setups.rs"]
mod setups;

mod agree;
mod cuts;
mod lasting;
mod parity;
mod play;
