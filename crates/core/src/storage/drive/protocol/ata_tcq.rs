//! ATA tagged command queueing (ATA-4 to ATA-7, the "overlapped feature set" and READ/WRITE DMA QUEUED).
//!
//! - Up to 32 tags, 0 to 31, and no task attributes: the drive chooses any order.
//! - For a command that needs the mechanism the drive releases the bus (REL); once its data are ready the
//!   drive sets SERV, the host answers with SERVICE, and only then data are transferred. Both round trips
//!   cost time, at depth 1 too; for a command that the buffer answers the bus is not released. Simplified: nor for a
//!   read that continues one which the drive is working on, whose data follow at once; meanwhile the drive accepts others.
//! - A command that is not queued, sent while others are outstanding, aborts the queue; so does an error. The
//!   host's error handler empties the drive's queue (NOP, abort queue) and resends everything. Simplified:
//!   the drive itself would accept commands meanwhile, but the host sends none.
//! - A drive behind a SATA bridge, as the first Raptors are, pays the bridge's delay for every message of
//!   these round trips.
//!
//! Source: ATA/ATAPI-5 (T13/1321D) 6.8 and 6.9; Linux 2.5 drivers/ide/ide-tcq.c, ide_tcq_invalidate_queue (what a host does
//! at an error); a Raptor behind its Marvell bridge in published reviews, which found the protocol's cost at depth 1.
use crate::command::Attribute;

pub const TAGS: u32 = 32;

#[inline]
pub fn allows(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::Simple | Attribute::Untagged)
}
