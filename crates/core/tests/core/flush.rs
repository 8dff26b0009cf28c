//! FLUSH from the host's side: when a job sends one, what it waits for, and what passes it on the way.
use crate::common;
use crate::common::trace::{CommandTrace, Until, trace};
use crate::common::{drive, job, ms, outstanding, queue, random_job, setup, stations, target, us};
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobError, JobParams, Marking, check};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::params::{DriveModel, DriveParams, Overhead};
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::server::Service;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Access, Command, Priority, Setup};
use drivelab_units::{Frequency, Instant, Lba, Sectors, Share, Span};
use proptest::prelude::*;
use std::sync::Arc;

/// A drive whose cache takes writes and brings them to the media for a FLUSH at the latest.
fn caching() -> DriveParams {
    let write_back = WriteBackParams {
        limit: Sectors::new(2_000),
        segments: 16,
        destage: Destage::WhenIdle,
        idle: Span::from_s(3_600),
        age: None,
        press_from: Sectors::new(2_000),
        run: Sectors::new(2_000),
        while_busy: true,
    };
    let cache = CacheParams {
        segments: 16,
        write_back: Some(write_back),
        ..CacheParams::reading_on(Sectors::new(1_000))
    };
    let mut params = DriveParams { cache: Some(cache), queue: queue(8, Order::Sptf), ..drive() };
    params.protocol = Protocol::Ncq(NcqParams::USUAL);
    (params.firmware.write_hit, params.firmware.write_completion) = (Overhead::always(us(50)), us(50));
    params
}

fn writer(target: &TargetParams, depth: u32, writes: u32) -> JobParams {
    let flushes = Flushes::After(writes);
    JobParams { reads: Share::NONE, flushes, arrivals: outstanding(depth), ..random_job(target, 1, 8) }
}

fn run(job: JobParams, target: TargetParams, ios: usize) -> CommandTrace {
    trace(&Setup { jobs: vec![job], ..setup(target, common::job(), 0) }, Until::Finished(ios), 0)
}

fn accesses(trace: &CommandTrace) -> Vec<Access> {
    trace.commands.iter().map(|(_, command)| command.access).collect()
}

/// When each was sent and done, as far as the host has heard of it.
fn flushes(trace: &CommandTrace) -> Vec<(Instant, Instant)> {
    let flushes = trace.commands.iter().filter(|(_, command)| command.access == Access::Flush);
    let ended = |id| trace.completions.iter().find(|done| done.id == id).map(|done| done.completed);
    let all = flushes.filter_map(|(at, command)| Some((*at, ended(command.id)?)));
    all.filter(|(_, ended)| *ended < trace.end).collect()
}

#[test]
fn a_flush_follows_so_many_writes_and_names_no_block() {
    let target = target(&caching());
    let plain = run(writer(&target, 1, 3), target.clone(), 80);
    let kinds = accesses(&plain);
    for (place, kind) in kinds.iter().enumerate() {
        assert_eq!(*kind == Access::Flush, place % 4 == 3, "{place}");
    }
    let marking = Marking { priority: Priority::High, force_unit_access: true, ..Marking::default() };
    let marked = run(JobParams { marking, ..writer(&target, 1, 3) }, target, 40);
    for (_, command) in &marked.commands {
        let Command { first, count, priority, force_unit_access, .. } = *command;
        if command.access == Access::Flush {
            assert_eq!((first, count), (Lba::ZERO, Sectors::ZERO));
            assert_eq!((priority, force_unit_access), (Priority::Normal, false));
        } else {
            assert_eq!((priority, force_unit_access), (Priority::High, true));
        }
    }
}

#[test]
fn sync_forces_writes_to_the_media_and_leaves_reads_alone() {
    let target = target(&caching());
    let marking = Marking { sync: true, ..Marking::default() };
    let reads = Share::from_ratio(1, 2).unwrap();
    let mixed = run(JobParams { marking, reads, ..writer(&target, 1, 4) }, target, 200);
    let kinds = [Access::Read, Access::Write, Access::Flush];
    for kind in kinds {
        let mut of_kind = mixed.commands.iter().map(|(_, command)| command).filter(|one| one.access == kind);
        assert!(of_kind.clone().count() > 10, "{kind:?}");
        assert!(of_kind.all(|one| one.force_unit_access == (kind == Access::Write)), "{kind:?}");
    }
}

#[test]
fn only_writes_count_towards_a_flush() {
    let target = target(&caching());
    let job = JobParams { reads: Share::from_ratio(1, 2).unwrap(), ..writer(&target, 1, 4) };
    let mixed = accesses(&run(job, target, 400));
    let mut writes = 0;
    for kind in mixed {
        match kind {
            Access::Read => {}
            Access::Write => writes += 1,
            Access::Flush => assert_eq!(std::mem::take(&mut writes), 4),
        }
        assert!(writes <= 4);
    }
}

/// Addresses and sizes come from streams that a FLUSH draws nothing from.
#[test]
fn a_flush_changes_nothing_of_what_the_job_writes() {
    let target = target(&caching());
    let written = |job| -> Vec<(Lba, Sectors)> {
        let trace = run(job, target.clone(), 200);
        let writes = trace.commands.iter().filter(|(_, command)| command.access == Access::Write);
        writes.map(|(_, command)| (command.first, command.count)).take(100).collect()
    };
    let flushing = writer(&target, 1, 7);
    assert_eq!(written(flushing.clone()), written(JobParams { flushes: Flushes::Never, ..flushing }));
}

