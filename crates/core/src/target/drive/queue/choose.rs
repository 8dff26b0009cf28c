//! Choosing: the rules that hold for every policy, then the policy itself.
use super::params::Order;
use super::{Entry, SlotIndex, Slots, View, aged_sptf, clook, fcfs, look, sptf, sstf};

/// The entry that goes next; `None` when nothing waits. Changes nothing.
///
/// A command older than the age limit goes first, oldest before younger, whatever the policy says: that bounds
/// starvation. A drive that looks at only so many entries chooses among the oldest ones.
pub fn choose(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    let oldest = slots.oldest()?;
    if slots.len() == 1 {
        return Some(oldest);
    }
    if let Some(limit) = view.params.age_limit
        && view.now - slots.entry(oldest).arrived >= limit.as_ns()
    {
        return Some(oldest);
    }
    match view.params.considers.map(usize::from) {
        Some(window) if window < slots.len() => least(slots.by_age().take(window), slots, view),
        _ => pick(slots, view),
    }
}

/// The policy's own search over all entries.
fn pick(slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    match view.params.order {
        Order::Fcfs => fcfs::pick(slots),
        Order::Sstf => sstf::pick(slots, view),
        Order::Look => look::pick(slots, view),
        Order::CLook => clook::pick(slots, view),
        Order::Sptf => sptf::pick(slots, view),
        Order::AgedSptf => aged_sptf::pick(slots, view),
    }
}

/// The policy's definition: the entry with the least cost goes next, the older one of two equals.
pub fn cost(entry: &Entry, view: &View<'_>) -> i64 {
    match view.params.order {
        Order::Fcfs => fcfs::cost(entry),
        Order::Sstf => sstf::cost(entry, view),
        Order::Look => look::cost(entry, view),
        Order::CLook => clook::cost(entry, view),
        Order::Sptf => sptf::cost(entry, view),
        Order::AgedSptf => aged_sptf::cost(entry, view),
    }
}

/// The least of some entries by looking at each: what a small window does, and what the searches are held to.
pub fn least(some: impl Iterator<Item = SlotIndex>, slots: &Slots, view: &View<'_>) -> Option<SlotIndex> {
    some.min_by_key(|&slot| {
        let entry = slots.entry(slot);
        (cost(entry, view), entry.sequence)
    })
}
