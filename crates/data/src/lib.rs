//! Data operations carried out: what the core says of data, done to data.
//!
//! The core's targets carry no bytes. They say what becomes of data as a stream of operations
//! ([`DataOp`](drivelab_core::data::DataOp)), and an [`Executor`] does that: it keeps the buffers of commands, what each
//! drive has accepted, what of it is on the media, and what segments of the drives' buffers hold. It is generic over what
//! stands for a sector, a [`Cell`]:
//!
//! - [`Stamp`]: eight bytes that tell which write put them there. A checker needs no more, and parity of stamps is
//!   computed like parity of bytes.
//! - [`Bytes`]: the 512 bytes themselves, for an emulator.
//!
//! Both kinds agree: with buffers that were not given any data ([`Executor::write`]) the first eight bytes of a sector of
//! [`Bytes`] are the [`Stamp`] of that sector, everywhere and at any time.
//!
//! - [`executor`] takes the stream. A read's data are frozen as they leave the drive; a power cut keeps exactly what was
//!   persisted.
//! - [`buffers`]: the data of commands, as sums that are computed when somebody looks; [`words`]: what sectors of an
//!   array's metadata say. Both end when nobody needs them any more.
//! - [`media`] and [`segments`]: the drives; [`platter`]: media that are kept in a file. [`contents`] says what a read of any address of an array would find there,
//!   a missing member's data computed from the others'; [`consistent`] whether members fit each other.
//! - [`recovery`]: what an array does about its members after a power cut, by its consistency policy.
//!
//! What never lives here: which version a read may deliver (that is the checker's, in `drivelab-simulate`), files, threads,
//! clocks. Start reading at [`executor`].
//!
//! # Example
//! A mirror of two drives with 512 bytes per sector. The power goes after the write, and each member has the data.
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
