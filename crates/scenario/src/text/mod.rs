//! The text layer: sources, places in them, problems with a snippet and a remedy, and the tree of values.
//!
//! Nothing in here knows a key of a scenario.
pub mod keyed;
pub mod over;
pub mod problem;
pub mod shorten;
pub mod suggest;
pub mod tree;
pub mod written;
