//! What the engine itself costs: commands per second on one core with no device behind it, all accounts on.
//!
//! `cargo run --release -p drivelab-measure --example null_engine`
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::host::popularity::Popularity;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::server::ServerParams;
use drivelab_core::{Limit, Setup};
use drivelab_measure::{Control, MeasureOptions, measure};
use drivelab_units::{Lba, Sectors, Share, Span};
use std::sync::atomic::AtomicBool;

/// 4 KiB random reads over 256 GiB at this depth, for two seconds behind half a second.
fn setup(depth: u32) -> Setup {
    let capacity = Sectors::new(1 << 29);
    let job = JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking { direct: true, ..Marking::default() },
        priorities: Vec::new(),
        reads: Share::ALL,
        flushes: Flushes::Never,
        addressing: Addressing::Random,
        popularity: Popularity::Uniform,
        sizes: vec![SizeShare { size: Sectors::new(8), weight: 1 }],
        first: Lba::new(0),
        count: capacity,
        align: Sectors::new(8),
        zones: None,
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: depth, think: Span::ZERO },
        submit: SubmitCost::NONE,
        ending: Default::default(),
    };
    Setup {
        target: TargetParams::Server(ServerParams { capacity, service: None, stations: 1 }),
        jobs: vec![job],
        sections: [].into(),
        fed: None,
        warmup: Span::from_ms(500),
        limit: Limit { duration: Some(Span::from_s(2)), ..Limit::default() },
        seed: 1,
        traces: 0,
        checks_data: false,
        injections: [].into(),
        power_cut: None,
    }
}

#[expect(clippy::print_stdout, reason = "it is a program for people")]
fn main() -> Result<(), drivelab_measure::MeasureError> {
    let stop = AtomicBool::new(false);
    for depth in [1, 4, 32, 256] {
        let control = Control { stop: &stop, progress: &|_| {} };
        let found = measure(&setup(depth), &MeasureOptions::default(), &control)?;
        let cpu = found.measured.cpu_ns_per_io.unwrap_or_default();
        println!(
            "depth {depth:>3}: {:>10.0} commands/s, {cpu:.0} ns of processor each, {:.0} % of a core",
            found.point.iops,
            100.0 * found.measured.cpu_share.unwrap_or_default()
        );
    }
    Ok(())
}
