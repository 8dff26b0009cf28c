//! Choosing: the rules that hold for every policy, then the policy itself.
use super::orders::CostIs;
use super::params::QueueParams;
use super::{Entry, SlotIndex, Slots, View};

/// The entry that goes next; `None` when nothing waits. Changes nothing.
///
/// An overdue command goes first, oldest before younger, whatever the policy: that bounds starvation. A drive
/// with a window chooses among that many of the oldest entries, and one that sorts only from a certain queue
/// length on serves fewer in order of arrival. A command that was chosen ahead goes next unless another is
/// overdue.
pub fn choose(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let oldest = slots.oldest()?;
    let is_alone = slots.candidates() == 1;
    if is_alone || is_overdue(slots, view.params, view.now) {
        return Some(oldest);
    }
    if let Some(planned) = slots.planned() {
        return Some(planned);
    }
    if !view.params.sorts(slots.len()) {
        return Some(oldest);
    }
    match view.params.considers {
        // The search examines what the firmware examines.
        Some(window) if (window as usize) < slots.len() => {
            least(slots.by_age().take(window as usize), slots, view)
        }
        _ => pick(slots, view),
    }
}

/// Whether the oldest command has reached the age limit or the pass limit: nothing may pass it.
///
/// With an age limit L: once a command is that old, only older ones go before it. With a pass limit p and a depth d: at
/// most p + d - 1 services begin between a command's arrival and its own.
#[inline]
pub fn is_overdue(slots: &Slots, params: &QueueParams, now: u64) -> bool {
    if params.age_limit.is_none() && params.pass_limit.is_none() {
        return false;
    }
    let Some(oldest) = slots.oldest() else { return false };
    let entry = slots.entry(oldest);
    params.age_limit.is_some_and(|limit| entry.age(now) >= limit.as_ns())
        || params
            .pass_limit
            .is_some_and(|limit| slots.services() - slots.arrived_at_service(oldest) >= limit.into())
}

/// The policy's own search over all entries.
fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    (view.params.order.rule().pick)(slots, view)
}

/// The policy's definition: the entry with the least cost goes next, the older one on a tie.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    (view.params.order.rule().cost)(entry, view)
}

/// Whether an order whose cost is a sum of times would prefer `nearest` to `chosen` if it began in `begins`
/// nanoseconds. Orders with other rules, such as deadlines or shares, keep to their choice.
pub fn is_cheaper_so(nearest: &Entry, begins: u64, chosen: &Entry, view: &View<'_>) -> bool {
    let adds = view.params.order.rule().cost_is == CostIs::PositioningAndMore;
    let so = cost(nearest, view) - view.positioning(nearest) as i64 + begins as i64;
    adds && so <= cost(chosen, view)
}

/// The entry with the least cost, from a scan of some entries: what a small window uses, and what the
/// searches are checked against.
pub fn least(some: impl Iterator<Item = SlotIndex>, slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    some.min_by_key(|&slot| {
        let entry = slots.entry(slot);
        (cost(entry, view), entry.sequence)
    })
}
