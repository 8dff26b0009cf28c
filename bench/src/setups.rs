//! The timed setups: 4 KiB random reads on one 7 200 rpm drive of 250 GB, with digest, stamps and histograms
//! enabled; and the same in deep queues, in every order, on drives with few and with many cylinders.
use drivelab_core::host::params::{Addressing, Arrivals, Flushes, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::controller::params::ControllerParams;
use drivelab_core::storage::drive::cache::params::{CacheParams, Destage, WriteBackParams};
use drivelab_core::storage::drive::disconnect::DisconnectParams;
use drivelab_core::storage::drive::flash::params::{FlashParams, ReadTimes};
use drivelab_core::storage::drive::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{
    DriveModel, DriveParams, FirmwareParams, LinkParams, Medium, Overhead, WriteData,
};
use drivelab_core::storage::drive::protocol::{ExchangeParams, NcqParams, Protocol, Reordering, ScsiParams};
use drivelab_core::storage::drive::queue::orders::Unit;
use drivelab_core::storage::drive::queue::{ChoiceTime, Order, PositionKnowledge, QueueParams};
use drivelab_core::storage::drive::seek::SeekParams;
use drivelab_core::storage::elevator::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};
use drivelab_core::storage::link::params as link;
use drivelab_core::storage::system::SystemParams;
use drivelab_core::storage::write_behind::params::{FlushOrder, ReadAhead, WriteBehindParams};
use drivelab_core::{Limit, Setup};
use drivelab_units::{Angle, Lba, Rate, Rpm, Sectors, Share, Span};
use std::sync::Arc;

pub struct Case {
    pub name: String,
    pub setup: Setup,
}

pub fn cases(commands: u64) -> Vec<Case> {
    let case = |name: &str, depth| Case { name: name.to_owned(), setup: queue_depth(depth, commands) };
    let mut cases =
        vec![case("simulate/qd1", 1), case("simulate/sptf-qd32", 32), case("simulate/sptf-qd256", 256)];
    cases.extend(aged(commands));
    cases.extend(crate::everyday::cases(commands));
    cases.extend(protocols(commands));
    cases.extend(cached(commands));
    cases.extend(memories(commands));
    cases.extend(crate::arrays::cases(commands));
    cases.extend(flash(commands));
    cases.extend(crate::data::cases(commands));
    cases
}

/// Shortest positioning time with credit for age, 2/3 reads: what most drives of the catalogue do.
fn aged(commands: u64) -> [Case; 2] {
    [32, 256].map(|depth| {
        let setup = random(&drive(in_order(Order::AGED_SPTF, depth), 3_333), commands, 1);
        Case { name: format!("simulate/aged-sptf-qd{depth}"), setup }
    })
}

/// A flash drive with ten dies: random reads at a depth of 1 and of 32, and a third of writes beside them.
fn flash(commands: u64) -> Vec<Case> {
    let dies = FlashParams {
        dies: 10,
        page: Sectors::new(32),
        stripe: Sectors::new(8),
        read: ReadTimes::new(&[57, 63, 79].map(Span::from_us)).unwrap_or_else(|| unreachable!("three kinds")),
        read_ahead: Sectors::ZERO,
        program_size: Sectors::new(768),
        program: Span::from_us(2_100),
        slc: None,
        buffer: Sectors::new(32_768),
        answers_early: true,
        is_protected: false,
        flush: Span::ZERO,
        idle: Span::from_ms(10),
    };
    let case = |name: &str, depth, share| {
        let plain = DriveParams::flash(Sectors::new(500_118_192), dies);
        let drive = DriveParams {
            firmware: FirmwareParams {
                read_miss: Overhead::always(Span::from_us(2)),
                read_completion: Span::from_us(9),
                ..FirmwareParams::default()
            },
            link: LinkParams { rate: Rate::from_bytes_per_s(3_406_000_000), full_duplex: true, ..plain.link },
            queue: QueueParams { depth, ..QueueParams::NONE },
            protocol: Protocol::Nvme,
            ..plain
        };
        let setup = random(&drive, commands, 1);
        let jobs = setup.jobs.into_iter().map(|job| JobParams { reads: share, ..job }).collect();
        Case { name: format!("flash/{name}-qd{depth}"), setup: Setup { jobs, ..setup } }
    };
    let mixed = Share::from_ratio(2, 3).unwrap_or(Share::ALL);
    vec![case("reads", 1, Share::ALL), case("reads", 32, Share::ALL), case("mixed", 32, mixed)]
}

