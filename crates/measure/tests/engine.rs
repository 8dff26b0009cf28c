//! The engine on ports and files: what is asked is done, counted and timed, and every way to end leaves a whole record.
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::host::popularity::Popularity;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::server::ServerParams;
use drivelab_core::{Limit, Setup};
use drivelab_measure::{
    Control, DeviceAddress, IoEngine, MeasureError, MeasureOptions, MeasuredPoint, OnError, Steady, measure,
};
use drivelab_record::point::Ended;
use drivelab_units::{Frequency, Lba, Sectors, Share, Span, key};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const SECTORS: u64 = 1 << 13;
/// I/Os of a run that lasts longer than the time between two reports of progress.
const SHRINKS: u64 = 30_000;

/// A file that is gone at the end.
struct Target(PathBuf);

impl Target {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("drivelab-engine-{}-{name}", std::process::id()));
        std::fs::write(&path, vec![0x5a; SECTORS as usize * 512]).unwrap();
        Target(path)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn job(depth: u32) -> JobParams {
    JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking { direct: true, ..Marking::default() },
        priorities: Vec::new(),
        reads: Share::ALL,
        flushes: Flushes::Never,
        addressing: Addressing::Random,
        popularity: Popularity::Uniform,
        sizes: vec![SizeShare { size: Sectors::new(8), weight: 1 }],
        first: Lba::new(0),
        count: Sectors::new(SECTORS),
        align: Sectors::new(8),
        zones: None,
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: depth, think: Span::ZERO },
        submit: SubmitCost::NONE,
        ending: Default::default(),
    }
}

fn setup(job: JobParams, limit: Limit) -> Setup {
    let server = ServerParams { capacity: Sectors::new(SECTORS), service: None, stations: 1 };
    Setup {
        target: TargetParams::Server(server),
        jobs: vec![job],
        sections: [].into(),
        fed: None,
        warmup: Span::ZERO,
        limit,
        seed: 7,
        traces: 0,
        checks_data: false,
        injections: [].into(),
        power_cut: None,
    }
}

fn ios(count: u64) -> Limit {
    Limit { ios: Some(count), ..Limit::default() }
}

fn lasting(span: Span) -> Limit {
    Limit { duration: Some(span), ..Limit::default() }
}

fn at(path: &Path, io_engine: IoEngine) -> MeasureOptions {
    MeasureOptions { at: DeviceAddress::Path(path.into()), io_engine, ..MeasureOptions::default() }
}

fn run(setup: &Setup, options: &MeasureOptions) -> Result<MeasuredPoint, MeasureError> {
    let stop = AtomicBool::new(false);
    let found = measure(setup, options, &Control { stop: &stop, progress: &|_| {} })?;
    is_whole(&found);
    Ok(found)
}

/// Every I/O of the window is in a piece of its series, and in the parts of its response time.
fn is_whole(found: &MeasuredPoint) {
    let point = &found.point;
    let ios = point.read.ios + point.write.ios;
    assert_eq!(point.series.iter().map(|piece| piece.ios).sum::<u64>(), ios);
    assert_eq!(point.series.iter().map(|piece| piece.errors).sum::<u64>(), point.errors);
    assert_eq!(found.measured.device_ns.n, ios);
    assert!(point.series.iter().all(|piece| piece.depth.is_some_and(|depth| depth >= 0.0)));
    // The last piece may be a short one.
    let end = point.series.first().map_or(0, |piece| piece.start_ns) + point.window_ns;
    let ends = point.series.iter().skip(1).map(|piece| piece.start_ns).chain([end]);
    let area = point
        .series
        .iter()
        .zip(ends)
        .map(|(piece, end)| piece.depth.unwrap_or_default() * end.saturating_sub(piece.start_ns) as f64);
    let mean = area.sum::<f64>() / point.window_ns.max(1) as f64;
    assert!((mean - point.depth.achieved).abs() <= 0.1 * point.depth.achieved + 0.5, "{mean}");
}

