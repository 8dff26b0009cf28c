//! Runs for the tests of this room, and what a mean over several runs can be held to.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::print_stdout, reason = "what a test measured is worth reading")]

#[path = "../../../core/tests/core/common/mod.rs"]
mod machines;

use drivelab_core::Setup;
use drivelab_record::Point;
use drivelab_simulate::{Control, RunError, run, run_many};
pub use machines::*;
use std::sync::atomic::AtomicBool;

pub fn try_point(setup: &Setup) -> Result<Point, RunError> {
    run(setup, &Control { stop: &AtomicBool::new(false), progress: &|_| () })
}

pub fn point(setup: &Setup) -> Point {
    try_point(setup).unwrap()
}

/// The setup under the seeds 1, 2, ... up to `runs`.
pub fn points(setup: &Setup, runs: u64) -> Vec<Point> {
    let setups: Vec<Setup> = (1..=runs).map(|seed| Setup { seed, ..setup.clone() }).collect();
    let mut points = Vec::new();
    run_many(&setups, 2, &AtomicBool::new(false), |_, _| (), |_, point| points.push(point.unwrap()));
    points
}

/// Holds the mean of independent samples to a closed form: within four standard errors, and within half a percent.
pub fn assert_mean(what: &str, samples: &[f64], expected: f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
    let error = (squares / (n - 1.0) / n).sqrt();
    let off = mean / expected - 1.0;
    println!(
        "{what}: {mean:.6} against {expected:.6}: {:+.3} %, standard error {:.3} %",
        off * 100.0,
        error / mean * 100.0
    );
    assert!((mean - expected).abs() <= 4.0 * error, "{what}: {mean} is not {expected} within 4 x {error}");
    assert!(off.abs() <= 0.005, "{what}: {mean} is not {expected} within 0.5 %");
}
