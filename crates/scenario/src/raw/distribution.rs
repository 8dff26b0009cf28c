//! fio's `random_distribution`: how often a job accesses each place of its range.
use crate::keys::read::wrong_type;
use crate::keys::{Kind, Read};
use crate::text::problem::Log;
use crate::text::suggest;
use crate::text::tree::{Node, Value};
use drivelab_core::host::popularity::{Popularity, Shape, Spread, Table};
use drivelab_units::{Bytes, parse};
use std::fmt::Write;
use std::sync::Arc;

/// A distribution as it is written; numbers are in millionths, so that one number has one spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Distribution {
    Random,
    Zipf {
        theta: u64,
        center: Option<u64>,
    },
    Pareto {
        h: u64,
        center: Option<u64>,
    },
    Normal {
        percent: u64,
        center: Option<u64>,
    },
    /// Accesses and range of each zone, both in percent.
    Zoned(Vec<(u32, u32)>),
    /// Accesses in percent and the zone's size; without one, it ends with the range.
    ZonedAbs(Vec<(u32, Option<Bytes>)>),
}

const NAMES: [&str; 6] = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"];
/// As in fio.
const ZONES_MAX: usize = 256;
const MILLION: u64 = 1_000_000;

impl Read for Distribution {
    fn kind() -> Kind {
        let units = "random; zipf:THETA, pareto:H, normal:DEVIATION in percent of the range, each with :CENTER from 0 to 1 \
                     behind it if wanted; zoned:ACCESSES/RANGE:.. in percent; zoned_abs:ACCESSES/SIZE:..";
        Kind::Quantity { what: "a distribution of random places", units, example: "zipf:1.2" }
    }

    fn read(node: &Node, log: &mut Log) -> Option<Self> {
        let Value::Text(text) = &node.value else {
            wrong_type(node, &Self::kind(), log);
            return None;
        };
        match distribution(text.trim()) {
            Ok(found) => Some(found),
            Err((message, remedy)) => {
                log.fault(node.place, message, remedy);
                None
            }
        }
    }

    fn write(&self, out: &mut String) {
        // One spelling describes it completely.
        out.push_str(&self.fio());
    }
}

/// The problem and its remedy.
type Wrong = (String, String);

fn distribution(text: &str) -> Result<Distribution, Wrong> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let values: Vec<&str> = if rest.is_empty() { Vec::new() } else { rest.split(':').collect() };
    match name {
        "random" if rest.is_empty() => Ok(Distribution::Random),
        "random" => Err(("\"random\" has no number behind it".to_owned(), "write \"random\"".to_owned())),
        "zipf" => {
            let (theta, center) = numbers(
                &values,
                "zipf:1.2",
                |theta| (1..=10 * MILLION).contains(&theta),
                "above 0 and at most 10",
            )?;
            Ok(Distribution::Zipf { theta, center })
        }
        "pareto" => {
            let (h, center) =
                numbers(&values, "pareto:0.2", |h| (1..MILLION).contains(&h), "between 0 and 1")?;
            Ok(Distribution::Pareto { h, center })
        }
        "normal" => {
            let (percent, center) = numbers(
                &values,
                "normal:5",
                |dev| (1_000..=100 * MILLION).contains(&dev),
                "from 0.001 to 100",
            )?;
            Ok(Distribution::Normal { percent, center })
        }
        "zoned" => zoned(&values).map(Distribution::Zoned),
        "zoned_abs" => zoned_abs(&values).map(Distribution::ZonedAbs),
        _ => Err((format!("\"{name}\" is no distribution"), suggest::remedy(name, &NAMES))),
    }
}

/// The number of a distribution, and the center of it where there is one.
fn numbers(
    values: &[&str],
    example: &str,
    fits: impl Fn(u64) -> bool,
    range: &str,
) -> Result<(u64, Option<u64>), Wrong> {
    let wrong = |message: String| {
        (message, format!("write a number {range}: \"{example}\", or \"{example}:0.5\" with a center"))
    };
    let (first, center) = match values {
        [] => return Err(wrong("the number is missing".to_owned())),
        [first] => (first, None),
        [first, center] => (first, Some(center)),
        _ => return Err(wrong(format!("{} numbers where one or two are wanted", values.len()))),
    };
    let Some(number) = millionths(first).filter(|number| fits(*number)) else {
        return Err(wrong(format!("`{first}` is out of range")));
    };
    let Some(center) = center else { return Ok((number, None)) };
    match millionths(center).filter(|center| *center <= MILLION) {
        Some(center) => Ok((number, Some(center))),
        None => Err((
            format!("the center `{center}` is no share of the range"),
            "write a number from 0, its beginning, to 1, its end".to_owned(),
        )),
    }
}

