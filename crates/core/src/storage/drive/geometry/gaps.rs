//! The slots of a zone that hold no block: those before its first one, slipped defects, and spares.
//!
//! The zone is divided into stretches: its tracks, its cylinders, ranges of cylinders, or all of it. Each
//! ends with spares. A slipped slot uses up a spare: all blocks behind it in the stretch move up by one slot.
//! The remaining slots are the zone's *places*, and blocks occupy those from the end of the front on. Place
//! and slot follow from each other by arithmetic and a search among the slips, so that a spare on each track
//! needs no list.
use super::{GeometryError, ZoneParams};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Where spare slots lie. A slipped slot uses one of them up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spares {
    /// This many at the end of the zone. There may be more slips than spares: the zone holds fewer blocks
    /// then.
    Zone(u64),
    /// `spares` at the end of each stretch of `tracks` tracks. The rest of the zone after the last whole
    /// stretch has none.
    Each {
        /// Tracks of a stretch.
        tracks: u32,
        /// Spare slots at its end.
        spares: u32,
    },
}

impl Spares {
    /// No spare slots.
    pub const NONE: Spares = Spares::Zone(0);
}

impl Default for Spares {
    fn default() -> Self {
        Spares::NONE
    }
}

/// What keeps the blocks of a zone from being contiguous.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// Places before the zone's first block.
    front: u32,
    /// All places of the zone, those of the front included.
    places: u32,
    /// Slots of a stretch, and places among them.
    stretch: u32,
    held: u32,
    /// Number of whole stretches; the rest after them is one more, in which every slot that is not slipped is
    /// a place.
    whole: u32,
    /// Slipped slots, ascending.
    slips: Vec<u32>,
    /// For each slip the place from which on it counts, ascending. Slips among unused spares are omitted.
    counts_from: Vec<u32>,
}

impl Gaps {
    /// For a zone of `slots` slots; `None` where its spares do not fit.
    pub fn new(slots: u32, stretch: u32, spares: u32, slips: &[u64], front: u32) -> Option<Self> {
        if stretch == 0 || spares >= stretch || stretch > slots {
            return None;
        }
        let held = stretch - spares;
        let whole = slots / stretch;
        let slips: Vec<u32> = slips.iter().map(|&slot| slot as u32).collect();
        let mut gaps = Gaps { front: 0, places: 0, stretch, held, whole, slips, counts_from: Vec::new() };
        for number in 0..whole {
            if gaps.slips_of(number).len() as u32 > spares {
                return None;
            }
        }
        gaps.fill_in(slots, front);
        Some(gaps)
    }

    /// For a zone that is a single stretch; `None` where no room is left for blocks.
    pub fn at_end(slots: u32, spares: u64, slips: &[u64], front: u32) -> Option<Self> {
        let kept = slots.checked_sub(u32::try_from(spares.max(slips.len() as u64)).ok()?)?;
        if kept == 0 {
            return None;
        }
        let slips = slips.iter().map(|&slot| slot as u32).collect();
        let (stretch, counts_from) = (slots, Vec::new());
        let mut gaps = Gaps { front: 0, places: 0, stretch, held: kept, whole: 1, slips, counts_from };
        gaps.fill_in(slots, front);
        Some(gaps)
    }

    /// Computes what follows from the stretches and the slips.
    fn fill_in(&mut self, slots: u32, front: u32) {
        let mut counts_from = Vec::with_capacity(self.slips.len());
        for number in 0..=self.whole {
            let (first, base) = (number * self.stretch, number * self.held);
            let places = if number < self.whole { self.held } else { u32::MAX };
            let counts = (0..).zip(self.slips_of(number)).map(|(before, &slip)| slip - first - before);
            counts_from.extend(counts.filter(|&place| place < places).map(|place| base + place));
        }
        self.counts_from = counts_from;
        self.places = self.before(slots);
        self.front = self.before(front.min(slots));
    }

    fn slips_of(&self, stretch: u32) -> &[u32] {
        let first = u64::from(stretch) * u64::from(self.stretch);
        let end = first + u64::from(self.stretch);
        let [from, to] = [first, end].map(|slot| self.slips.partition_point(|&slip| u64::from(slip) < slot));
        &self.slips[from..to]
    }

    /// Blocks of the zone.
    pub fn blocks(&self) -> u32 {
        self.places - self.front
    }

    /// The slot of a block, by its index in the zone.
    #[inline]
    pub fn slot(&self, block: u32) -> u32 {
        let place = self.front + block;
        let stretch = (place / self.held).min(self.whole);
        let base = stretch * self.held;
        let mut slipped = self.counts_from.partition_point(|&from| from <= place);
        if base > 0 && slipped > 0 {
            slipped -= self.counts_from.partition_point(|&from| from < base);
        }
        stretch * self.stretch + (place - base) + slipped as u32
    }

    /// Blocks of the zone that lie before a slot.
    #[inline]
    pub fn blocks_before(&self, slot: u32) -> u32 {
        self.before(slot).saturating_sub(self.front)
    }

    /// Places before a slot, or before the zone's end.
    fn before(&self, slot: u32) -> u32 {
        let stretch = (slot / self.stretch).min(self.whole);
        let first = stretch * self.stretch;
        let slipped = self.slips.partition_point(|&slip| slip < slot)
            - self.slips.partition_point(|&slip| slip < first);
        let inside = slot - first - slipped as u32;
        stretch * self.held + if stretch < self.whole { inside.min(self.held) } else { inside }
    }

    /// Slips before the stretch that a slot lies in.
    #[inline]
    pub fn slips_before_stretch(&self, slot: u32) -> u32 {
        let first = (slot / self.stretch).min(self.whole) * self.stretch;
        self.slips.partition_point(|&slip| slip < first) as u32
    }
}

/// The gaps of a zone with these parameters, if any.
pub(super) fn of_zone(
    number: usize,
    zone: &ZoneParams,
    slots: u32,
    tracks: u32,
) -> Result<Option<Box<Gaps>>, GeometryError> {
    let ZoneParams { front, ref slips, spares, .. } = *zone;
    let ascending = slips.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || slips.last().is_some_and(|&last| last >= slots.into()) {
        return Err(GeometryError::BadSlip { zone: number });
    }
    if slips.is_empty() && front == 0 && spares == Spares::NONE {
        return Ok(None);
    }
    let front = front.min(slots.into()) as u32;
    let bad = GeometryError::BadSpares { zone: number };
    let gaps = match spares {
        Spares::Zone(spares) => Gaps::at_end(slots, spares, slips, front),
        Spares::Each { tracks: each, .. } if each > tracks => return Err(bad),
        Spares::Each { tracks, spares } => {
            Some(Gaps::new(slots, tracks * zone.sectors_per_track, spares, slips, front).ok_or(bad)?)
        }
    };
    match gaps {
        Some(gaps) if gaps.blocks() > 0 => Ok(Some(Box::new(gaps))),
        _ => Err(GeometryError::NoBlocks { zone: number }),
    }
}
