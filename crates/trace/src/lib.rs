//! Traces of I/O requests: readers and writers of public formats, one file per format, over `Read` and `Write`.
//!
//! What lives here: parsing and writing requests, with the line number in every error; statistics of a trace
//! ([`survey`]); reshaping a trace ([`shape`]). What never does: files, clocks, drives. Start reading at [`record`],
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
