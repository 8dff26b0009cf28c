//! The result of a run, in the same form whether a drive was simulated, emulated or measured.
//!
//! What lives here: the collector that a driver feeds with finished I/Os, and the point that it becomes:
//! rates, depth, latency with mergeable histograms, each job by itself, breakdown, digest; what happened to an array; the results
//! of a replayed recording; what memories gave up; what was found about its data; and, on request, the log of
//! its first commands. What never does: a clock, a file, a socket. Start reading at [`collector`].
pub mod accounts;
pub mod array;
pub mod collector;
pub mod command_columns;
pub mod commands;
pub mod data;
pub mod given_up;
pub mod injections;
pub mod jobs;
pub mod latency;
pub mod overtaking;
pub mod point;
pub mod precision;
pub mod priorities;
pub mod replay;
pub mod sampled;
pub mod series;

pub use array::{ArrayCollector, ArrayRecord};
pub use collector::Collector;
pub use command_columns::{Column, Getter, Row};
pub use commands::{CommandLog, CommandRecord, NAMED_MAX, Parts};
pub use data::{CutRecord, DataRecord};
pub use given_up::{GivenUpCollector, GivenUpRecord};
pub use jobs::{JobRecord, Jobs};
pub use latency::{Latencies, counts_of_hdr_base64};
pub use point::{Direction, Flushes, LatencySummary, Log, Platter, Point};
pub use priorities::{ByPriority, PriorityRecord};
pub use replay::{ReplayCollector, ReplayRecord};

/// Version of the record's layout; raised when a key changes its meaning or is removed.
pub const RECORD_VERSION: u32 = 1;
