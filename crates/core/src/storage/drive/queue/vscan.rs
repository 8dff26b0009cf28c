//! VSCAN(R): the command at the least distance in cylinders, where one that lies against the present direction counts
//! R times all cylinders more. R = 0 is the shortest distance, R = 1 is LOOK. Commands on the arm's own cylinder belong
//! to either direction and go in order of arrival.
//!
//! Who waits how long: the arm does not turn round while a command lies before it within R times all cylinders; it
//! reaches that one after at most as many changes of cylinder as it is away, unless commands for the arm's own cylinder
//! keep coming. One that lies farther out has no bound while R < 1: arrivals close by can keep the arm turning.
//! Source: R. Geist, S. Daniel, "A continuum of disk scheduling algorithms", ACM TOCS 5(1), 1987.
use super::{Entry, Kind, SlotIndex, Slots, View, look};

pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    let ahead = i64::from(entry.cylinder) - i64::from(view.arm.cylinder);
    let ahead = if view.upward { ahead } else { -ahead };
    let turning = view.params.scan_weight.of(view.mechanism.seek.cylinders());
    if ahead >= 0 { ahead } else { i64::from(turning) - ahead }
}

/// The better one of the nearest on either side.
pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let above = slots.at_or_above(Kind::Main, view.arm.cylinder);
    let below = look::highest_at_or_below(slots, view.arm.cylinder);
    let key = |slot: &SlotIndex| {
        let entry = slots.entry(*slot);
        (cost(entry, view), entry.sequence)
    };
    above.into_iter().chain(below).min_by_key(key)
}