#[test]
fn both_engines_do_what_was_requested_on_a_file() {
    let target = Target::new("doors");
    for (io_engine, name) in [(IoEngine::Auto, "io_uring"), (IoEngine::Threads, "threads")] {
        let mut wanted = setup(job(8), ios(500));
        wanted.traces = 100;
        let found = run(&wanted, &at(&target.0, io_engine)).unwrap();
        let point = &found.point;
        assert_eq!((point.read.ios, point.errors, point.ended), (500, 0, Ended::Ios));
        assert_eq!(point.read.bytes, 500 * 4096);
        assert_eq!(found.measured.moved_bytes, [500 * 4096, 0]);
        let [issued, _] = found.measured.issued_bytes;
        assert!((500 * 4096..=508 * 4096).contains(&issued), "{issued}");
        assert_eq!(found.measured.failures.count, 0);
        assert!(point.depth.achieved > 1.0 && point.depth.achieved <= 8.01, "{:?}", point.depth);
        assert!(found.measured.engine == name || found.measured.engine_note.is_some());
        assert_eq!(found.measured.device_ns.n, 500);
        let log = found.commands.unwrap();
        assert_eq!(log.len(), 100);
        for one in log {
            assert!(one.intended_ns <= one.submitted_ns && one.submitted_ns <= one.completed_ns);
        }
    }
}

#[test]
fn the_same_seed_requests_the_same_sectors_through_every_engine() {
    let target = Target::new("same");
    // One at a time: the order of issue is then that of the draws.
    let digest = |options: &MeasureOptions| run(&setup(job(1), ios(200)), options).unwrap().point.digest;
    let null = digest(&MeasureOptions::default());
    assert_eq!(null, digest(&at(&target.0, IoEngine::Auto)));
    assert_eq!(null, digest(&at(&target.0, IoEngine::Threads)));
}

#[test]
fn a_run_by_time_has_its_window_and_leaves_the_warm_up_out() {
    let mut wanted = setup(job(4), lasting(Span::from_ms(60)));
    wanted.warmup = Span::from_ms(40);
    let found = run(&wanted, &MeasureOptions::default()).unwrap();
    assert_eq!((found.point.window_ns, found.point.ended), (60_000_000, Ended::Duration));
    assert!(found.point.series.iter().all(|piece| piece.start_ns >= 40_000_000));
    let share = found.measured.cpu_share.unwrap();
    assert!(share > 0.1, "the null port waits for nothing: {share}");
    // Submission and device are the two halves of the total.
    let total = found.point.latency_ns.mean.unwrap();
    let parts = found.measured.submission_ns.mean.unwrap() + found.measured.device_ns.mean.unwrap();
    assert!((total - parts).abs() <= total * 0.02, "{total} {parts}");
}

#[test]
fn an_open_loop_keeps_its_rate_and_counts_from_the_intended_arrival() {
    let rate = Frequency::from_millihertz(2_000_000).unwrap();
    let job = JobParams { arrivals: Arrivals::Fixed { rate }, ..job(1) };
    let found = run(&setup(job, lasting(Span::from_ms(500))), &MeasureOptions::default()).unwrap();
    assert!((990..=1_000).contains(&found.point.read.ios), "{}", found.point.read.ios);
    assert_eq!(found.point.depth.asked, None);
    assert!(found.point.latency_ns.mean.unwrap() > found.measured.device_ns.mean.unwrap());
}

#[test]
fn ctrl_c_leaves_what_there_is_until_then() {
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|share| stop.store(share > 0.0, Ordering::Relaxed) };
    let found =
        measure(&setup(job(4), lasting(Span::from_s(60))), &MeasureOptions::default(), &control).unwrap();
    assert_eq!(found.point.ended, Ended::Interrupted);
    is_whole(&found);
    assert!(found.point.window_ns < 10_000_000_000 && found.point.read.ios > 0);
}

#[test]
fn steady_rounds_come_before_the_window_and_are_in_the_record() {
    let mut wanted = setup(job(2), lasting(Span::from_ms(50)));
    wanted.warmup = Span::from_ms(10);
    let steady = Some(Steady { round: Span::from_ms(20), rounds_max: 40 });
    let found = run(&wanted, &MeasureOptions { steady, ..MeasureOptions::default() }).unwrap();
    let record = found.measured.steady.unwrap();
    assert!(record.rounds_iops.len() >= 5);
    assert_eq!(found.point.window_ns, 50_000_000);
    let after = 10_000_000 + record.rounds_iops.len() as u64 * 20_000_000;
    assert!(found.point.series[0].start_ns >= after);
    assert!((found.point.depth.achieved - 2.0).abs() < 0.05, "{:?}", found.point.depth);
}

#[test]
fn writes_reach_the_file_and_are_flushed_only_when_allowed() {
    let target = Target::new("write");
    let writes = JobParams { reads: Share::NONE, flushes: Flushes::After(10), ..job(1) };
    let wanted = setup(writes, ios(100));
    let refused = run(&wanted, &at(&target.0, IoEngine::Auto)).unwrap_err();
    assert!(refused.to_string().contains("nothing is written unless that is asked for"), "{refused}");
    assert!(std::fs::read(&target.0).unwrap().iter().all(|byte| *byte == 0x5a));
    for io_engine in [IoEngine::Auto, IoEngine::Threads] {
        let found = run(&wanted, &MeasureOptions { may_write: true, ..at(&target.0, io_engine) }).unwrap();
        assert_eq!(found.point.write.ios, 100);
        assert!((9..=10).contains(&found.point.flush.count));
    }
    let changed = std::fs::read(&target.0).unwrap();
    let blocks = changed.chunks(4096).filter(|block| block.iter().any(|byte| *byte != 0x5a)).count();
    assert!(blocks > 80 && changed.len() == SECTORS as usize * 512, "{blocks}");
}

