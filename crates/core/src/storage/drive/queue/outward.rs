//! The search outward from the arm: finds the least cost without examining entries that are too far out to
//! win.
//!
//! On each side entries are visited by distance, together with a lower bound of any seek at least that long:
//! the seek curve's suffix minimum (measured curves are not monotone) minus a negative write settle. A side
//! ends when the bound is above the best cost found.
use super::crowd::Search;
use super::entry_list::Cursor;
use super::polar::Walk;
use super::row::{Item, Row};
use super::slots::{NONE, some};
use super::{Entry, Kind, SlotIndex, Slots, View};
use core::hint::select_unpredictable;

/// A policy's cost as a type, with the policy's parameter, so that the function is inlined into the search.
pub trait Cost {
    fn of(&self, entry: &Entry, view: &View<'_>) -> i64;
}

/// The entry of this list with the least (cost, sequence). No cost is below the entry's seek.
#[inline]
pub fn least<C: Cost>(cost: &C, slots: &Slots, kind: Kind, view: &View<'_>) -> Option<SlotIndex> {
    match slots.row(kind) {
        Some(row) => least_of_few(cost, row, slots, view),
        None => least_of_many(cost, slots, kind, view),
    }
}

/// With no more entries than this a full scan is cheaper than computing how far out to search.
const VERY_FEW: usize = 10;

/// The same in a shallow queue.
#[inline]
fn least_of_few<C: Cost>(cost: &C, row: &Row, slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let few = Few { items: row.items(), slots, view, settle: i64::from(view.least_settle()) };
    if few.items.len() <= VERY_FEW {
        let mut best = Best::NONE;
        for at in 0..few.items.len() {
            few.visit(cost, at, &mut best);
        }
        return best.found();
    }
    let mut up = row.below(view.arm.cylinder);
    let mut down = up.wrapping_sub(1);
    let (mut above, mut below) = (few.floor(up), few.floor(down));
    let mut best = Best::NONE;
    let mut bound = best.cost;
    // Both sides alternately: a direction that depends on the data would be mispredicted half of the time.
    loop {
        if above <= bound {
            bound = few.visit(cost, up, &mut best);
            up += 1;
            above = few.floor(up);
        } else if below > bound {
            return best.found();
        }
        if below <= bound {
            bound = few.visit(cost, down, &mut best);
            down = down.wrapping_sub(1);
            below = few.floor(down);
        }
    }
}

/// The entries of a shallow queue, contiguous.
struct Few<'a> {
    items: &'a [Item],
    slots: &'a Slots,
    view: &'a View<'a>,
    /// By how much a seek may be shorter than its floor.
    settle: i64,
}

impl Few<'_> {
    /// A lower bound of the seek to this item or any further out.
    #[inline(always)]
    fn floor(&self, at: usize) -> i64 {
        let distance = |item: &Item| item.cylinder.abs_diff(self.view.arm.cylinder);
        let beyond = |item| i64::from(self.view.mechanism.seek.floor_beyond(distance(item)));
        self.items.get(at).map_or(CLOSED, beyond)
    }

    /// Examines an entry; returns the floor up to which others can win.
    #[inline(always)]
    fn visit<C: Cost>(&self, cost: &C, at: usize, best: &mut Best) -> i64 {
        let slot = self.items[at].slot;
        let entry = self.slots.entry(slot);
        best.offer(slot, entry, cost.of(entry, self.view));
        best.cost + self.settle
    }
}

/// The same in a deep queue. Not inlined, so that the code for a shallow one stays compact.
#[inline(never)]
fn least_of_many<C: Cost>(cost: &C, slots: &Slots, kind: Kind, view: &View<'_>) -> Option<SlotIndex> {
    least_by_angle(cost, slots, kind, view).or_else(|| least_outward(cost, slots, kind, view))
}

