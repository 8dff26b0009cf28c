//! Recorded traces replayed: captures are the same run again, back-pressure and limits, what cannot be replayed.
use drivelab_core::Setup;
use drivelab_core::host::feed::{FeedParams, Pace};
use drivelab_core::setup::{Fed, Limit};
use drivelab_core::storage::{Cure, Fault};
use drivelab_record::Point;
use drivelab_record::point::Ended;
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_simulate::recorded::{Replayed, Replaying};
use drivelab_simulate::{Control, RunError, run, run_captured};
use drivelab_trace::formats::native::{self, Entry, Injected};
use drivelab_trace::merge::{Align, Merge};
use drivelab_trace::shape::{Remap, Shape};
use drivelab_trace::{Format, Options, Reader, copy};
use drivelab_units::{Instant, Lba, Sectors, Span, key};
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Bytes that a capture is written to.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn setup(text: &str) -> Setup {
    let source = Source { origin: "a test".to_owned(), text: text.to_owned() };
    plan(&source, &[], &NoFiles).unwrap_or_else(|problems| panic!("{problems}")).points[0].setup.clone()
}

fn done(setup: &Setup) -> Point {
    tried(setup).unwrap_or_else(|error| panic!("{error}"))
}

fn tried(setup: &Setup) -> Result<Point, RunError> {
    run(setup, &Control { stop: &AtomicBool::new(false), progress: &|_| {} })
}

/// A run, and its capture.
fn captured(setup: &Setup) -> (Point, Vec<u8>) {
    let (out, stop) = (Shared::default(), AtomicBool::new(false));
    let control = Control { stop: &stop, progress: &|_| {} };
    let point = run_captured(setup, &control, Some(Box::new(out.clone()))).unwrap();
    let bytes = out.0.lock().unwrap().clone();
    (point, bytes)
}

fn plain(pace: Pace) -> Replaying {
    Replaying {
        pace,
        device: None,
        scale_time: (1, 1),
        remap: None,
        direct: None,
        is_lenient: false,
        capacity: Sectors::new(u64::MAX >> 10),
        takes_hosts: false,
    }
}

/// The same run with a trace in place of its workload; it ends with the trace unless `limit` says otherwise.
fn replayed(setup: &Setup, bytes: &[u8], params: Replaying, limit: Limit) -> Setup {
    let bytes: Arc<[u8]> = bytes.into();
    let pace = params.pace;
    let open =
        Box::new(move || Reader::open(Box::new(io::Cursor::new(Arc::clone(&bytes))), &Options::default()));
    let recording = Arc::new(Replayed::new("a.trace".to_owned(), open, params));
    let params = FeedParams { pace, command_limit: None };
    let fed = Some(Fed { params, ios: Arc::new([]), recording: Some(recording) });
    Setup { jobs: Vec::new(), fed, limit, ..setup.clone() }
}

fn converted(bytes: &[u8], to: Format) -> Vec<u8> {
    let reader = Reader::open(Box::new(io::Cursor::new(bytes.to_vec())), &Options::default()).unwrap();
    let mut merge = Merge::new(vec![reader], Align::Clock).unwrap();
    let copied = copy::copy(&mut merge, (Vec::new(), to), Shape::default(), false, &mut |_| true);
    copied.unwrap_or_else(|_| panic!("it can be converted")).1
}

const WHOLE: Limit = Limit { duration: None, ios: None, until: None };

