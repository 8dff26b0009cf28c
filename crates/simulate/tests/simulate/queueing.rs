//! Host, agenda and statistics held to queueing theory, with stations in place of a disk.
use crate::common::{assert_mean, job, ms, outstanding, point, points, poisson, setup, stations, try_point};
use drivelab_core::host::params::{Arrivals, JobParams, OUTSTANDING_MAX, SubmitCost};
use drivelab_core::storage::server::Service;
use drivelab_core::{Limit, Setup};
use drivelab_record::point::Ended;
use drivelab_simulate::{Control, RunError, run};
use drivelab_units::{Frequency, Rate, Share, Span};
use std::sync::atomic::AtomicBool;

/// A millisecond in nanoseconds: the mean of every service here.
const MS: f64 = 1e6;
const MEAN: Span = Span::from_ms(1);
const EXPONENTIAL: Service = Service::Exponential { mean: MEAN };
const RUNS: u64 = 16;

/// One station with this service under these arrivals.
fn station(service: Service, arrivals: Arrivals, ios: u64) -> Setup {
    let job = JobParams { arrivals, ..job() };
    Setup { warmup: ms(200), ..setup(stations(Some(service), 1), job, ios) }
}

/// The mean response, and by Little's law the number inside.
fn holds_to(what: &str, setup: &Setup, response: f64, lambda: f64) {
    let points = points(setup, RUNS);
    let responses: Vec<f64> = points.iter().map(|point| point.latency_ns.mean.unwrap()).collect();
    let inside: Vec<f64> = points.iter().map(|point| point.depth.achieved).collect();
    assert_mean(&format!("{what}, response"), &responses, response);
    assert_mean(&format!("{what}, number inside"), &inside, lambda * response);
}

/// Pollaczek and Khinchine: mean response S + lambda E[S^2] / (2 (1 - rho)), at three utilisations.
fn holds_to_pollaczek_khinchine(name: &str, service: Service, second_moment: f64, ios: [u64; 3]) {
    for (tenths, ios) in [3, 6, 8].into_iter().zip(ios) {
        let rho = tenths as f64 / 10.0;
        let lambda = rho / MS;
        let response = MS + lambda * second_moment * MS * MS / (2.0 * (1.0 - rho));
        holds_to(
            &format!("{name} at {rho}"),
            &station(service, poisson(100 * tenths), ios),
            response,
            lambda,
        );
    }
}

#[test]
fn exponential_service_is_an_mm1() {
    holds_to_pollaczek_khinchine("M/M/1", EXPONENTIAL, 2.0, [100_000, 300_000, 1_400_000]);
}

#[test]
fn fixed_service_is_an_md1() {
    holds_to_pollaczek_khinchine("M/D/1", Service::Fixed(MEAN), 1.0, [40_000, 150_000, 700_000]);
}

#[test]
fn uniform_service_is_an_mg1() {
    // From 0 to 2: the second moment is 4/3.
    let service = Service::Uniform { least: Span::ZERO, most: ms(2) };
    holds_to_pollaczek_khinchine("M/U/1", service, 4.0 / 3.0, [40_000, 200_000, 800_000]);
}

#[test]
fn erlang_service_is_an_mg1() {
    // Four phases: the second moment is 1 + 1/4.
    let service = Service::Erlang { mean: MEAN, phases: 4 };
    holds_to_pollaczek_khinchine("M/E4/1", service, 1.25, [40_000, 200_000, 800_000]);
}

/// Equal gaps into exponential service: response S / (1 - s), where s = exp(-(1 - s) / rho).
#[test]
fn a_fixed_rate_into_exponential_service_is_a_dm1() {
    for (tenths, ios) in [(3u64, 40_000), (6, 150_000), (8, 700_000)] {
        let rho = tenths as f64 / 10.0;
        let root = (0..200).fold(0.0, |s: f64, _| exp((s - 1.0) / rho));
        let rate = Frequency::from_millihertz(100_000 * tenths).unwrap();
        let setup = station(EXPONENTIAL, Arrivals::Fixed { rate }, ios);
        holds_to(&format!("D/M/1 at {rho}"), &setup, MS / (1.0 - root), rho / MS);
    }
}

/// e^x for a small negative x: the series is enough.
fn exp(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..60 {
        term *= x / f64::from(n);
        sum += term;
    }
    sum
}

/// Mean value analysis of a closed network of exponential stations in tandem, with a delay beside them: throughput per
/// millisecond with `jobs` jobs (Reiser and Lavenberg 1980).
fn mean_value_analysis(jobs: u32, stations: u16, delay: f64) -> f64 {
    let (mut queue, mut throughput) = (0.0, 0.0);
    for n in 1..=jobs {
        let response = 1.0 + queue;
        throughput = f64::from(n) / (f64::from(stations) * response + delay);
        queue = throughput * response;
    }
    throughput
}

