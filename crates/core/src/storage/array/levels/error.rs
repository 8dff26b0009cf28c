//! What each level requires of its members, and the messages for what is wrong.
use crate::storage::array::reserved::PARTIAL_PARITY_LOG;
use core::fmt;
use drivelab_units::{Sectors, counted};

/// Why an array cannot be built. `level` is the level's usual name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelError {
    /// A number of drives other than the array needs.
    Drives {
        /// Members that the array counts.
        members: u16,
        /// Spares that the array counts.
        spares: u16,
        /// Whether it has a journal, which takes a drive.
        journal: bool,
        /// Drives that are given.
        given: usize,
    },
    /// Fewer members in each group than the level needs.
    TooFew {
        /// Usual name of the level.
        level: &'static str,
        /// Members needed in each group.
        least: u16,
        /// Groups of the array.
        groups: u16,
        /// Members of each group.
        members: u16,
    },
    /// More members than an array, or a group of this level, can have.
    TooMany {
        /// Usual name of the level.
        level: &'static str,
        /// Members possible.
        most: u16,
        /// Requested members.
        members: u16,
    },
    /// No groups.
    Groups {
        /// Usual name of the level.
        level: &'static str,
    },
    /// Members that cannot be shared out evenly over copies (RAID 01) or groups.
    Uneven {
        /// Usual name of the level.
        level: &'static str,
        /// Number of copies or groups that must divide the members.
        by: u16,
        /// Requested members.
        members: u16,
    },
    /// Fewer than two copies, or more than members.
    Copies {
        /// Usual name of the level.
        level: &'static str,
        /// Requested copies.
        copies: u16,
        /// Members of the array.
        members: u16,
    },
    /// A number of parities that the level does not have.
    Parities {
        /// Usual name of the level, or of the family.
        level: &'static str,
        /// Parities possible; the least is 1.
        most: u8,
        /// Requested parities.
        parities: u8,
    },
    /// A stripe unit of nothing, or of which too few fit on a member.
    Unit {
        /// Usual name of the level.
        level: &'static str,
        /// The stripe unit.
        unit: Sectors,
        /// Stripe units that must fit on each member.
        rows: u16,
        /// Sectors of the smallest member.
        smallest: Sectors,
    },
    /// A RAID-Z record that is not made of whole sectors, or too large or too many for the members.
    Record {
        /// Usual name of the level.
        level: &'static str,
        /// The requested record.
        record: Sectors,
        /// The sector of the pool.
        sector: Sectors,
    },
    /// Commands to members that cannot hold a member's share of a record.
    Request {
        /// Usual name of the level.
        level: &'static str,
        /// The record.
        record: Sectors,
    },
    /// A RAID-Z pool that is too small to keep a free place beside a record, or has more places than it can count.
    Pool {
        /// Usual name of the level.
        level: &'static str,
    },
    /// A share of the places that cannot be filled.
    Fill {
        /// The requested share; possible are 1 to 100.
        percent: u8,
    },
    /// A spare that is smaller than what the array uses of a member.
    Spare {
        /// Number of the spare.
        drive: u16,
        /// Its capacity.
        capacity: Sectors,
        /// What the array uses of each member.
        needed: Sectors,
    },
    /// Spares where nothing is left to rebuild from.
    NoUseOfSpares {
        /// Usual name of the level.
        level: &'static str,
    },
    /// A failure is requested of a drive that does not exist.
    NoSuchDrive {
        /// Requested number.
        drive: u16,
        /// Drives that there are.
        drives: usize,
    },
    /// A member is declared missing that does not exist.
    NoSuchMember {
        /// Requested slot.
        slot: u16,
        /// Members that there are.
        members: u16,
    },
    /// A drive is named twice among those that fail or are missing.
    FailsTwice {
        /// Number of the drive.
        drive: u16,
    },
    /// More failures than drives.
    TooManyFailures {
        /// Requested failures, drives missing from the start included.
        failures: usize,
        /// Drives that there are.
        drives: usize,
    },
    /// Protection against the write hole where it has no use.
    NoUse {
        /// Usual name of the level.
        level: &'static str,
        /// What it has no use for.
        of: &'static str,
        /// The levels that have a use for it.
        only: &'static str,
    },
    /// Parity over pieces that are too large for a partial parity log, with their description.
    Log {
        /// The requested piece.
        granule: Sectors,
    },
    /// A journal that is too small for one row of stripe units and its description.
    Journal {
        /// Capacity of the journal's drive.
        capacity: Sectors,
        /// What one row needs.
        needed: Sectors,
    },
    /// A bitmap of more regions than are possible.
    Regions {
        /// The requested region.
        region: Sectors,
        /// Regions that this makes.
        regions: u64,
        /// The smallest region of which a bitmap can cover the members.
        needed: Sectors,
    },
    /// Reads are to be distributed where there is one copy.
    NoCopies {
        /// Usual name of the level.
        level: &'static str,
    },
    /// A size or a number that must not be zero.
    Zero {
        /// What is zero, as a noun phrase for the message.
        what: &'static str,
    },
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Drives { members, spares, journal, given } => {
                let all = u32::from(members) + u32::from(spares) + u32::from(journal);
                let (members, spares) = (counted(members.into(), "member"), counted(spares.into(), "spare"));
                write!(f, "the array counts {} ({members}, {spares}", counted(all.into(), "drive"))?;
                let journal = if journal { ", a journal" } else { "" };
                write!(f, "{journal}), and {given} are given")
            }
            Self::TooFew { level, least, groups: 1, members } => {
                write!(f, "{level} needs at least {least} members, not {members}")
            }
            Self::TooFew { level, least, groups, members } => write!(
                f,
                "{level} needs at least {least} members in each of its {groups} groups, not {members}"
            ),
            Self::TooMany { level, most, members } => {
                write!(f, "{level} has at most {most} members, not {members}")
            }
            Self::Groups { level } => write!(f, "{level} needs at least 1 group"),
            Self::Uneven { level: "RAID 01", by, members } => write!(
                f,
                "RAID 01 with {by} copies needs a number of members that {by} divides, not {members}; RAID 10 can \
                 do with {members}"
            ),
            Self::Uneven { level, by, members } => write!(
                f,
                "{level} with {by} groups needs a number of members that {by} divides, not {members}"
            ),
            Self::Copies { level, copies: copies @ 0..2, .. } => {
                write!(f, "{level} needs at least 2 copies, not {copies}")
            }
            Self::Copies { level, copies, members } => {
                write!(f, "{level} with {copies} copies needs at least {copies} members, not {members}")
            }
            Self::Parities { level, most, parities } => {
                write!(f, "{level} has 1 to {most} parities, not {parities}")
            }
            _ => self.of_sizes(f),
        }
    }
}

