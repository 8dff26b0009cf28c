//! A layout in patterns, for the core: which pattern or track each run repeats.
use crate::check::given;
use crate::keys::At;
use crate::raw::drive::GeometryRaw;
use crate::raw::patterns::{PatternRaw, TrackRunRaw};
use crate::text::problem::Log;
use drivelab_core::storage::drive::geometry::patterns::{PatternParams, RunParams, Unit};
use drivelab_units::Angle;

/// Tracks are counted in 32 bits, and a whole drive has far fewer runs.
const RUNS_MAX: usize = 1 << 20;

/// The patterns of a geometry; what is missing or invalid is recorded.
pub fn patterns(raw: &GeometryRaw, log: &mut Log) -> Option<PatternParams> {
    let listed = raw.patterns.as_ref()?;
    let problems = log.count();
    let all: usize = listed.value.iter().filter_map(|at| Some(at.value.runs.as_ref()?.value.len())).sum();
    if all > RUNS_MAX {
        let message = format!("{all} runs are too many");
        log.fault(listed.place, message, format!("at most {RUNS_MAX} are possible: repeat patterns"));
        return None;
    }
    let patterns = listed.value.iter().enumerate().map(|(number, at)| one(number, at, log)).collect();
    let skips = raw.skips.iter().flat_map(|skips| &skips.value);
    let skips = skips.map(|skip| (skip.value.position, skip.value.count)).collect();
    (log.count() == problems).then_some(PatternParams { patterns, skips })
}

fn one(number: usize, at: &At<PatternRaw>, log: &mut Log) -> Vec<RunParams> {
    let Some(runs) = &at.value.runs else {
        if at.value.readable("runs") {
            log.fault(at.place, format!("`runs` of pattern {number} is missing"), "add runs = [{ .. }]");
        }
        return Vec::new();
    };
    runs.value.iter().filter_map(|run| self::run(number, run, log)).collect()
}

fn run(number: usize, at: &At<TrackRunRaw>, log: &mut Log) -> Option<RunParams> {
    let raw = &at.value;
    let unit = match (&raw.pattern, &raw.head, &raw.sectors_per_track) {
        (Some(pattern), ..) if pattern.value.0 < number as u64 => Unit::Pattern(pattern.value.0 as u32),
        (Some(pattern), ..) => {
            let message = format!("pattern {} does not stand before pattern {number}", pattern.value.0);
            log.fault(pattern.place, message, "name a pattern that stands before this one");
            return None;
        }
        (None, Some(head), Some(sectors)) => {
            let first = given(raw.first_sector.as_ref()).map_or(0, |first| first.0 as u32);
            let per_track = sectors.value.0 as u32;
            let used = given(raw.sectors.as_ref()).map(|used| used.0 as u32);
            let sectors = used.unwrap_or(per_track.saturating_sub(first));
            Unit::Track {
                head: head.value.0 as u32,
                sectors_per_track: per_track,
                first_sector: first,
                sectors,
            }
        }
        _ => {
            let keys = ["pattern", "head", "sectors_per_track"];
            if keys.iter().all(|key| raw.readable(key)) {
                let remedy = "write { head = 0, sectors_per_track = 1200 } or { pattern = 0 }";
                log.fault(at.place, "a run repeats a track or a pattern, and this one says neither", remedy);
            }
            return None;
        }
    };
    let step = given(raw.step.as_ref()).map_or(1, |step| step.0 as i32);
    let back = given(raw.back.as_ref()).unwrap_or(false);
    Some(RunParams {
        unit,
        count: given(raw.count.as_ref()).map_or(1, |count| count.0 as u32),
        cylinder: given(raw.cylinder.as_ref()).map_or(0, |cylinder| cylinder.0 as i32),
        step: if back { -step } else { step },
        start: given(raw.start.as_ref()).unwrap_or(Angle::ZERO),
        skew: given(raw.skew.as_ref()).unwrap_or(Angle::ZERO),
    })
}
