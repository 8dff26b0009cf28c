//! Caches in a whole target: a host's before its I/O scheduler, a controller's behind it, and both.
use super::{flush, params, read, write};
use crate::common::scenarios::memories;
use crate::common::sorted::Target;
use crate::common::trace::{Until, trace};
use crate::common::{Probe, drive, ms, outstanding, queue, random_job, response, setup, us};
use drivelab_core::command::Breakdown;
use drivelab_core::command::OWN_IDS;
use drivelab_core::host::params::{Arrivals, JobParams, Marking};
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::storage::array::params::{ArrayParams, Copies, Level, Rotation};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol};
use drivelab_core::storage::drive::queue::Order;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::WriteBehind;
use drivelab_core::storage::write_behind::params::WriteBehindParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Command, CommandTrace, Completion, Machine, Served, Setup};
use drivelab_units::{Instant, Sectors, Share};
use proptest::prelude::*;
use std::sync::Arc;

type Cache = Option<WriteBehindParams>;

fn elevator() -> ElevatorParams {
    ElevatorParams {
        order: ElevatorOrder::Deadline,
        depth: 4,
        merge_limit: Some(Sectors::new(256)),
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    }
}

fn system(host_cache: Cache, elevator: Option<ElevatorParams>, cache: Cache) -> TargetParams {
    let params =
        DriveParams { protocol: Protocol::Ncq(NcqParams::USUAL), queue: queue(8, Order::Sptf), ..drive() };
    let controller = ControllerParams { cache, ..ControllerParams::PLAIN };
    let drive = Arc::new(DriveModel::new(&params).unwrap());
    TargetParams::System(SystemParams { elevator, host_cache, ..SystemParams::of_drive(drive, controller) })
}

/// Every way to stand before the drive with this cache.
fn systems(params: WriteBehindParams) -> Vec<TargetParams> {
    [(Some(params), None), (None, Some(params)), (Some(params), Some(params))]
        .into_iter()
        .flat_map(|(host, own)| [None, Some(elevator())].map(|elevator| system(host, elevator, own)))
        .collect()
}

/// Sends commands one after the other; each waits for its answer.
fn answers(target: &mut Target, commands: &[Command]) -> Vec<Completion> {
    let mut now = Instant::ZERO;
    let mut answer = |command: &Command| {
        target.handle(now, TargetInput::Submit(*command));
        loop {
            if let Some(completion) = target.poll_output() {
                assert_eq!(completion.id, command.id);
                return completion;
            }
            now = crate::common::next_due(target).expect("it is answered");
            target.handle(now, TargetInput::Tick);
        }
    };
    commands.iter().map(&mut answer).collect()
}

#[test]
fn a_write_takes_a_copy_and_its_read_another() {
    for target in systems(params()) {
        let mut probe = Probe::new(&target, 1);
        for first in [0, 9_000, 100] {
            let overhead = Breakdown { overhead: us(8), ..Breakdown::default() };
            assert_eq!(probe.write(first, 8).breakdown, overhead);
            assert_eq!(probe.read(first, 8).breakdown, overhead);
        }
        assert!(response(&probe.read(50_000, 8)) > 1_000_000, "the drive must seek");
    }
}

#[test]
fn a_controllers_cache_collects_by_the_rows_of_its_array() {
    let rotation = Rotation::LeftSymmetric;
    let parity = |parities| Level::Parity { parities, rotation, groups: 1 };
    for (level, members, row) in [
        // Stripe units of 128 sectors.
        (parity(1), 4, Some(3 * 128)),
        (parity(2), 8, Some(6 * 128)),
        // Rows of three sectors go together.
        (Level::Interleaved { groups: 1 }, 4, Some(33)),
        (Level::StripedMirrors { copies: 2, layout: Copies::Near }, 4, None),
    ] {
        let TargetParams::System(one) = system(Some(params()), None, Some(params())) else { unreachable!() };
        let drives = vec![Arc::clone(&one.drives[0]); usize::from(members)];
        let array = Some(ArrayParams::plain(level, members));
        let target = Target::new(&TargetParams::System(SystemParams { drives, array, ..one }), 1);
        let collects = target.controller_cache().and_then(WriteBehind::row_sectors);
        assert_eq!(collects.map(Sectors::get), row, "{level:?}");
    }
}

