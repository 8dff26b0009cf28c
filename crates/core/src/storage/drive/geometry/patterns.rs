//! Layouts that zones cannot describe: tracks in patterns, patterns in patterns, up to the whole drive.
//!
//! A *run* is a track or a pattern repeated: each instance begins a fixed number of cylinders after the one
//! before, rotated against it by an angle. A *pattern* is a sequence of runs in block order; its positions
//! are relative to where the pattern itself begins. The last pattern is the drive. So a drive on which each
//! head has its own number of sectors and the arm runs back and forth takes a few hundred runs, and finding a
//! block or a track takes as many searches as there are levels of patterns.
//!
//! Slots are numbered over the whole layout, in the order of its tracks. Skipped ones hold no block.
//! Source of the form: the layout `dm_layout_g4` of DiskSim 4.0 (CMU-PDL-08-101), which states it for extracted drives.
use super::{GeometryError, SectorSlot, Track};
use alloc::vec::Vec;
use drivelab_units::{Angle, Span};

/// Maximum nesting depth of patterns, which bounds a search.
pub const DEPTH_MAX: u32 = 32;
/// The seek curve has an entry for each cylinder.
const CYLINDERS_MAX: i64 = 1 << 22;

/// What a run repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A pattern with a lower number.
    Pattern(u32),
    /// A track under a head: `sectors_per_track` sectors per revolution, of which `sectors` from
    /// `first_sector` on are slots.
    Track {
        /// Number of the head.
        head: u32,
        /// Sectors per revolution, which determine the time of one.
        sectors_per_track: u32,
        /// First slot, counted from where the track begins.
        first_sector: u32,
        /// Slots of the track.
        sectors: u32,
    },
}

/// A track or a pattern, repeated.
#[derive(Clone, Copy, Debug)]
pub struct RunParams {
    /// What is repeated.
    pub unit: Unit,
    /// Number of instances.
    pub count: u32,
    /// Cylinder of the first one, relative to its pattern's; negative towards the outside.
    pub cylinder: i32,
    /// Cylinders from one instance to the next.
    pub step: i32,
    /// Angle of the first one's first slot, relative to its pattern's.
    pub start: Angle,
    /// Angle from one instance to the next.
    pub skew: Angle,
}

/// A whole layout.
#[derive(Clone, Debug, Default)]
pub struct PatternParams {
    /// Runs of each pattern; the last pattern is the drive.
    pub patterns: Vec<Vec<RunParams>>,
    /// Slots that hold no block, as position and count: ascending, without overlap.
    pub skips: Vec<(u64, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    params: RunParams,
    /// Slots and tracks of the pattern before this run.
    first_slot: u64,
    first_track: u32,
    /// Of one instance.
    slots: u64,
    tracks: u32,
    /// For a track: the index of its number of sectors.
    class: u32,
}

#[derive(Clone, Debug, Default)]
struct Pattern {
    runs: Vec<Run>,
    slots: u64,
    tracks: u32,
    /// Range of its cylinders, relative to its own beginning.
    lowest: i64,
    highest: i64,
    depth: u32,
}

/// A layout ready to be searched.
#[derive(Clone, Debug)]
pub(super) struct Patterns {
    patterns: Vec<Pattern>,
    /// The different numbers of sectors per track.
    pub classes: Vec<u32>,
    /// Skipped slots before each skip and after the last; blocks before each skip; the position of each.
    skipped: Vec<u64>,
    blocks_before_skip: Vec<u64>,
    skips: Vec<(u64, u32)>,
}

/// A track, and where its slots are.
struct Found {
    class: u32,
    track: u32,
    cylinder: i64,
    head: u32,
    /// Of its first slot.
    angle: Angle,
    first_sector: u32,
    sectors_per_track: u32,
    first_slot: u64,
    end_slot: u64,
}

/// What a search looks for.
#[derive(Clone, Copy)]
enum By {
    Slot,
    Track,
}

impl Patterns {
    /// Checks the layout of a drive with this many heads.
    pub fn new(params: &PatternParams, heads: u32) -> Result<Self, GeometryError> {
        let mut laid = Patterns {
            patterns: Vec::with_capacity(params.patterns.len()),
            classes: Vec::new(),
            skipped: Vec::with_capacity(params.skips.len() + 1),
            blocks_before_skip: Vec::with_capacity(params.skips.len()),
            skips: params.skips.clone(),
        };
        for (number, runs) in params.patterns.iter().enumerate() {
            let pattern = laid.pattern(runs, heads).ok_or(GeometryError::BadPattern { pattern: number })?;
            laid.patterns.push(pattern);
        }
        let Some(root) = laid.patterns.last() else { return Err(GeometryError::NoZones) };
        if root.lowest < 0 || root.highest >= CYLINDERS_MAX || root.slots > 1 << 60 {
            return Err(GeometryError::BadPattern { pattern: laid.patterns.len() - 1 });
        }
        let (mut end, mut skipped) = (0, 0);
        for (number, &(position, count)) in params.skips.iter().enumerate() {
            if position < end || count == 0 || position + u64::from(count) > root.slots {
                return Err(GeometryError::BadSkip { skip: number });
            }
            laid.skipped.push(skipped);
            laid.blocks_before_skip.push(position - skipped);
            end = position + u64::from(count);
            skipped += u64::from(count);
        }
        laid.skipped.push(skipped);
        if laid.blocks() == 0 {
            return Err(GeometryError::BadSkip { skip: params.skips.len() - 1 });
        }
        Ok(laid)
    }

