//! Recordings: where a fed host's I/Os come from when they are too many for a list.
//!
//! A run opens the recording of its setup and takes one I/O after the other, as its host has room for them. Whoever drives
//! the machines brings the recording; the core reads no file.
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

/// A recording that can be opened as often as there are runs.
pub trait Recording: fmt::Debug + Send + Sync {
    /// Begins at its first I/O.
    ///
    /// # Errors
    /// Why it cannot be read, for people.
    fn open(&self) -> Result<Box<dyn Recorder>, String>;
}

/// A recording that is being read.
pub trait Recorder: Send {
    /// The next I/O; none at the end.
    ///
    /// # Errors
    /// Why it cannot be read or fed, for people, with its place.
    fn next(&mut self) -> Result<Option<Recorded>, String>;

    /// Requests so far that the model has no command for (discards).
    fn left_out(&self) -> u64;
}
