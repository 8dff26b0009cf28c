//! Hosts' commands on arrival: how many there were, which are under way, and which wait because the array's
//! queue depth is reached.
use crate::command::Command;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Span};

#[derive(Default)]
pub struct Admission {
    /// Commands received so far, and the sectors that they have requested.
    received: u64,
    requested: u64,
    /// When the last one arrived or was answered.
    busy_at: Instant,
    /// Commands that are not answered yet.
    outstanding: u32,
    /// Commands that wait for one of those to end, and their arrival times.
    waiting: VecDeque<(Command, Instant)>,
    /// Whether waiting commands are being admitted.
    admits: bool,
}

impl Admission {
    /// A command arrives.
    pub fn note_arrival(&mut self, command: &Command, now: Instant) {
        self.received += 1;
        self.requested += command.count.get();
        self.busy_at = now;
    }

    /// Commands received so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Sectors that hosts have requested so far.
    pub fn requested(&self) -> u64 {
        self.requested
    }

    /// Whether one more command may begin, at this queue depth.
    #[inline]
    pub fn has_room(&self, depth: Option<u32>) -> bool {
        depth.is_none_or(|depth| self.outstanding < depth)
    }

    /// A command that has arrived must wait.
    pub fn defer(&mut self, command: &Command, now: Instant) {
        self.waiting.push_back((*command, now));
    }

    /// A command begins.
    #[inline]
    pub fn note_begin(&mut self) {
        self.outstanding += 1;
    }

    /// A command is answered.
    #[inline]
    pub fn note_end(&mut self, now: Instant) {
        self.outstanding -= 1;
        self.busy_at = now;
    }

    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the caller is to admit waiting commands: not while that is under way already.
    pub fn begin_admitting(&mut self) -> bool {
        !core::mem::replace(&mut self.admits, true)
    }

    /// The next command that may begin at this queue depth, and its arrival time; `None` ends the admission.
    pub fn next_waiting(&mut self, depth: Option<u32>) -> Option<(Command, Instant)> {
        let next = if self.has_room(depth) { self.waiting.pop_front() } else { None };
        self.admits = next.is_some();
        next
    }

    /// Whether no host command is under way.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.outstanding == 0
    }

    /// Whether no host has used the array for `after`.
    pub fn is_idle(&self, now: Instant, after: Span) -> bool {
        self.is_quiet() && self.idle_from(after) <= now
    }

    /// When the array has been idle for `after`, unless another command arrives.
    pub fn idle_from(&self, after: Span) -> Instant {
        if self.received == 0 { Instant::ZERO } else { self.busy_at + after }
    }
}
