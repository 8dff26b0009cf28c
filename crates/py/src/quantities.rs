//! Quantities as text: the one parser, for what Python reads itself. What is wrong with a text is a ValueError that says so.
use crate::errors::TooLargeError;
use drivelab_units::{Bytes, QuantityError, Rate, Span, parse};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn read<T>(found: Result<T, QuantityError>) -> PyResult<T> {
    found.map_err(|error| match error {
        QuantityError::TooLarge => TooLargeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    })
}

/// The nanoseconds of a length of time such as `2s`.
#[pyfunction]
pub fn span_ns(text: &str) -> PyResult<u64> {
    read(parse::span(text).map(Span::as_ns))
}

/// The bytes of an amount of data such as `256MiB`.
#[pyfunction]
pub fn size_bytes(text: &str) -> PyResult<u64> {
    read(parse::bytes(text).map(Bytes::get))
}

/// The bytes per second of a data rate such as `105MB/s`.
#[pyfunction]
pub fn rate_bytes_per_s(text: &str) -> PyResult<u64> {
    read(parse::rate(text).map(Rate::bytes_per_s))
}