#[test]
fn a_file_that_shrinks_under_the_run_is_an_error_that_is_counted_and_located() {
    let target = Target::new("short");
    let half = SECTORS * 512 / 2;
    for on_error in [OnError::Stop, OnError::GoOn] {
        File::options().write(true).open(&target.0).unwrap().set_len(SECTORS * 512).unwrap();
        let stop = AtomicBool::new(false);
        let shrunk = AtomicBool::new(false);
        let progress = |share| {
            // Not before something was read.
            if share > 0.0 && !shrunk.swap(true, Ordering::Relaxed) {
                File::options().write(true).open(&target.0).unwrap().set_len(half).unwrap();
            }
        };
        let control = Control { stop: &stop, progress: &progress };
        let options = MeasureOptions { on_error, ..at(&target.0, IoEngine::Auto) };
        let found = measure(&setup(job(1), ios(SHRINKS)), &options, &control).unwrap();
        is_whole(&found);
        let failures = &found.measured.failures;
        assert_eq!(failures.by_error.keys().collect::<Vec<_>>(), ["short"]);
        assert!(failures.places.iter().all(|place| place.offset_bytes >= half));
        assert_eq!(failures.count, found.point.errors);
        match on_error {
            OnError::Stop => assert_eq!((found.point.ended, failures.count), (Ended::Error, 1)),
            OnError::GoOn => {
                assert_eq!(found.point.ended, Ended::Ios);
                assert!(failures.count > 50, "{}", failures.count);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_remedy() {
    let target = Target::new("fit");
    let beyond = JobParams { count: Sectors::new(SECTORS * 2), ..job(1) };
    let error = run(&setup(beyond, ios(1)), &at(&target.0, IoEngine::Auto)).unwrap_err().to_string();
    assert!(
        error.contains(concat!("the workload goes up to 8388608; give a ", key!("workload.size"))),
        "{error}"
    );
    let huge = JobParams { sizes: vec![SizeShare { size: Sectors::new(SECTORS), weight: 1 }], ..job(1_024) };
    let error = run(&setup(huge, ios(1)), &at(&target.0, IoEngine::Auto)).unwrap_err().to_string();
    assert!(error.contains("more than 2 GiB of memory"), "{error}");
    let error = run(&setup(job(1), Limit::default()), &MeasureOptions::default()).unwrap_err().to_string();
    assert!(error.contains(concat!(key!("run.duration"), " or ", key!("run.ios"))), "{error}");
}

/// What waits here for a slot would count as outstanding, at a depth that the device never had.
#[test]
fn a_depth_that_cannot_be_is_refused_with_the_limit() {
    let target = Target::new("deep");
    for (io_engine, depth, most) in
        [(IoEngine::Threads, 513, "512 can be with threads;"), (IoEngine::Auto, 4_097, "4096 can be;")]
    {
        let error = run(&setup(job(depth), ios(1)), &at(&target.0, io_engine)).unwrap_err().to_string();
        assert!(error.contains(&format!("{depth} commands outstanding, and at most {most}")), "{error}");
    }
    let error = run(&setup(job(5_000), ios(1)), &MeasureOptions::default()).unwrap_err().to_string();
    assert!(error.contains("at most 4096"), "{error}");
    assert_eq!(
        run(&setup(job(512), ios(600)), &at(&target.0, IoEngine::Threads)).unwrap().measured.slots,
        512
    );
}

#[test]
fn more_commands_than_slots_wait_their_turn() {
    // Open loop, far faster than threads on a file can go: the backlog waits, and all counts from its arrival.
    let target = Target::new("backlog");
    let rate = Frequency::from_millihertz(2_000_000_000).unwrap();
    let job = JobParams { arrivals: Arrivals::Fixed { rate }, ..job(1) };
    let found = run(&setup(job, ios(5_000)), &at(&target.0, IoEngine::Threads)).unwrap();
    assert_eq!(found.point.read.ios, 5_000);
    assert!(found.point.latency_ns.max.unwrap() > found.measured.device_ns.mean.unwrap() as u64);
}