fn millionths(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = if plain { text.parse::<f64>().ok()? } else { return None };
    (number <= 1e6).then_some((number * MILLION as f64 + 0.5) as u64)
}

/// Accesses and range in percent; what is left out shares the rest, as in bssplit.
fn zoned(values: &[&str]) -> Result<Vec<(u32, u32)>, Wrong> {
    let example = "write \"zoned:60/10:30/20:10/70\": the accesses and the range of each zone in percent";
    let wrong = |message: String| (message, example.to_owned());
    let mut accesses = Vec::new();
    let mut ranges = Vec::new();
    for part in parts(values).map_err(wrong)? {
        let (access, range) = part.split_once('/').unwrap_or((part, ""));
        accesses.push(percent(access).map_err(wrong)?);
        ranges.push(percent(range).map_err(wrong)?);
    }
    let accesses = shared_out(&accesses, "accesses").map_err(wrong)?;
    let ranges = shared_out(&ranges, "ranges").map_err(wrong)?;
    Ok(accesses.into_iter().zip(ranges).collect())
}

fn zoned_abs(values: &[&str]) -> Result<Vec<(u32, Option<Bytes>)>, Wrong> {
    let example = "write \"zoned_abs:60/50GB:40/\": the accesses in percent and the size of each zone, where the last may \
                   go on to the end of the range";
    let wrong = |message: String| (message, example.to_owned());
    let mut accesses = Vec::new();
    let mut sizes = Vec::new();
    let parts = parts(values).map_err(wrong)?;
    for (number, part) in parts.iter().enumerate() {
        let (access, size) = part.split_once('/').unwrap_or((part, ""));
        accesses.push(percent(access).map_err(wrong)?);
        sizes.push(if size.is_empty() && number + 1 == parts.len() {
            None
        } else {
            Some(parse::bytes(size).map_err(|error| wrong(format!("`{part}`: {error}")))?)
        });
    }
    let accesses = shared_out(&accesses, "accesses").map_err(wrong)?;
    Ok(accesses.into_iter().zip(sizes).collect())
}

