//! How a drive lets go of its bus and takes it up again, as typed in a drive file.
use super::drive::OverheadTimes;
use crate::keys::numbers::Count;
use crate::keys::quantities::SignedSpan;
use crate::keys::section;
use drivelab_units::Span;

section! {
    facts: true,
    /// How a drive on a shared bus lets go of it while the mechanism works, and takes it up again. What `queue` says of
    /// releasing comes with a queueing protocol; this is the drive's own.
    pub struct DisconnectRaw {
        /// Whether it keeps the bus of a read from the command to the completion.
        keeps_bus: bool = "false",
        /// Before the data of each connection.
        preparation: Span = "0s",
        /// To take the bus up again: before data of a read that come after others, and at the end of a write.
        reselection: Span = "0s",
        /// To let go of the bus after a read's command; the arm does not wait for it. A time may also be
        /// `{ after_read = "..", after_write = ".." }`.
        read_release: OverheadTimes = "0s",
        /// To let go of it after a write's data.
        write_release: Span = "0s",
        /// How a write comes that does not go on where the write before it ended.
        second: SecondReleaseRaw = "in one step",
    }
}

section! {
    facts: true,
    /// A write that lets go of the bus between its command and its data.
    pub struct SecondReleaseRaw {
        /// From the arrival of the command until it is understood; in place of `firmware.write`.
        command: Span = "0s",
        /// To let go of the bus after it.
        release: Span = "0s",
        /// How long the drive stays away from the bus.
        away: Span = "0s",
        /// When the arm starts: so much after the command is understood, or before where it is negative.
        arm: SignedSpan = "0s",
        /// To let go of the bus after the data.
        release_again: Span = "0s",
        /// To take it up again at the end.
        reselection: Span = "0s",
        /// How many of its sectors must be there before the first is written. Left out, as one family of drives shows it.
        sectors_first: SectorsFirstRaw = "10 of a write of fewer than 45 sectors, 15 of others",
    }
}

/// Sectors of a write.
pub type SectorCount = Count<1, 65536>;

section! {
    facts: true,
    /// How many sectors of a write that lets go of the bus must be there before the first is written; all, where it has
    /// fewer.
    pub struct SectorsFirstRaw {
        /// Of a short write.
        short: SectorCount = "10",
        /// Of a long one.
        long: SectorCount = "15",
        /// From so many sectors on a write is a long one.
        long_from: SectorCount = "45",
    }
}
