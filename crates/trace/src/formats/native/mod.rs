//! drivelab's own format: compact, and complete enough for an exact replay.
//!
//! ```text
//! file    = magic, header, block*, end
//! magic   = 89 44 4c 54 0d 0a 1a 0a               ("\x89DLT\r\n\x1a\n": a transfer as text damages it)
//! header  = u16 version, u32 n, n bytes of body, u32 CRC-32 of the body
//! body    = varint nanoseconds of a unit of time, u8 clock (0 relative, 1 since 1970, 2 since 1601),
//!           u8 what follows (1 seed, 2 bytes of a device), [u64 seed], [u64 bytes],
//!           varint number of phases, each varint drive and varint ns, text of a remark
//! block   = u32 n > 0, u32 entries, u32 CRC-32 of the payload, n bytes of payload
//! end     = u32 0, u32 0, u64 entries of all blocks, u32 CRC-32 of these 8 bytes
//! entry   = device | fault | request
//! device  = 05, text of its name; its place is the number of those before it
//! fault   = 04, u8 kind, zigzag time, varint drive, varint, varint      (the kinds: injected.rs)
//! request = u8: bits 0 and 1 the kind (read, write, flush, discard), bit 3 the device of the request before,
//!           bit 4 it begins where that one ended, bit 5 it is as long, bit 6 it has a response time, bit 7 attributes;
//!           zigzag time, [varint device], [zigzag first byte], [varint length], [varint response], [attributes]
//! attributes = varint mask, then what its bits say, from the lowest: 0 id, 1 cookie, 2 initiator, 3 logical unit, 4 tag,
//!           5 attribute (1 ordered, 2 head of queue, 3 ACA, 4 untagged), 6 priority (0 high, else 1 + isochronous ns),
//!           7 attempt, 8 process, all varints; and without a value 9 FUA, 10 direct, 11 nobody waits for it
//! ```
//! Numbers are little-endian. A varint is LEB128 of 64 bits; zigzag is a varint of the difference to the request before in
//! the same block, or to zero, with the sign in bit 0. A text is a varint of its bytes, at most 4096, and the bytes (UTF-8).
//! Each block stands alone. A block has at most 1 MiB and 65 536 entries.
mod bytes;
mod entry;
mod injected;
mod read;
mod write;

pub use entry::Entry;
pub use injected::{Injected, InjectedKind, millionths};
pub use read::Reader;
pub use write::NativeWriter;

pub const MAGIC: [u8; 8] = *b"\x89DLT\r\n\x1a\n";
pub const VERSION: u16 = 1;
const BLOCK_BYTES_MAX: usize = 1 << 20;
const BLOCK_ENTRIES_MAX: usize = 1 << 16;
const TEXT_BYTES_MAX: usize = 4_096;
const PHASES_MAX: usize = 1 << 16;

use crate::record::Clock;

/// The header of a trace: a description of the recorded run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The unit of time in nanoseconds: 1 ns, as in the core.
    pub unit_ns: u64,
    pub clock: Clock,
    pub seed: Option<u64>,
    pub device_bytes: Option<u64>,
    /// Each drive's initial angle as the time of rotation in nanoseconds.
    pub phases: Vec<(u32, u64)>,
    pub remark: String,
}

impl Header {
    /// The header for requests that were not recorded from a run.
    pub fn plain(clock: Clock) -> Header {
        let phases = Vec::new();
        Header { unit_ns: 1, clock, seed: None, device_bytes: None, phases, remark: String::new() }
    }
}