const TARGETS: [&str; 8] = [
    "drive = \"wd-4tb-7200\"",
    "drive = \"wd-4tb-7200\"\nwrite_cache = true\nelevator = \"deadline\"",
    "drive = \"seagate-10k-scsi-74gb\"",
    "drive = \"wd-wd740gd-00fla0\"\narray = { level = \"raid5\", members = 4 }",
    "drive = \"wd-wd740gd-00fla0\"\narray = { level = \"raid10\", members = 4 }\nwrite_cache = true",
    "drive = \"wd-wd740gd-00fla0\"\nfaults = { read_errors = \"20%\", bad_sectors = [[\"1GiB\", \"9GiB\"]] }",
    "drive = \"wd-wd740gd-00fla0\"\nfaults = { slow = [{ at = \"1s\", by = \"20ms\" }], hang = [{ at = \"2s\", lasts = \"300ms\" }] }",
    "drive = \"wd-wd740gd-00fla0\"\narray = { level = \"raid5\", members = 4, spares = 1 }\nfaults = { fail = [{ drive = 1, at = \"1s\" }] }",
];

const WORKLOADS: [&str; 5] = [
    "rw = \"randrw\"\niodepth = 8",
    "rw = \"randread\"\nrate_iops = 90\nrate_process = \"poisson\"",
    "rw = \"write\"\nbs = \"64KiB\"\niodepth = 2\nfsync = 8",
    "rw = \"randwrite\"\nbssplit = \"4k/50:64k/50\"\niodepth = 4\nthinktime = \"5ms\"",
    "rw = \"randread\"\niodepth = 3\nthinktime = \"30ms\"\nthinktime_blocks = 7",
];

#[test]
fn a_capture_replays_as_the_same_run() {
    for target in TARGETS {
        for workload in WORKLOADS {
            let text =
                format!("[target]\n{target}\n[workload]\n{workload}\n[run]\nduration = \"3s\"\nseed = 5\n");
            let setup = setup(&text);
            let (point, bytes) = captured(&setup);
            assert_eq!(point.digest, done(&setup).digest, "who is captured is not disturbed\n{text}");
            let again = done(&replayed(&setup, &bytes, plain(Pace::ByTime), setup.limit));
            assert_eq!(again.digest, point.digest, "{text}");
            let figures = |point: &Point| {
                (point.latency_ns.clone(), point.read.bytes, point.write.bytes, point.flush.count)
            };
            assert_eq!(figures(&again), figures(&point), "{text}");
            let found = again.replay.unwrap();
            for compared in [&found.read, &found.write].into_iter().flatten() {
                assert_eq!(compared.recorded_ns, compared.simulated_ns, "{text}");
            }
            let counted =
                [&found.read, &found.write].into_iter().flatten().map(|each| each.recorded_ns.n).sum::<u64>();
            assert_eq!(counted, again.read.ios + again.write.ios, "each has its response time\n{text}");
            // To its end, everything that was captured is done.
            let whole = done(&replayed(&setup, &bytes, plain(Pace::ByTime), WHOLE));
            let found = whole.replay.unwrap();
            assert_eq!((whole.ended, found.complete, found.begun - found.finished), (Ended::Trace, true, 0));
        }
    }
}

#[test]
fn formats_of_others_replay_to_the_same_completions() {
    let text =
        "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nrw = \"randrw\"\niodepth = 4\n[run]\nios = 400\n";
    let setup = setup(text);
    let (point, bytes) = captured(&setup);
    for to in [Format::Iolog2, Format::Iolog3, Format::Blkparse] {
        // The next one begins as another ends, so that rounded times do not count.
        let again = done(&replayed(&setup, &converted(&bytes, to), plain(Pace::Depth(4)), setup.limit));
        assert_eq!((&again.digest, &again.latency_ns), (&point.digest, &point.latency_ns), "{}", to.name());
    }
    // blkparse has all nine decimals.
    let again =
        done(&replayed(&setup, &converted(&bytes, Format::Blkparse), plain(Pace::ByTime), setup.limit));
    assert_eq!(again.digest, point.digest);
}

