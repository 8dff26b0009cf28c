//! A run through a port whose answers a test determines: partial transfers, errors at some addresses, or the
//! end of the file.
use super::*;
use drivelab_core::Limit;
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::host::popularity::Popularity;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::server::ServerParams;
use drivelab_record::point::Ended;
use drivelab_ring::{Done, Request};
use drivelab_units::{Lba, Sectors};
use std::time::Duration;

const EIO: i32 = 5;

/// Answers each request at once by a rule, and keeps the requests.
struct Scripted<F: FnMut(&Request) -> i32> {
    rule: F,
    pushed: Vec<Done>,
    submitted: Vec<Done>,
    requests: Vec<Request>,
}

impl<F: FnMut(&Request) -> i32> Scripted<F> {
    fn new(rule: F) -> Self {
        Scripted { rule, pushed: Vec::new(), submitted: Vec::new(), requests: Vec::new() }
    }
}

impl<F: FnMut(&Request) -> i32> Port for Scripted<F> {
    fn slots(&self) -> u32 {
        4
    }

    fn push(&mut self, request: &Request) -> Result<(), MeasureError> {
        self.requests.push(*request);
        self.pushed.push(Done { slot: request.slot, result: (self.rule)(request) });
        Ok(())
    }

    fn submit(&mut self) -> Result<(), MeasureError> {
        self.submitted.append(&mut self.pushed);
        Ok(())
    }

    fn wait(&mut self, _: Duration) -> Result<(), MeasureError> {
        assert!(!self.submitted.is_empty() || self.pushed.is_empty(), "what was pushed was never submitted");
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        done.append(&mut self.submitted);
    }

    fn name(&self) -> &'static str {
        "scripted"
    }
}

/// Answers this many requests, and then none.
struct Silent {
    answers: u64,
    scripted: Scripted<fn(&Request) -> i32>,
}

impl Port for Silent {
    fn slots(&self) -> u32 {
        4
    }

    fn push(&mut self, request: &Request) -> Result<(), MeasureError> {
        self.scripted.push(request)
    }

    fn submit(&mut self) -> Result<(), MeasureError> {
        self.scripted.submit()
    }

    fn wait(&mut self, most: Duration) -> Result<(), MeasureError> {
        std::thread::sleep(most);
        Ok(())
    }

    fn reap(&mut self, done: &mut Vec<Done>) {
        let count = self.scripted.submitted.len().min(self.answers as usize);
        self.answers -= count as u64;
        done.extend(self.scripted.submitted.drain(..count));
    }

    fn name(&self) -> &'static str {
        "silent"
    }
}

/// 64 KiB reads, four at a time, over 16 MiB.
fn setup(ios: u64) -> Setup {
    let capacity = Sectors::new(1 << 15);
    let job = JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking::default(),
        priorities: Vec::new(),
        reads: Share::ALL,
        flushes: Flushes::Never,
        addressing: Addressing::Random,
        popularity: Popularity::Uniform,
        sizes: vec![SizeShare { size: Sectors::new(128), weight: 1 }],
        first: Lba::new(0),
        count: capacity,
        align: Sectors::new(128),
        zones: None,
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: 4, think: Span::ZERO },
        submit: SubmitCost::NONE,
        ending: Default::default(),
    };
    Setup {
        target: TargetParams::Server(ServerParams { capacity, service: None, stations: 1 }),
        jobs: vec![job],
        sections: [].into(),
        fed: None,
        warmup: Span::ZERO,
        limit: Limit { ios: Some(ios), ..Limit::default() },
        seed: 3,
        traces: 0,
        checks_data: false,
        injections: [].into(),
        power_cut: None,
    }
}

#[test]
fn what_a_device_never_answers_is_reported_with_how_long_it_had() {
    let setup = Setup { limit: Limit { duration: Some(Span::from_ms(300)), ..Limit::default() }, ..setup(0) };
    let options = MeasureOptions::default();
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| {} };
    let mut port = Silent { answers: 100, scripted: Scripted::new(|request| request.bytes as i32) };
    let mut engine = Engine::new(
        host(&setup, &options).unwrap(),
        Ledger::new(&setup, None),
        &mut port,
        &setup,
        options.on_error,
    );
    let (ended, why) = engine.run(&control).unwrap();
    assert_eq!((why, engine.ledger.counted), (Ended::Duration, 100));
    let found = engine.drain(ended, Duration::from_millis(200));
    assert_eq!((found.commands, found.unanswered), (4, 4));
    assert!((200_000_000..=300_000_000).contains(&found.oldest_ns), "{found:?}");
    assert!(found.waited_ns >= 200_000_000, "{found:?}");
}

