//! A drive from its sections: parameters for the core, and the core's errors as problems with a place.
use super::duration::duration_limits;
use super::geometry::{geometry, is_complete, skews};
use super::link::link;
use super::protocol::{drive_protocol, in_force};
use super::queue::queue;
use super::seek::seek;
use super::system::{bounded, faults};
use super::{cache, disconnect, flash, host_managed, smr};
use crate::check::given;
use crate::keys::At;
use crate::keys::quantities::Whole;
use crate::raw::cache::CacheRaw;
use crate::raw::drive::{DriveRaw, FirmwareRaw, GeometryRaw, OverheadTimes, SettleRaw};
use crate::raw::queue::QueueRaw;
use crate::raw::switch::Switch;
use crate::raw::system::{FaultsRaw, Interface, PortRaw};
use crate::text::problem::{Log, Place};
use drivelab_core::storage::drive::geometry::GeometryError;
use drivelab_core::storage::drive::mechanism::SettleParams;
use drivelab_core::storage::drive::params::{
    DriveError, DriveModel, DriveParams, FirmwareParams, Medium, Overhead,
};
use drivelab_core::storage::drive::protocol::ExchangeParams;
use drivelab_core::storage::drive::scatter::ScatterParams;
use drivelab_core::storage::drive::seek::SeekError;
use drivelab_units::{Sectors, Span};

/// The scenario's keys that override a drive's own sections.
#[derive(Clone, Copy)]
pub struct Overrides<'a> {
    pub queue: Option<&'a At<QueueRaw>>,
    pub cache: Option<&'a At<Switch<CacheRaw>>>,
    pub write_cache: Option<&'a At<bool>>,
    /// Whether cache and write cache could be read.
    pub clear: bool,
    pub interface: Option<Interface>,
    /// The capabilities of the controller's ports.
    pub port: Option<&'a PortRaw>,
    pub faults: Option<&'a At<FaultsRaw>>,
}

/// The parameters of a drive; `place` is where the scenario names it.
pub fn params(raw: &DriveRaw, above: Overrides<'_>, place: Place, log: &mut Log) -> Option<DriveParams> {
    if let Some(flash) = &raw.flash {
        return flash::params(raw, flash, above, place, log);
    }
    let mut missing = |name: &str, example: &str, is_there: bool| {
        if !is_there && raw.readable(name) {
            log.fault(
                place,
                format!("the drive has no `{name}`"),
                format!("add {example}, or a `base` that has it"),
            );
        }
    };
    missing("rpm", "rpm = \"7200rpm\"", raw.rpm.is_some());
    let geometry_example =
        "geometry = { heads = 4, capacity = \"500GB\", outer_rate = \"100MB/s\", inner_to_outer = \"50%\" }";
    missing("geometry", geometry_example, raw.geometry.is_some());
    missing(
        "seek",
        "seek = { single = \"0.8ms\", average = \"8.5ms\", full = \"18ms\" }",
        raw.seek.is_some(),
    );
    let mut settle = raw.settle.as_ref().map_or_else(SettleParams::default, |at| settle(&at.value));
    settle.physical_sectors = raw.geometry.as_ref().map_or(0, |at| physical_sectors(&at.value, raw, log));
    let (protocol, exchange) = drive_protocol(above.queue, raw.queue.as_ref(), log);
    let queue = queue(above.queue, raw.queue.as_ref(), protocol, log);
    let (protocol, queue) = in_force(protocol, queue, above.interface);
    let duration_limits = duration_limits(above.queue, raw.queue.as_ref(), protocol, log);
    let faults = above.faults.and_then(|at| faults(at, log));
    let firmware = raw.firmware.as_ref().map_or_else(FirmwareParams::default, |at| firmware(&at.value));
    let cache = cache::cache(&above, raw, firmware.read_miss.after_read, log);
    check_write_hit(raw, cache.is_some_and(|cache| cache.write_back.is_some()), log);
    let seek = raw.seek.as_ref().and_then(|at| seek(at, log));
    let rpm = raw.rpm.as_ref().and_then(|rpm| check_spindle(rpm, log));
    let laid_out = raw.geometry.as_ref().filter(|at| is_complete(at, log));
    let (rpm, seek, laid_out) = (rpm?, seek?, laid_out?);
    let scatter = raw.settle.as_ref().and_then(|at| scatter(&at.value));
    let skews = skews(raw.skew.as_ref().map(|at| &at.value), rpm.period(), &settle, &seek);
    let shingled = smr::section(raw.smr.as_ref()).map(|raw| smr::params(raw, log));
    host_managed::check_beside(raw, log);
    let zones = host_managed::section(raw.host_managed.as_ref()).map(host_managed::params);
    let extra = shingled.map_or(Sectors::ZERO, |shingled| shingled.cache);
    let mut geometry = geometry(laid_out, skews, rpm.period(), extra, log)?;
    if let Some(shingled) = &shingled {
        smr::make_room(&mut geometry, shingled.cache);
    }
    let bridge = raw.link.as_ref().and_then(|at| at.value.bridge.as_ref());
    let bridge = bounded(bridge, "bridge", Span::ZERO, log);
    let exchange = ExchangeParams { bridge, ..exchange };
    let link = link(raw.link.as_ref().map(|at| &at.value), above.port, log);
    Some(DriveParams {
        rpm,
        geometry,
        seek,
        settle,
        scatter,
        firmware,
        link,
        queue,
        protocol,
        duration_limits,
        exchange,
        disconnect: disconnect::disconnect(raw.disconnect.as_ref(), log),
        cache,
        medium: match (shingled, zones) {
            (_, Some(zones)) => Medium::HostManaged(zones),
            (Some(shingled), None) => Medium::Shingled(shingled),
            (None, None) => Medium::Conventional,
        },
        faults,
    })
}

