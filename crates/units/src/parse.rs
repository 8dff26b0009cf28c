//! Text to quantity: a decimal number, with an exponent or without, followed by its unit, read exactly (without floating
//! point).
//!
//! `KiB` is 1024 and `kB` is 1000, always; the bare `k`, `m`, `g`, `t` of a block size are 1024-based as in fio.
//! A quantity without a unit is an error: the reader of a scenario must not guess.
use crate::angle::Angle;
use crate::data::Bytes;
use crate::rate::{Frequency, Rate, Rpm, Share};
use crate::time::Span;
use core::fmt;

/// A unit's name in text, and its size in the smallest step as a fraction.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    pub name: &'static str,
    pub numerator: u128,
    pub denominator: u128,
}

const fn unit(name: &'static str, numerator: u128) -> Unit {
    Unit { name, numerator, denominator: 1 }
}

/// Why a text is not the requested quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QuantityError {
    /// No number at the start.
    NoNumber { example: &'static str },
    /// A number without a unit.
    NoUnit { example: &'static str },
    /// A unit that this kind of quantity does not have.
    UnknownUnit { known: &'static str },
    /// `KB` could mean 1000 or 1024.
    AmbiguousUnit,
    /// A minus sign.
    Negative,
    /// More than fits.
    TooLarge,
    /// Zero where only a positive value makes sense.
    Zero,
    /// Part of a sector where only whole ones make sense.
    PartSector,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber { example } => {
                write!(f, "not a number with a unit; write for example \"{example}\"")
            }
            Self::NoUnit { example } => write!(f, "the unit is missing; write for example \"{example}\""),
            Self::UnknownUnit { known } => write!(f, "unknown unit; known here: {known}"),
            Self::AmbiguousUnit => {
                write!(f, "\"KB\" is ambiguous; write \"KiB\" for 1024 bytes or \"kB\" for 1000")
            }
            Self::Negative => write!(f, "must not be negative"),
            Self::TooLarge => write!(f, "too large"),
            Self::Zero => write!(f, "must be more than zero"),
            Self::PartSector => write!(f, "no whole number of sectors; write a multiple of 512 bytes"),
        }
    }
}

impl core::error::Error for QuantityError {}

struct Kind {
    units: &'static [Unit],
    known: &'static str,
    example: &'static str,
}

const TIME: Kind = Kind {
    units: &[
        unit("ns", 1),
        unit("us", 1_000),
        unit("\u{b5}s", 1_000),
        unit("ms", 1_000_000),
        unit("s", 1_000_000_000),
        unit("min", 60_000_000_000),
        unit("h", 3_600_000_000_000),
        unit("d", 86_400_000_000_000),
    ],
    known: "ns, us, ms, s, min, h, d",
    example: "8.5ms",
};

/// Of lifetimes: a year has 365 days.
const LONG_TIME: Kind = Kind {
    units: &[
        TIME.units[0],
        TIME.units[1],
        TIME.units[2],
        TIME.units[3],
        TIME.units[4],
        TIME.units[5],
        TIME.units[6],
        TIME.units[7],
        unit("w", 7 * 86_400_000_000_000),
        unit("y", 365 * 86_400_000_000_000),
    ],
    known: "ns, us, ms, s, min, h, d, w, y",
    example: "20h",
};

const DATA: Kind = Kind {
    units: &[
        unit("B", 1),
        unit("kB", 1_000),
        unit("MB", 1_000_000),
        unit("GB", 1_000_000_000),
        unit("TB", 1_000_000_000_000),
        unit("PB", 1_000_000_000_000_000),
        unit("k", 1 << 10),
        unit("K", 1 << 10),
        unit("m", 1 << 20),
        unit("M", 1 << 20),
        unit("g", 1 << 30),
        unit("G", 1 << 30),
        unit("t", 1 << 40),
        unit("T", 1 << 40),
        unit("Ki", 1 << 10),
        unit("Mi", 1 << 20),
        unit("Gi", 1 << 30),
        unit("Ti", 1 << 40),
        unit("KiB", 1 << 10),
        unit("MiB", 1 << 20),
        unit("GiB", 1 << 30),
        unit("TiB", 1 << 40),
        unit("PiB", 1 << 50),
    ],
    known: "B, KiB, MiB, GiB, TiB, PiB (1024) and kB, MB, GB, TB, PB (1000)",
    example: "4KiB",
};

const RATE: Kind = Kind {
    units: &[
        unit("B/s", 1),
        unit("kB/s", 1_000),
        unit("MB/s", 1_000_000),
        unit("GB/s", 1_000_000_000),
        unit("KiB/s", 1 << 10),
        unit("MiB/s", 1 << 20),
        unit("GiB/s", 1 << 30),
    ],
    known: "B/s, kB/s, MB/s, GB/s (1000) and KiB/s, MiB/s, GiB/s (1024)",
    example: "150MB/s",
};

