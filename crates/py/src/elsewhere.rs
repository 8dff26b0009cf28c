//! The module `devices` on systems that are no Unix: every name of it, each refused with the reason.
//!
//! The package refuses before it comes here, in the words of the verb that runs; this is what a caller of the extension
//! itself reads.
use crate::errors::RunError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

const WHY: &str = "a device is served and measured on Linux and macOS only: it takes sockets and files as Unix has \
                   them; run it there, or in WSL";

fn refused<T>() -> PyResult<T> {
    Err(RunError::new_err(WHY))
}

/// Functions of these names, which take whatever the real ones take.
macro_rules! refuse {
    ($($name:ident)*) => {$(
        /// Raises `RunError`.
        #[pyfunction]
        #[pyo3(signature = (*_arguments, **_named))]
        pub fn $name(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
            refused()
        }
    )*};
}

/// Classes of these names, which nobody can make an instance of.
macro_rules! refuse_class {
    ($($name:ident)*) => {$(
        /// Raises `RunError` where it is made.
        #[pyclass(frozen)]
        pub struct $name;

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (*_arguments, **_named))]
            fn new(_arguments: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
                refused()
            }
        }
    )*};
}

pub mod crash {
    use super::*;
    refuse_class! { CrashLog }
}

pub mod emulate {
    use super::*;
    refuse! { action_problem check_clock check_loop emulate left_out_of_emulation loop_back write_caches }
    refuse_class! { Listener Transcript }
}

pub mod measure {
    use super::*;
    refuse! { measure measure_fits }
}

pub mod nbd {
    use super::*;
    refuse! { nbd_export nbd_read }
}
