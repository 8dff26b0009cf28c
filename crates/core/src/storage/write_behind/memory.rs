//! Copying of data to and from memory: one command at a time, at the memory's rate.
use super::params::WriteBehindParams;
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use drivelab_units::{Bytes, Instant, Rate, Sectors, Span};

pub struct Memory {
    rate: Option<Rate>,
    overhead: Span,
    /// When all its copies will be done.
    free: Instant,
    /// Its copies, with the instant at which each is done.
    copies: VecDeque<(Instant, Slot)>,
    /// The last requested size, and its time: most workloads have one size, and a division is slow.
    time: (Sectors, Span),
}

impl Memory {
    pub fn new(params: &WriteBehindParams) -> Self {
        let WriteBehindParams { rate, overhead, .. } = *params;
        let (free, copies, time) = (Instant::ZERO, VecDeque::with_capacity(64), (Sectors::ZERO, overhead));
        Memory { rate, overhead, free, copies, time }
    }

    /// Copies `count` sectors for the command in this slot as soon as possible; returns how long the copy
    /// itself takes.
    pub fn copy(&mut self, now: Instant, slot: Slot, count: Sectors) -> Span {
        if self.time.0 != count {
            let bytes = Bytes::new(count.bytes().get());
            self.time = (count, self.overhead + self.rate.map_or(Span::ZERO, |rate| rate.time_for(bytes)));
        }
        self.free = self.free.max(now) + self.time.1;
        self.copies.push_back((self.free, slot));
        self.time.1
    }

    /// When the next copy is done.
    pub fn next_done(&self) -> Option<Instant> {
        self.copies.front().map(|&(at, _)| at)
    }

    /// Removes the next copy that is done.
    pub fn done(&mut self, now: Instant) -> Option<Slot> {
        let &(at, slot) = self.copies.front()?;
        if at > now {
            return None;
        }
        self.copies.pop_front();
        Some(slot)
    }
}
