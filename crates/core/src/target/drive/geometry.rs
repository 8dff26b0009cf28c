//! Where a block lies: zones, heads, skews, surface order and slipped defects.
//!
//! A zone's tracks are counted in the order in which its blocks run over them. `locate` turns an address into zone,
//! track of that order, and sector slot; `track` turns a track of that order into cylinder, head and the angle of its
//! slot 0. A slipped defect is a slot that holds no block: blocks behind it move up by one, and it passes under the
//! head like any other slot.
use alloc::vec::Vec;
use core::fmt;
use drivelab_units::{Angle, Lba, Sectors, Span};

/// In which order the blocks of a zone run over its surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SurfaceOrder {
    /// All heads of a cylinder, then the next cylinder.
    Cylinder,
    /// `cylinders_per_head` cylinders under one head, then back under the next head, and so on.
    Serpentine { cylinders_per_head: u32 },
}

/// One zone: cylinders whose tracks hold the same number of sectors.
#[derive(Clone, Debug)]
pub struct ZoneParams {
    pub first_cylinder: u32,
    pub cylinders: u32,
    pub sectors_per_track: u32,
    /// Angle between slot 0 of a track and of the next one under another head.
    pub track_skew: Angle,
    /// Angle between slot 0 of a track and of the next one on another cylinder.
    pub cylinder_skew: Angle,
    /// Slots of the zone, counted in track order, that are slipped over. Ascending, without repetition.
    pub slips: Vec<u64>,
}

#[derive(Clone, Debug)]
pub struct GeometryParams {
    pub heads: u32,
    pub order: SurfaceOrder,
    pub zones: Vec<ZoneParams>,
    /// Blocks that the drive reports; all that the zones hold when `None`.
    pub capacity: Option<Sectors>,
}

/// Why a geometry cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryError {
    NoZones,
    NoHeads,
    EmptyZone { zone: usize },
    ZonesOverlap { zone: usize },
    ZoneTooLarge { zone: usize },
    BadSlip { zone: usize },
    NoSerpent,
    CapacityTooLarge { capacity: u64, held: u64 },
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoZones => write!(f, "a drive needs at least one zone"),
            Self::NoHeads => write!(f, "a drive needs at least one head"),
            Self::EmptyZone { zone } => write!(f, "zone {zone} has no cylinders or no sectors"),
            Self::ZonesOverlap { zone } => write!(f, "zone {zone} begins before the previous one ends"),
            Self::ZoneTooLarge { zone } => {
                write!(f, "zone {zone} is too large: at most 65535 sectors a track and 2^32 slots")
            }
            Self::BadSlip { zone } => {
                write!(
                    f,
                    "zone {zone} has slips that are not ascending slots inside it, or nothing but slips"
                )
            }
            Self::NoSerpent => write!(f, "a serpentine needs at least one cylinder per head"),
            Self::CapacityTooLarge { capacity, held } => {
                write!(f, "a capacity of {capacity} sectors exceeds the {held} that the zones hold")
            }
        }
    }
}

impl core::error::Error for GeometryError {}

/// Bits of the fixed-point sector time. With at most 2^16 sectors a track, a product rounded up at this precision has
/// the same floor as the exact quotient k T / sectors, whose fraction is a multiple of 1 / sectors.
const FRACTION_BITS: u32 = 36;

#[derive(Clone, Debug)]
struct Zone {
    first_lba: u64,
    first_cylinder: u32,
    sectors_per_track: u32,
    tracks: u32,
    /// Angle of slot 0 of the zone's first track.
    start: Angle,
    track_skew: Angle,
    cylinder_skew: Angle,
    /// ceil(T * 2^FRACTION_BITS / sectors_per_track)
    sector_time: u64,
    cylinders: u32,
    /// slips[i] - i: the zone-relative block from which on i + 1 slots have been slipped.
    slipped_from: Vec<u32>,
}

impl Zone {
    /// The angle of slot 0 of the track that so many switches precede in the zone.
    #[inline]
    fn angle(&self, head_switches: u32, cylinder_switches: u32) -> Angle {
        self.start
            + self.track_skew.times(head_switches.into())
            + self.cylinder_skew.times(cylinder_switches.into())
    }
}

/// A slot on the media: the zone, the track in the zone's order, the slot in the track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    pub zone: u32,
    pub track: u32,
    pub sector: u32,
}

/// A track as the mechanism sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Track {
    pub cylinder: u32,
    pub head: u32,
    /// Time within a revolution at which slot 0 begins.
    pub start: Span,
}

