//! A single sequential stream: a deeper queue never costs it rate, and none of its commands is left behind. On every drive
//! of the catalogue and on 50 drawn at random, for reads and writes, from 4 KiB to 4 MiB, at depths from 1 to 256.
//!
//! Each run takes two block sizes for each drive of the catalogue, one for each random drive, and the cases that were once
//! wrong. `DRIVELAB_STREAMS=all` takes every size at every depth; `DRIVELAB_STREAMS=<name>` those of one drive.
#![allow(clippy::print_stdout, reason = "what a test measured is worth reading")]

mod random_drive;

use drivelab_core::Setup;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_record::Point;
use drivelab_scenario::{NoFiles, Source, catalogue, plan};
use drivelab_simulate::{RunError, run_many};
use std::sync::atomic::AtomicBool;

const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const FEW_DEPTHS: [u32; 6] = [1, 2, 4, 8, 32, 256];
/// Block sizes in KiB.
const SIZES: [u64; 7] = [4, 16, 64, 192, 512, 1_024, 4_096];
/// The least share of the best rate at a smaller depth.
const KEPT: f64 = 0.99;
/// The most written data that a cache holds here, in bytes.
const WRITE_LIMIT: u64 = 8 << 20;
/// Cases that lost rate, or whose commands waited until the age limit: drive, direction, KiB.
const ONCE_WRONG: [(&str, &str, u64); 12] = [
    ("hgst-c15k600", "read", 1_024),
    ("hgst-c15k600", "write", 1_024),
    ("hgst-c15k600", "write", 4),
    ("wd-wd6400aaks-00a7b0", "read", 1_024),
    ("wd-4tb-7200", "read", 1_024),
    ("wd-wd740gd-00fla1", "read", 64),
    ("seagate-cheetah-10k6-73gb", "read", 64),
    ("wd-ultrastar-dc-hc580-24tb", "read", 192),
    ("seagate-exos-x24-24tb", "read", 192),
    ("seagate-10k-scsi-74gb", "read", 4),
    ("seagate-exos-10e2400", "read", 192),
    ("seagate-cheetah-9lp", "read", 64),
];

/// How many drives are drawn at random.
const RANDOM_DRIVES: usize = 50;

/// One stream over the depths.
struct Case {
    name: String,
    /// The drive, as a section of a scenario.
    drive: String,
    rw: &'static str,
    kib: u64,
}

impl Case {
    /// Long enough for a command that is left behind to show, and for some hundred commands.
    fn window(&self) -> u64 {
        match self.kib {
            // A write cache answers in bursts.
            ..100 if self.rw == "read" => 1_500,
            ..4_096 => 5_000,
            _ => 20_000,
        }
    }

    fn setups(&self, depths: &[u32]) -> Vec<Setup> {
        let setups = self.planned(depths, "");
        // What a large write cache takes in the beginning says nothing of the stream.
        if self.rw == "write" && cached(&setups[0]) > WRITE_LIMIT {
            return self.planned(depths, &format!("[target.cache]\nwrite_limit = \"{WRITE_LIMIT}B\"\n"));
        }
        setups
    }

    fn planned(&self, depths: &[u32], more: &str) -> Vec<Setup> {
        let Case { drive, rw, kib, .. } = self;
        let window = self.window();
        // Until a write cache is as full as it will be.
        let warmup = if *rw == "write" { 4 } else { 1 };
        let text = format!(
            "{drive}\n{more}[workload]\nrw = \"{rw}\"\nbs = \"{kib}KiB\"\niodepth = {depths:?}\n\
             [run]\nwarmup = \"{warmup}s\"\nduration = \"{window}ms\"\n"
        );
        let planned = plan(&Source { origin: "stream.toml".to_owned(), text: text.clone() }, &[], &NoFiles)
            .unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        planned.points.into_iter().map(|point| point.setup).collect()
    }
}

/// The written data that the drive of a setup may hold, in bytes.
fn cached(setup: &Setup) -> u64 {
    let cache = model(setup).cache.as_ref();
    cache.and_then(CacheParams::for_writes).map_or(0, |cache| 512 * cache.limit.get())
}

/// The drive of a setup that has one.
fn model(setup: &Setup) -> &DriveModel {
    match &setup.target {
        TargetParams::Drive(model) => model,
        TargetParams::System(system) => &system.drives[0],
        _ => panic!("a stream has a drive"),
    }
}

