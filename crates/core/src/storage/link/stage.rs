//! One stage and its schedule. Transfers occupy it one after the other, in the order in which they are
//! announced, so that it never carries more than its rate.
//!
//! A transfer may be announced late, when its data have long been flowing in parallel with the media. So a
//! stage with disconnection remembers its last idle period, and a transfer that fits into it completely gets
//! it: that delays no other. A stage that is held is granted strictly in the order of the calls.
use super::params::BusParams;
use crate::command::Access;
use drivelab_units::{Bytes, Instant, Rate, Sectors, Span};

/// The schedule of one direction of a stage, as far as it matters.
#[derive(Clone, Copy, Default)]
struct Line {
    /// It is free from then on.
    free: Instant,
    /// The last idle period before that.
    idle_from: Instant,
    idle_until: Instant,
}

impl Line {
    /// When a transfer may occupy it for `taken`, at `at` at the earliest.
    fn earliest(&self, at: Instant, taken: Span) -> Instant {
        let inside = at.max(self.idle_from);
        if inside + taken <= self.idle_until { inside } else { at.max(self.free) }
    }

    /// A transfer occupies it for `taken`, from an instant given by [`Self::earliest`].
    fn take(&mut self, at: Instant, taken: Span) {
        let end = at + taken;
        if at >= self.free {
            if at > self.free {
                (self.idle_from, self.idle_until) = (self.free, at);
            }
            self.free = end;
        } else if at - self.idle_from > self.idle_until - end {
            self.idle_until = at;
        } else {
            self.idle_from = end;
        }
    }
}

pub struct Stage {
    params: BusParams,
    /// By direction; all use the first where it carries one transfer at a time.
    lines: [Line; 2],
}

impl Stage {
    pub fn new(params: &BusParams) -> Self {
        Stage { params: *params, lines: [Line::default(); 2] }
    }

    pub fn holds(&self) -> bool {
        self.params.holds
    }

    /// Whether its only cost is its rate, and it is held for a whole transfer.
    pub fn is_plain(&self) -> bool {
        let BusParams { fixed, burst, full_duplex, holds, .. } = self.params;
        fixed.is_zero() && burst.is_none() && !full_duplex && holds
    }

    /// Whether it is equally fast for reads and writes.
    pub fn is_even(&self) -> bool {
        self.params.write_rate.is_none()
    }

    /// Its times for `count` sectors of such a command at this negotiated rate.
    pub fn time_for(&self, access: Access, agreed: Option<Rate>, count: Sectors) -> StageTime {
        let BusParams { rate, write_rate, fixed, burst, .. } = self.params;
        let rate = if access == Access::Write { write_rate.or(rate) } else { rate };
        let rate = match (rate, agreed) {
            (Some(own), Some(agreed)) => Some(own.min(agreed)),
            (own, agreed) => own.or(agreed),
        };
        let on_wire =
            |count: Sectors| rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes::new(count.bytes().get())));
        let again = burst.map_or(0, |burst| count.get().div_ceil(burst.get().max(1)).max(1) - 1);
        StageTime {
            sector: on_wire(Sectors::new(1)),
            first: fixed,
            rest: on_wire(count) + Span::from_ns(fixed.as_ns() * again),
        }
    }

    fn line(&self, access: Access) -> usize {
        usize::from(self.params.full_duplex && access == Access::Write)
    }

    /// When a transfer may occupy the stage for `taken`, at `at` at the earliest.
    pub fn earliest(&self, access: Access, at: Instant, taken: Span) -> Instant {
        // A transfer of no duration does not conflict.
        if taken.is_zero() {
            return at;
        }
        let line = &self.lines[self.line(access)];
        if self.params.holds { at.max(line.free) } else { line.earliest(at, taken) }
    }

    /// When everything announced so far has passed.
    pub fn free_from(&self, access: Access) -> Instant {
        self.lines[self.line(access)].free
    }

    pub fn take(&mut self, access: Access, at: Instant, taken: Span) {
        if !taken.is_zero() {
            let line = self.line(access);
            self.lines[line].take(at, taken);
        }
    }
}

/// The times of a transfer on a stage.
#[derive(Clone, Copy, Default)]
pub struct StageTime {
    /// The time of one sector.
    pub sector: Span,
    /// To acquire the stage before the first datum.
    pub first: Span,
    /// The time of all data, including the cost of further connections.
    pub rest: Span,
}
