//! SATA native command queueing.
//!
//! - 32 tags, 0 to 31, unique among the outstanding commands; a tag that is in use, or a command that is not queued while
//!   others are outstanding, is an error that aborts the queue.
//! - First-party DMA: the drive sets up its own transfer, so there is no release and no SERVICE round trip.
//!   It may deliver the data of one command out of order, so an access that begins in the middle need not
//!   wait for the first sector.
//! - Priority: normal, isochronous with a deadline (ICC), high. High is best effort. A missed deadline aborts
//!   every outstanding command if the drive is configured to (Deadline Handling subcommand of NCQ NON-DATA:
//!   RDNC for reads, WDNC for writes), and has no effect otherwise. Simplified: the host knows which deadline
//!   it was and reports that command as timed out; the others it resends.
//! - The abort subcommand of NCQ QUEUE MANAGEMENT succeeds even when there was nothing to abort.
//! - An error aborts all outstanding commands. Nothing is accepted until the host has read the log (page
//!   10h), which names the tag that failed. The host resends the others, without counting that as a retry.
//! - FUA: the data must be on the media, or come from there.
//!
//! Source: Serial ATA 2.6, 13.6; Linux, Documentation/driver-api/libata.rst ("ATA device error (NCQ)"); Western Digital
//! Ultrastar HC580 specification 12.15.2 (deadline handling) and DC HC310 OEM specification 11.15.2; Hitachi 7K3000
//! specification (priority); Intel and Seagate, "Serial ATA Native Command Queuing", 2003.
use crate::command::{Access, Attribute};

pub const TAGS: u32 = 32;

/// The NCQ options of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NcqParams {
    /// Whether the data of one command may be sent out of order (non-zero buffer offsets).
    pub out_of_order: bool,
    /// RDNC: whether a missed deadline of a read aborts the outstanding commands.
    pub rdnc: bool,
    /// WDNC: the same for a write.
    pub wdnc: bool,
}

impl NcqParams {
    /// A drive that may send data out of order and supports neither RDNC nor WDNC.
    pub const USUAL: NcqParams = NcqParams { out_of_order: true, rdnc: false, wdnc: false };

    /// Whether a missed deadline of such a command aborts the outstanding commands.
    pub fn aborts_late(&self, access: Access) -> bool {
        match access {
            Access::Read => self.rdnc,
            Access::Write => self.wdnc,
            Access::Flush => false,
        }
    }
}

#[inline]
pub fn allows(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::Simple | Attribute::Untagged)
}
