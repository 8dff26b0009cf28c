//! The rules of each level, in the order in which a user can make sense of them: the number of drives, how
//! they are distributed, sizes, then which failures are possible.
use crate::storage::array::levels::error::LevelError;
use crate::storage::array::params::{ArrayParams, ConsistencyPolicy, Copies, Level};
use crate::storage::array::reserved;
use drivelab_units::Sectors;

/// The usual name of a level.
pub fn name(level: Level) -> &'static str {
    use crate::storage::array::params::Rotation::{First, Last};
    match level {
        Level::Linear => "JBOD",
        Level::Striped => "RAID 0",
        Level::Mirrored => "RAID 1",
        Level::MirroredStripes { .. } => "RAID 01",
        Level::StripedMirrors { .. } => "RAID 10",
        Level::Interleaved { groups: 1 } => "RAID 3",
        Level::Interleaved { .. } => "RAID 30",
        Level::Parity { parities: 1, groups: 1, rotation: First | Last } => "RAID 4",
        Level::Parity { parities: 0 | 1, groups: 1, .. } => "RAID 5",
        Level::Parity { parities: 0 | 1, .. } => "RAID 50",
        Level::Parity { groups: 1, .. } => "RAID 6",
        Level::Parity { .. } => "RAID 60",
        Level::RaidZ { parities: 0 | 1, .. } => "RAID-Z1",
        Level::RaidZ { parities: 2, .. } => "RAID-Z2",
        Level::RaidZ { .. } => "RAID-Z3",
    }
}

/// Groups of members that are independent of each other.
fn groups(level: Level) -> u16 {
    match level {
        Level::Interleaved { groups } | Level::Parity { groups, .. } => groups,
        _ => 1,
    }
}

/// The minimum number of members of each group.
fn least(level: Level) -> u16 {
    match level {
        Level::Linear | Level::Striped => 1,
        Level::Mirrored => 2,
        Level::MirroredStripes { copies } | Level::StripedMirrors { copies, .. } => copies,
        Level::Interleaved { .. } => 3,
        Level::Parity { parities, .. } => u16::from(parities) + 2,
        Level::RaidZ { parities, .. } => u16::from(parities) + 1,
    }
}

/// Whether the level can survive the loss of a member.
fn is_redundant(level: Level) -> bool {
    !matches!(level, Level::Linear | Level::Striped)
}

/// All checks that need no layout.
pub fn check(params: &ArrayParams, capacities: &[Sectors]) -> Result<(), LevelError> {
    drives(params, capacities.len())?;
    shares(params.level, params.members)?;
    sizes(params, &capacities[..usize::from(params.members)])?;
    uses(params)?;
    journal(params, capacities)?;
    bitmap(params, &capacities[..usize::from(params.members)])?;
    failures(params, capacities.len())
}

/// A spare must have what the array uses of a member, which may be less than the smallest member has.
pub fn check_spares(params: &ArrayParams, capacities: &[Sectors], used: Sectors) -> Result<(), LevelError> {
    let spares = capacities.iter().skip(params.members.into()).take(params.spares.into());
    for (drive, &capacity) in (params.members..).zip(spares) {
        if capacity < used {
            return Err(LevelError::Spare { drive, capacity, needed: used });
        }
    }
    Ok(())
}

fn drives(params: &ArrayParams, given: usize) -> Result<(), LevelError> {
    let ArrayParams { level, members, spares, .. } = *params;
    let journal = params.consistency_policy == ConsistencyPolicy::Journal;
    if given != usize::from(members) + usize::from(spares) + usize::from(journal) {
        return Err(LevelError::Drives { members, spares, journal, given });
    }
    let most = if let Level::RaidZ { .. } = level { u8::MAX.into() } else { ArrayParams::MEMBERS_MAX };
    if members > most {
        return Err(LevelError::TooMany { level: name(level), most, members });
    }
    if spares > 0 && !is_redundant(level) {
        return Err(LevelError::NoUseOfSpares { level: name(level) });
    }
    Ok(())
}

fn shares(kind: Level, members: u16) -> Result<(), LevelError> {
    let (level, groups) = (name(kind), groups(kind));
    match kind {
        Level::MirroredStripes { copies } | Level::StripedMirrors { copies, .. }
            if !(2..=members).contains(&copies) =>
        {
            return Err(LevelError::Copies { level, copies, members });
        }
        Level::MirroredStripes { copies } if !members.is_multiple_of(copies) => {
            return Err(LevelError::Uneven { level, by: copies, members });
        }
        Level::Parity { parities, .. } if !(1..=3).contains(&parities) => {
            return Err(LevelError::Parities { level: "a level with parity", most: 3, parities });
        }
        Level::RaidZ { parities, .. } if !(1..=3).contains(&parities) => {
            return Err(LevelError::Parities { level: "RAID-Z", most: 3, parities });
        }
        _ => {}
    }
    if groups == 0 {
        return Err(LevelError::Groups { level });
    }
    if !members.is_multiple_of(groups) {
        return Err(LevelError::Uneven { level, by: groups, members });
    }
    let each = members / groups;
    if each < least(kind) {
        return Err(LevelError::TooFew { level, least: least(kind), groups, members: each });
    }
    // The factors of a second parity distinguish at most 255 data units.
    if let Level::Parity { parities: 2.., .. } = kind
        && each > 257
    {
        return Err(LevelError::TooMany { level, most: 257 * groups, members });
    }
    Ok(())
}

