//! NVM Express.
//!
//! - Commands go into submission queues in the host's memory, up to 65 535 of them with up to 65 536 entries each; here all
//!   queues of a host together hold as many as the drive's depth.
//! - No order among commands, whatever they are: FLUSH and overlapping commands too run beside others. Who needs an order waits
//!   for the completion. So there are no task attributes.
//! - An error ends its command and no other; its status says all, so the host acts on it at once.
//! - FUA: the data must be on the media, or come from there. A write cache that survives a power cut counts as media.
//!
//! Source: NVM Express base specification 2.0, 3.3 (queue model) and 3.4.3 (command ordering); NVM command set
//! specification 1.0, 3.2.1 (flush).
use crate::command::Attribute;

/// Names of the commands of one host: 16 bits.
pub const TAGS: u32 = 1 << 16;

/// Whether a command of this attribute can be sent at all.
#[inline]
pub fn allows(attribute: Attribute) -> bool {
    matches!(attribute, Attribute::Simple | Attribute::Untagged)
}
