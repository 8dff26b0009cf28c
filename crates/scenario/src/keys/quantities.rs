//! Quantities: how each unit type of the project is read and described.
use super::kind::Kind;
use super::numbers::{is_fraction, tidy};
use super::read::{Read, wrong_type};
use crate::text::problem::Log;
use crate::text::suggest;
use crate::text::tree::{Node, Value};
use drivelab_units::{Angle, Bytes, QuantityError, Rate, Rpm, SECTOR_BYTES, Sectors, Span, counted, parse};
use std::fmt::Write;

/// Remedies for a wrongly written quantity.
struct Help<T> {
    /// Units that a bare number may have been meant in, the likeliest first.
    bare: &'static [&'static str],
    /// The minimum and the maximum, in words.
    range: &'static str,
    /// Whether a value that can be read is also valid: a suggestion must be.
    fits: fn(&T) -> bool,
}

impl<T> Help<T> {
    /// A bare number with the first unit that makes a valid value of it.
    fn with_unit(&self, text: &str, parse: &impl Fn(&str) -> Result<T, QuantityError>) -> Option<String> {
        let usable = |unit: &&&str| {
            // In bytes, what is no whole number of sectors was hardly meant.
            let whole = |count: u64| count.is_multiple_of(SECTOR_BYTES);
            if **unit == "B" && !text.parse().is_ok_and(whole) {
                return false;
            }
            parse(&format!("{text}{unit}")).is_ok_and(|value| (self.fits)(&value))
        };
        self.bare.iter().find(usable).map(|unit| format!("{text}{unit}"))
    }

    /// Whether a bare number was meant in bytes, as fio reads it, and is not a whole number of sectors.
    fn is_broken_sector(&self, text: &str) -> bool {
        let broken = |count: u64| count > SECTOR_BYTES && !count.is_multiple_of(SECTOR_BYTES);
        self.bare == ["B", "KiB"] && text.parse().is_ok_and(broken)
    }
}

/// Other names of units, and their names here.
const UNIT_ALIASES: [(&str, &str); 18] = [
    ("m", "min"),
    ("mins", "min"),
    ("minute", "min"),
    ("minutes", "min"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("S", "s"),
    ("usec", "us"),
    ("msec", "ms"),
    ("nsec", "ns"),
    ("hour", "h"),
    ("hours", "h"),
    ("H", "h"),
    ("day", "d"),
    ("days", "d"),
    ("D", "d"),
];

/// The message and remedy for an unknown unit.
fn other_unit(text: &str, units: &str) -> (String, String) {
    let number = text.trim_end_matches(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '_'));
    let wrong = text[number.len()..].trim();
    let known: Vec<&str> = units.split([',', ' ']).filter(|unit| !unit.is_empty()).collect();
    let alias = UNIT_ALIASES.iter().find(|(alias, unit)| *alias == wrong && known.contains(unit));
    let hint = match alias {
        Some(("m", unit)) => format!("write \"{number}{unit}\", as fio's m is minutes, or \"{number}ms\"; "),
        Some((_, unit)) => format!("write \"{number}{unit}\"; "),
        None => {
            let near = suggest::nearest(wrong, known.into_iter().filter(|unit| unit.len() > 1));
            near.first().map_or(String::new(), |near| format!("did you mean \"{near}\"? "))
        }
    };
    (format!("unknown unit \"{wrong}\""), format!("{hint}known units: {units}"))
}

