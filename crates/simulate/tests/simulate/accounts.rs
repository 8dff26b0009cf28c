//! The accounts of a run: the run's own two agree to the nanosecond, and the record says what a plain list of the I/Os
//! says.
use crate::common::scenarios::setups;
use crate::common::trace::{CommandTrace, Until, trace};
use crate::common::{
    TRACK, TURN, drive, job, ms, outstanding, point, random_job, setup, sizes, target, try_point, us,
};
use drivelab_core::host::Io;
use drivelab_core::host::params::{Addressing, JobParams};
use drivelab_core::{Access, Breakdown, Limit, Outcome, Setup};
use drivelab_record::{Collector, Point};
use drivelab_units::{Instant, Sectors, Span};
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// I/Os inside the system, integrated over the window, from the instants alone.
fn integral(trace: &CommandTrace, start: Instant, end: Instant) -> u128 {
    let inside = |at: Instant| u128::from(end.since(at.max(start)).as_ns());
    let begun: u128 = trace.begins.iter().map(|&at| inside(at)).sum();
    let ios = trace.ios.iter().filter(|io| io.access != Access::Flush);
    let finished: u128 = ios.map(|io| inside(io.finished)).sum();
    begun - finished
}

fn check_against_list(point: &Point, setup: &Setup, duration: Span) -> Result<(), TestCaseError> {
    let start = Instant::ZERO + setup.warmup;
    let end = start + duration;
    let trace = trace(setup, Until::Instant(end), 0);
    prop_assert_eq!(&point.digest, &format!("{:016x}", trace.digest_at_end));
    let (counted, failed): (Vec<&Io>, Vec<&Io>) =
        trace.ios.iter().filter(|io| io.finished > start).partition(|io| io.outcome == Outcome::Done);
    prop_assert_eq!(point.errors, failed.len() as u64);
    let (flushes, counted): (Vec<&Io>, Vec<&Io>) =
        counted.into_iter().partition(|io| io.access == Access::Flush);
    prop_assert_eq!(point.flush.count, flushes.len() as u64);
    let longest = flushes.iter().map(|io| (io.finished - io.intended).as_ns()).max();
    prop_assert_eq!(point.flush.latency_ns.max, longest);
    let latencies: Vec<u64> = counted.iter().map(|io| (io.finished - io.intended).as_ns()).collect();
    let of = |access: Access| counted.iter().filter(move |io| io.access == access);
    prop_assert_eq!(point.read.ios, of(Access::Read).count() as u64);
    prop_assert_eq!(point.write.ios, of(Access::Write).count() as u64);
    let bytes = |access| of(access).map(|io| io.count.bytes().get()).sum::<u64>();
    prop_assert_eq!((point.read.bytes, point.write.bytes), (bytes(Access::Read), bytes(Access::Write)));
    prop_assert_eq!(point.latency_ns.min, latencies.iter().copied().min());
    prop_assert_eq!(point.latency_ns.max, latencies.iter().copied().max());
    prop_assert_eq!(point.window_ns, duration.as_ns());
    let window = duration.as_ns() as f64;
    prop_assert!(close(point.iops, counted.len() as f64 / window * 1e9));
    let sum: u64 = latencies.iter().sum();
    prop_assert!(close(point.latency_ns.mean.unwrap_or(0.0) * counted.len() as f64, sum as f64));
    prop_assert!(close(point.depth.achieved * window, integral(&trace, start, end) as f64));
    for io in &counted {
        prop_assert_eq!(io.breakdown.total(), io.finished - io.intended);
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_run_has_accounts_that_agree(setup in setups()) {
        let point = try_point(&setup);
        prop_assert!(point.is_ok(), "{:?}", point.unwrap_err());
    }

    #[test]
    fn the_record_says_what_the_list_of_ios_says(setup in setups(), duration in 1u64..200) {
        let duration = ms(duration);
        let setup = Setup { limit: Limit { duration: Some(duration), ios: None, until: None }, ..setup };
        check_against_list(&point(&setup), &setup, duration)?;
    }
}

fn io(intended: u64, finished: u64, breakdown: u64) -> Io {
    let breakdown = Breakdown { queue: Span::from_ns(breakdown), ..Default::default() };
    let [intended, finished] = [intended, finished].map(Instant::from_ns);
    let count = Sectors::new(8);
    Io {
        job: 0,
        access: Access::Read,
        priority: 0,
        count,
        outcome: Outcome::Done,
        intended,
        finished,
        breakdown,
    }
}

/// The accounts of two I/Os, of which the second is told to begin and to end as given.
fn agree(began: u64, second: Io) -> bool {
    let mut collector = Collector::new(Span::from_ns(100), &[]);
    collector.began(Instant::from_ns(50));
    collector.finished(&io(50, 200, 150));
    collector.began(Instant::from_ns(began));
    collector.finished(&second);
    collector.close(Instant::from_ns(300)).agree()
}

#[test]
fn accounts_that_are_off_by_a_nanosecond_do_not_agree() {
    assert!(agree(200, io(200, 250, 50)));
    assert!(!agree(200, io(200, 250, 49)), "a part of the response time is missing");
    assert!(!agree(199, io(199, 250, 51)), "it is told too late that the second began");
}

#[test]
fn commands_beyond_the_drives_depth_wait_outside() {
    let target = target(&drive());
    let job = JobParams { arrivals: outstanding(5), ..random_job(&target, 1, 8) };
    let point = point(&Setup { warmup: ms(100), ..setup(target, job, 2_000) });
    let parts = point.breakdown_ns.unwrap();
    // The drive takes one at a time: nothing queues inside, and four of five response times are waiting outside.
    assert_eq!(parts.queue, 0.0);
    let share = parts.wait / point.latency_ns.mean.unwrap();
    assert!((share - 0.8).abs() < 0.005, "{share}");
    assert!((point.depth.achieved - 5.0).abs() < 1e-9);
    // By Little's law the drive holds what the rate is times what of a response time is not waiting outside.
    let inside = point.iops * (point.latency_ns.mean.unwrap() - parts.wait) / 1e9;
    let in_drives = point.depth.in_drives.unwrap();
    assert!((in_drives / inside - 1.0).abs() < 0.01 && in_drives <= 1.0, "{in_drives} {inside}");
}

#[test]
fn the_pieces_of_a_window_add_up_to_it() {
    let target = target(&drive());
    let job = JobParams { arrivals: outstanding(3), ..random_job(&target, 1, 8) };
    let point = point(&Setup { warmup: ms(100), ..setup(target, job, 2_000) });
    let pieces = &point.series;
    assert!((60..=120).contains(&pieces.len()), "{}", pieces.len());
    assert_eq!(pieces[0].start_ns, 100_000_000);
    assert_eq!(pieces.iter().map(|piece| piece.ios).sum::<u64>(), point.read.ios + point.write.ios);
    assert_eq!(pieces.iter().map(|piece| piece.bytes).sum::<u64>(), point.read.bytes + point.write.bytes);
    assert_eq!(pieces.iter().filter_map(|piece| piece.max_latency_ns).max(), point.latency_ns.max);
    let summed =
        pieces.iter().filter_map(|piece| Some(piece.mean_latency_ns? * piece.ios as f64)).sum::<f64>();
    assert!((summed / point.latency_ns.mean.unwrap() / 2_000.0 - 1.0).abs() < 1e-9);
    let each = pieces[1].start_ns - pieces[0].start_ns;
    let end = 100_000_000 + point.window_ns;
    let integral: f64 =
        pieces.iter().map(|piece| piece.depth.unwrap() * (end - piece.start_ns).min(each) as f64).sum();
    assert!((integral / point.window_ns as f64 / point.depth.achieved - 1.0).abs() < 1e-9);
}

#[test]
fn a_split_io_ends_with_its_last_command() {
    let mut params = drive();
    params.firmware.read_completion = us(10);
    let job = JobParams {
        addressing: Addressing::Sequential,
        sizes: sizes(60),
        count: Sectors::new(TRACK),
        ..job()
    };
    let response = |command_limit| {
        let job = JobParams { command_limit, ..job.clone() };
        let latency = point(&Setup { warmup: ms(100), ..setup(target(&params), job, 200) }).latency_ns;
        assert_eq!(latency.min, latency.max);
        latency.max.unwrap()
    };
    // One command at a time and no buffer: each misses its sector by the completion of the one before it.
    assert_eq!(response(None), TURN + 600_000);
    assert_eq!(response(Some(Sectors::new(10))), 6 * TURN + 600_000);
}
