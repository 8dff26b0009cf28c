//! What a key is: its name, its type, its words for people. One definition makes reader, schema and reference.
//!
//! A section is declared once with [`section!`](crate::keys::section): the struct that holds what was typed, the reader
//! that fills it, and the description that the JSON Schema and `docs/keys-*.md` are written from.
pub mod choices;
pub mod kind;
pub mod numbers;
pub mod quantities;
pub mod read;
pub mod section;

pub(crate) use choices::choices;
pub use kind::{Key, Kind, Section};
pub use read::{At, Mark, Read, Source};
pub(crate) use section::section;
