//! The host's I/O scheduler, the "elevator" of the operating system: it is in front of a drive, merges
//! adjacent requests and decides which ones the drive gets.
//!
//! Each policy is one file that opens with its rule: [`noop`], [`deadline`], [`clook`], [`fair`]. What is
//! common to all is here and in the files beside: `requests` holds the commands, `merge` finds neighbours.
//! Addresses are LBAs; a host does not know cylinders and angles.
//!
//! - **Ordered** commands are barriers here too: dispatched when everything earlier has been, before
//!   everything later. The device keeps their order from there. Commands behind one are not yet with the
//!   policy, so they merge with nothing before it.
//! - **Head of queue** (and the commands of an ACA recovery) go next, the last of several first; they pass even a barrier.
//! - **Flushes** go next too, the first of several first: the writes that they cover were answered before
//!   they arrived.
//! - **Overlaps**: of two commands that share an address, at least one of them a write, the older is
//!   completed before the younger goes to the device. The device may then reorder freely, and a read still
//!   finds what was written before it, and the last of several writes persists. An operating system leaves
//!   this to its page cache and its file system; here the elevator guarantees it, for every policy. Only a
//!   command that goes ahead of all is itself exempt from waiting. Addresses are places on the device,
//!   whichever initiator and logical unit uses them.
//! - **Zones**: before a host-managed drive each zone has one write at a time (`zone_plugs`).
//! - A request is dispatched when fewer than `depth` are at the device. A dispatched request is no longer
//!   merged.
//!
//! Time is an argument, and calling [`Elevator::next`] once more changes nothing. Nothing is allocated for a
//! command unless more are held than ever before, and each costs O(log n) steps, whatever waits.
pub(crate) mod clook;
pub(crate) mod deadline;
pub(crate) mod fair;
mod fifo;
mod merge;
pub(crate) mod noop;
pub(crate) mod params;
mod requests;
mod sorted;
#[cfg(test)]
mod tests;
mod zone_plugs;

pub use params::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};

use crate::command::{Access, Attribute, Command, Completion};
use crate::host::params::OUTSTANDING_MAX;
use crate::storage::drive::zones::ZonesParams;
use crate::storage::overlap::Overlaps;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::{Instant, Sectors};
use merge::Merges;
use requests::{Chain, NONE, Slot, Table};
use zone_plugs::{Arriving, ZonePlugs};

/// The order of requests that have no constraint on their order.
trait Policy {
    /// The queue of a command; only neighbours in one queue are merged.
    fn queue_of(&mut self, _: &Command) -> u32 {
        0
    }

    /// A request has arrived.
    fn insert(&mut self, table: &Table, slot: Slot, now: Instant);

    /// A request has been merged into an older one.
    fn remove(&mut self, table: &Table, slot: Slot);

    /// A request now begins at another address.
    fn moved(&mut self, table: &Table, slot: Slot);

    /// Does what is due by now. Called before anything else happens at this instant, possibly more than once.
    fn settle(&mut self, _: Instant) {}

    /// Removes the request that goes next, if one may go now. Otherwise nothing changes.
    fn pick(&mut self, table: &Table, now: Instant) -> Option<Slot>;

    /// The device has completed a request of this queue.
    fn completed(&mut self, _: u32, _: Instant) {}

    /// When `pick` may give another answer although nothing arrives and nothing is completed.
    fn wake(&self) -> Option<Instant> {
        None
    }
}

/// The host's I/O scheduler before one device: holds requests, merges adjacent ones, and chooses the next.
pub struct Elevator {
    table: Table,
    overlaps: Overlaps,
    merges: Merges,
    /// Before a host-managed drive.
    plugs: Option<ZonePlugs>,
    policy: Box<dyn Policy + Send + Sync>,
    /// Commands that go ahead of all.
    ahead: Chain,
    /// An ordered command, and everything that arrived after it.
    behind: Chain,
    /// Number of requests with the policy.
    admitted: usize,
    /// Number of requests admitted to the policy so far.
    admissions: u64,
    /// Commands that wait for an overlapping one.
    held: usize,
    /// Commands that wait for anything.
    waiting: usize,
    /// By tag: the request at the device.
    out: Vec<Slot>,
    free_tags: Vec<u32>,
}

