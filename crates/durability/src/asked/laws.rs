//! Laws of times as typed, `weibull:1.12:461386h`, and what is made of them: lives, rebuilds, unreadable sectors, causes.
use super::typed::{Part, chance, decimal, hours, many, number, share, sound, time};
use crate::HOURS_PER_YEAR;
use crate::description::{Attended, Batch, Common, Outage, Rebuild};
use crate::law::Law;
use drivelab_scenario::text::problem::Log;
use drivelab_scenario::text::tree::{Node, Value};

/// The value of `rebuild` for a time that a simulation finds.
pub const SIMULATED: &str = "simulated";
/// Where the ends of an interval stand.
const LOW_FIRST: &str = "give the low end first, then the high one";

macro_rules! named_laws {
    () => {
        "fixed:20h, weibull:SHAPE:SCALE:LOCATION, uniform:LOW:HIGH or survival:AGE=SHARE,.."
    };
}

/// The distribution of a time, which may be zero; a plain time is the mean of an exponential law.
pub fn wait(part: Part<'_>, log: &mut Log) -> Option<Law> {
    let all = part.trim();
    let parts = all.split(&[':']);
    match (parts[0].text.to_lowercase().as_str(), &parts[1..]) {
        (_, []) => match hours(all, log)? {
            0.0 => Some(Law::Fixed { hours: 0.0 }),
            mean_hours => Some(Law::Exponential { mean_hours }),
        },
        ("exponential", [mean]) => Some(Law::Exponential { mean_hours: time(*mean, log)? }),
        ("fixed", [time]) => Some(Law::Fixed { hours: hours(*time, log)? }),
        ("weibull", [shape, scale, location @ ..]) if location.len() <= 1 => {
            let (steep, scale) = (number(*shape, log), time(*scale, log));
            let location = location.first().map_or(Some(0.0), |one| hours(*one, log));
            let (message, remedy) = ("a shape lies between 0.05 and 1000", "1 is that of a constant hazard");
            let shape = steep
                .and_then(|found| shape.hold((0.05..=1000.0).contains(&found), found, log, message, remedy));
            Some(Law::Weibull { shape: shape?, scale_hours: scale?, location_hours: location? })
        }
        ("uniform", [low, high]) => {
            let (low, high) = (hours(*low, log), hours(*high, log));
            let (low_hours, high_hours) = (low?, high?);
            let message = format!("{low_hours} h to {high_hours} h is no span");
            let (holds, found) =
                (low_hours <= high_hours && high_hours > 0.0, Law::Uniform { low_hours, high_hours });
            all.hold(holds, found, log, &message, "give the shorter time first: uniform:0h:336h")
        }
        ("survival", [rows]) => survival(rows.split(&[',']), all, log),
        _ => all.wrong(log, "this is no law", concat!("it is 20h, ", named_laws!())),
    }
}

fn survival(rows: Vec<Part<'_>>, all: Part<'_>, log: &mut Log) -> Option<Law> {
    let row = |row: Part<'_>| {
        let Ok([age, left]) = <[Part<'_>; 2]>::try_from(row.split(&['='])) else {
            return row.wrong(log, "a row of a survival table is AGE=SHARE", "such as 5y=97.9%");
        };
        let (age, left) = (hours(age, log), share(left, log));
        Some((age?, left?))
    };
    let points = rows.into_iter().map(row).collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>()?;
    let mut before = (0.0, 1.0);
    for &(age, share) in &points {
        if age <= before.0 || share <= 0.0 || share > before.1 {
            let message = format!("after ({} h, {}) comes ({age} h, {share})", before.0, before.1);
            return all.wrong(log, message, "ages rise, and shares fall from 1 and stay above 0");
        }
        before = (age, share);
    }
    Some(Law::Survival { points })
}

/// The distribution of a time above zero.
pub fn law(part: Part<'_>, log: &mut Log) -> Option<Law> {
    let found = wait(part, log)?;
    part.hold(found.mean() > 0.0, found, log, "a time is above zero here", "such as 20h, or fixed:20h")
}

/// The life of drives with this annual failure rate, at a constant hazard.
pub fn yearly(chance: f64) -> Law {
    Law::Exponential { mean_hours: -HOURS_PER_YEAR / libm::log1p(-chance) }
}

