//! From scenario text to parameters that cannot be wrong.
//!
//! Lives here: what was typed (`Raw`), what it means (`Checked`), the step between them, the catalogue's files, and
//! the errors, each with its line, its column and a remedy, all of them at once.
//!
//! Never lives here: physics, a clock, a run. This room only builds what `drivelab-core` takes.
//!
//! Start reading at the raw types: they are the file format.
