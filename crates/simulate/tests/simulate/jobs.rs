//! The figures of each job: their sums are those of the run, and Little's law holds for each.
use crate::common::*;
use drivelab_core::host::params::{Addressing, JobParams};
use drivelab_core::{Priority, Section, Setup};
use drivelab_record::{JobRecord, Point};
use drivelab_units::Share;

fn section(name: &str, copies: u32) -> Section {
    Section { name: name.to_owned(), copies, priorities: vec![Priority::Normal] }
}

/// A stream eight deep, three random readers, and a job of reads and writes, on a drive that serves in order.
fn beside() -> Setup {
    let mut params = drive();
    params.queue = queue(16, drivelab_core::storage::drive::queue::Order::Fcfs);
    let target = target(&params);
    let base = random_job(&target, 1, 8);
    let stream = JobParams {
        addressing: Addressing::Sequential,
        sizes: sizes(64),
        arrivals: outstanding(8),
        ..base.clone()
    };
    let reader = |process| JobParams { process, arrivals: outstanding(1), ..base.clone() };
    let both = JobParams {
        process: 4,
        reads: Share::from_ratio(1, 3).unwrap(),
        sizes: sizes(16),
        arrivals: outstanding(2),
        ..base.clone()
    };
    Setup {
        jobs: vec![stream, reader(1), reader(2), reader(3), both],
        sections: [section("stream", 1), section("readers", 3), section("both", 1)].into(),
        warmup: ms(500),
        ..setup(target, job(), 20_000)
    }
}

fn jobs(point: &Point) -> Vec<&JobRecord> {
    point.jobs.0.iter().map(|(_, job)| job).collect()
}

#[test]
fn the_jobs_of_a_run_add_up_to_it() {
    let point = point(&beside());
    let names: Vec<&str> = point.jobs.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["stream", "readers", "both"]);
    assert_eq!(jobs(&point).iter().map(|job| job.numjobs).collect::<Vec<_>>(), [1, 3, 1]);
    let sum = |of: fn(&JobRecord) -> u64| jobs(&point).iter().map(|job| of(job)).sum::<u64>();
    assert_eq!(sum(|job| job.read.ios), point.read.ios);
    assert_eq!(sum(|job| job.write.ios), point.write.ios);
    assert_eq!(sum(|job| job.read.bytes), point.read.bytes);
    assert_eq!(sum(|job| job.write.bytes), point.write.bytes);
    let most = jobs(&point).iter().filter_map(|job| job.latency_ns.max).max();
    assert_eq!(most, point.latency_ns.max);
    // The sums of all latencies are the same, to the nanosecond.
    let total = |latency: &drivelab_record::LatencySummary| latency.n as f64 * latency.mean.unwrap_or(0.0);
    let all: f64 = jobs(&point).iter().map(|job| total(&job.latency_ns)).sum();
    assert!((all - total(&point.latency_ns)).abs() < 1.0, "{all}");
    assert_eq!(jobs(&point)[0].write.ios + jobs(&point)[1].write.ios, 0, "they only read");
    assert!(jobs(&point)[2].write.ios > jobs(&point)[2].read.ios);
}

#[test]
fn littles_law_holds_for_each_job() {
    let point = point(&beside());
    // A job without think time always has all of its I/Os in the system.
    for (job, depth) in jobs(&point).into_iter().zip([8.0, 3.0, 2.0]) {
        let found = job.iops * job.latency_ns.mean.unwrap() / 1e9;
        assert!((found / depth - 1.0).abs() < 0.02, "{found} of {depth}");
    }
}

#[test]
fn telling_jobs_apart_changes_nothing_else() {
    let told = point(&beside());
    let alike = point(&Setup { sections: [].into(), ..beside() });
    assert!(alike.jobs.0.is_empty());
    assert_eq!(Point { jobs: alike.jobs.clone(), ..told }, alike);
    // One job, however many copies it has, is the run.
    assert!(point(&Setup { sections: [section("all", 5)].into(), ..beside() }).jobs.0.is_empty());
}
