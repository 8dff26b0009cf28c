//! Units as types: instants and spans in nanoseconds, bytes, sectors, block addresses, angles and rates.
//!
//! What lives here: newtypes that cannot be mixed up, and the one parser for quantities that carry their unit
//! in text (`"8.5ms"`, `"4KiB"`, `"84.8MiB/s"`). What never does: floating point in the computation of a
//! stored value, clocks, anything about drives. Start reading at [`time`].
#![no_std]

#[cfg(test)]
extern crate std;

pub mod angle;
pub mod count;
pub mod data;
pub mod key;
pub mod parse;
pub mod rate;
pub mod time;

pub use angle::Angle;
pub use count::{Counted, counted};
pub use data::{Bytes, Lba, SECTOR_BYTES, Sectors};
pub use key::{Given, InFile};
pub use parse::{QuantityError, Unit};
pub use rate::{Frequency, Rate, Rpm, Share};
pub use time::{Instant, Span};
