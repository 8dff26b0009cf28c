//! The host's I/O scheduler, the "elevator" of the operating system: it stands in front of a drive, merges neighbours and
//! decides what the drive may see.
//!
//! Each policy is one file that opens with its rule: [`noop`], [`deadline`], [`clook`], [`fair`]. What holds for all of
//! them is here and in the files beside: `requests` keeps the commands, `merge` finds neighbours. Addresses are blocks; of
//! cylinders and angles a host knows nothing.
//!
//! - **Ordered** commands are barriers here too: handed on when everything that came earlier has been, before everything
//!   later. The device keeps them in order from there. What waits behind one is not yet with the policy, so it merges
//!   with nothing before it.
//! - **Head of queue** (and the commands of an ACA recovery) go next, the last of several first; they pass even a barrier.
//! - **Flushes** go next too, the first of several first: what they are about has been answered before they came.
//! - **Overlaps**: of two commands that share an address, at least one of them a write, the older is done before the
//!   younger goes to the device. The device may then reorder as it likes, and a read still finds what was written before
//!   it, and the last of several writes stays. An operating system leaves this to its page cache and its file system; here
//!   it is the elevator's guarantee, for every policy. Only a command that is to go ahead of all is exempt from waiting
//!   itself. Addresses are places on the device: who asks, and through which logical unit, does not matter.
//! - A request is handed on when the device holds fewer than `depth`. What is handed on is no longer merged.
//!
//! Time is an argument, and asking [`Elevator::next`] once more changes nothing. Nothing is allocated for a command unless
//! more are held than ever before, and each costs O(log n) steps whatever waits.
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

pub use params::{DeadlineParams, ElevatorOrder, ElevatorParams, FairParams};

use crate::command::{Access, Attribute, Command, Completion};
use crate::host::params::OUTSTANDING_MAX;
use crate::storage::overlap::Overlaps;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use drivelab_units::Instant;
use merge::Merges;
use requests::{Chain, NONE, Slot, Table};

/// The order in which requests go that may go in any order.
trait Policy {
    /// The queue that a command belongs in; only neighbours of one queue are merged.
    fn queue_of(&mut self, _: &Command) -> u32 {
        0
    }

    /// A request has come.
    fn insert(&mut self, table: &Table, slot: Slot, now: Instant);

    /// A request has become part of an older one.
    fn remove(&mut self, table: &Table, slot: Slot);

    /// A request now begins at another address.
    fn moved(&mut self, table: &Table, slot: Slot);

    /// Does what is due by now. Called before anything else happens at this instant, and maybe more often.
    fn settle(&mut self, _: Instant) {}

    /// Takes out the request that goes next, if one may go now. Without one, nothing changes.
    fn pick(&mut self, table: &Table, now: Instant) -> Option<Slot>;

    /// The device is done with a request of this queue.
    fn completed(&mut self, _: u32, _: Instant) {}

    /// When `pick` may have another answer although nothing comes and nothing is done.
    fn wake(&self) -> Option<Instant> {
        None
    }
}

/// The host's I/O scheduler before one device: holds requests, merges adjoining ones, and chooses the next.
pub struct Elevator {
    table: Table,
    overlaps: Overlaps,
    merges: Merges,
    policy: Box<dyn Policy + Send + Sync>,
    /// What goes ahead of all.
    ahead: Chain,
    /// An ordered command, and everything that came after it.
    behind: Chain,
    /// Requests that are with the policy.
    admitted: usize,
    /// How many the policy ever got.
    admissions: u64,
    /// Commands that wait for an overlapping one.
    held: usize,
    /// Commands that wait for anything.
    waiting: usize,
    /// The request that has each tag.
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

    /// Takes a command; it waits here until [`Self::next`] hands a request on.
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

    /// The next request for the device, if one may go now. Its tag is the elevator's own, below the depth; its number is
    /// that of its oldest command.
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

    /// The commands that were merged into the request that is with the device under this tag.
    pub fn merged(&self, tag: u32) -> impl Iterator<Item = &Command> {
        self.table.iter(self.table.request(self.out[tag as usize]).members)
    }

    /// Whether the device has a request that is this command alone.
    pub fn is_out_alone(&self, id: u64) -> bool {
        self.out.iter().filter(|&&slot| slot != NONE).any(|&slot| {
            let request = self.table.request(slot);
            request.count == 1 && self.table.entry(request.oldest).command.id == id
        })
    }

    /// The device is done with a request: gives each of its commands with its completion, oldest first. What a command
    /// waited here is added to its breakdown.
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
            self.look_again(slot, now);
        }
    }

    /// When [`Self::next`] must be asked again although nothing comes and nothing is done; to be looked at after it has
    /// said that nothing may go.
    pub fn wake(&self) -> Option<Instant> {
        if self.free_tags.is_empty() { None } else { self.policy.wake() }
    }

    /// Commands that wait here.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    fn next_ahead(&mut self) -> Option<Slot> {
        self.table.pop_front(&mut self.ahead)
    }

    fn next_of_policy(&mut self, now: Instant) -> Option<Slot> {
        let slot = self.policy.pick(&self.table, now)?;
        self.admitted -= 1;
        self.merges.remove(&self.table, slot);
        Some(slot)
    }

    /// The ordered command that everything behind it waits for, when all that came earlier has gone.
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

    /// A command with no barrier before it: to the policy, unless it must wait for one that it overlaps.
    fn enter(&mut self, slot: Slot, now: Instant) {
        match self.overlaps.blocker(&self.table.claim(slot)) {
            Some(blocker) => {
                self.overlaps.insert(slot, &self.table.claim(slot));
                self.held += 1;
                self.hold(blocker, slot);
            }
            None => self.admit(slot, now),
        }
    }

    /// The request that held this command is done.
    fn look_again(&mut self, slot: Slot, now: Instant) {
        match self.overlaps.blocker(&self.table.claim(slot)) {
            Some(blocker) => self.hold(blocker, slot),
            None => {
                self.overlaps.remove(slot, self.table.claim(slot).write);
                self.held -= 1;
                self.admit(slot, now);
            }
        }
    }

    fn hold(&mut self, blocker: Slot, slot: Slot) {
        let held = self.table.push_back(self.table.request(blocker).held, slot);
        self.table.request_mut(blocker).held = held;
    }

    /// Gives a command to the policy, as part of a waiting request where it can be.
    fn admit(&mut self, slot: Slot, now: Instant) {
        let queue = self.policy.queue_of(&self.table.entry(slot).command);
        let request = self.table.request_mut(slot);
        (request.queue, request.since, request.admitted) = (queue, now, self.admissions);
        self.admissions += 1;
        if let Some(below) = self.merges.below(&self.table, slot) {
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

    /// Makes a new command, which is in no index, part of a waiting request.
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

    /// Makes one of two waiting requests; it has the place of the one that was admitted first.
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
