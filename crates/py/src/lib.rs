//! The Python module `drivelab._core`: what the package `drivelab` calls.
//!
//! Lives here: conversions between Python and Rust values, and the one map from our errors to Python's.
//!
//! What never lives here: logic. A rule that Python needs is written in a room below and called from here.
//!
//! Start reading at the module below: it lists everything that Python can see. Then [`run`].
mod catalogue;
mod columns;
mod convert;
#[cfg_attr(not(unix), path = "elsewhere.rs")]
mod devices;
mod durability;
mod errors;
mod files;
mod keyed;
mod levels;
mod places;
mod plan;
mod quantities;
mod recording;
mod replay;
mod run;
mod trace;
mod trace_options;

use pyo3::prelude::*;

/// The module as Python sees it.
#[pymodule]
mod _core {
    use super::convert::to_python;
    use pyo3::exceptions::PyValueError;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::catalogue::{base, entries, experiments, facts, kinds};
    #[pymodule_export]
    use super::devices::crash::CrashLog;
    #[pymodule_export]
    use super::devices::emulate::{
        Listener, Transcript, action_problem, check_clock, check_loop, emulate, left_out_of_emulation,
        loop_back, write_caches,
    };
    #[pymodule_export]
    use super::devices::measure::{measure, measure_fits};
    #[pymodule_export]
    use super::devices::nbd::{nbd_export, nbd_read};
    #[pymodule_export]
    use super::durability::{durability, durability_asked, durability_chunks, durability_value};
    #[pymodule_export]
    use super::keyed::{toml_problems, toml_values};
    #[pymodule_export]
    use super::levels::{PyFailedSets, level_lacks, levels};
    #[pymodule_export]
    use super::places::places;
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::quantities::{rate_bytes_per_s, size_bytes, span_ns};
    #[pymodule_export]
    use super::replay::replay;
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::trace::{trace_copy, trace_formats, trace_head, trace_info};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const MODEL_VERSION: u32 = drivelab_core::MODEL_VERSION;
    #[pymodule_export]
    const RECORD_VERSION: u32 = drivelab_record::RECORD_VERSION;
    #[pymodule_export]
    const GENERATOR: &str = drivelab_core::rng::GENERATOR;

    /// The values in ns and how often each came, of a histogram of a record. Raises ValueError.
    #[pyfunction]
    fn histogram(text: &str) -> PyResult<Vec<(u64, u64)>> {
        drivelab_record::counts_of_hdr_base64(text).map_err(PyValueError::new_err)
    }

    /// The JSON Schema of a scenario.
    #[pyfunction]
    fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        to_python(py, &drivelab_scenario::schema())
    }

    /// All keys of a scenario (`"scenario"`), of a drive file (`"drive"`) or of a question of durability (`"durability"`),
    /// section by section, as Markdown.
    #[pyfunction]
    fn reference(of: &str) -> PyResult<String> {
        match of {
            "scenario" => Ok(drivelab_scenario::scenario_reference()),
            "drive" => Ok(drivelab_scenario::drive_reference()),
            "durability" => Ok(drivelab_durability::asked::reference()),
            _ => Err(PyValueError::new_err(format!("there is no reference of {of}"))),
        }
    }

    /// The JSON Schema of a drive file.
    #[pyfunction]
    fn drive_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        to_python(py, &drivelab_scenario::drive_schema())
    }
}
