//! Numbers without a unit: counts, shares, decimals, and booleans in fio's notation.
use super::kind::Kind;
use super::read::{Read, wrong_type};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_units::{Share, parse};
use std::fmt::Write;

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

/// A share, written as a percentage with or without the percent sign.
impl Read for Share {
    fn kind() -> Kind {
        Kind::Percent
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => format!("{number}%"),
            // A fraction of one, or a percentage?
            Value::Decimal(number) if is_fraction(number) => {
                let percent = tidy(number.parse::<f64>().unwrap_or_default() * 100.0);
                let remedy = format!("write \"{percent}%\", or \"{number}%\" if so little is meant");
                log.fault(node.place, "the unit is missing", remedy);
                return None;
            }
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

/// Whether a bare number may be meant as a share of one.
pub fn is_fraction(number: &str) -> bool {
    number.trim().parse::<f64>().is_ok_and(|share| share > 0.0 && share < 1.0)
}

/// A number without the rounding error of binary fractions.
pub fn tidy(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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

/// A boolean, also in fio's notation: 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fio(pub bool);

impl Read for Fio {
    fn kind() -> Kind {
        Kind::Either(vec![Kind::Flag, Kind::Count { least: 0, most: 1 }])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match node.value {
            Value::Flag(flag) => Some(Fio(flag)),
            Value::Integer(number @ 0..=1) => Some(Fio(number == 1)),
            _ => {
                wrong_type(node, &Self::kind(), log);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}