/// What each protocol, the host's scheduler and a controller with command overhead add to the plain queue,
/// `sptf-qd32`.
fn protocols(commands: u64) -> Vec<Case> {
    let plain = || queue_depth(32, commands);
    let speaking = |protocol| {
        let drive = DriveParams { protocol, ..drive(in_order(Order::Sptf, 32), 3_333) };
        let Ok(model) = DriveModel::new(&drive) else { unreachable!("the benchmark's drive is sound") };
        Arc::new(model)
    };
    let case = |name: &str, target| Case {
        name: format!("protocol/{name}-qd32"),
        setup: Setup { target, ..plain() },
    };
    let behind = |controller, elevator| {
        let drive = speaking(Protocol::Ncq(NcqParams::USUAL));
        TargetParams::System(SystemParams { elevator, ..SystemParams::of_drive(drive, controller) })
    };
    let micros = Span::from_us(2);
    let busy = ControllerParams { issue: micros, completion: micros, ..ControllerParams::PLAIN };
    let elevator = |order| ElevatorParams {
        order,
        depth: 32,
        merge_limit: Some(Sectors::new(1_024)),
        deadline: DeadlineParams::DEFAULT,
        fair: FairParams::DEFAULT,
    };
    let deadline = Some(elevator(ElevatorOrder::Deadline));
    let mut none = queue_depth(32, commands);
    let drive = DriveParams { protocol: Protocol::None, ..drive(QueueParams::NONE, 3_333) };
    if let Ok(model) = DriveModel::new(&drive) {
        none.target = TargetParams::Drive(Arc::new(model));
    }
    vec![
        Case { name: "protocol/none-qd32".to_owned(), setup: none },
        case("scsi-tcq-restricted", TargetParams::Drive(speaking(Protocol::ScsiTcq(ScsiParams::USUAL)))),
        case("ata-tcq", TargetParams::Drive(speaking(Protocol::AtaTcq))),
        case("ncq", TargetParams::Drive(speaking(Protocol::Ncq(NcqParams::USUAL)))),
        case("ncq-ahci", behind(busy, None)),
        case("ncq-deadline", behind(ControllerParams::PLAIN, deadline)),
    ]
}

/// A cache of 16 MiB, typical of drives of 2006; dirty data, limited to half of it, are destaged when the
/// drive is idle or half of that limit is reached.
fn cache() -> CacheParams {
    let reading_on = CacheParams::reading_on(Sectors::new(512));
    let write_back = WriteBackParams {
        limit: Sectors::new(16_384),
        segments: 32,
        destage: Destage::WhenIdle,
        idle: Span::from_ms(50),
        age: None,
        press_from: Sectors::new(8_192),
        run: Sectors::new(2_048),
        while_busy: true,
    };
    let size = Sectors::new(32_768);
    CacheParams { size, segments: 4_096, fixed: false, write_back: Some(write_back), ..reading_on }
}

/// What the cache costs and saves: the same drive with 16 MiB in up to 32 segments, write-back on. Random
/// reads over the whole drive never hit, reads of a stream always do; random writes are destaged by position.
fn cached(commands: u64) -> Vec<Case> {
    let segments = |segments| {
        let write_back = cache().write_back.map(|back| WriteBackParams { segments, ..back });
        CacheParams { segments, write_back, ..cache() }
    };
    let case = |name: &str, depth, share, addressing, cache| {
        let order = in_order(Order::Sptf, depth);
        let drive = DriveParams { cache: Some(cache), ..drive(order, 3_333) };
        let setup = random(&drive, commands, 1);
        let jobs = setup.jobs.into_iter().map(|job| JobParams { reads: share, addressing, ..job }).collect();
        Case { name: format!("cache/{name}-qd{depth}"), setup: Setup { jobs, ..setup } }
    };
    let (reads, writes) = (Share::ALL, Share::NONE);
    let mixed = Share::from_ratio(2, 3).unwrap_or(Share::ALL);
    let (random, stream) = (Addressing::Random, Addressing::Sequential);
    vec![
        case("reads", 1, reads, random, segments(32)),
        case("reads", 32, reads, random, segments(32)),
        case("stream", 1, reads, stream, segments(32)),
        case("stream-writes", 1, writes, stream, segments(32)),
        case("writes", 1, writes, random, segments(4_096)),
        case("writes", 32, writes, random, segments(4_096)),
        case("mixed", 32, mixed, random, segments(4_096)),
    ]
}