#[derive(Clone, Debug)]
pub struct Geometry {
    heads: u32,
    order: SurfaceOrder,
    zones: Vec<Zone>,
    /// Per block of `1 << index_shift` addresses, the zone of its first address.
    index: Vec<u16>,
    index_shift: u32,
    capacity: u64,
    cylinders: u32,
    period: Span,
}

impl Geometry {
    /// Checks the parameters and lays the drive out for a spindle with this period.
    pub fn new(params: &GeometryParams, period: Span) -> Result<Self, GeometryError> {
        if params.heads == 0 {
            return Err(GeometryError::NoHeads);
        }
        if matches!(params.order, SurfaceOrder::Serpentine { cylinders_per_head: 0 }) {
            return Err(GeometryError::NoSerpent);
        }
        let mut geometry = Geometry {
            heads: params.heads,
            order: params.order,
            zones: Vec::with_capacity(params.zones.len()),
            index: Vec::new(),
            index_shift: 0,
            capacity: 0,
            cylinders: 0,
            period,
        };
        let mut start = Angle::ZERO;
        for (number, zone) in params.zones.iter().enumerate() {
            start = geometry.add_zone(number, zone, start)?;
        }
        if geometry.zones.is_empty() {
            return Err(GeometryError::NoZones);
        }
        if let Some(capacity) = params.capacity.map(Sectors::get) {
            if capacity > geometry.capacity || capacity == 0 {
                return Err(GeometryError::CapacityTooLarge { capacity, held: geometry.capacity });
            }
            geometry.capacity = capacity;
        }
        geometry.build_index();
        Ok(geometry)
    }

    /// Appends a zone; returns the angle at which the next one starts, so that the skew runs on across the border.
    fn add_zone(&mut self, number: usize, zone: &ZoneParams, start: Angle) -> Result<Angle, GeometryError> {
        if zone.cylinders == 0 || zone.sectors_per_track == 0 {
            return Err(GeometryError::EmptyZone { zone: number });
        }
        if zone.first_cylinder < self.cylinders {
            return Err(GeometryError::ZonesOverlap { zone: number });
        }
        let too_large = GeometryError::ZoneTooLarge { zone: number };
        let tracks = zone.cylinders.checked_mul(self.heads).ok_or(too_large)?;
        let slots = u64::from(tracks) * u64::from(zone.sectors_per_track);
        if zone.sectors_per_track > 0xffff || slots > u64::from(u32::MAX) {
            return Err(too_large);
        }
        let ascending = zone.slips.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = zone.slips.last().is_none_or(|&last| last < slots);
        if !ascending || !inside || zone.slips.len() as u64 >= slots {
            return Err(GeometryError::BadSlip { zone: number });
        }
        let numerator = u128::from(self.period.as_ns()) << FRACTION_BITS;
        let laid = Zone {
            first_lba: self.capacity,
            first_cylinder: zone.first_cylinder,
            sectors_per_track: zone.sectors_per_track,
            tracks,
            start,
            track_skew: zone.track_skew,
            cylinder_skew: zone.cylinder_skew,
            sector_time: numerator.div_ceil(u128::from(zone.sectors_per_track)) as u64,
            cylinders: zone.cylinders,
            slipped_from: (0u32..).zip(&zone.slips).map(|(i, &slot)| slot as u32 - i).collect(),
        };
        self.capacity += slots - zone.slips.len() as u64;
        self.cylinders = zone.first_cylinder + zone.cylinders;
        let (_, _, head_switches, cylinder_switches) = self.place(&laid, tracks - 1);
        let next_start = laid.angle(head_switches, cylinder_switches) + zone.cylinder_skew;
        self.zones.push(laid);
        Ok(next_start)
    }

    fn build_index(&mut self) {
        while (self.capacity >> self.index_shift) > 1024 {
            self.index_shift += 1;
        }
        let blocks = (self.capacity >> self.index_shift) + 1;
        self.index = (0..blocks)
            .map(|block| {
                let lba = block << self.index_shift;
                (self.zones.partition_point(|zone| zone.first_lba <= lba) - 1) as u16
            })
            .collect();
    }

    pub fn capacity(&self) -> Sectors {
        Sectors::new(self.capacity)
    }