/// The walk through a deep queue in the order in which entries pass the head, where rotation counts and
/// entries wait.
#[inline(always)]
pub fn by_angle<'a>(slots: &'a Slots, kind: Kind, view: &'a View<'a>) -> Option<Walk<'a>> {
    let polar = slots.polar(kind)?;
    let (above, below) = sides(slots, kind, view);
    let nearest = above.floor.min(below.floor);
    (nearest != CLOSED).then(|| polar.walk(view, nearest as u64))
}

/// Searches in the order in which entries pass the head; `None` when none can be met within a revolution.
#[inline(always)]
fn least_by_angle<C: Cost>(cost: &C, slots: &Slots, kind: Kind, view: &View<'_>) -> Option<SlotIndex> {
    let mut walk = by_angle(slots, kind, view)?;
    let mut best = Best::NONE;
    while walk.bound() as i64 <= best.cost {
        if walk.is_over() {
            return None;
        }
        walk.scan(|slot| {
            let entry = slots.entry(slot);
            best.offer(slot, entry, cost.of(entry, view));
        });
    }
    best.found()
}

/// Searches along the cylinders on both sides of the arm.
#[inline(never)]
fn least_outward<C: Cost>(cost: &C, slots: &Slots, kind: Kind, view: &View<'_>) -> Option<SlotIndex> {
    let search = Search::new(cost, slots, kind, view, |seek| seek as i64);
    let mut sides = sides(slots, kind, view);
    let mut best = Best::NONE;
    while search.step(&mut sides, &mut best).is_some() {}
    best.found()
}

/// The nearest entries at or above the arm and below it.
#[inline(always)]
pub fn sides(slots: &Slots, kind: Kind, view: &View<'_>) -> (Side, Side) {
    let row = slots.row(kind);
    let side = |at| Side::new(at, slots.slot_at(row, at), slots, view);
    let arm = view.arm.cylinder;
    (side(slots.first_from(kind, arm)), side(slots.last_below(kind, arm)))
}

/// The floor of a side without further entries: far above any cost, including that of an empty result.
const CLOSED: i64 = i64::MAX;

/// The next entry on one side of the arm, and a lower bound of the time to reach it or any further out.
#[derive(Clone, Copy)]
pub struct Side {
    pub at: Cursor,
    pub slot: Option<SlotIndex>,
    pub floor: i64,
}

impl Side {
    #[inline]
    pub fn new(at: Cursor, slot: Option<SlotIndex>, slots: &Slots, view: &View<'_>) -> Self {
        let floor = slot.map_or(CLOSED, |slot| {
            let distance = slots.entry(slot).cylinder.abs_diff(view.arm.cylinder);
            view.floor_beyond(distance) as i64
        });
        Side { at, slot, floor }
    }
}

/// The best entry found so far.
#[derive(Clone, Copy)]
pub struct Best {
    pub cost: i64,
    pub sequence: u64,
    slot: SlotIndex,
}

// Number of entries that searches of this thread have examined.
#[cfg(test)]
std::thread_local! { pub static EXAMINED: core::cell::Cell<u32> = const { core::cell::Cell::new(0) }; }

impl Best {
    pub const NONE: Best = Best { cost: CLOSED >> 1, sequence: u64::MAX, slot: NONE };

    /// The entry found, if any.
    #[inline]
    pub fn found(&self) -> Option<SlotIndex> {
        some(self.slot)
    }

    #[inline]
    pub fn offer(&mut self, slot: SlotIndex, entry: &Entry, cost: i64) {
        #[cfg(test)]
        EXAMINED.set(EXAMINED.get() + 1);
        // Whether it is better is unpredictable: no branch.
        let better = (cost < self.cost) | ((cost == self.cost) & (entry.sequence < self.sequence));
        self.cost = select_unpredictable(better, cost, self.cost);
        self.sequence = select_unpredictable(better, entry.sequence, self.sequence);
        self.slot = select_unpredictable(better, slot, self.slot);
    }
}
