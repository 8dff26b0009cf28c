//! Write-back memory in front of a device: a host's own cache, or a controller's.
use super::amounts::Part;
use super::switch::Switch;
use crate::keys::numbers::Count;
use crate::keys::quantities::Extent;
use crate::keys::{choices, section};
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_units::{Bytes, Rate, Span};

choices!(FlushOrder {
    "address" => FlushOrder::Address, "upward by address from where the last one ended, then again from the lowest";
    "age" => FlushOrder::Age, "those that have waited longest";
});

/// The number of sequential reads that make a stream, and the number of streams that are tracked.
pub type Reads = Count<1, 1000>;
pub type Streams = Count<1, { WriteBehindParams::STREAMS_MAX as u64 }>;

/// Commands outstanding at the device.
pub type Outstanding = Count<1, { WriteBehindParams::OUTSTANDING_MAX as u64 }>;

section! {
    facts: true,
    /// Write-back memory that also serves reads of the data that it holds. The defaults of a host's are those of Linux.
    pub struct WriteBehindRaw {
        /// Its total size.
        size: Extent = "",
        /// The most dirty data; a percentage is one of `size`. A write that exceeds it
        /// waits; a write larger than this bypasses the memory.
        limit: Part = "20% for a host's, 100% for a controller's",
        /// Data are destaged while more than this is dirty; with zero, as they arrive.
        background: Part = "10% for a host's, 0% for a controller's",
        /// Data of this age are destaged however few they are.
        age: Span = "30s for a host's, none for a controller's",
        /// Which data are destaged next.
        order: FlushOrder = "address",
        /// The largest destage command: adjacent data are combined.
        request: Bytes = "512KiB",
        /// Number of such commands in flight.
        outstanding: Outstanding = "128 for a host's; for a controller's as many as it keeps with its drives",
        /// The rate of copies to it and from it.
        rate: Rate = "2 GB/s; for a controller what its bus carries",
        /// The overhead of a command that it answers, in addition to the copy.
        overhead: Span = "5us; for a controller what it takes for a command, if that is more",
        /// Whether it is non-volatile: then it answers a flush, and a write with `fua`. Only for a controller's.
        battery: bool = "false",
        /// Whether data are destaged with forced unit access, past any cache behind.
        force_unit_access: bool = "false",
        /// Whether it keeps data that were read, or destaged, for later reads.
        keeps_reads: bool = "true for a host's, false for a controller's",
        /// Write-through: each write completes when the device behind has completed it. Then no data are dirty,
        /// and a battery has no effect.
        write_through: bool = "false",
        /// In front of an array with parity, full rows of stripe units are destaged first. Part of a row waits for the
        /// rest until the row has not been written to for this long, unless a command waits for it, its `age` is
        /// reached, or memory is full. The default is inferred: Linux 2.6 delayed such writes for this long.
        stripe_wait: Span = "3ms",
        /// Reads by whole lines, and read-ahead of sequential reads; fetched data are kept for later reads.
        read_ahead: Switch<ReadAheadRaw> = "none",
    }
}

section! {
    facts: true,
    /// The read-ahead of a memory. A read that misses is split into lines, and this many of them are in flight
    /// at once, which limits large reads. The defaults are inferred.
    pub struct ReadAheadRaw {
        /// The size of a line.
        unit: Bytes = "4KiB for a host's, 64KiB for a controller's",
        /// The read-ahead distance of a stream: Linux's `read_ahead_kb`, or four lines of a controller's.
        window: Extent = "128KiB for a host's, 4 lines for a controller's",
        /// Lines in flight, those of reads included.
        outstanding: Outstanding = "as many as the window has, but at least 1",
        /// The number of sequential reads that make a stream; with 1, every read does.
        after: Reads = "2",
        /// The number of streams that are tracked.
        streams: Streams = "32",
    }
}
