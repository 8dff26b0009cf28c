//! The elevator's table: the commands that it holds, and the requests that they are merged into.
//!
//! Every command has a slot. A request is identified by the slot of one of its commands. A command is in one
//! chain at a time: behind a barrier, ahead of all, held by a request that it overlaps, or merged into a
//! request. Slots are allocated only when more commands are held than ever before.
use crate::command::{Access, Command};
use crate::storage::overlap::Claim;
use alloc::vec::Vec;
use drivelab_units::{Instant, Lba, Sectors};

pub use crate::storage::tree::{NONE, Slot};

/// A list of commands, linked through their slots.
#[derive(Clone, Copy)]
pub struct Chain {
    pub first: Slot,
    last: Slot,
}

impl Chain {
    pub const EMPTY: Chain = Chain { first: NONE, last: NONE };

    fn of(slot: Slot) -> Self {
        Chain { first: slot, last: slot }
    }

    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// One command as it arrived.
#[derive(Clone, Copy)]
pub struct QueuedCommand {
    pub command: Command,
    pub submitted: Instant,
    /// The order of arrival.
    pub sequence: u64,
    next: Slot,
}

/// Commands that go to the device as one.
#[derive(Clone, Copy)]
pub struct Request {
    pub access: Access,
    pub first: Lba,
    /// The address after the last one.
    pub end: Lba,
    /// Its commands, in the order in which they were merged.
    pub members: Chain,
    pub count: u32,
    pub oldest: Slot,
    /// Whether one of its commands is synchronous.
    pub synchronous: bool,
    /// Commands that must not go before this request is done.
    pub held: Chain,
    /// When it was admitted to the policy, and its admission number.
    pub since: Instant,
    pub admitted: u64,
    /// The queue that it is in, for a policy with several.
    pub queue: u32,
}

impl Request {
    pub fn size(&self) -> Sectors {
        self.end - self.first
    }
}

#[derive(Default)]
pub struct Table {
    entries: Vec<QueuedCommand>,
    requests: Vec<Request>,
    free: Vec<Slot>,
    sequence: u64,
}

impl Table {
    /// Files an arrival as a new request.
    pub fn add(&mut self, command: Command, submitted: Instant) -> Slot {
        let sequence = self.sequence;
        self.sequence += 1;
        let slot = self.free.pop().unwrap_or(self.entries.len() as Slot);
        let entry = QueuedCommand { command, submitted, sequence, next: NONE };
        let request = Request {
            access: command.access,
            first: command.first,
            end: command.end(),
            members: Chain::of(slot),
            count: 1,
            oldest: slot,
            synchronous: command.synchronous,
            held: Chain::EMPTY,
            since: submitted,
            admitted: 0,
            queue: NONE,
        };
        if slot as usize == self.entries.len() {
            self.entries.push(entry);
            self.requests.push(request);
        } else {
            self.entries[slot as usize] = entry;
            self.requests[slot as usize] = request;
        }
        slot
    }

    /// Frees a command's slot.
    pub fn free(&mut self, slot: Slot) {
        self.free.push(slot);
    }

    #[inline]
    pub fn entry(&self, slot: Slot) -> &QueuedCommand {
        &self.entries[slot as usize]
    }

    #[inline]
    pub fn request(&self, slot: Slot) -> &Request {
        &self.requests[slot as usize]
    }

    #[inline]
    pub fn request_mut(&mut self, slot: Slot) -> &mut Request {
        &mut self.requests[slot as usize]
    }

    /// The claim of a request on its addresses. A merged request counts as old as its oldest command. That
    /// orders no pair wrongly: a command that overlaps an older one, at least one of them a write, is held
    /// and so not merged before that one is done.
    pub fn claim(&self, slot: Slot) -> Claim {
        let &Request { access, first, end, .. } = self.request(slot);
        Claim { write: access != Access::Read, first, end, age: self.age(slot) }
    }

    /// The order of arrival of a request's oldest command.
    #[inline]
    pub fn age(&self, slot: Slot) -> u64 {
        self.entry(self.request(slot).oldest).sequence
    }

    /// Merges two adjacent requests into one. The first keeps its place in the order of admission.
    pub fn absorb(&mut self, into: Slot, slot: Slot) {
        let other = *self.request(slot);
        let older = self.age(slot) < self.age(into);
        let request = *self.request(into);
        let members = self.append(request.members, other.members);
        let held = self.append(request.held, other.held);
        let request = self.request_mut(into);
        (request.members, request.held) = (members, held);
        (request.first, request.end) = (request.first.min(other.first), request.end.max(other.end));
        request.count += other.count;
        request.synchronous |= other.synchronous;
        if older {
            request.oldest = other.oldest;
        }
    }

    pub fn push_back(&mut self, chain: Chain, slot: Slot) -> Chain {
        self.append(chain, Chain::of(slot))
    }

    pub fn push_front(&mut self, chain: Chain, slot: Slot) -> Chain {
        self.append(Chain::of(slot), chain)
    }

    /// Removes the first command of a chain; it is then a chain of its own.
    pub fn pop_front(&mut self, chain: &mut Chain) -> Option<Slot> {
        if chain.is_empty() {
            return None;
        }
        let slot = chain.first;
        let next = core::mem::replace(&mut self.entries[slot as usize].next, NONE);
        *chain = if next == NONE { Chain::EMPTY } else { Chain { first: next, ..*chain } };
        Some(slot)
    }

    /// The commands of a chain.
    pub fn iter(&self, chain: Chain) -> impl Iterator<Item = &Command> {
        let mut at = chain.first;
        core::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.next;
            Some(&entry.command)
        })
    }

    /// Concatenates two chains.
    fn append(&mut self, front: Chain, back: Chain) -> Chain {
        match (front.is_empty(), back.is_empty()) {
            (true, _) => back,
            (_, true) => front,
            _ => {
                self.entries[front.last as usize].next = back.first;
                Chain { first: front.first, last: back.last }
            }
        }
    }

    /// The same commands, oldest first. Merges sorted runs of one, two, four ... commands.
    pub fn sorted(&mut self, mut chain: Chain) -> Chain {
        if self.is_sorted(chain) {
            return chain;
        }
        // `runs[i]` is empty or a sorted run of two to the i.
        let mut runs = [Chain::EMPTY; Slot::BITS as usize];
        while let Some(slot) = self.pop_front(&mut chain) {
            let mut run = Chain::of(slot);
            for kept in &mut runs {
                if kept.is_empty() {
                    *kept = run;
                    break;
                }
                run = self.merge(core::mem::replace(kept, Chain::EMPTY), run);
            }
        }
        runs.into_iter().fold(Chain::EMPTY, |all, run| self.merge(all, run))
    }

    fn is_sorted(&self, chain: Chain) -> bool {
        let mut at = chain.first;
        while at != NONE {
            let QueuedCommand { sequence, next, .. } = *self.entry(at);
            if next != NONE && self.entry(next).sequence < sequence {
                return false;
            }
            at = next;
        }
        true
    }

    /// Merges two sorted chains.
    fn merge(&mut self, mut a: Chain, mut b: Chain) -> Chain {
        let mut merged = Chain::EMPTY;
        while !a.is_empty() && !b.is_empty() {
            let from =
                if self.entry(a.first).sequence < self.entry(b.first).sequence { &mut a } else { &mut b };
            if let Some(slot) = self.pop_front(from) {
                merged = self.push_back(merged, slot);
            }
        }
        let rest = self.append(a, b);
        self.append(merged, rest)
    }
}