/// The time of a write hit counts only with a write cache.
fn check_write_hit(raw: &DriveRaw, taken: bool, log: &mut Log) {
    let Some(hit) = raw.firmware.as_ref().and_then(|at| at.value.write_hit.as_ref()) else { return };
    if taken {
        log.has_effect(hit.place);
    } else if !log.is_of_a_named_file(hit.place) {
        let message = "`write_hit` has no effect without a write cache";
        log.no_effect(hit.place, message.to_owned(), "set write_cache = true, or leave it out".to_owned());
    }
}

fn check_spindle(rpm: &At<drivelab_units::Rpm>, log: &mut Log) -> Option<drivelab_units::Rpm> {
    // The core's own bounds: 30 to 300 000 rpm.
    if (30_000..=300_000_000).contains(&rpm.value.milli()) {
        return Some(rpm.value);
    }
    log.fault(rpm.place, "no spindle turns like this", "write a speed from \"30rpm\" to \"300000rpm\"");
    None
}

fn settle(raw: &SettleRaw) -> SettleParams {
    SettleParams {
        head_switch: given(raw.head_switch.as_ref()).unwrap_or(Span::ZERO),
        write_settle_ns: given(raw.write_settle.as_ref()).map_or(0, |settle| settle.0),
        write_least: given(raw.write_least.as_ref()).unwrap_or(Span::ZERO),
        read_on_arrival: given(raw.read_on_arrival.as_ref()).unwrap_or(false),
        write_on_arrival: given(raw.write_on_arrival.as_ref()).unwrap_or(false),
        physical_sectors: 0,
    }
}

/// The sectors of a physical one; 0 where that is not given.
fn physical_sectors(raw: &GeometryRaw, drive: &DriveRaw, log: &mut Log) -> u32 {
    let Some(At { value: Whole(sectors), place, .. }) = &raw.physical_sector else { return 0 };
    if smr::section(drive.smr.as_ref()).is_some() {
        let message =
            "writes to a shingled drive are appended and merged, whatever the size of its physical sectors";
        log.contradiction(*place, message, "leave out geometry.physical_sector, or smr");
        return 0;
    }
    if !sectors.get().is_power_of_two() || *sectors > PHYSICAL_MAX {
        let remedy = "write \"4KiB\", as all drives with 512 bytes emulated have, or \"512B\"";
        log.fault(*place, "a physical sector is 512 bytes times a power of two, and at most 64 KiB", remedy);
        return 0;
    }
    sectors.get() as u32
}

/// The largest physical sector: 64 KiB.
const PHYSICAL_MAX: Sectors = Sectors::new(128);

/// The arm's scatter; `None` if all its widths are zero.
fn scatter(raw: &SettleRaw) -> Option<ScatterParams> {
    let widths = &raw.scatter.as_ref()?.value.0;
    widths.widths.iter().any(|(_, width)| !width.is_zero()).then(|| widths.clone())
}

pub fn firmware(raw: &FirmwareRaw) -> FirmwareParams {
    let overhead = |at: Option<&At<OverheadTimes>>| {
        at.map_or_else(Overhead::default, |at| Overhead {
            after_read: at.value.after_read,
            after_write: at.value.after_write,
        })
    };
    FirmwareParams {
        read_hit: overhead(raw.read_hit.as_ref()),
        read_miss: overhead(raw.read_miss.as_ref()),
        write: overhead(raw.write.as_ref()),
        write_hit: overhead(raw.write_hit.as_ref().or(raw.write.as_ref())),
        read_completion: given(raw.read_completion.as_ref()).unwrap_or(Span::ZERO),
        write_completion: given(raw.write_completion.as_ref()).unwrap_or(Span::ZERO),
    }
}

