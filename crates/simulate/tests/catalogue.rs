//! Drives of the catalogue in a queue, against figures that others measured or worked out: docs/accuracy.md.
#![allow(clippy::print_stdout, reason = "what a test measured is worth reading")]
use drivelab_core::Setup;
use drivelab_record::Point;
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_simulate::run_many;
use std::sync::atomic::AtomicBool;

/// Random reads of 4 KiB over the whole drive at each of these depths.
fn sweep(target: &str, depths: &[u32], ios: u32) -> Vec<Point> {
    let text = format!(
        "[target]\n{target}\n[workload]\niodepth = {depths:?}\n[run]\nwarmup = \"10s\"\nios = {ios}\n"
    );
    let planned = plan(&Source { origin: "test.toml".to_owned(), text }, &[], &NoFiles)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let setups: Vec<Setup> = planned.points.into_iter().map(|point| point.setup).collect();
    let mut points = Vec::new();
    run_many(&setups, 2, &AtomicBool::new(false), |_, _| (), |i, point| points.push((i, point.unwrap())));
    points.sort_by_key(|(i, _)| *i);
    points.into_iter().map(|(_, point)| point).collect()
}

/// Holds a figure to its reference.
fn hold(what: &str, figure: f64, reference: f64, within: f64) {
    let off = figure / reference - 1.0;
    println!("{what}: {figure:.2} against {reference:.2}, {:+.1} %", off * 100.0);
    assert!(off.abs() <= within, "{what}: {figure} is not within {within} of {reference}");
}

/// DiskSim 4.0 on the same parameters, its caches off. With one command outstanding nothing hides the 0.284 ms that the
/// drive takes to take a read up; with two the one in service does. (Its own SPTF reckons with a stale angle.)
#[test]
fn the_cheetah_gains_by_its_queue_what_an_established_simulator_says() {
    let cheetah = |order: &str| {
        format!(
            "drive = \"seagate-cheetah-9lp\"\nread_ahead = false\nqueue = {{ order = \"{order}\", depth = 128 }}"
        )
    };
    let depths = [1, 2, 8, 32];
    for (depth, point) in depths.iter().zip(sweep(&cheetah("fcfs"), &depths, 60_000)) {
        let expected = if *depth == 1 { 104.0 } else { 107.1 };
        hold(&format!("fcfs, {depth} outstanding"), point.iops, expected, 0.01);
    }
    let expected = [(8, 137.0), (32, 165.0), (128, 184.0)];
    let points = sweep(&cheetah("c-look"), &expected.map(|(depth, _)| depth), 60_000);
    for ((depth, iops), point) in expected.into_iter().zip(points) {
        hold(&format!("c-look, {depth} outstanding"), point.iops, iops, 0.03);
    }
}
