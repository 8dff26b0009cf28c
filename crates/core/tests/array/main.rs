//! Arrays: layouts against worked examples, plans against closed forms, failures and rebuilds against their rules.
mod anything;
mod bytes;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod errors;
mod field;
mod health;
mod hearing;
mod layout_copied;
mod layout_rows;
mod logs;
mod mirrors;
mod parity;
mod parity_cures;
mod parity_data;
mod phases;
mod raidz;
mod raidz_rebuilt;
mod raidz_sync;
mod rebuilt;
mod repairs;
mod rig;
mod stamps;
mod sync;
mod traces;
