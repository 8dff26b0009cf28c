//! What a run leaves of an array: events, rebuilds, and how hosts fared meanwhile.
use crate::common;
use crate::common::{drive, flat_seek, layout, ms, random_job, setup, zone};
use drivelab_core::setup::{Sampling, Until};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, Failure, Level, When};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Limit, Setup};
use drivelab_record::Point;
use drivelab_record::point::Ended;
use drivelab_simulate::{Control, RunError, run};
use drivelab_units::{Instant, Lba, Rate, Sectors, Share, Span};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn mirror(spares: u16, failures: Vec<Failure>) -> Setup {
    let params =
        DriveParams { geometry: layout(1, vec![zone(0, 50, 600)]), seek: flat_seek(ms(1), 50), ..drive() };
    let model = Arc::new(DriveModel::new(&params).unwrap());
    let array =
        ArrayParams { spares, failures, replaced_after: ms(100), ..ArrayParams::plain(Level::Mirrored, 2) };
    let target = TargetParams::System(SystemParams {
        drives: vec![Arc::clone(&model); usize::from(2 + spares)],
        array: Some(array),
        ..SystemParams::of_drive(model, ControllerParams::PLAIN)
    });
    let mut job = random_job(&target, 1, 8);
    job.arrivals = drivelab_core::host::params::Arrivals::Closed { outstanding: 1, think: ms(20) };
    setup(target, job, 100)
}

fn go(setup: &Setup) -> Result<Point, RunError> {
    run(setup, &Control { stop: &AtomicBool::new(false), progress: &|_| {} })
}

fn failing(drive: u16, ms: u64) -> Failure {
    Failure { drive, when: When::At(Instant::from_ns(ms * 1_000_000)) }
}

#[test]
fn a_run_until_rebuilt_ends_with_the_rebuild_and_reports_it() {
    let setup = mirror(1, vec![failing(0, 1_000)]);
    let limit = Limit { until: Some(Until::Rebuilt), ..Limit::default() };
    let point = go(&Setup { limit, ..setup.clone() }).unwrap();
    let array = point.array.as_ref().unwrap();
    let what: Vec<&str> = array.events.iter().map(|event| event.what).collect();
    assert_eq!(what, ["failed", "replaced", "began", "ended"]);
    assert_eq!(array.state, "healthy");
    let sync = &array.syncs[0];
    assert_eq!((array.syncs.len(), sync.kind, sync.began_ns), (1, "rebuild", 1_100_000_000));
    assert_eq!(sync.ended_ns, Some(point.window_ns));
    assert_eq!((sync.member_bytes, sync.member_bytes_in_all), (30_000 * 512, 30_000 * 512));
    assert_eq!(array.degraded_ns, point.window_ns - 1_000_000_000);
    assert_eq!(array.lost_bytes, 0);
    let series = &array.series;
    assert!(series.len() > 250 && series.len() <= 600, "{}", series.len());
    assert_eq!(series.iter().map(|bucket| bucket.ios).sum::<u64>(), point.read.ios + point.write.ios);
    let most = series.iter().filter_map(|bucket| bucket.max_latency_ns).max();
    assert_eq!(most, point.latency_ns.max);
    let rebuilt: Vec<f64> = series.iter().filter_map(|bucket| bucket.rebuilt.flatten()).collect();
    assert!(rebuilt.is_sorted() && rebuilt[0] == 0.0 && rebuilt.last() == Some(&1.0), "{rebuilt:?}");
    assert_eq!(go(&Setup { limit, ..setup }).unwrap(), point);
}

#[test]
fn a_rebuild_that_continues_reports_what_was_there_before() {
    let Setup { target: TargetParams::System(system), jobs, .. } = mirror(0, Vec::new()) else {
        panic!("no system")
    };
    let array = ArrayParams {
        missing: vec![0],
        rebuilding: true,
        rebuilt: Share::from_ratio(3, 4).unwrap(),
        ..system.array.clone().unwrap()
    };
    let target = TargetParams::System(SystemParams { array: Some(array), ..system });
    let limit = Limit { until: Some(Until::Rebuilt), ..Limit::default() };
    let point = go(&Setup { limit, ..setup(target, jobs[0].clone(), 100) }).unwrap();
    let array = point.array.as_ref().unwrap();
    let sync = &array.syncs[0];
    // Whole requests of 1,024 sectors.
    let before = 30_000 * 3 / 4 / 1_024 * 1_024 * 512;
    assert_eq!(sync.member_bytes_before, before);
    assert_eq!((sync.member_bytes, sync.member_bytes_in_all), (30_000 * 512 - before, 30_000 * 512));
    // The rate is that of this run.
    let rate = sync.member_bytes as f64 * 1e9 / point.window_ns as f64;
    assert!((sync.member_bytes_per_s / rate - 1.0).abs() < 1e-9, "{sync:?}");
    let rebuilt: Vec<f64> = array.series.iter().filter_map(|bucket| bucket.rebuilt.flatten()).collect();
    assert!(
        rebuilt.is_sorted()
            && rebuilt[0] == before as f64 / (30_000.0 * 512.0)
            && rebuilt.last() == Some(&1.0),
        "{rebuilt:?}"
    );
}