#[test]
fn formats_of_others_replay_on_arrays_and_beside_faults_to_the_same_completions() {
    for target in TARGETS {
        let text = format!(
            "[target]\n{target}\n[workload]\nrw = \"randrw\"\niodepth = 4\n[run]\nduration = \"3s\"\nseed = 5\n"
        );
        let setup = setup(&text);
        let (point, bytes) = captured(&setup);
        for to in [Format::Iolog2, Format::Iolog3, Format::Blkparse] {
            let again = done(&replayed(&setup, &converted(&bytes, to), plain(Pace::Depth(4)), setup.limit));
            assert_eq!(
                (&again.digest, &again.latency_ns),
                (&point.digest, &point.latency_ns),
                "{}\n{text}",
                to.name()
            );
        }
    }
}

#[test]
fn flushes_replay_at_the_times_that_blkparse_has() {
    for target in TARGETS {
        let text = format!(
            "[target]\n{target}\n[workload]\nrw = \"randwrite\"\niodepth = 2\nfsync = 4\n[run]\nduration = \"3s\"\nseed = 5\n"
        );
        let setup = setup(&text);
        let (point, bytes) = captured(&setup);
        assert!(point.flush.count > 0, "{text}");
        let again =
            done(&replayed(&setup, &converted(&bytes, Format::Blkparse), plain(Pace::ByTime), setup.limit));
        assert_eq!((again.digest, again.flush.count), (point.digest, point.flush.count), "{text}");
    }
}

#[test]
fn discards_are_left_out_and_all_else_is_as_it_was() {
    let setup = setup(
        "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nrw = \"randrw\"\niodepth = 4\n[run]\nios = 200\n",
    );
    let (point, bytes) = captured(&setup);
    let text = String::from_utf8(converted(&bytes, Format::Iolog3)).unwrap();
    // A discard behind every read.
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        lines.push(line.to_owned());
        if line.contains(" read ") {
            let time = line.split(' ').next().unwrap();
            lines.push(format!("{time} 0 trim {} 65536", at * 1_048_576));
        }
    }
    let discards = lines.iter().filter(|line| line.contains(" trim ")).count() as u64;
    let text = lines.join("\n") + "\n";
    let again =
        done(&replayed(&setup, text.as_bytes(), plain(Pace::Depth(4)), Limit { ios: Some(200), ..WHOLE }));
    assert_eq!((&again.digest, &again.latency_ns), (&point.digest, &point.latency_ns));
    let whole = done(&replayed(&setup, text.as_bytes(), plain(Pace::Depth(4)), WHOLE));
    assert_eq!((discards > 50, whole.replay.unwrap().discards_left_out), (true, discards));
}

#[test]
fn recorded_think_times_are_kept() {
    let text = "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nrw = \"randread\"\nthinktime = \"7ms\"\n[run]\nios = 200\n";
    let setup = setup(text);
    let (point, bytes) = captured(&setup);
    let again = done(&replayed(&setup, &bytes, plain(Pace::AfterPrevious), setup.limit));
    assert_eq!(again.digest, point.digest);
    let slow = Replaying { scale_time: (2, 1), ..plain(Pace::AfterPrevious) };
    let slower = done(&replayed(&setup, &bytes, slow, setup.limit));
    let extra = slower.window_ns.abs_diff(again.window_ns + 199 * 7_000_000);
    assert!(extra < 199 * 4_200_000, "7 ms more for each, and the platter elsewhere: {extra}");
    // A format without response times knows no think time.
    let error =
        tried(&replayed(&setup, &converted(&bytes, Format::Iolog3), plain(Pace::AfterPrevious), WHOLE));
    let Err(RunError::Trace(error)) = error else { panic!("{error:?}") };
    assert!(error.starts_with("a.trace: line 4: the request has no response time"), "{error}");
}

/// What the end of a run meets under way has no response time: it is needed only where another request follows.
#[test]
fn think_times_need_no_response_of_the_last_request() {
    let text = "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\nrw = \"randread\"\niodepth = DEPTH\nthinktime = \"7ms\"\n\
                [run]\nduration = \"1s\"\n";
    for depth in ["1", "4"] {
        let setup = setup(&text.replace("DEPTH", depth));
        let (point, bytes) = captured(&setup);
        // Without the limit too: then the last of all is replayed.
        let whole = done(&replayed(&setup, &bytes, plain(Pace::AfterPrevious), WHOLE));
        assert!(whole.latency_ns.n > 50);
        let again = done(&replayed(&setup, &bytes, plain(Pace::AfterPrevious), setup.limit));
        assert!(depth != "1" || again.digest == point.digest);
    }
}

