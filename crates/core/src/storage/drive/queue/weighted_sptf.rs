//! Weighted shortest positioning time first: positioning time scaled by what is left of a maximum age M, that is by
//! (M - age) / M. A command of that age goes first, the oldest of several.
//!
//! The aged order takes the same credit off every way for the same age, so a little age already outweighs a little
//! rotation. Here age works on the length of the way: to a fresh command it does nothing, and near M any way is short.
//!
//! Who waits how long: from age M on, only older commands go before a command, as with an age limit of M.
//! Source: M. Seltzer, P. Chen, J. Ousterhout, "Disk scheduling revisited", USENIX 1990 (WSTF).
use super::outward::Cost;
use super::{Entry, Kind, SlotIndex, Slots, View, aged};

/// Nothing from the maximum age on: of such commands, as of all equals, the oldest goes first.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    view.params.age_full.scale(view.positioning(entry), view.now - entry.arrived) as i64
}

/// For the search.
pub struct WeightedSptf;

impl Cost for WeightedSptf {
    #[inline(always)]
    fn of(entry: &Entry, view: &View<'_>) -> i64 {
        cost(entry, view)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let (full, oldest) = (view.params.age_full, slots.oldest_of(Kind::Main)?);
    if full.is_reached(view.now - slots.entry(oldest).arrived) {
        return Some(oldest);
    }
    aged::least::<WeightedSptf>(slots, view, |seek, age| full.scale(seek, age) as i64)
}