impl Elevator {
    /// An empty scheduler.
    pub fn new(params: &ElevatorParams) -> Self {
        let depth = params.depth;
        assert!((1..=OUTSTANDING_MAX).contains(&depth.into()), "a depth of {depth}");
        Elevator {
            table: Table::default(),
            overlaps: Overlaps::new(),
            merges: Merges::new(params.merge_limit),
            plugs: None,
            policy: match params.order {
                ElevatorOrder::Noop => Box::new(noop::Noop::new()),
                ElevatorOrder::Deadline => Box::new(deadline::Deadline::new(&params.deadline)),
                ElevatorOrder::CLook => Box::new(clook::CLook::new()),
                ElevatorOrder::Fair => Box::new(fair::Fair::new(&params.fair)),
            },
            ahead: Chain::EMPTY,
            behind: Chain::EMPTY,
            admitted: 0,
            admissions: 0,
            held: 0,
            waiting: 0,
            out: vec![NONE; depth as usize],
            free_tags: (0..depth).rev().collect(),
        }
    }

    /// The scheduler of a drive with these zones: no zone gets a second write before the first is done.
    pub fn with_zones(self, zones: ZonesParams, merge_limit: Option<Sectors>) -> Self {
        Elevator { plugs: Some(ZonePlugs::new(zones, merge_limit)), ..self }
    }

    /// Accepts a command; it waits here until [`Self::next`] dispatches its request.
    pub fn submit(&mut self, now: Instant, command: Command) {
        let flush = command.access == Access::Flush;
        assert!(command.count.get() > 0 || flush, "a command names at least one sector");
        self.policy.settle(now);
        let slot = self.table.add(command, now);
        self.waiting += 1;
        match command.attribute {
            _ if flush => {
                self.overlaps.insert(slot, &self.table.claim(slot));
                self.ahead = self.table.push_back(self.ahead, slot);
            }
            Attribute::HeadOfQueue | Attribute::Aca => {
                self.overlaps.insert(slot, &self.table.claim(slot));
                self.ahead = self.table.push_front(self.ahead, slot);
            }
            Attribute::Ordered => self.behind = self.table.push_back(self.behind, slot),
            _ if self.behind.is_empty() => self.enter(slot, now),
            _ => self.behind = self.table.push_back(self.behind, slot),
        }
    }

    /// The next request for the device, if one may go now. Its tag is the elevator's own, below the depth;
    /// its number is that of its oldest command.
    pub fn next(&mut self, now: Instant) -> Option<Command> {
        self.policy.settle(now);
        let tag = *self.free_tags.last()?;
        let slot =
            self.next_ahead().or_else(|| self.next_of_policy(now)).or_else(|| self.next_barrier(now))?;
        self.free_tags.pop();
        self.out[tag as usize] = slot;
        let request = self.table.request(slot);
        self.waiting -= request.count as usize;
        let (first, count, synchronous) = (request.first, request.size(), request.synchronous);
        Some(Command { tag, first, count, synchronous, ..self.table.entry(request.oldest).command })
    }

    /// The commands that were merged into the request at the device under this tag.
    pub fn merged(&self, tag: u32) -> impl Iterator<Item = &Command> {
        self.table.iter(self.table.request(self.out[tag as usize]).members)
    }

    /// Whether there is a request at the device that consists of this command only.
    pub fn is_out_alone(&self, id: u64) -> bool {
        self.out.iter().filter(|&&slot| slot != NONE).any(|&slot| {
            let request = self.table.request(slot);
            request.count == 1 && self.table.entry(request.oldest).command.id == id
        })
    }

