//! The copying of data to memory and from there: one command after the other, at the memory's rate.
use super::params::WriteBehindParams;
use crate::storage::tree::Slot;
use alloc::collections::VecDeque;
use drivelab_units::{Bytes, Instant, Rate, Sectors, Span};

pub struct Memory {
    rate: Option<Rate>,
    overhead: Span,
    /// When it is done with all that it was given.
    free: Instant,
    /// What it was given, with the instant at which each is done.
    copies: VecDeque<(Instant, Slot)>,
    /// The size asked for last, and what it takes: most workloads have one size, and a division takes long.
    time: (Sectors, Span),
}

impl Memory {
    pub fn new(params: &WriteBehindParams) -> Self {
        let WriteBehindParams { rate, overhead, .. } = *params;
        let (free, copies, time) = (Instant::ZERO, VecDeque::with_capacity(64), (Sectors::ZERO, overhead));
        Memory { rate, overhead, free, copies, time }
    }

    /// Copies so much for the command in this slot as soon as it can; returns how long it takes by itself.
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

    /// Takes the next copy that is done.
    pub fn done(&mut self, now: Instant) -> Option<Slot> {
        let &(at, slot) = self.copies.front()?;
        if at > now {
            return None;
        }
        self.copies.pop_front();
        Some(slot)
    }
}
