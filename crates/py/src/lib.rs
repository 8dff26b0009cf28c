//! The Python module `drivelab._core`: what the package `drivelab` calls.
//!
//! Lives here: conversions between Python and Rust values, and the one map from our errors to Python's.
//!
//! Never lives here: logic. A rule that Python needs is written in a room below and called from here.
//!
//! Start reading at the module function below: it lists everything that Python can see.

use pyo3::prelude::*;

/// The module as Python sees it.
#[pymodule]
mod _core {
    use super::*;

    /// The version of the workspace that this module was built from.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