#[test]
fn an_answer_after_the_end_is_waited_for_and_counted_separately() {
    let setup = Setup { limit: Limit { duration: Some(Span::from_ms(50)), ..Limit::default() }, ..setup(0) };
    let options = MeasureOptions::default();
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| {} };
    let mut port = Silent { answers: 0, scripted: Scripted::new(|_| -EIO) };
    let mut engine = Engine::new(
        host(&setup, &options).unwrap(),
        Ledger::new(&setup, None),
        &mut port,
        &setup,
        options.on_error,
    );
    let (ended, _) = engine.run(&control).unwrap();
    engine.port.answers = 3;
    let found = engine.drain(ended, Duration::from_millis(200));
    assert_eq!((found.commands, found.failed, found.unanswered), (4, 3, 1));
    assert_eq!(engine.ledger.failures.count, 0, "it belongs to no I/O of the run");
}

fn run<F: FnMut(&Request) -> i32>(ios: u64, on_error: OnError, port: &mut Scripted<F>) -> MeasuredPoint {
    run_so(ios, &MeasureOptions { on_error, ..MeasureOptions::default() }, port)
}

fn run_so<F: FnMut(&Request) -> i32>(
    ios: u64,
    options: &MeasureOptions,
    port: &mut Scripted<F>,
) -> MeasuredPoint {
    let (setup, stop) = (setup(ios), AtomicBool::new(false));
    let reached = Reached { note: None, is_direct: true, is_direct_refused: false };
    let control = Control { stop: &stop, progress: &|_| {} };
    let host = host(&setup, options).unwrap();
    measure_on(port, host, &setup, options, &control, reached).unwrap()
}

#[test]
fn what_was_done_in_part_goes_on_where_it_ended() {
    let mut port = Scripted::new(|request: &Request| request.bytes.min(24 << 10) as i32);
    let found = run(100, OnError::Stop, &mut port);
    assert_eq!((found.point.read.ios, found.point.read.bytes), (100, 100 * (64 << 10)));
    assert_eq!((found.measured.failures.count, found.point.ended), (0, Ended::Ios));
    let of_one: Vec<_> = port
        .requests
        .iter()
        .filter(|request| request.slot == port.requests[0].slot)
        .take(3)
        .map(|request| (request.offset - port.requests[0].offset, request.bytes))
        .collect();
    assert_eq!(of_one, [(0, 64 << 10), (24 << 10, 40 << 10), (48 << 10, 16 << 10)]);
}

#[test]
fn the_end_of_a_file_that_has_shrunk_is_a_failure_with_its_place() {
    // Not a whole number of sectors, then nothing at all.
    for most in [1000, 0] {
        let found = run(10, OnError::Stop, &mut Scripted::new(|_: &Request| most));
        // The four outstanding commands end together.
        assert_eq!((found.point.ended, found.measured.failures.by_error["short"]), (Ended::Error, 4));
    }
}

#[test]
fn bad_places_are_counted_and_located_and_the_rest_is_measured() {
    let is_bad = |request: &Request| (request.offset >> 16).is_multiple_of(4);
    let mut port =
        Scripted::new(|request: &Request| if is_bad(request) { -EIO } else { request.bytes as i32 });
    let found = run(400, OnError::GoOn, &mut port);
    let failures = &found.measured.failures;
    let bad = port.requests.iter().filter(|request| is_bad(request)).count() as u64;
    assert!(bad > 50);
    // The last ones may be outstanding at the end.
    assert!((bad - 4..=bad).contains(&failures.count), "{} of {bad}", failures.count);
    assert_eq!(failures.by_error["EIO"], failures.count);
    assert!(failures.places.iter().all(|place| (place.offset_bytes >> 16).is_multiple_of(4)));
    assert_eq!(found.point.ended, Ended::Ios);
}

#[test]
fn a_full_disk_in_the_middle_of_a_transfer_is_reported_as_that() {
    const ENOSPC: i32 = 28;
    let mut room = 300 << 10;
    let mut port = Scripted::new(|request: &Request| {
        let moved = request.bytes.min(room);
        room -= moved;
        if moved == 0 { -ENOSPC } else { moved as i32 }
    });
    let found = run(100, OnError::Stop, &mut port);
    assert_eq!((found.point.ended, found.point.read.ios), (Ended::DiskFull, 4));
}

#[test]
fn a_run_by_count_counts_from_when_the_device_was_steady() {
    let steady = Some(Steady { round: Span::from_ms(2), rounds_max: 6 });
    let options = MeasureOptions { steady, ..MeasureOptions::default() };
    let mut port = Scripted::new(|request: &Request| request.bytes as i32);
    let found = run_so(100, &options, &mut port);
    assert_eq!((found.point.read.ios, found.point.ended), (100, Ended::Ios));
    assert!(found.measured.steady.is_some());
    assert!(port.requests.len() > 200, "{} in all rounds", port.requests.len());
}
