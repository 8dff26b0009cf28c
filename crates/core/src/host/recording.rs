//! Recordings: the source of a fed host's I/Os when they are too many for a list.
//!
//! A run opens the recording of its setup and takes one I/O after the other, as its host has room for them.
//! Whoever drives the machines supplies the recording; the core reads no file.
use super::feed::FedIo;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;
use drivelab_units::Span;

/// An I/O of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The I/O, with the instant at which it was issued.
    pub io: FedIo,
    /// From the request to its completion when it was recorded, where the recording has it.
    pub response: Option<Span>,
}

/// A recording that can be opened once for each run.
pub trait Recording: fmt::Debug + Send + Sync {
    /// Opens it at its first I/O.
    ///
    /// # Errors
    /// Why it cannot be read, in words for users.
    fn open(&self) -> Result<Box<dyn Recorder>, String>;
}

/// A recording that is being read.
pub trait Recorder: Send {
    /// The next I/O; `None` at the end.
    ///
    /// # Errors
    /// Why it cannot be read or fed, in words for users, with the position.
    fn next(&mut self) -> Result<Option<Recorded>, String>;

    /// Requests so far for which the model has no command (discards).
    fn left_out(&self) -> u64;
}
