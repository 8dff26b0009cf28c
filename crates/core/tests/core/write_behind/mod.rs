//! The memory in front of a device, as the rest of the core uses it: closed forms, and what it promises on random
//! histories, held to a naive model that knows the version of every sector.
mod closed;
mod failures;
mod lines;
mod promises;
mod rig;
mod rows;
mod systems;

use crate::common;
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_core::{Access, Command};
use drivelab_units::{Instant, Rate, Sectors, Span};

/// A memory that copies a sector in a microsecond, and flushes 64 sectors at a time when somebody waits for them.
pub fn params() -> WriteBehindParams {
    WriteBehindParams {
        size: Sectors::new(1_000),
        limit: Sectors::new(800),
        background: Sectors::new(800),
        age: None,
        order: FlushOrder::Address,
        request: Sectors::new(64),
        outstanding: 1,
        rate: Rate::from_bytes_per_s(512_000_000),
        overhead: Span::ZERO,
        battery: false,
        force_unit_access: false,
        keeps_reads: false,
        stripe: None,
        stripe_wait: Span::ZERO,
        write_through: false,
        read_ahead: None,
    }
}

pub const fn us(us: u64) -> Span {
    Span::from_us(us)
}

pub const fn at(us: u64) -> Instant {
    Instant::from_ns(us * 1_000)
}

pub fn write(id: u64, first: u64, count: u64) -> Command {
    common::command(id, Access::Write, first, count)
}

pub fn read(id: u64, first: u64, count: u64) -> Command {
    common::command(id, Access::Read, first, count)
}

pub fn flush(id: u64) -> Command {
    common::command(id, Access::Flush, 0, 0)
}
