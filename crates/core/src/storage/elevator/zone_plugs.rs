//! One write at a time for each zone of a host-managed drive: the next one must find the write pointer where this one
//! leaves it, and neither a policy nor a drive keeps the order of several.
//!
//! While a write of a zone is with the policy or at the device, later ones of the same zone wait here, in their order; one
//! that continues the last of them is merged into it. Writes to conventional zones do not wait.
//! Source: the Linux kernel, block/blk-zoned.c ("zone write plugging"), since version 6.10; before, `mq-deadline` held a lock
//! for each zone to the same effect.
use super::requests::{Slot, Table};
use crate::command::{Access, Content};
use crate::storage::drive::zones::ZonesParams;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use drivelab_units::Sectors;

/// What happens to a write that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arriving {
    /// It goes to the policy, and its zone is busy.
    Goes,
    /// It waits.
    Waits,
    /// It is to be merged into this request, which waits.
    Joins(Slot),
}

/// A zone with a write under way, and the writes that wait for it.
struct Plug {
    zone: u64,
    waiting: VecDeque<Slot>,
    /// The write that is under way. `None`: the first one that waits has its turn, and waits for a read that it overlaps.
    under_way: Option<Slot>,
}

/// The busy zones.
pub struct ZonePlugs {
    zones: ZonesParams,
    limit: Option<Sectors>,
    /// As many as the host writes at once: few enough to look through.
    busy: Vec<Plug>,
}

impl ZonePlugs {
    /// No zone is busy. `limit` is the largest request that merging makes.
    pub fn new(zones: ZonesParams, limit: Option<Sectors>) -> Self {
        ZonePlugs { zones, limit, busy: Vec::new() }
    }

    /// The zone of a write that is written in order; `None` for anything else.
    pub fn zone_of(&self, table: &Table, slot: Slot) -> Option<u64> {
        let request = table.request(slot);
        let zone = request.first.get() / self.zones.size.get();
        (request.access == Access::Write && zone >= u64::from(self.zones.conventional)).then_some(zone)
    }

    /// A write to this zone arrives; it is merged only if `may_join`.
    pub fn arrive(&mut self, table: &Table, zone: u64, slot: Slot, may_join: bool) -> Arriving {
        let Some(plug) = self.busy.iter_mut().find(|plug| plug.zone == zone) else {
            self.busy.push(Plug { zone, waiting: VecDeque::new(), under_way: Some(slot) });
            return Arriving::Goes;
        };
        let joined = plug.waiting.back().copied().filter(|&last| {
            let (last, new) = (table.entry(last).command, table.entry(slot).command);
            last.force_unit_access == new.force_unit_access
                && last.priority == new.priority
                && last.initiator == new.initiator
                && new.content == Content::Data
        });
        let size = self.zones.size.get();
        let fits = |&last: &Slot| {
            let (last, new) = (table.request(last), table.request(slot));
            let together = last.size().get() + new.size().get();
            // A write that crosses the end of its zone is refused by itself.
            let is_within = (new.end.get() - 1) / size == zone;
            is_within && last.end == new.first && self.limit.is_some_and(|limit| together <= limit.get())
        };
        if let Some(last) = joined.filter(|_| may_join).filter(fits) {
            return Arriving::Joins(last);
        }
        plug.waiting.push_back(slot);
        Arriving::Waits
    }

    /// A write of this zone is done; one that went ahead of all has not waited here.
    pub fn done(&mut self, zone: u64, slot: Slot) {
        let is_it = |plug: &Plug| plug.zone == zone && plug.under_way == Some(slot);
        let Some(at) = self.busy.iter().position(is_it) else { return };
        if self.busy[at].waiting.is_empty() {
            self.busy.swap_remove(at);
        } else {
            self.busy[at].under_way = None;
        }
    }

    /// Removes a write that has its turn and may go.
    pub fn next(&mut self, may_go: impl Fn(Slot) -> bool) -> Option<Slot> {
        let mut idle = self.busy.iter_mut().filter(|plug| plug.under_way.is_none());
        let plug = idle.find(|plug| plug.waiting.front().is_some_and(|&slot| may_go(slot)))?;
        plug.under_way = plug.waiting.pop_front();
        plug.under_way
    }
}
