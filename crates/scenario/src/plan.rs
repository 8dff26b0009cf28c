//! From a scenario's text to a plan: every point of its sweep, ready to run.
use crate::check::array_faults::check_in_time;
pub use crate::check::assume::Assumed;
pub use crate::check::cached_writes::CachedWrites;
pub use crate::check::class::{Bounds, Firmware};
use crate::check::drive_faults::injections;
pub use crate::check::members::ArrayInForce;
use crate::check::resolve::Loader;
use crate::check::run::{check_cut, check_until, power_cut, run};
pub use crate::check::system::InForce;
use crate::check::system::in_force;
use crate::check::target::{ResolvedTarget, Shared};
use crate::check::trace;
use crate::check::workload::{Job, Served, expand, fed, jobs, sections};
use crate::fio;
use crate::hash::Hash;
use crate::keys::At;
use crate::keys::Read;
use crate::keys::numbers::Fio;
use crate::raw::ScenarioRaw;
use crate::raw::workload::WorkloadRaw;
use crate::sweep;
use crate::text::over::{Override, apply};
use crate::text::problem::{Log, Place, Problems};
use crate::text::tree::{Node, Table, Value, document};
use crate::text::written::written;
use drivelab_core::Setup;
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::server::ServerParams;
use drivelab_units::{InFile, Instant};
use std::collections::BTreeMap;

/// The origin of a scenario that is given by options only.
pub const COMMAND_LINE: &str = "command line";
/// The origin of a scenario that is given by arguments of a function only.
pub const ARGUMENTS: &str = "arguments";

/// A scenario's text, and its name in messages.
#[derive(Clone, Debug)]
pub struct Source {
    pub origin: String,
    pub text: String,
}

/// A completely resolved scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: String,
    /// 32 hexadecimal digits: equal for equal meaning, drives of the catalogue included, however it is
    /// written.
    pub hash: String,
    /// The seed of the first point.
    pub seed: u64,
    /// The swept keys, in order; the first changes slowest.
    pub axes: Vec<String>,
    pub points: Vec<Point>,
    /// The points of the grid that are impossible, in its order; never all.
    pub skipped: Vec<Skipped>,
    /// The scenario with its overrides, as TOML that plans the same: relative paths start where its own do.
    pub scenario: String,
    /// The texts of the files that it names, by path; those of the catalogue as `catalogue/drives/NAME.toml`.
    pub files: BTreeMap<String, String>,
    /// The traces that it names, each with its fingerprint.
    pub traces: BTreeMap<String, String>,
    /// What a reader should know although nothing is wrong.
    pub notes: Vec<String>,
}

/// A position in a grid whose values contradict each other.
#[derive(Clone, PartialEq, Debug)]
pub struct Skipped {
    pub axes: Vec<(String, serde_json::Value)>,
    pub reason: String,
}

/// One run of a plan.
#[derive(Clone, Debug)]
pub struct Point {
    /// The values of the axes here.
    pub axes: Vec<(String, serde_json::Value)>,
    /// The plan's hash for this point alone.
    pub hash: String,
    pub setup: Setup,
    /// The protocol in force and its depth; `None` for a target that is not a drive.
    pub in_force: Option<InForce>,
    /// The workload as a fio job file.
    pub fio: String,
}

/// Reads a scenario, applies the overrides and resolves every point; or returns everything that is wrong with
/// it. A point of a grid whose values contradict each other is left out as long as another one can run.
pub fn plan(source: &Source, overrides: &[Override], loader: &dyn Loader) -> Result<Plan, Problems> {
    planned(source, overrides, loader, false)
}

/// The same for a target that is served: it has no end, and faults come at run time, so that some keys have
/// an effect that they do not have in a run.
///
/// # Errors
/// Everything that is wrong with it.
pub fn plan_served(source: &Source, overrides: &[Override], loader: &dyn Loader) -> Result<Plan, Problems> {
    planned(source, overrides, loader, true)
}

fn planned(
    source: &Source,
    overrides: &[Override],
    loader: &dyn Loader,
    is_served: bool,
) -> Result<Plan, Problems> {
    let mut log = Log::default();
    log.is_served = is_served;
    let built = build(source, overrides, loader, &mut log);
    log.settle();
    match built {
        Some(plan) if log.count() == 0 => Ok(plan),
        _ => Err(log.into_problems().unwrap_or_else(|| unexplained(source))),
    }
}

/// No scenario should be refused without a reason; if it ever happens, there is still a message.
fn unexplained(source: &Source) -> Problems {
    let mut log = Log::default();
    let place = log.add(&source.origin, &source.text, true);
    log.fault(
        Place { end: 0, ..place },
        "the scenario cannot be used, and no reason is known",
        "report this scenario",
    );
    log.into_problems().unwrap_or(Problems(Vec::new()))
}

