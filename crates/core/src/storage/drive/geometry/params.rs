//! A geometry in parameters, and why one cannot be built.
use super::gaps::Spares;
use super::patterns::{DEPTH_MAX, PatternParams};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use drivelab_units::{Angle, Sectors};

/// The order in which the blocks of a zone fill its surfaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SurfaceOrder {
    /// All heads of a cylinder, then the next cylinder.
    Cylinder,
    /// `cylinders_per_head` cylinders under one head, then back under the next head, and so on.
    Serpentine {
        /// Cylinders of a serpent, at least 1.
        cylinders_per_head: u32,
    },
    /// All heads of a cylinder, upward in one and downward in the next. The first downward one is the zone's
    /// second cylinder, or each odd cylinder of the drive.
    Alternating {
        /// Whether odd cylinders of the drive run downward, and not every second one of the zone.
        by_drive: bool,
    },
}

/// One zone: cylinders whose tracks hold the same number of sectors.
#[derive(Clone, Debug, Default)]
pub struct ZoneParams {
    /// Its first cylinder, counted from the outer edge of the drive.
    pub first_cylinder: u32,
    /// Cylinders, at least 1.
    pub cylinders: u32,
    /// Slots of each track, at least 1.
    pub sectors_per_track: u32,
    /// Angle of the zone's first slot; when `None`, it follows the previous zone with that zone's cylinder
    /// skew.
    pub start: Option<Angle>,
    /// Angle between slot 0 of a track and of the next one under another head.
    pub track_skew: Angle,
    /// Angle between slot 0 of a track and of the next one on another cylinder.
    pub cylinder_skew: Angle,
    /// Slots before the zone's first block, counted in track order.
    pub front: u64,
    /// Slots of the zone, counted in track order, that are slipped over. Ascending, without repetition.
    pub slips: Vec<u64>,
    /// Spare slots, kept free for sectors that go bad.
    pub spares: Spares,
    /// Whether each slip shifts everything behind its stretch of spares by one slot more.
    pub slips_turn: bool,
}

/// Where blocks lie on the platters. [`Geometry::new`](super::Geometry::new) checks it.
#[derive(Clone, Debug)]
pub struct GeometryParams {
    /// Heads, at least 1; each has a surface.
    pub heads: u32,
    /// The order in which blocks fill the surfaces.
    pub order: SurfaceOrder,
    /// Zones from the outer edge inward; ascending cylinders, without overlap.
    pub zones: Vec<ZoneParams>,
    /// Replaces zones and their order.
    pub patterns: Option<PatternParams>,
    /// Blocks that the drive reports; when `None`, all in the zones.
    pub capacity: Option<Sectors>,
    /// Cylinders at the outer edge whose blocks come behind all others. Only with zones that have neither gaps nor
    /// patterns.
    pub outer_last: u32,
}

impl GeometryParams {
    /// The number of cylinders from the first to the last of the zones.
    ///
    /// # Errors
    /// When a zone is empty, or not behind the one outside of it.
    pub(super) fn check_zones(&self) -> Result<u32, GeometryError> {
        let mut cylinders = 0;
        for (number, zone) in self.zones.iter().enumerate() {
            if zone.cylinders == 0 || zone.sectors_per_track == 0 {
                return Err(GeometryError::EmptyZone { zone: number });
            }
            if zone.first_cylinder < cylinders {
                return Err(GeometryError::ZonesOverlap { zone: number });
            }
            let too_large = GeometryError::ZoneTooLarge { zone: number };
            cylinders = zone.first_cylinder.checked_add(zone.cylinders).ok_or(too_large)?;
        }
        Ok(cylinders)
    }