    /// Cylinders from the first to the last that holds data.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    pub fn heads(&self) -> u32 {
        self.heads
    }

    pub fn zones(&self) -> u32 {
        self.zones.len() as u32
    }

    /// The first block of a zone.
    pub fn zone_start(&self, zone: u32) -> Lba {
        Lba::new(self.zones[zone as usize].first_lba)
    }

    pub fn sectors_per_track(&self, zone: u32) -> u32 {
        self.zones[zone as usize].sectors_per_track
    }

    /// Whether blocks of this zone are slipped over defects, so that slots and blocks do not run side by side.
    #[inline]
    pub fn has_slips(&self, zone: u32) -> bool {
        !self.zones[zone as usize].slipped_from.is_empty()
    }

    /// The slot of a block.
    ///
    /// # Panics
    /// When `lba` is beyond the capacity.
    #[inline]
    pub fn locate(&self, lba: Lba) -> Slot {
        let lba = lba.get();
        assert!(lba < self.capacity, "address beyond the drive");
        let mut zone = usize::from(self.index[(lba >> self.index_shift) as usize]);
        while zone + 1 < self.zones.len() && self.zones[zone + 1].first_lba <= lba {
            zone += 1;
        }
        let laid = &self.zones[zone];
        let mut slot = (lba - laid.first_lba) as u32;
        if !laid.slipped_from.is_empty() {
            slot += laid.slipped_from.partition_point(|&from| from <= slot) as u32;
        }
        let (track, sector) = (slot / laid.sectors_per_track, slot % laid.sectors_per_track);
        Slot { zone: zone as u32, track, sector }
    }

    /// Cylinder and head of a track, and how many head and cylinder switches precede it in its zone.
    #[inline]
    fn place(&self, laid: &Zone, track: u32) -> (u32, u32, u32, u32) {
        match self.order {
            SurfaceOrder::Cylinder => {
                let (cylinder, head) = (track / self.heads, track % self.heads);
                (cylinder, head, track - cylinder, cylinder)
            }
            SurfaceOrder::Serpentine { cylinders_per_head } => {
                let group_tracks = cylinders_per_head * self.heads;
                let group = track / group_tracks;
                let first = group * cylinders_per_head;
                // The last group of a zone may be narrower than the others.
                let width = cylinders_per_head.min(laid.cylinders - first);
                let inside = track % group_tracks;
                let (head, step) = (inside / width, inside % width);
                let cylinder = first + if head % 2 == 0 { step } else { width - 1 - step };
                let head_switches = group * (self.heads - 1) + head;
                (cylinder, head, head_switches, track - head_switches)
            }
        }
    }

    /// The track of a slot as the mechanism sees it.
    #[inline]
    pub fn track(&self, zone: u32, track: u32) -> Track {
        let laid = &self.zones[zone as usize];
        let (cylinder, head, head_switches, cylinder_switches) = self.place(laid, track);
        let angle = laid.angle(head_switches, cylinder_switches);
        let start = Span::from_ns((u64::from(angle.turn_bits()) * self.period.as_ns()) >> 32);
        Track { cylinder: laid.first_cylinder + cylinder, head, start }
    }

    /// When slot `sector` of a track begins, counted from the begin of its slot 0: floor(sector T / sectors per track).
    #[inline]
    pub fn boundary(&self, zone: u32, sector: u32) -> Span {
        let laid = &self.zones[zone as usize];
        let product = u128::from(sector) * u128::from(laid.sector_time);
        Span::from_ns((product >> FRACTION_BITS) as u64)
    }

    /// The blocks of the track that this block is on: the first, and the one behind the last.
    pub fn track_blocks(&self, lba: Lba) -> (Lba, Lba) {
        let own = self.locate(lba);
        let is_there = |at: u64| {
            let slot = self.locate(Lba::new(at));
            (slot.zone, slot.track) == (own.zone, own.track)
        };
        let left = self.sectors_per_track(own.zone) - own.sector;
        let mut first = lba.get().saturating_sub(own.sector.into());
        let mut end = (lba.get() + u64::from(left)).min(self.capacity);
        // Slots without a block bring the borders nearer.
        while !is_there(first) {
            first += 1;
        }
        while !is_there(end - 1) {
            end -= 1;
        }
        (Lba::new(first), Lba::new(end))
    }

    /// The block behind the last one of the cylinder that this block is on, in block order.
    pub fn cylinder_end(&self, lba: Lba) -> Lba {
        let own = self.locate(lba);
        let cylinder = self.track(own.zone, own.track).cylinder;
        let mut end = self.track_blocks(lba).1;
        while end.get() < self.capacity {
            let next = self.locate(end);
            if self.track(next.zone, next.track).cylinder != cylinder {
                break;
            }
            end = self.track_blocks(end).1;
        }
        end
    }

    /// The track that follows in block order; `None` behind the last.
    #[inline]
    pub fn next_track(&self, zone: u32, track: u32) -> Option<(u32, u32)> {
        if track + 1 < self.zones[zone as usize].tracks {
            Some((zone, track + 1))
        } else if zone + 1 < self.zones() {
            Some((zone + 1, 0))
        } else {
            None
        }
    }
}
