//! Faults of a drive at an instant of the run, each kind with its own keys: what `drivelab fault` can inject into a
//! device that is served.
use super::array::DriveNumber;
use crate::keys::numbers::Count;
use crate::keys::quantities::{Offset, Whole};
use crate::keys::read::Example;
use crate::keys::section;
use drivelab_units::{Share, Span};

section! {
    facts: false,
    exclusive: &[&[&["over"], &["share"], &["every"], &["factor"]], &[&["by"], &["factor"]]],
    /// A drive that becomes slow: its firmware needs longer to pick up each command, or everything takes it longer.
    pub struct SlowRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it begins.
        at: Span = "0s",
        /// The additional time per command.
        by: Span = "",
        /// In place of `by`: how many times as long everything takes, seeks, transfers and answers from its buffer.
        factor: SlowFactor = "",
        /// The additional time grows linearly over this time.
        over: Span = "at once",
        /// The share of the commands that are slow.
        share: Share = "all",
        /// In bursts of the length `lasts`: from the beginning of one to that of the next.
        every: Span = "once",
        /// How long it is slow.
        lasts: Span = "for good",
    }
}

/// How many times as long everything takes.
pub type SlowFactor = Count<2, 1_000>;

section! {
    facts: false,
    /// A drive that hangs for a while, and then continues with all of its commands.
    pub struct HangRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it begins.
        at: Span = "0s",
        /// How long it hangs.
        lasts: Span = "",
    }
}

section! {
    facts: false,
    /// Sectors of a drive that a fault affects.
    pub struct SpotRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it happens.
        at: Span = "0s",
        /// Where the sectors begin on the drive.
        offset: Offset = "0B",
        /// How many there are, as a size.
        size: Whole = "one sector",
    }
}

section! {
    facts: false,
    /// The link to a drive is reset: unanswered commands are sent again.
    pub struct ResetRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it happens.
        at: Span = "0s",
    }
}

section! {
    facts: false,
    /// A drive that answers FLUSH at once, although data are dirty in its cache.
    pub struct LieRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it begins.
        at: Span = "0s",
        /// How long it does so.
        lasts: Span = "for good",
    }
}

impl Example for SlowRaw {
    const EXAMPLE: &'static str = "[{ drive = 2, at = \"10s\", by = \"200ms\" }]";
}

impl Example for HangRaw {
    const EXAMPLE: &'static str = "[{ at = \"10s\", lasts = \"3s\" }]";
}

impl Example for SpotRaw {
    const EXAMPLE: &'static str = "[{ at = \"10s\", offset = \"1GiB\", size = \"4KiB\" }]";
}

impl Example for ResetRaw {
    const EXAMPLE: &'static str = "[{ at = \"10s\" }]";
}

impl Example for LieRaw {
    const EXAMPLE: &'static str = "[{ at = \"10s\" }]";
}
