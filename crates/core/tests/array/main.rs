//! Arrays: layouts against worked examples, plans against closed forms, failures and rebuilds against their rules.
mod anything;
mod bytes;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod field;
mod layout_copied;
mod mirrors;
mod raidz;
mod rig;
