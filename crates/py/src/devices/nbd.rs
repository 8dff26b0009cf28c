//! The export at an NBD address, before anything is measured there.
use crate::convert::to_python;
use drivelab_nbd::{Address, Connection, NbdError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub fn failed(address: &str, error: &NbdError) -> PyErr {
    crate::errors::RunError::new_err(format!("{address}: {error}"))
}

pub fn open(address: &str) -> Result<Connection, NbdError> {
    Connection::open(&address.parse::<Address>()?, 1, Vec::new())
}

/// What the server at an address reports of the export: size, block sizes, features. Raises `RunError`.
#[pyfunction]
pub fn nbd_export<'py>(py: Python<'py>, address: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| open(address).map(|connection| connection.export().clone()));
    to_python(py, &found.map_err(|error| failed(address, &error))?)
}

/// The bytes of ranges (offset and length) of the device at an address, over one connection. Raises `RunError`.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python brings is converted for this call")]
pub fn nbd_read<'py>(
    py: Python<'py>,
    address: &str,
    ranges: Vec<(u64, u32)>,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let found: Result<Vec<_>, NbdError> = py.detach(|| {
        let mut connection = open(address)?;
        ranges.iter().map(|(offset, length)| connection.read(*offset, *length)).collect()
    });
    let found = found.map_err(|error| failed(address, &error))?;
    Ok(found.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
}
