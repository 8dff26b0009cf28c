//! Two scenarios whose results must be in a known relation: random ones, so that no key is forgotten.
use crate::draft::{Draft, Line, draft};
use crate::hold::{same, try_run};
use crate::keys::Dice;
use drivelab_record::Point;
use drivelab_scenario::Plan;

const SCENARIOS: u64 = 40;

/// Random drafts that `takes` accepts, with their plans.
fn drafts(
    name: &'static str,
    takes: impl Fn(&Draft, &Plan) -> bool,
) -> impl Iterator<Item = (u64, Draft, Plan)> {
    let count = crate::numbered("DRIVELAB_FUZZ").map_or(SCENARIOS, |count| count.max(SCENARIOS));
    let drawn = (1..)
        .filter_map(move |seed| draft(&mut Dice::new(seed, name)).map(|(draft, plan)| (seed, draft, plan)));
    drawn.filter(move |(_, draft, plan)| takes(draft, plan)).take(count as usize)
}

fn first(plan: &Plan) -> Option<Point> {
    try_run(&plan.points[0].setup).ok()
}

/// The draft with a key set anew; `None` takes it away.
fn with(draft: &Draft, key: &str, value: Option<&str>) -> Draft {
    let mut other = draft.clone();
    other.scenario.retain(|line| line.key() != key);
    other.scenario.extend(value.map(|value| Line { text: format!("{key} = {value}"), fixed: true }));
    other
}

fn without_section(draft: &Draft, section: &str) -> Draft {
    let mut other = draft.clone();
    other.scenario.retain(|line| !line.text.starts_with(section));
    other
}

fn undigested(point: &Point) -> Point {
    Point { digest: String::new(), ..point.clone() }
}

#[test]
fn a_point_of_a_sweep_is_what_it_is_alone() {
    let mut points = 0;
    for (seed, draft, plan) in drafts("sweep", |_, plan| plan.points.len() > 1) {
        for point in plan.points.iter().take(3) {
            let alone = point
                .axes
                .iter()
                .fold(draft.clone(), |draft, (key, value)| with(&draft, key, Some(&value.to_string())));
            // What has an effect at other points of the sweep only is refused alone.
            let Ok(planned) = alone.plan() else { continue };
            assert_eq!(planned.points[0].hash, point.hash, "seed {seed}\n{}", alone.text());
            let (swept, alone_s) = (try_run(&point.setup), try_run(&planned.points[0].setup));
            assert_eq!(swept, alone_s, "seed {seed}\n{}", alone.text());
            points += 1;
        }
    }
    println!("{points} points");
    assert!(points > 30, "only {points}");
}

#[test]
fn noop_without_merging_is_no_scheduler() {
    let plain = |draft: &Draft, plan: &Plan| {
        let text = draft.text();
        let touched = [
            "elevator",
            "host_cache",
            "initiator",
            "attribute",
            "commands",
            "target.array",
            "target.server",
            "synchronous",
            "target.null",
        ];
        plan.points.len() == 1 && !touched.iter().any(|key| text.contains(key))
    };
    let mut compared = 0;
    for (seed, draft, plan) in drafts("noop", plain) {
        let noop = with(&draft, "target.elevator", Some("{ order = \"noop\", merge = false }"));
        let planned =
            noop.plan().unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{}", noop.text()));
        let (Some(none), Some(noop_s)) = (first(&plan), first(&planned)) else { continue };
        compared += 1;
        if let Err(fault) = same("noop", &undigested(&none), &undigested(&noop_s)) {
            panic!("seed {seed}: {fault}\n{}", noop.text());
        }
    }
    println!("{compared} compared");
}