/// The annual failure rate, then the ends of its interval, if it has one.
pub fn rates(part: Part<'_>, log: &mut Log) -> Option<Vec<f64>> {
    let each = part.interval().map_or(vec![part], Vec::from);
    let found = each.into_iter().map(|one| share(one, log)).collect::<Option<Vec<f64>>>()?;
    if found.iter().any(|rate| *rate <= 0.0 || *rate >= 1.0) {
        let message = "the share of drives that fail in a year is between 0 and 100 %";
        let remedy =
            "such as 1.5%, with an interval 1.5%(1.2%..1.9%), or FILE.csv:MODEL for a table of counts";
        return part.wrong(log, message, remedy);
    }
    let holds = matches!(found[..], [_]) || found[1] <= found[0] && found[0] <= found[2];
    part.hold(holds, found, log, "the interval does not hold the rate", LOW_FIRST)
}

/// Rebuild times by the number of missing members; none where a simulation finds them.
pub fn rebuilds(node: &Node, example: &str, _: (), log: &mut Log) -> Option<Option<Vec<Rebuild>>> {
    match &node.value {
        Value::Text(text) if text.trim() == SIMULATED => Some(None),
        Value::Text(text) => {
            let each = Part { text, place: node.place }.split(&[',']);
            let found: Vec<_> = each.into_iter().map(|step| rebuild(step, log)).collect();
            found.into_iter().collect::<Option<_>>().map(Some)
        }
        _ => many(node, example, rebuild, log).map(Some),
    }
}

/// A rebuild time, possibly with an interval of its mean: `20h(18h..23h)`.
fn rebuild(part: Part<'_>, log: &mut Log) -> Option<Rebuild> {
    let Some([time, low, high]) = part.interval() else {
        return Some(Rebuild { time: law(part, log)?, low_hours: None, high_hours: None });
    };
    let (low, high, time) = (hours(low, log), hours(high, log), law(time, log));
    let (low, high, time) = (low?, high?, time?);
    let mean = time.mean();
    let message = format!("the interval {low} h to {high} h does not hold the mean of {mean} h");
    let found = Rebuild { time, low_hours: Some(low), high_hours: Some(high) };
    part.hold(low > 0.0 && low <= mean && mean <= high, found, log, &message, LOW_FIRST)
}

/// A number and its unit, such as `1e-15/bit`.
fn rate(part: Part<'_>) -> Option<(f64, &str)> {
    let (number, unit) = part.text.split_once('/')?;
    let unit = unit.trim();
    let known = ["bit", "byte", "B", "h", "y"].contains(&unit);
    decimal(number.trim()).filter(|_| known).map(|number| (number, unit))
}

/// Unreadable sectors per byte read; none where they are left out.
pub fn per_byte(part: Part<'_>, log: &mut Log) -> Option<Option<f64>> {
    if part.text.trim().eq_ignore_ascii_case("none") {
        return Some(None);
    }
    let remedy = "such as 1e-15/bit";
    let Some((rate, unit @ ("bit" | "byte" | "B"))) = rate(part) else {
        return part.wrong(log, "it is a rate for each bit or byte read, or none", remedy);
    };
    let found = sound(rate * if unit == "bit" { 8.0 } else { 1.0 }, part, "a rate", remedy, log)?;
    part.hold(found <= 1.0, Some(found), log, &format!("{found} for each byte is no chance"), remedy)
}

/// Latent defects: a rate per hour or year, or a law with its name. A bare time would be the inverse of the rate that
/// is wanted, so it is refused.
pub fn arrival(part: Part<'_>, log: &mut Log) -> Option<Law> {
    let remedy = concat!("such as 1.08e-4/h, or exponential:9259h, ", named_laws!());
    match rate(part) {
        Some((rate, unit @ ("h" | "y"))) if rate != 0.0 => {
            let rate = sound(rate, part, "a rate", remedy, log)?;
            let hours = if unit == "y" { HOURS_PER_YEAR } else { 1.0 };
            let mean_hours = sound(hours / rate, part, "a time", remedy, log)?;
            Some(Law::Exponential { mean_hours })
        }
        Some(_) => part.wrong(log, "it is a rate above zero for each hour or year", remedy),
        None if part.text.contains(':') => law(part, log),
        None => match hours(part, &mut Log::default()) {
            Some(mean) if mean > 0.0 => {
                let text = part.text.trim();
                let rate: f64 = format!("{:.2e}", 1.0 / mean).parse().unwrap_or_default();
                let remedy = format!("a defect in {text} is {rate}/h, or exponential:{text} as a law");
                part.wrong(log, "a bare time is no rate", remedy)
            }
            _ => part.wrong(log, "it is a rate for each hour or year, or a law", remedy),
        },
    }
}