fn all_cases() -> Vec<Case> {
    let known = catalogue::entries("drives")
        .into_iter()
        // A host-managed drive takes no write outside zonemode = "zbd", which `zones` looks at.
        .filter(|drive| !drive.text.contains("\n[host_managed]\n"))
        .map(|drive| (drive.name.to_owned(), format!("[target]\ndrive = \"{}\"", drive.name)));
    let random = (0..)
        .filter_map(|seed| Some((format!("random-{seed}"), random_drive::random_drive(seed)?)))
        .take(RANDOM_DRIVES);
    let mut cases = Vec::new();
    for (name, drive) in known.chain(random) {
        for rw in ["read", "write"] {
            let case = |&kib| Case { name: name.clone(), drive: drive.clone(), rw, kib };
            cases.extend(SIZES.iter().map(case));
        }
    }
    cases
}

fn is_once_wrong(case: &Case) -> bool {
    ONCE_WRONG.contains(&(case.name.as_str(), case.rw, case.kib))
}

/// Those that each run takes.
fn is_usual(number: usize, case: &Case) -> bool {
    let size = number % SIZES.len();
    let turn = number / SIZES.len();
    is_once_wrong(case) || size == turn % SIZES.len()
}

/// How many completions the drive of a setup reports together.
fn round(setup: &Setup) -> u64 {
    model(setup).queue.coalesces.map_or(1, u64::from)
}

/// The longest that a command may take: the service of all that the drive holds before it, and of those that are
/// reported with it, at this rate, and two turns.
fn longest(setup: &Setup, depth: u32, kib: u64, point: &Point) -> f64 {
    let written = if point.write.ios > 0 { cached(setup) } else { 0 };
    let ahead = (u64::from(depth) + round(setup) - 1) * kib * 1_024 + written;
    ahead as f64 / point.bytes_per_s + 2.0 * model(setup).period.as_ns() as f64 / 1e9
}

/// What a case loses at these depths; empty where all is well.
fn lost(case: &Case, depths: &[u32], setups: &[Setup], points: &[Result<Point, String>]) -> Vec<String> {
    let (mut best, mut lost) = (0.0, Vec::new());
    // One report more or less in the window is not a matter of rate.
    let grain = (round(&setups[0]) * case.kib * 1_024) as f64 * 1_000.0 / case.window() as f64;
    for ((depth, setup), point) in depths.iter().zip(setups).zip(points) {
        let point = match point {
            Ok(point) => point,
            Err(error) => {
                lost.push(format!("{depth}: {error}"));
                continue;
            }
        };
        let rate = point.bytes_per_s;
        if rate + grain < KEPT * best {
            lost.push(format!("{depth}: {:.1} of {:.1} MB/s", rate / 1e6, best / 1e6));
        }
        best = best.max(rate);
        let waited =
            point.latency_ns.max.max(point.oldest_unfinished_ns).map_or(f64::MAX, |ns| ns as f64 / 1e9);
        let longest = longest(setup, *depth, case.kib, point);
        // The rate over the window is that of the command to a percent.
        if waited > 1.01 * longest {
            lost.push(format!("{depth}: waits {:.1} ms, {:.1} at most", waited * 1e3, longest * 1e3));
        }
    }
    lost
}

#[test]
fn a_stream_keeps_its_rate_and_its_order_at_any_depth() {
    let wanted = std::env::var("DRIVELAB_STREAMS").unwrap_or_default();
    let mut cases: Vec<(usize, Case)> = all_cases().into_iter().enumerate().collect();
    match wanted.as_str() {
        "" => cases.retain(|(number, case)| is_usual(*number, case)),
        "all" => {}
        name => cases.retain(|(_, case)| case.name == name),
    }
    let depths: &[u32] = if wanted.is_empty() { &FEW_DEPTHS } else { &DEPTHS };
    let mut found = 0;
    for some in cases.chunks(16) {
        let setups: Vec<Setup> = some.iter().flat_map(|(_, case)| case.setups(depths)).collect();
        let mut points = Vec::new();
        let done = |_, point: Result<Point, RunError>| points.push(point.map_err(|error| format!("{error}")));
        run_many(&setups, 2, &AtomicBool::new(false), |_, _| (), done);
        let of_each = setups.chunks(depths.len()).zip(points.chunks(depths.len()));
        for ((_, case), (setups, points)) in some.iter().zip(of_each) {
            let lost = lost(case, depths, setups, points);
            found += usize::from(!lost.is_empty());
            if !lost.is_empty() {
                println!("{} {} {} KiB: {}", case.name, case.rw, case.kib, lost.join("; "));
            }
        }
    }
    println!("{} cases, {} points: {found} cases lose", cases.len(), cases.len() * depths.len());
    assert_eq!(found, 0, "cases of {}", cases.len());
}
