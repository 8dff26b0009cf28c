//! Rows as columns: a log of many commands takes a hundred bytes per command in Python, instead of a
//! dictionary each.
//!
//! The keys of a row are defined in one place, where the row is: [`columns`] takes any `Serialize` whose rows
//! all have the same keys. Integers are stored as differences from the minimum of their column, in as few
//! bytes as the largest difference needs; words as indices into a list of words. `drivelab.commands` reads
//! them.
mod cell;

use cell::Cell;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde::Serialize;

/// The rows in Python: their number, and the column that [`Column::to_python`] makes of them.
pub fn columns<'py>(py: Python<'py>, rows: &[impl Serialize]) -> PyResult<(usize, Bound<'py, PyAny>)> {
    let mut column = Column::default();
    for row in rows {
        row.serialize(Cell(&mut column)).map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok((rows.len(), column.to_python(py)?))
}

/// The values of one key. Each kind holds one entry per row; the entry of a row without a value is a
/// placeholder.
#[derive(Default)]
struct Column {
    /// For each row, whether it has a value.
    there: Vec<bool>,
    kind: Kind,
}

#[derive(Default)]
enum Kind {
    /// No row has had a value yet.
    #[default]
    Nothing,
    Integers(Vec<u64>),
    /// The same with negative values, wrapped.
    Signed(Vec<i64>),
    Flags(Vec<u64>),
    Words {
        words: Vec<String>,
        at: Vec<u64>,
    },
    Table(Vec<(&'static str, Column)>),
}

impl Column {
    /// Adds a row without a value.
    fn push_none(&mut self) {
        self.there.push(false);
        match &mut self.kind {
            Kind::Nothing => {}
            Kind::Integers(values) | Kind::Flags(values) | Kind::Words { at: values, .. } => values.push(0),
            Kind::Signed(values) => values.push(0),
            Kind::Table(fields) => fields.iter_mut().for_each(|(_, column)| column.push_none()),
        }
    }

    /// Adds a row with a value. The first one decides the kind: `kind` makes it for the number of rows before
    /// it.
    fn push(&mut self, kind: impl FnOnce(usize) -> Kind) -> &mut Kind {
        if matches!(self.kind, Kind::Nothing) {
            self.kind = kind(self.there.len());
        }
        self.there.push(true);
        &mut self.kind
    }

    /// A column without values for the rows that other columns already have.
    fn without(rows: usize) -> Self {
        Column { there: vec![false; rows], kind: Kind::Nothing }
    }

    /// A tuple that begins with the name of its kind, followed by its contents.
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let packed = |values: &[u64], offset| Packed::new(values, &self.there, offset)?.to_python(py);
        match &self.kind {
            Kind::Nothing => ("nothing",).into_bound_py_any(py),
            Kind::Integers(values) => ("integers", packed(values, 0)?).into_bound_py_any(py),
            Kind::Signed(values) => {
                // The sign bit is flipped, so that they sort as unsigned integers.
                let turned: Vec<u64> = values.iter().map(|value| value.cast_unsigned() ^ SIGN).collect();
                ("integers", packed(&turned, i128::from(i64::MIN))?).into_bound_py_any(py)
            }
            Kind::Flags(values) => ("flags", packed(values, 0)?).into_bound_py_any(py),
            Kind::Words { words, at } => ("words", packed(at, 0)?, words).into_bound_py_any(py),
            Kind::Table(fields) => {
                let list = PyList::empty(py);
                for (name, column) in fields {
                    list.append((name, column.to_python(py)?))?;
                }
                ("table", packed(&vec![0; self.there.len()], 0)?, list).into_bound_py_any(py)
            }
        }
    }
}

const SIGN: u64 = 1 << 63;

/// Integers in as few bytes each as they need.
struct Packed {
    /// To be added to each number. If some row has no value, the base is one below the minimum: 0 stands for
    /// none.
    base: i128,
    has_none: bool,
    /// Bytes per number: 0, 1, 2, 4 or 8. With 0, every row has the value of the base.
    width: usize,
    bytes: Vec<u8>,
}

impl Packed {
    /// `offset` is added to every value.
    fn new(values: &[u64], there: &[bool], offset: i128) -> PyResult<Self> {
        let present = || values.iter().zip(there).filter(|(_, there)| **there).map(|(value, _)| *value);
        let (least, most) = (present().min().unwrap_or(0), present().max().unwrap_or(0));
        let has_none = there.contains(&false);
        let base = i128::from(least) - i128::from(has_none);
        let number = |value: u64| u64::try_from(i128::from(value) - base);
        let largest =
            number(most).map_err(|_| PyValueError::new_err("a column's integers lie too far apart"))?;
        let width = match largest {
            0 => 0,
            1..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        let mut bytes = Vec::with_capacity(width * values.len());
        for (&value, &there) in values.iter().zip(there) {
            // The placeholder of a row without a value may be any number.
            let number = if there { number(value).unwrap_or(0) } else { 0 };
            match width {
                0 => {}
                1 => bytes.push(number as u8),
                2 => bytes.extend_from_slice(&(number as u16).to_ne_bytes()),
                4 => bytes.extend_from_slice(&(number as u32).to_ne_bytes()),
                _ => bytes.extend_from_slice(&number.to_ne_bytes()),
            }
        }
        Ok(Packed { base: base + offset, has_none, width, bytes })
    }

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.base, self.has_none, self.width, PyBytes::new(py, &self.bytes)).into_bound_py_any(py)
    }
}
