//! The first test: the same setup and seed give the same digest, today and tomorrow, in debug and in release, on every
//! machine. The values are in tests/golden/digests.txt; a change on purpose is recorded by
//!
//!     DRIVELAB_UPDATE_GOLDEN=1 cargo test -p drivelab-simulate --test determinism
mod common;

use common::{
    drive, job, layout, ms, outstanding, point, poisson, queue, random_job, setup, stations, target, us, zone,
};
use drivelab_core::host::params::{Addressing, Arrivals, JobParams, SizeShare, SubmitCost};
use drivelab_core::target::drive::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
use drivelab_core::target::drive::mechanism::SettleParams;
use drivelab_core::target::drive::params::{
    DriveParams, FirmwareParams, LinkParams, Overhead, ReadAheadParams, WriteData,
};
use drivelab_core::target::drive::queue::{
    AgeFull, AgeWeight, Chooses, Joins, Order, QueueParams, ScanWeight,
};
use drivelab_core::target::drive::seek::SeekParams;
use drivelab_core::target::server::Service;
use drivelab_core::{MODEL_VERSION, Setup};
use drivelab_units::{Angle, Rate, Sectors, Share};
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

/// A drive with a bit of everything: three zones in a serpentine, skews, slips, overheads, a link, a buffer.
fn rich(queue: QueueParams) -> DriveParams {
    let zone = |first, cylinders, sectors, slips| ZoneParams {
        track_skew: Angle::from_ratio(1, 9),
        cylinder_skew: Angle::from_ratio(1, 5),
        slips,
        ..zone(first, cylinders, sectors)
    };
    let zones = vec![
        zone(0, 6_000, 900, vec![17, 18, 40_000]),
        zone(6_000, 7_000, 700, vec![]),
        zone(13_010, 5_000, 500, vec![1]),
    ];
    let order = SurfaceOrder::Serpentine { cylinders_per_head: 400 };
    let overhead = |read, write| Overhead { after_read: us(read), after_write: us(write) };
    DriveParams {
        geometry: GeometryParams { order, ..layout(4, zones) },
        seek: SeekParams::Lee { single: us(600), average: us(4_700), full: us(10_500) },
        settle: SettleParams { head_switch: us(800), write_settle_ns: 300_000, ..SettleParams::default() },
        firmware: FirmwareParams {
            read_hit: overhead(60, 90),
            read_miss: overhead(150, 210),
            write: overhead(180, 120),
            read_completion: us(25),
            write_completion: us(35),
        },
        link: LinkParams {
            rate: Rate::from_bytes_per_s(133_000_000),
            write_data: WriteData::WhilePositioning,
        },
        read_ahead: Some(ReadAheadParams {
            size: Sectors::new(1_024),
            when_queued: false,
            when_sequential: false,
        }),
        queue,
        ..drive()
    }
}

/// Two thirds reads, all over the drive, sixteen at a time.
fn random_mix(params: &DriveParams) -> Setup {
    let target = target(params);
    let reads = Share::from_ratio(2, 3).unwrap();
    let job = JobParams { reads, arrivals: outstanding(16), ..random_job(&target, 1, 8) };
    Setup { warmup: ms(100), seed: 42, ..setup(target, job, 3_000) }
}

