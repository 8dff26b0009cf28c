//! Rows as columns: a log of many commands takes a hundred bytes per command in Python, instead of a
//! dictionary each.
//!
//! The keys are those of [`Row`]. Integers are stored as differences from the minimum of their column, in as few
//! bytes as the largest difference needs; words as indices into a list of words. `drivelab.report.commands` reads them.
use drivelab_core::Breakdown;
use drivelab_record::{Getter, Parts, Row};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// A tuple that begins with the name of its kind, followed by its numbers and what else the kind has.
type Column<'py> = PyResult<Bound<'py, PyAny>>;

/// The rows in Python: their number, and the table of their columns. It leaves out the lists of ids, which only
/// short logs have.
pub fn columns<'py, R: Row>(py: Python<'py>, rows: &[R]) -> PyResult<(usize, Bound<'py, PyAny>)> {
    let fields = PyList::empty(py);
    for (key, getter) in R::columns() {
        let column = match getter {
            Getter::Integer(get) => integers(py, rows.iter().map(get)),
            Getter::Signed(get) => integers(py, rows.iter().map(get)),
            Getter::Flag(get) => column(py, "flags", rows.iter().map(|row| Some(get(row).into())), None),
            Getter::Word(get) => words(py, rows.iter().map(get)),
            Getter::Parts(get) => parts(py, rows.iter().map(get)),
            Getter::Ids(_) => continue,
        };
        fields.append((key, column?))?;
    }
    Ok((rows.len(), column(py, "table", rows.iter().map(|_| Some(0)), Some(fields))?))
}

fn integers<'py, I: Into<i128>>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<I>> + Clone,
) -> Column<'py> {
    column(py, "integers", values.map(|value| value.map(Into::into)), None)
}

fn words<'py>(py: Python<'py>, values: impl Iterator<Item = &'static str>) -> Column<'py> {
    let mut words = Vec::new();
    let mut numbers = Vec::new();
    for value in values {
        let known = words.iter().position(|word| *word == value);
        numbers.push(Some(known.unwrap_or(words.len()) as i128));
        if known.is_none() {
            words.push(value);
        }
    }
    column(py, "words", numbers.into_iter(), Some(PyList::new(py, words)?))
}

/// A table within the rows.
fn parts<'py>(py: Python<'py>, values: impl Iterator<Item = Option<Parts>> + Clone) -> Column<'py> {
    let fields = PyList::empty(py);
    for (place, key) in Breakdown::PARTS.into_iter().enumerate() {
        let part = values.clone().map(|parts| parts.map(|parts| parts.values()[place]));
        fields.append((key, integers(py, part)?))?;
    }
    column(py, "table", values.map(|parts| parts.map(|_| 0)), Some(fields))
}

/// A column with these numbers, one for each row.
fn column<'py>(
    py: Python<'py>,
    kind: &str,
    values: impl Iterator<Item = Option<i128>> + Clone,
    more: Option<Bound<'py, PyList>>,
) -> Column<'py> {
    match (pack(py, values)?, more) {
        (None, _) => ("nothing",).into_bound_py_any(py),
        (Some(packed), None) => (kind, packed).into_bound_py_any(py),
        (Some(packed), Some(more)) => (kind, packed, more).into_bound_py_any(py),
    }
}

/// A base, whether some row has no value, bytes per number (0, 1, 2, 4 or 8) and the numbers. The base is to be added
/// to each number. If some row has no value, it is one below the minimum: 0 stands for none. With 0 bytes, every row
/// has the value of the base.
type Packed<'py> = (i128, bool, usize, Bound<'py, PyBytes>);

/// Integers in as few bytes each as they need; `None` if no row has a value.
fn pack<'py>(
    py: Python<'py>,
    values: impl Iterator<Item = Option<i128>> + Clone,
) -> PyResult<Option<Packed<'py>>> {
    let present = values.clone().flatten();
    let (Some(least), Some(most)) = (present.clone().min(), present.max()) else { return Ok(None) };
    let has_none = values.clone().any(|value| value.is_none());
    let base = least - i128::from(has_none);
    let width = match u64::try_from(most - base) {
        Ok(0) => 0,
        Ok(1..=0xff) => 1,
        Ok(0x100..=0xffff) => 2,
        Ok(0x1_0000..=0xffff_ffff) => 4,
        Ok(_) => 8,
        Err(_) => return Err(PyValueError::new_err("a column's integers lie too far apart")),
    };
    let mut bytes = Vec::new();
    for value in values {
        let number = value.map_or(0, |value| value - base) as u64;
        match width {
            0 => {}
            1 => bytes.push(number as u8),
            2 => bytes.extend_from_slice(&(number as u16).to_ne_bytes()),
            4 => bytes.extend_from_slice(&(number as u32).to_ne_bytes()),
            _ => bytes.extend_from_slice(&number.to_ne_bytes()),
        }
    }
    Ok(Some((base, has_none, width, PyBytes::new(py, &bytes))))
}