fn sizes(params: &ArrayParams, members: &[Sectors]) -> Result<(), LevelError> {
    let (level, unit) = (name(params.level), params.unit);
    let least = members.iter().min().map_or(0, |least| least.get());
    let smallest = Sectors::new(least - reserved::sectors(params, least));
    if params.request == Sectors::ZERO {
        return Err(LevelError::Zero { what: "the largest request to a member" });
    }
    if params.depth == Some(0) {
        return Err(LevelError::Zero { what: "the number of commands that an array works on at once" });
    }
    if smallest == Sectors::ZERO {
        return Err(LevelError::Zero { what: "the capacity of a member" });
    }
    if params.parity.granule == Sectors::ZERO {
        return Err(LevelError::Zero { what: "the piece over which parity is computed" });
    }
    if params.split.is_some_and(|split| split.unit == Sectors::ZERO) {
        return Err(LevelError::Zero { what: "what each copy reads of a large read in its turn" });
    }
    let rows = match params.level {
        Level::Linear | Level::Mirrored | Level::Interleaved { .. } | Level::RaidZ { .. } => 0,
        // Each part, and each repeated row, must be whole.
        Level::StripedMirrors { copies, layout: Copies::Far | Copies::Offset } => copies,
        _ => 1,
    };
    if rows > 0 && (unit == Sectors::ZERO || smallest.get() / unit.get() < rows.into()) {
        return Err(LevelError::Unit { level, unit, rows, smallest });
    }
    if let Level::RaidZ { record, fill_percent, .. } = params.level {
        // Parity is computed sector by sector of the pool: 512 bytes, 4 KiB.
        let sector = params.parity.granule;
        let is_whole = sector.get().is_power_of_two() && record.get().is_multiple_of(sector.get());
        if record == Sectors::ZERO || !is_whole {
            return Err(LevelError::Record { level, record, sector });
        }
        if record > params.request {
            return Err(LevelError::Request { level, record });
        }
        if !(1..=100).contains(&fill_percent) {
            return Err(LevelError::Fill { percent: fill_percent });
        }
    }
    Ok(())
}

fn uses(params: &ArrayParams) -> Result<(), LevelError> {
    let (kind, level) = (params.level, name(params.level));
    let has_copies =
        matches!(kind, Level::Mirrored | Level::MirroredStripes { .. } | Level::StripedMirrors { .. });
    if params.split.is_some() && !has_copies {
        return Err(LevelError::NoCopies { level });
    }
    let has_parity = matches!(kind, Level::Parity { .. });
    let refused = |of, only| Err(LevelError::NoUse { level, of, only });
    match params.consistency_policy {
        ConsistencyPolicy::Bitmap { region: Sectors::ZERO, .. } => {
            Err(LevelError::Zero { what: "a region of the bitmap" })
        }
        ConsistencyPolicy::Bitmap { .. }
            if !has_parity && !has_copies && !matches!(kind, Level::Interleaved { .. }) =>
        {
            refused("a bitmap of regions", "RAID 1, 01, 10, 3, 4, 5, 6, 30, 50 and 60")
        }
        ConsistencyPolicy::Journal if !has_parity => refused("a journal", "RAID 4, 5, 6, 50 and 60"),
        // The log holds one parity.
        ConsistencyPolicy::PartialParityLog if !matches!(kind, Level::Parity { parities: 1, .. }) => {
            refused("a partial parity log", "RAID 4, 5 and 50")
        }
        ConsistencyPolicy::PartialParityLog
            if 8 * params.parity.granule.get() > reserved::PARTIAL_PARITY_LOG =>
        {
            Err(LevelError::Log { granule: params.parity.granule })
        }
        _ => Ok(()),
    }
}

/// A journal has room for at least one row of stripe units, behind its superblock and a granule that
/// describes the row.
fn journal(params: &ArrayParams, capacities: &[Sectors]) -> Result<(), LevelError> {
    let Some(&capacity) =
        capacities.last().filter(|_| params.consistency_policy == ConsistencyPolicy::Journal)
    else {
        return Ok(());
    };
    let row = u64::from(params.members / groups(params.level)) * params.unit.get();
    let needed = Sectors::new(2 * reserved::granule(params) + row);
    if capacity < needed { Err(LevelError::Journal { capacity, needed }) } else { Ok(()) }
}

/// The array keeps state in memory for each region.
fn bitmap(params: &ArrayParams, members: &[Sectors]) -> Result<(), LevelError> {
    let ConsistencyPolicy::Bitmap { region, .. } = params.consistency_policy else { return Ok(()) };
    let least = members.iter().min().map_or(0, |least| least.get());
    let regions = reserved::regions(params, least);
    if regions <= reserved::REGIONS_MOST {
        return Ok(());
    }
    // A power of two, as all of them are in practice.
    let needed =
        Sectors::new((reserved::counted(params, least).div_ceil(reserved::REGIONS_MOST)).next_power_of_two());
    Err(LevelError::Regions { region, regions, needed })
}

fn failures(params: &ArrayParams, drives: usize) -> Result<(), LevelError> {
    let members = params.members;
    if let Some(&slot) = params.missing.iter().find(|&&slot| slot >= members) {
        return Err(LevelError::NoSuchMember { slot, members });
    }
    let failing = params.failures.iter().map(|failure| failure.drive);
    if let Some(drive) = failing.clone().find(|&drive| usize::from(drive) >= drives) {
        return Err(LevelError::NoSuchDrive { drive, drives });
    }
    let gone = || failing.clone().chain(params.missing.iter().copied());
    let failures = gone().count();
    if failures > drives {
        return Err(LevelError::TooManyFailures { failures, drives });
    }
    let again = gone().enumerate().find(|&(at, drive)| gone().take(at).any(|earlier| earlier == drive));
    again.map_or(Ok(()), |(_, drive)| Err(LevelError::FailsTwice { drive }))
}
