//! What a log records of a command.
use crate::storage::array::members::Spot;

/// A log's record of a command to a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Logged {
    /// The command that writes the record to the log; the record's checksum covers the data that it carries.
    /// The journal's slot is the number of members.
    pub op: u64,
    /// Where in the log its data are; a slot equal to the number of members is the journal.
    pub log: Spot,
    /// The target: the place that is written (journal), or the place of the parity (partial parity log).
    pub of: Spot,
    /// Sectors, at least one.
    pub count: u64,
    /// Partial parity log: the columns that are written, the first and the one after the last.
    pub columns: (u32, u32),
    /// Partial parity log: all columns are written, and the log holds the description only.
    pub is_whole: bool,
    /// Sequence number of the record.
    pub record: u64,
}
