//! Controller, I/O scheduler and drive together: what only shows in their interplay, over long runs.
use crate::common;
use crate::common::sorted::Target;
use crate::common::trace::{Until, trace};
use crate::common::{drive, ms, next_due, outstanding, queue, random_job, setup, us};
use drivelab_core::host::params::{Arrivals, JobParams};
use drivelab_core::host::{Host, HostInput, HostOutput};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::params::{DriveModel, DriveParams};
use drivelab_core::storage::drive::protocol::{NcqParams, Protocol, ScsiParams};
use drivelab_core::storage::drive::queue::{JoinsUntil, Order, QueueParams};
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::{TargetInput, TargetParams};
use drivelab_core::{Access, Attribute, Command, CommandTrace, Machine, Setup};
use drivelab_units::Instant;
use std::sync::Arc;

fn system(params: &DriveParams, elevator: Option<ElevatorParams>) -> TargetParams {
    let drive = Arc::new(DriveModel::new(params).unwrap());
    TargetParams::System(SystemParams { elevator, ..SystemParams::of_drive(drive, ControllerParams::PLAIN) })
}

/// A host that always has more than the drive can hold, and one that has a single command outstanding.
#[test]
fn a_busy_initiator_does_not_keep_another_one_out() {
    let scsi = Protocol::ScsiTcq(ScsiParams::USUAL);
    let target = system(&DriveParams { protocol: scsi, queue: queue(4, Order::Fcfs), ..drive() }, None);
    let busy = JobParams { arrivals: outstanding(16), ..random_job(&target, 1, 8) };
    let single = JobParams { initiator: 1, arrivals: outstanding(1), ..busy.clone() };
    let run = Setup { jobs: vec![busy, single], ..setup(target, common::job(), 0) };
    let trace = trace(&run, Until::Finished(2_000), 0);
    let of = |job: u32| trace.ios.iter().filter(|io| io.job == job).count();
    // Four places at the drive, and one of five commands that want one.
    assert!(of(1) > 300, "{} and {}", of(0), of(1));
}

/// The scheduler is asked again when an idle time ends: once for each, however long the run.
#[test]
fn wake_ups_of_the_scheduler_do_not_multiply() {
    let fair = ElevatorParams {
        order: ElevatorOrder::Fair,
        depth: 8,
        merge_limit: None,
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    };
    let params =
        DriveParams { protocol: Protocol::Ncq(NcqParams::USUAL), queue: queue(8, Order::Sptf), ..drive() };
    let target = system(&params, Some(fair));
    let thinks = Arrivals::Closed { outstanding: 1, think: ms(2) };
    let jobs = (0..4).map(|process| JobParams { process, arrivals: thinks, ..random_job(&target, 1, 8) });
    let jobs = jobs.collect();
    let run = Setup { jobs, ..setup(target, common::job(), 0) };
    let wakes = |ios| {
        let (mut host, mut target) = (Host::new(&run.jobs, 1).unwrap(), Target::new(&run.target, 1));
        let (mut wakes, mut finished) = (0u32, 0);
        while finished < ios {
            let due = [next_due(&target), next_due(&host)].into_iter().flatten().min().unwrap();
            wakes += 1;
            target.handle(due, TargetInput::Tick);
            host.handle(due, HostInput::Tick).unwrap();
            loop {
                while let Some(output) = host.poll_output() {
                    match output {
                        HostOutput::Submit { at, command, .. } => {
                            target.handle(at, TargetInput::Submit(command));
                        }
                        HostOutput::Finished(_) => finished += 1,
                        HostOutput::Began(_) => {}
                    }
                }
                let Some(completion) = target.poll_output() else { break };
                let at = completion.completed;
                host.handle(at, HostInput::Completed(completion)).unwrap();
            }
        }
        wakes
    };
    let (short, long) = (wakes(1_000), wakes(4_000));
    assert!(long < 5 * short, "{short} instants for 1000, {long} for 4000");
}

/// A read that was to be carried out in the same sweep keeps its place when a HEAD OF QUEUE command comes between.
#[test]
fn what_came_between_a_sweep_costs_nobody_a_place() {
    let queue = QueueParams { joins_reads: JoinsUntil::UntilEnd, ..queue(8, Order::Fcfs) };
    let params = DriveParams { protocol: Protocol::ScsiTcq(ScsiParams::USUAL), queue, ..drive() };
    let mut target = Target::new(&TargetParams::Wire(Arc::new(DriveModel::new(&params).unwrap())), 1);
    target.keep_traces();
    let read =
        |id: u64, first, attribute| Command { attribute, ..common::command(id, Access::Read, first, 50) };
    let places = [0, 50, 40_000, 80_000, 20_000];
    for (id, first) in (0..).zip(places) {
        let at = Instant::ZERO + us(id);
        target.handle(at, TargetInput::Submit(read(id, first, Attribute::Simple)));
    }
    target.handle(Instant::ZERO + us(9), TargetInput::Submit(read(5, 60_000, Attribute::HeadOfQueue)));
    while let Some(due) = next_due(&target) {
        target.handle(due, TargetInput::Tick);
    }
    let mut traces: Vec<CommandTrace> = std::iter::from_fn(|| target.poll_trace()).collect();
    traces.sort_by_key(|trace| trace.rank);
    assert_eq!(traces.iter().map(|trace| trace.command.id).collect::<Vec<_>>(), [0, 5, 1, 2, 3, 4]);
}
