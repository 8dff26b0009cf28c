//! Memory in front of a device that takes writes and hands them on later: a host's own cache, or a controller's.
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

/// How many reads one after the other make a stream, and how many streams are told apart.
pub type Reads = Count<1, 1000>;
pub type Streams = Count<1, { WriteBehindParams::STREAMS_MAX as u64 }>;

/// Commands with the device at once.
pub type Outstanding = Count<1, { WriteBehindParams::OUTSTANDING_MAX as u64 }>;

section! {
    facts: true,
    /// Memory that takes writes and hands them on later, and answers reads of what it has. Unasked, a host's is as Linux
    /// has it.
    pub struct WriteBehindRaw {
        /// All of it.
        size: Extent = "",
        /// Most data in it that are still to be handed on; a percentage is one of `size`. A write that finds no room
        /// waits; a larger one goes through.
        limit: Part = "20% for a host's, 100% for a controller's",
        /// Data are handed on while more than this waits; with nothing, as they come.
        background: Part = "10% for a host's, 0% for a controller's",
        /// Data that have waited so long are handed on however few they are.
        age: Span = "30s for a host's, none for a controller's",
        /// Which data go next.
        order: FlushOrder = "address",
        /// The largest command that hands data on: what lies one behind the other goes together.
        request: Bytes = "512KiB",
        /// Such commands under way at once.
        outstanding: Outstanding = "128 for a host's; for a controller's as many as it keeps with its drives",
        /// How fast data are copied to it and from it.
        rate: Rate = "2 GB/s; for a controller what its bus carries",
        /// What a command that it answers costs beside the copy.
        overhead: Span = "5us; for a controller what it takes for a command, if that is more",
        /// Whether its data survive a power cut: then it answers a flush, and a write with `fua`. Only of a controller's.
        battery: bool = "false",
        /// Whether data are handed on with forced unit access, past any cache behind.
        force_unit_access: bool = "false",
        /// Whether it keeps what was read, and what has been handed on, for later reads.
        keeps_reads: bool = "true for a host's, false for a controller's",
        /// Whether writes go through: each is done when what lies behind has done it. Then nothing waits to be handed on,
        /// and a battery keeps nothing.
        write_through: bool = "false",
        /// Before an array with parity data are handed on by whole rows of stripe units first. Part of a row waits for the
        /// rest until nothing has been written to the row for so long, unless somebody waits for it, its `age` has come, or
        /// memory is full. The default is inferred: for so long Linux 2.6 held back such writes.
        stripe_wait: Span = "3ms",
        /// Reads by whole lines, and ahead of sequential reads; what was fetched is kept for later reads.
        read_ahead: Switch<ReadAheadRaw> = "none",
    }
}

section! {
    facts: true,
    /// How a memory reads ahead. A read that it does not have all of is cut into lines, and so many of them are under way
    /// at once: that holds back large reads of what could serve more. The defaults are inferred.
    pub struct ReadAheadRaw {
        /// A line.
        unit: Bytes = "4KiB for a host's, 64KiB for a controller's",
        /// How far ahead of a stream lines are fetched: Linux's `read_ahead_kb`, or four lines of a controller's.
        window: Extent = "128KiB for a host's, 4 lines for a controller's",
        /// Lines under way at once, those of reads included.
        outstanding: Outstanding = "as many as the window has, but at least 1",
        /// So many reads, each where the one before it ended, make a stream; with 1, every read does.
        after: Reads = "2",
        /// Streams that are told apart.
        streams: Streams = "32",
    }
}