    /// The device has completed a request: passes on each of its commands with its completion, oldest first.
    /// The time that a command waited here is added to its breakdown.
    pub fn completed(&mut self, completion: &Completion, mut give: impl FnMut(&Command, Completion)) {
        let now = completion.completed;
        self.policy.settle(now);
        let slot = core::mem::replace(&mut self.out[completion.tag as usize], NONE);
        assert!(slot != NONE, "a request with this tag is with the device");
        self.free_tags.push(completion.tag);
        self.overlaps.remove(slot, self.table.claim(slot).write);
        let request = *self.table.request(slot);
        if request.queue != NONE {
            self.policy.completed(request.queue, now);
        }
        if self.plugs.is_some() {
            self.unplug(slot, now);
        }
        let mut members = self.table.sorted(request.members);
        while let Some(member) = self.table.pop_front(&mut members) {
            let entry = self.table.entry(member);
            let (command, submitted) = (entry.command, entry.submitted);
            let Command { id, initiator, tag, .. } = command;
            let mut breakdown = completion.breakdown;
            breakdown.wait += completion.submitted - submitted;
            give(&command, Completion { id, initiator, tag, submitted, breakdown, ..*completion });
            self.table.free(member);
        }
        let mut held = self.table.sorted(request.held);
        while let Some(slot) = self.table.pop_front(&mut held) {
            self.recheck(slot, now);
        }
    }

    /// When [`Self::next`] must be called again although nothing arrives and nothing is completed; to be read
    /// after it has returned `None`.
    pub fn wake(&self) -> Option<Instant> {
        if self.free_tags.is_empty() { None } else { self.policy.wake() }
    }

