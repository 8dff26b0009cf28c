//! What needs a real device or serves one: the emulator, measurements, NBD. On systems that are no Unix,
//! `elsewhere.rs` stands in its place, with the same names.
pub mod crash;
pub mod emulate;
pub mod measure;
pub mod nbd;

use crate::errors::RunError;
use drivelab_emulate::EmulateError;
use drivelab_measure::MeasureError;
use pyo3::PyErr;

/// Why nothing can be served.
fn emulate_error(error: &EmulateError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// Why nothing could be measured.
fn measure_error(error: &MeasureError) -> PyErr {
    RunError::new_err(error.to_string())
}
