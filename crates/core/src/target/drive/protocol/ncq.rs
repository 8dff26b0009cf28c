//! SATA native command queueing.
//!
//! - 32 tags, 0 to 31, unique among the outstanding commands; a tag that is in use, or a command that is not queued while
//!   others are outstanding, is an error that aborts the queue.
//! - First-party DMA: the drive sets up its own transfer, so no release and no SERVICE round trip. It may deliver the
//!   data of one command out of order, so an access that begins in the middle need not wait for the first sector.
//! - Priority: normal, isochronous with a deadline (ICC), high. High is best effort. A deadline that passes aborts every
//!   outstanding command when the drive is told so (WDNC or RDNC), and nothing happens otherwise.
//! - The abort subcommand of NCQ QUEUE MANAGEMENT succeeds even when there was nothing to abort.
//! - An error aborts all outstanding commands. Nothing is accepted until the host has read the log (page 10h), which
//!   names the tag that failed. The host sends the others again, without counting that as a retry.
//! - FUA: the media itself must answer.
//!
//! Source: Serial ATA 2.6, 13.6; Linux, Documentation/driver-api/libata.rst; Western Digital Ultrastar HC580 and
//! Hitachi 7K3000 specifications (priority); Intel and Seagate, "Serial ATA Native Command Queuing", 2003.
use crate::command::Attribute;

pub const TAGS: u32 = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NcqParams {
    /// Whether the data of one command may come out of order (non-zero buffer offsets).
    pub out_of_order: bool,
    /// Whether a deadline that passes aborts the outstanding commands (WDNC and RDNC set).
    pub deadline_aborts: bool,
}

impl NcqParams {
    pub const USUAL: NcqParams = NcqParams { out_of_order: true, deadline_aborts: false };
}

#[inline]
pub fn allows(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::Simple | Attribute::Untagged)
}
