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
}

impl GeometryParams {
    /// A drive on which every track holds the same number of sectors, cylinder by cylinder, without skew or
    /// spares.
    pub fn one_zone(heads: u32, cylinders: u32, sectors_per_track: u32) -> Self {
        let zones = vec![ZoneParams { cylinders, sectors_per_track, ..ZoneParams::default() }];
        GeometryParams { heads, order: SurfaceOrder::Cylinder, zones, patterns: None, capacity: None }
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
