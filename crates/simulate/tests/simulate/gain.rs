//! What a queue gains on each drive of the catalogue, and what it costs: order against order on the same random reads.
//! Properties of one firmware, such as a short window or rounds, are switched off: this is about the orders.
#![allow(clippy::print_stdout, reason = "what a test measured is worth reading")]
use drivelab_core::Setup;
use drivelab_record::Point;
use drivelab_scenario::{NoFiles, Source, catalogue, plan};
use drivelab_simulate::run_many;
use std::sync::atomic::AtomicBool;

const DEPTHS: [u32; 6] = [1, 2, 4, 16, 64, 256];
const RUNS: usize = 4;

/// Uniform random reads of 4 KiB at each depth, under the seeds 1 to [`RUNS`]: by depth, then by seed.
fn sweep(drive: &str, order: &str) -> Vec<Vec<Point>> {
    let seeds: Vec<usize> = (1..=RUNS).collect();
    let window = if order == "fcfs" {
        ""
    } else {
        "considers = 65536\nsorts_from = 1\nread_margin = \"0s\"\nwrite_margin = \"0s\"\nseek_margin = 0\n"
    };
    let text = format!(
        "[target]\ndrive = \"{drive}\"\ncache = false\n[target.queue]\nprotocol = \"scsi-tcq\"\ndepth = 256\n\
         order = \"{order}\"\nchooses = \"at-media-end\"\n{window}coalesces = 1\n\
         [workload]\niodepth = {DEPTHS:?}\n[run]\nwarmup = \"10s\"\nios = 4000\nseed = {seeds:?}\n"
    );
    let planned = plan(&Source { origin: "test.toml".to_owned(), text }, &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let setups: Vec<Setup> = planned.points.into_iter().map(|point| point.setup).collect();
    let mut points = Vec::new();
    run_many(&setups, 2, &AtomicBool::new(false), |_, _| (), |i, point| points.push((i, point.unwrap())));
    points.sort_by_key(|(i, _)| *i);
    let points: Vec<Point> = points.into_iter().map(|(_, point)| point).collect();
    points.chunks(RUNS).map(<[Point]>::to_vec).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    values.sum::<f64>() / RUNS as f64
}

fn iops(points: &[Point]) -> f64 {
    mean(points.iter().map(|point| point.iops))
}

/// The mean difference of paired runs, in its own standard errors.
fn lead(better: &[Point], worse: &[Point]) -> f64 {
    let differences: Vec<f64> = better.iter().zip(worse).map(|(a, b)| a.iops - b.iops).collect();
    let middle = mean(differences.iter().copied());
    let variance = differences.iter().map(|x| (x - middle) * (x - middle)).sum::<f64>() / (RUNS - 1) as f64;
    middle / (variance / RUNS as f64).sqrt()
}

/// The 99th percentile of the latency over its mean.
fn tail(points: &[Point]) -> f64 {
    mean(points.iter().map(|point| point.latency_ns.p99.unwrap() as f64 / point.latency_ns.mean.unwrap()))
}

fn row(what: &str, figures: impl Iterator<Item = f64>) {
    let figures: Vec<String> = figures.map(|figure| format!("{figure:8.2}")).collect();
    println!("{what:34}{}", figures.join(""));
}

fn check(drive: &str) {
    let [fcfs, c_look, sptf, aged] = ["fcfs", "c-look", "sptf", "aged-sptf"].map(|order| sweep(drive, order));
    println!("{drive}: {DEPTHS:?} outstanding");
    for (name, points) in [("fcfs", &fcfs), ("c-look", &c_look), ("sptf", &sptf), ("aged-sptf", &aged)] {
        row(&format!("  {name}, I/Os per second"), points.iter().map(|points| iops(points)));
        row(&format!("  {name}, p99 over mean"), points.iter().map(|points| tail(points)));
    }
    for (i, depth) in DEPTHS.into_iter().enumerate() {
        let pairs = [("c-look over fcfs", &c_look[i], &fcfs[i]), ("sptf over c-look", &sptf[i], &c_look[i])];
        for (what, better, worse) in pairs {
            if depth <= 2 {
                // One is in service, so there is at most one to choose from: the very same run.
                let digests = |points: &[Point]| -> Vec<String> {
                    points.iter().map(|point| point.digest.clone()).collect()
                };
                assert_eq!(digests(better), digests(worse), "{drive}: {what} at {depth}");
            } else {
                let lead = lead(better, worse);
                assert!(lead > 3.0, "{drive}: {what} at {depth} by {lead} standard errors");
            }
        }
    }
    let rises = sptf.windows(2).all(|pair| lead(&pair[1], &pair[0]) > 3.0);
    assert!(rises, "{drive}: sptf gains with every step in depth");
    check_hidden_overhead(drive, &fcfs);
    check_tails(drive, [&fcfs, &c_look, &sptf, &aged]);
}

/// With two outstanding the firmware and the link work beside the mechanism: what they took at depth 1 is the gain.
fn check_hidden_overhead(drive: &str, points: &[Vec<Point>]) {
    let part = |of: fn(&drivelab_record::point::BreakdownMeans) -> f64| {
        mean(points[0].iter().map(|point| of(&point.breakdown_ns.unwrap())))
    };
    let hidden = part(|parts| parts.overhead + parts.link);
    let left = part(|parts| parts.seek + parts.rotation + parts.transfer);
    let (gain, expected) = (iops(&points[1]) / iops(&points[0]) - 1.0, hidden / left);
    println!("  gain at 2: {:.2} %, hidden overhead: {:.2} %", gain * 100.0, expected * 100.0);
    assert!((gain - expected).abs() < 0.005, "{drive}: {gain} is not {expected}");
}

fn check_tails(drive: &str, [fcfs, c_look, sptf, aged]: [&Vec<Vec<Point>>; 4]) {
    let last = DEPTHS.len() - 1;
    let tails: Vec<f64> = fcfs.iter().map(|points| tail(points)).collect();
    assert!(tails.is_sorted_by(|a, b| a > b), "{drive}: fcfs, {tails:?}");
    for points in &c_look[3..=4] {
        assert!((1.6..2.4).contains(&tail(points)), "{drive}: c-look, {}", tail(points));
    }
    assert!(tail(&sptf[last]) > 3.0, "{drive}: sptf, {}", tail(&sptf[last]));
    assert!(tail(&aged[last]) < tail(&sptf[last]), "{drive}: ageing bounds the tail");
}

#[test]
fn on_every_drive_the_orders_keep_their_ranks_and_their_tails() {
    // A flash drive has no order, and behind one address range two arms work at the same time.
    let has_one_arm =
        |text: &str| !text.contains("\n[flash]\n") && !text.contains("value = \"address-ranges\"");
    let disks = catalogue::entries("drives").into_iter().filter(|drive| has_one_arm(drive.text));
    for drive in disks {
        check(drive.name);
    }
}
