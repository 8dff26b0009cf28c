//! Simulated commands per second on fixed setups, as JSON lines, each with its ratio to a floor loop of the same run.
//!
//! The machines that run this are shared and noisy: quote the ratios, not the nanoseconds. The floor is the least that
//! any simulation of a disk must do for a command; it is timed in turns with every case, and the medians are compared.
//! `floor_ratio` is of times on the clock. It is too high where others want the processor: then a case, which runs far
//! longer than its floor, is interrupted more of the time. `processor_ratio` is of the times that both had it.
//!
//! `drivelab-bench COMMANDS NAME` times the cases with that in their names. The deep queues are timed on request alone:
//! `drivelab-bench 300000 deep`, or `deep/large/sptf`. So is the rebuild of an array: `drivelab-bench 1 rebuild`.
mod arrays;
mod data;
mod floor;
mod rebuild;
mod setups;

use drivelab_core::Setup;
use drivelab_simulate::{Control, run};
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const ROUNDS: usize = 7;

/// Nanoseconds per command of one run, and its digest.
fn time_run(setup: &Setup, commands: u64) -> (f64, String) {
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let result = run(setup, &Control { stop: &stop, progress: &|_| {} });
    let spent = begun.elapsed();
    let digest = match result {
        Ok(point) => point.digest,
        Err(error) => error.to_string(),
    };
    (spent.as_nanos() as f64 / commands as f64, digest)
}

/// What something returns, and the nanoseconds of a processor that it took, where the system tells: the scheduler's own
/// count, which does not grow while others have the processor.
fn on_processor<T>(work: impl FnOnce() -> T) -> (T, Option<f64>) {
    let spent = || {
        // The count is fetched up to date as the thread gives way.
        std::thread::yield_now();
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        schedstat.split_whitespace().next()?.parse::<f64>().ok()
    };
    let begun = spent();
    let result = work();
    (result, spent().zip(begun).map(|(ended, begun)| ended - begun))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Resident memory of this process in bytes, where the system tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn main() -> std::io::Result<()> {
    let commands: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut out = std::io::stdout().lock();
    let mut floors = Vec::new();
    let floor_setup = floor::Floor::new();
    let only = std::env::args().nth(2);
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let deep = only.as_ref().is_some_and(|only| only.starts_with("deep"));
    let cases = if deep { setups::deep(commands) } else { setups::cases(commands) };
    for case in cases {
        if !wanted(&case.name) {
            continue;
        }
        let (mut spent, mut floor, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut digest, mut on_processor_ratios) = (String::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (floor_ns, floor_had) = on_processor(|| floor_setup.time(commands));
            let ((ns, seen), had) = on_processor(|| time_run(&case.setup, commands));
            ratios.push(ns / floor_ns);
            on_processor_ratios.extend(had.zip(floor_had).map(|(had, floor_had)| had / floor_had));
            spent.push(ns);
            floor.push(floor_ns);
            digest = seen;
        }
        let (ns, ratio) = (median(&mut spent), median(&mut ratios));
        let on_processor = if on_processor_ratios.is_empty() {
            String::new()
        } else {
            format!("\"processor_ratio\": {:.2}, ", median(&mut on_processor_ratios))
        };
        writeln!(
            out,
            "{{\"name\": \"{}\", \"commands_per_s\": {:.0}, \"ns_per_command\": {ns:.1}, \"floor_ratio\": {ratio:.2}, {on_processor}\"digest\": \"{digest}\"}}",
            case.name,
            1e9 / ns,
        )?;
        floors.extend(floor);
    }
    if !floors.is_empty() {
        print_floor(&mut out, &mut floors)?;
    }
    if only.as_ref().is_some_and(|only| only.starts_with("rebuild")) {
        return rebuild::print(&mut out);
    }
    if wanted("memory") { memory(&mut out, commands) } else { Ok(()) }
}

fn print_floor(out: &mut impl Write, floors: &mut [f64]) -> std::io::Result<()> {
    let ns = median(floors);
    writeln!(
        out,
        "{{\"name\": \"floor\", \"commands_per_s\": {:.0}, \"ns_per_command\": {ns:.1}, \"floor_ratio\": 1.00}}",
        1e9 / ns
    )
}

/// How memory grows with the length of a run.
fn memory(out: &mut impl Write, commands: u64) -> std::io::Result<()> {
    let long = commands * 100;
    for (name, count) in [("memory/short", commands), ("memory/long", long)] {
        time_run(&setups::queue_depth(1, count), count);
        if let Some(bytes) = resident_bytes() {
            writeln!(out, "{{\"name\": \"{name}\", \"commands\": {count}, \"resident_bytes\": {bytes}}}")?;
        }
    }
    Ok(())
}