const FREQUENCY: Kind = Kind { units: &[unit("/s", 1_000)], known: "/s", example: "120/s" };

const RPM: Kind = Kind { units: &[unit("rpm", 1_000)], known: "rpm", example: "7200rpm" };

const TURN: u128 = 1 << 32;
const ANGLE: Kind = Kind {
    units: &[unit("rev", TURN), Unit { name: "deg", numerator: TURN, denominator: 360 }],
    known: "rev, deg",
    example: "0.24rev",
};

const SHARE: Kind =
    Kind { units: &[Unit { name: "%", numerator: TURN, denominator: 100 }], known: "%", example: "70%" };

/// The value in the kind's smallest step, rounded to the nearest.
fn quantity(text: &str, kind: &Kind) -> Result<u128, QuantityError> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(QuantityError::Negative);
    }
    let (number, power, name) = parts(text)?;
    let (digits, scale) = shifted(decimal(number, kind.example)?, power)?;
    if name.is_empty() {
        return Err(QuantityError::NoUnit { example: kind.example });
    }
    let Some(unit) = kind.units.iter().find(|u| u.name == name) else {
        let ambiguous = matches!(name, "KB" | "KB/s");
        return Err(if ambiguous {
            QuantityError::AmbiguousUnit
        } else {
            QuantityError::UnknownUnit { known: kind.known }
        });
    };
    let numerator = digits.checked_mul(unit.numerator).ok_or(QuantityError::TooLarge)?;
    let denominator = scale * unit.denominator;
    let rounded = numerator.checked_add(denominator / 2).ok_or(QuantityError::TooLarge)?;
    Ok(rounded / denominator)
}

/// A text as its decimal number, the exponent of ten, and the name of its unit.
fn parts(text: &str) -> Result<(&str, i32, &str), QuantityError> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let after = rest.strip_prefix(['e', 'E']).unwrap_or("");
    let sign = usize::from(after.starts_with(['+', '-']));
    let digits = after[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len() - sign);
    if digits == 0 {
        return Ok((number, 0, rest.trim_start()));
    }
    let power = after[..sign + digits].parse().map_err(|_| QuantityError::TooLarge)?;
    Ok((number, power, after[sign + digits..].trim_start()))
}

/// The fraction times a power of ten; zero where it is below any step.
fn shifted((digits, scale): (u128, u128), power: i32) -> Result<(u128, u128), QuantityError> {
    let Some(ten) = 10u128.checked_pow(power.unsigned_abs()) else {
        return if power < 0 || digits == 0 { Ok((0, 1)) } else { Err(QuantityError::TooLarge) };
    };
    if power < 0 {
        return Ok(scale
            .checked_mul(ten)
            .filter(|scale| *scale < 1 << 96)
            .map_or((0, 1), |scale| (digits, scale)));
    }
    Ok((digits.checked_mul(ten).ok_or(QuantityError::TooLarge)?, scale))
}

/// A decimal number as (all its digits, 10 to the number of its fraction digits).
fn decimal(number: &str, example: &'static str) -> Result<(u128, u128), QuantityError> {
    let (mut digits, mut scale, mut point, mut any) = (0u128, 1u128, false, false);
    for c in number.chars() {
        match c {
            '.' if point => return Err(QuantityError::NoNumber { example }),
            '.' => point = true,
            '_' => {}
            _ => {
                any = true;
                let digit = u128::from(c as u32 - '0' as u32);
                if digits > u128::MAX >> 8 || scale > 1_000_000_000_000_000 {
                    return Err(QuantityError::TooLarge);
                }
                digits = digits * 10 + digit;
                if point {
                    scale *= 10;
                }
            }
        }
    }
    if any { Ok((digits, scale)) } else { Err(QuantityError::NoNumber { example }) }
}

fn as_u64(value: u128) -> Result<u64, QuantityError> {
    // Half the range is kept free so that sums of two quantities cannot overflow.
    u64::try_from(value).ok().filter(|v| *v <= u64::MAX / 2).ok_or(QuantityError::TooLarge)
}

/// A length of time such as `"8.5ms"`.
pub fn span(text: &str) -> Result<Span, QuantityError> {
    Ok(Span::from_ns(as_u64(quantity(text, &TIME)?)?))
}

/// A lifetime such as `"20h"` or `"5y"` in nanoseconds, however long it is; a year has 365 days.
pub fn lifetime_ns(text: &str) -> Result<u128, QuantityError> {
    quantity(text, &LONG_TIME)
}

/// An amount of data such as `"4KiB"`.
pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    Ok(Bytes::new(as_u64(quantity(text, &DATA)?)?))
}

/// A data rate such as `"150MB/s"`.
pub fn rate(text: &str) -> Result<Rate, QuantityError> {
    Rate::from_bytes_per_s(as_u64(quantity(text, &RATE)?)?).ok_or(QuantityError::Zero)
}

