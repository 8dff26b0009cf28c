//! The bus of a drive that disconnects: what a reselection costs, and how a write in two connections runs.
//!
//! A read that the buffer cannot answer disconnects, and reselects for its data; the arm waits for neither. A
//! write sends its data at once, and reselects to report its completion. Some drives also disconnect between
//! a write's command and its data.
//! Source: J. Bucy, J. Schindler, S. Schlosser, G. Ganger, "The DiskSim simulation environment version 4.0 reference
//! manual", CMU-PDL-08-101, 2008.
use super::params::Overhead;
use crate::command::{Access, Command};
use drivelab_units::{Lba, Span};

/// The costs of a drive's disconnections and reselections.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisconnectParams {
    /// Whether it stays connected from the command to the completion.
    pub holds: bool,
    /// Preparation before the data of each connection.
    pub preparation: Span,
    /// Reselection.
    pub reselection: Span,
    /// Disconnection after a read's command.
    pub read_release: Overhead,
    /// Disconnection after a write's data.
    pub write_release: Span,
    /// How a write runs that does not continue where the previous one ended; in one connection when `None`.
    pub second_release: Option<SecondRelease>,
}

/// A write that disconnects between its command and its data.
#[derive(Clone, Copy, Debug)]
pub struct SecondRelease {
    /// From the arrival of the command until it is decoded; replaces the usual overhead.
    pub command: Span,
    /// Disconnection after it.
    pub release: Span,
    /// How long it stays disconnected after that.
    pub away: Span,
    /// When the arm starts, relative to the decoding of the command; may be negative.
    pub arm_ns: i64,
    /// Disconnection after the data.
    pub release_again: Span,
    /// Reselection at the end of the write.
    pub reselection: Span,
    /// How much of the data must have arrived before the media write begins.
    pub sectors_first: SectorsFirst,
}

/// How many of a write's sectors must have arrived before the first is written, or all where it has fewer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectorsFirst {
    /// For a short write.
    pub short: u64,
    /// For a long one.
    pub long: u64,
    /// Minimum number of sectors of a long write.
    pub long_from: u64,
}

impl SectorsFirst {
    /// Values of one drive family: those whose descriptions for DiskSim have a second release.
    pub const SHOWN: SectorsFirst = SectorsFirst { short: 10, long: 15, long_from: 45 };

    #[inline]
    fn of(self, count: u64) -> u64 {
        count.min(if count < self.long_from { self.short } else { self.long })
    }
}

/// The steps of a write: the delays from its arrival until the arm may start and until the data may flow, and
/// what its end costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// From the arrival of the command until the arm may start.
    pub arm: Span,
    /// From the arrival of the command until the data may flow.
    pub data: Span,
    /// Disconnection after the data.
    pub release: Span,
    /// Reselection for the completion.
    pub end: Span,
}

impl DisconnectParams {
    /// The steps of a write with this overhead; `written` is where the previous command ended, if it was a
    /// write.
    #[inline]
    pub fn write(&self, command: &Command, overhead: Span, written: Option<Lba>) -> Steps {
        match self.second_release {
            Some(second) if written.is_some_and(|end| end != command.first) => {
                let arm = second.command.as_ns().saturating_add_signed(second.arm_ns);
                let away = second.release + second.away + self.reselection + self.preparation;
                Steps {
                    arm: Span::from_ns(arm),
                    data: second.command + away,
                    release: second.release_again,
                    end: second.reselection,
                }
            }
            _ => Steps {
                arm: overhead,
                data: overhead + self.preparation,
                release: self.write_release,
                end: self.reselection,
            },
        }
    }

    /// How many of a write's sectors must have arrived before the first is written.
    #[inline]
    pub fn sectors_before_media(&self, count: u64) -> u64 {
        self.second_release.map_or(1, |second| second.sectors_first.of(count))
    }

    /// From the command of a read that the buffer cannot answer until its data can flow, if they are present.
    #[inline]
    pub fn after_command(&self, before: Access) -> Span {
        if self.holds { self.preparation } else { self.read_release.after(before) }
    }

    /// What the last data of a read cost in addition to the transfer, when they come separately.
    #[inline]
    pub fn reconnection(&self) -> Span {
        if self.holds { Span::ZERO } else { self.reselection + self.preparation }
    }

    /// All times in it, for a check against [`TIME_MAX`](super::params::TIME_MAX).
    pub fn times(&self) -> [Span; 10] {
        let second = self.second_release;
        let part = |of: fn(SecondRelease) -> Span| second.map_or(Span::ZERO, of);
        let Overhead { after_read, after_write } = self.read_release;
        [
            self.preparation,
            self.reselection,
            after_read,
            after_write,
            self.write_release,
            part(|second| second.command),
            part(|second| second.release + second.away),
            part(|second| Span::from_ns(second.arm_ns.unsigned_abs())),
            part(|second| second.release_again),
            part(|second| second.reselection),
        ]
    }
}
