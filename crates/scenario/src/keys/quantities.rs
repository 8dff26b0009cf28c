//! Numbers and quantities: how each unit type of the project is read and described.
use super::kind::Kind;
use super::read::{Read, wrong_type};
use crate::text::problem::Log;
use crate::text::suggest;
use crate::text::tree::{Node, Value};
use drivelab_units::{Angle, Bytes, QuantityError, Rate, Rpm, SECTOR_BYTES, Sectors, Share, Span, parse};
use std::fmt::Write;

/// Reads a quantity; `units` are those that exist, for "did you mean".
fn quantity<T>(
    node: &Node,
    kind: &Kind,
    log: &mut Log,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> Option<T> {
    let Kind::Quantity { units, example, .. } = kind else { return None };
    let usual = example.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    // A bare whole number of data is most often one of bytes.
    let unit = |text: &str| {
        if units.split([',', ' ']).any(|unit| unit == "B") && !text.contains('.') { "B" } else { usual }
    };
    let with_unit = |text: &str| format!("write \"{text}{}\"; known units: {units}", unit(text));
    let text = match &node.value {
        Value::Text(text) => text,
        Value::Integer(number) if *number >= 0 => {
            log.fault(node.place, "the unit is missing", with_unit(&number.to_string()));
            return None;
        }
        Value::Decimal(number) => {
            log.fault(node.place, "the unit is missing", with_unit(number));
            return None;
        }
        _ => {
            wrong_type(node, kind, log);
            return None;
        }
    };
    let error = match parse(text) {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    let typed = text.trim();
    let (message, remedy) = match error {
        QuantityError::NoUnit { .. } => ("the unit is missing".to_owned(), with_unit(typed)),
        QuantityError::UnknownUnit { .. } => {
            let wrong =
                typed.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_')).trim();
            let known: Vec<&str> = units.split([',', ' ']).filter(|unit| unit.len() > 1).collect();
            let near = suggest::nearest(wrong, known);
            let hint = near.first().map_or(String::new(), |near| format!("did you mean \"{near}\"? "));
            (format!("unknown unit \"{wrong}\""), format!("{hint}known units: {units}"))
        }
        error => {
            let all = error.to_string();
            let (message, remedy) = all.split_once("; ").unwrap_or((all.as_str(), ""));
            let remedy =
                if remedy.is_empty() { format!("write {}", kind.words()) } else { remedy.to_owned() };
            (message.to_owned(), remedy)
        }
    };
    log.fault(node.place, message, remedy);
    None
}

macro_rules! quantities {
    ($( $type:ty, $what:literal, $units:literal, $example:literal, $parse:path, |$v:ident| $step:expr; )+) => { $(
        impl Read for $type {
            fn kind() -> Kind {
                Kind::Quantity { what: $what, units: $units, example: $example }
            }

            fn read(node: &Node, log: &mut Log) -> Option<Self> {
                quantity(node, &Self::kind(), log, $parse)
            }

            fn write(&self, out: &mut String) {
                let $v = self;
                let _ = write!(out, "{}", $step);
            }
        }
    )+ };
}

quantities! {
    Span, "a time", "ns, us, ms, s, min, h, d", "8.5ms", span, |v| v.as_ns();
    Bytes, "an amount of data", "KiB, MiB, GiB, TiB (1024), k, m, g (1024 as in fio), kB, MB, GB, TB (1000), B", "4KiB", bytes, |v| v.get();
    Rate, "a data rate", "B/s, kB/s, MB/s, GB/s (1000), KiB/s, MiB/s, GiB/s (1024)", "150MB/s", rate, |v| v.bytes_per_s();
    Rpm, "a spindle speed", "rpm", "7200rpm", parse::rpm, |v| v.milli();
    Angle, "an angle", "rev, deg", "0.24rev", parse::angle, |v| v.turn_bits();
    SignedSpan, "a time", "ns, us, ms, s, min, h, d", "0.4ms", signed_span, |v| v.0;
    Extent, "an amount of data", "sectors (512 bytes), B, KiB, MiB, GiB, TiB (1024), kB, MB, GB, TB (1000)", "250GB", extent, |v| v.0.get();
    Length, "a length", "mm, in", "46.5mm", length, |v| v.0;
    LinearDensity, "a linear density", "kBPI (thousand bits per inch)", "813kBPI", kbpi, |v| v.0;
    TrackDensity, "a track density", "kTPI (thousand tracks per inch)", "145kTPI", ktpi, |v| v.0;
}

/// No time in a scenario is longer: two years.
const SPAN_MAX: u64 = 2 * 366 * 86_400 * 1_000_000_000;
/// No amount of data is larger: an exbibyte.
const BYTES_MAX: u64 = 1 << 60;

fn span(text: &str) -> Result<Span, QuantityError> {
    parse::span(text)
        .and_then(|span| if span.as_ns() > SPAN_MAX { Err(QuantityError::TooLarge) } else { Ok(span) })
}

fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    parse::bytes(text)
        .and_then(|bytes| if bytes.get() > BYTES_MAX { Err(QuantityError::TooLarge) } else { Ok(bytes) })
}

fn rate(text: &str) -> Result<Rate, QuantityError> {
    parse::rate(text).and_then(|rate| match rate.bytes_per_s() {
        0..1_000 => Err(QuantityError::Zero),
        1_000..=1_000_000_000_000 => Ok(rate),
        _ => Err(QuantityError::TooLarge),
    })
}

/// Nanoseconds that may be less than none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedSpan(pub i64);

fn signed_span(text: &str) -> Result<SignedSpan, QuantityError> {
    let text = text.trim();
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    // A settling time is at most some milliseconds: a second is absurd.
    match span(rest)?.as_ns() {
        ns @ 0..=1_000_000_000 => Ok(SignedSpan(sign * ns as i64)),
        _ => Err(QuantityError::TooLarge),
    }
}

/// Whole sectors, written as sectors or as an amount of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent(pub Sectors);

fn extent(text: &str) -> Result<Extent, QuantityError> {
    let text = text.trim();
    if let Some(count) = text.strip_suffix("sectors").or_else(|| text.strip_suffix("sector")) {
        let digits: String = count.trim().chars().filter(|c| *c != '_').collect();
        return match digits.parse::<u64>() {
            Ok(count) if count <= BYTES_MAX / SECTOR_BYTES => Ok(Extent(Sectors::new(count))),
            Ok(_) => Err(QuantityError::TooLarge),
            Err(_) if digits.starts_with('-') => Err(QuantityError::Negative),
            Err(_) => Err(QuantityError::NoNumber { example: "488397168 sectors" }),
        };
    }
    // A data sheet's "250GB" is a round figure: what does not fill a sector is left off.
    Ok(Extent(Sectors::new(bytes(text)?.get() / SECTOR_BYTES)))
}

/// In micrometres.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Length(pub u64);

fn length(text: &str) -> Result<Length, QuantityError> {
    let text = text.trim();
    let (number, scale) = match (text.strip_suffix("mm"), text.strip_suffix("in")) {
        (Some(number), _) => (number, 1_000),
        (_, Some(number)) => (number, 25_400),
        _ => return Err(unit_error(text, "mm, in", "46.5mm")),
    };
    thousandths(number, "46.5mm").map(|thousandths| Length(thousandths * scale / 1_000))
}

/// Bits per inch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinearDensity(pub u64);

/// Tracks per inch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrackDensity(pub u64);

fn kbpi(text: &str) -> Result<LinearDensity, QuantityError> {
    density(text, "kBPI", "813kBPI").map(LinearDensity)
}

fn ktpi(text: &str) -> Result<TrackDensity, QuantityError> {
    density(text, "kTPI", "145kTPI").map(TrackDensity)
}

fn density(text: &str, unit: &'static str, example: &'static str) -> Result<u64, QuantityError> {
    match text.trim().strip_suffix(unit) {
        Some(number) => thousandths(number, example),
        None => Err(unit_error(text, unit, example)),
    }
}

fn unit_error(text: &str, known: &'static str, example: &'static str) -> QuantityError {
    match text.chars().last() {
        Some(c) if c.is_ascii_digit() => QuantityError::NoUnit { example },
        _ if text.chars().any(|c| c.is_ascii_digit()) => QuantityError::UnknownUnit { known },
        _ => QuantityError::NoNumber { example },
    }
}

/// A decimal number in thousandths; the time parser reads it, a millisecond being a thousandth of a second.
fn thousandths(number: &str, example: &'static str) -> Result<u64, QuantityError> {
    let read = parse::span(&format!("{}us", number.trim())).map_err(|error| match error {
        QuantityError::NoUnit { .. } | QuantityError::UnknownUnit { .. } => {
            QuantityError::NoNumber { example }
        }
        error => error,
    })?;
    match read.as_ns() {
        0 => Err(QuantityError::Zero),
        thousandths @ 1..=1_000_000_000_000 => Ok(thousandths),
        _ => Err(QuantityError::TooLarge),
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count<const LEAST: u64, const MOST: u64>(pub u64);

impl<const LEAST: u64, const MOST: u64> Read for Count<LEAST, MOST> {
    fn kind() -> Kind {
        Kind::Count { least: LEAST, most: MOST }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let number = match &node.value {
            Value::Integer(number) => *number,
            Value::Text(text) if text.trim().parse::<u64>().is_ok() => {
                let remedy = format!("leave the quotes out: {}", text.trim());
                log.fault(node.place, "a text where a whole number is wanted", remedy);
                return None;
            }
            _ => {
                wrong_type(node, &Self::kind(), log);
                return None;
            }
        };
        match u64::try_from(number) {
            Ok(count) if (LEAST..=MOST).contains(&count) => Some(Count(count)),
            _ => {
                let remedy = format!("write {}", Self::kind().words());
                log.fault(node.place, format!("{number} is out of range"), remedy);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
}

/// A share, written as a number of percent with or without its sign.
impl Read for Share {
    fn kind() -> Kind {
        Kind::Percent
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => format!("{number}%"),
            Value::Decimal(number) => format!("{number}%"),
            _ => {
                wrong_type(node, &Self::kind(), log);
                return None;
            }
        };
        let read = parse::share(&text);
        if read.is_err() {
            log.fault(node.place, "not a share of a whole", "write a percentage from \"0%\" to \"100%\"");
        }
        read.ok()
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.bits());
    }
}

/// A number with at most six decimals, in millionths, from `LEAST` to `MOST`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decimal<const LEAST: u64, const MOST: u64>(pub u64);

impl<const LEAST: u64, const MOST: u64> Read for Decimal<LEAST, MOST> {
    fn kind() -> Kind {
        Kind::Number { least: LEAST, most: MOST }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let text = match &node.value {
            Value::Integer(number) => number.to_string(),
            Value::Decimal(number) => number.clone(),
            _ => {
                wrong_type(node, &Self::kind(), log);
                return None;
            }
        };
        let number = text.parse::<f64>().unwrap_or(f64::NAN);
        if (LEAST as f64..=MOST as f64).contains(&number) {
            return Some(Decimal((number * 1e6 + 0.5) as u64));
        }
        log.fault(node.place, format!("{text} is out of range"), format!("write {}", Self::kind().words()));
        None
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
}
