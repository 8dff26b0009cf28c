//! How a drive disconnects from its bus and reconnects, as typed in a drive file.
use super::drive::OverheadTimes;
use crate::keys::numbers::Count;
use crate::keys::quantities::SignedSpan;
use crate::keys::section;
use drivelab_units::Span;

section! {
    facts: true,
    /// How a drive on a shared bus disconnects while the mechanism works, and reconnects. The release times of `queue`
    /// belong to a queueing protocol; these are the drive's own.
    pub struct DisconnectRaw {
        /// Whether a read stays connected from the command to the completion.
        keeps_bus: bool = "false",
        /// Overhead before the data of each connection.
        preparation: Span = "0s",
        /// Reconnection: before later data of a read, and at the end of a write.
        reselection: Span = "0s",
        /// Disconnection after a read's command; the arm does not wait for it. A time may also be
        /// `{ after_read = "..", after_write = ".." }`.
        read_release: OverheadTimes = "0s",
        /// Disconnection after a write's data.
        write_release: Span = "0s",
        /// The phases of a write that does not continue where the previous write ended.
        second: SecondReleaseRaw = "in one step",
    }
}

section! {
    facts: true,
    /// A write that disconnects between its command and its data.
    pub struct SecondReleaseRaw {
        /// From the arrival of the command until it is decoded; in place of `firmware.write`.
        command: Span = "0s",
        /// Disconnection after the command.
        release: Span = "0s",
        /// How long the drive stays disconnected.
        away: Span = "0s",
        /// When the arm starts, relative to the decoding of the command; may be negative.
        arm: SignedSpan = "0s",
        /// Disconnection after the data.
        release_again: Span = "0s",
        /// Reconnection at the end.
        reselection: Span = "0s",
        /// The number of its sectors that must have arrived before the first is written. The default is that of one
        /// family of drives.
        sectors_first: SectorsFirstRaw = "10 of a write of fewer than 45 sectors, 15 of others",
    }
}

/// Sectors of a write.
pub type SectorCount = Count<1, 65536>;

section! {
    facts: true,
    /// The number of sectors of a disconnected write that must have arrived before the first is written; all, where it
    /// has fewer.
    pub struct SectorsFirstRaw {
        /// Of a short write.
        short: SectorCount = "10",
        /// Of a long one.
        long: SectorCount = "15",
        /// The number of sectors from which a write is long.
        long_from: SectorCount = "45",
    }
}