#[test]
fn the_time_to_think_comes_before_a_flush_and_none_after_it() {
    let target = stations(Some(Service::Fixed(ms(1))), 1);
    let arrivals = Arrivals::Closed { outstanding: 1, think: ms(5) };
    let job = JobParams { arrivals, reads: Share::NONE, flushes: Flushes::After(1), ..job() };
    let at: Vec<u64> = run(job, target, 6).commands.iter().map(|(at, _)| at.as_ns() / 1_000_000).collect();
    // Write, think, flush, write, think, flush ..
    assert_eq!(at[..6], [0, 6, 7, 13, 14, 20]);
}

#[test]
fn a_flush_is_no_io_in_the_system() {
    let target = target(&caching());
    let trace = run(writer(&target, 4, 2), target, 300);
    let data = trace.commands.iter().filter(|(_, command)| command.access != Access::Flush).count();
    assert_eq!(trace.begins.len(), data);
    assert!(data < trace.commands.len() - 80);
}

#[test]
fn a_workload_that_waits_for_no_flush_is_refused() {
    let one = |arrivals, flushes| check(&[JobParams { arrivals, flushes, ..job() }]);
    let closed = outstanding(1);
    let open = Arrivals::Fixed { rate: Frequency::from_millihertz(1_000).unwrap() };
    assert_eq!(one(closed, Flushes::After(0)), Err(JobError::ZeroWrites { job: 0 }));
    assert_eq!(one(open, Flushes::After(1)), Err(JobError::FlushInOpenLoop { job: 0 }));
    assert_eq!(one(closed, Flushes::After(1)), Ok(()));
}

proptest! {
    /// Between a FLUSH and its end the job sends nothing; at its end, all that it may have outstanding.
    #[test]
    fn a_job_waits_for_its_flush_and_then_catches_up(depth in 1u32..9, writes in 1u32..20, seed in 0u64..1 << 40) {
        let target = target(&caching());
        let run = Setup { seed, jobs: vec![writer(&target, depth, writes)], ..setup(target, job(), 0) };
        let trace = trace(&run, Until::Finished(150), 0);
        let waits = flushes(&trace);
        prop_assert!(waits.len() > 2);
        for (submitted, ended) in waits {
            let meanwhile = trace.commands.iter().filter(|(at, _)| *at > submitted && *at < ended);
            prop_assert_eq!(meanwhile.count(), 0);
            // What is out just behind its end: all the depth, unless that has a FLUSH in it again.
            let sent = trace.commands.iter().filter(|(at, _)| *at <= ended).count();
            let done = trace.completions.iter().filter(|done| done.completed <= ended).count();
            let again = trace.commands.iter().any(|(at, command)| *at == ended && command.access == Access::Flush);
            prop_assert!(sent - done == depth as usize || again, "{} of {}", sent - done, depth);
        }
    }

    /// All that the drive had answered for is on the media when a FLUSH is done: with one job and depth 1, nothing waits.
    #[test]
    fn a_flush_takes_as_long_as_the_media_need(writes in 1u32..10) {
        let target = target(&caching());
        let trace = run(writer(&target, 1, writes), target, 100);
        let times: Vec<Span> = flushes(&trace).iter().map(|(submitted, ended)| *ended - *submitted).collect();
        let whole = us(50) + us(50);
        // Each piece costs a seek at least, or what the arm finds on its way.
        prop_assert!(times.iter().all(|time| *time > whole + us(80)), "{times:?}");
        let answered = trace.ios.iter().filter(|io| io.access == Access::Write);
        prop_assert!(answered.clone().all(|io| io.finished - io.intended == whole), "writes do not wait for the media");
    }
}

/// Many writers keep the I/O scheduler full; a FLUSH goes ahead of what waits there, and is merged with nothing.
#[test]
fn a_flush_passes_the_hosts_scheduler() {
    for order in [ElevatorOrder::Noop, ElevatorOrder::Deadline, ElevatorOrder::CLook, ElevatorOrder::Fair] {
        let elevator = ElevatorParams {
            order,
            depth: 2,
            merge_limit: Some(Sectors::new(1_024)),
            deadline: DeadlineParams::DEFAULT,
            fair: FairParams::DEFAULT,
        };
        let drive = Arc::new(DriveModel::new(&DriveParams { cache: None, ..caching() }).unwrap());
        let controller = ControllerParams::PLAIN;
        let system = TargetParams::System(SystemParams {
            elevator: Some(elevator),
            ..SystemParams::of_drive(drive, controller)
        });
        // Sequential, so that all neighbours are merged, from the block that a FLUSH seems to name.
        let stream = JobParams { addressing: Addressing::Sequential, ..writer(&system, 16, 40) };
        let trace = run(stream, system, 400);
        let waits = flushes(&trace);
        assert!(waits.len() > 5, "{order:?}");
        // Two requests are with the drive; each takes a turn and what one sweep of merged writes takes.
        assert!(waits.iter().all(|(submitted, ended)| *ended - *submitted < ms(40)), "{order:?}: {waits:?}");
    }
}
