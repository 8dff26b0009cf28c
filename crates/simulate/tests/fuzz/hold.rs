//! What holds of every run, whatever the scenario.
use crate::draft::Draft;
use drivelab_core::Setup;
use drivelab_record::Point;
use drivelab_simulate::{Control, RunError, run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

pub fn try_run(setup: &Setup) -> Result<Point, RunError> {
    run(setup, &Control { stop: &AtomicBool::new(false), progress: &|_| () })
}

/// Plans and runs a draft; says what does not hold, beginning with a word for the kind of fault.
pub fn hold(draft: &Draft) -> Result<u64, String> {
    let caught = catch_unwind(AssertUnwindSafe(|| held(draft)));
    caught.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

fn held(draft: &Draft) -> Result<u64, String> {
    // Lines that were dropped while a fault was made smaller may leave nothing that runs: then it is another fault.
    let plan = draft.plan().map_err(|problems| format!("refused: {problems}"))?;
    let again = draft.plan().map_err(|problems| format!("refused the second time: {problems}"))?;
    if plan.hash != again.hash {
        return Err("hash: the same text has two hashes".to_owned());
    }
    let mut runs = 0;
    for point in plan.points.iter().take(4) {
        of_setup(&point.setup)?;
        runs += 1;
    }
    Ok(runs)
}

fn of_setup(setup: &Setup) -> Result<(), String> {
    let plain = outcome(setup)?;
    if let Some(point) = &plain {
        sums(point, setup)?;
    }
    let watched = Setup { traces: 40, checks_data: true, ..setup.clone() };
    match (plain, outcome(&watched)?) {
        (Some(plain), Some(watched)) => same("log and check", &plain, &watched),
        _ => Ok(()),
    }
}

/// A run's record; nothing where the scenario asks for what cannot be and is told so; an error where drivelab is wrong.
fn outcome(setup: &Setup) -> Result<Option<Point>, String> {
    match try_run(setup) {
        Ok(point) => Ok(Some(point)),
        Err(
            error @ (RunError::Interrupted
            | RunError::Stalled { .. }
            | RunError::Endlong
            | RunError::Defect(_)
            | RunError::Accounts(_)
            | RunError::Violation(_)),
        ) => Err(format!("{}: {error}", word(&error))),
        Err(_) => Ok(None),
    }
}

fn word(error: &RunError) -> String {
    format!("{error:?}").split(['(', ' ', '{']).next().unwrap_or("").to_owned()
}

/// The figures that no observer may change.
pub fn same(what: &str, one: &Point, other: &Point) -> Result<(), String> {
    let bare = |point: &Point| Point { array: None, data: None, power_cut: None, log: None, ..point.clone() };
    if bare(one) == bare(other) {
        return Ok(());
    }
    Err(format!("changed by {what}: {:?}\n{:?}", bare(one), bare(other)))
}

/// What adds up in every record.
fn sums(point: &Point, setup: &Setup) -> Result<(), String> {
    let fault = |what: &str| Err(format!("record: {what}: {point:?}"));
    let ios = point.read.ios + point.write.ios;
    if setup.limit.ios.is_some_and(|limit| ios > limit) {
        return fault("more I/Os than asked for");
    }
    let per_second = point.iops * point.window_ns as f64 / 1e9;
    if point.window_ns > 0 && (per_second - ios as f64).abs() > 1e-6 * (1.0 + per_second) {
        return fault("the rate is not I/Os by time");
    }
    let latency = &point.latency_ns;
    if let (Some(mean), Some(least), Some(most)) = (latency.mean, latency.min, latency.max) {
        if latency.n != ios || mean < least as f64 - 1.0 || mean > most as f64 + 1.0 {
            return fault("the mean latency lies outside of what was seen");
        }
        let Some(parts) = point.breakdown_ns else { return fault("I/Os without a breakdown") };
        let sum = parts.queue
            + parts.overhead
            + parts.seek
            + parts.rotation
            + parts.transfer
            + parts.link
            + parts.wait;
        if (sum - mean).abs() > 1.0 + 1e-9 * mean {
            return fault("the breakdown is not the mean latency");
        }
    }
    let shares = [latency.p50, latency.p90, latency.p95, latency.p99, latency.p99_9];
    let known: Vec<u64> = shares.into_iter().flatten().collect();
    if !known.is_sorted() {
        return fault("percentiles fall");
    }
    Ok(())
}

/// Takes lines away as long as the fault stays the same.
pub fn smallest(draft: &Draft, fault: &str) -> Draft {
    let kind = |fault: &str| fault.split(':').next().unwrap_or("").to_owned();
    let stays = |less: &Draft| hold(less).err().is_some_and(|found| kind(&found) == kind(fault));
    let mut best = draft.clone();
    loop {
        let less = best.loose().into_iter().rev().map(|line| best.without(line)).find(|less| stays(less));
        match less.or_else(|| best.shorter().into_iter().find(|less| stays(less))) {
            Some(less) => best = less,
            None => return best,
        }
    }
}
