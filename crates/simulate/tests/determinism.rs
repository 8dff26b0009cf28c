//! The first test: the same setup and seed give the same digest, today and tomorrow, in debug and in release, on every
//! machine. The values are in tests/golden/digests.txt; a change on purpose is recorded by
//!
//!     DRIVELAB_UPDATE_GOLDEN=1 cargo test -p drivelab-simulate --test determinism
mod common;

use common::{
    drive, job, layout, ms, outstanding, point, poisson, queue, random_job, setup, stations, target, us, zone,
};
use drivelab_core::host::params::{Addressing, Arrivals, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{
    ArrayParams, ConsistencyPolicy, Copies, Failure, Level, ManagedBy, Rotation, When,
};
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::disconnect::DisconnectParams;
use drivelab_core::storage::drive::faults::FaultParams;
use drivelab_core::storage::drive::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{
    DriveModel, DriveParams, FirmwareParams, LinkParams, Overhead, WriteData,
};
use drivelab_core::storage::drive::protocol::{
    ExchangeParams, Naca, NcqParams, Protocol, QueueErrors, ScsiParams,
};
use drivelab_core::storage::drive::queue::{
    AgeFull, AgeWeight, ChoiceTime, JoinsUntil, Order, QueueParams, ScanWeight,
};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::server::Service;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, WriteBehindParams};
use drivelab_core::{Attribute, MODEL_VERSION, Priority, Setup};
use drivelab_units::{Angle, Lba, Rate, Sectors, Share};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
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
        scatter: None,
        firmware: FirmwareParams {
            read_hit: overhead(60, 90),
            read_miss: overhead(150, 210),
            write: overhead(180, 120),
            read_completion: us(25),
            write_completion: us(35),
            ..FirmwareParams::default()
        },
        link: LinkParams {
            rate: Rate::from_bytes_per_s(133_000_000),
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        },
        cache: Some(CacheParams::reading_on(Sectors::new(1_024)).when(false, false)),
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
        chooses: ChoiceTime::AfterAnswer,
        answer_time: us(120),
        considers: Some(12),
        write_handicap: us(700),
        write_margin: us(200),
        joins_reads: JoinsUntil::BeforeStart,
        joins_writes: JoinsUntil::UntilEnd,
        age_limit: Some(ms(150)),
        ..queue(16, Order::AgedSptf(AgeWeight::from_ratio(1, 12).unwrap()))
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
        addressing: Addressing::Mixed {
            random: Share::from_ratio(3, 4).unwrap(),
            random_writes: Share::from_ratio(3, 4).unwrap(),
        },
        sizes: sizes.map(|(size, weight)| SizeShare { size: Sectors::new(size), weight }).to_vec(),
        arrivals: poisson(40),
        ..base
    };
    Setup { jobs: vec![reader, writer, stream], warmup: ms(200), seed: 42, ..random_mix(&params) }
}

