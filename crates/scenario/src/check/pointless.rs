//! Keys of a workload that have no effect: their author meant something by them.
use crate::keys::read::Names;
use crate::raw::workload::{JobRaw, Rw};
use crate::text::problem::{Log, Place};

/// Keys of the workload that every job overrides with its own.
pub fn overridden(workload: &JobRaw, jobs: &Names<JobRaw>, log: &mut Log) {
    let names: Vec<&str> = jobs.0.iter().map(|(name, _)| name.as_str()).collect();
    // The keys of `submit` are inherited one by one, and those of a pattern are not the scenario's.
    let own = |(key, place): &(&str, Place)| *key != "submit" && !log.is_of_a_named_file(*place);
    for (key, place) in workload.set().into_iter().filter(own).collect::<Vec<_>>() {
        let takers: Vec<&JobRaw> =
            jobs.0.iter().map(|(_, at)| &at.value).filter(|job| !job.takes_over(key)).collect();
        if takers.iter().any(|job| !job.readable(key)) {
            continue;
        }
        if takers.is_empty() {
            let message = format!("`{key}` has no effect: every job sets its own ({})", listed(&names));
            let paths: Vec<String> =
                names.iter().map(|name| format!("`workload.job.{name}.{key}`")).collect();
            log.fault(place, message, format!("set {}, or leave it out here", listed(&paths)));
        } else {
            let jobs: Vec<JobRaw> = takers.into_iter().map(|job| with_rw_of(job, workload)).collect();
            let jobs: Vec<&JobRaw> = jobs.iter().collect();
            check_rw(key, place, &jobs, log);
        }
    }
}

/// Keys of this table that the access pattern (`rw`) of the jobs that inherit them does not use.
pub fn beside_rw(table: &JobRaw, jobs: &[&JobRaw], log: &mut Log) {
    for (key, place) in table.set() {
        check_rw(key, place, jobs, log);
    }
}

fn with_rw_of(job: &JobRaw, workload: &JobRaw) -> JobRaw {
    let unreadable = [&job.unreadable[..], &workload.unreadable[..]].concat();
    JobRaw { rw: job.rw.clone().or(workload.rw.clone()), unreadable, ..JobRaw::default() }
}

fn check_rw(key: &str, place: Place, jobs: &[&JobRaw], log: &mut Log) {
    let (used, those): (fn(Rw) -> bool, _) = match key {
        "rwmixread" => (Rw::is_mixed, "rw or randrw"),
        "percentage_random_writes" => (|rw| rw == Rw::RandMixed, "randrw"),
        "max_open_zones" => (|rw| rw.is_random() && rw.writes(), "randwrite or randrw"),
        "fsync" | "end_fsync" => (Rw::writes, "write, randwrite, rw or randrw"),
        "percentage_random" | "random_distribution" => (Rw::is_random, "randread, randwrite or randrw"),
        _ => return,
    };
    let rw = |job: &JobRaw| job.rw.as_ref().map_or(Rw::RandRead, |at| at.value);
    // A pattern from the command line overrides the scenario's.
    let changed = |job: &&JobRaw| job.rw.as_ref().is_some_and(|rw| log.changes(rw.place, place));
    if jobs.iter().any(|job| !job.readable("rw") || used(rw(job))) || jobs.iter().any(changed) {
        log.has_effect(place);
        return;
    }
    if let Some(job) = jobs.first() {
        let message = format!("`{key}` has no effect with rw = \"{}\"", rw(job).name());
        log.no_effect(place, message, format!("set rw to {those}, or leave it out"));
    }
}

/// The first names of a possibly long list.
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    if names.len() > SHOWN {
        shown.push("..");
    }
    shown.join(", ")
}