fn build(source: &Source, overrides: &[Override], loader: &dyn Loader, log: &mut Log) -> Option<Plan> {
    let kind = ScenarioRaw::kind();
    let is_file = ![COMMAND_LINE, ARGUMENTS].contains(&source.origin.as_str());
    let all = log.add(&source.origin, &source.text, is_file);
    let mut root = document(&source.text, all, log)?;
    for over in overrides {
        apply(&mut root, &kind, over, log);
    }
    let axes = sweep::axes(&root, &kind, log);
    let scenario = written(&root);
    let node = Node { place: all, value: Value::Table(root) };
    let count = sweep::points(&axes, node.size(), log);
    let Value::Table(root) = node.value else { return None };
    let mut shared = Shared::new(loader);
    let (mut points, mut skipped, mut contradictions) = (Vec::new(), Vec::new(), Vec::new());
    let mut traces = BTreeMap::new();
    let mut name = None;
    // Too many points: the first is checked all the same, for other problems.
    for number in 0..count.unwrap_or(1) {
        let values = sweep::values(&axes, number);
        let table = sweep::substitute(&root, &axes, &values);
        let found = point(table, all, points.is_empty(), &mut shared, log);
        let against = log.take_contradictions();
        let named =
            axes.iter().zip(&values).map(|(axis, value)| (axis.key.clone(), value.to_json())).collect();
        if !against.is_empty() {
            let reasons: Vec<&str> = against.iter().map(|found| found.message.as_str()).collect();
            let reason = InFile(&reasons.join("; ")).to_string();
            skipped.push(Skipped { axes: named, reason });
            contradictions.extend(against);
            continue;
        }
        if log.is_full() || number > 1_000 && points.is_empty() && skipped.is_empty() {
            break;
        }
        let Some(ResolvedPoint {
            raw,
            setup,
            hash,
            fio,
            array,
            assumed,
            mut firmware,
            mut cached_writes,
            trace,
        }) = found
        else {
            continue;
        };
        traces.extend(trace);
        name = name.or(raw.name.map(|name| name.value));
        if !spread(&setup) {
            // How much a drive gains by its order on a stream was not measured.
            firmware.iter_mut().for_each(|one| one.range.clear());
            cached_writes.clear();
        }
        if !setup.jobs.iter().any(leaves_writes_cached) {
            cached_writes.clear();
        }
        let in_force = in_force(&setup.target, array, assumed, firmware, cached_writes);
        points.push(Point { axes: named, hash, setup, in_force, fio });
    }
    if skipped.len() == count.unwrap_or(1) {
        log.promote_contradictions(contradictions);
    }
    let seed = points.first()?.setup.seed;
    let hashes: Vec<&str> = points.iter().map(|point| point.hash.as_str()).collect();
    let keys: Vec<String> = axes.iter().map(|axis| axis.key.clone()).collect();
    let hash = Hash::of(&format!("{};{}", keys.join(","), hashes.join(","))).hex();
    let name = name.unwrap_or_else(|| stem(&source.origin));
    let notes = log.take_notes();
    let files = shared.texts();
    Some(Plan { name, hash, seed, axes: keys, points, skipped, scenario, files, traces, notes })
}

/// Whether every job accesses random addresses, if not with each of its I/Os.
fn spread(setup: &Setup) -> bool {
    let spreads = |job: &JobParams| matches!(job.addressing, Addressing::Random | Addressing::Mixed { .. });
    !setup.jobs.is_empty() && setup.jobs.iter().all(spreads)
}

/// Whether a job's writes are done before the media have them.
fn leaves_writes_cached(job: &JobParams) -> bool {
    !job.marking.force_unit_access && job.flushes != Flushes::After(1)
}

/// A file's name without folders and extension.
fn stem(origin: &str) -> String {
    let file = origin.rsplit(['/', '\\']).next().unwrap_or(origin);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    if stem.is_empty() { "scenario".to_owned() } else { stem.to_owned() }
}

/// A resolved point.
struct ResolvedPoint {
    raw: ScenarioRaw,
    setup: Setup,
    hash: String,
    fio: String,
    array: Option<ArrayInForce>,
    assumed: Vec<Assumed>,
    firmware: Vec<Firmware>,
    /// The replayed trace, with its fingerprint.
    trace: Option<(String, String)>,
    cached_writes: Vec<CachedWrites>,
}