/// A mirror whose first member is rebuilt, sampled at these places for so long each.
fn sampled(places: u32, stay: Span, outstanding: u32) -> Setup {
    let Setup { target: TargetParams::System(system), jobs, .. } = mirror(0, Vec::new()) else {
        panic!("no system")
    };
    let array = system.array.clone().unwrap();
    let array = ArrayParams { missing: vec![0], rebuilding: true, ..array };
    let target = TargetParams::System(SystemParams { array: Some(array), ..system });
    let mut job = jobs[0].clone();
    job.arrivals = drivelab_core::host::params::Arrivals::Closed { outstanding, think: ms(20) };
    let limit = Limit { until: Some(Until::Sampled(Sampling { places, stay })), ..Limit::default() };
    Setup { limit, ..setup(target, job, 100) }
}

#[test]
fn a_rebuild_that_is_over_before_it_was_sampled_has_no_places() {
    // Nothing gathers in caches that there are none of: the second look, after ten seconds, sees as much as the first.
    // But this rebuild is over by then.
    let over = go(&sampled(4, ms(50), 1)).unwrap();
    assert_eq!(over.ended, Ended::Sampled);
    let array = over.array.unwrap();
    assert!(array.syncs[0].ended_ns.is_some());
    assert_eq!(array.sampled.unwrap().parts, []);
}

#[test]
fn a_sampled_rebuild_skips_what_lies_between_its_places() {
    let mut setup = sampled(4, ms(2_000), 1);
    let TargetParams::System(system) = &mut setup.target else { panic!("no system") };
    // Slow enough to be there after the first look.
    let sync = &mut system.array.as_mut().unwrap().sync;
    (sync.ceiling, sync.request) = (Some(Rate::from_bytes_per_s(100_000).unwrap()), Sectors::new(8));
    let point = go(&setup).unwrap();
    assert_eq!(point.ended, Ended::Sampled);
    let array = point.array.as_ref().unwrap();
    let found = array.sampled.as_ref().unwrap();
    assert!(found.is_steady);
    // A look at the beginning and one ten seconds later; then four seconds before each stay.
    assert_eq!((found.settled_ns, point.window_ns), (10_000_000_000, 34_000_000_000));
    let shares: Vec<f64> = found.parts.iter().map(|place| place.rebuilt).collect();
    assert_eq!(shares, [0.125, 0.375, 0.625, 0.875]);
    for place in &found.parts {
        assert_eq!(place.counted_ns, 2_000_000_000);
        // The ceiling, but for a request at each end.
        assert!(place.member_bytes.abs_diff(200_000) <= 2 * 8 * 512, "{place:?}");
        assert!(place.ios > 0);
    }
    // What is skipped is valid, and was not processed.
    let sync = &array.syncs[0];
    assert_eq!(sync.ended_ns, None);
    assert!(sync.member_bytes < sync.member_bytes_in_all / 4, "{sync:?}");
    assert_eq!(go(&setup).unwrap(), point);
}

#[test]
fn a_rebuild_that_continues_is_sampled_in_what_is_left() {
    let mut setup = sampled(4, ms(2_000), 1);
    setup.warmup = ms(3_000);
    let TargetParams::System(system) = &mut setup.target else { panic!("no system") };
    let array = system.array.as_mut().unwrap();
    array.rebuilt = Share::from_ratio(1, 2).unwrap();
    (array.sync.ceiling, array.sync.request) =
        (Some(Rate::from_bytes_per_s(50_000).unwrap()), Sectors::new(8));
    let found = go(&setup).unwrap().array.unwrap().sampled.unwrap();
    // The warm-up, two looks, and what is counted.
    assert_eq!(found.settled_ns, 13_000_000_000);
    for (place, share) in found.parts.iter().zip([0.5625, 0.6875, 0.8125, 0.9375]) {
        assert!((place.rebuilt - share).abs() < 1e-3, "{place:?}");
        assert!(place.ios > 0, "{place:?}");
    }
}

#[test]
fn a_member_that_fails_while_its_rebuild_is_counted_ends_the_sampling() {
    // The rebuild begins at 1.1 s, is looked at after 10 and 20 s, and counted from 24 s on.
    let mut setup = mirror(2, vec![failing(0, 1_000), failing(2, 25_000)]);
    let TargetParams::System(system) = &mut setup.target else { panic!("no system") };
    let array = system.array.as_mut().unwrap();
    (array.sync.ceiling, array.sync.request) =
        (Some(Rate::from_bytes_per_s(50_000).unwrap()), Sectors::new(8));
    let until = Some(Until::Sampled(Sampling { places: 4, stay: ms(2_000) }));
    let point = go(&Setup { limit: Limit { until, ..Limit::default() }, ..setup }).unwrap();
    assert_eq!((point.ended, point.window_ns), (Ended::Sampled, 26_000_000_000));
    assert_eq!(point.array.unwrap().sampled.unwrap().parts, []);
}

