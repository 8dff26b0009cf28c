//! Arrays: layouts against worked examples, plans against closed forms, failures and rebuilds against their rules.
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod health;
mod hearing;
mod rig;
mod sync;
