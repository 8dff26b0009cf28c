//! The search outward from the arm: the least cost without looking at entries that are too far out to win.
//!
//! Buckets are visited in the order of the least that any seek there can take: the seek curve's suffix minimum at the
//! bucket's nearest cylinder (measured curves are not monotone) less a negative write settle. The search ends when that,
//! less the largest age credit, is above the best cost found.
use super::{Entry, SlotIndex, Slots, View};

/// The entry with the least (cost, sequence).
///
/// `credit` is the most that age takes off any entry's cost. `floor` is a cheap lower bound of an entry's cost, age
/// apart.
#[inline]
pub fn least(
    slots: &Slots,
    view: &View<'_>,
    credit: u64,
    floor: impl Fn(&Entry) -> u64,
    cost: impl Fn(&Entry) -> i64,
) -> Option<SlotIndex> {
    let home = slots.bucket_of(view.arm.cylinder);
    let credit = credit as i64;
    let mut below = Side::below(slots, view, Some(home));
    let mut above = Side::above(slots, view, home + 1);
    let mut best = Best { cost: i64::MAX, sequence: u64::MAX, slot: None };
    loop {
        let side = if below.floor <= above.floor { below } else { above };
        let Some(bucket) = side.bucket else { return best.slot };
        if best.cost < side.floor.saturating_sub(credit) {
            return best.slot;
        }
        for slot in slots.in_bucket(bucket) {
            let entry = slots.entry(slot);
            if floor(entry) as i64 - credit <= best.cost {
                best.offer(slot, entry, cost(entry));
            }
        }
        if bucket > home {
            above = Side::above(slots, view, bucket + 1);
        } else {
            below = Side::below(slots, view, bucket.checked_sub(1));
        }
    }
}

/// The next occupied bucket on one side of the arm, and the least that reaching it can take.
#[derive(Clone, Copy)]
struct Side {
    bucket: Option<usize>,
    floor: i64,
}

impl Side {
    const NOTHING: Side = Side { bucket: None, floor: i64::MAX };

    #[inline]
    fn below(slots: &Slots, view: &View<'_>, from: Option<usize>) -> Self {
        let Some(bucket) = from.and_then(|from| slots.bucket_at_or_below(from)) else { return Side::NOTHING };
        let distance = view.arm.cylinder.saturating_sub(slots.bucket_last(bucket));
        Side { bucket: Some(bucket), floor: view.floor_beyond(distance) as i64 }
    }

    #[inline]
    fn above(slots: &Slots, view: &View<'_>, from: usize) -> Self {
        let Some(bucket) = slots.bucket_at_or_above(from) else { return Side::NOTHING };
        let distance = slots.bucket_first(bucket) - view.arm.cylinder;
        Side { bucket: Some(bucket), floor: view.floor_beyond(distance) as i64 }
    }
}

struct Best {
    cost: i64,
    sequence: u64,
    slot: Option<SlotIndex>,
}

impl Best {
    #[inline]
    fn offer(&mut self, slot: SlotIndex, entry: &Entry, cost: i64) {
        if cost < self.cost || (cost == self.cost && entry.sequence < self.sequence) {
            *self = Best { cost, sequence: entry.sequence, slot: Some(slot) };
        }
    }
}