#[test]
fn a_target_that_cannot_keep_up_falls_behind_and_says_how_far() {
    let lines: Vec<String> = (0..2_000u64)
        .map(|at| {
            format!("{},{},4096,R,{}.{:03}\n", 0, at * 7_919_993 % 7_000_000_000, at / 500, at % 500 * 2)
        })
        .collect();
    let text = "[target]\ndrive = \"wd-4tb-7200\"\n[run]\nios = 1\n";
    let point = done(&replayed(&setup(text), lines.concat().as_bytes(), plain(Pace::ByTime), WHOLE));
    let found = point.replay.unwrap();
    assert_eq!((found.begun, found.finished, found.complete), (2_000, 2_000, true));
    assert_eq!(found.span_ns, Some(3_998_000_000));
    assert!(found.behind_ns > 2_000_000_000, "500 a second are too many for it: {}", found.behind_ns);
    assert_eq!(found.elapsed_ns, 3_998_000_000 + found.behind_ns);
    assert!(found.outstanding_at_last > 500 && found.outstanding_max >= found.outstanding_at_last);
    // The wait counts from the intended arrival.
    assert!(point.latency_ns.max.unwrap() >= found.behind_ns);
}

#[test]
fn more_than_can_be_outstanding_begin_late_and_the_accounts_agree() {
    let count = 70_000u64;
    let lines: String = (0..count).map(|at| format!("0,{},512,W,0.{:06}\n", at * 8, at)).collect();
    let text = "[target]\nserver = { service = \"fixed\", mean = \"10us\" }\n[run]\nios = 1\n";
    let point = done(&replayed(&setup(text), lines.as_bytes(), plain(Pace::ByTime), WHOLE));
    let found = point.replay.unwrap();
    assert_eq!((found.finished, found.begun_late), (count, 0), "they arrive within the limit of 65,536");
    let at_once: String = (0..count).map(|at| format!("0,{},512,W,0.0\n", at * 8)).collect();
    let point = done(&replayed(&setup(text), at_once.as_bytes(), plain(Pace::ByTime), WHOLE));
    let found = point.replay.unwrap();
    assert!(found.begun_late > 4_000, "{}", found.begun_late);
    let mean = (count + 1) as f64 / 2.0 * 10_000.0;
    assert_eq!(point.latency_ns.mean, Some(mean), "all of them arrived at once");
}

#[test]
fn what_lies_beyond_the_target_is_an_error_unless_it_is_moved() {
    let text = "[target]\ndrive = \"wd-4tb-7200\"\n[run]\nios = 1\n";
    let setup = setup(text);
    let trace = b"0,8,4096,R,0.0\n0,9000000000,4096,W,0.1\n";
    let capacity = Sectors::new(7_814_037_168);
    let params = Replaying { capacity, ..plain(Pace::ByTime) };
    let Err(RunError::Trace(error)) = tried(&replayed(&setup, trace, params.clone(), WHOLE)) else {
        panic!()
    };
    assert!(error.starts_with("a.trace: line 2: the request ends at byte 4608000004096"), "{error}");
    assert!(error.contains(key!("trace.remap", "wrap")), "{error}");
    let remap = Some(Remap::Wrap { to_bytes: capacity.bytes().get() });
    let point = done(&replayed(&setup, trace, Replaying { remap, ..params }, WHOLE));
    assert_eq!((point.errors, point.read.ios, point.write.ios), (0, 1, 1));
}

