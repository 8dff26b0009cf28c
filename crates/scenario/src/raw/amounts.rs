//! Values of a workload that have several forms: parts of the target, arrivals per second, sizes by share.
use crate::keys::quantities::{Extent, part};
use crate::keys::read::wrong_type;
use crate::keys::{Kind, Read};
use crate::text::problem::Log;
use crate::text::tree::{Node, Value};
use drivelab_units::{Bytes, Frequency, Share, parse};
use std::fmt::Write;

/// Part of the target: an extent, or a share of the capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Extent(Extent),
    Share(Share),
}

impl Read for Part {
    fn kind() -> Kind {
        Kind::Either(vec![Extent::kind(), Kind::Percent])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text.trim_end().ends_with('%') => Share::read(node, log).map(Part::Share),
            _ => part(node, true, log).map(Part::Extent),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Part::Extent(extent) => extent.write(out),
            Part::Share(share) => {
                share.write(out);
                out.push('%');
            }
        }
    }
}

/// A part of the target that is not empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size(pub Part);

impl Read for Size {
    fn kind() -> Kind {
        Part::kind()
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text.trim_end().ends_with('%') => Part::read(node, log).map(Size),
            _ => part(node, false, log).map(|extent| Size(Part::Extent(extent))),
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// The most I/Os per second: above, the gap between two arrivals has less than two digits of a nanosecond count.
const RATE_MAX: u64 = 10_000_000;

/// I/Os per second, as in fio a bare number, or with its unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateIops(pub Frequency);

impl Read for RateIops {
    fn kind() -> Kind {
        let quantity = Kind::Quantity { what: "a number of I/Os per second", units: "/s", example: "120/s" };
        Kind::Either(vec![Kind::Thousandths { most: RATE_MAX }, quantity])
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let text = match &node.value {
            Value::Text(text) if text.contains('/') => text.clone(),
            Value::Text(text) => format!("{text}/s"),
            Value::Integer(number) => format!("{number}/s"),
            Value::Decimal(number) => format!("{number}/s"),
            _ => {
                wrong_type(node, &Self::kind(), log);
                return None;
            }
        };
        match parse::frequency(&text) {
            Ok(rate) if rate.millihertz() <= 1_000 * RATE_MAX => Some(RateIops(rate)),
            _ => {
                let remedy = format!("write a number from 0.001 to {RATE_MAX} per second, such as 120");
                log.fault(node.place, "not a rate of I/Os", remedy);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0.millihertz());
    }
}

/// fio's `bssplit`: sizes and their percentages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BsSplit(pub Vec<(Bytes, u32)>);

impl Read for BsSplit {
    fn kind() -> Kind {
        let units = "sizes as in bs, percentages after a slash, sizes without one share the rest";
        Kind::Quantity { what: "sizes and their percentages", units, example: "4k/60:64k/40" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        match split(text) {
            Ok(sizes) => Some(BsSplit(sizes)),
            Err((part, why)) => {
                log.fault(node.place, format!("`{part}`: {why}"), format!("write {}", Self::kind().words()));
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        for (size, percent) in &self.0 {
            let _ = write!(out, "{}/{percent}:", size.get());
        }
    }
}

/// More sizes than any published pattern has.
const SIZES_MAX: usize = 64;

fn split(text: &str) -> Result<Vec<(Bytes, u32)>, (String, String)> {
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let fail = |why: String| (part.to_owned(), why);
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let size = parse::bytes(size).map_err(|error| fail(error.to_string()))?;
        let percent = match percent.trim().trim_end_matches('%') {
            "" => None,
            number => match number.parse::<u32>() {
                Ok(percent @ 0..=100) => Some(percent),
                _ => return Err(fail("the percentage is not a whole number from 0 to 100".to_owned())),
            },
        };
        sizes.push((size, percent));
    }
    if sizes.len() > SIZES_MAX {
        return Err((format!("{} sizes", sizes.len()), format!("at most {SIZES_MAX} are possible")));
    }
    let given: u32 = sizes.iter().filter_map(|(_, percent)| *percent).sum();
    let open = sizes.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    if given > 100 || open == 0 && given != 100 {
        return Err((text.to_owned(), format!("the percentages add up to {given}, not to 100")));
    }
    // In hundred-percent steps times the sizes that share the rest, so that every weight stays whole.
    let scale = open.max(1);
    Ok(sizes.into_iter().map(|(size, percent)| (size, percent.map_or(100 - given, |p| p * scale))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_shares_the_rest_as_fio_does() {
        let sizes = |text: &str| {
            split(text).map(|sizes| sizes.iter().map(|(b, w)| (b.get(), *w)).collect::<Vec<_>>())
        };
        assert_eq!(sizes("4k/60:64k/40"), Ok(vec![(4096, 60), (65536, 40)]));
        assert_eq!(sizes("4k/50:64k/:1m"), Ok(vec![(4096, 100), (65536, 50), (1 << 20, 50)]));
        assert!(sizes("4k/60:64k/50").is_err());
        assert!(sizes("4k/60").is_err());
        assert!(sizes("4q/60").is_err());
        assert!(sizes("").is_err());
    }
}
