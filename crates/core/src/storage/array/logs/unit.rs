//! Units of a partial parity log: records that are freed together.
use alloc::vec::Vec;

/// Records of one log on members with a volatile cache, which are freed together.
#[derive(Default)]
pub struct Unit {
    /// The scan of the waiting stripe requests in which it began: only those of this scan may still join it.
    pub(crate) began: u64,
    pub(crate) is_flushing: bool,
    /// The members that it writes to.
    pub(crate) written: Vec<u16>,
}