#[test]
fn a_closed_network_meets_mean_value_analysis() {
    for (jobs, count) in [(1, 1), (1, 3), (2, 2), (4, 3), (8, 2), (16, 5)] {
        let exact = mean_value_analysis(jobs, count, 0.0);
        // Balanced stations have a closed form too.
        let balanced = f64::from(jobs) / f64::from(jobs + u32::from(count) - 1);
        assert!((exact - balanced).abs() < 1e-12);
        let job = JobParams { arrivals: outstanding(jobs), ..job() };
        let setup = Setup { warmup: ms(100), ..setup(stations(Some(EXPONENTIAL), count), job, 30_000) };
        let points = points(&setup, RUNS);
        let rates: Vec<f64> = points.iter().map(|point| point.iops / 1e3).collect();
        assert_mean(&format!("{jobs} jobs in {count} stations, I/Os per ms"), &rates, exact);
        for point in &points {
            assert_eq!(point.depth.asked, Some(jobs.into()));
            assert!((point.depth.achieved - f64::from(jobs)).abs() < 1e-9);
        }
    }
}

/// A fixed think time is a delay beside the station; the throughput depends on its mean alone.
#[test]
fn thinking_jobs_meet_mean_value_analysis() {
    for (jobs, think) in [(1, 1), (4, 3), (8, 5), (8, 20)] {
        let arrivals = Arrivals::Closed { outstanding: jobs, think: ms(think) };
        let points = points(&station(EXPONENTIAL, arrivals, 40_000), RUNS);
        let rates: Vec<f64> = points.iter().map(|point| point.iops / 1e3).collect();
        let exact = mean_value_analysis(jobs, 1, think as f64);
        assert_mean(&format!("{jobs} jobs that think {think} ms, I/Os per ms"), &rates, exact);
    }
}

#[test]
fn a_think_time_is_kept_to_the_nanosecond() {
    let arrivals = Arrivals::Closed { outstanding: 1, think: ms(3) };
    let fixed = Setup {
        warmup: Span::ZERO,
        limit: Limit { duration: Some(ms(4_000)), ios: None, until: None },
        ..station(Service::Fixed(MEAN), arrivals, 0)
    };
    let point = point(&fixed);
    // 1 ms of service, 3 ms of thinking: the first at 0, the last at 3 996 ms.
    assert_eq!((point.read.ios, point.window_ns), (1_000, 4_000_000_000));
    assert_eq!((point.latency_ns.min, point.latency_ns.max), (Some(1_000_000), Some(1_000_000)));
    assert!((point.depth.achieved - 0.25).abs() < 1e-12, "{}", point.depth.achieved);
}

/// One arrival a microsecond, one served in two: the waiting grow beyond what the host keeps under way, and each still
/// counts from its own arrival.
#[test]
fn arrivals_beyond_what_the_host_keeps_under_way_wait_their_turn() {
    const IOS: u64 = 200_000;
    let rate = Frequency::from_millihertz(1_000_000_000).unwrap();
    let service = Service::Fixed(Span::from_us(2));
    let job = JobParams { arrivals: Arrivals::Fixed { rate }, ..job() };
    let point = point(&setup(stations(Some(service), 1), job, IOS));
    // The k-th arrives at k us and leaves at 2 k + 1 us.
    const { assert!(IOS / 2 > OUTSTANDING_MAX) };
    assert_eq!((point.latency_ns.min, point.latency_ns.max), (Some(2_000), Some((IOS + 1) * 1_000)));
    let mean = (IOS + 3) as f64 / 2.0 * 1e3;
    assert!((point.latency_ns.mean.unwrap() / mean - 1.0).abs() < 1e-12);
}

#[test]
fn what_the_hosts_software_takes_comes_before_the_service() {
    let response = |spread| {
        // 100 us for the command, 100 us for its 4 096 bytes.
        let rate = Rate::from_bytes_per_s(40_960_000);
        let submit = SubmitCost { fixed: Span::from_us(100), rate, spread };
        let job = JobParams { submit, ..job() };
        let point = point(&setup(stations(Some(Service::Fixed(MEAN)), 1), job, 20_000));
        let parts = point.breakdown_ns.unwrap();
        assert!((parts.overhead + MS - point.latency_ns.mean.unwrap()).abs() < 1e-3, "{parts:?}");
        point.latency_ns
    };
    let fixed = response(Share::NONE);
    assert_eq!((fixed.min, fixed.max), (Some(1_200_000), Some(1_200_000)));
    let spread = response(Share::from_ratio(1, 2).unwrap());
    let (least, most) = (spread.min.unwrap(), spread.max.unwrap());
    assert!(
        (1_150_000..1_150_100).contains(&least) && (1_249_900..=1_250_000).contains(&most),
        "{least} {most}"
    );
    // Four standard errors of a uniform spread of 100 us.
    let error = 100e3 / (12.0 * 20_000.0_f64).sqrt();
    assert!((spread.mean.unwrap() - 1.2e6).abs() < 4.0 * error, "{:?}", spread.mean);
}

