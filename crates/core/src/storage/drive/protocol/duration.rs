//! Command duration limits: what a host may ask of a command's time, and what the drive does when that is exceeded.
//!
//! - A command names one of seven descriptors; reads and writes have seven each (log page 18h of ATA, mode pages T2A and
//!   T2B of SCSI). A command that names a descriptor without limits has none.
//! - The inactive time runs from the arrival of the command until the drive begins to work on it, the active time from
//!   then until its completion, the guideline over both.
//! - The drive chooses so that guideline and inactive time are kept, as far as it can: see
//!   [`precedence`](super::super::tasks::precedence).
//! - When a limit is exceeded, its policy applies: [`Exceeded`]. A command that is ended while the mechanism works on it
//!   is reported when the mechanism is done.
//!
//! Not modelled: by how much the drive may lose throughput for the sake of guidelines (performance versus command
//! duration guidelines); this drive keeps them at any price.
//!
//! Source: Western Digital, cdl-tools (descriptors and policies of ACS-5 and SPC-6); Microsoft, scsi.h
//! (T2_COMMAND_DURATION_LIMIT_DESCRIPTOR, after table 459 of SPC-6). The standards themselves were not at hand.
use crate::command::{Access, Outcome};
use drivelab_units::Span;

/// Descriptors of each direction; a command names one of them by 1 to 7.
pub const DESCRIPTORS: usize = 7;

/// What the drive does with a command that has exceeded a limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Exceeded {
    /// Completes it as early as it can (0h).
    #[default]
    CompleteEarliest,
    /// The guideline of the next descriptor holds, if it is longer (1h).
    NextLimit,
    /// Goes on with it as with a command without a limit (2h).
    NoLimit,
    /// Ends it without an error and without its data (Dh): no other command is affected.
    Unavailable,
    /// Ends it with an error (Fh), which affects other commands as any error does.
    Abort,
}

impl Exceeded {
    /// Whether the command ends.
    pub fn ends(self) -> bool {
        matches!(self, Exceeded::Unavailable | Exceeded::Abort)
    }

    /// How a command ends that it ends.
    pub fn outcome(self) -> Outcome {
        if self == Exceeded::Unavailable { Outcome::Unavailable } else { Outcome::TimedOut }
    }
}

/// A time, and what happens when it is exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeLimit {
    /// The time.
    pub within: Span,
    /// The policy.
    pub then: Exceeded,
}

/// The limits of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Descriptor {
    /// From the arrival until the drive begins to work on it.
    pub inactive: Option<TimeLimit>,
    /// From then until it is done.
    pub active: Option<TimeLimit>,
    /// Both together.
    pub guideline: Option<TimeLimit>,
}

/// The descriptors of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DurationLimits {
    /// Of reads.
    pub reads: [Descriptor; DESCRIPTORS],
    /// Of writes.
    pub writes: [Descriptor; DESCRIPTORS],
}

impl DurationLimits {
    /// The limits that a command of this kind has with this index; none for an index that does not exist.
    pub fn of(&self, access: Access, index: u8) -> Descriptor {
        let descriptors = match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
            Access::Flush => return Descriptor::default(),
        };
        let at = usize::from(index).checked_sub(1);
        at.and_then(|at| descriptors.get(at)).copied().unwrap_or_default()
    }

    /// The guideline that follows when that of `index` is exceeded: of the next descriptor that has a longer one.
    pub fn next(&self, access: Access, index: u8) -> Option<(u8, TimeLimit)> {
        let own = self.of(access, index).guideline?;
        let next = index + 1;
        let limit = self.of(access, next).guideline.filter(|limit| limit.within > own.within)?;
        Some((next, limit))
    }

    /// The guideline, counted from the arrival, at which a command with this index ends, and how.
    pub fn ends_at(&self, access: Access, mut index: u8) -> Option<TimeLimit> {
        let mut limit = self.of(access, index).guideline?;
        while limit.then == Exceeded::NextLimit {
            (index, limit) = self.next(access, index)?;
        }
        limit.then.ends().then_some(limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guideline(ms: u64, then: Exceeded) -> Descriptor {
        let limit = TimeLimit { within: Span::from_ms(ms), then };
        Descriptor { guideline: Some(limit), ..Descriptor::default() }
    }

    #[test]
    fn a_chain_of_guidelines_ends_where_one_of_them_says_so() {
        let mut limits = DurationLimits::default();
        limits.reads[0] = guideline(20, Exceeded::NextLimit);
        limits.reads[1] = guideline(50, Exceeded::NextLimit);
        limits.reads[2] = guideline(80, Exceeded::Unavailable);
        limits.reads[3] = guideline(60, Exceeded::Abort);
        let ends = |index| limits.ends_at(Access::Read, index).map(|limit| (limit.within, limit.then));
        assert_eq!(ends(1), Some((Span::from_ms(80), Exceeded::Unavailable)));
        assert_eq!(ends(4), Some((Span::from_ms(60), Exceeded::Abort)));
        assert_eq!(ends(5), None);
        assert_eq!(limits.ends_at(Access::Write, 1), None);
        // A next limit that is not longer is none.
        limits.reads[2] = guideline(50, Exceeded::Abort);
        assert_eq!(limits.next(Access::Read, 2), None);
        assert_eq!(limits.ends_at(Access::Read, 1), None);
    }

    #[test]
    fn an_index_without_a_descriptor_is_no_limit() {
        let limits =
            DurationLimits { reads: [guideline(5, Exceeded::Abort); DESCRIPTORS], ..Default::default() };
        assert_eq!(limits.of(Access::Read, 0), Descriptor::default());
        assert_eq!(limits.of(Access::Read, 8), Descriptor::default());
        assert_eq!(limits.of(Access::Flush, 1), Descriptor::default());
        assert!(limits.of(Access::Read, 7).guideline.is_some());
    }
}
