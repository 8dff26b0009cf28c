//! One stage and who has it when. Transfers have it one after the other, in the order in which they are announced, so
//! that it never carries more than its rate.
//!
//! A transfer may be announced late, when its data have long been on their way beside the media. So a stage that drives
//! leave while they have nothing to send remembers its last idle time, and a transfer that fits there whole has it then:
//! that delays nobody. One that is held goes strictly in the order of the calls.
use super::params::BusParams;
use crate::command::Access;
use drivelab_units::{Bytes, Instant, Rate, Sectors, Span};

/// Who has one direction of a stage when, as far as it matters.
#[derive(Clone, Copy, Default)]
struct Line {
    /// Nobody has it from then on.
    free: Instant,
    /// The last time before that in which nobody had it.
    idle_from: Instant,
    idle_until: Instant,
}

impl Line {
    /// When somebody may have it for so long, at `at` at the earliest.
    fn earliest(&self, at: Instant, taken: Span) -> Instant {
        let inside = at.max(self.idle_from);
        if inside + taken <= self.idle_until { inside } else { at.max(self.free) }
    }

    /// Somebody has it for so long, from an instant that [`Self::earliest`] has told.
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
    /// By direction; all use the first where it carries one thing at a time.
    lines: [Line; 2],
}

impl Stage {
    pub fn new(params: &BusParams) -> Self {
        Stage { params: *params, lines: [Line::default(); 2] }
    }

    pub fn holds(&self) -> bool {
        self.params.holds
    }

    /// Whether it costs nothing but its rate, and is kept for a whole transfer.
    pub fn is_plain(&self) -> bool {
        let BusParams { fixed, burst, full_duplex, holds, .. } = self.params;
        fixed.is_zero() && burst.is_none() && !full_duplex && holds
    }

    /// Whether it takes as long for a write as for a read.
    pub fn is_even(&self) -> bool {
        self.params.write_rate.is_none()
    }

    /// What it takes for so many sectors of such a command at this agreed rate.
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

    /// When a transfer may have the stage for so long, at `at` at the earliest.
    pub fn earliest(&self, access: Access, at: Instant, taken: Span) -> Instant {
        // What takes no time is in nobody's way.
        if taken.is_zero() {
            return at;
        }
        let line = &self.lines[self.line(access)];
        if self.params.holds { at.max(line.free) } else { line.earliest(at, taken) }
    }

    /// When all that was announced has passed.
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

/// What a stage takes for a transfer.
#[derive(Clone, Copy, Default)]
pub struct StageTime {
    /// One sector passes.
    pub sector: Span,
    /// To take the stage before the first datum.
    pub first: Span,
    /// All data pass, with what further connections cost.
    pub rest: Span,
}