/// The cost of memory before the drive: a host's page cache of 64 MiB that is always full of writes, the same
/// for a controller, and a page cache that keeps data that were read; a controller cache that collects
/// sequential writes by rows of stripe units, and one that reads ahead of a stream; and a host bus that the
/// data cross in addition to the drive's own link.
fn memories(commands: u64) -> Vec<Case> {
    let memory = WriteBehindParams {
        size: Sectors::new(131_072),
        limit: Sectors::new(65_536),
        background: Sectors::new(32_768),
        age: Some(Span::from_s(30)),
        order: FlushOrder::Address,
        request: Sectors::new(1_024),
        outstanding: 32,
        rate: Rate::from_bytes_per_s(2_000_000_000),
        overhead: Span::from_us(5),
        battery: false,
        force_unit_access: false,
        keeps_reads: false,
        stripe: None,
        stripe_wait: WriteBehindParams::STRIPE_WAIT,
        write_through: false,
        read_ahead: None,
    };
    let case = |name: &str, reads, addressing, host_cache, controller| {
        let setup = queue_depth(32, commands);
        let TargetParams::Drive(drive) = setup.target else { unreachable!("a drive was made") };
        let target =
            TargetParams::System(SystemParams { host_cache, ..SystemParams::of_drive(drive, controller) });
        let jobs = setup.jobs.into_iter().map(|job| JobParams { reads, addressing, ..job }).collect();
        Case { name: format!("{name}-qd32"), setup: Setup { target, jobs, ..setup } }
    };
    let plain = ControllerParams::PLAIN;
    let (reads, writes) = (Share::ALL, Share::NONE);
    let own = ControllerParams { cache: Some(memory), ..plain };
    let keeping = WriteBehindParams { keeps_reads: true, ..memory };
    // As before, four drives with parity and stripe units of 64 KiB.
    let rows = WriteBehindParams { stripe: Some(Sectors::new(384)), ..memory };
    let lines = ReadAhead {
        unit: Sectors::new(128),
        window: Sectors::new(2_048),
        outstanding: 8,
        after: 2,
        streams: 32,
    };
    let ahead = WriteBehindParams { read_ahead: Some(lines), ..memory };
    let of = |cache| ControllerParams { cache: Some(cache), ..plain };
    let (random, stream) = (Addressing::Random, Addressing::Sequential);
    let bus =
        ControllerParams { bus: Some(link::BusParams::shared(Rate::from_bytes_per_s(133_000_000))), ..plain };
    vec![
        case("write-behind/host-writes", writes, random, Some(memory), plain),
        case("write-behind/controller-writes", writes, random, None, own),
        case("write-behind/host-reads", reads, random, Some(keeping), plain),
        case("write-behind/stream-writes", writes, stream, None, own),
        case("write-behind/stream-writes-by-row", writes, stream, None, of(rows)),
        case("write-behind/writes-by-row", writes, random, None, of(rows)),
        case("write-behind/stream-ahead", reads, stream, None, of(ahead)),
        case("write-behind/reads-by-line", reads, random, None, of(ahead)),
        case("link/bus-reads", reads, random, None, bus),
    ]
}

/// How the time per command grows with the queue depth: 2/3 reads, over the whole drive or confined to 64
/// cylinders.
pub fn deep(commands: u64) -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, zone_cylinders, share) in
        [("small", 292, 1), ("large", 12_917, 1), ("crowded", 12_917, 12_917 * u64::from(ZONES) / 64)]
    {
        for order in Order::ALL {
            for depth in [1, 32, 256, 2_048, 16_384, 65_536] {
                let name = format!("deep/{place}/{}-qd{depth}", order.rule().name.replace('-', ""));
                let drive = drive(in_order(order, depth), zone_cylinders);
                cases.push(Case { name, setup: random(&drive, commands, share) });
            }
        }
    }
    cases
}

/// Random reads with `depth` outstanding on a drive that holds them all and chooses by positioning time.
pub fn queue_depth(depth: u32, commands: u64) -> Setup {
    let setup = random(&drive(in_order(Order::Sptf, depth), 3_333), commands, 1);
    let jobs = setup.jobs.into_iter().map(|job| JobParams { reads: Share::ALL, ..job }).collect();
    Setup { jobs, ..setup }
}

