//! ATA tagged command queueing (ATA-4 to ATA-7, the "overlapped feature set" and READ/WRITE DMA QUEUED).
//!
//! - Up to 32 tags, 0 to 31, and no task attributes: the drive orders as it likes.
//! - A command that needs the mechanism makes the drive release the bus (REL); once its data are there the drive sets
//!   SERV, the host answers with SERVICE, and only then data flow. Both round trips cost time, at depth 1 too; a command
//!   that the buffer answers is not released.
//! - A command that is not queued, sent while others are outstanding, aborts the queue; so does an error. The host's error
//!   handler empties the drive's queue (NOP, abort queue) and sends everything again. Simplified: the drive itself would
//!   take commands meanwhile, the host sends none.
//! - A drive behind a SATA bridge, as the first Raptors are, pays the bridge for every message of these round trips.
//!
//! Source: ATA/ATAPI-5 (T13/1321D) 6.8 and 6.9; Linux 2.5 drivers/ide/ide-tcq.c, ide_tcq_invalidate_queue (what a host does
//! at an error); a Raptor behind its Marvell bridge in published reviews, which found the protocol's cost at depth 1.
use crate::command::Attribute;

pub const TAGS: u32 = 32;

#[inline]
pub fn allows(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::Simple | Attribute::Untagged)
}
