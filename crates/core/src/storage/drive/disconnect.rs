//! The bus of a drive that lets go of it: what it costs to take it up again, and how a write comes in two steps.
//!
//! A read that the buffer cannot answer lets go of the bus and takes it up again for its data; the arm does not wait for
//! either. A write sends its data at once, and takes the bus up again to say that it is done. Some drives let go of a
//! write as well before they take its data.
//! Source: J. Bucy, J. Schindler, S. Schlosser, G. Ganger, "The DiskSim simulation environment version 4.0 reference
//! manual", CMU-PDL-08-101, 2008.
use super::params::Overhead;
use crate::command::{Access, Command};
use drivelab_units::{Lba, Span};

/// What a drive's releases and reselections of its bus cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct DisconnectParams {
    /// Whether it keeps the bus from the command to the completion.
    pub holds: bool,
    /// Before the data of each connection.
    pub preparation: Span,
    /// To take the bus up again.
    pub reselection: Span,
    /// To let go of it, after a read's command.
    pub read_release: Overhead,
    /// To let go of it, after a write's data.
    pub write_release: Span,
    /// How a write comes that does not go on where the one before it ended; in one step when `None`.
    pub second_release: Option<SecondRelease>,
}

/// A write that lets go of the bus between its command and its data.
#[derive(Clone, Copy, Debug)]
pub struct SecondRelease {
    /// From the arrival of the command until it is understood; in place of the usual overhead.
    pub command: Span,
    /// To let go of the bus after it.
    pub release: Span,
    /// How long it stays away from the bus after that.
    pub away: Span,
    /// When the arm starts: this much after the command is understood, or before.
    pub arm_ns: i64,
    /// To let go of the bus after the data.
    pub release_again: Span,
    /// To take the bus up again at the end of the write.
    pub reselection: Span,
    /// How much of the data must be there before the media write begins.
    pub sectors_first: SectorsFirst,
}

/// How many of a write's sectors must be there before the first is written, or all where it has fewer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectorsFirst {
    /// Of a short write.
    pub short: u64,
    /// Of a long one: of so many sectors or more.
    pub long: u64,
    /// Sectors from which on a write is long.
    pub long_from: u64,
}

impl SectorsFirst {
    /// What one family of drives shows: those whose descriptions for DiskSim have a second release.
    pub const SHOWN: SectorsFirst = SectorsFirst { short: 10, long: 15, long_from: 45 };

    #[inline]
    fn of(self, count: u64) -> u64 {
        count.min(if count < self.long_from { self.short } else { self.long })
    }
}

/// How a write's data come: from its arrival until the arm can start and until the data can flow, and what its end
/// takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// From the arrival of the command until the arm may start.
    pub arm: Span,
    /// From the arrival of the command until the data may flow.
    pub data: Span,
    /// To let go of the bus behind the data.
    pub release: Span,
    /// To take the bus up again for the completion.
    pub end: Span,
}

impl DisconnectParams {
    /// The steps of a write with this overhead, behind a command that was a write, or was not, and ended here.
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

    /// How many of a write's sectors must be there before the first is written.
    #[inline]
    pub fn sectors_before_media(&self, count: u64) -> u64 {
        self.second_release.map_or(1, |second| second.sectors_first.of(count))
    }

    /// From the command of a read that the buffer cannot answer until its data can flow, if they are there.
    #[inline]
    pub fn after_command(&self, before: Access) -> Span {
        if self.holds { self.preparation } else { self.read_release.after(before) }
    }

    /// What the last data of a read cost beside the way itself, when they come after the others.
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