#[test]
fn a_flush_reaches_the_drive_through_every_box_and_leaves_nothing_behind() {
    for params in [params(), WriteBehindParams { battery: true, ..params() }] {
        for params in systems(params) {
            let TargetParams::System(system) = &params else { unreachable!("a system was made") };
            let mut target = Target::new(&params, 1);
            let writes = (0..20).map(|id| write(id, id * 3_001, 8));
            let done = answers(&mut target, &writes.chain([flush(20)]).collect::<Vec<_>>());
            let dirty = |target: &Target| {
                let caches = [target.host_cache(0), target.controller_cache()];
                caches.into_iter().flatten().map(|cache| cache.dirty().get()).sum::<u64>()
            };
            let battery =
                [system.host_cache, system.controller.cache].into_iter().flatten().any(|own| own.battery);
            assert_eq!(dirty(&target), if battery { 160 } else { 0 });
            assert_eq!(response(&done[20]) > 20_000_000, !battery, "{:?}", done[20]);
        }
    }
}

#[test]
fn what_is_forced_or_direct_passes_the_caches_that_must_let_it_pass() {
    let through = |host: bool, own: bool, command: Command| {
        let cache = |is: bool| is.then(params);
        let mut target = Target::new(&system(cache(host), Some(elevator()), cache(own)), 1);
        answers(&mut target, &[command])[0].breakdown.transfer > us(0)
    };
    let direct = Command { direct: true, ..write(0, 500, 8) };
    let forced = Command { force_unit_access: true, ..write(0, 500, 8) };
    assert!(through(true, false, direct) && !through(true, true, direct) && !through(false, true, direct));
    assert!(through(true, false, forced) && through(true, true, forced) && through(false, true, forced));
}

#[test]
fn flushes_are_traced_and_so_is_what_memory_answers() {
    for params in systems(WriteBehindParams { background: Sectors::new(40), ..params() }) {
        let mut target = Target::new(&params, 1);
        target.keep_traces();
        let mut commands: Vec<Command> = (0..30).map(|id| write(id, id * 1_000, 8)).collect();
        commands.push(read(30, 29_000, 8));
        commands.push(flush(31));
        answers(&mut target, &commands);
        while let Some(due) = crate::common::next_due(&target) {
            target.handle(due, TargetInput::Tick);
        }
        let traces: Vec<CommandTrace> = std::iter::from_fn(|| target.poll_trace()).collect();
        let of = |id| traces.iter().filter(move |trace: &&CommandTrace| trace.command.id == id);
        for command in &commands[..31] {
            assert_eq!(of(command.id).map(|trace| trace.served).collect::<Vec<_>>(), [Served::Memory]);
        }
        assert_eq!(of(31).count(), 1);
        // The drive has what the commands wrote, in flushes of one of the caches.
        let flushed: u64 = traces
            .iter()
            .filter(|trace| trace.command.id >= OWN_IDS)
            .map(|trace| {
                let by_drive = trace.served.by_drive();
                if by_drive { trace.command.count.get() } else { 0 }
            })
            .sum();
        assert_eq!(flushed, 240);
    }
}

#[test]
fn what_was_merged_on_its_way_to_a_cache_has_a_life_each() {
    let one = ElevatorParams { depth: 1, ..elevator() };
    let traces = |host: Cache, commands: &[Command]| {
        let mut target = Target::new(&system(host, Some(one), Some(params())), 1);
        target.keep_traces();
        for command in commands {
            target.handle(Instant::ZERO, TargetInput::Submit(*command));
        }
        while let Some(due) = crate::common::next_due(&target) {
            target.handle(due, TargetInput::Tick);
        }
        std::iter::from_fn(move || target.poll_trace()).collect::<Vec<CommandTrace>>()
    };
    // One is with the controller when the two others come, which are neighbours.
    let commands = [write(0, 500, 8), write(1, 100, 8), write(2, 108, 8)];
    let summary = |trace: &CommandTrace| (trace.command.id, trace.carried_by, trace.command.count.get());
    let of = |traces: &[CommandTrace]| traces.iter().map(summary).collect::<Vec<_>>();
    assert_eq!(of(&traces(None, &commands)), [(0, 0, 8), (1, 1, 8), (2, 1, 8)]);
    // A host's flushes that the controller's cache must let pass, in pieces of four sectors.
    let host = WriteBehindParams {
        background: Sectors::ZERO,
        request: Sectors::new(4),
        outstanding: 8,
        force_unit_access: true,
        ..params()
    };
    let traces = traces(Some(host), &commands);
    let flushes: Vec<&CommandTrace> = traces.iter().filter(|trace| trace.command.id >= OWN_IDS).collect();
    assert_eq!(flushes.len(), 6);
    assert!(flushes.iter().all(|trace| trace.command.count.get() == 4 && trace.served.by_drive()));
    assert!(flushes.iter().any(|trace| trace.carried_by != trace.command.id), "some were merged");
}

