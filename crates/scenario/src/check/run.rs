//! The end of a run, by its limits or by a power cut, and its warm-up.
use crate::check::ending::jobs_end;
use crate::keys::At;
use crate::raw::scenario::{RunRaw, TargetRaw, Until as UntilRaw};
use crate::raw::workload::WorkloadRaw;
use crate::text::problem::Log;
use drivelab_core::Limit;
use drivelab_core::setup::{Sampling, Until};
use drivelab_core::storage::TargetParams;
use drivelab_units::Span;

/// Warm-up, limit and seed of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    pub warmup: Span,
    pub limit: Limit,
    pub seed: u64,
}

const DURATION: Span = Span::from_s(60);

/// The run, with fio's names for warm-up and duration accepted in the workload.
pub fn run(
    raw: Option<&At<RunRaw>>,
    workload: Option<&At<WorkloadRaw>>,
    cut: Option<&At<Span>>,
    log: &mut Log,
) -> Run {
    let empty = RunRaw::default();
    let raw = raw.map_or(&empty, |at| &at.value);
    let workload = workload.map(|at| &at.value);
    let ramp_time = workload.and_then(|workload| workload.ramp_time.as_ref());
    let runtime = workload.and_then(|workload| workload.runtime.as_ref());
    let warmup = either(raw.warmup.as_ref(), ramp_time, ["run.warmup", "workload.ramp_time"], log);
    let duration = either(raw.duration.as_ref(), runtime, ["run.duration", "workload.runtime"], log);
    let number_ios = workload.and_then(|workload| workload.number_ios.as_ref());
    let ios = either(raw.ios.as_ref(), number_ios, ["run.ios", "workload.number_ios"], log);
    if let Some(duration) = duration.filter(|duration| duration.value.0.is_zero()) {
        log.fault(duration.place, "a run of no time measures nothing", "write a duration such as \"60s\"");
    }
    let listed = workload.and_then(|workload| workload.commands.as_ref());
    if listed.is_some() {
        let warmup = warmup.filter(|warmup| !warmup.value.0.is_zero());
        let others = [ios.map(|at| at.place), raw.until.as_ref().map(|at| at.place)];
        for place in warmup.map(|at| at.place).into_iter().chain(others.into_iter().flatten()) {
            log.fault(place, "a list of commands is run whole, and every command counts", "leave it out");
        }
    }
    let listed = listed.filter(|_| cut.is_none()).map(|list| list.value.len() as u64);
    let ios = listed.or(ios.map(|ios| ios.value.0));
    let until = until(raw, log);
    let is_recorded = workload.is_some_and(|workload| workload.trace.is_some());
    let jobs_end = workload.is_some_and(jobs_end);
    let default =
        (!is_recorded && !jobs_end && ios.is_none() && until.is_none() && cut.is_none()).then_some(DURATION);
    let duration = duration.map(|duration| duration.value.0).or(default);
    Run {
        warmup: warmup.map_or(Span::ZERO, |warmup| warmup.value.0),
        limit: Limit { duration, ios, until },
        seed: raw.seed.as_ref().map_or(1, |seed| seed.value.0),
    }
}

const PLACES: u32 = 16;
const STAY: Span = Span::from_s(10);

/// The condition of the array's rebuild that ends the run.
fn until(raw: &RunRaw, log: &mut Log) -> Option<Until> {
    let asked = raw.until.as_ref().map(|at| at.value);
    let (places, stay) = (raw.places.as_ref(), raw.stay.as_ref());
    if asked != Some(UntilRaw::Sampled) {
        let unused = [places.map(|at| ("places", at.place)), stay.map(|at| ("stay", at.place))];
        for (key, place) in unused.into_iter().flatten() {
            let message = format!("`{key}` changes nothing unless a rebuild is sampled");
            log.fault(place, message, "set run.until = \"sampled\", or leave it out");
        }
    }
    if let Some(at) = stay.filter(|at| at.value.0 < Span::from_ms(100)) {
        log.fault(at.place, "too short for any request of a rebuild", "write a time such as \"12s\"");
    }
    Some(match asked? {
        UntilRaw::Rebuilt => Until::Rebuilt,
        UntilRaw::Sampled => Until::Sampled(Sampling {
            places: places.map_or(PLACES, |at| at.value.0 as u32),
            stay: stay.map_or(STAY, |at| at.value.0),
        }),
    })
}

/// When the power is cut.
pub fn power_cut(target: &TargetRaw) -> Option<At<Span>> {
    let at = target.faults.as_ref()?.value.power_cut.as_ref()?;
    Some(At::new(at.value.0?, at.place))
}

/// A power cut must occur while the run is measured, and its effects must be modelled.
pub fn check_cut(cut: Option<&At<Span>>, run: &Run, target: &TargetParams, log: &mut Log) {
    let Some(at) = cut else { return };
    if matches!(run.limit.until, Some(Until::Sampled(_))) {
        let message = "what a power cut leaves of a sampled rebuild is not known: what lies between its places is skipped";
        log.contradiction(at.place, message, "set run.until = \"rebuilt\", or leave the cut out");
    }
    if at.value <= run.warmup {
        let (message, remedy) = if at.value.is_zero() {
            (
                "the power goes before anything happens".to_owned(),
                "write an instant of the run such as \"12s\"",
            )
        } else {
            let message = format!("the power goes at {}, and measuring begins at {}", at.value, run.warmup);
            (message, "shorten run.warmup, or cut the power later")
        };
        log.contradiction(at.place, message, remedy);
    }
    let TargetParams::System(system) = target else { return };
    if system.is_pool_with_write_caches() {
        let message = "a power cut of a pool whose drives keep writes in their caches is not modelled: a real pool \
                       flushes them with each group of writes";
        log.contradiction(at.place, message, "set target.write_cache = false, or leave the cut out");
    }
}

/// A run that waits for a rebuild must have one.
pub fn check_until(raw: Option<&At<RunRaw>>, target: &TargetParams, log: &mut Log) {
    let Some(until) = raw.and_then(|at| at.value.until.as_ref()) else { return };
    let array = match target {
        TargetParams::System(system) => system.array.as_ref(),
        _ => None,
    };
    let rebuilds = array.is_some_and(|array| {
        let misses = !array.missing.is_empty();
        array.rebuilding && misses || array.spares > 0 && (misses || !array.failures.is_empty())
    });
    if !rebuilds {
        let remedy = "give an array spares and let a drive of it fail, or start it with missing = [0] and rebuilding = true; a real device rebuilds nothing: leave it out";
        log.contradiction(until.place, "nothing is rebuilt here, and the run would have no end", remedy);
    }
}

fn either<'a, T>(
    own: Option<&'a At<T>>,
    fio: Option<&'a At<T>>,
    names: [&str; 2],
    log: &mut Log,
) -> Option<&'a At<T>> {
    if let (Some(_), Some(second)) = (own, fio) {
        let message = format!("`{}` and `{}` are two names of one thing", names[0], names[1]);
        log.fault(second.place, message, "keep one of the two");
    }
    own.or(fio)
}
