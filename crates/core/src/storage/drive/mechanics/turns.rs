//! Turns of the platter that a drive has lost, counted.

/// What the scatter of the arm's movements and writes of parts of physical sectors have cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Turns {
    /// Movements subject to scatter.
    pub movements: u64,
    /// How many of them made the first sector come a revolution later than planned.
    pub missed: u64,
    /// Writes to the media that covered a physical sector in part, and took a turn or two for that.
    pub partial_writes: u64,
}

impl Turns {
    /// The sum of those of two drives, or of two periods.
    #[must_use]
    pub fn and(self, other: Turns) -> Turns {
        Turns {
            movements: self.movements + other.movements,
            missed: self.missed + other.missed,
            partial_writes: self.partial_writes + other.partial_writes,
        }
    }

    /// The difference to an earlier value of the same drives.
    #[must_use]
    pub fn since(self, before: Turns) -> Turns {
        Turns {
            movements: self.movements - before.movements,
            missed: self.missed - before.missed,
            partial_writes: self.partial_writes - before.partial_writes,
        }
    }
}