    /// A pattern with its sums; `None` where it is invalid.
    fn pattern(&mut self, runs: &[RunParams], heads: u32) -> Option<Pattern> {
        let mut pattern = Pattern { lowest: i64::MAX, highest: i64::MIN, ..Pattern::default() };
        for params in runs {
            let (slots, tracks, [lowest, highest], depth, class) = match params.unit {
                Unit::Pattern(number) => {
                    let below = self.patterns.get(number as usize)?;
                    (below.slots, below.tracks, [below.lowest, below.highest], below.depth + 1, 0)
                }
                Unit::Track { head, sectors_per_track, first_sector, sectors } => {
                    let fits = first_sector.checked_add(sectors)? <= sectors_per_track;
                    if head >= heads || sectors == 0 || !fits || sectors_per_track > 0xffff {
                        return None;
                    }
                    (u64::from(sectors), 1, [0, 0], 1, self.class(sectors_per_track))
                }
            };
            if params.count == 0 || depth > DEPTH_MAX {
                return None;
            }
            let last = i64::from(params.step) * i64::from(params.count - 1);
            let from = i64::from(params.cylinder);
            pattern.lowest = pattern.lowest.min(from.checked_add(lowest)? + last.min(0));
            pattern.highest = pattern.highest.max(from.checked_add(highest)? + last.max(0));
            if pattern.lowest < -(1 << 40) || pattern.highest > 1 << 40 {
                return None;
            }
            let (first_slot, first_track) = (pattern.slots, pattern.tracks);
            pattern.slots = pattern.slots.checked_add(slots.checked_mul(params.count.into())?)?;
            pattern.tracks = pattern.tracks.checked_add(tracks.checked_mul(params.count)?)?;
            pattern.depth = pattern.depth.max(depth);
            pattern.runs.push(Run { params: *params, first_slot, first_track, slots, tracks, class });
        }
        (!runs.is_empty()).then_some(pattern)
    }

    fn class(&mut self, sectors: u32) -> u32 {
        let found = self.classes.iter().position(|&known| known == sectors);
        found.unwrap_or_else(|| {
            self.classes.push(sectors);
            self.classes.len() - 1
        }) as u32
    }

    fn root(&self) -> &Pattern {
        &self.patterns[self.patterns.len() - 1]
    }

    /// Blocks of the drive.
    pub fn blocks(&self) -> u64 {
        self.root().slots - self.skipped[self.skips.len()]
    }