fn parts<'a>(values: &'a [&'a str]) -> Result<&'a [&'a str], String> {
    match values.len() {
        0 => Err("the zones are missing".to_owned()),
        1..=ZONES_MAX => Ok(values),
        many => Err(format!("{many} zones; at most {ZONES_MAX} are possible")),
    }
}

fn percent(text: &str) -> Result<Option<u32>, String> {
    match text.trim().trim_end_matches('%') {
        "" => Ok(None),
        number => match number.parse::<u32>() {
            Ok(percent @ 0..=100) => Ok(Some(percent)),
            _ => Err(format!("`{text}` is not a whole number of percent from 0 to 100")),
        },
    }
}

/// Percentages that add up to a hundred; those left out share the rest, in parts of it.
fn shared_out(given: &[Option<u32>], what: &str) -> Result<Vec<u32>, String> {
    let sum: u32 = given.iter().flatten().sum();
    let open = given.iter().filter(|percent| percent.is_none()).count() as u32;
    if sum > 100 || open == 0 && sum != 100 {
        return Err(format!("the {what} add up to {sum} %, not to 100"));
    }
    // In parts of a percent, so that every share stays whole.
    let scale = open.max(1);
    Ok(given.iter().map(|percent| percent.map_or(100 - sum, |percent| percent * scale)).collect())
}

impl Distribution {
    /// As fio writes it.
    pub fn fio(&self) -> String {
        let shape = |name: &str, number: u64, center: Option<u64>| {
            let center = center.map_or(String::new(), |center| format!(":{}", decimal(center)));
            format!("{name}:{}{center}", decimal(number))
        };
        match self {
            Distribution::Random => "random".to_owned(),
            Distribution::Zipf { theta, center } => shape("zipf", *theta, *center),
            Distribution::Pareto { h, center } => shape("pareto", *h, *center),
            Distribution::Normal { percent, center } => shape("normal", *percent, *center),
            Distribution::Zoned(zones) => {
                let total = |part: fn(&(u32, u32)) -> u32| {
                    zones.iter().map(|zone| u64::from(part(zone))).sum::<u64>().max(1)
                };
                let (accesses, ranges) = (total(|zone| zone.0), total(|zone| zone.1));
                zones.iter().fold("zoned".to_owned(), |mut text, (access, range)| {
                    let of = |share: u32, total: u64| decimal(u64::from(share) * 100 * MILLION / total);
                    let _ = write!(text, ":{}/{}", of(*access, accesses), of(*range, ranges));
                    text
                })
            }
            Distribution::ZonedAbs(zones) => {
                let total: u64 = zones.iter().map(|(access, _)| u64::from(*access)).sum::<u64>().max(1);
                zones.iter().fold("zoned_abs".to_owned(), |mut text, (access, size)| {
                    let access = decimal(u64::from(*access) * 100 * MILLION / total);
                    let size = size.map_or(String::new(), |size| size.get().to_string());
                    let _ = write!(text, ":{access}/{size}");
                    text
                })
            }
        }
    }

    /// The table of a range of so many places, each `align` bytes from the next; or what is wrong with its zones.
    pub fn laid_over(&self, places: u64, align: Bytes) -> Result<Popularity, Wrong> {
        let number = |millionths: u64| millionths as f64 / MILLION as f64;
        let from = |center: Option<u64>| {
            center.map_or(Spread::Scattered, |center| {
                Spread::From((u128::from(places) * u128::from(center) / u128::from(MILLION)) as u64)
            })
        };
        let (table, spread) = match self {
            Distribution::Random => return Ok(Popularity::Uniform),
            Distribution::Zipf { theta, center } => {
                (Table::of(Shape::Zipf { theta: number(*theta) }, places), from(*center))
            }
            Distribution::Pareto { h, center } => {
                (Table::of(Shape::Pareto { h: number(*h) }, places), from(*center))
            }
            Distribution::Normal { percent, center } => {
                let center = number(center.unwrap_or(MILLION / 2));
                (Table::bell(number(*percent) / 100.0, center, places), Spread::From(0))
            }
            Distribution::Zoned(zones) => {
                let total: u128 = zones.iter().map(|zone| u128::from(zone.1)).sum();
                let mut sum = 0;
                let ends = zones.iter().map(|zone| {
                    sum += u128::from(zone.1);
                    (zone.0, (u128::from(places) * sum / total.max(1)) as u64)
                });
                (zones_of(ends.collect(), places)?, Spread::From(0))
            }
            Distribution::ZonedAbs(zones) => {
                let mut sum = 0u64;
                let ends = zones.iter().map(|(access, size)| {
                    sum = size.map_or(u64::MAX, |size| sum.saturating_add(size.get() / align.get().max(1)));
                    (*access, sum)
                });
                (zones_of(ends.collect(), places)?, Spread::From(0))
            }
        };
        Ok(Popularity::Table(Arc::new(table), spread))
    }
}

/// Zones by their ends, the last extended to the end of the range.
fn zones_of(mut zones: Vec<(u32, u64)>, places: u64) -> Result<Table, Wrong> {
    let before_last = zones.len().saturating_sub(1);
    if let Some(last) = zones.last_mut() {
        last.1 = places;
    }
    let mut begin = 0;
    for (number, (_, end)) in (1..).zip(&zones) {
        if *end <= begin || number <= before_last && *end >= places {
            let message =
                format!("zone {number} of the distribution has no place, or leaves none for the next");
            return Err((
                message,
                "make its range larger, or leave it out; all zones fit the job's size".to_owned(),
            ));
        }
        begin = *end;
    }
    Ok(Table::zones(&zones))
}

fn decimal(millionths: u64) -> String {
    let text = format!("{}.{:06}", millionths / MILLION, millionths % MILLION);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_has_one_spelling_and_reads_back() {
        for (text, spelling) in [
            ("random", "random"),
            ("zipf:1.20", "zipf:1.2"),
            ("zipf:1.2:0.25", "zipf:1.2:0.25"),
            ("pareto:0.2", "pareto:0.2"),
            ("normal:5:1", "normal:5:1"),
            ("zoned:60/10:30/20:8/30:2/40", "zoned:60/10:30/20:8/30:2/40"),
            ("zoned:60/10:/20:/", "zoned:60/10:20/20:20/70"),
            ("zoned_abs:60/50G:40/", "zoned_abs:60/53687091200:40/"),
        ] {
            let found = distribution(text).unwrap();
            assert_eq!(found.fio(), spelling);
            // fio writes its sizes in bytes without a unit.
            let again = spelling.replace("53687091200", "53687091200B");
            assert_eq!(distribution(&again).unwrap().fio(), spelling);
        }
    }

    #[test]
    fn zones_lie_side_by_side() {
        let table = |text: &str, places| match distribution(text).unwrap().laid_over(places, Bytes::new(4096))
        {
            Ok(Popularity::Table(table, Spread::From(0))) => Ok(Arc::into_inner(table).unwrap()),
            Ok(other) => panic!("{other:?}"),
            Err((message, _)) => Err(message),
        };
        assert_eq!(table("zoned:60/10:40/90", 1_000), Ok(Table::zones(&[(60, 100), (40, 1_000)])));
        assert_eq!(table("zoned_abs:60/40960B:40/", 1_000), Ok(Table::zones(&[(60, 10), (40, 1_000)])));
        assert!(table("zoned_abs:60/1G:40/", 1_000).unwrap_err().contains("zone 1"));
        assert!(table("zoned:60/0:40/100", 1_000).unwrap_err().contains("zone 1"));
    }
}