#[test]
fn the_data_of_a_sampled_rebuild_cannot_be_checked() {
    let setup = Setup { checks_data: true, ..sampled(4, ms(50), 1) };
    assert_eq!(go(&setup), Err(RunError::SampledData));
}

#[test]
fn what_is_not_rebuilt_cannot_be_sampled() {
    let mut setup = sampled(4, ms(50), 1);
    let TargetParams::System(system) = &mut setup.target else { panic!("no system") };
    system.array = None;
    assert_eq!(go(&setup), Err(RunError::NoRebuild));
}

#[test]
fn a_rebuild_that_the_run_cuts_short_says_how_long_the_rest_would_take() {
    let setup = mirror(1, vec![failing(0, 100)]);
    let limit = Limit { until: Some(Until::Rebuilt), ..Limit::default() };
    let whole = go(&Setup { limit, ..setup.clone() }).unwrap().array.unwrap().syncs.remove(0);
    assert_eq!(whole.remaining_ns, None);
    let limit = Limit { duration: Some(Span::from_ns(whole.duration_ns.unwrap() / 2)), ..limit };
    let half = go(&Setup { limit, ..setup }).unwrap().array.unwrap().syncs.remove(0);
    assert_eq!(half.ended_ns, None);
    let left = (half.member_bytes_in_all - half.member_bytes) as f64 / half.member_bytes_per_s;
    let remaining = half.remaining_ns.unwrap() as f64 / 1e9;
    assert!((remaining / left - 1.0).abs() < 1e-6, "{remaining} {left}");
}

#[test]
fn what_is_lost_is_counted_in_bytes() {
    let setup = mirror(0, vec![failing(0, 500), failing(1, 1_000)]);
    let limit = Limit { duration: Some(ms(2_000)), ..Limit::default() };
    let array = go(&Setup { limit, ..setup }).unwrap().array.unwrap();
    assert_eq!((array.state, array.lost_bytes, array.degraded_ns), ("failed", 30_000 * 512, 1_500_000_000));
    let lost = array.events.iter().find_map(|event| event.lost).unwrap();
    assert_eq!((lost.first, lost.bytes, lost.times), (0, 30_000 * 512, 1));
    assert!(array.series.iter().any(|bucket| bucket.errors > 0));
}

#[test]
fn what_is_written_back_is_counted_in_bytes() {
    let mut setup = mirror(0, vec![]);
    let TargetParams::System(system) = &mut setup.target else { unreachable!("a mirror is a system") };
    let unreadable = vec![(Lba::ZERO, Sectors::new(15_000))];
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: ms(50) };
    let geometry = layout(1, vec![zone(0, 50, 600)]);
    let faulty = DriveParams { geometry, seek: flat_seek(ms(1), 50), faults: Some(faults), ..drive() };
    system.drives[0] = Arc::new(DriveModel::new(&faulty).unwrap());
    let point = go(&setup).unwrap();
    // Every other read is of the bad half, and one in two of them comes to the bad drive, until most of it was written.
    let repaired = point.array.unwrap().repaired_bytes / 4_096;
    assert!((5..40).contains(&repaired) && point.errors == 0, "{repaired} of {} reads", point.read.ios);
}

#[test]
fn a_run_that_waits_for_a_rebuild_that_cannot_come_says_so() {
    let limit = Limit { until: Some(Until::Rebuilt), ..Limit::default() };
    for setup in [mirror(0, vec![failing(0, 500)]), mirror(1, vec![])] {
        assert_eq!(go(&Setup { limit, ..setup }), Err(RunError::NoRebuild));
    }
    let alone = setup(common::target(&drive()), common::job(), 1);
    assert_eq!(go(&Setup { limit, ..alone }), Err(RunError::NoRebuild));
}

#[test]
fn a_closed_loop_on_a_failed_array_receives_errors_to_the_end_of_the_run() {
    let mut lost = mirror(0, vec![failing(0, 1_000), failing(1, 1_500)]);
    lost.jobs[0].arrivals = drivelab_core::host::params::Arrivals::Closed { outstanding: 4, think: ms(0) };
    lost.limit = Limit { duration: Some(ms(2_000)), ..Limit::default() };
    let point = go(&lost).unwrap();
    // One every 10 us, however many are asked for at once.
    assert!((49_900..=50_100).contains(&point.errors), "{} errors in half a second", point.errors);
    assert_eq!(point.array.as_ref().unwrap().state, "failed");
}
