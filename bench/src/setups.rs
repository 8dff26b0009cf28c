//! What is timed: 4 KiB random reads on one 7 200 rpm drive of 250 GB, digest, stamps and histograms on.
use drivelab_core::host::params::{Addressing, Arrivals, JobParams, Marking, SizeShare, SubmitCost};
use drivelab_core::target::TargetParams;
use drivelab_core::target::drive::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
use drivelab_core::target::drive::mechanism::SettleParams;
use drivelab_core::target::drive::params::{
    DriveModel, DriveParams, FirmwareParams, LinkParams, Overhead, ReadAheadParams, WriteData,
};
use drivelab_core::target::drive::protocol::{ExchangeParams, Protocol, Reordering, ScsiParams};
use drivelab_core::target::drive::queue::{Chooses, Knows, Order, QueueParams};
use drivelab_core::target::drive::seek::SeekParams;
use drivelab_core::{Limit, Setup};
use drivelab_units::{Angle, Lba, Rate, Rpm, Sectors, Share, Span};
use std::sync::Arc;

pub struct Case {
    pub name: &'static str,
    pub setup: Setup,
}

pub fn cases(commands: u64) -> [Case; 3] {
    [
        Case { name: "simulate/qd1", setup: queue_depth(1, commands) },
        Case { name: "simulate/sptf-qd32", setup: queue_depth(32, commands) },
        Case { name: "simulate/sptf-qd256", setup: queue_depth(256, commands) },
    ]
}

/// Random reads with so many outstanding on a drive that holds them all and chooses by positioning time.
pub fn queue_depth(depth: u16, commands: u64) -> Setup {
    let Ok(model) = DriveModel::new(&drive(depth)) else { unreachable!("the benchmark's drive is sound") };
    let count = model.capacity();
    let job = JobParams {
        initiator: 0,
        logical_unit: 0,
        process: 0,
        synchronous: true,
        marking: Marking::default(),
        reads: Share::ALL,
        addressing: Addressing::Random,
        sizes: vec![SizeShare { size: Sectors::new(8), weight: 1 }],
        first: Lba::ZERO,
        count,
        align: Sectors::new(8),
        command_limit: None,
        arrivals: Arrivals::Closed { outstanding: depth.into(), think: Span::ZERO },
        submit: SubmitCost::NONE,
    };
    Setup {
        target: TargetParams::Drive(Arc::new(model)),
        jobs: vec![job],
        warmup: Span::ZERO,
        limit: Limit { duration: None, ios: Some(commands) },
        seed: 1,
        lives: 0,
    }
}

fn drive(depth: u16) -> DriveParams {
    const ZONES: u32 = 24;
    let zones = (0..ZONES)
        .map(|zone| ZoneParams {
            first_cylinder: zone * 3_333,
            cylinders: 3_333,
            sectors_per_track: 1_320 - zone * 28,
            track_skew: Angle::from_ratio(18, 100),
            cylinder_skew: Angle::from_ratio(20, 100),
            slips: Vec::new(),
        })
        .collect();
    DriveParams {
        rpm: Rpm::from_milli(7_200_000).unwrap_or_else(|| unreachable!("not zero")),
        geometry: GeometryParams { heads: 4, order: SurfaceOrder::Cylinder, zones, capacity: None },
        seek: SeekParams::Lee {
            single: Span::from_us(1_000),
            average: Span::from_us(8_500),
            full: Span::from_ms(18),
        },
        settle: SettleParams {
            head_switch: Span::from_us(1_000),
            write_settle_ns: 500_000,
            read_on_arrival: false,
            write_on_arrival: false,
        },
        firmware: FirmwareParams {
            read_hit: Overhead::always(Span::from_us(70)),
            read_miss: Overhead::always(Span::from_us(300)),
            write: Overhead::always(Span::from_us(300)),
            read_completion: Span::from_us(20),
            write_completion: Span::from_us(20),
        },
        link: LinkParams {
            rate: Rate::from_bytes_per_s(300_000_000),
            write_data: WriteData::WhilePositioning,
        },
        queue: QueueParams {
            depth,
            order: Order::Sptf,
            knows: Knows::Angle,
            chooses: Chooses::AtMediaEnd,
            ..QueueParams::NONE
        },
        protocol: Protocol::ScsiTcq(ScsiParams { reordering: Reordering::Unrestricted, ..ScsiParams::USUAL }),
        exchange: ExchangeParams::default(),
        faults: None,
        read_ahead: Some(ReadAheadParams {
            size: Sectors::new(4_096),
            when_queued: false,
            when_sequential: false,
        }),
    }
}