    /// Number of commands that wait here.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    fn next_ahead(&mut self) -> Option<Slot> {
        self.table.pop_front(&mut self.ahead)
    }

    fn next_of_policy(&mut self, now: Instant) -> Option<Slot> {
        let slot = self.policy.pick(&self.table, now)?;
        self.admitted -= 1;
        if !self.goes_alone(slot) {
            self.merges.remove(&self.table, slot);
        }
        Some(slot)
    }

    /// The ordered command that everything behind it waits for, once everything earlier has been dispatched.
    fn next_barrier(&mut self, now: Instant) -> Option<Slot> {
        let barrier = self.behind.first;
        if barrier == NONE || self.admitted + self.held > 0 {
            return None;
        }
        if self.overlaps.blocker(&self.table.claim(barrier)).is_some() {
            return None;
        }
        self.table.pop_front(&mut self.behind);
        self.overlaps.insert(barrier, &self.table.claim(barrier));
        while !self.behind.is_empty()
            && self.table.entry(self.behind.first).command.attribute != Attribute::Ordered
        {
            if let Some(slot) = self.table.pop_front(&mut self.behind) {
                self.enter(slot, now);
            }
        }
        Some(barrier)
    }

    /// A command with no barrier before it goes to the policy, unless it is a write to a zone that another one is writing, or
    /// must wait for one that it overlaps.
    fn enter(&mut self, slot: Slot, now: Instant) {
        if self.plugs.is_some() && !self.has_its_zone(slot) {
            return;
        }
        match self.overlaps.blocker(&self.table.claim(slot)) {
            Some(blocker) => {
                self.overlaps.insert(slot, &self.table.claim(slot));
                self.held += 1;
                self.block(blocker, slot);
            }
            None => self.admit(slot, now),
        }
    }

    /// Re-checks a command after the request that held it is done.
    fn recheck(&mut self, slot: Slot, now: Instant) {
        match self.overlaps.blocker(&self.table.claim(slot)) {
            Some(blocker) => self.block(blocker, slot),
            None => {
                self.overlaps.remove(slot, self.table.claim(slot).write);
                self.held -= 1;
                self.admit(slot, now);
            }
        }
    }

    fn block(&mut self, blocker: Slot, slot: Slot) {
        let held = self.table.push_back(self.table.request(blocker).held, slot);
        self.table.request_mut(blocker).held = held;
    }

    /// Whether a command may go on: no other one is writing its zone. Otherwise it waits for that one.
    fn has_its_zone(&mut self, slot: Slot) -> bool {
        let Some(plugs) = &mut self.plugs else { return true };
        let Some(zone) = plugs.zone_of(&self.table, slot) else { return true };
        // What overlaps an older read must not go before it as part of another write.
        let may_join = self.overlaps.blocker(&self.table.claim(slot)).is_none();
        match plugs.arrive(&self.table, zone, slot, may_join) {
            Arriving::Goes => return true,
            Arriving::Waits => {
                self.overlaps.insert(slot, &self.table.claim(slot));
                self.held += 1;
            }
            Arriving::Joins(last) => {
                self.overlaps.remove(last, true);
                self.table.absorb(last, slot);
                self.overlaps.insert(last, &self.table.claim(last));
            }
        }
        false
    }

    /// Whether a request is a write to a zone that is written in order, and so in no index of neighbours.
    #[inline]
    fn goes_alone(&self, slot: Slot) -> bool {
        self.plugs.as_ref().is_some_and(|plugs| plugs.zone_of(&self.table, slot).is_some())
    }

    /// A request is done: the writes that waited for it go to the policy, the next one of its zone first.
    fn unplug(&mut self, slot: Slot, now: Instant) {
        let zone = self.plugs.as_ref().and_then(|plugs| plugs.zone_of(&self.table, slot));
        if let (Some(plugs), Some(zone)) = (&mut self.plugs, zone) {
            plugs.done(zone, slot);
        }
        while let Some(next) = self.next_of_zones() {
            self.overlaps.remove(next, true);
            self.held -= 1;
            self.admit(next, now);
        }
    }

    /// Removes a write that waited for its zone, and overlaps nothing.
    fn next_of_zones(&mut self) -> Option<Slot> {
        let Elevator { plugs, overlaps, table, .. } = self;
        plugs.as_mut()?.next(|slot| overlaps.blocker(&table.claim(slot)).is_none())
    }

    /// Admits a command to the policy, merged into a waiting request where possible.
    fn admit(&mut self, slot: Slot, now: Instant) {
        let queue = self.policy.queue_of(&self.table.entry(slot).command);
        let request = self.table.request_mut(slot);
        (request.queue, request.since, request.admitted) = (queue, now, self.admissions);
        self.admissions += 1;
        if self.goes_alone(slot) {
            // Neighbours in the same zone wait for it, and those of the next zone must not be part of it.
            self.admitted += 1;
            self.overlaps.insert(slot, &self.table.claim(slot));
            self.policy.insert(&self.table, slot, now);
        } else if let Some(below) = self.merges.below(&self.table, slot) {
            self.merge(below, slot);
            if let Some(above) = self.merges.above(&self.table, below) {
                self.close_gap(below, above);
            }
        } else if let Some(above) = self.merges.above(&self.table, slot) {
            self.merge(above, slot);
        } else {
            self.admitted += 1;
            self.overlaps.insert(slot, &self.table.claim(slot));
            self.merges.insert(&self.table, slot);
            self.policy.insert(&self.table, slot, now);
        }
    }

    /// Merges a new command, which is in no index, into a waiting request.
    fn merge(&mut self, into: Slot, slot: Slot) {
        let first = self.table.request(into).first;
        self.overlaps.remove(into, self.table.claim(into).write);
        self.table.absorb(into, slot);
        self.overlaps.insert(into, &self.table.claim(into));
        if self.table.request(into).first != first {
            self.merges.remove(&self.table, into);
            self.merges.insert(&self.table, into);
            self.policy.moved(&self.table, into);
        }
    }

    /// Merges two waiting requests into one, in the place of the one admitted first.
    fn close_gap(&mut self, below: Slot, above: Slot) {
        let (a, b) = (self.table.request(below).admitted, self.table.request(above).admitted);
        let (into, slot) = if a < b { (below, above) } else { (above, below) };
        self.admitted -= 1;
        self.policy.remove(&self.table, slot);
        self.merges.remove(&self.table, slot);
        self.overlaps.remove(slot, self.table.claim(slot).write);
        self.merge(into, slot);
    }
}
