//! Data that memories had answered for and could not pass on: the flushes that failed, and the data that were
//! given up.
use crate::commands::outcome;
use drivelab_core::storage::system::System;
use drivelab_core::storage::write_behind::{GivenUp, Place, WriteBehind};
use drivelab_units::Instant;
use serde::Serialize;
use std::collections::BTreeSet;

/// Data that were given up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GivenUpEvent {
    pub at_ns: u64,
    /// `host` or `controller`.
    pub memory: &'static str,
    /// The number of the host, for a host's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<u16>,
    /// The outcome of the last attempt to flush them.
    pub outcome: &'static str,
    /// The address of the first byte, and the number of bytes.
    pub first: u64,
    pub bytes: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GivenUpRecord {
    /// Flushes that failed; most are retried and succeed.
    pub failed_flushes: u64,
    /// Answered writes of which anything was given up.
    pub writes: u64,
    pub bytes: u64,
    /// Memories that have passed all writes through since.
    pub memories: u64,
    pub events: Vec<GivenUpEvent>,
}

/// Maximum number of events that are kept; the writes and bytes of all events are counted.
const EVENTS_MAX: usize = 1_000;

/// Collects what memories give up while a driver runs them.
#[derive(Default)]
pub struct GivenUpCollector {
    writes: BTreeSet<u64>,
    bytes: u64,
    events: Vec<GivenUpEvent>,
}

impl GivenUpCollector {
    /// A memory has given up data.
    pub fn gave_up(&mut self, at: Instant, memory: Place, what: &GivenUp) {
        let &GivenUp { write, first, count, outcome: why } = what;
        self.writes.insert(write);
        self.bytes += count.bytes().get();
        if self.events.len() < EVENTS_MAX {
            let (memory, host) = match memory {
                Place::Host(host) => ("host", Some(host)),
                Place::Controller => ("controller", None),
            };
            let (first, bytes) = (first.get() * 512, count.bytes().get());
            let at_ns = at.as_ns();
            self.events.push(GivenUpEvent { at_ns, memory, host, outcome: outcome(why), first, bytes });
        }
    }

    /// The record at the end of a run of this system.
    pub fn close(self, system: &System) -> GivenUpRecord {
        GivenUpRecord {
            failed_flushes: system.caches().map(WriteBehind::failed_flushes).sum(),
            writes: self.writes.len() as u64,
            bytes: self.bytes,
            memories: system.caches().filter(|memory| memory.takes_no_writes()).count() as u64,
            events: self.events,
        }
    }
}