/// Three hosts that mark their commands in every way, behind schedulers and controllers that cost time, on a drive that
/// fails now and then.
fn system(protocol: Protocol, order: ElevatorOrder) -> Setup {
    let faults = FaultParams {
        read_errors: Share::from_ratio(1, 60).unwrap(),
        unreadable: vec![(Lba::new(1_000_000), Sectors::new(500_000))],
        retries: ms(20),
    };
    let params = DriveParams {
        protocol,
        exchange: ExchangeParams { release: us(20), service: us(45), bridge: us(5) },
        disconnect: DisconnectParams::default(),
        faults: Some(faults),
        ..rich(queue(24, Order::Sptf))
    };
    let controller = ControllerParams {
        depth: Some(20),
        issue: us(3),
        completion: us(2),
        retries: 2,
        recovery: us(700),
        timeout: Some(ms(400)),
        bus: None,
        cache: None,
    };
    let elevator = ElevatorParams {
        order,
        depth: 12,
        merge_limit: Some(Sectors::new(256)),
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    };
    let base = random_mix(&params);
    let marked = |attribute, priority, host: u16| JobParams {
        marking: Marking { attribute, priority, force_unit_access: host == 2, sync: false, direct: false },
        initiator: if matches!(protocol, Protocol::ScsiTcq(_)) { host } else { 0 },
        process: host.into(),
        arrivals: outstanding(6),
        ..base.jobs[0].clone()
    };
    let jobs = match protocol {
        Protocol::ScsiTcq(_) => [Attribute::Simple, Attribute::Ordered, Attribute::HeadOfQueue]
            .map(|attribute| (attribute, Priority::Normal)),
        Protocol::Ncq(_) => [Priority::Normal, Priority::High, Priority::Isochronous(ms(90))]
            .map(|priority| (Attribute::Simple, priority)),
        _ => [Attribute::Simple, Attribute::Untagged, Attribute::Simple]
            .map(|attribute| (attribute, Priority::Normal)),
    };
    let jobs =
        (0u16..).zip(jobs).map(|(host, (attribute, priority))| marked(attribute, priority, host)).collect();
    let drive = Arc::new(DriveModel::new(&params).unwrap());
    let target = TargetParams::System(SystemParams {
        elevator: Some(elevator),
        ..SystemParams::of_drive(drive, controller)
    });
    Setup { target, jobs, ..base }
}

/// An array under a mix of large and small commands.
fn array(params: ArrayParams, cache: Option<WriteBehindParams>) -> Setup {
    let base = random_mix(&rich(queue(8, Order::Sptf)));
    let TargetParams::Drive(drive) = &base.target else { unreachable!("a drive was made") };
    let journal = u16::from(params.consistency_policy == ConsistencyPolicy::Journal);
    let drives = vec![Arc::clone(drive); usize::from(params.members + params.spares + journal)];
    let controller = ControllerParams { cache, ..ControllerParams::PLAIN };
    let params = ArrayParams { deviation_ppm: 100, ..params };
    let system =
        SystemParams { drives, array: Some(params), ..SystemParams::of_drive(Arc::clone(drive), controller) };
    let count = system.capacity();
    let jobs = base.jobs.iter().map(|job| JobParams { count, ..job.clone() }).collect();
    Setup { target: TargetParams::System(system), jobs, ..base }
}

/// The same on members that answer writes from their caches.
fn forgetting(mut setup: Setup) -> Setup {
    let TargetParams::System(system) = &mut setup.target else { unreachable!("an array is a system") };
    let write_back = WriteBackParams {
        limit: Sectors::new(512),
        segments: 16,
        destage: Destage::WhenIdle,
        idle: ms(2),
        age: Some(ms(100)),
        press_from: Sectors::new(256),
        run: Sectors::new(256),
        while_busy: true,
    };
    let mut params = rich(queue(8, Order::Sptf));
    params.cache =
        params.cache.map(|cache| CacheParams { write_back: Some(write_back), segments: 24, ..cache });
    let drive = Arc::new(DriveModel::new(&params).unwrap());
    system.drives.iter_mut().for_each(|member| *member = Arc::clone(&drive));
    setup
}

/// An array with this consistency policy.
fn kept(consistency_policy: ConsistencyPolicy, params: ArrayParams) -> ArrayParams {
    ArrayParams { consistency_policy, ..params }
}