/// Events per second such as `"120/s"`.
pub fn frequency(text: &str) -> Result<Frequency, QuantityError> {
    Frequency::from_millihertz(as_u64(quantity(text, &FREQUENCY)?)?).ok_or(QuantityError::Zero)
}

/// A spindle speed such as `"7200rpm"`.
pub fn rpm(text: &str) -> Result<Rpm, QuantityError> {
    Rpm::from_milli(as_u64(quantity(text, &RPM)?)?).ok_or(QuantityError::Zero)
}

/// A share of a revolution below one such as `"0.24rev"` or `"51deg"`.
pub fn angle(text: &str) -> Result<Angle, QuantityError> {
    let steps = quantity(text, &ANGLE)?;
    if steps >= TURN {
        return Err(QuantityError::TooLarge);
    }
    Ok(Angle::from_turn_bits(steps as u32))
}

/// A share of a whole such as `"70%"`.
pub fn share(text: &str) -> Result<Share, QuantityError> {
    let steps = as_u64(quantity(text, &SHARE)?)?;
    Share::from_ratio(steps, TURN as u64).ok_or(QuantityError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(span("8.5ms"), Ok(Span::from_us(8_500)));
        assert_eq!(span(" 10 s "), Ok(Span::from_s(10)));
        assert_eq!(span("0.1us"), Ok(Span::from_ns(100)));
        assert_eq!(span("1.5e3us"), Ok(Span::from_us(1_500)));
        assert_eq!(span("2E-3 s"), Ok(Span::from_ms(2)));
        assert_eq!(span("1e-99s"), Ok(Span::ZERO));
        assert_eq!(lifetime_ns("1.2e6h"), Ok(1_200_000 * 3_600_000_000_000));
        assert_eq!(lifetime_ns("1w"), lifetime_ns("7d"));
        assert_eq!(lifetime_ns("2y"), lifetime_ns("730d"));
        assert_eq!(bytes("16PB"), Ok(Bytes::new(16_000_000_000_000_000)));
        assert_eq!(bytes("4k"), Ok(Bytes::new(4096)));
        assert_eq!(bytes("4kB"), Ok(Bytes::new(4000)));
        assert_eq!(bytes("1.5MiB"), Ok(Bytes::new(1_572_864)));
        assert_eq!(rate("84.8MiB/s").map(Rate::bytes_per_s), Ok(88_919_245));
        assert_eq!(rpm("7200rpm").map(Rpm::milli), Ok(7_200_000));
        assert_eq!(angle("0.25rev"), Ok(Angle::from_ratio(1, 4)));
        assert_eq!(angle("90deg"), Ok(Angle::from_ratio(1, 4)));
        assert_eq!(share("70%").map(Share::bits), Ok((7u64 << 32) / 10));
        assert_eq!(frequency("0.5/s").map(Frequency::interval), Ok(Span::from_s(2)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(span("8.5"), Err(QuantityError::NoUnit { example: "8.5ms" }));
        assert_eq!(span("ms"), Err(QuantityError::NoNumber { example: "8.5ms" }));
        assert_eq!(span("-1ms"), Err(QuantityError::Negative));
        assert_eq!(bytes("4KB"), Err(QuantityError::AmbiguousUnit));
        assert!(matches!(span("4KiB"), Err(QuantityError::UnknownUnit { .. })));
        assert_eq!(span("1..2ms"), Err(QuantityError::NoNumber { example: "8.5ms" }));
        assert_eq!(rate("0MB/s"), Err(QuantityError::Zero));
        assert_eq!(span("99999999999999999999d"), Err(QuantityError::TooLarge));
        assert_eq!(span("1e30s"), Err(QuantityError::TooLarge));
        assert_eq!(span("1e99999999999s"), Err(QuantityError::TooLarge));
        assert_eq!(span("e3s"), Err(QuantityError::NoNumber { example: "8.5ms" }));
        assert!(matches!(span("1es"), Err(QuantityError::UnknownUnit { .. })));
        assert!(matches!(span("1w"), Err(QuantityError::UnknownUnit { .. })));
        assert_eq!(angle("1.5rev"), Err(QuantityError::TooLarge));
        assert_eq!(share("101%"), Err(QuantityError::TooLarge));
    }

    proptest! {
        #[test]
        fn what_a_span_prints_in_ns_reads_back(ns in 0u64..u64::MAX / 2) {
            prop_assert_eq!(span(&format!("{ns}ns")), Ok(Span::from_ns(ns)));
        }

        #[test]
        fn what_bytes_print_reads_back(count in 0u64..u64::MAX / 2) {
            prop_assert_eq!(bytes(&format!("{}", Bytes::new(count))), Ok(Bytes::new(count)));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[0-9.]{0,48}(e[+-]?[0-9]{0,12})?.{0,24}") {
            let _ = (span(&text), lifetime_ns(&text), bytes(&text), rate(&text), rpm(&text), angle(&text), share(&text), frequency(&text));
        }
    }
}