#[test]
fn a_fixed_rate_is_kept_to_the_nanosecond() {
    let rate = Frequency::from_millihertz(500_000).unwrap();
    let fixed = Setup {
        warmup: ms(100),
        limit: Limit { duration: Some(ms(2_000)), ios: None, until: None },
        ..station(Service::Fixed(MEAN), Arrivals::Fixed { rate }, 0)
    };
    let point = point(&fixed);
    // One at 2, 4, 6, ... ms, each 1 ms long. The one that arrives at the window's end is not done in it.
    assert_eq!((point.read.ios, point.window_ns), (1_000, 2_000_000_000));
    assert_eq!((point.latency_ns.min, point.latency_ns.max), (Some(1_000_000), Some(1_000_000)));
    assert!((point.depth.achieved - 0.5).abs() < 1e-12, "{}", point.depth.achieved);
    assert_eq!(point.depth.asked, None);
}

#[test]
fn a_null_target_answers_at_once() {
    for count in [0, 3] {
        let job = JobParams { arrivals: poisson(1_000), ..job() };
        let point = point(&setup(stations(None, count), job, 10_000));
        assert_eq!((point.read.ios, point.latency_ns.max), (10_000, Some(0)));
        assert_eq!(point.depth.achieved, 0.0);
    }
}

#[test]
fn a_run_in_which_no_time_passes_ends_with_its_name() {
    let stalled = try_point(&setup(stations(None, 0), job(), 10));
    assert_eq!(stalled.unwrap_err(), RunError::Timeless { at_ns: 0 });
    let endless = Setup {
        limit: Limit { duration: None, ios: None, until: None },
        ..setup(stations(None, 0), job(), 10)
    };
    assert_eq!(try_point(&endless).unwrap_err(), RunError::Endless);
}

#[test]
fn software_that_takes_no_time_does_not_keep_a_timeless_run_alive() {
    let submit = SubmitCost { spread: Share::from_ratio(1, 2).unwrap(), ..SubmitCost::NONE };
    let timeless = setup(stations(None, 0), JobParams { submit, ..job() }, 10);
    // Stopped from the start, so that a run that never ends by itself is interrupted.
    let stopped = run(&timeless, &Control { stop: &AtomicBool::new(true), progress: &|_| () });
    assert_eq!(stopped.unwrap_err(), RunError::Timeless { at_ns: 0 });
}

/// L = lambda W holds in every run up to what straddles the window's two ends: at most everything inside, each for its
/// whole residence.
#[test]
fn littles_law_holds_in_every_run() {
    for jobs in [1, 5, 40] {
        for count in [1, 4] {
            let job = JobParams { arrivals: outstanding(jobs), ..job() };
            let setup = Setup { warmup: ms(50), ..setup(stations(Some(EXPONENTIAL), count), job, 20_000) };
            let point = point(&setup);
            let (mean, most) = (point.latency_ns.mean.unwrap(), point.latency_ns.max.unwrap() as f64);
            let product = point.iops / 1e9 * mean;
            let slack = 2.0 * f64::from(jobs) * most / point.window_ns as f64;
            assert!((product - point.depth.achieved).abs() <= slack, "{product} {}", point.depth.achieved);
            // Far from vacuous.
            assert!(slack < 0.02 * f64::from(jobs), "{slack}");
        }
    }
}

/// What is not finished is in no latency: its age is told.
#[test]
fn the_oldest_that_is_not_finished_is_reported_with_its_age() {
    let service = Service::Fixed(ms(8));
    for (jobs, oldest) in [(1, 4), (3, 20)] {
        let job = JobParams { arrivals: outstanding(jobs), ..job() };
        let limit = Limit { duration: Some(ms(60)), ios: None, until: None };
        let point = point(&Setup { limit, ..setup(stations(Some(service), 1), job, 0) });
        assert_eq!(point.oldest_unfinished_ns, Some(ms(oldest).as_ns()));
        assert_eq!(point.ended, Ended::Duration);
    }
    // The answer that ends a run makes the job ask once more.
    let all = point(&setup(stations(Some(service), 1), job(), 5));
    assert_eq!((all.oldest_unfinished_ns, all.ended), (Some(0), Ended::Ios));
}
