//! The core from outside, in one program: a module for each room or question. `cargo test -p drivelab-core --test core
//! array::` runs those of one module.
mod ages;
mod array;
mod buffer;
mod bursts;
mod cache;
mod common;
mod contract;
mod deadlines;
mod draws;
mod drive;
mod drive_cache;
mod elevator;
mod ending;
mod feed;
mod flush;
mod inputs;
mod links;
mod passing;
mod policies;
mod protocol;
mod reports;
mod scatter;
mod sptf_optimality;
mod system;
mod wake_ups;
mod write_behind;
