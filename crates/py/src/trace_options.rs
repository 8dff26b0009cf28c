//! How a trace is read and reshaped, as Python passes it: texts with their units.
use drivelab_trace::shape::{Remap, Shape};
use drivelab_trace::{Format, Options, TraceError};
use drivelab_units::parse;
use pyo3::prelude::*;

/// A dictionary with all of these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ReadOptions {
    format: Option<String>,
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
    let bytes = parse::bytes(text).map_err(|error| option(format!("{name} {text}: {error}")))?;
    Ok(Some(bytes.get()))
}

fn span(name: &str, text: Option<&String>) -> Result<Option<u64>, TraceError> {
    let Some(text) = text else { return Ok(None) };
    let span = parse::span(text).map_err(|error| option(format!("{name} {text}: {error}")))?;
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
                return Err(option(format!("--time-unit {other}: give one of ns, 100ns, us, ms and s")));
            }
        };
        if self.read_flag.is_some_and(|flag| flag > 1) {
            return Err(option("--read-flag: give 0 or 1, whichever means a read".to_owned()));
        }
        let among = self.format.as_deref().and_then(Format::family).unwrap_or(&[]);
        let format = self.format.as_ref().filter(|_| among.is_empty());
        Ok(Options {
            format: format.map(named).transpose()?,
            among,
            is_lenient: self.lenient,
            read_flag: self.read_flag,
            unit_ns,
            device_bytes: bytes("--device-size", self.device_size.as_ref())?,
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
        let (to, of) = (bytes("--capacity", self.capacity.as_ref())?, bytes("--of", self.of.as_ref())?);
        let remap = match (self.remap.as_deref(), to, of) {
            (None, None, None) => None,
            (Some("wrap"), Some(to_bytes), None) => Some(Remap::Wrap { to_bytes }),
            (Some("scale"), Some(to_bytes), Some(from_bytes)) => Some(Remap::Scale { from_bytes, to_bytes }),
            (Some("wrap"), ..) => {
                return Err(option("--remap wrap takes --capacity and nothing else".to_owned()));
            }
            (Some("scale"), ..) => {
                let text = "--remap scale takes --capacity, the new size, and --of, the old one";
                return Err(option(text.to_owned()));
            }
            (None, ..) => {
                return Err(option("--capacity and --of go with --remap wrap or --remap scale".to_owned()));
            }
            (Some(other), ..) => return Err(option(format!("--remap {other}: give wrap or scale"))),
        };
        let from_ns = span("--from", self.from.as_ref())?.unwrap_or(0);
        let until_ns = span("--until", self.until.as_ref())?;
        if until_ns.is_some_and(|until| until <= from_ns) {
            return Err(option("--until must be later than --from".to_owned()));
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
        option(format!("--scale-time {text}: give a factor such as 2 or 0.5, with nine decimals at most"))
    })?;
    Ok((numerator, 10u64.pow(fraction.len() as u32)))
}