/// Three jobs that write and read all over, through both caches.
fn busy(target: &TargetParams, seed: u64) -> Setup {
    let half = Share::from_ratio(1, 2).unwrap();
    let job = |process: u32, direct| JobParams {
        process,
        reads: half,
        count: Sectors::new(6_000),
        marking: Marking { direct, ..Marking::default() },
        arrivals: Arrivals::Closed { outstanding: 6, think: us(300) },
        ..random_job(target, seed, 8)
    };
    Setup {
        jobs: vec![job(0, false), job(1, false), job(2, true)],
        seed,
        ..setup(target.clone(), crate::common::job(), 0)
    }
}

/// Runs so many I/Os and looks at the target after each instant.
fn watch(run: &Setup, ios: usize, mut look: impl FnMut(&Target)) -> u32 {
    let (mut host, mut target) =
        (Host::new(&run.jobs, run.seed).unwrap(), Target::new(&run.target, run.seed));
    let (mut wakes, mut finished) = (0, 0);
    while finished < ios {
        let due = [crate::common::next_due(&target), crate::common::next_due(&host)]
            .into_iter()
            .flatten()
            .min()
            .unwrap();
        wakes += 1;
        target.handle(due, TargetInput::Tick);
        host.handle(due, HostInput::Tick).unwrap();
        loop {
            while let Some(output) = host.poll_output() {
                match output {
                    HostOutput::Submit { at, command, .. } => target.submit(at, command),
                    HostOutput::Finished(_) => finished += 1,
                    HostOutput::Began(_) => {}
                }
            }
            let Some(completion) = target.poll_output() else { break };
            host.handle(completion.completed, HostInput::Completed(completion)).unwrap();
        }
        look(&target);
    }
    wakes
}

proptest! {
    #[test]
    fn no_cache_ever_holds_more_than_it_may(host in memories(), own in memories(), seed in any::<u64>()) {
        let target = system(Some(host), Some(elevator()), Some(own));
        watch(&busy(&target, seed), 400, |target| {
            for (cache, params) in [(target.host_cache(0), &host), (target.controller_cache(), &own)] {
                let Some(cache) = cache else { continue };
                assert!(cache.dirty() <= params.limit && cache.used() <= params.size);
                assert!(cache.flushing() <= params.outstanding as usize);
                let volatile: u64 = cache.volatile().map(|piece| piece.count.get()).sum();
                assert_eq!(volatile, if params.battery { 0 } else { cache.dirty().get() });
            }
        });
    }
}

/// A timer that comes too early is set again, and not once for each write.
#[test]
fn wake_ups_of_a_cache_do_not_multiply() {
    let cache = WriteBehindParams { age: Some(ms(30_000)), ..params() };
    let target = system(Some(cache), None, None);
    let hot = JobParams { reads: Share::NONE, count: Sectors::new(80), ..random_job(&target, 1, 8) };
    let run = Setup { jobs: vec![hot], ..setup(target, crate::common::job(), 0) };
    // Each write of 8 us is one instant, and each half minute has one flush.
    let wakes = watch(&run, 20_000, |_| {});
    assert!(wakes < 20_200, "{wakes} instants");
}

#[test]
fn a_cache_that_is_never_full_hides_the_drive_from_writers() {
    let roomy = Sectors::new(100_000);
    let cache = WriteBehindParams {
        size: roomy,
        limit: roomy,
        background: Sectors::ZERO,
        outstanding: 8,
        ..params()
    };
    let writes = |target: TargetParams| {
        let job = JobParams { reads: Share::NONE, arrivals: outstanding(1), ..random_job(&target, 1, 8) };
        let trace = trace(&setup(target, job, 0), Until::Finished(1_000), 0);
        trace.end.as_ns()
    };
    // A copy of 8 us each, against an arm that needs milliseconds.
    assert_eq!(writes(system(Some(cache), None, None)), 8_000 * 1_000);
    assert!(writes(system(None, None, None)) > 1_000 * 4_000_000);
}
