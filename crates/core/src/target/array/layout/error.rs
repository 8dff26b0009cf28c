//! What each level asks of its members.
use super::super::params::{ArrayParams, Cure, Level};
use super::reserved;
use core::fmt;
use drivelab_units::Sectors;

/// Why an array cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelError {
    /// Fewer drives are given than the array counts.
    Drives {
        needed: usize,
        given: usize,
    },
    /// Fewer members than the level needs.
    TooFew {
        least: u16,
        members: u16,
    },
    TooMany {
        most: u16,
    },
    /// Members that cannot be shared out evenly.
    Uneven {
        members: u16,
        by: u16,
    },
    /// A stripe unit of nothing, or larger than a member.
    Unit {
        least: Sectors,
    },
    /// A spare that is smaller than what the array uses of a member.
    Spare {
        drive: u16,
        capacity: Sectors,
        needed: Sectors,
    },
    /// More copies than members, or fewer than two.
    Copies {
        copies: u16,
        members: u16,
    },
    /// A drive that there is not fails.
    NoSuchDrive {
        drive: u16,
        drives: usize,
    },
    /// A cure that the level has no use for.
    Cure,
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drives { needed, given } => {
                write!(f, "the array counts {needed} drives, {given} are given")
            }
            Self::TooFew { least, members } => {
                write!(f, "the level needs at least {least} members in each group, not {members}")
            }
            Self::TooMany { most } => write!(f, "an array has at most {most} members"),
            Self::Uneven { members, by } => {
                write!(f, "the level needs a number of members that {by} divides, not {members}")
            }
            Self::Unit { least } => {
                write!(
                    f,
                    "the stripe unit must be above zero and within the least member of {} sectors",
                    least.get()
                )
            }
            Self::Spare { drive, capacity, needed } => write!(
                f,
                "the spare, drive {drive}, has {} sectors; the array uses {} of each member",
                capacity.get(),
                needed.get()
            ),
            Self::Copies { copies, members } => {
                write!(f, "{members} members can hold 2 to {members} copies, not {copies}")
            }
            Self::NoSuchDrive { drive, drives } => {
                write!(f, "drive {drive} is to fail, and the array has drives 0 to {}", drives - 1)
            }
            Self::Cure => write!(f, "only a level with parity has a use for this cure of the write hole"),
        }
    }
}

impl core::error::Error for LevelError {}

/// The least members of each group.
fn least(level: Level) -> u16 {
    match level {
        Level::Linear | Level::Striped => 1,
        Level::Mirrored => 2,
        Level::MirroredStripes { copies } => copies,
        Level::StripedMirrors { copies, .. } => copies,
        Level::Interleaved { .. } => 3,
        Level::Parity { parities, .. } => u16::from(parities) + 2,
        Level::RaidZ { parities, .. } => u16::from(parities) + 1,
    }
}

pub fn check(params: &ArrayParams, capacities: &[Sectors]) -> Result<(), LevelError> {
    let ArrayParams { level, members, spares, .. } = *params;
    let journal = usize::from(params.cure == Cure::Journal);
    let needed = usize::from(members) + usize::from(spares) + journal;
    if capacities.len() != needed || members == 0 {
        return Err(LevelError::Drives { needed, given: capacities.len() });
    }
    if members > ArrayParams::MEMBERS_MAX {
        return Err(LevelError::TooMany { most: ArrayParams::MEMBERS_MAX });
    }
    let groups = match level {
        Level::Interleaved { groups } | Level::Parity { groups, .. } => groups,
        Level::MirroredStripes { copies } => copies,
        _ => 1,
    };
    if groups == 0 || members % groups != 0 {
        return Err(LevelError::Uneven { members, by: groups });
    }
    if let Level::MirroredStripes { copies } | Level::StripedMirrors { copies, .. } = level
        && !(2..=members).contains(&copies)
    {
        return Err(LevelError::Copies { copies, members });
    }
    let each = if let Level::MirroredStripes { .. } = level { members } else { members / groups };
    if each < least(level) {
        return Err(LevelError::TooFew { least: least(level), members: each });
    }
    // The factors of a second and a third parity tell 255 data units apart.
    if let Level::Parity { parities, .. } = level
        && parities > 1
        && each > 255 + u16::from(parities)
    {
        return Err(LevelError::TooMany { most: 255 + u16::from(parities) });
    }
    let smallest = capacities[..usize::from(members)].iter().min().copied().unwrap_or_default();
    let left = Sectors::new(smallest.get() - reserved::sectors(params, smallest.get()));
    if params.unit == Sectors::ZERO || params.unit > left {
        return Err(LevelError::Unit { least: left });
    }
    for (drive, &capacity) in (members..).zip(&capacities[usize::from(members)..needed - journal]) {
        if capacity < smallest {
            return Err(LevelError::Spare { drive, capacity, needed: smallest });
        }
    }
    let drives = capacities.len();
    let failing = params.failures.iter().map(|failure| failure.drive).chain(params.missing.iter().copied());
    if let Some(drive) = failing.into_iter().find(|&drive| usize::from(drive) >= drives) {
        return Err(LevelError::NoSuchDrive { drive, drives });
    }
    let fits = match params.cure {
        Cure::None | Cure::Bitmap { .. } => true,
        Cure::Journal => matches!(level, Level::Parity { .. }),
        // The log holds one parity, of a granule at least, and a granule that describes it.
        Cure::PartialParityLog => {
            matches!(level, Level::Parity { parities: 1, .. })
                && params.parity.granule.get() <= reserved::PARTIAL_PARITY_LOG / 2
        }
    };
    if !fits {
        return Err(LevelError::Cure);
    }
    Ok(())
}
