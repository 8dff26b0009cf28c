//! Arrays: layouts against worked examples, plans against closed forms, failures and rebuilds against their rules.
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod layout_rows;
mod parity;
mod parity_cures;
mod parity_data;
mod rig;
mod stamps;
