//! What users run: a large drive of the catalogue, named as in a scenario; and a station of fixed service
//! time, which shows the cost of a run without a drive.
use crate::setups::{Case, queue_depth};
use drivelab_core::Setup;
use drivelab_core::host::params::JobParams;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::server::{ServerParams, Service};
use drivelab_scenario::{NoFiles, Source, plan};
use drivelab_units::{Sectors, Span};

/// The 24 TB drive and the station.
pub fn cases(commands: u64) -> Vec<Case> {
    let (reads, mixed) = ("randread", "randrw");
    vec![
        large("24tb-reads-qd1", reads, 1, commands),
        large("24tb-mixed-qd32", mixed, 32, commands),
        station(commands),
    ]
}

/// Random commands of 4 KiB on a drive of 24 TB, with all its keys as in the catalogue.
fn large(name: &str, rw: &str, depth: u32, commands: u64) -> Case {
    let text = format!(
        "[target]\ndrive = \"seagate-exos-x24-24tb\"\n[workload]\nrw = \"{rw}\"\nbs = \"4KiB\"\n\
         iodepth = {depth}\n[run]\nios = {commands}\n"
    );
    let source = Source { origin: "bench".to_owned(), text };
    let planned = match plan(&source, &[], &NoFiles) {
        Ok(planned) => planned,
        Err(problems) => unreachable!("the benchmark's scenario is sound: {problems}"),
    };
    let Some(point) = planned.points.into_iter().next() else { unreachable!("a plan has a point") };
    Case { name: format!("catalogue/{name}"), setup: point.setup }
}

/// One station that takes 100 us for each command, 32 outstanding.
fn station(commands: u64) -> Case {
    let service = Some(Service::Fixed(Span::from_us(100)));
    let capacity = Sectors::new(1_000_000);
    let target = TargetParams::Server(ServerParams { capacity, service, stations: 1 });
    let plain = queue_depth(32, commands);
    let jobs = plain.jobs.iter().map(|job| JobParams { count: capacity, ..job.clone() });
    Case { name: "station/fixed-qd32".to_owned(), setup: Setup { target, jobs: jobs.collect(), ..plain } }
}