    /// Cylinders up to the last that it reaches.
    pub fn cylinders(&self) -> u32 {
        (self.root().highest + 1) as u32
    }

    /// The track that holds a slot, or the track with a number in block order.
    fn search(&self, by: By, target: u64) -> Found {
        let mut pattern = self.root();
        let (mut rest, mut cylinder, mut angle) = (target, 0, Angle::ZERO);
        let (mut track, mut slot) = (0, 0);
        loop {
            let before = |run: &Run| match by {
                By::Slot => run.first_slot,
                By::Track => run.first_track.into(),
            };
            let run = &pattern.runs[pattern.runs.partition_point(|run| before(run) <= rest) - 1];
            let each = match by {
                By::Slot => run.slots,
                By::Track => run.tracks.into(),
            };
            let inside = rest - before(run);
            let instance = inside / each;
            rest = inside - instance * each;
            let RunParams { unit, cylinder: first, step, start, skew, .. } = run.params;
            cylinder += i64::from(first) + i64::from(step) * instance as i64;
            angle += start + skew.times(instance);
            track += run.first_track + run.tracks * instance as u32;
            slot += run.first_slot + run.slots * instance;
            match unit {
                Unit::Pattern(number) => pattern = &self.patterns[number as usize],
                Unit::Track { head, sectors_per_track, first_sector, .. } => {
                    let (first_slot, end_slot) = (slot, slot + run.slots);
                    let class = run.class;
                    return Found {
                        class,
                        track,
                        cylinder,
                        head,
                        angle,
                        first_sector,
                        sectors_per_track,
                        first_slot,
                        end_slot,
                    };
                }
            }
        }
    }

    /// The slot of a block, counted over the whole layout.
    fn slot_of(&self, block: u64) -> u64 {
        block + self.skipped[self.blocks_before_skip.partition_point(|&before| before <= block)]
    }

    /// Blocks before a slot.
    fn blocks_before(&self, slot: u64) -> u64 {
        let passed = self.skips.partition_point(|&(position, _)| position < slot);
        let Some(last) = passed.checked_sub(1) else { return slot };
        let (position, count) = self.skips[last];
        slot - self.skipped[last] - u64::from(count).min(slot - position)
    }

    /// The position of a block.
    #[cold]
    #[inline(never)]
    pub fn locate(&self, block: u64) -> SectorSlot {
        let slot = self.slot_of(block);
        let found = self.search(By::Slot, slot);
        let sector = found.first_sector + (slot - found.first_slot) as u32;
        SectorSlot { zone: found.class, track: found.track, sector }
    }

    /// A track as the mechanism sees it.
    #[cold]
    #[inline(never)]
    pub fn track(&self, track: u32, period: Span) -> Track {
        let found = self.search(By::Track, track.into());
        // The layout gives the angle of the first slot, which need not be the first sector.
        let before = Angle::from_ratio(found.first_sector.into(), found.sectors_per_track.into());
        let start = (found.angle - before).at_period(period);
        Track { cylinder: found.cylinder as u32, head: found.head, start }
    }

    /// The first block of a track, and the one after its last; for a track without blocks, both are the next
    /// track's first.
    pub fn track_range(&self, track: u32) -> (u64, u64) {
        let found = self.search(By::Track, track.into());
        (self.blocks_before(found.first_slot), self.blocks_before(found.end_slot))
    }

    /// The sector after the last one of a track that holds a block.
    #[cold]
    #[inline(never)]
    pub fn track_end(&self, track: u32) -> u32 {
        let found = self.search(By::Track, track.into());
        let last = self.slot_of(self.blocks_before(found.end_slot) - 1);
        found.first_sector + (last - found.first_slot) as u32 + 1
    }

    /// The slot of the first block after a track.
    #[cold]
    #[inline(never)]
    pub fn next_slot(&self, track: u32) -> Option<SectorSlot> {
        let next = self.track_range(track).1;
        (next < self.blocks()).then(|| self.locate(next))
    }
}
