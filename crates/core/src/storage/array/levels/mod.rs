//! RAID levels: where the addresses of an array lie on its members, and everything that depends on it.
//!
//! A level is a folder with one implementation of [`RaidLevel`]: [`linear`] (JBOD), [`copied`] (RAID 0, 1,
//! 01, 10), [`rows`] (RAID 3 to 6, 30 to 60), [`raidz`]. The array asks a level only what is in the trait;
//! [`Layout`] delegates each question to the level that it is. [`check`] has the rules of what can be built.
//!
//! All numbers are sectors. A *piece* is a stretch of the array's addresses that is contiguous on each member
//! that has it; a *spot* is a place on a member. Members are named by their slot in the array, whatever drive
//! is in it.
mod check;
pub(crate) mod copied;
mod error;
pub mod gf;
mod layout;
pub(crate) mod linear;
mod losses;
mod name;
mod raid_level;
pub mod raidz;
pub(crate) mod rows;

pub use super::background::WindowRange;
pub use super::members::{ALL, Spot};
pub use check::name;
pub use copied::{Copied, Piece};
pub use error::LevelError;
pub use layout::Layout;
pub use linear::Linear;
pub use name::{Kind, LevelName, Uses};
pub use raid_level::{ClaimRange, RaidLevel, Redundancy, SectorRole};
pub use raidz::RaidZ;
pub use rows::{Row, Rows};
