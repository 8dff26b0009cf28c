//! Where a logical block lies: zones, heads, skews, surface order, slipped defects and spares.
//!
//! A zone's tracks are numbered in the order in which its blocks fill them. `locate` turns an address into
//! zone, track in that order, and sector slot; `track` turns a track in that order into cylinder, head and
//! the angle of its slot 0. A slot without a block passes under the head like any other; which slots those
//! are is in [`gaps`]. A drive whose tracks follow no zones is laid out in [`patterns`]: there a zone is all
//! tracks with the same number of sectors, and tracks are counted over the whole drive.
mod gaps;
mod params;
pub mod patterns;
#[cfg(test)]
mod patterns_tests;
mod reciprocal;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use drivelab_units::{Angle, Lba, Sectors, Span};
use gaps::Gaps;
pub use gaps::Spares;
pub use params::{GeometryError, GeometryParams, SurfaceOrder, ZoneParams};
use patterns::{PatternParams, Patterns};
use reciprocal::Reciprocal;

/// Bits of the fixed-point sector time. With at most 2^16 sectors a track, a product rounded up at this precision has
/// the same floor as the exact quotient k T / sectors, whose fraction is a multiple of 1 / sectors.
const FRACTION_BITS: u32 = 36;

/// The time of one sector of each zone, as a fixed-point number that is rounded up.
fn sector_times(zones: &[Zone], period: Span) -> Box<[u64]> {
    let turn = u128::from(period.as_ns()) << FRACTION_BITS;
    zones.iter().map(|zone| turn.div_ceil(u128::from(zone.sectors_per_track)) as u64).collect()
}

#[derive(Clone, Debug)]
struct Zone {
    first_lba: u64,
    first_cylinder: u32,
    sectors_per_track: u32,
    per_track: Reciprocal,
    tracks: u32,
    /// Angle of slot 0 of the zone's first track.
    start: Angle,
    track_skew: Angle,
    cylinder_skew: Angle,
    cylinders: u32,
    /// `None` where slot and block numbers coincide.
    gaps: Option<Box<Gaps>>,
    slips_turn: bool,
}

impl Zone {
    /// The angle of slot 0 of the track after this many switches in the zone.
    #[inline]
    fn angle(&self, head_switches: u32, cylinder_switches: u32) -> Angle {
        self.start
            + self.track_skew.times(head_switches.into())
            + self.cylinder_skew.times(cylinder_switches.into())
    }

    /// The slot of a block, by its index in the zone.
    #[inline(always)]
    fn slot(&self, zone: u32, block: u32) -> SectorSlot {
        let slot = match &self.gaps {
            None => block,
            Some(gaps) => gaps.slot(block),
        };
        let track = self.per_track.quotient(slot);
        SectorSlot { zone, track, sector: slot - track * self.sectors_per_track }
    }

    /// Blocks of the zone before a track.
    fn blocks_before(&self, track: u32) -> u32 {
        let slot = track * self.sectors_per_track;
        self.gaps.as_ref().map_or(slot, |gaps| gaps.blocks_before(slot))
    }

    /// The angle by which the slips before a track have turned it.
    fn turn_by_slips(&self, track: u32) -> Angle {
        let slot = track * self.sectors_per_track;
        let slips = self.gaps.as_ref().map_or(0, |gaps| gaps.slips_before_stretch(slot));
        Angle::from_ratio(slips.into(), self.sectors_per_track.into())
    }
}

/// A slot on the media: the zone, the track in the zone's order, the slot in the track.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SectorSlot {
    /// Number of the zone.
    pub zone: u32,
    /// Number of the track in the zone's order.
    pub track: u32,
    /// Number of the slot in the track.
    pub sector: u32,
}

/// A track as the mechanism sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Track {
    /// Cylinder, 0 at the outer edge.
    pub cylinder: u32,
    /// Head, from 0.
    pub head: u32,
    /// Time within a revolution at which slot 0 begins.
    pub start: Span,
}