    /// The zones in the order of their blocks: those of the outer cylinders that come last are behind the others.
    ///
    /// # Errors
    /// When these cylinders have gaps, or are all that there are.
    pub(super) fn in_block_order(&self) -> Result<Vec<ZoneParams>, GeometryError> {
        if self.outer_last == 0 {
            return Ok(self.zones.clone());
        }
        let (mut zones, mut last) = (Vec::new(), Vec::new());
        for zone in &self.zones {
            let outer = self.outer_last.saturating_sub(zone.first_cylinder).min(zone.cylinders);
            if outer == 0 {
                zones.push(zone.clone());
                continue;
            }
            if zone.front > 0 || !zone.slips.is_empty() || zone.spares != Spares::NONE {
                return Err(GeometryError::BadOuterLast);
            }
            last.push(ZoneParams { cylinders: outer, ..zone.clone() });
            if outer < zone.cylinders {
                let first_cylinder = zone.first_cylinder + outer;
                zones.push(ZoneParams { first_cylinder, cylinders: zone.cylinders - outer, ..zone.clone() });
            }
        }
        if zones.is_empty() || self.patterns.is_some() {
            return Err(GeometryError::BadOuterLast);
        }
        zones.append(&mut last);
        Ok(zones)
    }

    /// A drive on which every track holds the same number of sectors, cylinder by cylinder, without skew or
    /// spares.
    pub fn one_zone(heads: u32, cylinders: u32, sectors_per_track: u32) -> Self {
        let zones = vec![ZoneParams { cylinders, sectors_per_track, ..ZoneParams::default() }];
        GeometryParams {
            heads,
            order: SurfaceOrder::Cylinder,
            zones,
            patterns: None,
            capacity: None,
            outer_last: 0,
        }
    }
}

/// Why a geometry cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// No zone and no pattern.
    NoZones,
    /// No head.
    NoHeads,
    /// A zone without cylinders, or with tracks of no slots.
    EmptyZone {
        /// Index of the zone.
        zone: usize,
    },
    /// A zone that begins before the one in front of it ends.
    ZonesOverlap {
        /// Index of the zone.
        zone: usize,
    },
    /// A zone with more cylinders, tracks or slots than can be counted.
    ZoneTooLarge {
        /// Index of the zone.
        zone: usize,
    },
    /// Slips that do not ascend, or one after the zone's last slot.
    BadSlip {
        /// Index of the zone.
        zone: usize,
    },
    /// A stretch that is empty or longer than the zone, that consists of spares only, or more slips than
    /// spares.
    BadSpares {
        /// Index of the zone.
        zone: usize,
    },
    /// A zone whose slips, front and spares leave no block.
    NoBlocks {
        /// Index of the zone.
        zone: usize,
    },
    /// A serpent of no cylinders.
    NoSerpent,
    /// Outer cylinders whose blocks are to come last, on a drive with patterns or gaps there, or with no other cylinders.
    BadOuterLast,
    /// A pattern that is empty, repeats one not defined before it, is nested too deep, or leaves the drive.
    BadPattern {
        /// Index of the pattern.
        pattern: usize,
    },
    /// Skips that do not ascend, are empty, or leave no block.
    BadSkip {
        /// Index of the skip.
        skip: usize,
    },
    /// A capacity above what the media hold, or of zero.
    CapacityTooLarge {
        /// Requested sectors.
        capacity: u64,
        /// Sectors that the media hold.
        held: u64,
    },
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
                write!(f, "zone {zone} has slips that are not ascending slots inside it")
            }
            Self::BadSpares { zone } => {
                write!(f, "zone {zone} has spares that do not fit, or more slips than spares for them")
            }
            Self::NoBlocks { zone } => {
                write!(f, "zone {zone} holds no block: its front, slips and spares take all of it")
            }
            Self::NoSerpent => write!(f, "a serpentine needs at least one cylinder per head"),
            Self::BadPattern { pattern } => write!(
                f,
                "pattern {pattern} cannot be: it needs runs of lower patterns or of tracks under the drive's heads, with 1 \
                 to 65535 sectors, on cylinders of the drive, and patterns lie at most {DEPTH_MAX} deep"
            ),
            Self::BadOuterLast => {
                write!(
                    f,
                    "blocks at the outer edge can only come last where zones without gaps lie there, and others behind"
                )
            }
            Self::BadSkip { skip } => {
                write!(f, "skip {skip} is not behind the one before it, or leaves the layout")
            }
            Self::CapacityTooLarge { capacity, held } => {
                write!(f, "a capacity of {capacity} sectors exceeds the {held} that the zones hold")
            }
        }
    }
}

impl core::error::Error for GeometryError {}
