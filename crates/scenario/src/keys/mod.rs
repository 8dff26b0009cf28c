//! The definition of a key: its name, its type, its description for people. One definition makes reader,
//! schema and reference.
//!
//! A section is declared once with [`section!`](crate::keys::section): the struct that holds the raw values,
//! the reader that fills it, and the description from which the JSON Schema and `docs/reference/keys-*.md` are written.
//! Rooms above this one declare their own files with it.
pub mod choices;
pub mod kind;
pub mod numbers;
pub mod quantities;
pub mod read;
pub mod section;

pub use choices::choices;
pub use kind::{Key, Kind, Section};
pub use read::{At, Mark, Read, Source};
pub use section::section;