impl LevelError {
    fn of_sizes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unit { unit: Sectors::ZERO, level, .. } => {
                write!(f, "the stripe unit of {level} must be above zero")
            }
            Self::Unit { level, unit, rows, smallest } => write!(
                f,
                "{level} needs room for {} of {} on each member, and the smallest has {}",
                counted(rows.into(), "stripe unit"),
                counted(unit.get(), "sector"),
                counted(smallest.get(), "sector")
            ),
            Self::Record { level, record, sector } => write!(
                f,
                "a record of {level} must be a whole number of its sectors, which are 512 bytes times a power of \
                 two: {} is no multiple of {}",
                record.get(),
                sector.get()
            ),
            Self::Request { level, record } => write!(
                f,
                "the largest request to a member of {level} must have room for a record of {}",
                counted(record.get(), "sector")
            ),
            Self::Pool { level } => {
                write!(f, "{level} needs room for 2 records at least, and for {} at most", u32::MAX)
            }
            Self::Fill { percent } => write!(f, "data can fill 1 to 100 percent of a pool, not {percent}"),
            Self::Spare { drive, capacity, needed } => write!(
                f,
                "drive {drive}, a spare, has {}, and the array uses {} of each member",
                counted(capacity.get(), "sector"),
                needed.get()
            ),
            _ => self.of_uses(f),
        }
    }

    fn of_uses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoUseOfSpares { level } => {
                write!(f, "{level} has no use for a spare: what a member had cannot be had from the others")
            }
            Self::NoSuchDrive { drive, drives } => {
                write!(f, "drive {drive} is to fail, and the array has drives 0 to {}", drives - 1)
            }
            Self::NoSuchMember { slot, members } => {
                write!(f, "member {slot} is to be missing, and the array has members 0 to {}", members - 1)
            }
            Self::FailsTwice { drive } => write!(f, "drive {drive} is to fail, or to be missing, twice"),
            Self::TooManyFailures { failures, drives } => {
                let (failures, drives) = (failures as u64, drives as u64);
                write!(
                    f,
                    "{} asked of an array of {}",
                    counted(failures, "failure"),
                    counted(drives, "drive")
                )
            }
            Self::NoUse { level, of, only } => write!(f, "{level} has no use for {of}: only {only} have"),
            Self::Log { granule } => {
                let (granule, log) = (granule.bytes(), Sectors::new(PARTIAL_PARITY_LOG / 8).bytes());
                write!(
                    f,
                    "parity is made over pieces of {granule}, and a partial parity log has room for pieces of {log} at most"
                )
            }
            Self::Journal { capacity, needed } => write!(
                f,
                "a journal must have room for a row of stripe units and what describes it, {}, and the drive has {}",
                counted(needed.get(), "sector"),
                capacity.get()
            ),
            Self::Regions { region, regions, .. } => write!(
                f,
                "a bitmap has {} regions at most, and regions of {} make {regions}",
                crate::storage::array::reserved::REGIONS_MOST,
                region.bytes()
            ),
            Self::NoCopies { level } => {
                write!(f, "{level} has no second copy with which a large read could be shared")
            }
            Self::Zero { what } => write!(f, "{what} must be above zero"),
            // Checked above.
            _ => Ok(()),
        }
    }
}

impl core::error::Error for LevelError {}