/// The time from a defect to its correction by a scrub: with a period it is uniform between zero and the period.
pub fn corrected(part: Part<'_>, log: &mut Log) -> Option<Law> {
    if part.text.contains(':') {
        return law(part, log);
    }
    let high_hours = hours(part, log)?;
    let found = Law::Uniform { low_hours: 0.0, high_hours };
    part.hold(high_hours > 0.0, found, log, "the period of a scrub is above zero", "such as 1w")
}

pub fn batch(part: Part<'_>, log: &mut Log) -> Option<Batch> {
    let form = "the share of arrays and how many times as fast they age: 5%:8";
    let [share, factor] = part.parts(&[':'], form, log)?;
    let (share, times) = (chance(share, log), number(factor, log));
    let (share, times) = (share?, times?);
    let remedy = "give how many times as fast the drives age: 5";
    factor.hold(times > 0.0, Batch { share, factor: times }, log, "it is not above zero", remedy)
}

pub fn attended(part: Part<'_>, log: &mut Log) -> Option<Attended> {
    let [a_day, days] = part.parts(&['x', ':'], "hours a day x days a week: 8x5", log)?;
    let (hours_per_day, days) = (number(a_day, log), number(days, log));
    let (hours_per_day, days) = (hours_per_day?, days?);
    let holds = hours_per_day > 0.0 && hours_per_day <= 24.0;
    let message = format!("{hours_per_day} hours a day");
    a_day.hold(holds, (), log, &message, "give 24 at most and above 0")?;
    let found = Attended { hours_per_day, days_per_week: days as u32 };
    let holds = days.fract() == 0.0 && (1.0..=7.0).contains(&days);
    part.hold(holds, found, log, &format!("{days} days a week"), "give 1 to 7, whole days: 8x5")
}

pub fn common(part: Part<'_>, log: &mut Log) -> Option<Common> {
    let form = "a name, the mean time between events and the share of drives that each takes: shelf:20y:30%";
    let [first, mean, share] = part.parts(&[':'], form, log)?;
    let (name, mean_hours, share) = (name(first, part, log), time(mean, log), chance(share, log));
    Some(Common { name: name?, mean_hours: mean_hours?, share: share? })
}

pub fn outage(part: Part<'_>, log: &mut Log) -> Option<Outage> {
    let form = "a name, its mean time to failure and that to its repair: controller:500000h:8h";
    let [first, mttf, mttr] = part.parts(&[':'], form, log)?;
    let (name, mttf_hours, mttr_hours) = (name(first, part, log), time(mttf, log), hours(mttr, log));
    Some(Outage { name: name?, mttf_hours: mttf_hours?, mttr_hours: mttr_hours? })
}

fn name(first: Part<'_>, all: Part<'_>, log: &mut Log) -> Option<String> {
    let name = first.text.trim();
    all.hold(!name.is_empty(), name.to_owned(), log, "a name is missing", "it comes first: shelf:20y:30%")
}

/// Names of levels, `raid5,raid10:far`, each once.
pub fn levels(node: &Node, _: &str, _: (), log: &mut Log) -> Option<Vec<String>> {
    let items = if let Value::List(items) = &node.value { items } else { std::slice::from_ref(node) };
    let text =
        |item: &Node| if let Value::Text(text) = &item.value { Some(text.to_lowercase()) } else { None };
    let Some(names) = items.iter().map(text).collect::<Option<Vec<_>>>() else {
        let remedy = "such as \"raid6\", or [\"raid5\", \"raid6\"]";
        log.fault(node.place, "it takes the name of a level, or a list of names", remedy);
        return None;
    };
    let mut found = Vec::new();
    for name in names.iter().flat_map(|text| text.split(',')).map(str::trim) {
        if !name.is_empty() && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    Some(found)
}