/// Clones share what does not depend on the spindle: drives of one array that differ only in their period
/// would otherwise evict each other's tables from the processor's caches.
#[derive(Clone, Debug)]
pub struct Geometry {
    heads: u32,
    per_cylinder: Reciprocal,
    order: SurfaceOrder,
    zones: Arc<[Zone]>,
    /// Replaces the zones' track order.
    patterns: Option<Arc<Patterns>>,
    /// Per zone: ceil(T * 2^FRACTION_BITS / sectors_per_track).
    sector_times: Box<[u64]>,
    /// Per block of `1 << index_shift` addresses, the zone of its first address.
    index: Arc<[u16]>,
    index_shift: u32,
    capacity: u64,
    /// Blocks in the zones; the drive may report fewer.
    held: u64,
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
            per_cylinder: Reciprocal::of(params.heads),
            order: params.order,
            zones: Arc::default(),
            patterns: None,
            sector_times: Box::default(),
            index: Arc::default(),
            index_shift: 0,
            capacity: 0,
            held: 0,
            cylinders: 0,
            period,
        };
        let (mut zones, mut start) = (Vec::with_capacity(params.zones.len()), Angle::ZERO);
        if let Some(patterns) = &params.patterns {
            zones = geometry.lay_patterns(patterns)?;
        }
        geometry.cylinders = geometry.cylinders.max(params.check_zones()?);
        for (number, zone) in params.in_block_order()?.iter().enumerate() {
            let (laid, next_start) = geometry.lay_zone(number, zone, start)?;
            zones.push(laid);
            start = next_start;
        }
        if zones.is_empty() {
            return Err(GeometryError::NoZones);
        }
        geometry.sector_times = sector_times(&zones, period);
        geometry.zones = zones.into();
        geometry.held = geometry.capacity;
        if let Some(capacity) = params.capacity.map(Sectors::get) {
            if capacity > geometry.capacity || capacity == 0 {
                return Err(GeometryError::CapacityTooLarge { capacity, held: geometry.capacity });
            }
            geometry.capacity = capacity;
        }
        if geometry.patterns.is_none() {
            geometry.build_index();
        }
        Ok(geometry)
    }

    /// Lays out a zone after those before it; returns the angle at which the next one starts too, so that the
    /// skew continues across the border.
    fn lay_zone(
        &mut self,
        number: usize,
        zone: &ZoneParams,
        start: Angle,
    ) -> Result<(Zone, Angle), GeometryError> {
        let too_large = GeometryError::ZoneTooLarge { zone: number };
        let tracks = zone.cylinders.checked_mul(self.heads).ok_or(too_large)?;
        let slots = u64::from(tracks) * u64::from(zone.sectors_per_track);
        if zone.sectors_per_track > 0xffff || slots > u64::from(u32::MAX) {
            return Err(too_large);
        }
        let gaps = gaps::of_zone(number, zone, slots as u32, tracks)?;
        let laid = Zone {
            first_lba: self.capacity,
            first_cylinder: zone.first_cylinder,
            sectors_per_track: zone.sectors_per_track,
            per_track: Reciprocal::of(zone.sectors_per_track),
            tracks,
            start: zone.start.unwrap_or(start),
            track_skew: zone.track_skew,
            cylinder_skew: zone.cylinder_skew,
            cylinders: zone.cylinders,
            gaps,
            slips_turn: zone.slips_turn,
        };
        self.capacity += laid.gaps.as_ref().map_or(slots, |gaps| gaps.blocks().into());
        let (_, _, head_switches, cylinder_switches) = self.place(&laid, tracks - 1);
        let next_start = laid.angle(head_switches, cylinder_switches) + zone.cylinder_skew;
        Ok((laid, next_start))
    }

    /// Lays out patterns; returns one zone for each number of sectors per track.
    fn lay_patterns(&mut self, params: &PatternParams) -> Result<Vec<Zone>, GeometryError> {
        let patterns = Patterns::new(params, self.heads)?;
        let zone = |&sectors_per_track: &u32| Zone {
            first_lba: 0,
            first_cylinder: 0,
            sectors_per_track,
            per_track: Reciprocal::of(sectors_per_track),
            tracks: 0,
            start: Angle::ZERO,
            track_skew: Angle::ZERO,
            cylinder_skew: Angle::ZERO,
            cylinders: 0,
            gaps: None,
            slips_turn: false,
        };
        let zones = patterns.classes.iter().map(zone).collect();
        (self.capacity, self.cylinders) = (patterns.blocks(), patterns.cylinders());
        self.patterns = Some(Arc::new(patterns));
        Ok(zones)
    }

    /// The same surfaces on a spindle with another period.
    pub fn spun(&self, period: Span) -> Self {
        Geometry { period, sector_times: sector_times(&self.zones, period), ..self.clone() }
    }

    fn build_index(&mut self) {
        while (self.held >> self.index_shift) > 1024 {
            self.index_shift += 1;
        }
        let blocks = (self.held >> self.index_shift) + 1;
        self.index = (0..blocks)
            .map(|block| {
                let lba = block << self.index_shift;
                (self.zones.partition_point(|zone| zone.first_lba <= lba) - 1) as u16
            })
            .collect();
    }

    /// Sectors that the drive offers.
    pub fn capacity(&self) -> Sectors {
        Sectors::new(self.capacity)
    }

    /// Sectors in the zones: more than the drive offers where some are its own.
    pub fn held(&self) -> Sectors {
        Sectors::new(self.held)
    }

    /// Cylinders from the first to the last that holds data.
    pub fn cylinders(&self) -> u32 {
        self.cylinders
    }

    /// Heads of the drive.
    pub fn heads(&self) -> u32 {
        self.heads
    }

    /// Number of zones.
    pub fn zones(&self) -> u32 {
        self.zones.len() as u32
    }

    /// The first block of a zone; only defined without patterns.
    pub fn zone_start(&self, zone: u32) -> Lba {
        Lba::new(self.zones[zone as usize].first_lba)
    }

    /// Slots of each track of a zone. Panics when there is no such zone.
    pub fn sectors_per_track(&self, zone: u32) -> u32 {
        self.zones[zone as usize].sectors_per_track
    }

    /// Whether slots without blocks lie among those of this zone, so that slot and block numbers do not
    /// coincide.
    #[inline]
    pub fn has_gaps(&self, zone: u32) -> bool {
        self.zones[zone as usize].gaps.is_some() || self.patterns.is_some()
    }

    /// The slot of a block.
    ///
    /// # Panics
    /// When `lba` is beyond what the zones hold.
    pub fn locate(&self, lba: Lba) -> SectorSlot {
        self.find(lba)
    }

    /// The same, inlined.
    #[inline(always)]
    pub fn find(&self, lba: Lba) -> SectorSlot {
        let lba = lba.get();
        assert!(lba < self.held, "address beyond the drive");
        if let Some(patterns) = &self.patterns {
            return patterns.locate(lba);
        }
        let mut zone = usize::from(self.index[(lba >> self.index_shift) as usize]);
        while zone + 1 < self.zones.len() && self.zones[zone + 1].first_lba <= lba {
            zone += 1;
        }
        let laid = &self.zones[zone];
        laid.slot(zone as u32, (lba - laid.first_lba) as u32)
    }

    /// Cylinder and head of a track, and how many head and cylinder switches precede it in its zone.
    #[inline(always)]
    fn place(&self, laid: &Zone, track: u32) -> (u32, u32, u32, u32) {
        match self.order {
            SurfaceOrder::Cylinder => {
                let cylinder = self.per_cylinder.quotient(track);
                (cylinder, track - cylinder * self.heads, track - cylinder, cylinder)
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
            SurfaceOrder::Alternating { by_drive } => {
                let cylinder = self.per_cylinder.quotient(track);
                let step = track - cylinder * self.heads;
                let counted = cylinder + if by_drive { laid.first_cylinder } else { 0 };
                let head = if counted.is_multiple_of(2) { step } else { self.heads - 1 - step };
                (cylinder, head, track - cylinder, cylinder)
            }
        }
    }

    /// The track of a slot as the mechanism sees it.
    pub fn track(&self, zone: u32, track: u32) -> Track {
        self.look_up(zone, track)
    }

    /// The same, inlined.
    #[inline(always)]
    pub fn look_up(&self, zone: u32, track: u32) -> Track {
        if let Some(patterns) = &self.patterns {
            return patterns.track(track, self.period);
        }
        let laid = &self.zones[zone as usize];
        let (cylinder, head, head_switches, cylinder_switches) = self.place(laid, track);
        let mut angle = laid.angle(head_switches, cylinder_switches);
        if laid.slips_turn {
            angle += laid.turn_by_slips(track);
        }
        let start = Span::from_ns((u64::from(angle.turn_bits()) * self.period.as_ns()) >> 32);
        Track { cylinder: laid.first_cylinder + cylinder, head, start }
    }

    /// When slot `sector` of a track begins, counted from the begin of its slot 0: floor(sector T / sectors per track).
    #[inline]
    pub fn boundary(&self, zone: u32, sector: u32) -> Span {
        let product = u128::from(sector) * u128::from(self.sector_times[zone as usize]);
        Span::from_ns((product >> FRACTION_BITS) as u64)
    }

    /// The blocks of this block's track: the first, and the one after the last.
    pub fn track_range(&self, lba: Lba) -> (Lba, Lba) {
        let SectorSlot { zone, track, .. } = self.locate(lba);
        if let Some(patterns) = &self.patterns {
            let (first, end) = patterns.track_range(track);
            return (Lba::new(first), Lba::new(end.min(self.capacity)));
        }
        let first = if track == 0 { self.zone_start(zone) } else { self.lba_after_track(zone, track - 1) };
        (first, self.lba_after_track(zone, track).min(Lba::new(self.capacity)))
    }

    /// The block after the last one of this block's cylinder, in block order.
    pub fn cylinder_end(&self, lba: Lba) -> Lba {
        let own = self.locate(lba);
        let cylinder = self.track(own.zone, own.track).cylinder;
        let mut end = self.track_range(lba).1;
        while end.get() < self.capacity {
            let next = self.locate(end);
            if self.track(next.zone, next.track).cylinder != cylinder {
                break;
            }
            end = self.track_range(end).1;
        }
        end
    }

    /// The slot of the first block after a track; `None` after the last of the drive.
    #[inline]
    pub fn next_slot(&self, zone: u32, track: u32) -> Option<SectorSlot> {
        if let Some(patterns) = &self.patterns {
            return patterns.next_slot(track);
        }
        let laid = &self.zones[zone as usize];
        if laid.gaps.is_none() && track + 1 < laid.tracks {
            return Some(SectorSlot { zone, track: track + 1, sector: 0 });
        }
        let block = laid.blocks_before(track + 1);
        if u64::from(block) < self.zone_end(zone) - laid.first_lba {
            return Some(laid.slot(zone, block));
        }
        let next = self.zones.get(zone as usize + 1)?;
        Some(next.slot(zone + 1, 0))
    }

    /// The first block after a track, or the drive's end.
    pub fn lba_after_track(&self, zone: u32, track: u32) -> Lba {
        if let Some(patterns) = &self.patterns {
            return Lba::new(patterns.track_range(track).1);
        }
        let laid = &self.zones[zone as usize];
        Lba::new(laid.first_lba + u64::from(laid.blocks_before(track + 1)))
    }

    /// The slot after the last one of a track that holds a block.
    #[inline]
    pub fn track_end(&self, zone: u32, track: u32) -> u32 {
        if let Some(patterns) = &self.patterns {
            return patterns.track_end(track);
        }
        let laid = &self.zones[zone as usize];
        if laid.gaps.is_none() {
            return laid.sectors_per_track;
        }
        laid.slot(zone, laid.blocks_before(track + 1) - 1).sector + 1
    }

    fn zone_end(&self, zone: u32) -> u64 {
        self.zones.get(zone as usize + 1).map_or(self.held, |next| next.first_lba)
    }
}
