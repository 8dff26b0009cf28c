//! The baseline for command queueing: the same run on a drive that serves its commands in order of arrival.
use drivelab_core::host::feed::FedIo;
use drivelab_core::host::params::{JobParams, Marking};
use drivelab_core::host::recording::{Recorded, Recorder, Recording};
use drivelab_core::setup::{Fed, Limit};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::drive::queue::{Order, QueueParams};
use drivelab_core::storage::system::SystemParams;
use drivelab_core::{Command, Setup};
use drivelab_units::Span;
use std::sync::Arc;

/// `setup` with `order = "fcfs"`, ending once `ios` I/Os have finished, with that many traces kept; `None`
/// for a target that is not a drive. Without the host's scheduler, attributes and priorities, whose purpose
/// is to change the order; seed, the rest of the workload, warm-up and everything else of the drive stay: the
/// difference between the two runs is the gain of the order.
pub fn in_arrival_order(setup: &Setup, ios: u64) -> Option<Setup> {
    let target = match &setup.target {
        TargetParams::Server(_) => return None,
        TargetParams::Drive(model) => TargetParams::Drive(fcfs(model)),
        TargetParams::Wire(model) => TargetParams::Wire(fcfs(model)),
        TargetParams::System(system) => TargetParams::System(SystemParams {
            drives: system.drives.iter().map(|drive| fcfs(drive)).collect(),
            elevator: None,
            ..system.clone()
        }),
    };
    let limit = Limit { duration: None, ios: Some(ios), until: None };
    let plain =
        |job: &JobParams| JobParams { marking: Marking::default(), priorities: Vec::new(), ..job.clone() };
    let jobs = setup.jobs.iter().map(plain).collect();
    let fed = setup.fed.as_ref().map(|fed| Fed {
        ios: fed.ios.iter().map(plain_io).collect(),
        recording: fed.recording.clone().map(|recording| Arc::new(Plain(recording)) as Arc<dyn Recording>),
        params: fed.params,
    });
    let (checks_data, power_cut) = (false, None);
    Some(Setup { target, jobs, fed, limit, traces: ios, checks_data, power_cut, ..setup.clone() })
}

fn plain_io(io: &FedIo) -> FedIo {
    let Marking { attribute, priority, force_unit_access, sync: _, direct } = Marking::default();
    FedIo { command: Command { attribute, priority, force_unit_access, direct, ..io.command }, ..*io }
}

/// A recording whose commands are plain.
#[derive(Debug)]
struct Plain(Arc<dyn Recording>);

struct PlainRecorder(Box<dyn Recorder>);

impl Recording for Plain {
    fn open(&self) -> Result<Box<dyn Recorder>, String> {
        self.0.open().map(|inner| Box::new(PlainRecorder(inner)) as Box<dyn Recorder>)
    }
}

impl Recorder for PlainRecorder {
    fn next(&mut self) -> Result<Option<Recorded>, String> {
        let next = self.0.next()?;
        Ok(next.map(|recorded| Recorded { io: plain_io(&recorded.io), ..recorded }))
    }

    fn left_out(&self) -> u64 {
        self.0.left_out()
    }
}

fn fcfs(model: &DriveModel) -> Arc<DriveModel> {
    // There is no cost to which a handicap could be added, and no entry to examine.
    let queue = QueueParams {
        order: Order::Fcfs,
        write_handicap: Span::ZERO,
        considers: None,
        sorts_from: None,
        look_time: Span::ZERO,
        ..model.queue.clone()
    };
    Arc::new(DriveModel { queue, ..model.clone() })
}
