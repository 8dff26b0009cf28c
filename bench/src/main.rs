//! Simulated commands per second on fixed setups, as JSON lines, each with its ratio to a floor loop of the same run.
//!
//! The machines that run this are shared and noisy: quote the ratios, not the nanoseconds. The floor is the
//! minimum work that any simulation of a disk must do per command. All cases are timed in nine rounds, each
//! in turn with the floor; the shortest time of a case is compared with the shortest of the floor, since
//! disturbances only ever add to a run. `processor_ratio` is the ratio of processor times, `floor_ratio` that
//! of wall-clock times. `change_percent` is the change of the processor ratio from the one in
//! bench/baseline.json; negative is faster.
//!
//! `drivelab-bench COMMANDS NAME` times the cases whose names contain NAME. The deep queues are timed only on
//! request: `drivelab-bench 300000 deep`, or `deep/large/sptf`. So is the rebuild of an array:
//! `drivelab-bench 1 rebuild`. `--keep` writes the ratios to bench/baseline.json; keep those of a release,
//! timed on an idle machine.
mod arrays;
mod baseline;
mod data;
mod everyday;
mod floor;
mod rebuild;
mod setups;

use baseline::Baseline;
use drivelab_core::Setup;
use drivelab_simulate::{Control, run};
use setups::Case;
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

const ROUNDS: usize = 9;
/// Enough for a stable minimum, and few enough that all cases together take about a minute on one processor.
const COMMANDS: u64 = 100_000;
/// The floor is so much faster that its minimum is stable only over more commands.
const FLOOR_COMMANDS: u64 = 2_000_000;

/// The digest of one run, or why there is none.
fn digest(setup: &Setup) -> String {
    let stop = AtomicBool::new(false);
    match run(setup, &Control { stop: &stop, progress: &|_| {} }) {
        Ok(point) => point.digest,
        Err(error) => error.to_string(),
    }
}

/// The shortest times so far, in nanoseconds: wall-clock, and processor time where the system reports it.
#[derive(Clone, Copy)]
struct Least {
    clock: f64,
    processor: f64,
}

impl Least {
    const NONE: Least = Least { clock: f64::INFINITY, processor: f64::INFINITY };

    /// Does some work and updates the shortest times with its own.
    fn time<T>(&mut self, count: u64, work: impl FnOnce() -> T) -> T {
        let (begun, had) = (Instant::now(), on_processor());
        let result = work();
        let (spent, has) = (begun.elapsed().as_nanos() as f64, on_processor());
        self.clock = self.clock.min(spent / count as f64);
        if let Some((has, had)) = has.zip(had) {
            self.processor = self.processor.min((has - had) / count as f64);
        }
        result
    }
}

/// Nanoseconds that this thread has run on a processor, where the system reports it: the scheduler's own
/// count, which does not grow while other threads run.
fn on_processor() -> Option<f64> {
    // The count is brought up to date when the thread yields.
    std::thread::yield_now();
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    schedstat.split_whitespace().next()?.parse::<f64>().ok()
}

/// Resident memory of this process in bytes, where the system reports it.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// The shortest times of each case, in order, and of the floor; and the digests.
fn time_all(cases: &[Case], commands: u64) -> (Vec<(Least, String)>, Least) {
    let floor = floor::Floor::new();
    let mut floor_least = Least::NONE;
    let mut timed = vec![(Least::NONE, String::new()); cases.len()];
    for _ in 0..ROUNDS {
        for (case, (least, seen)) in cases.iter().zip(&mut timed) {
            floor_least.time(FLOOR_COMMANDS, || floor.run(FLOOR_COMMANDS));
            *seen = least.time(commands, || digest(&case.setup));
        }
    }
    (timed, floor_least)
}

fn main() -> std::io::Result<()> {
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let commands: u64 = words.first().and_then(|n| n.parse().ok()).unwrap_or(COMMANDS);
    let mut out = std::io::stdout().lock();
    let only = words.get(1);
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only.as_str()));
    let deep = only.is_some_and(|only| only.starts_with("deep"));
    let mut cases = if deep { setups::deep(commands) } else { setups::cases(commands) };
    cases.retain(|case| wanted(&case.name));
    if !cases.is_empty() {
        print(&mut out, &cases, commands, flags.iter().any(|flag| flag == "--keep"))?;
    }
    if only.is_some_and(|only| only.starts_with("rebuild")) {
        return rebuild::print(&mut out);
    }
    if wanted("memory") { memory(&mut out, commands) } else { Ok(()) }
}

/// Times the cases and prints a line for each.
fn print(out: &mut impl Write, cases: &[Case], commands: u64, keep: bool) -> std::io::Result<()> {
    let mut baseline = Baseline::read()?;
    let (timed, floor) = time_all(cases, commands);
    for (case, (least, digest)) in cases.iter().zip(timed) {
        let (name, ns, ratio) = (&case.name, least.clock, least.clock / floor.clock);
        let mut extra = String::new();
        let on_processor = least.processor / floor.processor;
        if on_processor.is_finite() {
            extra = format!("\"processor_ratio\": {on_processor:.2}, ");
            if let Some(change) = baseline.change(name, on_processor) {
                extra += &format!("\"change_percent\": {change:.1}, ");
            }
            baseline.keep(name, on_processor);
        }
        writeln!(
            out,
            "{{\"name\": \"{name}\", \"commands_per_s\": {:.0}, \"ns_per_command\": {ns:.1}, \"floor_ratio\": {ratio:.2}, {extra}\"digest\": \"{digest}\"}}",
            1e9 / ns,
        )?;
    }
    let ns = floor.clock;
    writeln!(
        out,
        "{{\"name\": \"floor\", \"commands_per_s\": {:.0}, \"ns_per_command\": {ns:.1}, \"floor_ratio\": 1.00}}",
        1e9 / ns
    )?;
    if keep { baseline.write() } else { Ok(()) }
}

/// How memory grows with the length of a run.
fn memory(out: &mut impl Write, commands: u64) -> std::io::Result<()> {
    let long = commands * 100;
    for (name, count) in [("memory/short", commands), ("memory/long", long)] {
        digest(&setups::queue_depth(1, count));
        if let Some(bytes) = resident_bytes() {
            writeln!(out, "{{\"name\": \"{name}\", \"commands\": {count}, \"resident_bytes\": {bytes}}}")?;
        }
    }
    Ok(())
}