fn point(
    table: Table,
    all: Place,
    first: bool,
    shared: &mut Shared<'_>,
    log: &mut Log,
) -> Option<ResolvedPoint> {
    let here = Place { end: all.start, ..all };
    let mut raw = ScenarioRaw::read(&Node { place: here, value: Value::Table(table) }, log)?;
    let whole = raw.workload.take().map(|written| shared.workload(&written, log));
    let clear = !matches!(whole, Some(None));
    raw.workload = whole.flatten();
    if let Some(workload) = &mut raw.workload {
        words_without_meaning(&mut workload.value, log);
    }
    log.is_replayed = raw.workload.as_ref().is_some_and(|at| at.value.trace.is_some());
    let target = if raw.readable("target") { shared.target(raw.target.as_ref(), here, log) } else { None };
    let served = target.as_ref().map(|meant| Served::by(&meant.params));
    let found = if clear { jobs(raw.workload.as_ref(), served, here, log) } else { None };
    let cut = raw.target.as_ref().and_then(|at| power_cut(&at.value));
    let run = run(raw.run.as_ref(), raw.workload.as_ref(), cut.as_ref(), log);
    if let Some(target) = &raw.target {
        check_in_time(&target.value, &run, log);
    }
    let recorded = raw.workload.as_ref().filter(|at| clear && at.value.trace.is_some());
    let recorded = recorded.map(|at| trace::fed(&at.value, served, &run, shared.loader, log));
    let (ResolvedTarget { params, canonical, array, assumed, firmware, cached_writes }, found) =
        (target?, found?);
    let recorded = match recorded {
        Some(None) => return None,
        recorded => recorded.flatten(),
    };
    let fio = fio::job_file(&found, raw.workload.as_ref().map(|at| &at.value), &run, first);
    let trace = match (&mut raw.workload, &recorded) {
        (Some(at), Some((_, fingerprint))) => trace::by_fingerprint(&mut at.value, fingerprint),
        _ => None,
    };
    check_until(raw.run.as_ref(), &params, log);
    check_cut(cut.as_ref(), &run, &params, log);
    let target = raw.target.as_ref();
    let injections = target.map(|at| injections(&at.value, &params, log)).unwrap_or_default();
    check_time_passes(&raw, &params, &found, here, log);
    let hash = Hash::of(&meaning(&raw, &canonical)).hex();
    let (jobs, sections) = (expand(&found), sections(&found));
    let fed = recorded.map(|(fed, _)| fed).or_else(|| fed(&found));
    let setup = Setup {
        target: params,
        jobs,
        sections,
        fed,
        warmup: run.warmup,
        limit: run.limit,
        seed: run.seed,
        traces: 0,
        checks_data: false,
        injections: injections.into(),
        power_cut: cut.map(|at| Instant::ZERO + at.value),
    };
    Some(ResolvedPoint { raw, setup, hash, fio, array, assumed, firmware, cached_writes, trace })
}

/// With a target that answers at once, a closed loop without any time of its own would issue forever at one
/// instant.
fn check_time_passes(raw: &ScenarioRaw, target: &TargetParams, jobs: &[Job], here: Place, log: &mut Log) {
    // After another problem, this one may only be its consequence.
    if !matches!(target, TargetParams::Server(ServerParams { service: None, .. })) || log.count() > 0 {
        return;
    }
    let timeless = |job: &&Job| {
        let params = &job.params;
        let closed = job.listed.is_none()
            && matches!(params.arrivals, Arrivals::Closed { think, .. } | Arrivals::Bursts { think, .. } if think.is_zero());
        closed && params.submit.fixed.is_zero() && params.submit.rate.is_none()
    };
    if let Some(job) = jobs.iter().find(timeless) {
        let message =
            format!("no time ever passes: the target answers at once and `{}` asks at once", job.name);
        let remedy =
            "set thinktime, rate_iops or submit in the workload, or take a drive or a server as the target";
        let place = raw.target.as_ref().and_then(|at| at.value.null.as_ref()).map_or(here, |null| null.place);
        log.fault(place, message, remedy);
    }
}

/// fio's options that have no effect here: removed, so that they do not change a hash, and noted.
fn words_without_meaning(workload: &mut WorkloadRaw, log: &mut Log) {
    let named = |place: Place, key: &str, log: &Log| {
        log.option(place).map_or_else(|| format!("workload.{key}"), ToOwned::to_owned)
    };
    workload.name = None;
    if let Some(at) = workload.ioengine.take() {
        let name = named(at.place, "ioengine", log);
        log.note(format!("{name} changes nothing: the host is simulated, and sends I/Os by no engine"));
    }
    match workload.time_based.take() {
        Some(At { value: Fio(true), place, .. }) => {
            let name = named(place, "time_based", log);
            log.note(format!(
                "{name} changes nothing: every run goes on for its time, from the start of a range again"
            ));
        }
        Some(At { place, .. }) => {
            let remedy = "leave it out, or end the job after an amount of data with io_size";
            log.fault(place, "no run ends with its range, as fio's does without time_based", remedy);
        }
        None => {}
    }
}

/// A point's canonical text, without its name.
fn meaning(raw: &ScenarioRaw, target: &str) -> String {
    let mut text = format!("target={target};");
    if let Some(workload) = raw.workload.as_ref().filter(|workload| !workload.value.set().is_empty()) {
        workload.value.write(&mut text);
    }
    text.push('|');
    if let Some(run) = &raw.run {
        run.value.write(&mut text);
    }
    text
}
