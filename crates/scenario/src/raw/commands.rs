//! Individual commands, for worked examples.
use super::workload::{INITIATORS, PriorityName};
use crate::keys::numbers::{Count, Fio};
use crate::keys::quantities::Offset;
use crate::keys::read::Example;
use crate::keys::{choices, section};
use drivelab_core::{Access, Attribute};
use drivelab_units::{Bytes, Span};

choices!(Access {
    "read" => Access::Read, "a read";
    "write" => Access::Write, "a write";
    "flush" => Access::Flush, "no data: what the drive has answered for goes to the media";
});

section! {
    facts: false,
    /// A command that is issued once, at its time, whatever else has completed. The controller assigns a free tag.
    pub struct CommandRaw {
        /// When it is issued; commands of the same time in the order of the list.
        at: Span = "0s",
        /// The operation.
        rw: Access = "read",
        /// Its first address. A flush applies to the whole drive, and has neither this nor `bs`.
        offset: Offset = "0B",
        /// Its size.
        bs: Bytes = "4KiB",
        /// Its task attribute.
        attribute: Attribute = "simple",
        /// Its priority.
        priority: PriorityName = "normal",
        /// With `isochronous`: the time from its arrival to its deadline.
        icc: Span = "",
        /// Force unit access: whether the media must be accessed.
        fua: bool = "false",
        /// Whether it bypasses the host's own cache.
        direct: Fio = "false with `target.host_cache`; without one every command does",
        /// The host that issues it.
        initiator: Count<0, { INITIATORS - 1 }> = "0",
    }
}

impl Example for CommandRaw {
    const EXAMPLE: &'static str = "[{ at = \"0ms\", rw = \"read\", offset = \"1GiB\", bs = \"4k\" }]";
}
