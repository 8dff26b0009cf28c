//! Commands of hosts as they come: how many there were, which are under way, and which wait because the array has as many
//! as it may.
use crate::command::Command;
use alloc::collections::VecDeque;
use drivelab_units::{Instant, Span};

#[derive(Default)]
pub struct Intake {
    /// Commands so far, and the sectors that they have asked for.
    taken: u64,
    asked: u64,
    /// When the last one came or was answered.
    busy_at: Instant,
    /// Those that are not answered.
    outstanding: u32,
    /// Those that wait for one of those, and when they came.
    waiting: VecDeque<(Command, Instant)>,
    /// Whether they are being let in.
    lets_in: bool,
}

impl Intake {
    /// A command comes.
    pub fn hears(&mut self, command: &Command, now: Instant) {
        self.taken += 1;
        self.asked += command.count.get();
        self.busy_at = now;
    }

    /// Commands so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Sectors that hosts have asked for so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// Whether one more may begin, of so many at once.
    #[inline]
    pub fn has_room(&self, depth: Option<u32>) -> bool {
        depth.is_none_or(|depth| self.outstanding < depth)
    }

    /// A command that has come must wait.
    pub fn puts_off(&mut self, command: &Command, now: Instant) {
        self.waiting.push_back((*command, now));
    }

    /// A command begins.
    #[inline]
    pub fn begins(&mut self) {
        self.outstanding += 1;
    }

    /// A command is answered.
    #[inline]
    pub fn ends(&mut self, now: Instant) {
        self.outstanding -= 1;
        self.busy_at = now;
    }

    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether those that wait are to be let in now: not where somebody does so already.
    pub fn begins_to_let_in(&mut self) -> bool {
        !core::mem::replace(&mut self.lets_in, true)
    }

    /// The next that may begin, of so many at once, and when it came. With none the letting in is over.
    pub fn next_waiting(&mut self, depth: Option<u32>) -> Option<(Command, Instant)> {
        let next = if self.has_room(depth) { self.waiting.pop_front() } else { None };
        self.lets_in = next.is_some();
        next
    }

    /// Whether nothing is asked of the array.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.outstanding == 0
    }

    /// When the array has been idle for so long, unless another command comes.
    pub fn idle_from(&self, after: Span) -> Instant {
        if self.taken == 0 { Instant::ZERO } else { self.busy_at + after }
    }
}
