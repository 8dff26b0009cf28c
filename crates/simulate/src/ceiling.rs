//! The highest data rates that the media and the links of a target give: what exceeds them came from a cache.
use drivelab_core::Access;
use drivelab_core::storage::TargetParams;
use drivelab_core::storage::array::params::{ArrayParams, Level};
use drivelab_core::storage::drive::flash::params::FlashParams;
use drivelab_core::storage::drive::params::DriveModel;
use drivelab_core::storage::link::params::BusParams;
use drivelab_core::storage::system::SystemParams;
use drivelab_units::{Lba, SECTOR_BYTES};
use std::sync::Arc;

/// The most that a target gives, in bytes per second of its hosts' data.
#[derive(Clone, PartialEq, Debug)]
pub struct Ceiling {
    /// From the media, all drives together.
    pub media_read: f64,
    /// To the media, without copies and parity.
    pub media_write: f64,
    /// Over the links; `None` where a link takes no time.
    pub link_read: Option<f64>,
    pub link_write: Option<f64>,
    /// The caches that may exceed it: `host`, `controller`, `drive`.
    pub caches: Vec<&'static str>,
}

/// Places of a drive at which its rate is taken, evenly spaced, and the tracks that follow each of them.
const PLACES: u64 = 64;
const TRACKS: u32 = 16;

/// What a target gives at most; `None` for one without drives.
pub fn ceiling(target: &TargetParams) -> Option<Ceiling> {
    match target {
        TargetParams::Server(_) => None,
        TargetParams::Drive(model) | TargetParams::Wire(model) => Some(of_drive(model)),
        TargetParams::System(system) => Some(of_system(system)),
    }
}

fn of_drive(model: &DriveModel) -> Ceiling {
    Ceiling {
        media_read: media_rate(model, Access::Read),
        media_write: media_rate(model, Access::Write),
        link_read: rate(&model.link.bus(), Access::Read),
        link_write: rate(&model.link.bus(), Access::Write),
        caches: has_cache(model).then_some("drive").into_iter().collect(),
    }
}

fn of_system(system: &SystemParams) -> Ceiling {
    let members = system.array.as_ref().map_or(1, |array| usize::from(array.members));
    let drives = &system.drives[..members.min(system.drives.len())];
    let media = |access| drives.iter().map(|drive| media_rate(drive, access)).sum::<f64>();
    let share = system.array.as_ref().map_or(1.0, data_share);
    let mut caches = Vec::new();
    caches.extend(system.host_cache.map(|_| "host"));
    caches.extend(system.controller.cache.map(|_| "controller"));
    caches.extend(drives.iter().any(|drive| has_cache(drive)).then_some("drive"));
    Ceiling {
        media_read: media(Access::Read),
        media_write: media(Access::Write) * share,
        link_read: links(system, drives, Access::Read),
        link_write: links(system, drives, Access::Write).map(|rate| rate * share),
        caches,
    }
}

/// The part of what the members write that is data of the host, and not a copy or a parity.
fn data_share(array: &ArrayParams) -> f64 {
    let members = f64::from(array.members);
    match array.level {
        Level::Linear | Level::Striped => 1.0,
        Level::Mirrored => 1.0 / members,
        Level::MirroredStripes { copies } | Level::StripedMirrors { copies, .. } => 1.0 / f64::from(copies),
        Level::Interleaved { groups } => (members - f64::from(groups)) / members,
        Level::Parity { parities, groups, .. } => {
            (members - f64::from(parities) * f64::from(groups)) / members
        }
        Level::RaidZ { parities, .. } => (members - f64::from(parities)) / members,
    }
}

/// The links of the drives together, or the bus of the host where that is slower.
fn links(system: &SystemParams, drives: &[Arc<DriveModel>], access: Access) -> Option<f64> {
    let owners = system.link_owners();
    let own = drives.iter().zip(0..).filter(|&(_, drive)| owners[usize::from(drive)] == drive);
    let own: Option<f64> = own.map(|(drive, _)| rate(&drive.link.bus(), access)).sum();
    let bus = system.controller.bus.and_then(|bus| rate(&bus, access));
    match (own, bus) {
        (Some(own), Some(bus)) => Some(own.min(bus)),
        (own, bus) => own.or(bus),
    }
}

