//! C-LOOK: always upward to the next command's cylinder; from the last one back to the lowest. Commands on the arm's
//! own cylinder go in order of arrival.
//! Source: B. L. Worthington, G. R. Ganger, Y. N. Patt, "Scheduling algorithms for modern disk drives", 1994.
use super::{Entry, SlotIndex, Slots, View};

/// Above any distance in cylinders.
const WRAPPED: i64 = 1 << 32;

/// Cylinders to travel upward; commands below come after all of those above, lowest first.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    let cylinder = entry.cylinder;
    if cylinder >= view.arm.cylinder {
        i64::from(cylinder - view.arm.cylinder)
    } else {
        WRAPPED + i64::from(cylinder)
    }
}

pub fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    lowest_at_or_above(slots, view.arm.cylinder).or_else(|| lowest_at_or_above(slots, 0))
}

/// The oldest entry on the lowest cylinder at or above this one.
pub fn lowest_at_or_above(slots: &Slots, cylinder: u32) -> Option<SlotIndex> {
    let mut bucket = slots.bucket_at_or_above(slots.bucket_of(cylinder))?;
    loop {
        let above = slots.in_bucket(bucket).filter(|&slot| slots.entry(slot).cylinder >= cylinder);
        let found = above.min_by_key(|&slot| {
            let entry = slots.entry(slot);
            (entry.cylinder, entry.sequence)
        });
        if found.is_some() {
            return found;
        }
        bucket = slots.bucket_at_or_above(bucket + 1)?;
    }
}