/// A sequential reader, a writer of large I/Os that are split, and a Poisson stream of mixed sizes, to a drive that
/// joins, ages, prefers reads and waits for answers.
fn mixed() -> Setup {
    let queue = QueueParams {
        chooses: Chooses::AfterAnswer,
        answer_time: us(120),
        considers: Some(12),
        write_handicap: us(700),
        write_margin: us(200),
        joins_reads: Joins::BeforeStart,
        joins_writes: Joins::UntilEnd,
        age_limit: Some(ms(150)),
        age_weight: AgeWeight::from_ratio(1, 12).unwrap(),
        ..queue(16, Order::AgedSptf)
    };
    let mut params = rich(queue);
    params.settle.read_on_arrival = true;
    params.link.write_data = WriteData::BeforePositioning;
    let target = target(&params);
    let base = random_job(&target, 42, 8);
    let reader = JobParams {
        addressing: Addressing::Sequential,
        arrivals: Arrivals::Closed { outstanding: 2, think: us(300) },
        ..base.clone()
    };
    let writer = JobParams {
        process: 1,
        reads: Share::NONE,
        sizes: common::sizes(600),
        command_limit: Some(Sectors::new(256)),
        arrivals: outstanding(2),
        submit: SubmitCost {
            fixed: us(20),
            rate: Rate::from_bytes_per_s(900_000_000),
            spread: Share::from_ratio(1, 2).unwrap(),
        },
        ..base.clone()
    };
    let sizes = [(8, 5), (16, 3), (64, 2)];
    let stream = JobParams {
        process: 2,
        reads: Share::from_ratio(1, 2).unwrap(),
        addressing: Addressing::Mixed { random: Share::from_ratio(3, 4).unwrap() },
        sizes: sizes.map(|(size, weight)| SizeShare { size: Sectors::new(size), weight }).to_vec(),
        arrivals: poisson(40),
        ..base
    };
    Setup { jobs: vec![reader, writer, stream], warmup: ms(200), seed: 42, ..random_mix(&params) }
}

/// The setups and their names, without blanks.
fn setups() -> Vec<(String, Setup)> {
    let open = JobParams { arrivals: poisson(700), ..job() };
    let closed = JobParams { arrivals: outstanding(8), ..job() };
    let exponential = stations(Some(Service::Exponential { mean: ms(1) }), 1);
    let tandem = stations(Some(Service::Erlang { mean: us(800), phases: 3 }), 3);
    let mut setups = vec![
        (String::from("server-open"), setup(exponential, open, 5_000)),
        (String::from("server-tandem"), setup(tandem, closed, 5_000)),
    ];
    for order in Order::ALL {
        let name = format!("drive-{order:?}").to_lowercase();
        let queue = QueueParams {
            age_weight: AgeWeight::from_ratio(1, 10).unwrap(),
            age_full: AgeFull::new(ms(200)),
            write_deadline: ms(100),
            scan_weight: ScanWeight::from_ratio(1, 20).unwrap(),
            // The firmware's order has the formula of the aged one.
            considers: (order == Order::Firmware).then_some(12),
            ..queue(32, order)
        };
        setups.push((name, random_mix(&rich(queue))));
    }
    setups.push((String::from("drive-mixed"), mixed()));
    setups
}

#[test]
fn every_digest_is_the_golden_one() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/digests.txt");
    let mut found = format!(
        "# Digests of the setups in crates/simulate/tests/determinism.rs, model version {MODEL_VERSION}.\n"
    );
    for (name, setup) in setups() {
        let (first, second) = (point(&setup), point(&setup));
        assert_eq!(first, second, "{name}: two runs differ");
        println!("digest {name} {}", first.digest);
        found += &format!("{name} {}\n", first.digest);
    }
    if env::var_os("DRIVELAB_UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &found).unwrap();
    }
    let golden = fs::read_to_string(&file).unwrap_or_default();
    let lines = |text: &str| -> BTreeMap<String, String> {
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        pairs.filter(|(name, _)| *name != "#").map(|(name, hex)| (name.into(), hex.into())).collect()
    };
    assert_eq!(
        lines(&found),
        lines(&golden),
        "the model gives other results than before (left: now): CONTRIBUTING.md, Change the model"
    );
}

#[test]
fn every_setup_has_a_digest_of_its_own_and_every_seed() {
    let mut digests = BTreeMap::new();
    for (name, setup) in setups() {
        for seed in [setup.seed, setup.seed + 1] {
            let digest = point(&Setup { seed, ..setup.clone() }).digest;
            if let Some(other) = digests.insert(digest, name.clone()) {
                panic!("{name} and {other} share a digest");
            }
        }
    }
}

#[test]
fn runs_side_by_side_come_out_as_one_after_the_other() {
    let alone: Vec<_> = (1..=6).map(|seed| point(&Setup { seed, ..mixed() })).collect();
    assert_eq!(common::points(&mixed(), 6), alone);
}