/// Arrays of every family of levels.
fn arrays() -> Vec<(String, Setup)> {
    let parity = |parities, groups| Level::Parity { parities, rotation: Rotation::LeftSymmetric, groups };
    let failing = |level, members| ArrayParams {
        spares: 1,
        failures: vec![Failure { drive: 1, when: When::Commands(300) }],
        ..ArrayParams::plain(level, members)
    };
    let far = Level::StripedMirrors { copies: 2, layout: Copies::Far };
    let bitmap = ConsistencyPolicy::Bitmap { region: Sectors::new(1 << 14), clears_after: ms(50) };
    let records = Level::RaidZ { parities: 2, record: Sectors::new(256), fill_percent: 80 };
    let memory = WriteBehindParams {
        size: Sectors::new(4_096),
        limit: Sectors::new(2_048),
        background: Sectors::new(512),
        age: Some(ms(30)),
        order: FlushOrder::Age,
        request: Sectors::new(1_024),
        outstanding: 4,
        rate: None,
        overhead: us(5),
        battery: true,
        force_unit_access: true,
        keeps_reads: false,
        stripe: None,
        stripe_wait: ms(3),
        write_through: false,
        read_ahead: None,
    };
    let plain = |level, members| ArrayParams::plain(level, members);
    [
        ("raid0", array(plain(Level::Striped, 4), None)),
        ("raid10-far", array(kept(bitmap, failing(far, 4)), None)),
        ("raid01", array(failing(Level::MirroredStripes { copies: 2 }, 4), None)),
        (
            "raid3",
            array(ArrayParams { synchronised: true, ..failing(Level::Interleaved { groups: 1 }, 5) }, None),
        ),
        ("raid5", array(failing(parity(1, 1), 8), None)),
        ("raid5-journal", array(kept(ConsistencyPolicy::Journal, failing(parity(1, 1), 4)), None)),
        (
            "raid5-cached",
            array(
                ArrayParams { managed_by: ManagedBy::Controller, ..failing(parity(1, 1), 4) },
                Some(memory),
            ),
        ),
        ("raid60", array(failing(parity(2, 2), 8), None)),
        ("raidz2", array(plain(records, 6), None)),
        ("raid5-ppl", array(kept(ConsistencyPolicy::PartialParityLog, failing(parity(1, 1), 4)), None)),
        ("raid5-bitmap-volatile", forgetting(array(kept(bitmap, failing(parity(1, 1), 4)), None))),
        (
            "raid5-ppl-volatile",
            forgetting(array(kept(ConsistencyPolicy::PartialParityLog, plain(parity(1, 1), 4)), None)),
        ),
    ]
    .map(|(name, setup)| (format!("array-{name}"), setup))
    .into()
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
    let tenth = AgeWeight::from_ratio(1, 10).unwrap();
    for order in Order::ALL {
        let name = format!("drive-{}", order.rule().name.replace('-', ""));
        let order = match order {
            Order::VScan(_) => Order::VScan(ScanWeight::from_ratio(1, 20).unwrap()),
            Order::AgedSptf(_) => Order::AgedSptf(tenth),
            Order::ShareAgedSptf(_) => Order::ShareAgedSptf(AgeWeight::from_ratio(1, 2).unwrap()),
            Order::WeightedSptf(_) => Order::WeightedSptf(AgeFull::new(ms(200))),
            Order::ReadFirstSptf(_) => Order::ReadFirstSptf(ms(100)),
            order => order,
        };
        setups.push((name, random_mix(&rich(queue(32, order)))));
    }
    let window = QueueParams { considers: Some(12), ..queue(32, Order::AgedSptf(tenth)) };
    setups.push((String::from("drive-window"), random_mix(&rich(window))));
    setups.push((String::from("drive-mixed"), mixed()));
    let qerr = ScsiParams { on_error: QueueErrors::ClearAll, naca: Naca::ALL, ..ScsiParams::USUAL };
    let ncq = NcqParams { rdnc: true, wdnc: true, ..NcqParams::USUAL };
    for (name, protocol, order) in [
        ("scsi-tcq", Protocol::ScsiTcq(ScsiParams::USUAL), ElevatorOrder::Deadline),
        ("scsi-tcq-aca", Protocol::ScsiTcq(qerr), ElevatorOrder::Noop),
        ("ata-tcq", Protocol::AtaTcq, ElevatorOrder::CLook),
        ("ncq", Protocol::Ncq(NcqParams::USUAL), ElevatorOrder::Fair),
        ("ncq-deadlines", Protocol::Ncq(ncq), ElevatorOrder::Noop),
    ] {
        setups.push((format!("system-{name}"), system(protocol, order)));
    }
    setups.extend(arrays());
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
