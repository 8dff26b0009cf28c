//! A recorded list of requests, one at a time: a case worked out by hand, the gaps between, and what ends a list early.
use crate::common::{TRACK, drive, ms, stations, target, us};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::cache::params::CacheParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::params::{DriveParams, Overhead};
use drivelab_core::storage::server::Service;
use drivelab_core::{Access, Breakdown, Outcome};
use drivelab_simulate::Control;
use drivelab_simulate::replay::{ReplayError, Request, Served, replay};
use drivelab_units::{Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

fn request(access: Access, first: u64, count: u64, gap: Span) -> Request {
    Request { access, first: Lba::new(first), count: Sectors::new(count), gap }
}

fn serve(target: &TargetParams, requests: &[Request]) -> Result<Vec<Served>, ReplayError> {
    let control = Control { stop: &AtomicBool::new(false), progress: &|_| () };
    replay(target, 1, requests, &control).map(|replay| replay.served)
}

/// 6 ms a turn, 10 us a sector, 1 ms for every seek, 100 us for a read and 150 us for a write.
fn timed() -> DriveParams {
    let mut params = drive();
    params.firmware.read_miss = Overhead::always(us(100));
    params.firmware.write = Overhead::always(us(150));
    params
}

/// With sector 0 of cylinder 0 coming round at B:
/// the first read ends at B + 0.1 ms, and 0.5 ms later comes the second. Its arm is there at B + 0.6 + 0.1 + 1 = 1.7 ms,
/// 0.3 ms before its sector, and 0.2 ms after that it is done: at B + 2.2 ms, 1.6 ms after it came. The write comes at
/// once, is taken up at B + 2.35 ms, and finds sector 160 at B + 7.6 ms; it ends at B + 7.7 ms, after 5.5 ms.
#[test]
fn a_list_of_three_takes_what_pencil_and_paper_say() {
    let list = [
        request(Access::Read, 0, 10, us(500)),
        request(Access::Read, 3 * TRACK + 200, 20, Span::ZERO),
        request(Access::Write, 3 * TRACK + 160, 10, ms(9)),
    ];
    let served = serve(&target(&timed()), &list).unwrap();
    assert_eq!(served[0].issued, Instant::ZERO);
    assert_eq!(served[1].issued, served[0].completed + us(500));
    assert_eq!(served[2].issued, served[1].completed);
    let parts = |overhead, seek, rotation, transfer| Breakdown {
        overhead: us(overhead),
        seek: us(seek),
        rotation: us(rotation),
        transfer: us(transfer),
        ..Breakdown::default()
    };
    assert_eq!(served[1].breakdown, parts(100, 1_000, 300, 200));
    assert_eq!(served[2].breakdown, parts(150, 0, 5_250, 100));
    assert_eq!([served[1].service(), served[2].service()], [us(1_600), us(5_500)]);
}

/// What the target does behind a completion it does in the gap: the longer that is, the more of what follows is there.
#[test]
fn the_gap_is_the_targets_to_use() {
    let ahead = CacheParams::reading_on(Sectors::new(64)).when(false, false);
    let mut params = DriveParams { cache: Some(ahead), ..timed() };
    params.firmware.read_hit = Overhead::always(us(20));
    let second = |gap| {
        let list = [request(Access::Read, 0, 8, gap), request(Access::Read, 8, 32, Span::ZERO)];
        serve(&target(&params), &list).unwrap()[1].service()
    };
    // 32 sectors take 320 us to pass; the head is at the first of them when the first read is done.
    assert_eq!(second(ms(1)), us(20));
    assert_eq!(second(us(100)), us(220));
}

#[test]
fn a_list_beyond_the_target_is_refused_before_anything_runs() {
    let capacity = 1_000 * TRACK;
    let list = [
        request(Access::Read, 0, 8, Span::ZERO),
        request(Access::Read, capacity - 8, 8, Span::ZERO),
        request(Access::Write, capacity - 8, 9, Span::ZERO),
    ];
    let refused = serve(&target(&drive()), &list).unwrap_err();
    assert_eq!(refused, ReplayError::BeyondEnd { number: 3, end: capacity + 1, capacity });
    assert_eq!(
        refused.to_string(),
        "request 3 needs 600001 sectors, and the target has 600000; it was measured on a larger drive"
    );
    let control = Control { stop: &AtomicBool::new(false), progress: &|_| () };
    let replayed = replay(&target(&drive()), 1, &list[..2], &control).unwrap();
    assert_eq!((replayed.capacity.get(), replayed.served.len()), (capacity, 2));
    assert_eq!(serve(&target(&drive()), &[]), Ok(Vec::new()));
}

#[test]
fn a_request_that_fails_ends_the_list() {
    let unreadable = vec![(Lba::new(50), Sectors::new(1))];
    let faults = FaultParams { read_errors: Share::NONE, unreadable, retries: Span::ZERO };
    let target = target(&DriveParams { faults: Some(faults), ..drive() });
    let list = [request(Access::Read, 0, 8, Span::ZERO), request(Access::Read, 48, 8, Span::ZERO)];
    let failed = ReplayError::NotDone { number: 2, outcome: Outcome::MediaError };
    assert_eq!(serve(&target, &list), Err(failed));
}

#[test]
fn a_list_longer_than_a_century_ends_with_a_word() {
    let list = [request(Access::Read, 0, 1, Span::from_ns(u64::MAX / 4)); 3];
    assert_eq!(serve(&stations(None, 1), &list), Err(ReplayError::Endlong));
}

#[test]
fn the_caller_follows_and_stops_it() {
    let list = vec![request(Access::Read, 0, 1, Span::ZERO); 10_000];
    let target = stations(Some(Service::Fixed(ms(1))), 1);
    let (stop, shares) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let progress = |share| shares.lock().unwrap().push(share);
    replay(&target, 1, &list, &Control { stop: &stop, progress: &progress }).unwrap();
    assert_eq!(shares.into_inner().unwrap(), [0.4096, 0.8192]);
    let stopped = replay(&target, 1, &list, &Control { stop: &AtomicBool::new(true), progress: &|_| () });
    assert_eq!(serve(&target, &list).unwrap().len(), list.len());
    assert_eq!(stopped, Err(ReplayError::Interrupted));
}

proptest! {
    #[test]
    fn the_parts_add_up_and_nothing_comes_before_its_gap(
        list in prop::collection::vec((any::<bool>(), 0u64..599_000, 1u64..900, 0u64..20_000), 1..60),
    ) {
        let access = |read| if read { Access::Read } else { Access::Write };
        let list: Vec<Request> =
            list.into_iter().map(|(read, first, count, gap)| request(access(read), first, count, us(gap))).collect();
        let served = serve(&target(&timed()), &list).unwrap();
        prop_assert_eq!(&serve(&target(&timed()), &list).unwrap(), &served, "the same seed, the same times");
        for (request, pair) in list.iter().zip(served.windows(2)) {
            prop_assert_eq!(pair[1].issued, pair[0].completed + request.gap);
        }
        for served in served {
            prop_assert_eq!(served.breakdown.total(), served.service());
        }
    }
}