/// A queue with the parameters that every order needs.
fn in_order(order: Order, depth: u32) -> QueueParams {
    let weight = order.rule().weighs.map_or(0, |weighs| match (weighs.key, weighs.unit) {
        ("scan_weight", _) => 200_000,
        (_, Unit::Share { .. }) => 100_000,
        // Longer than a full queue takes to serve, or all commands would exceed the limit.
        (_, Unit::Time) => Span::from_ms(40 * u64::from(depth)).as_ns(),
    });
    QueueParams {
        depth,
        order: order.weighing(weight),
        knows: PositionKnowledge::Angle,
        chooses: ChoiceTime::AtMediaEnd,
        ..QueueParams::NONE
    }
}

/// Random commands with as many outstanding as the drive holds, over the first part of it that this share
/// makes up.
fn random(drive: &DriveParams, commands: u64, share: u64) -> Setup {
    let Ok(model) = DriveModel::new(drive) else { unreachable!("the benchmark's drive is sound") };
    let depth = model.queue.depth;
    let count = Sectors::new(model.capacity().get() / share);
    let job = JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking::default(),
        priorities: Vec::new(),
        reads: Share::from_ratio(2, 3).unwrap_or(Share::ALL),
        flushes: Flushes::Never,
        addressing: Addressing::Random,
        popularity: Default::default(),
        sizes: vec![SizeShare { size: Sectors::new(8), weight: 1 }],
        first: Lba::ZERO,
        count,
        align: Sectors::new(8),
        zones: None,
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: depth, think: Span::ZERO },
        submit: SubmitCost::NONE,
        ending: Default::default(),
    };
    Setup {
        target: TargetParams::Drive(Arc::new(model)),
        jobs: vec![job],
        sections: [].into(),
        fed: None,
        warmup: Span::ZERO,
        limit: Limit { duration: None, ios: Some(commands), until: None },
        seed: 1,
        traces: 0,
        checks_data: false,
        injections: [].into(),
        power_cut: None,
    }
}

/// A member of the array that is rebuilt: 41 GB.
pub fn array_member() -> Arc<DriveModel> {
    let drive = drive(in_order(Order::Sptf, 32), 833);
    let Ok(model) = DriveModel::new(&drive) else { unreachable!("the benchmark's drive is sound") };
    Arc::new(model)
}

const ZONES: u32 = 24;

fn drive(queue: QueueParams, zone_cylinders: u32) -> DriveParams {
    let zones = (0..ZONES)
        .map(|zone| ZoneParams {
            first_cylinder: zone * zone_cylinders,
            cylinders: zone_cylinders,
            sectors_per_track: 1_320 - zone * 28,
            track_skew: Angle::from_ratio(18, 100),
            cylinder_skew: Angle::from_ratio(20, 100),
            ..ZoneParams::default()
        })
        .collect();
    DriveParams {
        medium: Medium::Conventional,
        rpm: Rpm::from_milli(7_200_000).unwrap_or_else(|| unreachable!("not zero")),
        geometry: GeometryParams {
            heads: 4,
            order: SurfaceOrder::Cylinder,
            zones,
            patterns: None,
            capacity: None,
            outer_last: 0,
        },
        seek: SeekParams::Lee {
            single: Span::from_us(1_000),
            average: Span::from_us(8_500),
            full: Span::from_ms(18),
        },
        scatter: None,
        settle: SettleParams {
            head_switch: Span::from_us(1_000),
            write_settle_ns: 500_000,

            write_least: Span::ZERO,
            read_on_arrival: false,
            write_on_arrival: false,
            physical_sectors: 0,
        },
        firmware: FirmwareParams {
            read_hit: Overhead::always(Span::from_us(70)),
            read_miss: Overhead::always(Span::from_us(300)),
            write: Overhead::always(Span::from_us(300)),
            write_hit: Overhead::always(Span::from_us(100)),
            read_completion: Span::from_us(20),
            write_completion: Span::from_us(20),
        },
        link: LinkParams {
            rate: Rate::from_bytes_per_s(300_000_000),
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        },
        queue,
        protocol: Protocol::ScsiTcq(ScsiParams { reordering: Reordering::Unrestricted, ..ScsiParams::USUAL }),
        duration_limits: None,
        exchange: ExchangeParams::default(),
        disconnect: DisconnectParams::default(),
        faults: None,
        cache: Some(CacheParams::reading_on(Sectors::new(4_096)).when(false, false)),
    }
}