#[test]
fn times_that_no_run_has_are_an_error() {
    let setup = setup("[target]\ndrive = \"wd-4tb-7200\"\n[run]\nios = 1\n");
    let trace = b"0,8,4096,R,0.0\n0,8,4096,R,9000000000.0\n0,8,4096,W,18000000000.0\n";
    assert_eq!(tried(&replayed(&setup, trace, plain(Pace::ByTime), WHOLE)).err(), Some(RunError::Endlong));
}

#[test]
fn one_device_is_replayed() {
    let setup = setup("[target]\ndrive = \"wd-4tb-7200\"\n[run]\nios = 1\n");
    let trace = b"3,8,4096,R,0.0\n5,8,4096,W,0.1\n3,8,4096,R,0.2\n";
    let Err(RunError::Trace(error)) = tried(&replayed(&setup, trace, plain(Pace::ByTime), WHOLE)) else {
        panic!()
    };
    assert!(error.contains("line 2: the trace has several devices, \"3\" and \"5\""), "{error}");
    let params = Replaying { device: Some("3".to_owned()), ..plain(Pace::ByTime) };
    let point = done(&replayed(&setup, trace, params, WHOLE));
    assert_eq!((point.read.ios, point.write.ios), (2, 0));
    assert_eq!(point.replay.unwrap().span_ns, Some(200_000_000));
}

#[test]
fn all_devices_are_replayed_on_one_target_where_that_is_asked_for() {
    let setup = setup("[target]\ndrive = \"wd-4tb-7200\"\n[run]\nios = 1\n");
    let trace = b"3,8,4096,R,0.0\n5,8,4096,W,0.1\n3,8,4096,R,0.2\n";
    let params = Replaying { device: Some("*".to_owned()), ..plain(Pace::ByTime) };
    let point = done(&replayed(&setup, trace, params, WHOLE));
    assert_eq!((point.read.ios, point.write.ios), (2, 1));
}

#[test]
fn a_run_of_a_trace_ends_at_the_first_limit() {
    let text = "[target]\ndrive = \"wd-4tb-7200\"\n[workload]\niodepth = 4\n[run]\nios = 500\n";
    let setup = setup(text);
    let (_, bytes) = captured(&setup);
    let ios = Limit { ios: Some(100), ..WHOLE };
    let point = done(&replayed(&setup, &bytes, plain(Pace::ByTime), ios));
    assert_eq!((point.ended, point.read.ios, point.replay.unwrap().complete), (Ended::Ios, 100, false));
    let duration = Limit { duration: Some(Span::from_ms(500)), ..WHOLE };
    let point = done(&replayed(&setup, &bytes, plain(Pace::ByTime), duration));
    assert_eq!((point.ended, point.window_ns), (Ended::Duration, 500_000_000));
}

#[test]
fn faults_of_the_run_are_in_its_capture() {
    let text = "[target]\ndrive = \"wd-wd740gd-00fla0\"\narray = { level = \"raid5\", members = 4 }\n\
                faults = { fail = [{ drive = 2, at = \"1s\" }], bad_sectors = [[\"1GiB\", \"4KiB\", 1]] }\n\
                [workload]\nrw = \"randread\"\n[run]\nduration = \"2s\"\n";
    let (_, bytes) = captured(&setup(text));
    let mut reader = native::Reader::new(&bytes[..]).unwrap();
    let entries = std::iter::from_fn(|| reader.next_entry().unwrap());
    let faults: Vec<_> = entries
        .filter_map(|entry| if let Entry::Injected(fault) = entry { Some(fault) } else { None })
        .collect();
    let (first, count) = (Lba::new(2_097_152), Sectors::new(8));
    let media = Fault::MediaError { drive: 1, first, count, until: Cure::Written };
    let fails = Instant::ZERO + Span::from_s(1);
    let expected = [Injected::new(Instant::ZERO, media), Injected::new(fails, Fault::Fail { drive: 2 })];
    assert_eq!(faults, expected);
}
