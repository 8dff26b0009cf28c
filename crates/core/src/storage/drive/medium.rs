//! What a drive stores its data on: platters, shingled or not, or flash.
use super::flash::params::{FlashError, FlashParams};
use super::geometry::{Geometry, GeometryParams, ZoneParams};
use super::params::{DriveError, DriveParams, LinkParams, WriteData};
use super::seek::SeekParams;
use super::shingled::params::ShingledParams;
use super::zones::ZonesParams;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::{Rpm, Sectors, Span};

/// What a drive stores its data on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Medium {
    /// Platters with conventional recording.
    #[default]
    Conventional,
    /// Shingled platters, on which the drive itself translates addresses.
    Shingled(ShingledParams),
    /// Shingled platters, whose host writes them zone by zone.
    HostManaged(ZonesParams),
    /// Flash memory.
    Flash(FlashParams),
}

impl Medium {
    /// How a shingled drive translates addresses.
    pub fn shingled(&self) -> Option<&ShingledParams> {
        if let Medium::Shingled(shingled) = self { Some(shingled) } else { None }
    }

    /// How a host-managed drive is cut into zones.
    pub fn zones(&self) -> Option<&ZonesParams> {
        if let Medium::HostManaged(zones) = self { Some(zones) } else { None }
    }

    /// The dies of a flash drive.
    pub fn flash(&self) -> Option<&FlashParams> {
        if let Medium::Flash(flash) = self { Some(flash) } else { None }
    }

    pub(super) fn times(&self) -> [[Span; 2]; 2] {
        let zero = Span::ZERO;
        match self {
            Medium::Conventional | Medium::HostManaged(_) => [[zero; 2]; 2],
            Medium::Shingled(shingled) => [[shingled.slice, shingled.idle], [zero; 2]],
            Medium::Flash(flash) => {
                let [read, program, flush, idle] = flash.times();
                [[read, program], [flush, idle]]
            }
        }
    }
}

/// Nothing turns in a flash drive; where a turn is asked for, it takes a second.
const STILL: Rpm = Rpm::from_milli(60_000).unwrap();

impl DriveParams {
    /// A flash drive with nothing before its dies: no queue, a firmware and a link that take no time.
    ///
    /// The rest of the program asks every drive for a geometry. That of a flash drive only counts its sectors: nothing turns,
    /// and no command is placed in it.
    pub fn flash(capacity: Sectors, flash: FlashParams) -> Self {
        const HEADS: u32 = 255;
        const SECTORS_PER_TRACK: u32 = 65_535;
        // A zone has fewer than 2^32 slots.
        const CYLINDERS: u64 = 256;
        let mut left = capacity.get().div_ceil(u64::from(HEADS * SECTORS_PER_TRACK)).max(1);
        let mut zones = Vec::new();
        let mut first_cylinder = 0;
        while left > 0 {
            let cylinders = left.min(CYLINDERS) as u32;
            zones.push(ZoneParams {
                first_cylinder,
                cylinders,
                sectors_per_track: SECTORS_PER_TRACK,
                ..ZoneParams::default()
            });
            first_cylinder += cylinders;
            left -= u64::from(cylinders);
        }
        let one = GeometryParams::one_zone(HEADS, 1, SECTORS_PER_TRACK);
        let geometry = GeometryParams { zones, capacity: Some(capacity), ..one };
        let still = SeekParams::Table(vec![(1, Span::from_ns(1)), (2, Span::from_ns(1))]);
        let plain = DriveParams::plain(STILL, geometry, still);
        let link = LinkParams { write_data: WriteData::BeforePositioning, ..plain.link };
        DriveParams { medium: Medium::Flash(flash), link, ..plain }
    }

    /// Whether what the drive is made of fits the rest of it.
    pub(super) fn check_medium(&self, geometry: &Geometry) -> Result<(), DriveError> {
        match &self.medium {
            Medium::Conventional => Ok(()),
            Medium::Shingled(shingled) => {
                shingled.check(geometry.capacity(), geometry.held()).map_err(DriveError::Shingled)
            }
            Medium::HostManaged(zones) => zones.check(geometry.capacity()).map_err(DriveError::Zones),
            Medium::Flash(flash) => {
                flash.check().map_err(DriveError::Flash)?;
                let is_of_disks = self.protocol.leaves_any_allegiance() || self.queue.coalesces.is_some();
                if is_of_disks { Err(DriveError::Flash(FlashError::Protocol)) } else { Ok(()) }
            }
        }
    }
}
