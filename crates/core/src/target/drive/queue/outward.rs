//! The search outward from the arm: the least cost without looking at entries that are too far out to win.
//!
//! Buckets are visited by their distance from the arm. The search ends at the first bucket that no entry could win
//! from: the seek curve's suffix minimum there (measured curves are not monotone), less a negative write settle, less
//! the largest age credit, is above the best cost found.
use super::{Entry, SlotIndex, Slots, View};

/// The entry with the least (cost, sequence). `credit` is the most that age takes off any entry's cost.
#[inline]
pub fn least(slots: &Slots, view: &View<'_>, credit: u64, cost: impl Fn(&Entry) -> i64) -> Option<SlotIndex> {
    let home = slots.bucket_of(view.arm.cylinder);
    let mut best = Best { cost: i64::MAX, sequence: u64::MAX, slot: None };
    let mut below = slots.bucket_at_or_below(home);
    let mut above = slots.bucket_at_or_above(home + 1);
    loop {
        let distance_below = below.map(|bucket| view.arm.cylinder.saturating_sub(slots.bucket_last(bucket)));
        let distance_above = above.map(|bucket| slots.bucket_first(bucket) - view.arm.cylinder);
        let (bucket, distance) = match (distance_below, distance_above) {
            (None, None) => break,
            (Some(d), other) if other.is_none_or(|o| d <= o) => (below, d),
            (_, d) => (above, d.unwrap_or(0)),
        };
        if view.floor_beyond(distance) as i64 - credit as i64 > best.cost {
            break;
        }
        let Some(bucket) = bucket else { break };
        for slot in slots.in_bucket(bucket) {
            best.offer(slot, slots.entry(slot), &cost);
        }
        if bucket > home {
            above = slots.bucket_at_or_above(bucket + 1);
        } else {
            below = bucket.checked_sub(1).and_then(|next| slots.bucket_at_or_below(next));
        }
    }
    best.slot
}

struct Best {
    cost: i64,
    sequence: u64,
    slot: Option<SlotIndex>,
}

impl Best {
    #[inline]
    fn offer(&mut self, slot: SlotIndex, entry: &Entry, cost: &impl Fn(&Entry) -> i64) {
        let cost = cost(entry);
        if cost < self.cost || (cost == self.cost && entry.sequence < self.sequence) {
            *self = Best { cost, sequence: entry.sequence, slot: Some(slot) };
        }
    }
}
