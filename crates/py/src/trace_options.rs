//! How a trace is read and reshaped, as Python passes it: texts with their units.
use drivelab_trace::formats::columns::Columns;
use drivelab_trace::shape::{Remap, Shape};
use drivelab_trace::{Format, Options, TraceError};
use drivelab_units::{Given, key, parse};
use pyo3::prelude::*;

/// A dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReadOptions {
    format: Option<String>,
    columns: Option<String>,
    pub lenient: bool,
    read_flag: Option<u8>,
    time_unit: Option<String>,
    device_size: Option<String>,
    sort: bool,
}

fn option(text: String) -> TraceError {
    TraceError::Option(text)
}

fn bytes(name: &str, text: Option<&String>) -> Result<Option<u64>, TraceError> {
    let Some(text) = text else { return Ok(None) };
    let bytes = parse::bytes(text).map_err(|error| option(format!("{}: {error}", Given(name, text))))?;
    Ok(Some(bytes.get()))
}

fn span(name: &str, text: Option<&String>) -> Result<Option<u64>, TraceError> {
    let Some(text) = text else { return Ok(None) };
    let span = parse::span(text).map_err(|error| option(format!("{}: {error}", Given(name, text))))?;
    Ok(Some(span.as_ns()))
}

impl ReadOptions {
    /// The options, checked.
    pub fn parsed(&self) -> Result<Options, TraceError> {
        let named = |name: &String| Format::named(name).ok_or_else(|| TraceError::NoFormat(name.clone()));
        let unit_ns = match self.time_unit.as_deref() {
            None => None,
            Some("ns") => Some(1),
            Some("100ns") => Some(100),
            Some("us") => Some(1_000),
            Some("ms") => Some(1_000_000),
            Some("s") => Some(1_000_000_000),
            Some(other) => {
                let given = Given("trace.time_unit", other);
                return Err(option(format!("{given}: give one of ns, 100ns, us, ms and s")));
            }
        };
        if self.read_flag.is_some_and(|flag| flag > 1) {
            let what = key!("trace.read_flag");
            return Err(option(format!("{what}: give 0 or 1, whichever means a read")));
        }
        let among = self.format.as_deref().and_then(Format::family).unwrap_or(&[]);
        let format = self.format.as_ref().filter(|_| among.is_empty());
        Ok(Options {
            format: format.map(named).transpose()?,
            columns: self.columns.as_deref().map(Columns::parse).transpose()?,
            among,
            is_lenient: self.lenient,
            read_flag: self.read_flag,
            unit_ns,
            device_bytes: bytes("trace.device_size", self.device_size.as_ref())?,
            is_sorted: self.sort,
        })
    }
}

/// A dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ShapeOptions {
    device: Option<String>,
    skip: u64,
    count: Option<u64>,
    from: Option<String>,
    until: Option<String>,
    scale_time: Option<String>,
    remap: Option<String>,
    capacity: Option<String>,
    of: Option<String>,
    pub merge: Option<String>,
    pub gzip: bool,
}

impl ShapeOptions {
    /// The options, checked.
    pub fn parsed(&self) -> Result<Shape, TraceError> {
        let (to, of) =
            (bytes("trace.capacity", self.capacity.as_ref())?, bytes("trace.of", self.of.as_ref())?);
        let (capacity, old) = (key!("trace.capacity"), key!("trace.of"));
        let (wrap, scale) = (key!("trace.remap", "wrap"), key!("trace.remap", "scale"));
        let remap = match (self.remap.as_deref(), to, of) {
            (None, None, None) => None,
            (Some("wrap"), Some(to_bytes), None) => Some(Remap::Wrap { to_bytes }),
            (Some("scale"), Some(to_bytes), Some(from_bytes)) => Some(Remap::Scale { from_bytes, to_bytes }),
            (Some("wrap"), ..) => {
                return Err(option(format!("{wrap} takes {capacity} and nothing else")));
            }
            (Some("scale"), ..) => {
                return Err(option(format!(
                    "{scale} takes {capacity}, the new size, and {old}, the old one"
                )));
            }
            (None, ..) => {
                return Err(option(format!("{capacity} and {old} go with {wrap} or {scale}")));
            }
            (Some(other), ..) => {
                return Err(option(format!("{}: give wrap or scale", Given("trace.remap", other))));
            }
        };
        let from_ns = span("trace.from", self.from.as_ref())?.unwrap_or(0);
        let until_ns = span("trace.until", self.until.as_ref())?;
        if until_ns.is_some_and(|until| until <= from_ns) {
            let (until, from) = (key!("trace.until"), key!("trace.from"));
            return Err(option(format!("{until} must be later than {from}")));
        }
        Ok(Shape {
            device: self.device.clone(),
            skip: self.skip,
            count: self.count,
            from_ns,
            until_ns,
            scale_time: ratio(self.scale_time.as_deref().unwrap_or("1"))?,
            remap,
        })
    }
}

/// A decimal number as a ratio.
fn ratio(text: &str) -> Result<(u64, u64), TraceError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction}");
    let is_plain = fraction.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let found = digits.parse().ok().filter(|_| is_plain);
    let numerator = found.ok_or_else(|| {
        let given = Given("trace.scale_time", text);
        option(format!("{given}: give a factor such as 2 or 0.5, with nine decimals at most"))
    })?;
    Ok((numerator, 10u64.pow(fraction.len() as u32)))
}
