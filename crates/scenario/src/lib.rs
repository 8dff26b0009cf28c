//! From scenario text to valid parameters.
//!
//! Lives here: what was typed (`raw`), its meaning (`check`), the step between them, the catalogue's files,
//! and the errors, each with its line, its column and a remedy, all of them at once.
//!
//! What never lives here: physics, a clock, a run, a file system. This room only builds what `drivelab-core` takes.
//!
//! Start reading at the declarations in `raw/scenario.rs`: they define the file format, and reader, JSON
//! Schema and `docs/reference/keys-*.md` are all generated from them. Then [`plan`].
pub mod catalogue;
mod check;
mod fio;
mod fio_trace;
mod hash;
pub mod keys;
mod plan;
mod raw;
mod reference;
mod schema;
mod sweep;
pub mod text;

pub use check::resolve::{Loader, NoFiles};
pub use check::trace::{RemapRequest, TraceFound, TraceRequest};
pub use keys::Mark;
pub use plan::{
    ArrayInForce, Assumed, Bounds, CachedWrites, Firmware, InForce, Plan, Point, Skipped, Source, plan,
    plan_served,
};
pub use reference::{drive_reference, reference_of, scenario_reference};
pub use schema::{drive_schema, file_schema, schema};
pub use sweep::POINTS_MAX;
pub use text::keyed::{KeyedFile, KeyedProblem};
pub use text::over::Override;
pub use text::problem::{Problem, Problems};
