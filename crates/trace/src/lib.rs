//! Traces of I/O requests: readers and writers of public formats, one file for each, over `Read` and `Write`.
//!
//! What lives here: from a stream of bytes to requests and back, with the line in every error; what is counted of a trace
//! ([`survey`]) and how one is reshaped ([`shape`]). What never does: a file, a clock, a drive. Start reading at [`record`],
//! then [`reader`].
pub mod check;
pub mod compression;
pub mod copy;
pub mod detect;
pub mod devices;
pub mod error;
pub mod format;
pub mod formats;
pub mod lines;
pub mod merge;
pub mod reader;
pub mod record;
pub mod shape;
pub mod sort;
pub mod survey;
pub mod text;
pub mod validation;
pub mod writer;

pub use check::Problem;
pub use error::TraceError;
pub use format::Format;
pub use lines::Fault;
pub use reader::{Options, Reader, Records};
pub use record::{Attributes, Clock, Kind, Record};
pub use validation::Measured;
pub use writer::Writer;
