//! The levels of an array with what their names say of them: which keys a form offers beside them.
use drivelab_core::storage::array::levels::{LevelName, Uses};
use serde::Serialize;

/// As many copies as a scenario has that does not say.
const COPIES: u16 = 2;
/// As many groups as a scenario has that does not say, where the level has groups.
const GROUPS: u16 = 2;

/// A level, and which keys it uses.
#[derive(Serialize)]
pub struct Level {
    name: &'static str,
    least_members: u16,
    stripe_unit: bool,
    layout: bool,
    /// Whether there are copies, or parity, from which a member can be rebuilt.
    redundancy: bool,
    /// Whether a power cut can leave these inconsistent.
    write_hole: bool,
}

/// All levels, in the order in which tables list them.
pub fn levels() -> Vec<Level> {
    let level = |level: LevelName| Level {
        name: level.name(),
        least_members: level.least(COPIES) * if level.has_groups() { GROUPS } else { 1 },
        stripe_unit: level.uses(Uses::StripeUnit),
        layout: level.uses(Uses::Layout),
        redundancy: level.uses(Uses::Redundancy),
        write_hole: level.uses(Uses::WriteHole),
    };
    LevelName::ALL.into_iter().map(level).collect()
}
