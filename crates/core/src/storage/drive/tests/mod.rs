//! Each part of the drive alone, held to a naive model or to its closed form.
mod buffer;
mod firmware;
mod mechanics;
mod port;
mod tasks;

use super::disconnect::DisconnectParams;
use super::geometry::{GeometryParams, SurfaceOrder, ZoneParams};
use super::mechanism::SettleParams;
use super::params::{DriveModel, DriveParams, FirmwareParams, LinkParams, Medium, WriteData};
use super::protocol::{ExchangeParams, Protocol, ScsiParams};
use super::queue::{Order, PositionKnowledge, QueueParams};
use super::seek::SeekParams;
use alloc::vec;
use drivelab_units::{Angle, Rpm, Span};

/// One turn of [`params`] in nanoseconds.
const TURN: u64 = 6_000_000;

/// A bare drive of one head and 100 cylinders of 600 sectors: 6 ms a turn, 1 ms for every seek, an infinitely fast link,
/// a queue of this depth.
fn params(depth: u32) -> DriveParams {
    let zone = ZoneParams {
        first_cylinder: 0,
        cylinders: 100,
        sectors_per_track: 600,
        track_skew: Angle::ZERO,
        cylinder_skew: Angle::ZERO,
        ..ZoneParams::default()
    };
    let ms = Span::from_ms(1);
    DriveParams {
        rpm: Rpm::from_milli(10_000_000).unwrap(),
        geometry: GeometryParams {
            heads: 1,
            order: SurfaceOrder::Cylinder,
            zones: vec![zone],
            patterns: None,
            capacity: None,
            outer_last: 0,
        },
        seek: SeekParams::Table(vec![(1, ms), (100, ms)]),
        settle: SettleParams::default(),
        scatter: None,
        firmware: FirmwareParams::default(),
        link: LinkParams {
            rate: None,
            write_rate: None,
            write_data: WriteData::WhilePositioning,
            full_duplex: false,
        },
        queue: QueueParams {
            depth,
            order: Order::Sptf,
            knows: PositionKnowledge::Angle,
            ..QueueParams::NONE
        },
        protocol: Protocol::ScsiTcq(ScsiParams::USUAL),
        duration_limits: None,
        exchange: ExchangeParams::default(),
        disconnect: DisconnectParams::default(),
        cache: None,
        medium: Medium::Conventional,
        faults: None,
    }
}

fn model(params: &DriveParams) -> DriveModel {
    DriveModel::new(params).unwrap()
}
