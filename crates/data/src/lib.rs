//! Data operations executed: what the core emits about data, applied to data.
//!
//! The core's targets carry no bytes. They emit the changes of data as a stream of operations
//! ([`DataOp`](drivelab_core::data::DataOp)), and an [`Executor`] executes it: it stores the buffers of
//! commands, what each drive has accepted, which of that is on the media, and the contents of the segments of
//! the drives' buffers. It is generic over the representation of a sector, a [`Cell`]:
//!
//! - [`Stamp`]: eight bytes that identify the write that put them there. A checker needs no more, and parity
//!   of stamps is computed like parity of bytes.
//! - [`Bytes`]: the 512 bytes themselves, for an emulator.
//!
//! Both kinds agree: for buffers without given data ([`Executor::write`]) the first eight bytes of a sector
//! of [`Bytes`] are the [`Stamp`] of that sector, everywhere and at any time.
//!
//! - [`executor`] takes the stream. A read's data are frozen when they leave the drive; a power cut keeps
//!   exactly what was persisted.
//! - [`buffers`]: the data of commands, as sums that are evaluated when they are read; [`words`]: what
//!   sectors of an array's metadata record. Both are dropped when they are no longer needed.
//! - [`media`] and [`segments`]: the drives; [`platter`]: media stored in a file. [`contents`] gives what a
//!   read of any address of an array would find there, a missing member's data computed from the others';
//!   [`consistent`] checks whether members are consistent.
//! - [`recovery`]: what an array does about its members after a power cut, by its consistency policy.
//!
//! What never lives here: which version a read may deliver (that is the checker's, in `drivelab-simulate`),
//! files, threads, clocks. Start reading at [`executor`].
//!
//! # Example
//! A mirror of two drives with 512 bytes per sector. The power is cut after the write, and each member has
//! the data.
//! ```
//! use drivelab_core::data::DataOp;
//! use drivelab_data::{Bytes, Executor};
//! use drivelab_units::{Instant, Lba, Sectors};
//!
//! let mut executor: Executor<Bytes> = Executor::new([0, 0].into_iter());
//! let (now, first, count) = (Instant::ZERO, Lba::new(8), Sectors::new(1));
//! executor.write_data(1, 8, &[Bytes::from([0xa5; 512])]);
//! for member in [0, 1] {
//!     executor.apply(now, DataOp::Accept { write: 1, member, first, count })?;
//!     executor.apply(now, DataOp::Persist { write: 1, member, first, count })?;
//! }
//! executor.cut_power();
//! assert_eq!(executor.media().read(1, 8, 1), [Bytes::from([0xa5; 512])]);
//! # Ok::<(), drivelab_data::Fault>(())
//! ```
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod buffers;
pub mod cell;
pub mod consistent;
pub mod contents;
pub mod executor;
pub mod map;
pub mod media;
pub mod platter;
pub mod power;
pub mod recovery;
pub mod segments;
pub mod sparse;
pub mod stamp;
pub mod words;

pub use buffers::Buffers;
pub use cell::{Bytes, Cell, SECTOR, Stamp};
pub use contents::Contents;
pub use executor::{Executor, Fault};
pub use media::Media;
pub use platter::Platter;
pub use recovery::{Cut, Nothing, PolicyRecovery, Recovery, Resync};