/// Reads a quantity; the kind's units are the known ones, for "did you mean".
fn quantity<T>(
    node: &Node,
    kind: &Kind,
    log: &mut Log,
    help: &Help<T>,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> Option<T> {
    let Kind::Quantity { what, units, .. } = kind else { return None };
    let text = match &node.value {
        Value::Text(text) => text.trim().to_owned(),
        Value::Integer(number) if *number >= 0 => number.to_string(),
        // Rewritten without an exponent, which no quantity accepts.
        Value::Decimal(number) if number.contains(['e', 'E']) => {
            number.parse::<f64>().map_or(number.clone(), |plain| plain.to_string())
        }
        Value::Decimal(number) => number.clone(),
        _ => {
            wrong_type(node, kind, log);
            return None;
        }
    };
    let error = match parse(&text) {
        Ok(value) if matches!(node.value, Value::Text(_)) => return Some(value),
        Ok(_) => QuantityError::NoUnit { example: "" },
        Err(error) => error,
    };
    let example = format!("write {}", kind.words());
    let bounds = format!("write {what} from {}", help.range);
    let (message, remedy) = match error {
        QuantityError::NoUnit { .. } if help.is_broken_sector(&text) => {
            let near = Bytes::new(text.parse::<u64>().unwrap_or_default().next_multiple_of(SECTOR_BYTES));
            let message = format!("the unit is missing, and {text} B is no whole number of sectors");
            (message, format!("write a multiple of 512 bytes such as \"{near}\"; known units: {units}"))
        }
        QuantityError::NoUnit { .. } => match help.with_unit(&text, &parse) {
            Some(suggestion) => {
                ("the unit is missing".to_owned(), format!("write \"{suggestion}\"; known units: {units}"))
            }
            None if is_zero(&text) => ("must be more than zero".to_owned(), example),
            None => ("the unit is missing".to_owned(), format!("{example}; known units: {units}")),
        },
        QuantityError::UnknownUnit { .. } => other_unit(&text, units),
        QuantityError::TooLarge => ("too large".to_owned(), bounds),
        QuantityError::Zero if is_zero(&text) => ("must be more than zero".to_owned(), example),
        QuantityError::Zero => ("too small".to_owned(), bounds),
        QuantityError::NoNumber { .. } => ("not a number with a unit".to_owned(), example),
        error => {
            let all = error.to_string();
            let (message, remedy) = all.split_once("; ").unwrap_or((all.as_str(), ""));
            (message.to_owned(), if remedy.is_empty() { example } else { remedy.to_owned() })
        }
    };
    log.fault(node.place, message, remedy);
    None
}

/// Whether every digit of a number is zero.
fn is_zero(text: &str) -> bool {
    let mut digits = text.chars().filter(char::is_ascii_digit).peekable();
    digits.peek().is_some() && digits.all(|digit| digit == '0')
}

macro_rules! quantities {
    ($( $type:ty, $what:literal, $units:expr, $example:literal, $bare:expr, $range:literal, $fits:expr, $parse:path, |$v:ident| $step:expr; )+) => { $(
        impl Read for $type {
            fn kind() -> Kind {
                Kind::Quantity { what: $what, units: $units, example: $example }
            }

            fn read(node: &Node, log: &mut Log) -> Option<Self> {
                let help = Help { bare: $bare, range: $range, fits: $fits };
                quantity(node, &Self::kind(), log, &help, $parse)
            }

            fn write(&self, out: &mut String) {
                let $v = self;
                let _ = write!(out, "{}", $step);
            }
        }
    )+ };
}

const TIMES: &str = "ns, us, ms, s, min, h, d";
const EXTENTS: &str = "sectors (512 bytes), B, KiB, MiB, GiB, TiB (1024), kB, MB, GB, TB (1000)";
const RATES: &str = "B/s, kB/s, MB/s, GB/s (1000), KiB/s, MiB/s, GiB/s (1024)";
const SIZES: &str = "KiB, MiB, GiB, TiB (1024), k, m, g (1024 as in fio), kB, MB, GB, TB (1000), B";

quantities! {
    Span, "a time", TIMES, "8.5ms", &["ms"], "\"0s\" to \"732d\"", |_| true, span, |v| v.as_ns();
    Seconds, "a time", TIMES, "60s", &["s"], "\"0s\" to \"732d\"", |_| true, seconds, |v| v.0.as_ns();
    Pause, "a time", TIMES, "500us", &["us"], "\"0s\" to \"732d\"", |_| true, pause, |v| v.0.as_ns();
    Duration, "a time", TIMES, "60s", &["s"], "\"1ns\" to \"732d\"", |v: &Duration| !v.0.is_zero(), duration, |v| v.0.as_ns();
    Bytes, "an amount of data", SIZES, "4KiB", &["B", "KiB"], "\"512B\" to \"1GiB\"", whole_io, bytes, |v| v.get();
    Rate, "a data rate", RATES, "150MB/s", &["MB/s"], "\"1kB/s\" to \"1000GB/s\"", |_| true, rate, |v| v.bytes_per_s();
    Rpm, "a spindle speed", "rpm", "7200rpm", &["rpm"], "\"30rpm\" to \"300000rpm\"", |v: &Rpm| (30_000..=300_000_000).contains(&v.milli()), parse::rpm, |v| v.milli();
    Angle, "an angle", "rev, deg", "0.24rev", &["rev", "deg"], "\"0rev\" to \"0.999rev\"", |_| true, parse::angle, |v| v.turn_bits();
    SignedSpan, "a time", TIMES, "0.4ms", &["ms"], "\"-1s\" to \"1s\"", |_| true, signed_span, |v| v.0;
    Extent, "an amount of data", EXTENTS, "250GB", &["B", "GB"], "\"1 sector\" to \"1048576TiB\"", |v: &Extent| v.0.get() > 0, extent, |v| v.0.get();
    Offset, "an amount of data", EXTENTS, "250GB", &["B", "GB"], "\"0B\" to \"1048576TiB\"", |_| true, offset, |v| v.0.get();
    Length, "a length", "mm, in", "46.5mm", &["mm"], "\"0.001mm\" to \"1000000mm\"", |_| true, length, |v| v.0;
    LinearDensity, "a linear density", "kBPI (thousand bits per inch)", "813kBPI", &["kBPI"], "\"0.001kBPI\" to \"1000000kBPI\"", |_| true, kbpi, |v| v.0;
    TrackDensity, "a track density", "kTPI (thousand tracks per inch)", "145kTPI", &["kTPI"], "\"0.001kTPI\" to \"1000000kTPI\"", |_| true, ktpi, |v| v.0;
}

/// A time in the range of seconds: fio's `runtime`, which is in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seconds(pub Span);

/// The same where zero makes no sense; the key's reader checks that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Duration(pub Span);

/// A time in the range of microseconds: fio's `thinktime`, which is in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pause(pub Span);

fn pause(text: &str) -> Result<Pause, QuantityError> {
    span(text).map(Pause)
}

fn seconds(text: &str) -> Result<Seconds, QuantityError> {
    span(text).map(Seconds)
}

fn duration(text: &str) -> Result<Duration, QuantityError> {
    span(text).map(Duration)
}

/// The largest I/O; core and hosts alike split larger ones.
pub const IO_MAX: u64 = 1 << 30;

/// Whether an I/O can have this size.
fn whole_io(bytes: &Bytes) -> bool {
    (1..=IO_MAX).contains(&bytes.get()) && bytes.get().is_multiple_of(SECTOR_BYTES)
}

/// Part of a target in sectors, for `offset` and `size`: a small bare number may be meant in sectors, and a
/// fraction as a percentage.
pub fn part(node: &Node, may_be_none: bool, log: &mut Log) -> Option<Extent> {
    let number = match &node.value {
        Value::Decimal(number) | Value::Text(number) => number.trim(),
        _ => "",
    };
    if is_fraction(number) {
        let percent = tidy(number.parse::<f64>().unwrap_or_default() * 100.0);
        let remedy = format!("write \"{percent}%\" of the target, or an amount such as \"1GB\"");
        log.fault(node.place, "the unit is missing", remedy);
        return None;
    }
    // In bytes, as fio reads it, this would be less than a sector: what was meant is open.
    let count = if let Value::Integer(count) = node.value { count } else { number.parse().unwrap_or(0) };
    if (1..i128::from(SECTOR_BYTES)).contains(&count) {
        let message = format!("the unit is missing, and {count} B is no whole number of sectors");
        let sectors = counted(count as u64, "sector");
        let remedy = format!("write \"{sectors}\", \"{count}KiB\", \"{count}MiB\" or \"{count}GiB\"");
        log.fault(node.place, message, remedy);
        return None;
    }
    if matches!(number, "0" | "0.0") || matches!(node.value, Value::Integer(0)) {
        let (message, remedy) = if may_be_none {
            ("the unit is missing", "write \"0B\", or leave it out")
        } else {
            (
                "must be more than zero",
                "write a size such as \"10%\" or \"1GB\", or leave it out for all of the target",
            )
        };
        log.fault(node.place, message, remedy);
        return None;
    }
    let fits = |extent: &Extent| extent.0.get() > 0;
    if let Some(count) = broken_sectors(number) {
        let near = Bytes::new(count.next_multiple_of(SECTOR_BYTES));
        let message = format!("{count} bytes are no whole number of sectors");
        log.fault(node.place, message, format!("write a multiple of 512 bytes, such as \"{near}\""));
        return None;
    }
    let help = Help { bare: &["B", "KiB"], range: "\"0B\" to \"1048576TiB\"", fits };
    // What is suggested for a bare number must be whole, too.
    let whole = |text: &str| match broken_sectors(text) {
        Some(_) => Err(QuantityError::PartSector),
        None => extent(text),
    };
    quantity(node, &Extent::kind(), log, &help, whole)
}

/// The bytes of an amount that is no whole number of sectors. Decimal megabytes and more are round figures, whose
/// remainder of a sector is dropped, as a data sheet's is.
fn broken_sectors(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_')).trim();
    if matches!(unit, "" | "MB" | "GB" | "TB") {
        return None;
    }
    bytes(text).ok().map(Bytes::get).filter(|count| !count.is_multiple_of(SECTOR_BYTES))
}

/// Maximum time in a scenario: two years.
const SPAN_MAX: u64 = 2 * 366 * 86_400 * 1_000_000_000;
/// Maximum amount of data: an exbibyte.
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

/// Nanoseconds, possibly negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignedSpan(pub i64);

fn signed_span(text: &str) -> Result<SignedSpan, QuantityError> {
    let text = text.trim();
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    // A settle time is at most some milliseconds: a second is absurd.
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
    // A data sheet's "250GB" is a round figure: the remainder of a sector is dropped.
    Ok(Extent(Sectors::new(bytes(text)?.get() / SECTOR_BYTES)))
}

/// Where something begins: at the start, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offset(pub Sectors);

fn offset(text: &str) -> Result<Offset, QuantityError> {
    if bytes(text).is_ok_and(|bytes| !bytes.get().is_multiple_of(SECTOR_BYTES)) {
        return Err(QuantityError::PartSector);
    }
    extent(text).map(|Extent(sectors)| Offset(sectors))
}

/// The same, where a remainder is no round figure but a mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Whole(pub Sectors);

impl Read for Whole {
    fn kind() -> Kind {
        Extent::kind()
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Extent(sectors) = Extent::read(node, log)?;
        let bytes = match &node.value {
            Value::Text(text) => parse::bytes(text).map_or(0, Bytes::get),
            _ => 0,
        };
        if !bytes.is_multiple_of(SECTOR_BYTES) {
            let near = Bytes::new(bytes.next_multiple_of(SECTOR_BYTES));
            let message = format!("{bytes} bytes are no whole number of sectors");
            log.fault(node.place, message, format!("write a multiple of 512 bytes, such as \"{near}\""));
            return None;
        }
        Some(Whole(sectors))
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0.get());
    }
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

/// A decimal number in thousandths; the time parser reads it, since a millisecond is a thousandth of a
/// second.
fn thousandths(number: &str, example: &'static str) -> Result<u64, QuantityError> {
    let read = parse::span(&format!("{}us", number.trim())).map_err(|error| match error {
        QuantityError::NoUnit { .. } | QuantityError::UnknownUnit { .. } => {
            QuantityError::NoNumber { example }
        }
        error => error,
    })?;
    match read.as_ns() {
        0 => Err(QuantityError::Zero),
        thousandths @ 1..=1_000_000_000 => Ok(thousandths),
        _ => Err(QuantityError::TooLarge),
    }
}
