//! What goes wrong with a drive at an instant of the run, each kind with its own keys: what `drivelab fault` can do to a
//! device that is served.
use super::array::DriveNumber;
use crate::keys::quantities::{Offset, Whole};
use crate::keys::read::Example;
use crate::keys::section;
use drivelab_units::{Share, Span};

section! {
    facts: false,
    exclusive: &[&[&["over"], &["share"], &["every"]]],
    /// A drive that becomes slow: each command that its firmware takes up takes longer.
    pub struct SlowRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it begins.
        at: Span = "0s",
        /// By how much longer.
        by: Span = "",
        /// It becomes so, evenly over this time.
        over: Span = "at once",
        /// Only so many of the commands.
        share: Share = "all",
        /// In bursts that last `lasts`: from the beginning of one to that of the next.
        every: Span = "once",
        /// How long it is slow.
        lasts: Span = "for good",
    }
}

section! {
    facts: false,
    /// A drive that says nothing for a while, and then goes on with all that it was told.
    pub struct HangRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it begins.
        at: Span = "0s",
        /// How long it says nothing.
        lasts: Span = "",
    }
}

section! {
    facts: false,
    /// Sectors of a drive that something happens to.
    pub struct SpotRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it happens.
        at: Span = "0s",
        /// Where the sectors begin on the drive.
        offset: Offset = "0B",
        /// How much it is.
        size: Whole = "one sector",
    }
}

section! {
    facts: false,
    /// The link to a drive is reset: what it has not answered is sent again.
    pub struct ResetRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it happens.
        at: Span = "0s",
    }
}

section! {
    facts: false,
    /// A drive that answers FLUSH at once, whatever waits in its cache.
    pub struct LieRaw {
        /// With an array its number: members from 0 on, then spares.
        drive: DriveNumber = "0",
        /// When it begins.
        at: Span = "0s",
        /// How long it lies.
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
