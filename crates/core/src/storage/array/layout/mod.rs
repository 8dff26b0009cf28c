//! Where the addresses of an array lie on its members.
//!
//! All numbers are sectors. A *piece* is a stretch of the array's addresses that lies in one run on each member that has
//! it; a *spot* is a place on a member. Members are named by their slot in the array, whatever drive has it.
mod births;
mod check;
mod copied;
mod error;
mod linear;
mod pages;
mod pool;
pub mod raidz;
pub mod reserved;
mod rows;

use super::params::{ArrayParams, Level};
use alloc::boxed::Box;
pub use check::name;
pub use copied::{Copied, Piece};
use drivelab_units::Sectors;
pub use error::LevelError;
pub use linear::Linear;
pub use pool::{RaidZ, Stretch};
pub use rows::{Row, Rows};

/// A place on a member.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spot {
    pub slot: u16,
    pub at: u64,
}

/// What a member holds somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// A copy of these addresses of the array.
    Data {
        first: u64,
        copy: u16,
    },
    Parity {
        which: u8,
    },
    /// Left over: no address of the array is there.
    Nothing,
}

pub enum Layout {
    Linear(Linear),
    Copied(Copied),
    Rows(Rows),
    RaidZ(Box<RaidZ>),
}

impl Layout {
    /// Lays an array out over members of these capacities.
    pub fn new(params: &ArrayParams, capacities: &[Sectors]) -> Result<Self, LevelError> {
        check::check(params, capacities)?;
        let members = &capacities[..usize::from(params.members)];
        let least = members.iter().min().map_or(0, |least| least.get());
        let start = reserved::sectors(params, least);
        let least = least - start;
        let (n, unit) = (u64::from(params.members), params.unit.get());
        let layout = match params.level {
            Level::Linear => Layout::Linear(Linear::new(members)),
            Level::Striped => Layout::Copied(Copied::striped(n, unit, least)),
            Level::Mirrored => Layout::Copied(Copied::mirrored(n, least).behind(start)),
            Level::MirroredStripes { copies } => {
                Layout::Copied(Copied::sets(n, copies.into(), unit, least).behind(start))
            }
            Level::StripedMirrors { copies, layout } => {
                Layout::Copied(Copied::spread(n, copies.into(), layout, unit, least).behind(start))
            }
            Level::Interleaved { groups } => {
                Layout::Rows(Rows::interleaved(n, groups.into(), unit, least).behind(start))
            }
            Level::Parity { parities, rotation, groups } => {
                Layout::Rows(Rows::new(n, groups.into(), parities, rotation, unit, least).behind(start))
            }
            Level::RaidZ { parities, record, fill_percent } => {
                let sector = params.parity.granule.get();
                let pool = RaidZ::new(n, parities, record.get(), fill_percent, sector, least);
                Layout::RaidZ(Box::new(pool.ok_or(LevelError::Pool { level: name(params.level) })?))
            }
        };
        check::check_spares(params, capacities, layout.used())?;
        Ok(layout)
    }

    /// Sectors of each member that the array uses; of a JBOD, of the largest.
    pub fn used(&self) -> Sectors {
        Sectors::new(match self {
            Layout::Linear(linear) => linear.used(),
            Layout::Copied(copied) => copied.used(),
            Layout::Rows(rows) => rows.used(),
            Layout::RaidZ(pool) => pool.used(),
        })
    }

    pub fn capacity(&self) -> Sectors {
        Sectors::new(match self {
            Layout::Linear(linear) => linear.capacity(),
            Layout::Copied(copied) => copied.capacity(),
            Layout::Rows(rows) => rows.capacity(),
            Layout::RaidZ(pool) => pool.capacity(),
        })
    }
}