/// Builds the tables; an error of the core becomes a problem at the key concerned.
pub fn model(params: &DriveParams, raw: &DriveRaw, place: Place, log: &mut Log) -> Option<DriveModel> {
    let error = match DriveModel::new(params) {
        Ok(model) => return Some(model),
        Err(error) => error,
    };
    let at = |found: Option<Place>| found.unwrap_or(place);
    let (place, remedy) = match error {
        DriveError::Spindle => (at(raw.rpm.as_ref().map(|rpm| rpm.place)), "correct rpm"),
        DriveError::Geometry(error) => geometry_problem(&error, raw, place),
        DriveError::Seek(error) => {
            let seek = raw.seek.as_ref();
            let point = match error {
                SeekError::NotAscending { point } => {
                    seek.and_then(|at| at.value.table.as_ref()).and_then(|table| table.value.get(point))
                }
                _ => None,
            };
            (at(point.map(|point| point.place).or(seek.map(|at| at.place))), "correct the seek curve")
        }
        DriveError::Depth | DriveError::DepthOfProtocol { .. } => (place, "correct queue.depth"),
        DriveError::Settle { .. } => {
            let settle = raw.settle.as_ref().and_then(|settle| settle.value.write_settle.as_ref());
            (at(settle.map(|settle| settle.place)), "correct settle.write_settle")
        }
        DriveError::Scatter(_) => {
            let settle = raw.settle.as_ref();
            let scatter = settle.and_then(|settle| settle.value.scatter.as_ref()).map(|at| at.place);
            (at(scatter), "correct settle.scatter")
        }
        DriveError::Overlong => {
            (place, "correct the times of firmware, queue, settle, link, disconnect, faults and flash")
        }
        DriveError::Cache(_) => (place, "correct the cache"),
        DriveError::Shingled(error) => smr::problem(error, raw.smr.as_ref(), place),
        DriveError::Zones(error) => host_managed::problem(error, raw.host_managed.as_ref(), place),
        DriveError::Flash(error) => flash::problem(error, raw.flash.as_ref(), place),
        DriveError::HandicapWithoutTime => (place, "correct queue.order or queue.write_handicap"),
    };
    log.fault(place, error.to_string(), remedy);
    None
}

/// The key concerned by an error of the geometry, and its remedy; `place` is the drive's.
fn geometry_problem(error: &GeometryError, raw: &DriveRaw, place: Place) -> (Place, &'static str) {
    let at = |found: Option<Place>| found.unwrap_or(place);
    let geometry = raw.geometry.as_ref();
    let zone = |number: usize| {
        let listed =
            geometry.and_then(|at| at.value.zones.as_ref()).and_then(|zones| zones.value.get(number));
        listed.map(|zone| zone.place).or(geometry.map(|at| at.place))
    };
    match *error {
        GeometryError::EmptyZone { zone: number }
        | GeometryError::ZonesOverlap { zone: number }
        | GeometryError::BadSlip { zone: number }
        | GeometryError::BadSpares { zone: number }
        | GeometryError::NoBlocks { zone: number } => (at(zone(number)), "correct the zone"),
        GeometryError::ZoneTooLarge { zone: number } => {
            (at(zone(number)), "split the zone, or raise zone_count")
        }
        GeometryError::CapacityTooLarge { .. } => {
            let place_of =
                |raw: &GeometryRaw| raw.accessible.as_ref().or(raw.capacity.as_ref()).map(|at| at.place);
            (at(geometry.and_then(|at| place_of(&at.value))), "lower capacity, or add what the zones lack")
        }
        GeometryError::BadPattern { pattern: number } => {
            let listed = geometry.and_then(|at| at.value.patterns.as_ref());
            let listed = listed.and_then(|patterns| patterns.value.get(number)).map(|at| at.place);
            (at(listed), "correct the pattern")
        }
        GeometryError::BadOuterLast => {
            (at(raw.smr.as_ref().map(|at| at.place)), "describe the geometry by capacity and rates")
        }
        GeometryError::BadSkip { skip: number } => {
            let listed = geometry.and_then(|at| at.value.skips.as_ref());
            (at(listed.and_then(|skips| skips.value.get(number)).map(|at| at.place)), "correct the skip")
        }
        GeometryError::NoZones | GeometryError::NoHeads | GeometryError::NoSerpent => {
            (at(geometry.map(|at| at.place)), "complete the geometry")
        }
    }
}
