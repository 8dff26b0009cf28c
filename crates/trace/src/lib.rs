//! Traces of I/O requests: readers of public formats, one file for each.
//!
//! What traces here: from a stream of bytes to requests, with the line in every error. What never does: a file, a clock,
//! a drive. Start reading at [`validation`].
pub mod lines;
pub mod validation;

pub use lines::{Fault, TraceError};
pub use validation::Measured;
