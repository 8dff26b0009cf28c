//! The levels by name, and what a name says of its level: the one table for scenarios, for the probability of data
//! loss, and for whoever lists the levels.

/// A level by its usual name. RAID 01, 10 and levels with groups have further parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelName {
    /// Concatenated drives.
    Jbod,
    /// Striped.
    Raid0,
    /// Mirrored.
    Raid1,
    /// A mirror of striped sets.
    Raid01,
    /// Striped over mirrors.
    Raid10,
    /// Interleaved by sectors, with parity.
    Raid3,
    /// Striped, with all parity on one member.
    Raid4,
    /// Striped, with parity on each member in turn.
    Raid5,
    /// Striped, with two parities.
    Raid6,
    /// Striped over groups of RAID 3.
    Raid30,
    /// Striped over groups of RAID 5.
    Raid50,
    /// Striped over groups of RAID 6.
    Raid60,
    /// Records with one parity.
    RaidZ1,
    /// Records with two parities.
    RaidZ2,
    /// Records with three parities.
    RaidZ3,
}

/// How a level stores data and redundancy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One member behind the other.
    Concatenated,
    /// Stripe units on the members in turn.
    Striped,
    /// Every member has everything.
    Mirrored,
    /// Copies of one striped set.
    MirroredStripes,
    /// Copies of each stripe unit on several members.
    StripedMirrors,
    /// Sector by sector over the members, parity on the last one.
    Interleaved,
    /// Rows of stripe units with parity.
    Rows {
        /// Parities of each row.
        parities: u8,
        /// Whether the same members hold the parity of all rows.
        dedicated: bool,
    },
    /// Records, each written to a new place.
    Records {
        /// Parities of each record.
        parities: u8,
    },
}

/// What some levels have and others lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uses {
    /// A stripe unit that can be chosen.
    StripeUnit,
    /// A number of copies that can be chosen.
    CopyCount,
    /// A number of groups that can be chosen, with parity of their own.
    Groups,
    /// A choice of where copies or parity lie.
    Layout,
    /// Several copies of everything.
    Copies,
    /// Rows of stripe units with parity.
    Rows,
    /// Rows or records, whose parity is computed granule by granule.
    Granule,
    /// Parity of any kind.
    Parity,
    /// Records.
    Records,
    /// Everything that can be rebuilt.
    Redundancy,
    /// Redundancy that a power cut can leave inconsistent.
    WriteHole,
}

impl LevelName {
    /// Every level, in the order in which tables list them.
    pub const ALL: [LevelName; 15] = [
        LevelName::Jbod,
        LevelName::Raid0,
        LevelName::Raid1,
        LevelName::Raid01,
        LevelName::Raid10,
        LevelName::Raid3,
        LevelName::Raid4,
        LevelName::Raid5,
        LevelName::Raid6,
        LevelName::Raid30,
        LevelName::Raid50,
        LevelName::Raid60,
        LevelName::RaidZ1,
        LevelName::RaidZ2,
        LevelName::RaidZ3,
    ];

    /// Its name in files and options, how it stores, and whether its members form groups.
    const fn row(self) -> (&'static str, Kind, bool) {
        const fn rows(parities: u8) -> Kind {
            Kind::Rows { parities, dedicated: false }
        }
        match self {
            Self::Jbod => ("jbod", Kind::Concatenated, false),
            Self::Raid0 => ("raid0", Kind::Striped, false),
            Self::Raid1 => ("raid1", Kind::Mirrored, false),
            Self::Raid01 => ("raid01", Kind::MirroredStripes, false),
            Self::Raid10 => ("raid10", Kind::StripedMirrors, false),
            Self::Raid3 => ("raid3", Kind::Interleaved, false),
            Self::Raid4 => ("raid4", Kind::Rows { parities: 1, dedicated: true }, false),
            Self::Raid5 => ("raid5", rows(1), false),
            Self::Raid6 => ("raid6", rows(2), false),
            Self::Raid30 => ("raid30", Kind::Interleaved, true),
            Self::Raid50 => ("raid50", rows(1), true),
            Self::Raid60 => ("raid60", rows(2), true),
            Self::RaidZ1 => ("raidz1", Kind::Records { parities: 1 }, false),
            Self::RaidZ2 => ("raidz2", Kind::Records { parities: 2 }, false),
            Self::RaidZ3 => ("raidz3", Kind::Records { parities: 3 }, false),
        }
    }

    /// The level of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Its name in files and options.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// How it stores data and redundancy.
    pub const fn kind(self) -> Kind {
        self.row().1
    }

    /// Whether its members form groups, each with parity of its own.
    pub const fn has_groups(self) -> bool {
        self.row().2
    }

    /// Members of a group that may be missing without data loss, of a level with parity.
    pub const fn parities(self) -> Option<u8> {
        match self.kind() {
            Kind::Rows { parities, .. } | Kind::Records { parities } => Some(parities),
            Kind::Interleaved => Some(1),
            _ => None,
        }
    }

    /// The fewest members of each group, with this number of copies.
    pub fn least(self, copies: u16) -> u16 {
        match self.kind() {
            Kind::Concatenated | Kind::Striped => 1,
            Kind::Mirrored => 2,
            Kind::MirroredStripes | Kind::StripedMirrors => copies.max(2),
            Kind::Interleaved => 3,
            Kind::Rows { parities, .. } => u16::from(parities) + 2,
            Kind::Records { parities } => u16::from(parities) + 1,
        }
    }

    /// Whether the level has a feature.
    pub fn uses(self, what: Uses) -> bool {
        use Kind::{Concatenated, Mirrored, MirroredStripes, Records, Rows, Striped, StripedMirrors};
        let kind = self.kind();
        let rows = matches!(kind, Rows { .. });
        let records = matches!(kind, Records { .. });
        let is_redundant = !matches!(kind, Concatenated | Striped);
        match what {
            Uses::StripeUnit => rows || matches!(kind, Striped | MirroredStripes | StripedMirrors),
            Uses::CopyCount => matches!(kind, MirroredStripes | StripedMirrors),
            Uses::Groups => self.has_groups(),
            Uses::Layout => rows || kind == StripedMirrors,
            Uses::Copies => matches!(kind, Mirrored | MirroredStripes | StripedMirrors),
            Uses::Rows => rows,
            Uses::Granule => rows || records,
            Uses::Parity => self.parities().is_some(),
            Uses::Records => records,
            Uses::Redundancy => is_redundant,
            Uses::WriteHole => is_redundant && !records,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_level() {
        for level in LevelName::ALL {
            assert_eq!(LevelName::of(level.name()), Some(level));
            assert_eq!(level.parities().is_some(), level.uses(Uses::Parity));
            assert!(!level.has_groups() || level.uses(Uses::Parity), "{level:?}");
        }
        assert_eq!(LevelName::of("raid7"), None);
    }
}