#[test]
fn an_array_of_one_member_is_its_drive() {
    let plain = |draft: &Draft, plan: &Plan| {
        let text = draft.text();
        let touched = [
            "target.array.",
            "target.controller",
            "target.faults",
            "host_cache",
            "elevator",
            "target.server",
            "attribute",
            "priority",
            "icc",
            "target.null",
            "target.cache",
        ];
        plan.points.len() == 1 && (!touched.iter().skip(1).any(|key| text.contains(key)))
    };
    let mut compared = 0;
    for (seed, draft, _) in drafts("one member", plain) {
        let bare = with(
            &with(&without_section(&draft, "target.array."), "workload.size", Some("\"9MB\"")),
            "workload.offset",
            None,
        );
        let array = with(
            &bare,
            "target.array",
            Some("{ level = \"jbod\", members = 1, spindle_deviation = \"0%\" }"),
        );
        let (Ok(one), Ok(other)) = (bare.plan(), array.plan()) else { continue };
        let (Some(one), Some(other)) = (first(&one), first(&other)) else { continue };
        compared += 1;
        if let Err(fault) = same("an array around it", &undigested(&one), &undigested(&other)) {
            panic!("seed {seed}: {fault}\n{}", array.text());
        }
    }
    println!("{compared} compared");
    assert!(compared > 25, "only {compared}");
}

/// The text with every time twice as long, every speed and every rate half as fast; `None` where it has what is no
/// quantity and stands for a time.
fn slower(text: &str) -> Option<String> {
    let mut out = String::new();
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        out += &if at % 2 == 1 { slower_quantity(part) } else { part.to_owned() };
    }
    let bare_rate = text.starts_with("workload") && text.contains("rate_iops = ") && !text.contains('"');
    (!bare_rate).then_some(out)
}

fn slower_quantity(text: &str) -> String {
    let digits = text.find(|at: char| !at.is_ascii_digit() && !"-.".contains(at)).unwrap_or(text.len());
    let Ok(number) = text[..digits].parse::<f64>() else { return text.to_owned() };
    match &text[digits..] {
        unit @ ("ns" | "us" | "ms" | "s" | "min" | "h" | "d") => format!("{}{unit}", number * 2.0),
        unit if unit == "rpm" || unit.ends_with("/s") => format!("{}{unit}", number / 2.0),
        _ => text.to_owned(),
    }
}

/// Times that hold unless a scenario says otherwise, written out so that they are scaled as well.
/// The class has times of its own where a drive file leaves them out; this one has none.
const TIMED: [(&str, &str); 3] =
    [("skew.margin", "\"0.2ms\""), ("rpm", "\"7500rpm\""), ("firmware.class", "\"ideal\"")];

#[test]
fn twice_as_slow_is_the_same_at_half_the_speed() {
    let plain = |draft: &Draft, plan: &Plan| {
        let text = draft.text();
        let implied = [
            "standard",
            "elevator",
            "host_cache",
            "controller",
            "target.array",
            "target.bus",
            "faults",
            "commands",
            "target.server",
            "target.null",
            "pattern",
            "skew",
        ];
        plan.points.len() == 1 && !draft.drive.is_empty() && !implied.iter().any(|key| text.contains(key))
    };
    let mut compared = 0;
    for (seed, draft, _) in drafts("slower", plain) {
        let mut draft = draft;
        draft.drive.retain(|line| TIMED.iter().all(|(key, _)| line.key() != *key));
        let timed = TIMED.iter().map(|(key, value)| Line { text: format!("{key} = {value}"), fixed: true });
        draft.drive.extend(timed);
        let mut half = draft.clone();
        let scaled = half.scenario.iter_mut().chain(&mut half.drive).try_for_each(|line| {
            line.text = slower(&line.text)?;
            Some(())
        });
        let (Some(()), Ok(fast), Ok(slow)) = (scaled, draft.plan(), half.plan()) else { continue };
        let (Some(fast), Some(slow)) = (first(&fast), first(&slow)) else { continue };
        let (Some(one), Some(other)) = (fast.latency_ns.mean, slow.latency_ns.mean) else { continue };
        compared += 1;
        let off = (other / one / 2.0 - 1.0).abs();
        assert!(
            off < 1e-3 && fast.latency_ns.n == slow.latency_ns.n,
            "seed {seed}: {one} ns and {other} ns, {} and {} I/Os\n{}\n{}",
            fast.latency_ns.n,
            slow.latency_ns.n,
            draft.text(),
            half.text()
        );
    }
    println!("{compared} compared");
    assert!(compared > 25, "only {compared}");
}