fn rate(bus: &BusParams, access: Access) -> Option<f64> {
    let own = if access == Access::Write { bus.write_rate.or(bus.rate) } else { bus.rate };
    own.map(|rate| rate.bytes_per_s() as f64)
}

/// Whether a drive answers some commands without its media.
fn has_cache(model: &DriveModel) -> bool {
    model.cache.is_some() || model.medium.flash().is_some()
}

/// The rate of a stream on the drive's fastest tracks, skews included, or of all dies together.
fn media_rate(model: &DriveModel, access: Access) -> f64 {
    if let Some(flash) = model.medium.flash() {
        return rate_of_dies(flash, access);
    }
    let capacity = model.capacity().get();
    (0..PLACES).map(|place| stream_rate(model, capacity / PLACES * place)).fold(0.0, f64::max)
}

/// All dies at work on whole pages, of all kinds, or on whole programs.
fn rate_of_dies(flash: &FlashParams, access: Access) -> f64 {
    let times = flash.read.times();
    let (size, time) = match access {
        Access::Read => {
            let sum: u64 = times.iter().map(|time| time.as_ns()).sum();
            (flash.page, sum as f64 / times.len() as f64)
        }
        Access::Write | Access::Flush => {
            let fastest = flash.slc.map_or(flash.program, |slc| slc.program.min(flash.program));
            (flash.program_size, fastest.as_ns() as f64)
        }
    };
    f64::from(flash.dies) * (size.get() * SECTOR_BYTES) as f64 * 1e9 / time.max(1.0)
}

/// The rate of a stream over the tracks from an address on.
fn stream_rate(model: &DriveModel, from: u64) -> f64 {
    let geometry = &model.mechanism.geometry;
    let period = model.period.as_ns() as f64;
    // When in a turn a block passes the head, and how many blocks follow it on its track.
    let part = |at: Lba| {
        let slot = geometry.find(at);
        let begin = geometry.look_up(slot.zone, slot.track).start + geometry.boundary(slot.zone, slot.sector);
        let (_, end) = geometry.track_range(at);
        let last = geometry.find(Lba::new(end.get() - 1));
        let slots = f64::from(last.sector - slot.sector + 1);
        (begin.as_ns() as f64, slots * period / f64::from(geometry.sectors_per_track(slot.zone)), end)
    };
    let capacity = geometry.capacity().get();
    let (mut at, mut time) = (geometry.track_range(Lba::new(from)).0, 0.0);
    let first = at.get();
    let (mut begin, mut lasts, mut end) = part(at);
    let mut wait = 0.0;
    for _ in 0..TRACKS {
        time += lasts;
        at = end;
        if at.get() >= capacity {
            // Nothing follows the last track: as after the one before it.
            time += wait;
            break;
        }
        let next = part(at);
        wait = (next.0 - begin - lasts).rem_euclid(period);
        // A wait of a whole turn is none, rounded down.
        wait = if wait > 0.99 * period { 0.0 } else { wait };
        time += wait;
        (begin, lasts, end) = next;
    }
    if time > 0.0 { (at.get() - first) as f64 * SECTOR_BYTES as f64 * 1e9 / time } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::storage::drive::geometry::GeometryParams;
    use drivelab_core::storage::drive::params::DriveParams;
    use drivelab_core::storage::drive::seek::SeekParams;
    use drivelab_units::{Angle, Rpm, Span};

    #[test]
    fn a_stream_waits_for_the_skew_of_each_track() {
        let rpm = Rpm::from_milli(6_000_000).unwrap();
        let seek = SeekParams::Table(vec![(1, Span::from_us(800)), (100, Span::from_ms(5))]);
        let of = |skew: Angle| {
            let mut geometry = GeometryParams::one_zone(2, 200, 1_000);
            (geometry.zones[0].track_skew, geometry.zones[0].cylinder_skew) = (skew, skew);
            let drive = DriveParams::plain(rpm, geometry, seek.clone());
            media_rate(&DriveModel::new(&drive).unwrap(), Access::Read)
        };
        // A thousand sectors each turn of 10 ms; and each turn and a quarter.
        assert!((of(Angle::from_ratio(0, 4)) / 51_200_000.0 - 1.0).abs() < 1e-3);
        let expected = 51_200_000.0 * 16.0 / (16.0 + 0.25 * 16.0);
        assert!((of(Angle::from_ratio(1, 4)) / expected - 1.0).abs() < 0.02);
    }
}
