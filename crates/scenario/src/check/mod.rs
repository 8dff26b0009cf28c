//! From the raw scenario to the parameters of the machines: nothing invalid leaves here.
mod actuators;
mod array;
pub mod array_faults;
mod array_keys;
pub mod assume;
mod cache;
pub mod cached_writes;
pub mod class;
mod class_range;
mod class_times;
mod commands;
mod disconnect;
pub mod drive;
pub mod drive_faults;
mod duration;
mod ending;
pub mod flash;
pub mod geometry;
mod host_managed;
mod layered;
mod link;
pub mod marking;
pub mod members;
pub mod pattern;
pub mod patterns;
mod pointless;
pub mod protocol;
pub mod queue;
mod range;
pub mod resolve;
pub mod run;
mod seek;
mod slips;
mod smr;
pub mod system;
pub mod target;
pub mod trace;
pub mod workload;
mod write_behind;

use crate::keys::At;

/// The value of an optional key.
pub(crate) fn given<T: Clone>(at: Option<&At<T>>) -> Option<T> {
    at.map(|at| at.value.clone())
}
